//! `webhook serve`: the admission server.

use super::super::options::duration;
use super::super::session::{Exit, Session};
use crate::admission::certificates::Lifetimes;
use crate::admission::judge::Rules;
use crate::admission::keeper::Keeping;
use crate::admission::logging;
use crate::admission::review::{Mode, Policy};
use crate::admission::run::{self, Certificates};
use crate::admission::server::Limits;
use crate::admission::snapshot::Overrides;
use crate::cluster::{Cluster, Stop};
use crate::lint::config::{self, Config, FailOn};
use crate::load::{Loaded, config as files};
use crate::mesh::{self, Error};
use crate::report;
use crate::report::style::Role;
use crate::source::{ErrorMessage, Severity};
use clap::{Args, ValueEnum};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::runtime::Builder;

#[derive(Debug, Args)]
pub(super) struct Serve {
    /// Address for the API server, over TLS: POST /validate
    #[arg(long, value_name = "ADDRESS", default_value = "0.0.0.0:9443")]
    listen: SocketAddr,
    /// Address for kubelet, over plain HTTP: /healthz, /readyz
    #[arg(long, value_name = "ADDRESS", default_value = "0.0.0.0:8081")]
    probe_listen: SocketAddr,
    /// Address for Prometheus, over plain HTTP: /metrics
    #[arg(long, value_name = "ADDRESS", default_value = "0.0.0.0:8080")]
    metrics_listen: SocketAddr,
    /// Certificate authorities of clients: only clients with a certificate they signed get reviews
    #[arg(long, value_name = "FILE")]
    client_ca: Option<PathBuf>,
    /// What happens to findings in namespaces without the label envoyfilter.dev/admission
    #[arg(long, default_value = "enforce")]
    mode: ModeWord,
    /// Minimum severity that denies [default: fail_on of the configuration, else error]
    #[arg(long, value_name = "SEVERITY", value_parser = severity)]
    deny_at: Option<Severity>,
    /// Maximum duration of a review; shortened to 90 % of the timeout that the API server sends
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "5s")]
    deadline: Duration,
    /// Answer to a review that exceeds the deadline because the server is overloaded
    #[arg(long, default_value = "allow")]
    on_deadline: OnDeadline,
    /// Maximum size of an AdmissionReview, in bytes
    #[arg(long, value_name = "BYTES", default_value = "3145728")]
    max_request_bytes: usize,
    /// Reviews judged at the same time; each may take some 200 MiB, so raise the memory limit with it
    #[arg(long, value_name = "NUMBER", default_value_t = Limits::default().at_once)]
    at_once: usize,
    /// Secret in which the server keeps its own certificate authority and certificate
    #[arg(long, value_name = "NAME", default_value = "envoyfilter-webhook-cert", help_heading = "Certificates")]
    cert_secret: String,
    /// Certificate file that something else renews; reloaded when it changes
    #[arg(long, value_name = "FILE", requires = "tls_key", help_heading = "Certificates")]
    tls_cert: Option<PathBuf>,
    /// Key file of that certificate
    #[arg(long, value_name = "FILE", requires = "tls_cert", help_heading = "Certificates")]
    tls_key: Option<PathBuf>,
    /// Service that the API server calls; names the certificate and the Lease of the replicas
    #[arg(long, value_name = "NAME", default_value = "envoyfilter-webhook", help_heading = "Certificates")]
    service: String,
    /// ValidatingWebhookConfiguration whose caBundle the server maintains
    #[arg(long, value_name = "NAME", help_heading = "Certificates")]
    webhook_configuration: Option<String>,
    /// Additional name or address in the certificate; may be repeated
    #[arg(long, value_name = "NAME", help_heading = "Certificates")]
    certificate_name: Vec<String>,
    /// Lifetime of a certificate authority; its successor is published after two thirds
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "8760h", help_heading = "Certificates")]
    authority_lifetime: Duration,
    /// Lifetime of a certificate; it is renewed after two thirds
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "720h", help_heading = "Certificates")]
    certificate_lifetime: Duration,
    /// How long an authority is trusted before it starts and after it stops signing
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "1h", help_heading = "Certificates")]
    rotation_overlap: Duration,
    /// How long to keep serving after SIGTERM, until the API server has noticed
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "5s")]
    shutdown_delay: Duration,
    /// Number of running proxies to ask for their extensions; 0 assumes those of the release
    #[arg(long, value_name = "NUMBER", default_value = "0")]
    sample_proxies: usize,
    /// Configuration file, as for lint
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Custom rules: files or folders of files of kind LintRule
    #[arg(long, value_name = "PATH")]
    rules: Vec<PathBuf>,
    /// Name of this replica [default: the pod name]
    #[arg(long, value_name = "NAME", env = "POD_NAME", hide_env = true)]
    replica: Option<String>,
    /// Namespace of the Service, Secret and Lease, unless -n is given
    #[arg(long, value_name = "NAMESPACE", env = "POD_NAMESPACE", hide = true)]
    pod_namespace: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ModeWord {
    /// Deny findings at or above --deny-at, warn about the others
    Enforce,
    /// Warn about findings
    Warn,
    /// Log and count findings only
    Audit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OnDeadline {
    /// Allow, with a warning
    Allow,
    /// Deny
    Deny,
}

pub(super) fn severity(word: &str) -> Result<Severity, ErrorMessage> {
    config::severity(word).ok_or_else(|| "one of error, warning, info".into())
}

impl Serve {
    pub(in super::super) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Error> {
        let Some(rules) = rules_of(session, self.config.as_deref(), &self.rules)? else { return Ok(Exit::Usage) };
        let runtime = Builder::new_multi_thread().enable_all().build()?;
        let (_stop, stop) = Stop::new();
        let cluster = match runtime.block_on(session.global.cluster.access().connect(stop)) {
            Ok(cluster) => cluster,
            Err(message) => {
                let message = format!("cannot connect to a cluster: {message}");
                return session.usage(&message, Some("run it in a pod, or give --kubeconfig"));
            }
        };
        let serve = self.settings(session, &cluster, &rules);
        // Standard error belongs to this thread, which writes what the others log.
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
                writeln!(session.err, "{{\"level\":\"WARN\",\"message\":\"log lines dropped\",\"lines\":{dropped}}}")?;
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
        let configured = rules.config().fail_on.and_then(|fail_on| match fail_on {
            FailOn::At(severity) => Some(severity),
            FailOn::Never => None,
        });
        let deny_at = self.deny_at.or(configured).unwrap_or(Severity::Error);
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
            probes: self.probe_listen,
            metrics: self.metrics_listen,
            client_ca: self.client_ca.clone(),
            limits: Limits {
                policy: Policy { mode, deny_at },
                deadline: self.deadline,
                allow_late: self.on_deadline == OnDeadline::Allow,
                max_bytes: self.max_request_bytes,
                at_once: self.at_once.max(1),
                ..Limits::default()
            },
            overrides: Overrides {
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
}

/// The rules and the configuration; `None`, with a message, when something is wrong with them.
pub(in crate::cli) fn rules_of(
    session: &mut Session<'_>,
    config: Option<&Path>,
    rules: &[PathBuf],
) -> Result<Option<Rules>, Error> {
    let mut loaded = Loaded::default();
    let read = match config.map(|path| files::read(path, &mut loaded.sources)).transpose() {
        Ok(read) => read,
        Err(problem) => return session.usage(&problem.message, None).map(|_| None),
    };
    let document = read.as_ref().and_then(|read| Some((read.document.as_ref()?, &read.folder)));
    let of_config = document.map(|(document, folder)| (config::rule_paths(document), folder.clone()));
    let of_config = of_config.as_ref().map(|(paths, folder)| (paths.as_slice(), folder.as_path()));
    let rules = mesh::rules::rules_with(rules, of_config, &mut loaded.sources)?;
    let (mut config, mut problems) = document.map(|(document, _)| Config::read(document, &rules)).unwrap_or_default();
    problems.extend(read.map(|read| read.problems).unwrap_or_default());
    for problem in &problems {
        report::problem::problem(session.err, session.around.err, &loaded.sources, problem)?;
    }
    if problems.iter().any(|problem| problem.severity == Severity::Error) {
        let word = session.around.err.paint(Role::Bad, "error");
        writeln!(session.err, "{word}: cannot use the configuration")?;
        return Ok(None);
    }
    // Releases come from the cluster.
    config.istio_versions.clear();
    Ok(Some(Rules::new(rules, config)))
}
