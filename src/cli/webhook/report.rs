//! `webhook report`: lints the running mesh and writes the findings into it as PolicyReports or Reports.

use super::{DryRun, Exit, Installation, Session, YamlOrJson, called, failed, write_objects};
use crate::cli::options::Global;
use crate::cluster::kinds::{CLUSTER_OPEN_REPORT, CLUSTER_POLICY_REPORT, Kind, OPEN_REPORT, POLICY_REPORT};
use crate::cluster::write::Dry;
use crate::cluster::{Cluster, Fault};
use crate::deploy;
use crate::lint::Finding;
use crate::mesh::{self, Error, LintReport, LintRequest, Shard};
use crate::report::policy_report::{self, Api};
use crate::source::ErrorMessage;
use clap::{Args, ValueEnum};
use futures::StreamExt;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::SystemTime;

#[derive(Debug, Args)]
pub(super) struct Report {
    #[command(flatten)]
    installation: Installation,
    /// Only part I (from 0) of N of the EnvoyFilters; parts never write each other's reports
    #[arg(long, value_name = "I/N", value_parser = parse_shard, conflicts_with_all = ["shards"])]
    shard: Option<Shard>,
    /// Number of parts; JOB_COMPLETION_INDEX selects the part, as in a Job with completionMode Indexed
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    shards: Option<u32>,
    /// Part to write
    #[arg(long, hide = true, env = "JOB_COMPLETION_INDEX", hide_env = true)]
    shard_index: Option<u32>,
    /// API of the reports: wgpolicyk8s.io (PolicyReport), openreports.io (Report), or both
    #[arg(
        long,
        value_name = "API",
        default_value = "wgpolicyk8s.io",
        value_delimiter = ',',
        hide_possible_values = true
    )]
    api: Vec<ApiWord>,
    /// Configuration file, as lint reads it from .envoyfilter.yaml
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Custom rules: files or folders of files of kind LintRule
    #[arg(long, value_name = "PATH")]
    rules: Vec<PathBuf>,
    /// Exit with 0 when reports were written although not everything could be read, which the reports say
    #[arg(long)]
    allow_partial: bool,
    /// Only print (client), or only let the API server check (server)
    #[arg(long, default_value = "none", hide_possible_values = true, value_name = "HOW")]
    dry_run: DryRun,
    /// Output format: yaml or json
    #[arg(short, long, default_value = "yaml", hide_possible_values = true, value_name = "FORM")]
    output: YamlOrJson,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum ApiWord {
    #[value(name = "wgpolicyk8s.io")]
    Policy,
    #[value(name = "openreports.io")]
    Open,
}

impl ApiWord {
    /// The kinds of a filter's report and of a run's report.
    const fn kinds(self) -> (&'static Kind, &'static Kind) {
        match self {
            ApiWord::Policy => (POLICY_REPORT, CLUSTER_POLICY_REPORT),
            ApiWord::Open => (OPEN_REPORT, CLUSTER_OPEN_REPORT),
        }
    }

    const fn api(self) -> Api {
        match self {
            ApiWord::Policy => Api::PolicyReport,
            ApiWord::Open => Api::OpenReports,
        }
    }
}

fn shard(index: u32, number: u32) -> Result<Shard, ErrorMessage> {
    if index < number {
        return Ok(Shard { index, number });
    }
    Err(format!("no shard {index} of {number}: shards are counted from 0").into())
}

fn parse_shard(text: &str) -> Result<Shard, ErrorMessage> {
    let bad = || ErrorMessage::from("write it as 0/3");
    let (index, number) = text.split_once('/').ok_or_else(bad)?;
    shard(index.parse().map_err(|_| bad())?, number.parse().map_err(|_| bad())?)
}

/// Number of concurrent requests.
const AT_ONCE: usize = 8;

impl Report {
    pub(super) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Error> {
        let shard = match (self.shard, self.shards) {
            (Some(shard), _) => Ok(shard),
            (None, None | Some(1)) => Ok(Shard::ALL),
            (None, Some(number)) => match self.shard_index {
                Some(index) => shard(index, number),
                None => {
                    Err("--shards requires JOB_COMPLETION_INDEX, which an Indexed Job sets; use --shard I/N elsewhere"
                        .into())
                }
            },
        };
        let shard = match shard {
            Ok(shard) => shard,
            Err(message) => return session.usage(&message, None),
        };
        if session.global.cluster.capture.is_some() || session.global.cluster.selects() {
            let help = "omit the selection; use -n to report on one namespace";
            return session.usage("reports cover the whole cluster, not a capture or a selection", Some(help));
        }
        let request = LintRequest {
            settings: session.settings(),
            config: self.config.clone(),
            rules: self.rules.clone(),
            shard: Some(shard),
            ..LintRequest::default()
        };
        let run = mesh::lint(&request, session.progress)?;
        session.problems(&run.loaded.sources, &run.problems)?;
        session.notes(&run.notes)?;
        session.scope(&run.scope)?;
        let apis: BTreeSet<ApiWord> = self.api.iter().copied().collect();
        // Reports of what could not be read are written too: they say so.
        let read = if run.trouble.is_empty() || self.allow_partial { Exit::Ok } else { Exit::Partial };
        if self.dry_run == DryRun::Client {
            let reports: Vec<Value> = apis.iter().flat_map(|api| self.reports(&run, shard, api.api())).collect();
            write_objects(session, &reports, self.output)?;
            return Ok(read);
        }
        // If filters could not be listed, it is unknown which are gone.
        let complete = run.complete;
        let mut worst = read;
        for api in apis {
            let exit = self.write(session, api, &self.reports(&run, shard, api.api()), (shard, complete))?;
            worst = if exit.code() > worst.code() { exit } else { worst };
        }
        Ok(worst)
    }

    fn reports(&self, run: &LintReport, shard: Shard, api: Api) -> Vec<Value> {
        let labels = json!({
            "app.kubernetes.io/name": deploy::PROGRAM, deploy::INSTANCE: self.installation.name,
            "app.kubernetes.io/component": "report", deploy::MANAGED_BY: deploy::PROGRAM,
        });
        let all = policy_report::Run { api, labels, now: SystemTime::now() };
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
                // In a cluster every object is a text of its own.
                let findings = of_file.get(&filter.document.span.file).map(Vec::as_slice).unwrap_or_default();
                let not_checked = run.not_checked(&filter.full_name());
                reports.extend(all.of_filter(filter, findings, not_checked.as_ref()));
            }
        }
        reports.push(all.of_run(&self.run_name(shard), filters, &run.scope, &run.trouble));
        reports
    }

    /// Name of the report about a run.
    fn run_name(&self, shard: Shard) -> String {
        format!("{}-{}-of-{}", self.installation.name, shard.index, shard.number)
    }

    fn write(
        &self,
        session: &mut Session<'_>,
        api: ApiWord,
        reports: &[Value],
        (shard, complete): (Shard, bool),
    ) -> Result<Exit, Error> {
        let (runtime, cluster) = session.connect()?;
        let (kind, _) = api.kinds();
        match runtime.block_on(cluster.serves(kind)) {
            Ok(true) => {}
            Ok(false) => {
                let help = match api {
                    ApiWord::Policy => {
                        "install the CustomResourceDefinitions of wgpolicyk8s.io (part of Kyverno, for example)"
                    }
                    ApiWord::Open => {
                        "install the CustomResourceDefinitions of openreports.io, or use --api wgpolicyk8s.io"
                    }
                };
                return session.usage(&format!("the cluster has no {}s ({})", kind.kind, kind.group), Some(help));
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
                // Its namespace may have been deleted in the meantime.
                Err(Fault::NotFound(_)) => refused += 1,
                Err(fault) => {
                    refused += 1;
                    exit = failed(session, &format!("cannot write {what}"), &fault, None)?;
                }
            }
        }
        let mut gone = 0;
        if complete && dry == Dry::No {
            match runtime.block_on(self.clean(&cluster, session.global, reports, (api, shard))) {
                Ok(number) => gone = number,
                Err(fault) => exit = failed(session, "cannot remove old reports", &fault, None)?,
            }
        }
        writeln!(session.out, "{written} reports written, {gone} old ones removed, {refused} not written")?;
        Ok(exit)
    }

    /// Removes reports of deleted filters, surplus parts of reports that became shorter, and run reports from a different
    /// number of shards.
    async fn clean(
        &self,
        cluster: &Cluster,
        global: &Global,
        reports: &[Value],
        (api, shard): (ApiWord, Shard),
    ) -> Result<usize, Fault> {
        let (of_filter, of_run) = api.kinds();
        let text = |object: &Value, pointer: &str| -> String {
            object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let key = |object: &Value| (text(object, "/metadata/namespace"), text(object, "/metadata/name"));
        let written: BTreeSet<(String, String)> = reports.iter().map(key).collect();
        let own = global.namespace.clone().unwrap_or_else(|| cluster.namespace.clone());
        let namespace = (!global.cluster.all_namespaces).then_some(own);
        let mut gone = 0;
        for report in cluster.whole(of_filter, namespace.as_deref(), &self.installation.labels()).await? {
            let filter = format!("{}/{}", text(&report, "/scope/namespace"), text(&report, "/scope/name"));
            if shard.owns(&filter) && !written.contains(&key(&report)) {
                let (namespace, name) = key(&report);
                gone += usize::from(cluster.delete(of_filter, Some(&namespace), &name, Dry::No).await?);
            }
        }
        if shard.index == 0 {
            let suffix = format!("-of-{}", shard.number);
            for report in cluster.labelled(of_run, None, &self.installation.labels()).await? {
                let (_, name) = key(&report);
                if !name.ends_with(&suffix) {
                    gone += usize::from(cluster.delete(of_run, None, &name, Dry::No).await?);
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
    fn shards_are_counted_from_0() {
        assert!(parse_shard("3/3").is_err() && parse_shard("x").is_err() && parse_shard("2/3").is_ok());
    }
}
