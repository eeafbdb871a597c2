//! `versions`: control planes, proxies, and pods that EnvoyFilters cannot reach.

use super::Error;
use super::proxies::{Given, Taken};
use super::read::Mesh;
use super::scope::Scope;
use super::settings::{Breadth, Progress, Settings};
use crate::cluster::facts::{self, ControlPlane, Station};
use crate::cluster::kinds;
use crate::load::Loaded;
use crate::model::proxy::ProxyKind;
use std::collections::{BTreeMap, BTreeSet};

/// The request of `versions`.
#[derive(Clone, Debug, Default)]
pub(crate) struct VersionsRequest {
    /// The mesh.
    pub settings: Settings,
}

/// What runs in a mesh.
#[derive(Debug)]
pub(crate) struct Versions {
    /// Version of the API server; empty if unknown.
    pub kubernetes: String,
    /// Control planes.
    pub control_planes: Vec<PlaneVersions>,
    /// Proxies by type, version and revision.
    pub proxies: Vec<ProxyVersions>,
    /// Pods that EnvoyFilters cannot reach, by reason.
    pub not_affected: Vec<NotAffected>,
    /// Objects and the loader's problems.
    pub loaded: Loaded,
    /// What was read.
    pub scope: Scope,
}

/// A control plane.
#[derive(Debug)]
pub(crate) struct PlaneVersions {
    /// What is known about it.
    pub plane: ControlPlane,
    /// How many pods it has; `None` if they could not be listed.
    pub pods: Option<usize>,
    /// Its revision tags; `None` if they could not be listed.
    pub tags: Option<Vec<String>>,
    /// The release modeled for it; empty if there is none.
    pub modelled: String,
}

/// Proxies that are alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProxyVersions {
    /// Their type.
    pub kind: ProxyKind,
    /// The version in their images.
    pub version: String,
    /// Revision of their control plane.
    pub revision: String,
    /// How many pods.
    pub pods: usize,
}

/// Pods that EnvoyFilters cannot reach, for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NotAffected {
    /// Why.
    pub why: &'static str,
    /// How many pods.
    pub pods: usize,
    /// One of them.
    pub example: String,
}

/// Lists what runs in a mesh.
pub(crate) fn versions(request: &VersionsRequest, progress: &dyn Progress) -> Result<Versions, Error> {
    let mesh = Mesh::open(&request.settings, &kinds::VERSION, progress, |_| Breadth::Namespace)?;
    let control_planes = mesh.facts.planes.iter().map(|plane| {
        let tags = mesh.facts.tags.iter().filter(|(_, revision)| **revision == plane.revision);
        let modelled = mesh.planes.iter().find(|it| it.revision.as_ref() == Some(&plane.revision));
        let modelled = modelled.map(|plane| plane.release.to_string()).unwrap_or_default();
        PlaneVersions {
            plane: plane.clone(),
            pods: mesh.facts.pods(plane),
            tags: mesh.lists(kinds::REVISION_TAG).then(|| tags.map(|(tag, _)| tag.clone()).collect()),
            modelled,
        }
    });
    let mut proxies: BTreeMap<(&'static str, ProxyKind, &str, &str), usize> = BTreeMap::new();
    for target in mesh.targets() {
        *proxies.entry((target.kind.as_str(), target.kind, &target.version, &target.revision)).or_default() += 1;
    }
    let proxies = proxies.into_iter().map(|((_, kind, version, revision), pods)| ProxyVersions {
        kind,
        version: version.to_owned(),
        revision: revision.to_owned(),
        pods,
    });
    let inventory = &mesh.loaded.inventory;
    let mut without: BTreeMap<&'static str, BTreeSet<String>> = BTreeMap::new();
    // The pods of control planes were read, too, wherever they run.
    let only = mesh.only.as_deref().or_else(|| mesh.captured_namespace());
    let in_scope = |namespace: &str| only.is_none_or(|only| only == namespace);
    let pods = inventory.workloads.iter().filter(|pod| pod.object.kind == "Pod" && in_scope(&pod.object.namespace));
    for pod in pods {
        let why = match facts::station(pod, inventory.namespace(&pod.object.namespace)) {
            Station::Proxy(_) => continue,
            Station::Ztunnel => "it is ztunnel, which istiod sends no EnvoyFilters to",
            Station::None(why) => why,
        };
        without.entry(why).or_default().insert(format!("{}/{}", pod.object.namespace, pod.object.name));
    }
    let not_affected = without.into_iter().map(|(why, pods)| NotAffected {
        why,
        pods: pods.len(),
        example: pods.first().cloned().unwrap_or_default(),
    });
    // All dumps of a capture: no EnvoyFilter is judged.
    let scope = mesh.scope(&Given::default(), &Taken::default(), 0);
    Ok(Versions {
        kubernetes: mesh.facts.kubernetes.clone(),
        control_planes: control_planes.collect(),
        proxies: proxies.collect(),
        not_affected: not_affected.collect(),
        scope,
        loaded: mesh.loaded,
    })
}
