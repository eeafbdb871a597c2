//! `webhook ladder`: what happens, namespace by namespace, when the admission mode is raised.

use super::{Exit, Session};
use crate::admission::judge::Rules;
use crate::admission::ladder::{self, Rung};
use crate::admission::review::{Mode, Policy, UNITS};
use crate::admission::snapshot::{Change, Name, Overrides, SnapshotBuilder};
use crate::cli::options::TableOrJson;
use crate::cluster::facts::DEFAULT_REVISION;
use crate::cluster::kinds::{self, CONFIG_MAP, DEPLOYMENT, ENVOY_FILTER, POD};
use crate::cluster::objects::name_of;
use crate::cluster::read::mesh_config;
use crate::cluster::{Cluster, Fault};
use crate::explain::view::API_VERSION;
use crate::lint::config::{self, Config};
use crate::load::config as files;
use crate::mesh::Error;
use crate::report;
use crate::report::table;
use crate::rules::ALL;
use crate::source::{Severity, Sources};
use clap::Args;
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(super) struct Ladder {
    /// Name of the installation in namespace envoyfilter-system, whose mode and recorded reviews are shown
    #[arg(long, value_name = "NAME", default_value = crate::deploy::NAME, value_parser = super::name)]
    name: String,
    /// Namespace of the installation
    #[arg(long, value_name = "NAMESPACE", default_value = crate::deploy::DEFAULT_NAMESPACE)]
    installed_in: String,
    /// Minimum severity that denies [default: fail_on of the configuration, else error]
    #[arg(long, value_name = "SEVERITY", value_parser = super::serve::severity)]
    deny_at: Option<Severity>,
    /// Configuration file, as for the server
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Output format
    #[arg(short, long, default_value = "table")]
    output: TableOrJson,
}

/// What was read from a cluster.
struct Read {
    builder: SnapshotBuilder,
    filters: Vec<(Name, Value)>,
    /// The mode of the server; `None` without one.
    mode: Option<Mode>,
    /// Reviews that enforce denies, by namespace; `None` when not every replica could be asked.
    recorded: Option<BTreeMap<String, u64>>,
    /// What could not be read, and the consequence.
    gaps: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    api_version: &'static str,
    kind: &'static str,
    /// The contexts, namespaces and filters that were read.
    scope: String,
    unread: Vec<String>,
    namespaces: Vec<Item>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    namespace: String,
    mode: &'static str,
    labeled: bool,
    next: Option<&'static str>,
    filters: usize,
    denied: BTreeMap<String, Vec<&'static str>>,
    warned: BTreeMap<String, Vec<&'static str>>,
    not_judged: Vec<String>,
    /// Reviews that mode `enforce` denies, recorded by the running replicas; `None` when they could not be read.
    recorded: Option<u64>,
}

impl Ladder {
    pub(super) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Error> {
        let mut sources = Sources::default();
        let mut config = Config::default();
        if let Some(path) = &self.config {
            let read = match files::read(path, &mut sources) {
                Ok(read) => read,
                Err(problem) => return session.usage(&problem.message, None),
            };
            let mut problems = read.problems;
            if let Some(document) = &read.document {
                let (of_file, more) = Config::read(document, ALL);
                (config, problems) = (of_file, [problems, more].concat());
            }
            for problem in &problems {
                report::problem::problem(session.err, session.around.err, &sources, problem)?;
            }
            if problems.iter().any(|problem| problem.severity == Severity::Error) {
                return session.usage("cannot use the configuration", None);
            }
        }
        config.istio_versions.clear();
        let configured = config.fail_on.and_then(|fail_on| match fail_on {
            config::FailOn::At(severity) => Some(severity),
            config::FailOn::Never => None,
        });
        let deny_at = self.deny_at.or(configured).unwrap_or(Severity::Error);
        let (runtime, cluster) = session.connect()?;
        let mut read = match runtime.block_on(self.read(session, &cluster)) {
            Ok(read) => read,
            Err((what, fault)) => {
                let help = "it reads what the webhook reads: `kubectl envoyfilter webhook install --dry-run=client` \
                            prints that role";
                let help = matches!(fault, Fault::NotAllowed(_)).then_some(help);
                return super::print_fault(session, &format!("cannot list {what}"), &fault, help);
            }
        };
        let snapshot = read.builder.snapshot();
        let policy = Policy { mode: read.mode.unwrap_or(Mode::Off), deny_at };
        let rules = Rules::new(ALL.to_vec(), config);
        let rungs = ladder::ladder(&snapshot, &rules, policy, UNITS, &read.filters);
        self.write(session, &cluster.context, &read, &rungs)?;
        let unknown = !read.gaps.is_empty() || rungs.iter().any(|rung| !rung.unjudged.is_empty());
        Ok(if unknown { Exit::Partial } else { Exit::Ok })
    }

    /// Reads what the server watches, the filters of the requested namespaces, and what replicas recorded.
    async fn read(&self, session: &Session<'_>, cluster: &Cluster) -> Result<Read, (&'static str, Fault)> {
        let overrides = Overrides {
            context: cluster.context.clone(),
            release: session.global.istio_version,
            root_namespace: session.global.root_namespace.clone(),
        };
        let (mut builder, mut filters, mut gaps) = (SnapshotBuilder::new(overrides, &[]), Vec::new(), Vec::new());
        for kind in kinds::WEBHOOK.kinds.iter().copied() {
            let objects = match cluster.labelled(kind, None, "").await {
                Ok(objects) => objects,
                // Without the filters there is no answer; without other objects it is based on less.
                Err(fault) if kind == ENVOY_FILTER => return Err(("EnvoyFilters", fault)),
                Err(fault) => {
                    gaps.push(format!("cannot list {}: {fault}; judged without them", kind.plural));
                    continue;
                }
            };
            for object in objects {
                if kind == ENVOY_FILTER {
                    let name = name_of(&object);
                    if session.global.namespace.as_ref().is_none_or(|namespace| *namespace == name.0) {
                        filters.push((name, object.clone()));
                    }
                }
                builder.apply(kind, Change::Put(object));
            }
        }
        let istio = session.global.cluster.istio_namespace();
        // Each control plane has settings of its own, beside its pods.
        let snapshot = builder.snapshot();
        let running: BTreeSet<(&str, &str)> = snapshot.control_planes().collect();
        let places: BTreeSet<(&str, &str)> = running.iter().copied().chain([(istio, DEFAULT_REVISION)]).collect();
        for (namespace, revision) in places {
            let (name, answer) = mesh_config(cluster, namespace, revision).await;
            match answer {
                Ok(object) => builder.apply(CONFIG_MAP, Change::Put(object)),
                // It is needed only where a control plane runs.
                Err(Fault::NotFound(_)) if !running.is_empty() && !running.contains(&(namespace, revision)) => {}
                Err(Fault::NotFound(_)) => gaps.push(format!("no mesh config {namespace}/{name}; using the defaults")),
                Err(fault) => {
                    gaps.push(format!("cannot read the mesh config {namespace}/{name}: {fault}; using the defaults"));
                }
            }
        }
        let (mut mode, mut recorded) = (None, None);
        match cluster.object(DEPLOYMENT, Some(&self.installed_in), &self.name).await {
            Ok(Some(deployment)) => {
                let arguments = deployment.pointer("/spec/template/spec/containers/0/args").and_then(Value::as_array);
                let words = arguments.into_iter().flatten().filter_map(Value::as_str);
                let said = words.filter_map(|word| word.strip_prefix("--mode=")).find_map(Mode::from_word);
                mode = Some(said.unwrap_or(Mode::Enforce));
            }
            Ok(None) => gaps.push(format!(
                "no webhook {}/{}: namespaces without a label count as off, and nothing is recorded",
                self.installed_in, self.name
            )),
            Err(fault) => gaps.push(format!("cannot read the Deployment of the webhook: {fault}")),
        }
        if mode.is_some() {
            let labels = format!("{}={},app.kubernetes.io/component=admission", crate::deploy::INSTANCE, self.name);
            match cluster.labelled(POD, Some(&self.installed_in), &labels).await {
                Ok(pods) if pods.is_empty() => gaps.push(format!(
                    "the webhook {}/{} has no pods, so nothing is recorded",
                    self.installed_in, self.name
                )),
                Ok(pods) => recorded = self.recorded(cluster, &pods, &mut gaps).await,
                Err(fault) => gaps.push(format!("cannot list the pods of the webhook: {fault}")),
            }
        }
        Ok(Read { builder, filters, mode, recorded, gaps })
    }

    /// The sum of what the replicas recorded; `None` when one of them did not answer.
    async fn recorded(
        &self,
        cluster: &Cluster,
        pods: &[Value],
        gaps: &mut Vec<String>,
    ) -> Option<BTreeMap<String, u64>> {
        let mut recorded = Some(BTreeMap::new());
        for (_, pod) in pods.iter().map(name_of) {
            let path = format!("/api/v1/namespaces/{}/pods/http:{pod}:8080/proxy/metrics", self.installed_in);
            match cluster.text(&path).await {
                Ok(text) => {
                    for (namespace, number) in ladder::recorded(&text) {
                        if let Some(recorded) = &mut recorded {
                            *recorded.entry(namespace).or_default() += number;
                        }
                    }
                }
                Err(fault) => {
                    gaps.push(format!("cannot read the metrics of pod {pod}: {fault}"));
                    recorded = None;
                }
            }
        }
        recorded
    }

    fn write(&self, session: &mut Session<'_>, context: &str, read: &Read, rungs: &[Rung]) -> io::Result<()> {
        let filters: usize = rungs.iter().map(|rung| rung.filters.len() + rung.unjudged.len()).sum();
        let place =
            session.global.namespace.as_ref().map_or("all namespaces".to_owned(), |it| format!("namespace {it}"));
        let scope =
            format!("{filters} stored EnvoyFilters in {place} of {context}, each judged as if it were created now");
        let recorded = |rung: &Rung| {
            let all = read.recorded.as_ref()?;
            Some(all.get(&rung.namespace).copied().unwrap_or_default())
        };
        if self.output == TableOrJson::Json {
            let item = |rung: &Rung| {
                let of = |denied| {
                    let chosen = rung.filters.iter().filter(move |it| it.denied == denied && !it.codes.is_empty());
                    chosen.map(|it| (it.name.clone(), it.codes.clone())).collect()
                };
                Item {
                    namespace: rung.namespace.clone(),
                    mode: rung.mode.as_str(),
                    labeled: rung.labeled,
                    next: rung.next().map(Mode::as_str),
                    filters: rung.filters.len() + rung.unjudged.len(),
                    denied: of(true),
                    warned: of(false),
                    not_judged: rung.unjudged.clone(),
                    recorded: recorded(rung),
                }
            };
            let answer = Answer {
                api_version: API_VERSION,
                kind: "WebhookLadder",
                scope,
                unread: read.gaps.clone(),
                namespaces: rungs.iter().map(item).collect(),
            };
            return report::json(session.out, &answer);
        }
        let rows: Vec<Vec<String>> = rungs
            .iter()
            .map(|rung| {
                let mode = if rung.labeled {
                    format!("{} (label)", rung.mode.as_str())
                } else {
                    rung.mode.as_str().to_owned()
                };
                let recorded = recorded(rung).map_or("?".to_owned(), |number| number.to_string());
                vec![
                    rung.namespace.clone(),
                    mode,
                    rung.next().map_or("-", Mode::as_str).to_owned(),
                    (rung.filters.len() + rung.unjudged.len()).to_string(),
                    rung.denied().to_string(),
                    rung.warned().to_string(),
                    recorded,
                ]
            })
            .collect();
        if !rows.is_empty() {
            let heading = ["NAMESPACE", "MODE", "NEXT", "FILTERS", "ENFORCE DENIES", "WARNS", "RECORDED DENIALS"];
            table::write(session.out, &heading, &rows)?;
        }
        for rung in rungs {
            for filter in rung.filters.iter().filter(|filter| filter.denied) {
                let (name, codes) = (&filter.name, filter.codes.join(", "));
                writeln!(session.out, "enforce denies {}/{name}: {codes}", rung.namespace)?;
            }
            for name in &rung.unjudged {
                writeln!(session.out, "not judged: {}/{name} exceeds the budget of a review", rung.namespace)?;
            }
        }
        for gap in &read.gaps {
            writeln!(session.err, "warning: {gap}")?;
        }
        writeln!(session.out, "{scope}")?;
        if let Some(rung) =
            rungs.iter().find(|rung| rung.next().is_some() && rung.denied() == 0 && rung.unjudged.is_empty())
        {
            let next = rung.next().map_or("", Mode::as_str);
            writeln!(
                session.err,
                "note: raise a namespace with `kubectl label namespace {} envoyfilter.dev/admission={next} --overwrite`",
                rung.namespace
            )?;
        }
        Ok(())
    }
}
