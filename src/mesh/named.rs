//! The proxies that a request selects by a pod or a workload.

use super::proxies::Given;
use super::read::{Mesh, objects};
use super::settings::{Breadth, Progress, Settings};
use super::{Error, Unanswered, manifests, similar};
use crate::cluster::kinds;
use crate::cluster::targets::Target;
use std::path::PathBuf;

/// The part of the mesh that a named pod needs.
fn mesh_of<'p>(settings: &Settings, pod: &str, progress: &'p dyn Progress) -> Result<Mesh<'p>, Error> {
    manifests::open(settings, &kinds::RENDER, progress, |_| match pod.split_once('/') {
        Some((namespace, _)) => Breadth::Of(namespace.to_owned()),
        None => Breadth::Namespace,
    })
}

/// The part of the mesh that a named pod needs, with the pod in it. With an istiod of its own, and outside of captures, the mesh
/// is the one that the files describe, if there are files.
pub(super) fn mesh_with<'p>(
    settings: &Settings,
    pod: &str,
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
fn exists(settings: &Settings, mesh: &Mesh<'_>, pod: &str) -> Result<(), Error> {
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
