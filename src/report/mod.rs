//! The only part that writes: text for people, JSON for programs, diffs. Everything goes to an `impl Write`.

pub mod api;
pub mod audit;
pub mod dump;
pub mod explain;
pub mod field;
pub mod findings;
pub mod policy_report;
pub mod problem;
pub mod rules;
pub mod style;
pub mod table;
pub mod unified;
pub mod yaml;

use serde::Serialize;
use std::io::{self, Write};

/// Writes a value as indented JSON with a final newline.
pub fn json(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    out.write_all(b"\n")
}
