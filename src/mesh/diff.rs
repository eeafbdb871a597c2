//! `diff`: what changes to EnvoyFilters change on each proxy.

use super::envoy::{self, Asked, Remark};
use super::proxies::{Given, Taken};
use super::read::{Mesh, objects, replaced};
use super::scope::Scope;
#[cfg(feature = "cluster")]
use super::server_side;
use super::settings::{Breadth, Progress, Settings};
use super::unread;
use super::{Error, Refusal, manifests};
use crate::cluster::kinds;
use crate::engine::{Outcome, Program};
use crate::load::Loaded;
use crate::model::envoy_filter::EnvoyFilter;
use crate::source::{Code, Problem, Severity};
use crate::study::{self, Changed};
use crate::trial::Trial;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The request of `diff`.
#[derive(Clone, Debug, Default)]
pub struct DiffRequest {
    /// The mesh.
    pub settings: Settings,
    /// Config dumps.
    pub given: Given,
    /// EnvoyFilters after the change: new ones, and changed ones under their names.
    pub files: Vec<PathBuf>,
    /// EnvoyFilters before the change; by default the cluster's.
    pub current: Vec<PathBuf>,
    /// Current EnvoyFilters to delete, `namespace/name`.
    pub delete: Vec<String>,
    /// Also ask the API server, its policies and webhooks (a dry run).
    pub server_side: bool,
    /// An Envoy binary to ask.
    pub envoy: Option<PathBuf>,
}

/// The differences.
#[derive(Debug)]
pub struct DiffReport {
    /// The proxies with differences.
    pub proxies: Vec<ProxyDiff>,
    /// Current objects and the loader's problems.
    pub current: Loaded,
    /// New objects and the loader's problems.
    pub new: Loaded,
    /// What else could not be read, or was rejected.
    pub problems: Vec<Problem>,
    /// Hosts whose clusters an annotation adds but no input contains.
    pub unknown_services: Vec<String>,
    /// Envoy's remarks: places are in `current` (0) or `new` (1).
    pub remarks: Vec<Remark>,
    /// The result of asking it.
    pub asked: Asked,
    /// What was read.
    pub scope: Scope,
    /// Patches that start or stop having an effect; only with an istiod.
    pub outcomes: Vec<OutcomeChange>,
    /// Proxies that exist only after the change, `namespace/name`.
    pub appeared: Vec<String>,
    /// Proxies that exist only before it.
    pub gone: Vec<String>,
    /// Whether all objects are compared, not only EnvoyFilters.
    pub whole: bool,
}

/// The differences on one proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyDiff {
    /// `sidecar`, `gateway` or `waypoint`.
    pub kind: &'static str,
    /// `namespace/name`.
    pub name: String,
    /// The resources that change, by kind and name.
    pub resources: Vec<Changed>,
}

/// A patch whose outcome changes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OutcomeChange {
    /// `namespace/name` of the EnvoyFilter.
    pub filter: String,
    /// Index of the patch.
    pub patch: usize,
    /// `applyTo`.
    pub apply_to: &'static str,
    /// Before; `None` if the EnvoyFilter is new.
    pub before: Option<Outcome>,
    /// After; `None` if it is deleted.
    pub after: Option<Outcome>,
    /// Why it no longer applies, or did not before.
    pub reason: Option<String>,
    /// The proxies, `namespace/name`.
    pub proxies: Vec<String>,
}

/// Compares EnvoyFilters before and after a change, on every proxy that differing ones reach.
#[cfg_attr(feature = "bottle", expect(unreachable_pub, reason = "without the bottle it is what everybody calls"))]
pub fn diff(request: &DiffRequest, progress: &dyn Progress) -> Result<DiffReport, Error> {
    let DiffRequest { settings, given, .. } = request;
    let live = !given.any() && request.current.is_empty();
    if !live && !given.any() {
        return Err(Refusal::NoProxy.into());
    }
    if request.files.is_empty() && request.delete.is_empty() && !given.demo {
        return Err(Refusal::NothingToCompare.into());
    }
    given.one_standard_input(&[&request.files, &request.current])?;
    let mut new = None;
    let read_new = |namespace: &str| {
        let options = crate::load::Options { namespace: namespace.to_owned(), ..settings.load_options() };
        objects(&options, &request.files, given.demo && request.delete.is_empty())
    };
    let mut mesh = if live {
        // The filters decide which proxies are affected, regardless of the context's namespace.
        Mesh::open(settings, &kinds::DIFF, progress, |namespace| {
            let loaded = read_new(namespace);
            let breadth = breadth(&loaded.inventory.envoy_filters, &request.delete, namespace);
            new = Some(loaded);
            breadth
        })?
    } else {
        manifests::only_files(settings)?;
        let demo = given.demo && !request.delete.is_empty();
        Mesh::of_files(settings, objects(&settings.load_options(), &request.current, demo), progress)
    };
    let new = match new {
        Some(new) => new,
        None => read_new(&mesh.namespace),
    };
    let mut taken = Taken::default();
    let before = mesh.loaded.inventory.envoy_filters.clone();
    let mut after = before.clone();
    #[cfg_attr(not(feature = "cluster"), expect(unused_variables, reason = "only an API server is told"))]
    let deleted = deleted(&request.delete, &mesh.namespace, &mut after, &mut taken.problems);
    let after = replaced(&after, &new.inventory.envoy_filters);
    if !live && mesh.loaded.inventory.meshes.is_empty() {
        mesh.planes.iter_mut().for_each(|plane| plane.mesh = settings.mesh(&new.inventory));
    }
    taken.problems.extend(unread::stop_the_others(&after, &mesh.planes));
    let programs: Vec<(Program<'_>, Program<'_>)> = mesh
        .planes
        .iter()
        .map(|plane| (Program::new(&before, plane.release), Program::new(&after, plane.release)))
        .collect();
    let trial = request.envoy.as_deref().map(Trial::start).transpose()?;
    #[cfg(not(feature = "cluster"))]
    if request.server_side {
        return Err(Error::NoCluster("this build cannot read clusters".to_owned()));
    }
    #[cfg(feature = "cluster")]
    if request.server_side {
        let filters = &new.inventory.envoy_filters;
        taken.problems.extend(server_side::verdicts(&mesh, filters, &deleted)?);
    }
    let written = [
        (mesh.loaded.inventory.envoy_filters.as_slice(), &mesh.loaded.sources),
        (new.inventory.envoy_filters.as_slice(), &new.sources),
    ];
    let changed = changed(&before, &after);
    let reached = mesh.reached_by(&changed);
    let (mut proxies, mut remarks, mut asked) = (Vec::new(), Vec::new(), Asked::default());
    let mut unknown_services = BTreeSet::new();
    mesh.visit_with(&after, given, &reached, &mut taken, &mut |offer| {
        let (Some((old, new)), Some(plane)) = (programs.get(offer.plane), mesh.planes.get(offer.plane)) else { return };
        let settings = plane.mesh.clone().into();
        study::changes(old, new, &offer.config, &settings, |changes| {
            unknown_services.extend(changes.unknown_services.iter().cloned());
            if let Some(trial) = &trial {
                let (came, said) = envoy::ask(trial, changes.plan, changes.base, &settings.options, &written);
                asked = asked.max(came);
                remarks.extend(said);
            }
            if !changes.resources.is_empty() {
                let proxy = &offer.config.proxy;
                let resources = changes.resources.clone();
                proxies.push(ProxyDiff { kind: proxy.kind.as_str(), name: proxy.full_name(), resources });
            }
        });
    })?;
    drop(reached);
    // An updated filter is among them twice.
    let names: BTreeSet<String> = changed.iter().map(EnvoyFilter::full_name).collect();
    let scope = mesh.scope(given, &taken, names.len());
    drop(programs);
    let unknown_services = unknown_services.into_iter().collect();
    Ok(DiffReport {
        proxies,
        unknown_services,
        current: mesh.loaded,
        new,
        problems: taken.problems,
        remarks,
        asked,
        scope,
        outcomes: Vec::new(),
        appeared: Vec::new(),
        gone: Vec::new(),
        whole: false,
    })
}

/// Takes the named EnvoyFilters out of `filters` and returns their full names. Names that none has are problems.
fn deleted(
    names: &[String],
    namespace: &str,
    filters: &mut Vec<EnvoyFilter>,
    problems: &mut Vec<Problem>,
) -> Vec<String> {
    let full = |name: &String| if name.contains('/') { name.clone() } else { format!("{namespace}/{name}") };
    names.iter().map(full).filter(|full| take_out(filters, full, problems)).collect()
}

/// Takes the EnvoyFilter with a full name out of `filters`, or reports that it is not there.
pub(super) fn take_out(filters: &mut Vec<EnvoyFilter>, full: &str, problems: &mut Vec<Problem>) -> bool {
    let found = filters.iter().position(|filter| filter.full_name() == full);
    match found {
        Some(index) => drop(filters.remove(index)),
        None => problems.push(not_there(full, filters)),
    }
    found.is_some()
}

/// The namespace of all filters in the request; everything if they are in several.
fn breadth(filters: &[EnvoyFilter], deleted: &[String], namespace: &str) -> Breadth {
    let of_deleted = deleted.iter().map(|name| name.split_once('/').map_or(namespace, |(namespace, _)| namespace));
    let namespaces: BTreeSet<&str> = filters.iter().map(|filter| filter.namespace.as_str()).chain(of_deleted).collect();
    match namespaces.iter().collect::<Vec<_>>().as_slice() {
        [one] => Breadth::Of((**one).to_owned()),
        _ => Breadth::Everything,
    }
}

/// The filters that are in only one of two sets or differ between them.
fn changed(before: &[EnvoyFilter], after: &[EnvoyFilter]) -> Vec<EnvoyFilter> {
    let same = |a: &EnvoyFilter, b: &EnvoyFilter| {
        a.full_name() == b.full_name() && a.document.to_json() == b.document.to_json()
    };
    let only = |these: &[EnvoyFilter], those: &[EnvoyFilter]| -> Vec<EnvoyFilter> {
        these.iter().filter(|one| !those.iter().any(|other| same(one, other))).cloned().collect()
    };
    [only(before, after), only(after, before)].concat()
}

pub(super) fn not_there(name: &str, filters: &[EnvoyFilter]) -> Problem {
    let names: Vec<String> = filters.iter().map(EnvoyFilter::full_name).collect();
    Problem {
        code: Code::NothingToDelete,
        severity: Severity::Error,
        span: None,
        message: format!("no EnvoyFilter {name} to delete"),
        help: if names.is_empty() {
            Some("give the EnvoyFilters that are applied now with --current FILE".to_owned())
        } else {
            super::similar(name, &names)
        },
    }
}
