//! The only module that writes output: text for people, JSON for programs, diffs. Everything goes to an `impl Write`.

pub(crate) mod api;
pub(crate) mod audit;
#[cfg(feature = "sandbox")]
pub(crate) mod behaviour;
pub mod between;
pub mod changes;
pub use crate::study::dump;
pub mod explain;
pub(crate) mod field;
pub(crate) mod findings;
mod html;
pub mod junit;
pub mod markdown;
pub mod migrate;
pub(crate) mod policy_report;
pub(crate) mod problem;
pub(crate) mod rules;
pub(crate) mod scope;
pub(crate) mod screen;
pub(crate) mod status;
pub mod style;
pub(crate) mod table;
#[cfg(feature = "cli")]
pub(crate) mod template;
pub(crate) mod unified;
mod verdict;
pub mod watch;
pub mod yaml;

use crate::explain::Lenders;
use crate::mesh::Scope;
use serde::{Serialize, Serializer};
use std::io::{self, BufWriter, Write};

/// Writes a value as indented JSON with a final newline.
pub(crate) fn json(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    // Serialization writes each token by itself, and every write has its price.
    let mut buffer = BufWriter::new(out);
    serde_json::to_writer_pretty(&mut buffer, value)?;
    buffer.write_all(b"\n")?;
    buffer.flush()
}

/// A list in JSON whose items are made one after the other, as they are written: a report is never in memory as a whole.
struct Listed<F>(F);

impl<F, I> Serialize for Listed<F>
where
    F: Fn() -> I,
    I: IntoIterator<Item: Serialize>,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

/// What a report omits when an annotation adds a service to a waypoint but no dump contains the service's cluster.
pub(crate) fn missing_service(host: &str, lenders: Lenders) -> String {
    let advice = lenders.advice().map(|advice| format!("; {advice}")).unwrap_or_default();
    format!(
        "{} adds outbound clusters for {host}, which no config dump here contains: they are left out{advice}",
        crate::engine::REFERENCED_SERVICES
    )
}

/// What a report omits when a patched listener requests a route configuration that the dump does not contain.
pub(crate) fn missing_routes(name: &str) -> String {
    format!(
        "a patched listener requests route configuration {name}, which the config dump does not contain: what istiod \
         generates for it is left out"
    )
}

/// Notes on standard error about omissions; see [`missing_service`].
pub(crate) fn missing_services(err: &mut dyn Write, hosts: &[String], lenders: Lenders) -> io::Result<()> {
    hosts.iter().try_for_each(|host| writeln!(err, "note: {}", missing_service(host, lenders)))
}

/// Writes a result as indented JSON with its scope as the last field.
pub(crate) fn scoped(out: &mut dyn Write, answer: &impl Serialize, scope: &Scope) -> io::Result<()> {
    #[derive(Serialize)]
    struct Scoped<'s, T> {
        #[serde(flatten)]
        answer: &'s T,
        scope: &'s Scope,
    }
    json(out, &Scoped { answer, scope })
}
