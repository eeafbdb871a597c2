//! `webhook report`: lint of the running mesh, written into it as PolicyReports.

use super::{DryRun, Exit, Installation, Session, YamlOrJson, called, failed, live, write_objects};
use crate::cli::lint::Lint;
use crate::cluster::kinds::{CLUSTER_POLICY_REPORT, POLICY_REPORT};
use crate::cluster::write::Dry;
use crate::cluster::{Cluster, Fault};
use crate::deploy;
use crate::lint::Finding;
use crate::report::policy_report::{self, hash};
use clap::Args;
use futures::StreamExt;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::time::SystemTime;

#[derive(Debug, Args)]
pub(super) struct Report {
    #[command(flatten)]
    installation: Installation,
    /// Only the part I (from 0) of N of the EnvoyFilters: who shares the work writes the reports of others never
    #[arg(long, value_name = "I/N", value_parser = Shard::parse, conflicts_with_all = ["shards"])]
    shard: Option<Shard>,
    /// The work is shared by so many; which part this is says JOB_COMPLETION_INDEX, as in a Job of completionMode Indexed
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    shards: Option<u32>,
    /// Part that this is
    #[arg(long, hide = true, env = "JOB_COMPLETION_INDEX", hide_env = true)]
    shard_index: Option<u32>,
    /// Configuration, as lint reads it from .envoyfilter.yaml
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Rules of your own: files, or folders of files, of kind LintRule
    #[arg(long, value_name = "PATH")]
    rules: Vec<PathBuf>,
    /// Whether anything is written: none (it is), client (it is printed), server (the API server checks it)
    #[arg(long, default_value = "none", hide_possible_values = true, value_name = "HOW")]
    dry_run: DryRun,
    /// Form of what is printed: yaml or json
    #[arg(short, long, default_value = "yaml", hide_possible_values = true, value_name = "FORM")]
    output: YamlOrJson,
}

/// One of several parts of the work: a filter belongs to exactly one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) struct Shard {
    index: u32,
    number: u32,
}

impl Shard {
    const ALL: Shard = Shard { index: 0, number: 1 };

    fn new(index: u32, number: u32) -> Result<Shard, String> {
        if index < number {
            return Ok(Shard { index, number });
        }
        Err(format!("there is no shard {index} of {number}: they are counted from 0"))
    }

    fn parse(text: &str) -> Result<Shard, String> {
        let bad = || "write it as 0/3".to_owned();
        let (index, number) = text.split_once('/').ok_or_else(bad)?;
        Shard::new(index.parse().map_err(|_| bad())?, number.parse().map_err(|_| bad())?)
    }

    /// Whether a filter, `namespace/name`, belongs to it.
    pub(in crate::cli) fn owns(self, filter: &str) -> bool {
        hash(filter) % u64::from(self.number) == u64::from(self.index)
    }
}

/// Requests at the same time.
const AT_ONCE: usize = 8;

impl Report {
    pub(super) fn run(&self, session: &mut Session<'_>) -> io::Result<Exit> {
        let shard = match (self.shard, self.shards) {
            (Some(shard), _) => Ok(shard),
            (None, None | Some(1)) => Ok(Shard::ALL),
            (None, Some(number)) => match self.shard_index {
                Some(index) => Shard::new(index, number),
                None => {
                    Err("--shards takes JOB_COMPLETION_INDEX, which an Indexed Job sets; --shard I/N says both"
                        .to_owned())
                }
            },
        };
        let shard = match shard {
            Ok(shard) => shard,
            Err(message) => return session.usage(&message, None),
        };
        if session.global.cluster.capture.is_some() || session.global.cluster.selects() {
            let help = "without one, every filter has its report; -n reports on one namespace";
            return session.usage("reports are made of a whole cluster, not of a capture or a selection", Some(help));
        }
        let lint = Lint::of_cluster(self.config.clone(), self.rules.clone(), shard);
        let run = match lint.lint(session, None)? {
            Ok(run) => run,
            Err(exit) => return Ok(exit),
        };
        let reports = self.reports(&run, shard);
        if self.dry_run == DryRun::Client {
            return write_objects(session, &reports, self.output).map(|()| Exit::Ok);
        }
        // Who could not list filters does not know which are gone.
        let complete = !run.trouble.iter().any(|trouble| trouble.contains("envoyfilters"));
        self.write(session, &reports, shard, complete)
    }

    fn reports(&self, run: &crate::cli::lint::Run, shard: Shard) -> Vec<Value> {
        let sources = &run.loaded.sources;
        let labels = json!({
            "app.kubernetes.io/name": deploy::PROGRAM, deploy::INSTANCE: self.installation.name,
            "app.kubernetes.io/component": "report", deploy::MANAGED_BY: deploy::PROGRAM,
        });
        let all = policy_report::Run { sources, labels, now: SystemTime::now() };
        let mut of_file: BTreeMap<_, Vec<&Finding>> = BTreeMap::new();
        for finding in &run.findings {
            of_file.entry(finding.primary.span.file).or_default().push(finding);
        }
        let mut reports = Vec::new();
        let mut filters = 0;
        for filter in &run.loaded.inventory.envoy_filters {
            let asked = run.asked.as_ref().is_none_or(|asked| asked.contains(&filter.full_name()));
            if asked {
                filters += 1;
                // An object of a cluster is a text of its own.
                let findings = of_file.get(&filter.document.span.file).map(Vec::as_slice).unwrap_or_default();
                reports.extend(all.of_filter(filter, findings));
            }
        }
        reports.push(all.of_run(&self.run_name(shard), filters, &run.trouble));
        reports
    }

    /// Name of the report about a run.
    fn run_name(&self, shard: Shard) -> String {
        format!("{}-{}-of-{}", self.installation.name, shard.index, shard.number)
    }

    fn write(&self, session: &mut Session<'_>, reports: &[Value], shard: Shard, complete: bool) -> io::Result<Exit> {
        let (runtime, cluster) = match live::connect(session)? {
            Ok(connected) => connected,
            Err(exit) => return Ok(exit),
        };
        match runtime.block_on(cluster.serves(POLICY_REPORT)) {
            Ok(true) => {}
            Ok(false) => {
                let help = "install the CustomResourceDefinitions of wgpolicyk8s.io (kyverno and others bring them)";
                return session.usage("the cluster has no PolicyReports", Some(help));
            }
            Err(fault) => return failed(session, &format!("cannot read cluster {}", cluster.context), &fault, None),
        }
        let dry = if self.dry_run == DryRun::Server { Dry::Server } else { Dry::No };
        let work = futures::stream::iter(reports.iter().map(|report| {
            let cluster = cluster.clone();
            async move { (called(report), cluster.apply(report, dry).await) }
        }));
        let done: Vec<_> = runtime.block_on(work.buffered(AT_ONCE).collect());
        let mut exit = Exit::Ok;
        let (mut written, mut refused) = (0, 0);
        for (what, outcome) in done {
            match outcome {
                Ok(_) => written += 1,
                // Its namespace may have gone in the meantime.
                Err(Fault::NotFound(_)) => refused += 1,
                Err(fault) => {
                    refused += 1;
                    exit = failed(session, &format!("cannot write {what}"), &fault, None)?;
                }
            }
        }
        let mut gone = 0;
        if complete && dry == Dry::No {
            match runtime.block_on(self.clean(&cluster, session.global, reports, shard)) {
                Ok(number) => gone = number,
                Err(fault) => exit = failed(session, "cannot remove old reports", &fault, None)?,
            }
        }
        writeln!(session.out, "{written} reports written, {gone} old ones removed, {refused} not written")?;
        Ok(exit)
    }

    /// Removes reports of filters that are gone, further parts of reports that are shorter now, and reports of runs that
    /// were shared by another number.
    async fn clean(
        &self,
        cluster: &Cluster,
        global: &crate::cli::Global,
        reports: &[Value],
        shard: Shard,
    ) -> Result<usize, Fault> {
        let text = |object: &Value, pointer: &str| -> String {
            object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let key = |object: &Value| (text(object, "/metadata/namespace"), text(object, "/metadata/name"));
        let written: BTreeSet<(String, String)> = reports.iter().map(key).collect();
        let own = global.namespace.clone().unwrap_or_else(|| cluster.namespace.clone());
        let namespace = (!global.cluster.all_namespaces).then_some(own);
        let mut gone = 0;
        for report in cluster.whole(POLICY_REPORT, namespace.as_deref(), &self.installation.labels()).await? {
            let filter = format!("{}/{}", text(&report, "/scope/namespace"), text(&report, "/scope/name"));
            if shard.owns(&filter) && !written.contains(&key(&report)) {
                let (namespace, name) = key(&report);
                gone += usize::from(cluster.delete(POLICY_REPORT, Some(&namespace), &name, Dry::No).await?);
            }
        }
        if shard.index == 0 {
            let suffix = format!("-of-{}", shard.number);
            for report in cluster.labelled(CLUSTER_POLICY_REPORT, None, &self.installation.labels()).await? {
                let (_, name) = key(&report);
                if !name.ends_with(&suffix) {
                    gone += usize::from(cluster.delete(CLUSTER_POLICY_REPORT, None, &name, Dry::No).await?);
                }
            }
        }
        Ok(gone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_filter_belongs_to_one_shard() {
        for number in 1..6 {
            let mut sizes = vec![0; number as usize];
            for filter in 0..1_000 {
                let name = format!("shop/filter-{filter}");
                let owners: Vec<u32> = (0..number).filter(|&index| Shard { index, number }.owns(&name)).collect();
                assert_eq!(owners.len(), 1, "{name} of {number}");
                sizes[owners[0] as usize] += 1;
            }
            assert!(sizes.iter().all(|size| size * number > 700), "{sizes:?}");
        }
        assert!(Shard::parse("3/3").is_err() && Shard::parse("x").is_err() && Shard::parse("2/3").is_ok());
    }
}
