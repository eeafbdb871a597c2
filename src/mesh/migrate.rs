//! `migrate`: the native objects that replace EnvoyFilters, and the basis of their classes.

use super::newest::{self, Revived};
use super::proxies::{Given, Taken};
use super::read::{Feed, Mesh, objects_and_policies};
use super::scope::Scope;
use super::settings::{Breadth, Progress, Settings};
use super::{Error, manifests};
#[cfg(feature = "bottle")]
use super::{bottled, prove};
use crate::cluster::kinds;
#[cfg(feature = "bottle")]
use crate::engine::MeshSettings;
use crate::load::{Loaded, yaml_edit};
use crate::migrate::{self, Accept, Report, Request};
use crate::model::release::Release;
use crate::source::Span;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The request of `migrate`.
#[derive(Clone, Debug)]
pub(crate) struct MigrateRequest {
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
pub(crate) enum Prove {
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
pub(crate) struct MigrateReport {
    /// Texts, objects and the loader's problems.
    pub loaded: Loaded,
    /// The migration.
    pub report: Report,
    /// What was read.
    pub scope: Scope,
}

/// Finds the native objects. Fails when nothing can be read, or when the release is unknown.
pub(crate) fn migrate(request: &MigrateRequest, progress: &dyn Progress) -> Result<MigrateReport, Error> {
    let mut mesh = if request.files.is_empty() {
        open(request, progress)?
    } else {
        manifests::only_files(&request.settings)?;
        let loaded = objects_and_policies(&request.settings.load_options(), &request.files);
        Mesh::of_files(&request.settings, loaded, progress)
    };
    #[cfg(feature = "bottle")]
    let shown = if request.prove == Prove::Recorded { None } else { Some(shown(request, &mut mesh)?) };
    #[cfg(not(feature = "bottle"))]
    if request.prove != Prove::Recorded {
        return Err(Error::Text { message: "this build cannot run an istiod".to_owned(), help: None });
    }
    let release = mesh.planes.first().map_or_else(|| request.settings.release(), |plane| plane.release);
    let to = request.to.unwrap_or(release);
    let settings = request.settings.mesh(&mesh.loaded.inventory);
    let revived = Revived::replace(&mut mesh.loaded, to, &settings, request.accept);
    let plane = mesh.planes.first();
    let root = plane.map_or_else(|| mesh.loaded.inventory.root_namespace(), |plane| &plane.mesh.root_namespace);
    let what = Request {
        inventory: &mesh.loaded.inventory,
        root,
        to,
        accept: request.accept,
        asked: mesh.asked.clone(),
        unread: unread(&mesh, request.prove != Prove::Recorded),
        ambient: request.ambient,
        doubts: BTreeMap::new(),
        revived: revived.patches.clone(),
    };
    let recorded = || migrate::migrate(&what).map_err(|error| Error::Text { message: error.to_string(), help: None });
    #[cfg(feature = "bottle")]
    let mut report = match &shown {
        None => recorded()?,
        Some(shown) => {
            let envoy = request.envoy.as_deref().filter(|_| request.prove == Prove::Traffic);
            let (mut report, proofs, version) =
                prove::prove(&mesh.settings, shown, envoy, &mesh.loaded, &what, progress)?;
            report.proofs = proofs;
            report.proven_by = Some(version);
            report
        }
    };
    #[cfg(not(feature = "bottle"))]
    let mut report = recorded()?;
    report.listed = mesh.lists(kinds::ENVOY_FILTER);
    newest::rewrite(&mut report, &mesh.loaded, &settings, request.accept, &revived);
    revived.restore(&mut mesh.loaded);
    for edited in &mut report.draft.edited {
        let text = mesh.loaded.sources.get(edited.span.file).text.as_str();
        let own = with_comments(text, edited.span);
        edited.commented = !own.trim_start().starts_with('{') && own.lines().any(has_comment);
        edited.text = edited.commented.then(|| yaml_edit::edited(own, &edited.after)).flatten();
    }
    let scope = mesh.scope(&Given::default(), &Taken::default(), report.filters.len());
    Ok(MigrateReport { report, scope, loaded: mesh.loaded })
}

/// The text of a document with the comment lines above it and the rest of its last line.
fn with_comments(text: &str, span: Span) -> &str {
    let (start, end) = (span.start as usize, span.end as usize);
    let own = text.get(start..end).unwrap_or_default();
    let line_of = |at: usize| text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let mut from = line_of(start);
    if !text.get(from..start).is_some_and(|before| before.trim().is_empty()) {
        return own;
    }
    while from > 0 {
        let above = line_of(from - 1);
        let line = text.get(above..from).unwrap_or_default().trim();
        if !(line.is_empty() || line.starts_with('#')) {
            break;
        }
        from = above;
    }
    let below = text.get(end..).map_or(end, |below| end + below.find('\n').map_or(below.len(), |at| at + 1));
    text.get(from..below).unwrap_or(own)
}

/// Whether a line of YAML may have a comment.
fn has_comment(line: &str) -> bool {
    line.trim_start().starts_with('#') || line.contains(" #")
}

/// Reads the capture or the cluster; everything that an istiod reads if it proves the classes.
fn open<'p>(request: &MigrateRequest, progress: &'p dyn Progress) -> Result<Mesh<'p>, Error> {
    #[cfg(feature = "bottle")]
    if request.prove != Prove::Recorded {
        return Mesh::whole(&request.settings, &kinds::MIGRATE, progress, |_| Breadth::Namespace);
    }
    Mesh::open(&request.settings, &kinds::MIGRATE, progress, |_| Breadth::Namespace)
}

/// What istiod gets to judge the migration.
#[cfg(feature = "bottle")]
fn shown(request: &MigrateRequest, mesh: &mut Mesh<'_>) -> Result<prove::Shown, Error> {
    let wrong = |message: &str, help: &str| Error::Text { message: message.to_owned(), help: Some(help.to_owned()) };
    if request.ambient {
        return Err(wrong(
            "--to ambient is not proven: sidecars and waypoints are different proxies",
            "leave out --prove",
        ));
    }
    let Some(istiod) = &mesh.settings.istiod else {
        return Err(wrong("--prove istiod and --prove traffic need an istiod", "name its binary with --istiod PATH"));
    };
    let istiod = bottled::acting(istiod, &mesh.facts);
    let revision = bottled::own_revision(&istiod.revision);
    // Proxies changed beyond the filters' selection may be in any namespace.
    let read = mesh.is_mesh().then(|| manifests::read_mesh(mesh, &istiod.revision, true)).transpose()?;
    let own = mesh.planes.iter().find(|plane| read.is_some() && plane.revision.as_ref() == Some(&revision));
    let settings = own.map_or_else(|| mesh.settings.mesh(&mesh.loaded.inventory), |plane| plane.mesh.clone());
    Ok(prove::Shown { istiod, mesh: MeshSettings { revision: Some(revision), ..settings }, read })
}

/// The kinds whose objects guards look for but may not see, with what was not read.
fn unread(mesh: &Mesh<'_>, everywhere: bool) -> BTreeMap<&'static str, String> {
    let mut unread = BTreeMap::new();
    for kind in kinds::MIGRATE.kinds.iter().filter(|kind| **kind != kinds::ENVOY_FILTER) {
        let refused = mesh.unlisted.iter().find(|(one, _)| one == kind);
        // Objects of other namespaces and the root namespace may apply too.
        let elsewhere = mesh
            .only
            .as_ref()
            .filter(|_| !everywhere)
            .filter(|only| mesh.planes.iter().all(|it| it.mesh.root_namespace != **only));
        let captured = !matches!(mesh.feed, Feed::Captured(ref capture, _)
            if !super::unread::holds(capture, kind));
        let what = match (refused, elsewhere) {
            _ if !captured => format!("the capture contains no {} objects", kind.kind),
            (Some((_, Some(namespace))), _) => {
                format!("{} objects of namespace {namespace} could not be read", kind.kind)
            }
            (Some((_, None)), _) => format!("{} objects could not all be read", kind.kind),
            // In a capture of all namespaces, the given one only selects filters.
            (None, Some(_)) if matches!(mesh.feed, Feed::Captured(..)) && mesh.captured_namespace().is_none() => {
                continue;
            }
            (None, Some(only)) if kind.namespaced => {
                format!("only {} objects of namespace {only} were read", kind.kind)
            }
            _ => continue,
        };
        unread.insert(if *kind == kinds::KUBE_GATEWAY { "KubeGateway" } else { kind.kind }, what);
    }
    unread
}
