//! The options that name an istiod to run on this machine, and its start.

use super::session::{Exit, Session};
use crate::bottle::stand_ins::Added;
use crate::bottle::{Fault, Opened};
use crate::cluster::kinds::Needs;
use crate::load::{self, Loaded};
use crate::mesh::{self, Error, IstiodSettings, Settings, bottled};
use crate::process::is_default;
use crate::report::style::Role;
use crate::source::Severity;
use crate::words::count;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Default, Args)]
pub(super) struct IstiodOptions {
    /// istiod binary (pilot-discovery) to run on this machine against the objects, or its name on the PATH: proxies get the
    /// configuration that it generates
    #[arg(long, value_name = "PATH", env = "ENVOYFILTER_ISTIOD", hide_env_values = true, help_heading = "istiod")]
    pub(super) istiod: Option<PathBuf>,
    /// SHA-256 digest that the istiod binary must have
    #[arg(long, value_name = "DIGEST", help_heading = "istiod")]
    istiod_sha256: Option<String>,
    /// Setting of istiod, over those of its Deployment among the objects; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting, help_heading = "istiod")]
    istiod_env: Vec<(String, String)>,
    /// Revision that istiod acts as [default: the default revision]
    #[arg(long, value_name = "REVISION", help_heading = "istiod")]
    istiod_revision: Option<String>,
    /// Cluster ID that istiod and its proxies have [default: Kubernetes]
    #[arg(long, value_name = "ID", help_heading = "istiod")]
    cluster_id: Option<String>,
    /// Seconds until istiod must be ready [default: 60]
    #[arg(long, value_name = "SECONDS", help_heading = "istiod")]
    istiod_timeout: Option<u64>,
    /// Memory that istiod may use, in MB [default: 4000]
    #[arg(long, value_name = "MB", help_heading = "istiod")]
    istiod_memory: Option<u64>,
}

fn setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(format!("`{text}` is not a setting: write NAME=VALUE")),
    }
}

impl IstiodOptions {
    /// The same as plain data, if an istiod is named.
    pub(super) fn settings(&self) -> Option<IstiodSettings> {
        self.istiod.is_some().then(|| self.required())
    }

    /// The same for commands that require one: without a name, the one on the `PATH`.
    pub(super) fn required(&self) -> IstiodSettings {
        IstiodSettings {
            path: self.istiod.clone().unwrap_or_default(),
            sha256: self.istiod_sha256.clone(),
            environment: self.istiod_env.iter().cloned().collect(),
            revision: self.istiod_revision.clone().unwrap_or_default(),
            cluster_id: self.cluster_id.clone(),
            ready: self.istiod_timeout.map(Duration::from_secs),
            memory: self.istiod_memory.map(|megabytes| megabytes.saturating_mul(1_000_000)),
            // clap does not distinguish an option from its environment variable.
            named: self.istiod.as_deref().is_some_and(|path| !is_default("ENVOYFILTER_ISTIOD", path)),
        }
    }

    /// The settings of a mesh with this istiod.
    pub(super) fn of(&self, session: &Session<'_>) -> Settings {
        Settings { istiod: self.settings(), ..session.settings() }
    }

    /// Starts istiod with the objects of these files or, without files, of the capture or the cluster. Reports what could not
    /// be read, and returns whether that was serious.
    pub(super) fn open(
        &self,
        session: &mut Session<'_>,
        files: &[PathBuf],
        needs: &Needs,
    ) -> Result<(Opened, Loaded, bool), Error> {
        let istiod = self.required();
        let settings = Settings { istiod: Some(istiod.clone()), ..session.settings() };
        let (mut loaded, istiod) = if files.is_empty() {
            mesh::read_for_istiod(&settings, &istiod, needs, session.progress)?
        } else {
            (load::read(files, &settings.load_options()), istiod)
        };
        let documents = std::mem::take(&mut loaded.documents);
        let partial = tell(session, &loaded)?;
        let opened = bottled::open(&settings, &istiod, &loaded, documents, files.is_empty())?;
        summary(session, &opened)?;
        Ok((opened, loaded, partial))
    }
}

/// Namespace of objects that do not name one.
pub(super) fn namespace(session: &Session<'_>) -> String {
    session.settings().namespace.unwrap_or_else(|| "default".to_owned())
}

/// Reports what could not be read; returns whether that was serious.
pub(super) fn tell(session: &mut Session<'_>, loaded: &Loaded) -> Result<bool, Error> {
    session.problems(&loaded.sources, &loaded.problems)?;
    Ok(loaded.problems.iter().any(|problem| problem.severity == Severity::Error))
}

/// Reports why istiod gave no answer.
pub(super) fn failed(session: &mut Session<'_>, fault: &Fault) -> Result<Exit, Error> {
    let exit = session.usage(&fault.to_string(), fault.help())?;
    Ok(if fault.is_usage() { exit } else { Exit::Partial })
}

/// With --verbose, reports what istiod read.
fn summary(session: &mut Session<'_>, opened: &Opened) -> Result<(), Error> {
    if !session.verbose() {
        return Ok(());
    }
    let bottle = &opened.bottle;
    let word = session.around.err.paint(Role::Dim, "note");
    let memory = bottle.peak_memory().map_or(String::new(), |bytes| format!(", {} MB", bytes / 1_000_000));
    writeln!(
        session.err,
        "{word}: istiod {} read {} and was ready after {:.2} s{memory}{}",
        bottle.istiod.version,
        count(opened.objects.len(), "object", "objects"),
        bottle.ready_after.as_secs_f64(),
        made_up(&opened.added),
    )?;
    Ok(())
}

/// What was added to the objects, in words.
pub(super) fn made_up(added: &Added) -> String {
    let parts = [
        (added.namespaces, "namespace", "namespaces"),
        (added.pods, "pod", "pods"),
        (added.addresses, "service address", "service addresses"),
        (added.endpoint_slices, "EndpointSlice", "EndpointSlices"),
        (added.services, "gateway Service", "gateway Services"),
        (added.secrets, "Secret", "Secrets"),
    ];
    let parts: Vec<String> = parts.iter().filter(|(n, ..)| *n > 0).map(|(n, one, many)| count(*n, one, many)).collect();
    if parts.is_empty() { String::new() } else { format!("; stand-ins: {}", parts.join(", ")) }
}
