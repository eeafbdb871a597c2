//! The only part that writes: text for people, JSON for programs, diffs. Everything goes to an `impl Write`.

pub mod api;
pub mod audit;
#[cfg(feature = "sandbox")]
pub mod behaviour;
pub mod between;
pub mod changes;
pub use crate::study::dump;
pub mod explain;
pub mod field;
pub mod findings;
mod html;
pub mod junit;
pub mod migrate;
pub mod policy_report;
pub mod problem;
pub mod rules;
pub mod scope;
pub mod screen;
pub mod status;
pub mod style;
pub mod table;
#[cfg(feature = "cli")]
pub mod template;
pub mod unified;
mod verdict;
pub mod watch;
pub mod yaml;

use crate::mesh::Scope;
use serde::Serialize;
use std::io::{self, Write};

/// Writes a value as indented JSON with a final newline.
pub fn json(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    out.write_all(b"\n")
}

/// What a report leaves out where an annotation adds a service to a waypoint, and no dump holds the service's cluster.
pub fn missing_service(host: &str) -> String {
    format!(
        "{} adds outbound clusters for {host}, which no config dump here contains: they are left out; add the dump of a proxy that has them",
        crate::engine::REFERENCED_SERVICES
    )
}

/// Notes for the standard error about what is left out, see [`missing_service`].
pub fn missing_services(err: &mut dyn Write, hosts: &[String]) -> io::Result<()> {
    hosts.iter().try_for_each(|host| writeln!(err, "note: {}", missing_service(host)))
}

/// Writes an answer as indented JSON with its scope as the last field.
pub fn scoped(out: &mut dyn Write, answer: &impl Serialize, scope: &Scope) -> io::Result<()> {
    #[derive(Serialize)]
    struct Scoped<'s, T> {
        #[serde(flatten)]
        answer: &'s T,
        scope: &'s Scope,
    }
    json(out, &Scoped { answer, scope })
}
