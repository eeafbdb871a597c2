//! The control planes that judge the proxies of a mesh: which release each has, and which settings.

use crate::cluster::facts::{ControlPlane, Facts};
use crate::cluster::targets::Target;
use crate::engine::MeshSettings;
use crate::model::release::Release;

/// Who sends a proxy its configuration, and as what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plane {
    /// Its revision; `None` without a cluster.
    pub revision: Option<String>,
    /// Its release.
    pub release: Release,
    /// Its settings.
    pub mesh: MeshSettings,
}

/// The control planes of a mesh, the main one first, each with the release that is modelled for it; at least one.
/// `release` and `root` are what the user says over all of them.
pub fn planes(facts: &Facts, targets: &[Target], release: Option<Release>, root: Option<&str>) -> Vec<Plane> {
    // Without a control plane to ask, the newest proxy: istiod is never older than its proxies for long.
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
