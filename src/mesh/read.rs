//! A mesh that was read: objects, control planes, and the source of its proxies.

#[cfg(feature = "bottle")]
use super::bottled::Bottled;
#[cfg(feature = "cluster")]
use super::live::{self, Live};
use super::planes::{self, Homes, Plane};
use super::scope::Origin;
use super::settings::{Breadth, Progress, Settings};
use super::unread;
use super::{Error, Refusal, Unanswered};
use crate::cluster::facts::Facts;
use crate::cluster::kinds::{self, Kind, Needs};
use crate::cluster::targets::{self, Target};
use crate::demo;
use crate::engine::Selection;
use crate::engine::compat::Compat;
use crate::engine::select::select;
use crate::explain::Lenders;
use crate::load::capture::Capture;
use crate::load::{self, Loaded};
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::inventory::{DEFAULT_ROOT_NAMESPACE, Inventory};
use crate::model::proxy::Proxy;
use crate::source::{Code, Problem, Severity};
use crate::words::count;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A mesh that was read.
pub(super) struct Mesh<'p> {
    /// The caller's settings for it.
    pub(super) settings: Settings,
    /// Texts, objects and problems.
    pub(super) loaded: Loaded,
    /// Control planes, the main one first; at least one.
    pub(super) planes: Vec<Plane>,
    /// The source of proxies.
    pub(super) feed: Feed,
    /// The requested EnvoyFilters, `namespace/name`; `None`: all.
    pub(super) asked: Option<BTreeSet<String>>,
    /// What is known about the mesh; empty without a cluster.
    pub(super) facts: Facts,
    /// What could not be listed, each with its namespace.
    pub(super) unlisted: Vec<(&'static Kind, Option<String>)>,
    /// Namespace of documents and names without one.
    pub(super) namespace: String,
    /// The namespace that was read; `None`: all of them.
    pub(super) only: Option<String>,
    /// Shows progress.
    pub(super) progress: &'p dyn Progress,
    /// What it was read from.
    pub(super) origin: Origin,
}

/// The source of proxies.
pub(super) enum Feed {
    /// The dumps in the request.
    Given,
    /// Pods of a cluster.
    #[cfg(feature = "cluster")]
    Live(Box<Live>, Vec<Target>),
    /// Pods of a capture.
    Captured(Capture, Vec<Target>),
    /// Proxies of the files, configured by an istiod on this machine.
    #[cfg(feature = "bottle")]
    Bottled(Box<Bottled>),
}

impl<'p> Mesh<'p> {
    /// Objects of files.
    pub(super) fn of_files(settings: &Settings, loaded: Loaded, progress: &'p dyn Progress) -> Mesh<'p> {
        let plane = Plane::of_files(settings.release(), settings.mesh(&loaded.inventory));
        Mesh {
            settings: settings.clone(),
            planes: vec![plane],
            feed: Feed::Given,
            asked: None,
            facts: Facts::default(),
            unlisted: Vec::new(),
            namespace: settings.namespace.clone().unwrap_or_else(|| "default".to_owned()),
            only: None,
            progress,
            origin: Origin::Files,
            loaded,
        }
    }

    /// The content of a capture if one is given, else of the cluster. `breadth` selects the part to read, once the default
    /// namespace is known.
    pub(super) fn open(
        settings: &Settings,
        needs: &Needs,
        progress: &'p dyn Progress,
        breadth: impl FnOnce(&str) -> Breadth,
    ) -> Result<Mesh<'p>, Error> {
        Mesh::read(settings, needs, false, progress, breadth)
    }

    /// The same with everything that an istiod reads, in all namespaces, as documents. Its proxies are those of the capture or
    /// the cluster.
    #[cfg(feature = "bottle")]
    pub(super) fn whole(
        settings: &Settings,
        needs: &Needs,
        progress: &'p dyn Progress,
        breadth: impl FnOnce(&str) -> Breadth,
    ) -> Result<Mesh<'p>, Error> {
        Mesh::read(settings, &needs.with_istiod(), true, progress, breadth)
    }

    fn read(
        settings: &Settings,
        needs: &Needs,
        whole: bool,
        progress: &'p dyn Progress,
        breadth: impl FnOnce(&str) -> Breadth,
    ) -> Result<Mesh<'p>, Error> {
        if let Some(path) = &settings.cluster.capture {
            return Mesh::of_capture(settings, path, whole, progress, breadth);
        }
        #[cfg(feature = "cluster")]
        return Mesh::of_cluster(settings, needs, whole, progress, breadth);
        #[cfg(not(feature = "cluster"))]
        {
            let _ = (needs, breadth);
            Err(Error::NoCluster("this build cannot read clusters".to_owned()))
        }
    }

    #[cfg(feature = "cluster")]
    fn of_cluster(
        settings: &Settings,
        needs: &Needs,
        whole: bool,
        progress: &'p dyn Progress,
        breadth: impl FnOnce(&str) -> Breadth,
    ) -> Result<Mesh<'p>, Error> {
        let link = live::Link::connect(settings, progress)?;
        let home = link.namespace().to_owned();
        let namespace = settings.namespace.clone().unwrap_or_else(|| home.clone());
        let only = part(settings, breadth(&namespace), Some(&home));
        let (live, reading) = link.read(settings, needs, only.clone(), whole)?;
        let (mut loaded, facts, asked) = (reading.loaded, reading.facts, reading.asked);
        leave_out_other_revisions(&mut loaded, &facts);
        let targets = targets::targets(&loaded.inventory);
        let planes = planes::planes(&facts, &targets, settings.istio_version, settings.root_namespace.as_deref());
        loaded.problems.extend(planes::caveats(&planes, settings.istio_version));
        settings.secrets.with(|secrets| loaded.secrets(secrets));
        let origin = Origin::Cluster { context: live.cluster().context.clone() };
        Ok(Mesh {
            settings: settings.clone(),
            loaded,
            planes,
            feed: Feed::Live(Box::new(live), targets),
            asked,
            facts,
            unlisted: reading.unlisted,
            namespace,
            only,
            progress,
            origin,
        })
    }

    fn of_capture(
        settings: &Settings,
        path: &Path,
        whole: bool,
        progress: &'p dyn Progress,
        breadth: impl FnOnce(&str) -> Breadth,
    ) -> Result<Mesh<'p>, Error> {
        if settings.selects() {
            return Err(Refusal::SelectorNeedsCluster.into());
        }
        let (capture, mut loaded) = Capture::open(path, settings.limits, &settings.secrets, whole);
        let Some(capture) = capture else {
            let message = format!("cannot use {}", path.display());
            return Err(Error::Unusable(Unanswered::new(message, None, &loaded)));
        };
        if whole {
            loaded.problems.extend(unread::lacking(&capture));
        }
        let said = |key: &str| capture.description.get(key);
        let kubernetes = said("kubernetes").and_then(serde_json::Value::as_str).unwrap_or_default();
        let mut facts = Facts::of(&loaded.inventory, kubernetes.to_owned());
        for (tag, revision) in said("tags").and_then(serde_json::Value::as_object).into_iter().flatten() {
            facts.tags.extend(revision.as_str().map(|revision| (tag.clone(), revision.to_owned())));
        }
        facts.uncounted = said("istiodPodsUnknown").and_then(serde_json::Value::as_bool).unwrap_or_default();
        leave_out_other_revisions(&mut loaded, &facts);
        let mut targets = targets::targets(&loaded.inventory);
        // A capture of one namespace answers for that namespace, as `-n` does for its cluster.
        let captured = capture.namespace().filter(|_| !whole);
        let namespace = settings.namespace.as_deref().or(captured).unwrap_or("default").to_owned();
        let breadth = breadth(&namespace);
        let beyond = captured.filter(|captured| match &breadth {
            Breadth::Everything => true,
            Breadth::Of(one) => settings.all_namespaces && one != captured,
            Breadth::Namespace | Breadth::Mesh => false,
        });
        let only = part(settings, breadth, captured).or_else(|| captured.map(str::to_owned));
        // What would be read from a cluster: the root namespaces of control planes where istiod was looked for, and of those
        // that configure the proxies.
        let (root, home) = (settings.root_namespace.as_deref(), &settings.cluster.istio_namespace);
        let at_home = facts.planes.iter().filter(|plane| plane.pods == 0 || plane.namespace == *home);
        let mut roots: BTreeSet<String> =
            at_home.map(|plane| root.unwrap_or(&plane.root_namespace).to_owned()).collect();
        if roots.is_empty() {
            roots.insert(root.unwrap_or(DEFAULT_ROOT_NAMESPACE).to_owned());
        }
        let narrow = only.as_deref().filter(|only| !whole && !roots.contains(*only));
        targets.retain(|target| narrow.is_none_or(|only| target.namespace == only));
        let planes = planes::planes(&facts, &targets, settings.istio_version, root);
        loaded.problems.extend(planes::caveats(&planes, settings.istio_version));
        if let Some(only) = narrow {
            roots.extend(planes.iter().map(|plane| plane.mesh.root_namespace.clone()));
            let filters = &mut loaded.inventory.envoy_filters;
            filters.retain(|filter| filter.namespace == only || roots.contains(&filter.namespace));
        }
        let mut unlisted = Vec::new();
        if let Some(captured) = beyond {
            loaded.problems.push(unread::beyond(captured));
            unlisted.push((kinds::POD, None));
        }
        if let (Some(captured), Some(only)) = (captured, &only)
            && captured != only
        {
            loaded.problems.push(unread::outside(captured, only));
            unlisted.push((kinds::POD, Some(only.clone())));
            // Every capture contains the EnvoyFilters of root namespaces.
            unlisted.extend((!roots.contains(only)).then(|| (kinds::ENVOY_FILTER, Some(only.clone()))));
        }
        let asked = only.as_ref().map(|only| {
            let filters = loaded.inventory.envoy_filters.iter().filter(|filter| filter.namespace == *only);
            filters.map(EnvoyFilter::full_name).collect()
        });
        Ok(Mesh {
            settings: settings.clone(),
            loaded,
            planes,
            feed: Feed::Captured(capture, targets),
            asked,
            facts,
            unlisted,
            namespace,
            only,
            progress,
            origin: Origin::Capture { path: path.to_owned() },
        })
    }

    /// Index of the control plane of a revision; the main one when it is unknown.
    pub(super) fn plane_of(&self, revision: &str) -> usize {
        planes::number(&self.planes, &self.facts, revision)
    }

    /// The part of the input that the control plane with this index judges.
    pub(super) fn judged_by(&self, number: usize) -> Cow<'_, Inventory> {
        Homes::of(&self.planes, &self.facts, self.targets()).judged_by(&self.planes, number, &self.loaded.inventory)
    }

    /// Pods with proxies, of a cluster or a capture.
    pub(super) fn targets(&self) -> &[Target] {
        match &self.feed {
            Feed::Given => &[],
            #[cfg(feature = "cluster")]
            Feed::Live(_, targets) => targets,
            Feed::Captured(_, targets) => targets,
            #[cfg(feature = "bottle")]
            Feed::Bottled(bottled) => bottled.targets(),
        }
    }

    /// Whether a filter attaches to a pod's proxy, as [`proxy_of`] knows it.
    pub(super) fn reaches(&self, filter: &EnvoyFilter, target: &Target, proxy: &Proxy) -> bool {
        let Some(plane) = self.planes.get(self.plane_of(&target.revision)) else { return true };
        select(filter, proxy, &plane.mesh, Compat { release: plane.release }) == Selection::Selected
    }

    /// Whether any of these filters attaches to a pod, based on the pod's namespace and labels.
    pub(super) fn reached_by<'f>(&'f self, filters: &'f [EnvoyFilter]) -> impl Fn(&Target) -> bool + 'f {
        move |target| {
            let proxy = proxy_of(target);
            filters.iter().any(|filter| self.reaches(filter, target, &proxy))
        }
    }

    /// Whether all objects of a kind were read.
    pub(super) fn lists(&self, kind: &Kind) -> bool {
        !self.unlisted.iter().any(|(one, _)| *one == kind)
    }

    /// That nothing of this name (`pod cart-1`) has a proxy, and what may help.
    pub(super) fn without_proxy(&self, what: &str, help: Option<String>) -> (String, Option<String>) {
        match self.only.as_ref().filter(|_| !what.contains('/')) {
            Some(only) => {
                let elsewhere = || "name another namespace with -n".to_owned();
                (format!("no {what} in namespace {only} has a proxy"), Some(help.unwrap_or_else(elsewhere)))
            }
            None => (format!("no {what} has a proxy"), help),
        }
    }

    /// The namespace that a capture was limited to.
    pub(super) fn captured_namespace(&self) -> Option<&str> {
        match &self.feed {
            Feed::Captured(capture, _) => capture.namespace(),
            _ => None,
        }
    }

    /// The proxies that were not asked and may have the clusters that a waypoint's dump lacks.
    pub(super) fn lenders(&self) -> Lenders {
        match self.origin {
            Origin::Files | Origin::Demo => Lenders::Given,
            _ if self.is_mesh() && self.only.is_some() && self.captured_namespace().is_none() => {
                Lenders::OtherNamespaces
            }
            _ => Lenders::None,
        }
    }

    /// Whether the user stopped the reading.
    pub(super) fn interrupted(&self) -> bool {
        match &self.feed {
            #[cfg(feature = "cluster")]
            Feed::Live(live, _) => live.cluster().stop().is_set(),
            _ => false,
        }
    }

    /// Whether a cluster or a capture was read: its dumps contain the effects of its filters.
    pub(super) fn is_mesh(&self) -> bool {
        match &self.feed {
            Feed::Given => false,
            #[cfg(feature = "bottle")]
            Feed::Bottled(_) => false,
            #[cfg(feature = "cluster")]
            Feed::Live(..) => true,
            Feed::Captured(..) => true,
        }
    }

    /// Whether its objects were read from a cluster or a capture, whatever the source of its proxies.
    pub(super) fn is_read(&self) -> bool {
        match &self.feed {
            #[cfg(feature = "bottle")]
            Feed::Bottled(bottled) => bottled.of_mesh(),
            _ => self.is_mesh(),
        }
    }

    /// Whether an istiod generates the configuration of the proxies.
    pub(super) fn asks_istiod(&self) -> bool {
        match &self.feed {
            #[cfg(feature = "bottle")]
            Feed::Bottled(_) => true,
            _ => false,
        }
    }

    /// Whether the proxies are known, rather than only the given dumps.
    pub(super) fn has_targets(&self) -> bool {
        !matches!(self.feed, Feed::Given)
    }

    /// How many requests were sent; `None` without a cluster.
    pub(super) fn requests(&self) -> Option<(usize, String)> {
        match &self.feed {
            #[cfg(feature = "cluster")]
            Feed::Live(live, _) => Some((live.cluster().requests(), live.cluster().context.clone())),
            _ => None,
        }
    }
}

/// The namespace to read; `None`: all of them.
fn part(settings: &Settings, breadth: Breadth, home: Option<&str>) -> Option<String> {
    match breadth {
        Breadth::Of(namespace) => Some(namespace).filter(|_| !settings.all_namespaces),
        Breadth::Everything => None,
        _ if settings.all_namespaces => None,
        Breadth::Namespace => settings.namespace.as_deref().or(home).map(str::to_owned),
        Breadth::Mesh => settings.namespace.clone(),
    }
}

/// istiod ignores objects whose label `istio.io/rev` names another revision. Objects that no control plane reads are reported
/// and left out.
fn leave_out_other_revisions(loaded: &mut Loaded, facts: &Facts) {
    let problems = &mut loaded.problems;
    loaded.inventory.envoy_filters.retain(|filter| {
        let Some(revision) = planes::unknown_revision(facts, filter) else { return true };
        problems.push(Problem {
            code: Code::OtherRevision,
            severity: Severity::Warning,
            span: None,
            message: format!(
                "EnvoyFilter {} is ignored: it is for revision {revision}, which no control plane has",
                filter.full_name()
            ),
            help: None,
        });
        false
    });
}

/// What is known about a pod's proxy without its dump.
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

/// Reads the objects in files; without files, the demo's filters if the demo is requested.
pub(super) fn objects(options: &load::Options, files: &[PathBuf], demo: bool) -> Loaded {
    if files.is_empty() && demo {
        return load::read_text(demo::FILTERS_NAME, demo::FILTERS, options);
    }
    report_ignored(load::read(files, options), options, files)
}

/// The same for a command that reads policies and routes as well, which decide what a move would hide or open.
pub(super) fn objects_and_policies(options: &load::Options, files: &[PathBuf]) -> Loaded {
    let mut loaded = load::read(files, options);
    let Inventory { policies, other, .. } = &mut loaded.inventory;
    for policy in policies.iter() {
        if let Some(number) = other.get_mut(&policy.kind) {
            *number -= 1;
        }
    }
    other.retain(|_, number| *number > 0);
    report_ignored(loaded, options, files)
}

/// Says what is ignored, and keeps the last filter of each name.
fn report_ignored(mut loaded: Loaded, options: &load::Options, files: &[PathBuf]) -> Loaded {
    if loaded.inventory.envoy_filters.is_empty() && !files.is_empty() {
        let other: Vec<String> =
            loaded.inventory.other.iter().map(|(kind, number)| count(*number, kind, kind)).collect();
        // Kept documents are for istiod, which reads more kinds.
        let ignored = if other.is_empty() || options.keep_documents {
            String::new()
        } else {
            format!(" (ignored: {})", other.join(", "))
        };
        loaded.problems.push(Problem {
            code: Code::NoEnvoyFilter,
            severity: Severity::Warning,
            span: None,
            message: format!("the files contain no EnvoyFilter{ignored}"),
            help: None,
        });
    } else if !options.keep_documents {
        for (kind, number) in &loaded.inventory.other {
            loaded.problems.push(Problem {
                code: Code::OtherKind,
                severity: Severity::Info,
                span: None,
                message: format!("ignored {} of kind {kind}", count(*number, "object", "objects")),
                help: None,
            });
        }
    }
    // The API server would reject a second filter of the same name or treat it as the same object: the last one wins.
    let mut names = BTreeSet::new();
    let filters = &mut loaded.inventory.envoy_filters;
    for index in (0..filters.len()).rev() {
        if !names.insert(filters[index].full_name()) {
            let gone = filters.remove(index);
            loaded.problems.push(Problem {
                code: Code::FilterTwice,
                severity: Severity::Warning,
                span: Some(gone.document.span),
                message: format!("EnvoyFilter {} is defined again later; the later one counts", gone.full_name()),
                help: None,
            });
        }
    }
    loaded
}

/// Replaces filters by those of the same name, and adds the others. One added to a cluster's filters is created after them,
/// which decides its place in the order.
pub(super) fn replaced(before: &[EnvoyFilter], new: &[EnvoyFilter]) -> Vec<EnvoyFilter> {
    let mut after = before.to_vec();
    let now =
        before.iter().filter_map(|filter| filter.created).max().map(|(seconds, _)| (seconds.saturating_add(1), 0));
    for filter in new {
        match after.iter_mut().find(|old| old.full_name() == filter.full_name()) {
            // A changed filter keeps its creation time, which decides its place in the order.
            Some(old) => {
                let created = filter.created.or(old.created);
                *old = EnvoyFilter { created, ..filter.clone() };
            }
            None => after.push(EnvoyFilter { created: filter.created.or(now), ..filter.clone() }),
        }
    }
    after
}

/// What was read before a question turned out to have no answer.
impl Unanswered {
    /// With what was read so far, whose problems may be the reason.
    pub(super) fn new(message: String, help: Option<String>, loaded: &Loaded) -> Unanswered {
        Unanswered { message, help, sources: loaded.sources.clone(), problems: loaded.problems.clone() }
    }
}
