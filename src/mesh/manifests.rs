//! A mesh of files, with the proxies that an istiod on this machine makes of it where one is named.

use super::Error;
#[cfg(feature = "bottle")]
use super::Unanswered;
#[cfg(feature = "bottle")]
use super::bottled::{self, Bottled, own_revision};
use super::error::Refusal;
#[cfg(feature = "bottle")]
use super::planes::Plane;
use super::proxies::Given;
#[cfg(feature = "bottle")]
use super::read::Feed;
use super::read::Mesh;
#[cfg(feature = "bottle")]
use super::settings::IstiodSettings;
use super::settings::{Progress, Settings};
#[cfg(feature = "bottle")]
use crate::engine::MeshSettings;
use crate::load::Loaded;

/// Objects of files, and their proxies from an istiod on this machine where the settings name one and the request gives no
/// config dump.
pub(super) fn mesh<'p>(
    settings: &Settings,
    loaded: Loaded,
    given: &Given,
    progress: &'p dyn Progress,
) -> Result<Mesh<'p>, Error> {
    if given.any() && settings.istiod.as_ref().is_some_and(|istiod| istiod.named) {
        return Err(Refusal::IstiodNeedsManifests.into());
    }
    let mesh = Mesh::of_files(settings, loaded, progress);
    #[cfg(feature = "bottle")]
    if let Some(istiod) = settings.istiod.as_ref().filter(|_| !given.any()) {
        return fill(mesh, istiod);
    }
    #[cfg(not(feature = "bottle"))]
    let _ = given;
    Ok(mesh)
}

/// A mesh of files whose proxies come from an istiod that was shown everything but the EnvoyFilters: what these do is
/// for the engine to tell, patch by patch.
#[cfg(feature = "bottle")]
pub(super) fn fill<'p>(mut mesh: Mesh<'p>, istiod: &IstiodSettings) -> Result<Mesh<'p>, Error> {
    let documents = mesh.loaded.documents.iter().filter(|document| !bottled::is_filter(document)).cloned().collect();
    let opened = bottled::open(&mesh.settings, istiod, &mesh.loaded, documents)?;
    let bottled = Bottled::of(opened, &istiod.revision);
    if let (Some(wanted), Some(found)) = (mesh.settings.istio_version, bottled.release())
        && (wanted.major, wanted.minor) != (found.major, found.minor)
    {
        let message = format!("--istio-version {wanted} is not the release of the istiod, {}", bottled.version);
        let help = Some("leave --istio-version out: istiod says its own release".to_owned());
        return Err(Error::Text { message, help });
    }
    if bottled.targets().is_empty() {
        let message = "no object has a proxy, so istiod has nobody to configure".to_owned();
        let help = "give the manifests of the workloads too, with their namespaces labeled istio-injection=enabled";
        return Err(Error::NotFound(Unanswered::new(message, Some(help.to_owned()), &mesh.loaded)));
    }
    mesh.planes = vec![Plane {
        revision: Some(own_revision(&istiod.revision)),
        release: bottled.release().unwrap_or(mesh.settings.release()),
        mesh: MeshSettings {
            revision: Some(own_revision(&istiod.revision)),
            ..mesh.settings.mesh(&mesh.loaded.inventory)
        },
    }];
    mesh.origin = bottled.origin();
    mesh.feed = Feed::Bottled(Box::new(bottled));
    Ok(mesh)
}

/// Takes it out of a mesh that it was put into.
#[cfg(feature = "bottle")]
pub(super) fn taken(mesh: &mut Mesh<'_>) -> Option<Bottled> {
    match std::mem::replace(&mut mesh.feed, Feed::Given) {
        Feed::Bottled(bottled) => Some(*bottled),
        _ => None,
    }
}
