//! `webhook install`: the admission server and the scheduled report, by server-side apply.

use super::{
    DryRun, Exit, FailurePolicy, Installation, Session, YamlOrJson, called, failed, value_name, write_objects,
};
use crate::cli::options;
use crate::cluster::facts::{DEFAULT_REVISION, ISTIOD, PlaneName, REVISION};
use crate::cluster::kinds::{
    ADMISSION_POLICY, ADMISSION_POLICY_BINDING, CERTIFICATE, CLUSTER_OPEN_REPORT, CLUSTER_POLICY_REPORT, JOB, Kind,
    MADE, NAMESPACE, OPEN_REPORT, POD, POLICY_REPORT, PROMETHEUS_RULE, ROLE, ROLE_BINDING, SERVICE_MONITOR,
    VALIDATING_WEBHOOK,
};
use crate::cluster::write::{Applied, Dry};
use crate::cluster::{Cluster, Fault};
use crate::deploy::{self, Certificates, Part, Parts, Piece, PlaneSlot, Slots, cron};
use crate::mesh::Error;
use crate::source::ErrorMessage;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use tokio::runtime::Runtime;

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "options that are there or not")]
pub(super) struct Install {
    #[command(flatten)]
    installation: Installation,
    /// Image of this program, best by its digest: REGISTRY/kubectl-envoyfilter@sha256:...
    #[arg(long, value_name = "IMAGE", value_parser = image)]
    image: Option<String>,
    /// Pull secret of the image; may be repeated
    #[arg(long, value_name = "NAME")]
    pull_secret: Vec<String>,
    /// Replicas of the server
    #[arg(long, value_name = "NUMBER", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
    replicas: u16,
    /// What happens to findings: enforce denies, warn shows warnings, audit logs and counts
    #[arg(long, default_value = "enforce", hide_possible_values = true, value_name = "MODE")]
    mode: Mode,
    /// Minimum severity that denies an EnvoyFilter: error, warning or info
    #[arg(long, default_value = "error", hide_possible_values = true, value_name = "SEVERITY")]
    deny_at: Level,
    /// Maximum duration of a review; must be shorter than --timeout
    #[arg(long, default_value = "5s", value_name = "DURATION", value_parser = span)]
    deadline: Span,
    /// Answer to a review that exceeds the deadline because the server is overloaded: allow (with a warning) or deny
    #[arg(long, default_value = "allow", hide_possible_values = true, value_name = "WHAT")]
    on_deadline: OnDeadline,
    /// What the API server does when no replica answers: Ignore or Fail
    #[arg(long, default_value = "Ignore", hide_possible_values = true, value_name = "POLICY")]
    failure_policy: FailurePolicy,
    /// Timeout of the API server, in seconds
    #[arg(long, default_value_t = 10, value_name = "SECONDS", value_parser = clap::value_parser!(u8).range(1..=30))]
    timeout: u8,
    /// Number of proxies whose extensions the server reads; requires the right to read config dumps
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    sample_proxies: u32,
    /// Configuration file, as lint reads it from .envoyfilter.yaml
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Source of the certificate: own (made and renewed by the server) or cert-manager
    #[arg(long, default_value = "own", hide_possible_values = true, value_name = "SOURCE")]
    certificates: Source,
    /// Another control plane whose mesh config is read, with its namespace if it runs elsewhere; may be repeated
    #[arg(long, value_name = "[NAMESPACE/]REVISION")]
    revision: Vec<PlaneName>,
    /// Create a ServiceMonitor for the Prometheus operator
    #[arg(long)]
    service_monitor: bool,
    /// ConfigMap with the certificate authorities of clients (key ca.crt): only the API server gets reviews
    #[arg(long, value_name = "NAME")]
    client_ca_configmap: Option<String>,
    /// Addresses of the API server: the NetworkPolicy lets only them call the webhook; may be repeated
    #[arg(long, value_name = "CIDR", value_parser = cidr, conflicts_with = "no_network_policy")]
    api_server_cidr: Vec<String>,
    /// Do not create NetworkPolicies
    #[arg(long)]
    no_network_policy: bool,
    /// Do not create the scheduled report
    #[arg(long)]
    no_report: bool,
    /// Schedule of the report, in cron format
    #[arg(long, value_name = "CRON")]
    report_schedule: Option<String>,
    /// Source of the report's config dumps: istiod, or port-forward (requires pods/portforward in all namespaces)
    #[arg(long, default_value = "istiod", hide_possible_values = true, value_name = "SOURCE")]
    report_dump_via: Dumps,
    /// API of the reports: wgpolicyk8s.io, openreports.io, or both with a comma
    #[arg(long, default_value = "wgpolicyk8s.io", value_name = "API", value_parser = apis)]
    report_api: String,
    /// Number of pods that share the work of a report
    #[arg(long, default_value_t = 1, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..))]
    report_shards: u16,
    /// Also install the standing watch, which `kubectl envoyfilter watch` runs: watch
    #[arg(long, value_name = "WHAT", value_delimiter = ',', hide_possible_values = true)]
    with: Vec<With>,
    /// Replicas of the watch, which share the proxies
    #[arg(long, default_value_t = 1, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=64))]
    watch_replicas: u16,
    /// Maximum number of proxies that each replica of the watch reads in a minute
    #[arg(long, default_value_t = 60, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=60_000))]
    watch_rate: u32,
    /// Source of the watch's config dumps: istiod, or port-forward (requires pods/portforward in all namespaces)
    #[arg(long, default_value = "istiod", hide_possible_values = true, value_name = "SOURCE")]
    watch_dump_via: Dumps,
    /// Create a PrometheusRule with the alerts of the watch for the Prometheus operator
    #[arg(long)]
    prometheus_rule: bool,
    /// Print a Job that writes one report now instead of installing
    #[arg(long, conflicts_with = "no_report")]
    report_job: bool,
    /// Only print (client), or only let the API server check (server)
    #[arg(long, default_value = "none", hide_possible_values = true, value_name = "HOW")]
    dry_run: DryRun,
    /// Output format: yaml or json
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

/// What is installed in addition to the admission server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum With {
    Watch,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Dumps {
    Istiod,
    PortForward,
}

/// The APIs of reports.
fn apis(text: &str) -> Result<String, ErrorMessage> {
    let known = text.split(',').all(|api| ["wgpolicyk8s.io", "openreports.io"].contains(&api));
    known.then(|| text.to_owned()).ok_or_else(|| "wgpolicyk8s.io, openreports.io, or both with a comma".into())
}

/// The reference of an image: a registry rejects other characters only when a pod starts.
fn image(text: &str) -> Result<String, ErrorMessage> {
    let fits = text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "._-:/@".contains(c))
        && text.ends_with(|c: char| c.is_ascii_alphanumeric());
    fits.then(|| text.to_owned())
        .ok_or_else(|| "an image such as registry.example/kubectl-envoyfilter@sha256:...".into())
}

/// An address range in the form required by a NetworkPolicy.
fn cidr(text: &str) -> Result<String, ErrorMessage> {
    let range = text.split_once('/').and_then(|(address, bits)| {
        let most = match address.parse::<IpAddr>().ok()? {
            IpAddr::V4(_) => 32,
            IpAddr::V6(_) => 128,
        };
        bits.parse::<u8>().ok().filter(|bits| *bits <= most)
    });
    range.map(|_| text.to_owned()).ok_or_else(|| "an address range such as 10.0.0.1/32".into())
}

/// A duration as written, with its value.
#[derive(Clone, Debug)]
struct Span {
    text: String,
    length: std::time::Duration,
}

fn span(text: &str) -> Result<Span, ErrorMessage> {
    options::duration(text).map(|length| Span { text: text.to_owned(), length })
}

impl Install {
    pub(super) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Error> {
        if self.deadline.length.as_secs() >= self.timeout.into() {
            let message = format!(
                "the API server gives up after {} s, before the deadline of {}",
                self.timeout, self.deadline.text
            );
            return session.usage(&message, Some("use a --deadline that is shorter than the --timeout"));
        }
        if self.prometheus_rule && !self.with.contains(&With::Watch) {
            return session.usage("the alerts are about metrics of the watch", Some("add --with watch"));
        }
        if let Err(error) = self.report_schedule.as_deref().map_or(Ok(()), cron::check) {
            return session.usage(&format!("invalid --report-schedule: {error}"), Some("write it as `17 * * * *`"));
        }
        let config = match &self.config {
            None => None,
            Some(path) => match super::installable(session, path)? {
                Some(text) => Some(text),
                None => return Ok(Exit::Usage),
            },
        };
        let slots = self.slots(session, config);
        let image = self.image.as_deref().or(deploy::IMAGE);
        match image {
            None if self.dry_run != DryRun::Client && !self.report_job => {
                let help =
                    "build one with the Dockerfile, push it, and give --image REGISTRY/kubectl-envoyfilter@sha256:...";
                return session.usage("this build has no published image: --image is required", Some(help));
            }
            None => writeln!(session.err, "note: image {} does not exist in a registry; give --image", slots.image)?,
            Some(image) if !image.contains("@sha256:") => {
                writeln!(
                    session.err,
                    "note: image {image} is not pinned by digest; whoever can push its tag can replace it"
                )?;
            }
            Some(_) => {}
        }
        if self.report_job {
            write_objects(session, &[deploy::shards(&slots)], self.output)?;
            return Ok(Exit::Ok);
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
            report_proxies: self.report_dump_via == Dumps::PortForward,
            watch: self.with.contains(&With::Watch),
            watch_proxies: self.watch_dump_via == Dumps::PortForward,
            prometheus_rule: self.prometheus_rule,
        };
        let pieces = deploy::pieces(&slots, certificates).into_iter().filter(|piece| parts.has(piece.part));
        let pieces: Vec<Piece> = pieces.collect();
        if self.dry_run == DryRun::Client {
            let objects: Vec<Value> = pieces.into_iter().map(|piece| piece.object).collect();
            write_objects(session, &objects, self.output)?;
            return Ok(Exit::Ok);
        }
        self.install(session, &slots, pieces)
    }

    fn slots(&self, session: &Session<'_>, config: Option<String>) -> Slots {
        let default = Slots::default();
        let options = &session.global.cluster;
        let istio_namespace = options.istio_namespace().to_owned();
        let config = config.unwrap_or(default.config);
        let pull_secrets: Vec<Value> = self.pull_secret.iter().map(|name| json!({"name": name})).collect();
        let ranges = self.api_server_cidr.iter().map(|cidr| json!({"ipBlock": {"cidr": cidr}}));
        Slots {
            api_servers: ranges.collect(),
            client_ca: self.client_ca_configmap.clone().unwrap_or_default(),
            report_dumps: value_name(&self.report_dump_via),
            report_api: self.report_api.clone(),
            watch_replicas: self.watch_replicas.into(),
            watch_shards: (0..self.watch_replicas).map(|shard| shard.to_string()).collect(),
            watch_rate: self.watch_rate.into(),
            watch_dumps: value_name(&self.watch_dump_via),
            name: self.installation.name.clone(),
            namespace: Installation::namespace(session),
            image: self.image.clone().unwrap_or(default.image),
            pull_secrets: pull_secrets.into(),
            replicas: self.replicas.into(),
            mode: value_name(&self.mode),
            deny_at: value_name(&self.deny_at),
            deadline: self.deadline.text.clone(),
            on_deadline: value_name(&self.on_deadline),
            failure_policy: value_name(&self.failure_policy),
            timeout: self.timeout.into(),
            sample_proxies: self.sample_proxies.into(),
            config_checksum: deploy::checksum(&config),
            config,
            root_namespace: session.global.root_namespace.clone().unwrap_or_default(),
            control_planes: self.control_planes(&istio_namespace),
            istio_namespace,
            schedule: self.report_schedule.clone().unwrap_or(default.schedule),
            shards: self.report_shards.into(),
            ..Slots::default()
        }
    }

    /// The control planes to grant, each once.
    fn control_planes(&self, istio_namespace: &str) -> Vec<PlaneSlot> {
        let mut planes: Vec<PlaneSlot> = Vec::new();
        for plane in &self.revision {
            let plane = PlaneSlot::of(plane, istio_namespace);
            if !planes.contains(&plane) {
                planes.push(plane);
            }
        }
        planes
    }

    fn install(&self, session: &mut Session<'_>, slots: &Slots, pieces: Vec<Piece>) -> Result<Exit, Error> {
        let (runtime, cluster) = session.connect()?;
        let dry = if self.dry_run == DryRun::Server { Dry::Server } else { Dry::No };
        let done = if dry == Dry::Server { " (server dry run)" } else { "" };
        match runtime.block_on(obstacle(&cluster, slots, self.certificates == Source::CertManager)) {
            Ok(None) => {}
            Ok(Some((message, help))) => return session.usage(&message, Some(help)),
            Err(fault) => return failed(session, &format!("cannot read cluster {}", cluster.context), &fault, None),
        }
        note_uncovered(session, (&runtime, &cluster), slots)?;
        let mut wanted = Vec::new();
        let mut new_namespace = false;
        for Piece { part, mut object, .. } in pieces {
            if part == Part::Namespace {
                let name = slots.namespace.as_str();
                match runtime.block_on(cluster.object(NAMESPACE, None, name)) {
                    // An existing namespace may be shared: it is not ours, and stays when we uninstall.
                    Ok(Some(_)) => continue,
                    Ok(None) => {
                        new_namespace = true;
                        object["metadata"]["labels"][deploy::MANAGED_BY] = deploy::PROGRAM.into();
                        object["metadata"]["labels"][deploy::INSTANCE] = slots.name.clone().into();
                    }
                    Err(fault) => return failed(session, &format!("cannot read namespace {name}"), &fault, None),
                }
            }
            let of_operator = match part {
                Part::ServiceMonitor | Part::WatchServiceMonitor => Some(SERVICE_MONITOR),
                Part::PrometheusRule => Some(PROMETHEUS_RULE),
                _ => None,
            };
            if let Some(kind) = of_operator
                && !runtime.block_on(cluster.serves(kind)).unwrap_or(true)
            {
                writeln!(session.err, "note: the cluster has no {}s (Prometheus operator); skipping it", kind.kind)?;
                continue;
            }
            wanted.push((called(&object), object));
        }
        // Everything is checked before anything is applied, except objects whose namespace does not exist yet.
        let inside = |object: &Value| object["metadata"]["namespace"] == slots.namespace.as_str();
        for (what, object) in wanted.iter().filter(|(_, object)| !new_namespace || !inside(object)) {
            match runtime.block_on(cluster.apply(object, Dry::Server)) {
                Ok(_) if dry == Dry::No => {}
                Ok(applied) => tell(session, what, &applied, done)?,
                Err(fault) => {
                    return failed(session, &format!("cannot apply {what}; nothing was changed"), &fault, None);
                }
            }
        }
        if dry == Dry::Server && new_namespace {
            writeln!(
                session.err,
                "note: namespace {} does not exist yet; the API server cannot check what is created in it",
                slots.namespace
            )?;
        }
        let mut made: Vec<&Value> = Vec::new();
        for (what, object) in wanted.iter().filter(|_| dry == Dry::No) {
            let existed = match runtime.block_on(existing(&cluster, object)) {
                Ok(existed) => existed,
                Err(fault) => return self.undo(session, (&runtime, &cluster), &made, what, &fault),
            };
            match runtime.block_on(cluster.apply(object, dry)) {
                Ok(applied) => tell(session, what, &applied, done)?,
                Err(fault) => return self.undo(session, (&runtime, &cluster), &made, what, &fault),
            }
            if !existed {
                made.push(object);
            }
        }
        if dry == Dry::No {
            let keep: Vec<&str> = wanted.iter().map(|(what, _)| what.as_str()).collect();
            return self.finish(session, (&runtime, &cluster), slots, &keep);
        }
        Ok(Exit::Ok)
    }

    /// Removes what earlier versions of the installation had and this one has not.
    fn finish(
        &self,
        session: &mut Session<'_>,
        (runtime, cluster): (&Runtime, &Cluster),
        slots: &Slots,
        keep: &[&str],
    ) -> Result<Exit, Error> {
        match runtime.block_on(self.prune(cluster, slots, keep)) {
            Ok(gone) => {
                for what in gone {
                    writeln!(session.out, "{what} removed: no longer part of the installation")?;
                }
            }
            Err(fault) => {
                return failed(
                    session,
                    "cannot remove objects that are no longer part of the installation",
                    &fault,
                    None,
                );
            }
        }
        let (name, namespace) = (&slots.name, &slots.namespace);
        let named = if name == deploy::NAME { String::new() } else { format!(" --name {name}") };
        writeln!(
            session.err,
            "note: run `kubectl envoyfilter webhook status -n {namespace}{named}` to see when it is ready"
        )?;
        Ok(Exit::Ok)
    }

    /// Removes what this run created after an object could not be applied: an installation is complete or absent.
    fn undo(
        &self,
        session: &mut Session<'_>,
        (runtime, cluster): (&Runtime, &Cluster),
        made: &[&Value],
        what: &str,
        fault: &Fault,
    ) -> Result<Exit, Error> {
        let mut left = Vec::new();
        for object in made.iter().rev() {
            let Some(kind) = Kind::of(object) else { continue };
            let text = |key: &str| object["metadata"][key].as_str();
            let gone = cluster.delete(kind, text("namespace"), text("name").unwrap_or_default(), Dry::No);
            if runtime.block_on(gone).is_err() {
                left.push(called(object));
            }
        }
        let help = if left.is_empty() {
            format!("the {} objects that this run created were removed again", made.len())
        } else {
            format!("still there: {}; run `webhook uninstall` with the same name and namespace", left.join(", "))
        };
        failed(session, &format!("cannot apply {what}"), fault, Some(&help))
    }

    /// Removes objects of an earlier installation of this name that are no longer part of it.
    async fn prune(&self, cluster: &Cluster, slots: &Slots, keep: &[&str]) -> Result<Vec<String>, Fault> {
        const STAY: &[&Kind] = &[
            NAMESPACE,
            JOB,
            POLICY_REPORT,
            CLUSTER_POLICY_REPORT,
            OPEN_REPORT,
            CLUSTER_OPEN_REPORT,
            ADMISSION_POLICY,
            ADMISSION_POLICY_BINDING,
        ];
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

/// Reports that an object was applied, with warnings of the API server.
fn tell(session: &mut Session<'_>, what: &str, applied: &Applied, done: &str) -> io::Result<()> {
    writeln!(session.out, "{what} applied{done}")?;
    applied.warnings.iter().try_for_each(|warning| writeln!(session.err, "warning: {what}: {warning}"))
}

/// Whether the cluster has an object.
async fn existing(cluster: &Cluster, object: &Value) -> Result<bool, Fault> {
    let Some(kind) = Kind::of(object) else { return Ok(false) };
    let text = |key: &str| object["metadata"][key].as_str();
    Ok(cluster.object(kind, text("namespace"), text("name").unwrap_or_default()).await?.is_some())
}

/// The control planes of these pods whose mesh settings the accounts may not read, as `--revision` names them.
fn uncovered(istiods: &[Value], slots: &Slots) -> BTreeSet<String> {
    let label = |pod: &Value| pod["metadata"]["labels"][REVISION].as_str().unwrap_or(DEFAULT_REVISION).to_owned();
    let planes = istiods.iter().filter_map(|pod| Some((pod["metadata"]["namespace"].as_str()?, label(pod))));
    let covered = |namespace: &str, revision: &str| {
        let is = |plane: &PlaneSlot| plane.namespace == namespace && plane.revision == revision;
        (namespace == slots.istio_namespace && revision == DEFAULT_REVISION) || slots.control_planes.iter().any(is)
    };
    let others = planes.filter(|(namespace, revision)| !covered(namespace, revision));
    others
        .map(
            |(namespace, revision)| {
                if namespace == slots.istio_namespace { revision } else { format!("{namespace}/{revision}") }
            },
        )
        .collect()
}

/// Notes the control planes whose mesh settings the accounts cannot read.
fn note_uncovered(
    session: &mut Session<'_>,
    (runtime, cluster): (&Runtime, &Cluster),
    slots: &Slots,
) -> io::Result<()> {
    match runtime.block_on(cluster.labelled(POD, None, ISTIOD)) {
        Ok(istiods) => {
            for plane in uncovered(&istiods, slots) {
                writeln!(
                    session.err,
                    "note: the accounts cannot read the mesh settings of control plane {plane}; add --revision {plane}"
                )?;
            }
        }
        Err(fault) => writeln!(
            session.err,
            "note: control planes outside {} were not looked for: {fault}; add --revision NAMESPACE/REVISION for each",
            slots.istio_namespace
        )?,
    }
    Ok(())
}

/// What prevents an installation, and what to do.
async fn obstacle(
    cluster: &Cluster,
    slots: &Slots,
    cert_manager: bool,
) -> Result<Option<(String, &'static str)>, Fault> {
    if let Some(there) = cluster.object(VALIDATING_WEBHOOK, None, &slots.name).await? {
        let by = there["metadata"]["labels"][deploy::MANAGED_BY].as_str().unwrap_or_default();
        if !by.is_empty() && by != deploy::PROGRAM {
            let message = format!("{} was installed by {by}", slots.name);
            return Ok(Some((message, "change it there, or choose another --name")));
        }
        let namespace = there["webhooks"][0]["clientConfig"]["service"]["namespace"].as_str().unwrap_or_default();
        if !namespace.is_empty() && namespace != slots.namespace {
            let message = format!("{} is installed in namespace {namespace}", slots.name);
            return Ok(Some((message, "use that namespace with -n, uninstall it there, or choose another --name")));
        }
    }
    if cert_manager && !cluster.serves(CERTIFICATE).await? {
        let help = "install cert-manager first, or omit --certificates: the server can make its own certificate";
        return Ok(Some(("the cluster has no cert-manager".to_owned(), help)));
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_planes_without_rights_are_named() {
        let pod = |namespace: &str, revision: Option<&str>| {
            let mut pod = json!({"metadata": {"namespace": namespace, "labels": {"app": "istiod"}}});
            if let Some(revision) = revision {
                pod["metadata"]["labels"][REVISION] = revision.into();
            }
            pod
        };
        let istiods = [
            pod("istio-system", None),
            pod("istio-system", Some("default")),
            pod("istio-system", Some("canary")),
            pod("mesh-east", Some("blue")),
            pod("mesh-east", Some("blue")),
            pod("mesh-west", None),
        ];
        let mut slots = Slots::default();
        let named = |slots: &Slots| uncovered(&istiods, slots).into_iter().collect::<Vec<_>>();
        assert_eq!(named(&slots), ["canary", "mesh-east/blue", "mesh-west/default"]);
        for name in named(&slots) {
            slots.control_planes.push(PlaneSlot::of(&name.parse().unwrap(), &slots.istio_namespace));
        }
        assert_eq!(named(&slots), [""; 0]);
    }
}
