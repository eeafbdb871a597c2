//! Writes values as YAML that every reader of YAML 1.1 and 1.2 reads the same way.

use crate::source::ErrorMessage;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;
use serde_saphyr::{LitStr, SerializerOptions};

/// Writes a value as YAML, with a newline at the end. Fails when the value cannot be written.
pub fn write(value: &Value) -> Result<String, ErrorMessage> {
    with(value, true)
}

/// The same for a report: a name of several lines becomes one quoted line; only code is written as a block of lines.
pub(crate) fn write_report(value: &Value) -> Result<String, ErrorMessage> {
    with(&Shown { value, code: false }, false)
}

fn with(value: &impl Serialize, blocks: bool) -> Result<String, ErrorMessage> {
    // Folded lines are harder to search and to compare than long ones.
    let mut options = SerializerOptions::default();
    options.min_fold_chars = usize::MAX;
    options.folded_wrap_chars = usize::MAX;
    options.prefer_block_scalars = blocks;
    let mut text = serde_saphyr::to_string_with_options(value, options).map_err(|error| error.to_string())?;
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}

/// Fields whose texts are code (`DataSource`, `Lua.inline_code`, Istio's `TrafficExtension`).
const CODE: [&str; 4] = ["inline_string", "inline_code", "inlineString", "inlineCode"];

/// A value of a report.
struct Shown<'v> {
    value: &'v Value,
    /// Whether a text is code.
    code: bool,
}

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.value {
            Value::Object(map) => {
                let mut entries = serializer.serialize_map(Some(map.len()))?;
                for (key, value) in map {
                    entries.serialize_entry(key, &Shown { value, code: CODE.contains(&key.as_str()) })?;
                }
                entries.end()
            }
            Value::Array(items) => serializer.collect_seq(items.iter().map(|value| Shown { value, code: false })),
            Value::String(text) if self.code && text.contains('\n') => LitStr(text).serialize(serializer),
            other => other.serialize(serializer),
        }
    }
}
