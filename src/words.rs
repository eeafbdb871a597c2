//! Helpers for texts: numbers with their nouns, advice that lint and explain share, and a stable hash.

/// Makes enums have one name, that of `as_str`, for people and in JSON.
macro_rules! serialize_as_str {
    ($name:ty) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}
pub(crate) use serialize_as_str;

/// `1 patch`, `2 patches`.
pub(crate) fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Most names in a sentence about a move.
pub(crate) const MOST_NAMES: usize = 12;

/// The first of some names, and how many more there are: `a, b and 7 more`.
pub(crate) fn few(names: impl IntoIterator<Item = impl AsRef<str>>, number: usize, most: usize) -> String {
    let mut text = String::new();
    for (at, name) in names.into_iter().take(most).enumerate() {
        text.push_str(if at == 0 { "" } else { ", " });
        text.push_str(name.as_ref());
    }
    match number.saturating_sub(most) {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

/// The advice for a match of filter chains by the own port of a listener.
pub(crate) fn omit_own_port(listener: &str, port: u32) -> String {
    format!(
        "omit `portNumber: {port}`: in {listener} it is compared with the destination port of each filter chain, and only the one that blocks direct connections has {port}"
    )
}

/// 64-bit FNV-1a: the same on every machine and in every release, because names of reports depend on it.
pub(crate) fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// What to write instead of a `targetRefs` entry for a Service or ServiceEntry.
pub(crate) const NO_TARGET_SERVICE: &str =
    "select the pods by their labels (workloadSelector) if sidecars are meant, or refer to the waypoint that serves it";

/// `{{ … }}`, `{% … %}` or `${…}` in a text.
pub(crate) fn template_in(text: &str) -> Option<&str> {
    // Called for every text; most contain neither.
    memchr::memchr2(b'{', b'$', text.as_bytes())?;
    [("{{", "}}"), ("{%", "%}"), ("${", "}")].iter().find_map(|(open, close)| {
        let start = text.find(open)?;
        let end = text[start..].find(close).map_or(text.len(), |end| start + end + close.len());
        text.get(start..end)
    })
}

#[cfg(test)]
mod tests {
    use super::{few, template_in};

    #[test]
    fn long_lists_end_with_a_number() {
        let names = |number: usize| (0..number).map(|number| number.to_string());
        assert_eq!(few(names(1), 1, 12), "0");
        assert_eq!(few(names(3), 3, 12), "0, 1, 2");
        assert!(few(names(20), 20, 12).ends_with("10, 11 and 8 more"));
    }

    #[test]
    fn templates() {
        assert_eq!(template_in("x-{{ .Values.a }}-y"), Some("{{ .Values.a }}"));
        assert_eq!(template_in("${A}"), Some("${A}"));
        assert_eq!(template_in("${"), Some("${"));
        assert_eq!(template_in("a$b{c}"), None);
    }
}
