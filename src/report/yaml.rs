//! JSON as YAML that every reader of YAML 1.1 and 1.2 takes the same.

use std::io::{self, Write};

/// Writes a JSON text as YAML.
pub fn write(out: &mut dyn Write, json: &[u8]) -> io::Result<()> {
    let value: serde_json::Value = serde_json::from_slice(json)?;
    let text = serde_saphyr::to_string(&value).map_err(io::Error::other)?;
    out.write_all(text.as_bytes())?;
    if text.ends_with('\n') { Ok(()) } else { out.write_all(b"\n") }
}
