//! Writes JSON as YAML that every reader of YAML 1.1 and 1.2 reads the same way.

use crate::load::yaml_text;
use std::io::{self, Write};

/// Writes a JSON text as YAML.
pub(crate) fn write(out: &mut dyn Write, json: &[u8]) -> io::Result<()> {
    let value: serde_json::Value = serde_json::from_slice(json)?;
    let text = yaml_text::write_report(&value).map_err(io::Error::other)?;
    out.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::yaml;
    use crate::source::FileId;

    #[test]
    fn is_read_back_as_it_was() {
        let long = "x y ".repeat(60);
        let json = serde_json::json!({
            "words": ["y", "on", "No", "null", "~", "0o7", "1_000", "1.5", "", " x ", "a: b", "# c", "-", "*a", "12:30", "2026-01-31"],
            "numbers": [0, -1, 1.5, 9_007_199_254_740_993_i64],
            "text": "line\n  indented\n\ttab\n", "ends": "no newline\nat the end", "long": long, "trailing": "a \nb\n\n",
            "empty": [{}, [], "", null], "on": true, "": 1, "a.b/c: d": {"@type": "t"}, "quote\"": "'", "outbound|80||x": 1,
        });
        let mut out = Vec::new();
        write(&mut out, json.to_string().as_bytes()).unwrap();
        let text = String::from_utf8(out).unwrap();
        let (documents, problems) = yaml::documents(FileId(0), &text);
        assert!(problems.is_empty(), "{problems:?}\n{text}");
        assert_eq!(documents[0].to_json(), json, "{text}");
    }

    #[test]
    fn names_of_several_lines_are_one_line_and_code_is_a_block() {
        let name = "x\n::error file=a.yaml::INJECTED\n\n  y: 1\r\n";
        let json = serde_json::json!({
            "items": [{"name": name, name: [name, {"of": name}]}],
            "inline_string": "local a = 1\n  return a\n",
        });
        let mut out = Vec::new();
        write(&mut out, json.to_string().as_bytes()).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("inline_string: |\n"), "{text}");
        assert!(!text.lines().any(|line| line.trim_start().starts_with("::")), "{text}");
        // Five names in four lines, two of keys; the code in its own.
        assert_eq!(text.lines().count(), 8, "{text}");
        assert_eq!(yaml::documents(FileId(0), &text).0[0].to_json(), json, "{text}");
    }
}
