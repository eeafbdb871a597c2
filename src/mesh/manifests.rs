//! A mesh from files, a capture or a cluster; with an istiod on this machine, the proxies get their configuration from it.

use super::Error;
#[cfg(feature = "bottle")]
use super::Unanswered;
#[cfg(feature = "bottle")]
use super::bottled::{self, Bottled, ReadMesh, own_revision};
use super::error::Refusal;
#[cfg(feature = "bottle")]
use super::planes::Plane;
use super::proxies::Given;
#[cfg(feature = "bottle")]
use super::read::Feed;
use super::read::Mesh;
#[cfg(feature = "bottle")]
use super::scope::Origin;
#[cfg(feature = "bottle")]
use super::settings::IstiodSettings;
use super::settings::{Breadth, Progress, Settings};
#[cfg(feature = "bottle")]
use crate::bottle::{Common, Node};
use crate::cluster::kinds::Needs;
#[cfg(feature = "bottle")]
use crate::cluster::targets::{self, Target};
#[cfg(feature = "bottle")]
use crate::engine::MeshSettings;
use crate::load::Loaded;
#[cfg(feature = "bottle")]
use crate::load::dump::Dump;
#[cfg(feature = "bottle")]
use crate::source::{Code, Problem, Severity};
#[cfg(feature = "bottle")]
use crate::words::count;
#[cfg(feature = "bottle")]
use std::collections::{BTreeMap, BTreeSet};

/// Objects of files. Their proxies come from an istiod on this machine if the settings name one and the request has no config
/// dump.
pub(super) fn mesh<'p>(
    settings: &Settings,
    loaded: Loaded,
    given: &Given,
    progress: &'p dyn Progress,
) -> Result<Mesh<'p>, Error> {
    if given.any() && settings.istiod.as_ref().is_some_and(|istiod| istiod.named) {
        return Err(Refusal::IstiodNeedsManifests.into());
    }
    only_files(settings)?;
    let mesh = Mesh::of_files(settings, loaded, progress);
    #[cfg(feature = "bottle")]
    if let Some(istiod) = settings.istiod.as_ref().filter(|_| !given.any()) {
        return fill(mesh, istiod);
    }
    #[cfg(not(feature = "bottle"))]
    let _ = given;
    Ok(mesh)
}

/// Rejects a capture and a context in a question about files and config dumps, which would be ignored.
pub(crate) fn only_files(settings: &Settings) -> Result<(), Error> {
    if settings.cluster.capture.is_some() {
        return Err(Refusal::CaptureNotRead.into());
    }
    #[cfg(feature = "cluster")]
    if settings.cluster.access.context.is_some() {
        return Err(Refusal::ContextNotRead.into());
    }
    Ok(())
}

/// A capture or a cluster. If the request names an istiod, what it generates replaces what proxies run with.
pub(super) fn open<'p>(
    settings: &Settings,
    needs: &Needs,
    progress: &'p dyn Progress,
    breadth: impl FnOnce(&str) -> Breadth,
) -> Result<Mesh<'p>, Error> {
    let Some(istiod) = settings.istiod.as_ref().filter(|istiod| istiod.named) else {
        return Mesh::open(settings, needs, progress, breadth);
    };
    #[cfg(feature = "bottle")]
    return fill(Mesh::whole(settings, needs, progress, breadth)?, istiod);
    #[cfg(not(feature = "bottle"))]
    {
        let _ = istiod;
        Err(Error::Text { message: "this build cannot run an istiod".to_owned(), help: None })
    }
}

/// Everything in the capture or the cluster that an istiod reads, including EnvoyFilters, and the control plane it acts as.
#[cfg(feature = "bottle")]
pub(crate) fn read_for_istiod(
    settings: &Settings,
    istiod: &IstiodSettings,
    needs: &Needs,
    progress: &dyn Progress,
) -> Result<(Loaded, IstiodSettings, Origin), Error> {
    let mesh = Mesh::whole(settings, needs, progress, |_| Breadth::Everything)?;
    let istiod = bottled::acting(istiod, &mesh.facts);
    Ok((mesh.loaded, istiod, mesh.origin))
}

/// A mesh whose proxies come from an istiod that was given everything but the EnvoyFilters: the engine computes their effects
/// patch by patch.
#[cfg(feature = "bottle")]
pub(super) fn fill<'p>(mut mesh: Mesh<'p>, istiod: &IstiodSettings) -> Result<Mesh<'p>, Error> {
    let istiod = &bottled::acting(istiod, &mesh.facts);
    let read = mesh.is_mesh().then(|| read_mesh(&mut mesh, &istiod.revision, false)).transpose()?;
    let documents = mesh.loaded.documents.iter().filter(|document| !bottled::is_filter(document)).cloned().collect();
    let opened = bottled::open(&mesh.settings, istiod, &mesh.loaded, documents, read.is_some())?;
    let bottled = Bottled::of(opened, &istiod.revision, read);
    if let (Some(wanted), Some(found)) = (mesh.settings.istio_version, bottled.release())
        && (wanted.major, wanted.minor) != (found.major, found.minor)
    {
        let message = format!("--istio-version {wanted} is not the release of the istiod, {}", bottled.version);
        let help = Some("leave --istio-version out: istiod says its own release".to_owned());
        return Err(Error::Text { message, help });
    }
    if bottled.targets().is_empty() && !bottled.of_mesh() {
        let message = "no object has a proxy, so there is nothing for istiod to configure".to_owned();
        let help = "give the manifests of the workloads too, with their namespaces labeled istio-injection=enabled";
        return Err(Error::NotFound(Unanswered::new(message, Some(help.to_owned()), &mesh.loaded)));
    }
    let revision = own_revision(&istiod.revision);
    let own = mesh.planes.iter().find(|plane| bottled.of_mesh() && plane.revision.as_ref() == Some(&revision));
    let settings = own.map_or_else(|| mesh.settings.mesh(&mesh.loaded.inventory), |plane| plane.mesh.clone());
    mesh.planes = vec![Plane {
        revision: Some(revision.clone()),
        release: bottled.release().unwrap_or(mesh.settings.release()),
        mesh: MeshSettings { revision: Some(revision), ..settings },
    }];
    mesh.origin = bottled.origin();
    mesh.feed = Feed::Bottled(Box::new(bottled));
    Ok(mesh)
}

/// The proxies of a cluster or a capture to ask an istiod of this revision about; `everywhere`: those of all namespaces, even if
/// one was named. Proxies of other control planes are noted: istiod would answer them too, but they ask another one.
#[cfg(feature = "bottle")]
pub(super) fn read_mesh(mesh: &mut Mesh<'_>, revision: &str, everywhere: bool) -> Result<ReadMesh, Error> {
    let revision = own_revision(revision);
    let home = |target: &&Target| {
        everywhere
            || mesh.only.as_ref().is_none_or(|only| {
                *only == target.namespace || mesh.planes.iter().any(|plane| plane.mesh.root_namespace == *only)
            })
    };
    let own = |target: &Target| mesh.facts.plane(&target.revision).is_none_or(|plane| plane.revision == revision);
    // Whether a pod has a config dump does not matter here.
    let all = targets::targets(&mesh.loaded.inventory);
    let (targets, others): (Vec<Target>, Vec<Target>) = all.into_iter().filter(|one| home(&one)).partition(own);
    let mut nodes = BTreeMap::new();
    if let Feed::Captured(capture, _) = &mesh.feed {
        // The node sent by a proxy contains more than its pod shows.
        let names = capture.dumps.clone();
        capture.each(&names, &mut |pod, dump, _| {
            let proxy = dump.as_ref().and_then(Dump::proxy);
            nodes.extend(proxy.map(|proxy| (pod.to_owned(), Node::of_proxy(proxy, &Common::default().domain))));
            Ok(())
        })?;
    }
    if !others.is_empty() {
        let revisions: BTreeSet<&str> = others.iter().map(|target| target.revision.as_str()).collect();
        let revisions: Vec<&str> = revisions.into_iter().collect();
        let message = format!(
            "{} of other control planes ({}) not asked about: istiod acts as revision {revision}",
            count(others.len(), "proxy is", "proxies are"),
            revisions.join(", "),
        );
        let help = Some("run again with --istiod-revision and the istiod of that control plane".to_owned());
        let (code, severity) = (Code::NoDump, Severity::Error);
        mesh.loaded.problems.push(Problem { code, severity, span: None, message, help });
    }
    Ok(ReadMesh { origin: mesh.origin.clone(), targets, nodes })
}

/// Takes it out of its mesh.
#[cfg(feature = "bottle")]
pub(super) fn taken(mesh: &mut Mesh<'_>) -> Option<Bottled> {
    match std::mem::replace(&mut mesh.feed, Feed::Given) {
        Feed::Bottled(bottled) => Some(*bottled),
        _ => None,
    }
}
