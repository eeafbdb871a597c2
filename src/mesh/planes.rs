//! The control planes that judge the proxies of a mesh: the release, the settings and the EnvoyFilters of each.

use crate::cluster::facts::{ControlPlane, Facts};
use crate::cluster::targets::Target;
use crate::engine::MeshSettings;
use crate::engine::select::in_revision;
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::inventory::Inventory;
use crate::model::proxy::REVISION_LABEL;
use crate::model::release::Release;
use crate::source::{Code, Problem, Severity};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The control plane that configures a proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plane {
    /// Its revision; `None` without a cluster.
    pub revision: Option<String>,
    /// Its release.
    pub release: Release,
    /// Its settings.
    pub mesh: MeshSettings,
}

impl Plane {
    /// The one for files.
    pub(crate) fn of_files(release: Release, mesh: MeshSettings) -> Plane {
        Plane { revision: None, release, mesh }
    }
}

/// The control planes of a mesh, the main one first, each with the release modeled for it; at least one. `release` and `root`
/// from the user override all of them.
pub(crate) fn planes(facts: &Facts, targets: &[Target], release: Option<Release>, root: Option<&str>) -> Vec<Plane> {
    // Without a control plane, use the newest proxy: istiod is never older than its proxies for long.
    let proxies = || targets.iter().filter_map(|target| target.version.parse().ok()).max();
    let plane = |plane: &ControlPlane| Plane {
        revision: Some(plane.revision.clone()),
        release: release.or(plane.release()).or_else(proxies).unwrap_or(Release::NEWEST),
        mesh: MeshSettings {
            root_namespace: root.unwrap_or(&plane.root_namespace).to_owned(),
            revision: Some(plane.revision.clone()),
            ..MeshSettings::default()
        },
    };
    let used = |revision: &str| {
        targets.iter().any(|target| facts.plane(&target.revision).is_some_and(|it| it.revision == revision))
    };
    let main = facts.main_plane();
    let mut planes: Vec<Plane> = main.into_iter().map(plane).collect();
    let others = facts.planes.iter().filter(|one| Some(*one) != main && used(&one.revision));
    planes.extend(others.map(plane));
    if planes.is_empty() {
        let release = release.or_else(proxies).unwrap_or(Release::NEWEST);
        let default = MeshSettings::default();
        let root_namespace = root.map_or(default.root_namespace.clone(), str::to_owned);
        planes.push(Plane { revision: None, release, mesh: MeshSettings { root_namespace, ..default } });
    }
    planes
}

/// What users must know about control planes of unknown releases. The command line says it about a release that they name.
pub(crate) fn caveats(planes: &[Plane], named: Option<Release>) -> impl Iterator<Item = Problem> + use<> {
    let found = planes.iter().filter(|_| named.is_none()).filter_map(|plane| plane.release.caveat());
    let found: BTreeSet<String> = found.collect();
    found.into_iter().map(|message| Problem {
        code: Code::UnknownRelease,
        severity: Severity::Warning,
        span: None,
        message,
        help: None,
    })
}

/// Index of the control plane of a revision; the main one when it is unknown.
pub(crate) fn number(planes: &[Plane], facts: &Facts, revision: &str) -> usize {
    let plane = facts.plane(revision);
    plane.and_then(|plane| planes.iter().position(|it| it.revision.as_ref() == Some(&plane.revision))).unwrap_or(0)
}

/// For each namespace, the control planes that configure proxies in it. Empty with one control plane.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Homes(BTreeMap<String, BTreeSet<usize>>);

impl Homes {
    pub(crate) fn of<'t>(planes: &[Plane], facts: &Facts, targets: impl IntoIterator<Item = &'t Target>) -> Homes {
        let mut homes: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
        if planes.len() > 1 {
            for target in targets {
                let plane = number(planes, facts, &target.revision);
                match homes.get_mut(&target.namespace) {
                    Some(home) => drop(home.insert(plane)),
                    None => drop(homes.insert(target.namespace.clone(), BTreeSet::from([plane]))),
                }
            }
        }
        Homes(homes)
    }

    /// Whether the control plane with this index judges a filter. Not if the filter is labeled for the revision of another one of
    /// them, or if only others have proxies that it could reach: in its namespace, or anywhere from their root namespace. A
    /// filter for an unknown revision is judged by all, as is one that could reach no proxy.
    fn judges(&self, planes: &[Plane], number: usize, filter: &EnvoyFilter) -> bool {
        let any = |fits: &dyn Fn(usize) -> bool| fits(number) || !(0..planes.len()).any(fits);
        let plane = |number: usize| planes.get(number);
        let reads = |number: usize| {
            let revision = plane(number).and_then(|plane| plane.revision.as_deref());
            revision.map_or(planes.len() == 1, |revision| in_revision(filter, revision))
        };
        let reaches = |number: usize| {
            plane(number).is_some_and(|plane| plane.mesh.root_namespace == filter.namespace)
                || self.0.get(&filter.namespace).is_some_and(|home| home.contains(&number))
        };
        any(&reads) && (planes.len() == 1 || any(&reaches))
    }

    /// The part of the input that the control plane with this index judges.
    pub(crate) fn judged_by<'i>(&self, planes: &[Plane], number: usize, all: &'i Inventory) -> Cow<'i, Inventory> {
        if all.envoy_filters.iter().all(|filter| self.judges(planes, number, filter)) {
            return Cow::Borrowed(all);
        }
        let mut own = all.clone();
        own.envoy_filters.retain(|filter| self.judges(planes, number, filter));
        Cow::Owned(own)
    }
}

/// The revision a filter is labeled for, if no known control plane has it.
pub(crate) fn unknown_revision<'f>(facts: &Facts, filter: &'f EnvoyFilter) -> Option<&'f str> {
    // A control plane may run elsewhere: only a mesh with known control planes can tell.
    if facts.planes.iter().all(|plane| plane.pods == 0) {
        return None;
    }
    let wanted = filter.labels.get(REVISION_LABEL)?;
    (!facts.planes.iter().any(|plane| in_revision(filter, &plane.revision))).then_some(wanted)
}
