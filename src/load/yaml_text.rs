//! Values as YAML that every reader of YAML 1.1 and 1.2 takes the same.

use serde_saphyr::SerializerOptions;

/// Writes a value as YAML, with a newline at the end. Fails when the value cannot be written.
pub fn write(value: &serde_json::Value) -> Result<String, String> {
    // Folded lines are harder to search and to compare than long ones.
    let mut options = SerializerOptions::default();
    options.min_fold_chars = usize::MAX;
    options.folded_wrap_chars = usize::MAX;
    let mut text = serde_saphyr::to_string_with_options(value, options).map_err(|error| error.to_string())?;
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}
