//! The proxies that a request selects by a pod or a workload.

use super::proxies::Given;
use super::read::{Mesh, objects};
use super::settings::{Breadth, Progress, Settings};
use super::{Error, Unanswered, manifests, similar};
use crate::cluster::kinds;
use crate::cluster::targets::Target;
use crate::model::owner::WorkloadKind;
use crate::words::{MOST_NAMES, few};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The name of a proxy: that of its pod or its workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyName {
    /// The kind of workload; `None` for a pod, or a workload of any kind.
    pub kind: Option<WorkloadKind>,
    /// The name, with or without `namespace/`.
    pub name: String,
}

impl ProxyName {
    /// The name with what it is: `pod shop/cart-1`.
    fn words(&self) -> String {
        format!("{} {}", self.kind.map_or("pod", WorkloadKind::as_str), self.name)
    }
}

/// The part of the mesh that a named pod needs.
fn mesh_of<'p>(settings: &Settings, pod: &ProxyName, progress: &'p dyn Progress) -> Result<Mesh<'p>, Error> {
    manifests::open(settings, &kinds::RENDER, progress, |_| match pod.name.split_once('/') {
        Some((namespace, _)) => Breadth::Of(namespace.to_owned()),
        None => Breadth::Namespace,
    })
}

/// The part of the mesh that a named pod needs, with the pod in it. With an istiod of its own, and outside of captures, the mesh
/// is the one that the files describe, if there are files.
pub(super) fn mesh_with<'p>(
    settings: &Settings,
    pod: &ProxyName,
    files: &[PathBuf],
    given: &Given,
    progress: &'p dyn Progress,
) -> Result<Mesh<'p>, Error> {
    let of_files = settings.istiod.is_some() && settings.cluster.capture.is_none() && !files.is_empty();
    let mesh = if of_files {
        manifests::mesh(settings, objects(&settings.load_options(), files, false), given, progress)?
    } else {
        mesh_of(settings, pod, progress)?
    };
    exists(settings, &mesh, pod)?;
    Ok(mesh)
}

/// Fails with the reason if no proxy is the named one.
fn exists(settings: &Settings, mesh: &Mesh<'_>, pod: &ProxyName) -> Result<(), Error> {
    if mesh.targets().iter().any(|target| is(settings, Some(pod), target)) {
        return Ok(());
    }
    let known: Vec<String> = mesh.targets().iter().map(Target::full_name).collect();
    let (message, help) = if mesh.lists(kinds::POD) {
        let other = pod.kind.and_then(|_| {
            let any = ProxyName { kind: None, ..pod.clone() };
            of_another_kind(mesh.targets().iter().filter(|target| is(settings, Some(&any), target)))
        });
        mesh.without_proxy(&pod.words(), other.or_else(|| similar(&pod.name, &known)))
    } else {
        (format!("cannot look for {}: pods could not be listed", pod.words()), None)
    };
    Err(Error::NotFound(Unanswered::new(message, help, &mesh.loaded)))
}

/// The advice when what has a name is of another kind than asked for; `None` without such a thing.
pub(super) fn of_another_kind<'t>(targets: impl Iterator<Item = &'t Target>) -> Option<String> {
    let owners: BTreeSet<String> = targets.map(Target::owner).collect();
    (!owners.is_empty()).then(|| format!("what has this name: {}", few(&owners, owners.len(), MOST_NAMES)))
}

/// Whether a proxy is the named one: by its pod or its workload, with or without the namespace.
pub(super) fn is(settings: &Settings, pod: Option<&ProxyName>, target: &Target) -> bool {
    let Some(ProxyName { kind, name: pod }) = pod else { return false };
    // Pods of a cluster are already restricted to the namespace; those of manifests are not.
    let looked_at = settings.namespace.as_deref();
    let (namespace, name) =
        pod.split_once('/').map_or((looked_at, pod.as_str()), |(namespace, name)| (Some(namespace), name));
    namespace.is_none_or(|namespace| namespace == target.namespace)
        && match kind {
            Some(kind) => target.belongs_to(*kind, name),
            None => target.pod == name || target.workload == name,
        }
}
