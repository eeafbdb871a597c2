//! The proxies that a request selects by a pod or a workload.

use super::read::Mesh;
use super::settings::{Breadth, Progress, Settings};
use super::{Error, Unanswered, manifests, similar};
use crate::cluster::kinds;
use crate::cluster::targets::Target;

/// The part of the mesh that a named pod needs.
pub(super) fn mesh_of<'p>(settings: &Settings, pod: &str, progress: &'p dyn Progress) -> Result<Mesh<'p>, Error> {
    manifests::open(settings, &kinds::RENDER, progress, |_| match pod.split_once('/') {
        Some((namespace, _)) => Breadth::Of(namespace.to_owned()),
        None => Breadth::Namespace,
    })
}

/// Fails with the reason if no proxy is the named one.
pub(super) fn exists(settings: &Settings, mesh: &Mesh<'_>, pod: &str) -> Result<(), Error> {
    if mesh.targets().iter().any(|target| is(settings, Some(pod), target)) {
        return Ok(());
    }
    let known: Vec<String> = mesh.targets().iter().map(Target::full_name).collect();
    let (message, help) = if mesh.lists(kinds::POD) {
        mesh.without_proxy(&format!("pod {pod}"), similar(pod, &known))
    } else {
        (format!("cannot look for pod {pod}: pods could not be listed"), None)
    };
    Err(Error::NotFound(Unanswered::new(message, help, &mesh.loaded)))
}

/// Whether a proxy is the named one: by its pod or its workload, with or without the namespace.
pub(super) fn is(settings: &Settings, pod: Option<&str>, target: &Target) -> bool {
    let Some(pod) = pod else { return false };
    // Pods of a cluster are already restricted to the namespace; those of manifests are not.
    let looked_at = settings.namespace.as_deref();
    let (namespace, name) = pod.split_once('/').map_or((looked_at, pod), |(namespace, name)| (Some(namespace), name));
    namespace.is_none_or(|namespace| namespace == target.namespace) && (target.pod == name || target.workload == name)
}
