//! Helpers for texts: numbers with their nouns, and a stable hash.

/// `1 patch`, `2 patches`.
pub fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// 64-bit FNV-1a: the same on every machine and in every release, because names of reports depend on it.
pub(crate) fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
