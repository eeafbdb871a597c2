//! `watch`: keeps reading proxies in turn and reports changes.

use super::options::{TextOrJson, duration};
use super::session::{Exit, Session};
use super::webhook::serve;
use crate::admission::snapshot::Overrides;
use crate::cluster::Fault;
use crate::mesh::Error;
use crate::mesh::live::failed;
use crate::report::watch::{Became, Line};
use crate::watch::run::{self, Pace, Sharing};
use crate::words::fnv;
use clap::Args;
use std::collections::HashSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::mpsc;

/// How many proxies are read in a minute by a watch that stays, and by one that somebody waits for.
const STEADY: u32 = 60;
const HURRIED: u32 = 6_000;

#[derive(Debug, Args)]
pub(super) struct Watch {
    /// Output format: text, or json with one object on each line
    #[arg(short, long, default_value = "text", hide_possible_values = true, value_name = "FORM")]
    output: TextOrJson,
    /// Maximum number of proxies read in a minute [default: 60; with --once, 6000]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=60_000))]
    rate: Option<u32>,
    /// How long to wait before a proxy is read again when nothing changed
    #[arg(long, value_name = "DURATION", default_value = "2m", value_parser = duration)]
    interval: Duration,
    /// How long proxies may take to receive a change before they are read
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration)]
    settle: Duration,
    /// Read every proxy once, then exit; the exit code is that of `status`
    #[arg(long)]
    once: bool,
    /// Address for Prometheus and probes, over plain HTTP: /metrics, /healthz, /readyz
    #[arg(long, value_name = "ADDRESS")]
    metrics_address: Option<SocketAddr>,
    /// Write Kubernetes Events on EnvoyFilters, which `kubectl describe` shows
    #[arg(long)]
    events: bool,
    /// Share the proxies with other replicas: number of shards, each held by a Lease
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=64), requires = "lease_prefix")]
    shards: Option<u32>,
    /// Prefix of the names of the Leases, followed by -0, -1 and so on
    #[arg(long, value_name = "NAME")]
    lease_prefix: Option<String>,
    /// Name of this replica [default: the pod name]
    #[arg(long, value_name = "NAME", env = "POD_NAME", hide_env = true)]
    replica: Option<String>,
    /// Namespace of the Leases
    #[arg(long, value_name = "NAMESPACE", env = "POD_NAMESPACE", hide_env = true)]
    lease_namespace: Option<String>,
    /// Configuration file, as lint reads it from .envoyfilter.yaml
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Custom rules: files or folders of files of kind LintRule
    #[arg(long, value_name = "PATH")]
    rules: Vec<PathBuf>,
}

/// Maximum number of unwritten lines.
const WAITING: usize = 1_024;
/// Maximum number of Envoy's messages remembered as written.
const REMEMBERED: usize = 10_000;

impl Watch {
    /// How many proxies are read in a minute.
    fn rate(&self) -> u32 {
        self.rate.unwrap_or(if self.once { HURRIED } else { STEADY })
    }

    pub(super) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Error> {
        if session.global.cluster.capture.is_some() {
            return session.usage("a capture does not change: watch needs a cluster", None);
        }
        if session.global.cluster.selects() {
            let help = "omit the selector; -n narrows it to one namespace";
            return session.usage("watch covers the whole mesh, not a selection of EnvoyFilters", Some(help));
        }
        let Some(rules) = serve::rules_of(session, self.config.as_deref(), &self.rules)? else {
            return Ok(Exit::Usage);
        };
        let (runtime, cluster) = session.connect()?;
        // An unreachable server is reported at once.
        match runtime.block_on(cluster.text("/version")) {
            Ok(_) | Err(Fault::NotAllowed(_) | Fault::NotFound(_) | Fault::Garbled(_)) => {}
            Err(fault) => return Err(failed(&cluster, fault)),
        }
        let replica = self.replica.clone().unwrap_or_else(|| format!("process-{}", std::process::id()));
        let namespace = self.lease_namespace.clone().unwrap_or_else(|| cluster.namespace.clone());
        let sharing = self.lease_prefix.clone().map(|prefix| Sharing {
            namespace,
            prefix,
            replica: replica.clone(),
            shards: self.shards.unwrap_or(1),
        });
        let options = &session.global.cluster;
        let watch = run::Watch {
            overrides: Overrides {
                context: cluster.context.clone(),
                release: session.global.istio_version,
                root_namespace: session.global.root_namespace.clone(),
            },
            istio_namespace: options.istio_namespace().to_owned(),
            via: options.via(),
            namespace: session.global.namespace.clone().filter(|_| !options.all_namespaces),
            pace: Pace { per_minute: self.rate(), interval: self.interval, settle: self.settle },
            rules,
            secrets: session.global.secrets.clone(),
            metrics: self.metrics_address,
            events: self.events.then_some(replica),
            sharing,
            once: self.once,
        };
        let (sender, mut lines) = mpsc::channel(WAITING);
        let running = runtime.spawn(run::run(cluster, watch, sender));
        let mut printed: HashSet<u64> = HashSet::new();
        while let Some(mut line) = lines.blocking_recv() {
            match self.output {
                TextOrJson::Json => line.json(session.out)?,
                TextOrJson::Text => {
                    once(&mut line, &mut printed);
                    line.text(session.out)?;
                }
            }
            if lines.is_empty() {
                session.out.flush()?;
            }
        }
        match runtime.block_on(running) {
            Ok(Ok(_)) if !self.once => Ok(Exit::Ok),
            Ok(Ok(ended)) => Ok(match (ended.complete, ended.wrong) {
                (false, _) => Exit::Partial,
                (true, true) => Exit::Findings,
                (true, false) => Exit::Ok,
            }),
            Ok(Err(message)) => session.usage(&message, None),
            Err(error) => session.usage(&error.to_string(), None),
        }
    }
}

/// Omits Envoy's message if it was printed already: a mesh may reject one update a thousand times.
fn once(line: &mut Line, printed: &mut HashSet<u64>) {
    let Line::Change { became, notice, .. } = line else { return };
    let Some(short) = &notice.short else { return };
    if printed.len() > REMEMBERED {
        printed.clear();
    }
    let repeated = !printed.insert(fnv(&notice.message));
    if repeated || *became == Became::Cleared {
        notice.message = format!("{short} (Envoy's words are above)");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(clap::Parser)]
    struct Only {
        #[command(flatten)]
        watch: Watch,
    }

    #[test]
    fn a_watch_that_somebody_waits_for_reads_faster() {
        let rate = |arguments: &[&str]| {
            let all = ["watch"].iter().chain(arguments);
            <Only as clap::Parser>::try_parse_from(all).unwrap().watch.rate()
        };
        assert_eq!([rate(&[]), rate(&["--once"]), rate(&["--once", "--rate", "7"])], [60, 6_000, 7]);
    }
}
