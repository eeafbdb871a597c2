//! `webhook serve`: the admission server.

use super::super::options::duration;
use super::super::{Exit, Session, custom};
use crate::admission::certificates::Lifetimes;
use crate::admission::judge::Rules;
use crate::admission::keeper::Keeping;
use crate::admission::logging;
use crate::admission::review::{Mode, Policy};
use crate::admission::run::{self, Certificates};
use crate::admission::server::Limits;
use crate::admission::world::Said;
use crate::cluster::{Cluster, Stop};
use crate::lint::config::{self, Config, FailOn};
use crate::load::{Loaded, config as files};
use crate::report;
use crate::report::style::Role;
use crate::rules::ALL;
use crate::source::Severity;
use clap::{Args, ValueEnum};
use std::io;
use std::net::SocketAddr;
use std::num::NonZero;
use std::path::PathBuf;
use std::time::Duration;
use tokio::runtime::Builder;

#[derive(Debug, Args)]
pub(super) struct Serve {
    /// Where the API server calls, over TLS: POST /validate
    #[arg(long, value_name = "ADDRESS", default_value = "0.0.0.0:9443")]
    listen: SocketAddr,
    /// Where kubelet and Prometheus call, over plain HTTP: /healthz, /readyz, /metrics
    #[arg(long, value_name = "ADDRESS", default_value = "0.0.0.0:8080")]
    metrics_listen: SocketAddr,
    /// What becomes of findings where the label envoyfilter.dev/admission of the namespace says nothing
    #[arg(long, default_value = "enforce")]
    mode: ModeWord,
    /// From which severity on findings deny [default: fail_on of the configuration, else error]
    #[arg(long, value_name = "SEVERITY", value_parser = severity)]
    deny_at: Option<Severity>,
    /// How long a review may take; a tenth less than what the API server waits, if that is shorter
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "5s")]
    deadline: Duration,
    /// What is answered when that time has run out
    #[arg(long, default_value = "allow")]
    on_deadline: OnDeadline,
    /// Largest AdmissionReview, in bytes
    #[arg(long, value_name = "BYTES", default_value = "8388608")]
    max_request_bytes: usize,
    /// How many reviews are made at the same time [default: four for each core]
    #[arg(long, value_name = "NUMBER")]
    at_once: Option<usize>,
    /// Secret that this server keeps its own authority and certificate in
    #[arg(long, value_name = "NAME", default_value = "envoyfilter-webhook-cert", help_heading = "Certificates")]
    cert_secret: String,
    /// Certificate that somebody else renews, as a file; read again when it changes
    #[arg(long, value_name = "FILE", requires = "tls_key", help_heading = "Certificates")]
    tls_cert: Option<PathBuf>,
    /// Its key
    #[arg(long, value_name = "FILE", requires = "tls_cert", help_heading = "Certificates")]
    tls_key: Option<PathBuf>,
    /// Service that the API server calls: the name in the certificate, and that of the Lease of the replicas
    #[arg(long, value_name = "NAME", default_value = "envoyfilter-webhook", help_heading = "Certificates")]
    service: String,
    /// ValidatingWebhookConfiguration whose caBundle is kept right
    #[arg(long, value_name = "NAME", help_heading = "Certificates")]
    webhook_configuration: Option<String>,
    /// Further name or address in the certificate; may be given several times
    #[arg(long, value_name = "NAME", help_heading = "Certificates")]
    certificate_name: Vec<String>,
    /// How long an authority lives; its successor is announced after two thirds of it
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "8760h", help_heading = "Certificates")]
    authority_lifetime: Duration,
    /// How long a certificate lives; it is renewed after two thirds of it
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "720h", help_heading = "Certificates")]
    certificate_lifetime: Duration,
    /// How long an authority is trusted before it signs, and after
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "1h", help_heading = "Certificates")]
    rotation_overlap: Duration,
    /// How long to go on serving after SIGTERM, until the API server has heard of it
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "5s")]
    shutdown_delay: Duration,
    /// How many running proxies to ask for the extensions they are built with; 0: those of the release count
    #[arg(long, value_name = "NUMBER", default_value = "0")]
    sample_proxies: usize,
    /// Configuration, as for lint
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Rules of your own: files, or folders of files, of kind LintRule
    #[arg(long, value_name = "PATH")]
    rules: Vec<PathBuf>,
    /// Name of this replica [default: the name of the pod]
    #[arg(long, value_name = "NAME", env = "POD_NAME", hide_env = true)]
    replica: Option<String>,
    /// Namespace of the Service, Secret and Lease, unless -n says it
    #[arg(long, value_name = "NAMESPACE", env = "POD_NAMESPACE", hide = true)]
    pod_namespace: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ModeWord {
    /// Findings at or above --deny-at deny, the others warn
    Enforce,
    /// Findings warn
    Warn,
    /// Findings are logged and counted only
    Audit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OnDeadline {
    /// Allow, with a warning
    Allow,
    /// Deny
    Deny,
}

fn severity(word: &str) -> Result<Severity, String> {
    config::severity(word).ok_or_else(|| "one of error, warning, info".to_owned())
}

impl Serve {
    pub(in super::super) fn run(&self, session: &mut Session<'_>) -> io::Result<Exit> {
        let Some(rules) = self.rules(session)? else { return Ok(Exit::Usage) };
        let runtime = Builder::new_multi_thread().enable_all().build()?;
        let (_stop, stop) = Stop::new();
        let cluster = match runtime.block_on(session.global.cluster.access().connect(stop)) {
            Ok(cluster) => cluster,
            Err(message) => {
                let message = format!("there is no cluster to serve: {message}");
                return session.usage(&message, Some("it runs in a pod, or with --kubeconfig"));
            }
        };
        let serve = self.settings(session, &cluster, &rules);
        // Standard error belongs to this thread: it writes what the others log.
        let lines = logging::start();
        let served = runtime.spawn(run::serve(cluster, serve, rules));
        let wait = Duration::from_millis(100);
        loop {
            match lines.recv_timeout(wait) {
                Ok(line) => session.err.write_all(&line)?,
                Err(_) if served.is_finished() => break,
                Err(_) => {}
            }
            let dropped = logging::dropped();
            if dropped > 0 {
                writeln!(
                    session.err,
                    "{{\"level\":\"WARN\",\"message\":\"lines of the log dropped\",\"lines\":{dropped}}}"
                )?;
            }
        }
        match runtime.block_on(served) {
            Ok(Ok(())) => Ok(Exit::Ok),
            Ok(Err(message)) => session.usage(&message, None),
            Err(error) => session.usage(&error.to_string(), None),
        }
    }

    fn settings(&self, session: &Session<'_>, cluster: &Cluster, rules: &Rules) -> run::Serve {
        let mode = match self.mode {
            ModeWord::Enforce => Mode::Enforce,
            ModeWord::Warn => Mode::Warn,
            ModeWord::Audit => Mode::Audit,
        };
        let configured = rules.config.fail_on.and_then(|fail_on| match fail_on {
            FailOn::At(severity) => Some(severity),
            FailOn::Never => None,
        });
        let deny_at = self.deny_at.or(configured).unwrap_or(Severity::Error);
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        let namespace = session.global.namespace.clone().or_else(|| self.pod_namespace.clone());
        let certificates = match (&self.tls_cert, &self.tls_key) {
            (Some(cert), Some(key)) => Certificates::Files { cert: cert.clone(), key: key.clone() },
            _ => Certificates::Own(Keeping {
                namespace: namespace.unwrap_or_else(|| cluster.namespace.clone()),
                secret: self.cert_secret.clone(),
                lease: self.service.clone(),
                service: self.service.clone(),
                configuration: self.webhook_configuration.clone(),
                lifetimes: Lifetimes {
                    authority: self.authority_lifetime,
                    serving: self.certificate_lifetime,
                    overlap: self.rotation_overlap,
                },
                names: self.certificate_name.clone(),
                replica: self.replica.clone().unwrap_or_else(|| format!("process-{}", std::process::id())),
            }),
        };
        run::Serve {
            listen: self.listen,
            metrics: self.metrics_listen,
            limits: Limits {
                policy: Policy { mode, deny_at },
                deadline: self.deadline,
                allow_late: self.on_deadline == OnDeadline::Allow,
                max_bytes: self.max_request_bytes,
                at_once: self.at_once.unwrap_or(cores * 4),
            },
            said: Said {
                context: cluster.context.clone(),
                release: session.global.istio_version,
                root_namespace: session.global.root_namespace.clone(),
            },
            istio_namespace: session.global.cluster.istio_namespace().to_owned(),
            sample_proxies: self.sample_proxies,
            certificates,
            shutdown_delay: self.shutdown_delay,
        }
    }

    /// The rules and the configuration; `None` when something is wrong with them, which is said.
    fn rules(&self, session: &mut Session<'_>) -> io::Result<Option<Rules>> {
        let mut loaded = Loaded::default();
        let read = match self.config.as_ref().map(|path| files::read(path, &mut loaded.sources)).transpose() {
            Ok(read) => read,
            Err(problem) => return session.usage(&problem.message, None).map(|_| None),
        };
        let mut own = self.rules.clone();
        let document = read.as_ref().and_then(|read| Some((read.document.as_ref()?, &read.folder)));
        own.extend(
            document
                .iter()
                .flat_map(|(document, folder)| config::rule_paths(document).into_iter().map(|path| folder.join(path))),
        );
        let rules = if own.is_empty() {
            ALL.to_vec()
        } else {
            match custom::rules(session, &own, &mut loaded.sources)? {
                Some(rules) => rules,
                None => return Ok(None),
            }
        };
        let (mut config, mut problems) =
            document.map(|(document, _)| Config::read(document, &rules)).unwrap_or_default();
        problems.extend(read.map(|read| read.problems).unwrap_or_default());
        for problem in &problems {
            report::problem::problem(session.err, session.around.err, &loaded.sources, problem)?;
        }
        if problems.iter().any(|problem| problem.severity == Severity::Error) {
            let word = session.around.err.paint(Role::Bad, "error");
            writeln!(session.err, "{word}: the configuration is not used")?;
            return Ok(None);
        }
        // Releases come from the cluster.
        config.istio_versions.clear();
        Ok(Some(Rules { rules, config }))
    }
}
