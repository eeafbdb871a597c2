//! `migrate`: the native objects that replace EnvoyFilters, and the basis of their classes.

#[cfg(feature = "bottle")]
use super::prove;
use super::proxies::{Given, Taken};
use super::read::{Feed, Mesh, objects};
use super::scope::Scope;
use super::settings::{Breadth, Progress, Settings};
use super::{Error, newest};
use crate::cluster::kinds;
use crate::load::Loaded;
use crate::migrate::{self, Accept, Report, Request};
use crate::model::release::Release;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The request of `migrate`.
#[derive(Clone, Debug)]
pub struct MigrateRequest {
    /// The mesh.
    pub settings: Settings,
    /// EnvoyFilters and related objects; by default those of a cluster or a capture.
    pub files: Vec<PathBuf>,
    /// The release whose APIs may be used; by default that of the control plane.
    pub to: Option<Release>,
    /// Whether the workloads move to ambient mode.
    pub ambient: bool,
    /// An Envoy binary, to prove classes by requests.
    pub envoy: Option<PathBuf>,
    /// The weakest class to write.
    pub accept: Accept,
    /// Where the classes come from.
    pub prove: Prove,
}

/// Where the classes of a migration come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prove {
    /// Recordings of istiod for each pattern.
    #[default]
    Recorded,
    /// An istiod that is run on the user's own objects.
    Istiod,
    /// The same, and requests through a real Envoy with both configurations.
    Traffic,
}

/// A migration and its basis.
#[derive(Debug)]
pub struct MigrateReport {
    /// Texts, objects and the loader's problems.
    pub loaded: Loaded,
    /// The migration.
    pub report: Report,
    /// What was read.
    pub scope: Scope,
}

/// Finds the native objects. Fails when nothing can be read, or when the release is unknown.
pub fn migrate(request: &MigrateRequest, progress: &dyn Progress) -> Result<MigrateReport, Error> {
    let mesh = if request.files.is_empty() {
        Mesh::open(&request.settings, &kinds::MIGRATE, progress, |_| Breadth::Namespace)?
    } else {
        let loaded = objects(&request.settings.load_options(), &request.files, false);
        Mesh::of_files(&request.settings, loaded, progress)
    };
    let plane = mesh.planes.first();
    let root = plane.map_or_else(|| mesh.loaded.inventory.root_namespace(), |plane| &plane.mesh.root_namespace);
    let release = plane.map_or_else(|| request.settings.release(), |plane| plane.release);
    let what = Request {
        inventory: &mesh.loaded.inventory,
        root,
        to: request.to.unwrap_or(release),
        accept: request.accept,
        asked: mesh.asked.clone(),
        unread: unread(&mesh),
        ambient: request.ambient,
        doubts: BTreeMap::new(),
    };
    let mut report = match request.prove {
        Prove::Recorded => {
            migrate::migrate(&what).map_err(|error| Error::Text { message: error.to_string(), help: None })?
        }
        Prove::Istiod => proven(&mesh, &what, None, progress)?,
        Prove::Traffic => proven(&mesh, &what, request.envoy.as_deref(), progress)?,
    };
    let settings = request.settings.mesh(&mesh.loaded.inventory);
    newest::rewrite(&mut report, &mesh.loaded, &settings, request.accept);
    let scope = mesh.scope(&Given::default(), &Taken::default(), report.filters.len());
    Ok(MigrateReport { report, scope, loaded: mesh.loaded })
}

/// Computes the classes with an istiod.
#[cfg(feature = "bottle")]
fn proven(mesh: &Mesh<'_>, what: &Request<'_>, envoy: Option<&Path>, progress: &dyn Progress) -> Result<Report, Error> {
    if what.ambient {
        return Err(Error::Text {
            message: "--to ambient is not proven: sidecars and waypoints are different proxies".to_owned(),
            help: Some("leave out --prove".to_owned()),
        });
    }
    let settings = &mesh.settings;
    let wrong = |message: &str, help: &str| Error::Text { message: message.to_owned(), help: Some(help.to_owned()) };
    if !matches!(mesh.feed, Feed::Given) {
        return Err(wrong(
            "--prove istiod and --prove traffic work on manifests",
            "give the filters and the manifests of the mesh as files",
        ));
    }
    let Some(istiod) = &settings.istiod else {
        return Err(wrong("--prove istiod and --prove traffic need an istiod", "name its binary with --istiod PATH"));
    };
    let (mut report, proofs, version) = prove::prove(settings, istiod, envoy, &mesh.loaded, what, progress)?;
    report.proofs = proofs;
    report.proven_by = Some(version);
    Ok(report)
}

#[cfg(not(feature = "bottle"))]
fn proven(_: &Mesh<'_>, _: &Request<'_>, _: Option<&Path>, _: &dyn Progress) -> Result<Report, Error> {
    Err(Error::Text { message: "this build cannot run an istiod".to_owned(), help: None })
}

/// The kinds whose objects guards look for but may not see, with what was not read.
fn unread(mesh: &Mesh<'_>) -> BTreeMap<&'static str, String> {
    let mut unread = BTreeMap::new();
    for kind in kinds::MIGRATE.kinds.iter().filter(|kind| **kind != kinds::ENVOY_FILTER) {
        let refused = mesh.unlisted.iter().find(|(one, _)| one == kind);
        // Objects of other namespaces and the root namespace may apply too.
        let elsewhere = mesh.only.as_ref().filter(|only| mesh.planes.iter().all(|it| it.mesh.root_namespace != **only));
        let captured = !matches!(mesh.feed, Feed::Captured(ref capture, _)
            if !super::unread::holds(capture, kind));
        let what = match (refused, elsewhere) {
            _ if !captured => format!("the capture contains no {} objects", kind.kind),
            (Some((_, Some(namespace))), _) => {
                format!("{} objects of namespace {namespace} could not be read", kind.kind)
            }
            (Some((_, None)), _) => format!("{} objects could not all be read", kind.kind),
            // A capture contains all namespaces; the given one only selects filters.
            (None, Some(_)) if matches!(mesh.feed, Feed::Captured(..)) => continue,
            (None, Some(only)) if kind.namespaced => {
                format!("only {} objects of namespace {only} were read", kind.kind)
            }
            _ => continue,
        };
        unread.insert(if *kind == kinds::KUBE_GATEWAY { "KubeGateway" } else { kind.kind }, what);
    }
    unread
}
