//! What the commands work on: objects from files, and proxies from dumps (or, one day, from a cluster).

use super::Session;
use crate::demo;
use crate::load::dump::{Dump, Identity};
use crate::load::{self, Loaded, dumps};
use crate::model::proxy::ProxyKind;
use crate::model::resource::ProxyConfig;
use crate::report;
use crate::source::{Problem, Severity};
use clap::Args;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;

/// Where proxies come from, and who they are.
#[derive(Debug, Default, Args)]
pub(super) struct Proxies {
    /// Config dump of a proxy, from `istioctl proxy-config all POD -o json` or Envoy's /config_dump, also gzip or zstd;
    /// a folder stands for the dumps in it, - for the standard input
    #[arg(long, value_name = "DUMP")]
    dump: Vec<PathBuf>,
    /// Use the demo mesh built into this program; with -f its proxy with your filters
    #[arg(long, conflicts_with = "dump")]
    pub(super) demo: bool,
    /// Type of the proxy, over what the dump says
    #[arg(long, value_name = "TYPE", value_parser = kind, help_heading = "Proxy identity")]
    proxy_type: Option<ProxyKind>,
    /// Namespace of the proxy, over what the dump says
    #[arg(long, value_name = "NAMESPACE", help_heading = "Proxy identity")]
    proxy_namespace: Option<String>,
    /// Labels of the proxy's workload, a=b,c=d, over what the dump says
    #[arg(long, value_name = "LABELS", value_parser = labels, help_heading = "Proxy identity")]
    proxy_labels: Option<BTreeMap<String, String>>,
    /// Istio version of the proxy, over what the dump says
    #[arg(long, value_name = "VERSION", help_heading = "Proxy identity")]
    proxy_version: Option<String>,
    /// Name of the proxy's pod, over what the dump says
    #[arg(long, value_name = "NAME", help_heading = "Proxy identity")]
    proxy_name: Option<String>,
    /// Name of the proxy's workload, over what the dump says
    #[arg(long, value_name = "NAME", help_heading = "Proxy identity")]
    proxy_workload: Option<String>,
}

fn kind(text: &str) -> Result<ProxyKind, String> {
    match text {
        "gateway" => Ok(ProxyKind::Gateway),
        _ => ProxyKind::from_node_type(text).ok_or_else(|| "one of sidecar, gateway, waypoint".to_owned()),
    }
}

fn labels(text: &str) -> Result<BTreeMap<String, String>, String> {
    text.split(',')
        .filter(|pair| !pair.is_empty())
        .map(|pair| match pair.split_once('=') {
            Some((key, value)) => Ok((key.trim().to_owned(), value.trim().to_owned())),
            None => Err(format!("`{pair}` is no label: write key=value")),
        })
        .collect()
}

/// One proxy that is offered to a command.
pub(super) struct Offer<'d> {
    /// Its dump.
    pub dump: &'d Dump,
    /// The proxy and its configuration.
    pub config: ProxyConfig<'d>,
}

/// Code of the problem that the files hold no EnvoyFilter.
const NO_FILTER: &str = "no-envoy-filter";

/// What to do with a proxy.
pub(super) type Visit<'v> = dyn FnMut(&mut Session<'_>, &Offer<'_>) -> io::Result<()> + 'v;

impl Proxies {
    fn identity(&self) -> Identity {
        Identity {
            kind: self.proxy_type,
            name: self.proxy_name.clone(),
            namespace: self.proxy_namespace.clone(),
            workload: self.proxy_workload.clone(),
            labels: self.proxy_labels.clone(),
            istio_version: self.proxy_version.clone(),
        }
    }

    /// Whether there is anything to read proxies from.
    pub(super) fn given(&self) -> bool {
        self.demo || !self.dump.is_empty()
    }

    /// Visits every proxy, one dump in memory at a time. What cannot be read is noted.
    pub(super) fn visit(
        &self,
        session: &mut Session<'_>,
        problems: &mut Vec<Problem>,
        visit: &mut Visit<'_>,
    ) -> io::Result<()> {
        self.each(problems, &mut |problems, dump| match dump.config(&self.identity()) {
            Ok(config) => visit(session, &Offer { dump: &dump, config }),
            Err(problem) => {
                problems.push(named(&dump, problem));
                Ok(())
            }
        })
    }

    /// Reads every dump and keeps it. What cannot be read is noted.
    pub(super) fn all(&self, problems: &mut Vec<Problem>) -> Vec<Dump> {
        let mut all = Vec::new();
        let kept = self.each(problems, &mut |_, dump| {
            all.push(dump);
            Ok(())
        });
        debug_assert!(kept.is_ok());
        all
    }

    /// The configurations in dumps that were kept.
    pub(super) fn configs<'d>(&self, dumps: &'d [Dump], problems: &mut Vec<Problem>) -> Vec<ProxyConfig<'d>> {
        let read = dumps.iter().filter_map(|dump| match dump.config(&self.identity()) {
            Ok(config) => Some(config),
            Err(problem) => {
                problems.push(named(dump, problem));
                None
            }
        });
        read.collect()
    }

    /// Hands out every dump, each proxy once.
    fn each(
        &self,
        problems: &mut Vec<Problem>,
        take: &mut dyn FnMut(&mut Vec<Problem>, Dump) -> io::Result<()>,
    ) -> io::Result<()> {
        let (paths, mut trouble) = dumps::list(&self.dump);
        problems.append(&mut trouble);
        let mut seen: BTreeMap<String, String> = BTreeMap::new();
        let demo = self.demo.then_some(None);
        for path in demo.into_iter().chain(paths.into_iter().map(Some)) {
            let (dump, mut trouble) = path.as_deref().map_or_else(demo::dump, dumps::read);
            problems.append(&mut trouble);
            let Some(dump) = dump else { continue };
            if let Some(first) = dump.node_id().and_then(|id| seen.get(id)) {
                problems.push(twice(&dump, first));
                continue;
            }
            seen.extend(dump.node_id().map(|id| (id.to_owned(), dump.name().to_owned())));
            take(problems, dump)?;
        }
        Ok(())
    }
}

fn named(dump: &Dump, problem: Problem) -> Problem {
    Problem { message: format!("{}: {}", dump.name(), problem.message), ..problem }
}

fn twice(dump: &Dump, first: &str) -> Problem {
    let who = dump.proxy().map_or_else(|| "one pod".to_owned(), crate::model::proxy::Proxy::full_name);
    Problem {
        code: "dump-twice",
        severity: Severity::Error,
        span: None,
        message: format!("{first} and {} are both dumps of {who}: the second is not used", dump.name()),
        help: Some("give one dump a pod".to_owned()),
    }
}

/// Reads the objects in files; the demo's filters when there are no files and the demo is asked for.
pub(super) fn objects(session: &Session<'_>, files: &[PathBuf], demo: bool) -> Loaded {
    let options = load::Options { namespace: session.global.namespace.clone(), ..load::Options::default() };
    if files.is_empty() && demo {
        return load::read_text(demo::FILTERS_NAME, demo::FILTERS, &options);
    }
    let mut loaded = load::read(files, &options);
    if loaded.inventory.envoy_filters.is_empty() && !files.is_empty() {
        let other: Vec<String> =
            loaded.inventory.other.iter().map(|(kind, number)| report::style::count(*number, kind, kind)).collect();
        let passed = if other.is_empty() { String::new() } else { format!(" (passed over: {})", other.join(", ")) };
        loaded.problems.push(Problem {
            code: NO_FILTER,
            severity: Severity::Warning,
            span: None,
            message: format!("there is no EnvoyFilter among the files{passed}"),
            help: None,
        });
    } else {
        for (kind, number) in &loaded.inventory.other {
            loaded.problems.push(Problem {
                code: "other-kind",
                severity: Severity::Info,
                span: None,
                message: format!("passed over {} of kind {kind}", report::style::count(*number, "object", "objects")),
                help: None,
            });
        }
    }
    // A second filter of one name would be refused by the API server or be the same object: the last one counts.
    let mut names = BTreeSet::new();
    let filters = &mut loaded.inventory.envoy_filters;
    for index in (0..filters.len()).rev() {
        if !names.insert(filters[index].full_name()) {
            let gone = filters.remove(index);
            loaded.problems.push(Problem {
                code: "filter-twice",
                severity: Severity::Warning,
                span: Some(gone.document.span),
                message: format!("EnvoyFilter {} is given again later, and the later one counts", gone.full_name()),
                help: None,
            });
        }
    }
    loaded
}

/// Writes problems, the serious ones always, mere information only when everything is asked for; whether one was serious.
pub(super) fn tell(session: &mut Session<'_>, loaded: &Loaded, more: &[Problem]) -> io::Result<bool> {
    let mut serious = false;
    for problem in loaded.problems.iter().chain(more) {
        // Whoever names an input wants something out of it.
        serious |= problem.severity == Severity::Error
            || matches!(problem.code, "empty-input" | "empty-directory" | NO_FILTER);
        if problem.severity > Severity::Info || session.global.verbose {
            report::problem::problem(session.err, session.around.err, &loaded.sources, problem)?;
        }
    }
    Ok(serious)
}
