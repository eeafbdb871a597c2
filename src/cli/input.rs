//! What the commands work on: objects and proxies, from files or from a cluster.

use super::live::{self, Live, Opened, Plane};
use super::{Exit, Session};
use crate::cluster::Cluster;
use crate::cluster::facts::{Facts, REVISION};
use crate::cluster::kinds::Needs;
use crate::cluster::read::Reading;
use crate::cluster::targets::{self, Target};
use crate::demo;
use crate::engine::Selection;
use crate::engine::compat::Compat;
use crate::engine::select::select;
use crate::explain;
use crate::load::capture::Capture;
use crate::load::dump::{Dump, Identity, Layout, Pool};
use crate::load::{self, Loaded, dumps};
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::proxy::{Proxy, ProxyKind};
use crate::model::resource::ProxyConfig;
use crate::report;
use crate::source::{Problem, Severity};
use clap::Args;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

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
    /// Type of the proxy: sidecar, gateway or waypoint, over what the dump says
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
    /// Whether the dumps are written again, and have to keep their layout.
    #[arg(skip)]
    pub(super) written_again: bool,
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
    /// Number of its control plane among [`Work::planes`].
    pub plane: usize,
}

/// Everything a command works on.
pub(super) struct Work {
    /// Texts, objects and problems.
    pub loaded: Loaded,
    /// Control planes, the main one first; at least one.
    pub planes: Vec<Plane>,
    /// Where proxies come from.
    pub feed: Feed,
    /// The EnvoyFilters that are asked about, `namespace/name`; all without.
    pub asked: Option<BTreeSet<String>>,
    /// What is known of the mesh; nothing without a cluster.
    pub facts: Facts,
}

/// Where proxies come from.
pub(super) enum Feed {
    /// The dumps that options name.
    Given,
    /// Pods of a cluster.
    Live(Box<Live>, Vec<Target>),
    /// Pods of a capture that it has the dumps of.
    Captured(Capture, Vec<Target>),
}

impl Work {
    /// Objects of files.
    pub(super) fn of_files(session: &Session<'_>, loaded: Loaded) -> Work {
        let plane = Plane { revision: None, release: session.release(), mesh: session.mesh(&loaded.inventory) };
        Work { loaded, planes: vec![plane], feed: Feed::Given, asked: None, facts: Facts::default() }
    }

    /// What a cluster holds. Fails with the way the command ends.
    pub(super) fn of_cluster(
        session: &mut Session<'_>,
        needs: &Needs,
        namespace: Option<&str>,
    ) -> io::Result<Result<Work, Exit>> {
        let Opened { live, reading } = match live::open(session, needs, namespace)? {
            Ok(opened) => opened,
            Err(exit) => return Ok(Err(exit)),
        };
        let Reading { mut loaded, facts, asked } = reading;
        leave_out_other_revisions(&mut loaded, &facts);
        let targets = targets::targets(&loaded.inventory);
        let planes = live::planes(session, &facts, &targets);
        Ok(Ok(Work { loaded, planes, feed: Feed::Live(Box::new(live), targets), asked, facts }))
    }

    /// What a capture holds, where one is named, else what the cluster does. Fails with the way the command ends.
    pub(super) fn open(
        session: &mut Session<'_>,
        needs: &Needs,
        namespace: Option<&str>,
    ) -> io::Result<Result<Work, Exit>> {
        let Some(path) = session.global.cluster.capture.clone() else {
            return Work::of_cluster(session, needs, namespace);
        };
        if session.global.cluster.selects() {
            return session.usage("-l and --field-selector ask an API server; a capture has none", None).map(Err);
        }
        let (capture, loaded) = Capture::open(&path);
        let Some(capture) = capture else {
            tell(session, &loaded, &[])?;
            return Ok(Err(Exit::Usage));
        };
        let said = |key: &str| capture.description.get(key);
        let kubernetes = said("kubernetes").and_then(serde_json::Value::as_str).unwrap_or_default();
        let mut facts = Facts::of(&loaded.inventory, kubernetes.to_owned());
        for (tag, revision) in said("tags").and_then(serde_json::Value::as_object).into_iter().flatten() {
            facts.tags.extend(revision.as_str().map(|revision| (tag.clone(), revision.to_owned())));
        }
        let mut loaded = loaded;
        leave_out_other_revisions(&mut loaded, &facts);
        let mut targets = targets::targets(&loaded.inventory);
        let planes = live::planes(session, &facts, &targets);
        targets.retain(|target| capture.dumps.contains(&target.full_name()));
        let only = namespace.or(session.global.namespace.as_deref()).filter(|_| !session.global.cluster.all_namespaces);
        let asked = only.map(|only| {
            let filters = loaded.inventory.envoy_filters.iter().filter(|filter| filter.namespace == only);
            filters.map(EnvoyFilter::full_name).collect()
        });
        Ok(Ok(Work { loaded, planes, feed: Feed::Captured(capture, targets), asked, facts }))
    }

    /// Number of the control plane of a revision; the main one when it is not known.
    fn plane(&self, revision: &str) -> usize {
        let plane = self.facts.plane(revision);
        let number =
            plane.and_then(|plane| self.planes.iter().position(|it| it.revision.as_ref() == Some(&plane.revision)));
        number.unwrap_or(0)
    }

    /// Pods with proxies, of a cluster.
    pub(super) fn targets(&self) -> &[Target] {
        match &self.feed {
            Feed::Given => &[],
            Feed::Live(_, targets) | Feed::Captured(_, targets) => targets,
        }
    }

    /// Whether any of these filters attaches to a pod, as far as the pod's namespace and labels decide.
    pub(super) fn reached_by<'f>(&'f self, filters: &'f [EnvoyFilter]) -> impl Fn(&Target) -> bool + 'f {
        move |target| {
            let Some(plane) = self.planes.get(self.plane(&target.revision)) else { return true };
            let compat = Compat { release: plane.release };
            let proxy = proxy_of(target);
            filters.iter().any(|filter| select(filter, &proxy, &plane.mesh, compat) == Selection::Selected)
        }
    }

    /// Says how much was asked of the cluster, when everything is to be said.
    pub(super) fn note(&self, session: &mut Session<'_>) -> io::Result<()> {
        if let (Feed::Live(live, _), true) = (&self.feed, session.global.verbose) {
            let (requests, context) = (live.cluster().requests(), &live.cluster().context);
            writeln!(session.err, "note: {requests} requests to {context}")?;
        }
        Ok(())
    }

    /// Asks the cluster that was read, or the one of the context. Fails with the way the command ends.
    pub(super) fn ask<T>(
        &self,
        session: &mut Session<'_>,
        question: impl AsyncFnOnce(&Cluster) -> T,
    ) -> io::Result<Result<T, Exit>> {
        if let Feed::Live(live, _) = &self.feed {
            return Ok(Ok(live.ask(question)));
        }
        Ok(live::connect(session)?.map(|(runtime, cluster)| runtime.block_on(question(&cluster))))
    }

    /// Whether the user ended the reading of a cluster.
    pub(super) fn interrupted(&self) -> bool {
        matches!(&self.feed, Feed::Live(live, _) if live.cluster().stop().is_set())
    }

    /// Whether a cluster was read.
    pub(super) fn is_live(&self) -> bool {
        !matches!(self.feed, Feed::Given)
    }
}

/// istiod passes over objects whose label `istio.io/rev` names another revision than its own
/// (`pkg/config/model.go`, `LabelsInRevision`; 1.31). What no control plane takes is said and left out.
fn leave_out_other_revisions(loaded: &mut Loaded, facts: &Facts) {
    // A control plane may be elsewhere: only a mesh that was seen can tell.
    if facts.planes.iter().all(|plane| plane.pods == 0) {
        return;
    }
    let problems = &mut loaded.problems;
    loaded.inventory.envoy_filters.retain(|filter| {
        let Some(revision) = filter.labels.get(REVISION).filter(|revision| !facts.has_revision(revision)) else {
            return true;
        };
        problems.push(Problem {
            code: "other-revision",
            severity: Severity::Warning,
            span: None,
            message: format!(
                "EnvoyFilter {} is for revision {revision}, which no control plane has: it is left out",
                filter.full_name()
            ),
            help: None,
        });
        false
    });
}

/// A pod's proxy as far as it is known without its dump.
pub(super) fn proxy_of(target: &Target) -> Proxy {
    Proxy {
        kind: target.kind,
        name: target.pod.clone(),
        workload: target.workload.clone(),
        namespace: target.namespace.clone(),
        labels: target.labels.clone(),
        istio_version: target.version.clone(),
        metadata: Arc::default(),
        envoy_version: None,
        extensions: Vec::new(),
    }
}

/// A dump with what is known about its proxy.
pub(super) struct Kept {
    /// The dump.
    pub dump: Dump,
    /// Who the proxy is, over what the dump says.
    pub identity: Identity,
    /// Number of its control plane.
    pub plane: usize,
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

    /// Refuses a command line that wants two things of the standard input, which can be read once: dumps, and these
    /// files. Fails with the way the command ends.
    pub(super) fn one_standard_input(
        &self,
        session: &mut Session<'_>,
        files: &[&[PathBuf]],
    ) -> io::Result<Result<(), Exit>> {
        let lists = files.iter().copied().chain([self.dump.as_slice()]);
        let wanting = lists.filter(|list| list.iter().any(|path| path.as_os_str() == "-")).count();
        if wanting < 2 {
            return Ok(Ok(()));
        }
        let help = "give one of them as a file";
        session.usage("the standard input (-) is asked for twice, and can be read once", Some(help)).map(Err)
    }

    /// Whether dumps are named.
    pub(super) fn has_dumps(&self) -> bool {
        !self.dump.is_empty()
    }

    /// Whether there is anything to read proxies from.
    pub(super) fn given(&self) -> bool {
        self.demo || !self.dump.is_empty()
    }

    /// Visits the proxies that are wanted, a few dumps in memory at a time. What cannot be read is noted.
    pub(super) fn visit(
        &self,
        session: &mut Session<'_>,
        work: &Work,
        wanted: &dyn Fn(&Target) -> bool,
        problems: &mut Vec<Problem>,
        visit: &mut Visit<'_>,
    ) -> io::Result<()> {
        self.each(work, wanted, problems, &mut |problems, kept| match kept.dump.config(&kept.identity) {
            Ok(config) => visit(session, &Offer { dump: &kept.dump, config, plane: kept.plane }),
            Err(problem) => {
                problems.push(named(&kept.dump, problem));
                Ok(())
            }
        })
    }

    /// Reads the dumps that are wanted and keeps them, what several say once. What cannot be read is noted.
    pub(super) fn all(
        &self,
        work: &Work,
        wanted: &dyn Fn(&Target) -> bool,
        problems: &mut Vec<Problem>,
    ) -> io::Result<Vec<Kept>> {
        let mut all: Vec<Kept> = Vec::new();
        let mut pool = Pool::default();
        self.each(work, wanted, problems, &mut |_, mut kept| {
            // One alone has nobody to share with.
            if let [first] = all.as_mut_slice() {
                first.dump.share(&mut pool);
            }
            if !all.is_empty() {
                kept.dump.share(&mut pool);
            }
            all.push(kept);
            Ok(())
        })?;
        Ok(all)
    }

    /// The configuration in a dump that was kept.
    pub(super) fn config<'d>(kept: &'d Kept, problems: &mut Vec<Problem>) -> Option<ProxyConfig<'d>> {
        match kept.dump.config(&kept.identity) {
            Ok(config) => Some(config),
            Err(problem) => {
                problems.push(named(&kept.dump, problem));
                None
            }
        }
    }

    /// Hands out every dump, each proxy once.
    fn each(
        &self,
        work: &Work,
        wanted: &dyn Fn(&Target) -> bool,
        problems: &mut Vec<Problem>,
        take: &mut dyn FnMut(&mut Vec<Problem>, Kept) -> io::Result<()>,
    ) -> io::Result<()> {
        match &work.feed {
            Feed::Given => self.each_given(problems, take),
            Feed::Captured(capture, targets) => {
                let wanted = targets.iter().filter(|target| wanted(target)).cloned().collect();
                let firsts: BTreeMap<String, Target> = targets::groups(wanted, false)
                    .into_iter()
                    .filter_map(|group| group.into_iter().next())
                    .map(|target| (target.full_name(), target))
                    .collect();
                capture.each(&firsts.keys().cloned().collect(), &mut |pod, dump, mut trouble| {
                    problems.append(&mut trouble);
                    match (dump, firsts.get(pod)) {
                        (Some(dump), Some(target)) => {
                            let plane = work.plane(&target.revision);
                            take(problems, Kept { dump, identity: self.of_pod(target), plane })
                        }
                        _ => Ok(()),
                    }
                })
            }
            Feed::Live(live, targets) => {
                let wanted = targets.iter().filter(|target| wanted(target)).cloned().collect();
                live.each(wanted, problems, &mut |problems, dump, target, _| {
                    let kept = Kept { dump, identity: self.of_pod(target), plane: work.plane(&target.revision) };
                    take(problems, kept)
                })
            }
        }
    }

    /// What the API server says about a pod is newer than what its proxy was started with, and decides: istiod selects by
    /// the pod's labels (`pilot/pkg/model/context.go`, `SetWorkloadLabels`).
    fn of_pod(&self, target: &Target) -> Identity {
        let said = self.identity();
        Identity {
            name: said.name.or_else(|| Some(target.pod.clone())),
            namespace: said.namespace.or_else(|| Some(target.namespace.clone())),
            workload: said.workload.or_else(|| Some(target.workload.clone())),
            labels: said.labels.or_else(|| Some(target.labels.clone())),
            ..said
        }
    }

    fn each_given(
        &self,
        problems: &mut Vec<Problem>,
        take: &mut dyn FnMut(&mut Vec<Problem>, Kept) -> io::Result<()>,
    ) -> io::Result<()> {
        let (paths, mut trouble) = dumps::list(&self.dump);
        problems.append(&mut trouble);
        let mut seen: BTreeMap<String, String> = BTreeMap::new();
        let demo = self.demo.then_some(None);
        let layout = if self.written_again { Layout::Kept } else { Layout::Dropped };
        for path in demo.into_iter().chain(paths.into_iter().map(Some)) {
            let (dump, mut trouble) = path.as_deref().map_or_else(demo::dump, |path| dumps::read(path, layout));
            problems.append(&mut trouble);
            let Some(dump) = dump else { continue };
            if let Some(first) = dump.node_id().and_then(|id| seen.get(id)) {
                problems.push(twice(&dump, first));
                continue;
            }
            seen.extend(dump.node_id().map(|id| (id.to_owned(), dump.name().to_owned())));
            take(problems, Kept { dump, identity: self.identity(), plane: 0 })?;
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
    let options = load::Options { namespace: session.namespace().to_owned(), ..load::Options::default() };
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

/// Filters with others in the places of those that have the same name, and added.
pub(super) fn replaced(before: &[EnvoyFilter], new: &[EnvoyFilter]) -> Vec<EnvoyFilter> {
    let mut after = before.to_vec();
    for filter in new {
        match after.iter_mut().find(|old| old.full_name() == filter.full_name()) {
            // A changed filter keeps the age that its place in the order depends on.
            Some(old) => {
                let created = filter.created.or(old.created);
                *old = EnvoyFilter { created, ..filter.clone() };
            }
            None => after.push(filter.clone()),
        }
    }
    after
}

/// What to write instead of a name that nothing has: the nearest names; `None` where there are none at all. A name without
/// namespace is compared with names without theirs.
pub(super) fn there_is(asked: &str, names: &[String]) -> Option<String> {
    let bare = |name: &String| name.rsplit_once('/').map_or(name.clone(), |(_, name)| name.to_owned());
    let near: Vec<String> = if asked.contains('/') {
        explain::nearest(asked, names)
    } else {
        let near = explain::nearest(asked, &names.iter().map(bare).collect::<Vec<_>>());
        near.iter().flat_map(|one| names.iter().filter(move |name| bare(name) == *one)).cloned().collect()
    };
    let more = names.len().saturating_sub(near.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!near.is_empty()).then(|| format!("there is: {}{more}", near.join(", ")))
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
