//! `migrate`: the native objects that take over from EnvoyFilters, and what they were judged with.

use super::Error;
use super::proxies::{Given, Taken};
use super::read::{Mesh, objects};
use super::scope::Scope;
use super::settings::{Breadth, Progress, Settings};
use crate::cluster::kinds;
use crate::load::Loaded;
use crate::migrate::{self, Accept, Report, Request};
use crate::model::release::Release;
use std::path::PathBuf;

/// What is migrated.
#[derive(Clone, Debug)]
pub struct MigrateRequest {
    /// The mesh.
    pub settings: Settings,
    /// EnvoyFilters and the objects beside them; a cluster or a capture without.
    pub files: Vec<PathBuf>,
    /// The release whose APIs may be used; that of the control plane without.
    pub to: Option<Release>,
    /// The weakest class that is written.
    pub accept: Accept,
}

/// A migration and what it was made from.
#[derive(Debug)]
pub struct MigrateReport {
    /// Texts, objects and what the loader noticed.
    pub loaded: Loaded,
    /// The migration.
    pub report: Report,
    /// What was looked at.
    pub scope: Scope,
}

/// Finds the native objects. Fails when nothing can be read, or when the release is not known.
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
    let report = migrate::migrate(&Request {
        inventory: &mesh.loaded.inventory,
        root,
        to: request.to.unwrap_or(release),
        accept: request.accept,
        asked: mesh.asked.clone(),
    })
    .map_err(|error| Error::Text { message: error.to_string(), help: None })?;
    let scope = mesh.scope(&Given::default(), &Taken::default(), report.filters.len());
    Ok(MigrateReport { report, scope, loaded: mesh.loaded })
}
