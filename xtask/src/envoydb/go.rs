//! Reads serialized file descriptors from generated Go code.
//!
//! A `*.pb.go` contains the descriptor of its proto file, including custom options, as a literal behind a name that
//! ends in `_rawDesc`: a concatenation of strings in new files, a list of bytes in those from before protoc-gen-go
//! 1.36.6. Reading the literal gives the same bytes as compiling and running the package.

use std::{fs, path::Path};

use prost::Message;

use super::{Files, Header, Result};

/// Adds the descriptors of all Go files under a folder. Fails if one cannot be read.
pub(super) fn descriptors(folder: &Path, into: &mut Files) -> Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<std::result::Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            descriptors(&path, into)?;
        } else if path.to_string_lossy().ends_with(".pb.go") {
            let source = fs::read_to_string(&path)?;
            for literal in source.lines().filter_map(|line| raw_descriptor(&source, line)) {
                let bytes = literal_bytes(literal).ok_or_else(|| format!("{}: odd literal", path.display()))?;
                let name = Header::decode(bytes.as_slice())?.name;
                into.entry(name).or_insert(bytes);
            }
        }
    }
    Ok(())
}

/// The source starting with the literal, if this line declares a raw descriptor at top level.
fn raw_descriptor<'a>(source: &'a str, line: &'a str) -> Option<&'a str> {
    let declaration = line.strip_prefix("const ").or_else(|| line.strip_prefix("var "))?;
    let at = declaration.find("_rawDesc = ")? + "_rawDesc = ".len();
    let literal = &declaration[at..];
    let offset = literal.as_ptr() as usize - source.as_ptr() as usize;
    source.get(offset..)
}

/// The bytes of a Go expression: string literals joined by `+`, `[]byte{0x0a, ...}` or `string([]byte{...})`.
fn literal_bytes(expression: &str) -> Option<Vec<u8>> {
    let list = expression.strip_prefix("string(").unwrap_or(expression).strip_prefix("[]byte{");
    if let Some(list) = list {
        let items = list.split_once('}')?.0.split(',').map(str::trim).filter(|item| !item.is_empty());
        return items.map(|item| u8::from_str_radix(item.strip_prefix("0x")?, 16).ok()).collect();
    }
    let mut rest = expression;
    let mut bytes = Vec::new();
    loop {
        rest = string_literal(rest.trim_start().strip_prefix('"')?, &mut bytes)?;
        match rest.trim_start_matches(' ').strip_prefix('+') {
            Some(next) => rest = next,
            None => return Some(bytes),
        }
    }
}

/// Reads an interpreted string literal after its opening quote and returns what follows it.
fn string_literal<'a>(mut rest: &'a str, into: &mut Vec<u8>) -> Option<&'a str> {
    loop {
        let plain = rest.find(['"', '\\'])?;
        into.extend_from_slice(&rest.as_bytes()[..plain]);
        let escape = rest[plain..].strip_prefix('\\');
        let Some(escape) = escape else { return rest.get(plain + 1..) };
        let kind = escape.chars().next()?;
        rest = &escape[kind.len_utf8()..];
        let mut digits = |count: usize, radix| {
            let value = u32::from_str_radix(rest.get(..count)?, radix).ok();
            rest = &rest[count..];
            value
        };
        match kind {
            'a' => into.push(7),
            'b' => into.push(8),
            'f' => into.push(12),
            'n' => into.push(b'\n'),
            'r' => into.push(b'\r'),
            't' => into.push(b'\t'),
            'v' => into.push(11),
            '\\' | '"' => into.push(kind as u8),
            'x' => into.push(u8::try_from(digits(2, 16)?).ok()?),
            'u' => into.extend_from_slice(char::from_u32(digits(4, 16)?)?.to_string().as_bytes()),
            'U' => into.extend_from_slice(char::from_u32(digits(8, 16)?)?.to_string().as_bytes()),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn string_literals_are_joined_and_unescaped() {
        let source = "\"\" +\n\t\"\\n\\x1a\\\"\\\\é\" +\n\t\"\\u00e9\\a\"\n\nvar other = \"no\"";
        assert_eq!(literal_bytes(source).unwrap(), b"\n\x1a\"\\\xc3\xa9\xc3\xa9\x07");
    }

    #[test]
    fn byte_lists_are_read_in_both_forms() {
        assert_eq!(literal_bytes("[]byte{\n\t0x0a, 0xff,\n\t0x00,\n}\n").unwrap(), [0x0a, 0xff, 0]);
        assert_eq!(literal_bytes("string([]byte{\n\t0x0a, 0xff,\n})\n").unwrap(), [0x0a, 0xff]);
    }

    #[test]
    fn anything_else_is_refused() {
        for source in ["", "\"open", "\"\\q\"", "\"a\" + b", "[]byte{10}", "[]byte{0x0a", "\"\\x4\""] {
            assert_eq!(literal_bytes(source), None, "{source}");
        }
    }

    #[test]
    fn only_top_level_declarations_count() {
        let found = |source: &'static str| source.lines().find_map(|line| raw_descriptor(source, line));
        assert_eq!(found("package x\n\nconst file_a_proto_rawDesc = \"\" +\n\t\"a\"\n"), Some("\"\" +\n\t\"a\"\n"));
        assert_eq!(found("var file_a_proto_rawDesc = []byte{}\n"), Some("[]byte{}\n"));
        assert_eq!(found("\tx := file_a_proto_rawDesc = 1\n"), None);
        assert_eq!(found("var file_a_proto_rawDescData = file_a_proto_rawDesc\n"), None);
    }
}
