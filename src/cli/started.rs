//! Commands that start an istiod themselves: its start, and what is said about it.

use super::istiod::IstiodOptions;
use super::session::{Exit, Session};
use crate::bottle::stand_ins::Added;
use crate::bottle::{Fault, Opened};
use crate::cluster::kinds::Needs;
use crate::load::{self, Loaded};
use crate::mesh::{self, Error, Origin, Settings, bottled};
use crate::report::style::Role;
use crate::source::Severity;
use crate::words::count;
use std::path::PathBuf;

/// An istiod that has read the objects of a command.
pub(super) struct Started {
    /// The istiod.
    pub(super) opened: Opened,
    /// The objects as they were read.
    pub(super) loaded: Loaded,
    /// Whether something serious could not be read.
    pub(super) partial: bool,
    /// The istiod, and the cluster or the capture that has the objects.
    pub(super) origin: Origin,
}

/// Starts istiod with the objects of these files or, without files, of the capture or the cluster. Reports what could not
/// be read.
pub(super) fn open(
    options: &IstiodOptions,
    session: &mut Session<'_>,
    files: &[PathBuf],
    needs: &Needs,
) -> Result<Started, Error> {
    let istiod = options.required();
    let settings = Settings { istiod: Some(istiod.clone()), ..session.settings() };
    let (mut loaded, istiod, of) = if files.is_empty() {
        let (loaded, istiod, origin) = mesh::read_for_istiod(&settings, &istiod, needs, session.progress)?;
        (loaded, istiod, Some(origin))
    } else {
        mesh::only_files(&settings)?;
        (load::read(files, &settings.load_options()), istiod, None)
    };
    let documents = std::mem::take(&mut loaded.documents);
    let partial = tell(session, &loaded)?;
    let opened = bottled::open(&settings, &istiod, &loaded, documents, files.is_empty())?;
    summary(session, &opened)?;
    let origin = bottled::origin(&opened, of);
    Ok(Started { opened, loaded, partial, origin })
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
