//! Removes options for code generators from a file descriptor; every other byte stays.
//!
//! Working on the serialized form keeps the custom options, which are extensions without code here.

use prost::encoding::{decode_varint, encode_varint};

use super::Result;

/// One field of a serialized message: its number and its bytes, including the key. `content` is the payload of a
/// length-delimited field.
struct Part<'a> {
    number: u64,
    whole: &'a [u8],
    content: Option<&'a [u8]>,
}

/// A serialized `FileDescriptorProto` without options for languages and without default JSON names.
pub(super) fn file(raw: &[u8]) -> Result<Vec<u8>> {
    rewrite(raw, |part, content| match part {
        4 => message(content).map(Some),
        5 => enumeration(content).map(Some),
        7 => field(content).map(Some),
        8 => options(content, |option| !is_for_languages(option)).map(Some),
        _ => Ok(None),
    })
}

/// `DescriptorProto`.
fn message(raw: &[u8]) -> Result<Vec<u8>> {
    rewrite(raw, |part, content| match part {
        2 | 6 => field(content).map(Some),
        3 => message(content).map(Some),
        4 => enumeration(content).map(Some),
        7 => options(content, |_| true).map(Some),
        _ => Ok(None),
    })
}

/// `FieldDescriptorProto`.
fn field(raw: &[u8]) -> Result<Vec<u8>> {
    let name = parts(raw)?.into_iter().find(|part| part.number == 1).and_then(|part| part.content);
    let default = json_name(name.ok_or("a field without a name")?);
    let says_something = |part: &Part| part.number != 10 || part.content != Some(default.as_slice());
    let kept: Vec<u8> =
        parts(raw)?.iter().filter(|part| says_something(part)).flat_map(|part| part.whole).copied().collect();
    rewrite(&kept, |part, content| if part == 8 { options(content, |_| true).map(Some) } else { Ok(None) })
}

/// `EnumDescriptorProto`.
fn enumeration(raw: &[u8]) -> Result<Vec<u8>> {
    rewrite(raw, |part, content| match part {
        2 => rewrite(content, |part, content| if part == 3 { options(content, |_| true).map(Some) } else { Ok(None) })
            .map(Some),
        3 => options(content, |_| true).map(Some),
        _ => Ok(None),
    })
}

/// The wanted options, the standard ones before the extensions: protoc-gen-go has written both orders over the years,
/// and the same file must give the same bytes.
fn options(raw: &[u8], wanted: impl Fn(u64) -> bool) -> Result<Vec<u8>> {
    let mut found = parts(raw)?;
    found.retain(|part| wanted(part.number));
    found.sort_by_key(|part| part.number >= FIRST_EXTENSION);
    Ok(found.iter().flat_map(|part| part.whole).copied().collect())
}

/// `lowerCamelCase`, as protoc makes it.
fn json_name(name: &[u8]) -> Vec<u8> {
    let mut json = Vec::new();
    let mut upper = false;
    for &byte in name {
        if byte != b'_' {
            json.push(if upper { byte.to_ascii_uppercase() } else { byte });
        }
        upper = byte == b'_';
    }
    json
}

/// In options messages, the numbers from here on are reserved for extensions.
const FIRST_EXTENSION: u64 = 1000;

/// Whether a field of `FileOptions` is only for code generators: java_package (1) to ruby_package (45) except
/// `deprecated` (23). Extensions start at 1000.
fn is_for_languages(number: u64) -> bool {
    number <= 45 && number != 23
}

/// Copies a message and replaces the content of those fields for which `change` returns a new one.
fn rewrite(raw: &[u8], change: impl Fn(u64, &[u8]) -> Result<Option<Vec<u8>>>) -> Result<Vec<u8>> {
    let mut out = Vec::with_capacity(raw.len());
    for part in parts(raw)? {
        match part.content.map_or(Ok(None), |content| change(part.number, content))? {
            Some(content) => {
                encode_varint(part.number << 3 | 2, &mut out);
                encode_varint(content.len() as u64, &mut out);
                out.extend(content);
            }
            None => out.extend(part.whole),
        }
    }
    Ok(out)
}

fn parts(raw: &[u8]) -> Result<Vec<Part<'_>>> {
    let mut found = Vec::new();
    let mut rest = raw;
    while !rest.is_empty() {
        let start = rest;
        let key = decode_varint(&mut rest)?;
        let mut content = None;
        let take = |rest: &mut &'_ [u8], count| rest.split_off(..count).map(|_| ()).ok_or("a descriptor ends early");
        match key & 7 {
            0 => _ = decode_varint(&mut rest)?,
            1 => take(&mut rest, 8)?,
            2 => {
                let length = usize::try_from(decode_varint(&mut rest)?)?;
                content = Some(rest.split_off(..length).ok_or("a descriptor ends early")?);
            }
            5 => take(&mut rest, 4)?,
            other => return Err(format!("wire type {other} in a descriptor").into()),
        }
        found.push(Part { number: key >> 3, whole: &start[..start.len() - rest.len()], content });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A field of bytes.
    fn part(number: u8, content: &[u8]) -> Vec<u8> {
        let key = u64::from(number) << 3 | 2;
        let mut out = Vec::new();
        encode_varint(key, &mut out);
        encode_varint(content.len() as u64, &mut out);
        out.extend_from_slice(content);
        out
    }

    #[test]
    fn default_json_names_go_and_others_stay() {
        let default = [part(1, b"stat_prefix"), part(10, b"statPrefix")].concat();
        let custom = [part(1, b"stat_prefix"), part(10, b"prefix")].concat();
        let raw = part(4, &[part(1, b"M"), part(2, &default), part(2, &custom)].concat());
        let cleaned = part(4, &[part(1, b"M"), part(2, &part(1, b"stat_prefix")), part(2, &custom)].concat());
        assert_eq!(file(&raw).unwrap(), cleaned);
    }

    #[test]
    fn nested_messages_are_cleaned_too() {
        let nested = |field: &[u8]| part(4, &part(3, &part(2, field)));
        let raw = nested(&[part(1, b"a_b"), part(10, b"aB")].concat());
        assert_eq!(file(&raw).unwrap(), nested(&part(1, b"a_b")));
    }

    #[test]
    fn language_options_go_and_extensions_stay() {
        // go_package, java_multiple_files = true, deprecated = true, udpa.annotations.file_status
        let kept = [vec![0xb8, 0x01, 0x01], vec![0xba, 0x80, 0xc8, 0xd1, 0x06, 0x02, 0x10, 0x02]].concat();
        let raw = [part(1, b"a.proto"), part(8, &[part(11, b"x/y"), vec![0x50, 0x01], kept.clone()].concat())].concat();
        assert_eq!(file(&raw).unwrap(), [part(1, b"a.proto"), part(8, &kept)].concat());
    }

    #[test]
    fn standard_options_come_before_extensions() {
        let deprecated = vec![0x18, 0x01];
        let rules = vec![0xfa, 0x42, 0x02, 0x10, 0x01];
        let field = |options: Vec<u8>| part(7, &[part(1, b"a"), part(8, &options)].concat());
        let sorted = field([deprecated.clone(), rules.clone()].concat());
        assert_eq!(file(&field([rules, deprecated].concat())).unwrap(), sorted);
        assert_eq!(file(&sorted).unwrap(), sorted);
    }

    #[test]
    fn a_cut_off_descriptor_is_refused() {
        assert!(file(&[0x0a, 0x05, b'a']).is_err());
        assert!(file(&[0x22, 0x02, 0x12, 0x07]).is_err());
    }
}
