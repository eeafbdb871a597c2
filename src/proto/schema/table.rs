//! The compiled tables, and how a word, a name or bytes are read from them.
//!
//! `build.rs` writes them and checks every reference; a read out of bounds, which cannot happen, gives zero or nothing. All
//! numbers are words of the first table, all offsets count words from its start:
//!
//! ```text
//! header      number of sets, offset of the symbols, number of symbols
//! set         name, 0 = Envoy / 1 = istiod, minor, patch
//! symbol      full name, offset of its entries, number of entries      sorted by name
//! entry       sets (low, high half of the mask), offset of the definition, name of the file
//! message     1 | flags << 8 | well-known << 16, fields | oneofs << 16, previous type; then its fields and oneofs
//! field       name, JSON name, number, kind | cardinality << 8 | flags << 16 | (oneof + 1) << 24, type, rules
//! oneof       name, 1 = required
//! enum        2 | flags << 8, number of values; then its values
//! value       name, number, flags
//! ```
//!
//! A name or bytes is `offset << 12 | length` into its pool; a type is the number of a symbol.

static WORDS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/schema.words"));
static TEXT: &str = include_str!(concat!(env!("OUT_DIR"), "/schema.text"));
static BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/schema.bytes"));

/// Sizes in words: a set, a symbol, an entry, a message without its fields, a field, a oneof, a value of an enum.
pub(super) const SET: u32 = 4;
pub(super) const SYMBOL: u32 = 3;
pub(super) const ENTRY: u32 = 4;
pub(super) const MESSAGE: u32 = 3;
pub(super) const FIELD: u32 = 6;
pub(super) const ONEOF: u32 = 2;
pub(super) const ENUM: u32 = 2;
pub(super) const VALUE: u32 = 3;

/// Where the sets start.
pub(super) const SETS: u32 = 3;

/// The word at an offset.
pub(super) fn word(at: u32) -> u32 {
    WORDS.as_chunks().0.get(at as usize).map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// The name a word refers to.
pub(super) fn text(reference: u32) -> &'static str {
    TEXT.get(range(reference)).unwrap_or_default()
}

/// The bytes a word refers to.
pub(super) fn bytes(reference: u32) -> &'static [u8] {
    BYTES.get(range(reference)).unwrap_or_default()
}

/// Whether a word refers to this name; for most, comparing the lengths is enough.
pub(super) fn is_text(reference: u32, name: &str) -> bool {
    length(reference) == name.len() && TEXT.as_bytes().get(range(reference)) == Some(name.as_bytes())
}

fn length(reference: u32) -> usize {
    (reference & 0xfff) as usize
}

fn range(reference: u32) -> std::ops::Range<usize> {
    let start = (reference >> 12) as usize;
    start..start + length(reference)
}

/// The definition of a symbol in a set: its offset and the name of its file (a reference to text).
pub(super) fn definition(set: u8, symbol: u32) -> Option<(u32, u32)> {
    if symbol >= word(2) {
        return None;
    }
    let record = word(1) + symbol * SYMBOL;
    let half = u32::from(set / 32);
    let entry = |index| word(record + 1) + index * ENTRY;
    let place = (0..word(record + 2)).map(entry).find(|&at| word(at + half) >> (set % 32) & 1 == 1)?;
    Some((word(place + 2), word(place + 3)))
}

/// The number of the symbol with a full name.
pub(super) fn symbol(name: &str) -> Option<u32> {
    let (mut from, mut to) = (0, word(2));
    while from < to {
        let middle = from + (to - from) / 2;
        match text(word(word(1) + middle * SYMBOL)).cmp(name) {
            std::cmp::Ordering::Less => from = middle + 1,
            std::cmp::Ordering::Greater => to = middle,
            std::cmp::Ordering::Equal => return Some(middle),
        }
    }
    None
}
