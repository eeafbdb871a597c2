//! `webhook install`: the admission server and the scheduled report, by server-side apply.

use super::{
    DryRun, Exit, FailurePolicy, Installation, Session, YamlOrJson, called, failed, live, word, write_objects,
};
use crate::cli::options;
use crate::cluster::kinds::{
    ADMISSION_POLICY, ADMISSION_POLICY_BINDING, CERTIFICATE, CLUSTER_POLICY_REPORT, JOB, Kind, MADE, NAMESPACE,
    POLICY_REPORT, ROLE, ROLE_BINDING, SERVICE_MONITOR, VALIDATING_WEBHOOK,
};
use crate::cluster::write::Dry;
use crate::cluster::{Cluster, Fault};
use crate::deploy::{self, Certificates, Part, Parts, Piece, Slots};
use crate::load::config;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::io;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "options that are there or not")]
pub(super) struct Install {
    #[command(flatten)]
    installation: Installation,
    /// Image of this program
    #[arg(long, value_name = "IMAGE")]
    image: Option<String>,
    /// Secret with which the image is pulled; may be given several times
    #[arg(long, value_name = "NAME")]
    pull_secret: Vec<String>,
    /// Replicas of the server
    #[arg(long, value_name = "NUMBER", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
    replicas: u16,
    /// enforce refuses what is wrong, warn tells, audit only counts and logs
    #[arg(long, default_value = "enforce", hide_possible_values = true, value_name = "MODE")]
    mode: Mode,
    /// Severity from which on a filter is refused: error, warning or info
    #[arg(long, default_value = "error", hide_possible_values = true, value_name = "SEVERITY")]
    deny_at: Level,
    /// How long a review may take
    #[arg(long, default_value = "5s", value_name = "DURATION", value_parser = span)]
    deadline: Span,
    /// What happens to a filter that takes longer: allow (with a warning) or deny
    #[arg(long, default_value = "allow", hide_possible_values = true, value_name = "WHAT")]
    on_deadline: OnDeadline,
    /// What the API server does when no server answers: Ignore or Fail
    #[arg(long, default_value = "Ignore", hide_possible_values = true, value_name = "POLICY")]
    failure_policy: FailurePolicy,
    /// How long the API server waits for an answer, in seconds
    #[arg(long, default_value_t = 10, value_name = "SECONDS", value_parser = clap::value_parser!(u8).range(1..=30))]
    timeout: u8,
    /// Proxies of which the server reads the extensions they have; takes the right to read config dumps
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    sample_proxies: u32,
    /// Configuration, as lint reads it from .envoyfilter.yaml
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Where the certificate comes from: own (the server makes and renews it) or cert-manager
    #[arg(long, default_value = "own", hide_possible_values = true, value_name = "SOURCE")]
    certificates: Source,
    /// Revision of a further control plane, whose mesh settings are read as well; may be given several times
    #[arg(long, value_name = "REVISION")]
    revision: Vec<String>,
    /// Let the Prometheus operator read the metrics
    #[arg(long)]
    service_monitor: bool,
    /// Without a NetworkPolicy
    #[arg(long)]
    no_network_policy: bool,
    /// Without the scheduled report
    #[arg(long)]
    no_report: bool,
    /// When the report is written, as cron
    #[arg(long, value_name = "CRON")]
    report_schedule: Option<String>,
    /// Pods that share the work of a report
    #[arg(long, default_value_t = 1, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..))]
    report_shards: u16,
    /// Print a Job that writes one report now, instead of installing
    #[arg(long, conflicts_with = "no_report")]
    report_job: bool,
    /// Whether anything is done: none (it is), client (it is printed), server (the API server checks it)
    #[arg(long, default_value = "none", hide_possible_values = true, value_name = "HOW")]
    dry_run: DryRun,
    /// Form of what is printed: yaml or json
    #[arg(short, long, default_value = "yaml", hide_possible_values = true, value_name = "FORM")]
    output: YamlOrJson,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Mode {
    Enforce,
    Warn,
    Audit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Level {
    Error,
    Warning,
    Info,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OnDeadline {
    Allow,
    Deny,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Source {
    Own,
    CertManager,
}

/// A duration as it was written, and what it is.
#[derive(Clone, Debug)]
struct Span {
    text: String,
    length: std::time::Duration,
}

fn span(text: &str) -> Result<Span, String> {
    options::duration(text).map(|length| Span { text: text.to_owned(), length })
}

impl Install {
    pub(super) fn run(&self, session: &mut Session<'_>) -> io::Result<Exit> {
        if self.deadline.length.as_secs() >= self.timeout.into() {
            let message = format!(
                "the API server gives up after {} s, before the deadline of {}",
                self.timeout, self.deadline.text
            );
            return session.usage(&message, Some("the --deadline has to be shorter than the --timeout"));
        }
        let slots = match self.slots(session) {
            Ok(slots) => slots,
            Err(message) => return session.usage(&message, None),
        };
        if self.report_job {
            return write_objects(session, &[deploy::shards(&slots)], self.output).map(|()| Exit::Ok);
        }
        let certificates = match self.certificates {
            Source::Own => Certificates::Own,
            Source::CertManager => Certificates::CertManager,
        };
        let parts = Parts {
            namespace: true,
            sample_proxies: self.sample_proxies > 0,
            network_policy: !self.no_network_policy,
            service_monitor: self.service_monitor,
            report: !self.no_report,
        };
        let pieces = deploy::pieces(&slots, certificates).into_iter().filter(|piece| parts.has(piece.part));
        let pieces: Vec<Piece> = pieces.collect();
        if self.dry_run == DryRun::Client {
            let objects: Vec<Value> = pieces.into_iter().map(|piece| piece.object).collect();
            return write_objects(session, &objects, self.output).map(|()| Exit::Ok);
        }
        self.install(session, &slots, pieces)
    }

    fn slots(&self, session: &Session<'_>) -> Result<Slots, String> {
        let default = Slots::default();
        let options = &session.global.cluster;
        let istio_namespace = options.istio_namespace().to_owned();
        let config = match &self.config {
            Some(path) => config::text(path).map_err(|problem| problem.message)?,
            None => default.config,
        };
        let pull_secrets: Vec<Value> = self.pull_secret.iter().map(|name| json!({"name": name})).collect();
        Ok(Slots {
            name: self.installation.name.clone(),
            namespace: Installation::namespace(session),
            image: self.image.clone().unwrap_or(default.image),
            pull_secrets: pull_secrets.into(),
            replicas: self.replicas.into(),
            mode: word(&self.mode),
            deny_at: word(&self.deny_at),
            deadline: self.deadline.text.clone(),
            on_deadline: word(&self.on_deadline),
            failure_policy: word(&self.failure_policy),
            timeout: self.timeout.into(),
            sample_proxies: self.sample_proxies.into(),
            config_checksum: deploy::checksum(&config),
            config,
            root_namespace: session.global.root_namespace.clone().unwrap_or_default(),
            istio_namespace,
            revisions: self.revision.clone(),
            schedule: self.report_schedule.clone().unwrap_or(default.schedule),
            shards: self.report_shards.into(),
            ..Slots::default()
        })
    }

    fn install(&self, session: &mut Session<'_>, slots: &Slots, pieces: Vec<Piece>) -> io::Result<Exit> {
        let (runtime, cluster) = match live::connect(session)? {
            Ok(connected) => connected,
            Err(exit) => return Ok(exit),
        };
        let dry = if self.dry_run == DryRun::Server { Dry::Server } else { Dry::No };
        let done = if dry == Dry::Server { " (server dry run)" } else { "" };
        match runtime.block_on(obstacle(&cluster, slots, self.certificates == Source::CertManager)) {
            Ok(None) => {}
            Ok(Some((message, help))) => return session.usage(&message, Some(help)),
            Err(fault) => return failed(session, &format!("cannot read cluster {}", cluster.context), &fault, None),
        }
        let mut wanted = Vec::new();
        for Piece { part, mut object, .. } in pieces {
            if part == Part::Namespace {
                let name = slots.namespace.as_str();
                match runtime.block_on(cluster.object(NAMESPACE, None, name)) {
                    // What is there may be shared with others: it is not ours, and stays when we go.
                    Ok(Some(_)) => continue,
                    Ok(None) => {
                        object["metadata"]["labels"][deploy::MANAGED_BY] = deploy::PROGRAM.into();
                        object["metadata"]["labels"][deploy::INSTANCE] = slots.name.clone().into();
                    }
                    Err(fault) => return failed(session, &format!("cannot read namespace {name}"), &fault, None),
                }
            }
            if part == Part::ServiceMonitor && !runtime.block_on(cluster.serves(SERVICE_MONITOR)).unwrap_or(true) {
                writeln!(session.err, "note: the cluster has no ServiceMonitors (Prometheus operator): none is made")?;
                continue;
            }
            let what = called(&object);
            match runtime.block_on(cluster.apply(&object, dry)) {
                Ok(applied) => {
                    writeln!(session.out, "{what} applied{done}")?;
                    for warning in applied.warnings {
                        writeln!(session.err, "warning: {what}: {warning}")?;
                    }
                }
                Err(fault) => {
                    let help = (dry == Dry::Server).then_some(
                        "a server dry run finds only what is there already: a namespace that is to be made is not",
                    );
                    return failed(session, &format!("cannot apply {what}"), &fault, help);
                }
            }
            wanted.push((what, object));
        }
        if dry == Dry::No {
            let keep: Vec<&str> = wanted.iter().map(|(what, _)| what.as_str()).collect();
            match runtime.block_on(self.prune(&cluster, slots, &keep)) {
                Ok(gone) => {
                    for what in gone {
                        writeln!(session.out, "{what} removed: not part of it any more")?;
                    }
                }
                Err(fault) => return failed(session, "cannot remove what is not part of it any more", &fault, None),
            }
            let (name, namespace) = (&slots.name, &slots.namespace);
            let named = if name == deploy::NAME { String::new() } else { format!(" --name {name}") };
            writeln!(
                session.err,
                "note: `kubectl envoyfilter webhook status -n {namespace}{named}` says when it is ready"
            )?;
        }
        Ok(Exit::Ok)
    }

    /// Removes what an earlier installation of this name had and this one has not.
    async fn prune(&self, cluster: &Cluster, slots: &Slots, keep: &[&str]) -> Result<Vec<String>, Fault> {
        const STAY: &[&Kind] =
            &[NAMESPACE, JOB, POLICY_REPORT, CLUSTER_POLICY_REPORT, ADMISSION_POLICY, ADMISSION_POLICY_BINDING];
        let mut gone = Vec::new();
        for kind in MADE.iter().rev().filter(|kind| !STAY.contains(kind)) {
            let anywhere = !kind.namespaced || [ROLE, ROLE_BINDING].contains(kind);
            let namespace = (!anywhere).then_some(slots.namespace.as_str());
            for object in cluster.labelled(kind, namespace, &self.installation.labels()).await? {
                let what = called(&object);
                if !keep.contains(&what.as_str()) {
                    let text = |key: &str| object["metadata"][key].as_str();
                    cluster.delete(kind, text("namespace"), text("name").unwrap_or_default(), Dry::No).await?;
                    gone.push(what);
                }
            }
        }
        Ok(gone)
    }
}

/// What stands in the way of an installation, and what to do.
async fn obstacle(
    cluster: &Cluster,
    slots: &Slots,
    cert_manager: bool,
) -> Result<Option<(String, &'static str)>, Fault> {
    if let Some(there) = cluster.object(VALIDATING_WEBHOOK, None, &slots.name).await? {
        let by = there["metadata"]["labels"][deploy::MANAGED_BY].as_str().unwrap_or_default();
        if !by.is_empty() && by != deploy::PROGRAM {
            let message = format!("{} was installed by {by}", slots.name);
            return Ok(Some((message, "change it there, or take another --name")));
        }
        let namespace = there["webhooks"][0]["clientConfig"]["service"]["namespace"].as_str().unwrap_or_default();
        if !namespace.is_empty() && namespace != slots.namespace {
            let message = format!("{} is installed in namespace {namespace}", slots.name);
            return Ok(Some((message, "give that with -n, uninstall it there, or take another --name")));
        }
    }
    if cert_manager && !cluster.serves(CERTIFICATE).await? {
        let help = "install cert-manager first, or leave --certificates out: the server can make its own";
        return Ok(Some(("the cluster has no cert-manager".to_owned(), help)));
    }
    Ok(None)
}
