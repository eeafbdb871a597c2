//! `diff`: what changed EnvoyFilters change on each proxy.

use super::envoy::{self, Asked, Remark};
use super::proxies::{Given, Taken};
use super::read::{Mesh, objects, replaced};
use super::scope::Scope;
#[cfg(feature = "cluster")]
use super::server_side;
use super::settings::{Breadth, Progress, Settings};
use super::{Error, Refusal};
use crate::cluster::kinds;
use crate::engine::{Outcome, Program};
use crate::load::Loaded;
use crate::model::envoy_filter::EnvoyFilter;
use crate::source::{Code, Problem, Severity};
use crate::study::{self, Changed};
use crate::trial::Trial;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// What is to be compared.
#[derive(Clone, Debug, Default)]
pub struct DiffRequest {
    /// The mesh.
    pub settings: Settings,
    /// Config dumps.
    pub given: Given,
    /// EnvoyFilters as they shall be: new ones, and changed ones with their names.
    pub files: Vec<PathBuf>,
    /// EnvoyFilters as they are now; the cluster's without.
    pub current: Vec<PathBuf>,
    /// Current EnvoyFilters to delete, `namespace/name`.
    pub delete: Vec<String>,
    /// Also ask the API server, its policies and webhooks (a dry run).
    pub server_side: bool,
    /// An Envoy binary to ask.
    pub envoy: Option<PathBuf>,
}

/// What changes.
#[derive(Debug)]
pub struct DiffReport {
    /// The proxies on which something changes.
    pub proxies: Vec<ProxyDiff>,
    /// Current objects and what the loader noticed.
    pub current: Loaded,
    /// New objects and what the loader noticed.
    pub new: Loaded,
    /// What else could not be read, or was refused.
    pub problems: Vec<Problem>,
    /// Hosts whose clusters an annotation adds, and that nothing here holds.
    pub unknown_services: Vec<String>,
    /// What an Envoy says: places are in `current` (0) or `new` (1).
    pub remarks: Vec<Remark>,
    /// What came of asking it.
    pub asked: Asked,
    /// What was looked at.
    pub scope: Scope,
    /// Patches that begin or end to do something; only where an istiod was asked.
    pub outcomes: Vec<OutcomeChange>,
    /// Proxies that exist only after the change, `namespace/name`.
    pub appeared: Vec<String>,
    /// Proxies that exist only before it.
    pub gone: Vec<String>,
    /// Whether every object counts, and not EnvoyFilters alone.
    pub whole: bool,
}

/// What changes on one proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyDiff {
    /// `sidecar`, `gateway` or `waypoint`.
    pub kind: &'static str,
    /// `namespace/name`.
    pub name: String,
    /// The resources that change, by kind and name.
    pub resources: Vec<Changed>,
}

/// A patch whose outcome is another one after a change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OutcomeChange {
    /// `namespace/name` of the EnvoyFilter.
    pub filter: String,
    /// Index of the patch.
    pub patch: usize,
    /// `applyTo`.
    pub apply_to: &'static str,
    /// Before; `None` where the EnvoyFilter is new.
    pub before: Option<Outcome>,
    /// After; `None` where it is deleted.
    pub after: Option<Outcome>,
    /// Why it does not apply any more, or did not before.
    pub reason: Option<String>,
    /// The proxies, `namespace/name`.
    pub proxies: Vec<String>,
}

/// Compares EnvoyFilters as they are with EnvoyFilters as they shall be, on every proxy that those which differ reach.
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
        // Which proxies are concerned is up to the filters, whatever namespace is the context's.
        Mesh::open(settings, &kinds::DIFF, progress, |namespace| {
            let loaded = read_new(namespace);
            let breadth = breadth(&loaded.inventory.envoy_filters, &request.delete, namespace);
            new = Some(loaded);
            breadth
        })?
    } else {
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
    let mut deleted = Vec::new();
    for name in &request.delete {
        let full = if name.contains('/') { name.clone() } else { format!("{}/{name}", mesh.namespace) };
        match after.iter().position(|filter| filter.full_name() == full) {
            Some(index) => {
                after.remove(index);
                deleted.push(full);
            }
            None => taken.problems.push(not_there(&full, &before)),
        }
    }
    let after = replaced(&after, &new.inventory.envoy_filters);
    if !live && mesh.loaded.inventory.meshes.is_empty() {
        mesh.planes.iter_mut().for_each(|plane| plane.mesh = settings.mesh(&new.inventory));
    }
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
    let scope = mesh.scope(given, &taken, changed.len());
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

/// The namespace of all filters that are asked about; everything where they are in several.
fn breadth(filters: &[EnvoyFilter], deleted: &[String], namespace: &str) -> Breadth {
    let of_deleted = deleted.iter().map(|name| name.split_once('/').map_or(namespace, |(namespace, _)| namespace));
    let namespaces: BTreeSet<&str> = filters.iter().map(|filter| filter.namespace.as_str()).chain(of_deleted).collect();
    match namespaces.iter().collect::<Vec<_>>().as_slice() {
        [one] => Breadth::Of((**one).to_owned()),
        _ => Breadth::Everything,
    }
}

/// What is in one of two sets of filters only, or not the same in both.
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
