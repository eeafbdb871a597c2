//! Runtime guards of Envoy that a patch's value names.

use crate::engine::program::Status;
use crate::engine::trace::NoOp;
use crate::envoy;
use crate::lint::value::PatchValue;
use crate::lint::value::walk::{self, Part};
use crate::model::release::Release;
use crate::source::{Node, NodeValue, Span};

/// Prefixes of runtime guards.
const PREFIXES: [&str; 2] = ["envoy.reloadable_features.", "envoy.restart_features."];

/// The first release of istiod that applies no BOOTSTRAP patch.
pub(crate) const BOOTSTRAP_UNTIL: Release = Release::minor(21);

/// A guard that a value names.
pub(crate) struct Named<'n> {
    /// Its full name.
    pub name: String,
    /// The key or text that contains it.
    pub span: Span,
    /// What a runtime layer sets it to; `None` if a `runtime_key` refers to it.
    pub set: Option<&'n Node>,
}

impl Named<'_> {
    /// Whether a runtime layer sets the guard to its default: `on` or `off`.
    pub(crate) fn sets(&self, default: &str) -> bool {
        let on = match self.set.map(|node| &node.value) {
            Some(NodeValue::Bool(on)) => *on,
            Some(NodeValue::String(text)) => match text.as_str() {
                "true" => true,
                "false" => false,
                _ => return false,
            },
            _ => return false,
        };
        default == if on { "on" } else { "off" }
    }

    /// Whether Envoy logs an error if it has no such guard; for texts it logs nothing (real Envoys, 1.36 and 1.40).
    pub(crate) fn is_logged(&self) -> bool {
        self.set.is_some_and(|node| !matches!(node.value, NodeValue::String(_)))
    }
}

/// Numbers that Envoy reads under such names (strings in the binaries of 1.36 to 1.40). They are not switches and not
/// in its list of guards, and the release that introduced them is unknown, so they give no findings.
const NUMBERS: [&str; 5] = [
    "http2_max_cookies_size_in_kb",
    "max_request_headers_count",
    "max_request_headers_size_kb",
    "max_response_headers_count",
    "max_response_headers_size_kb",
];

fn is_guard(name: &str) -> bool {
    let rest = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix)).filter(|rest| !NUMBERS.contains(rest));
    rest.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'))
}

/// Every guard that a value names: as keys of a runtime layer, either in one piece or as nested mappings that Envoy
/// joins with dots; and as `runtime_key`.
pub(crate) fn named<'a>(value: &PatchValue<'a>) -> Vec<Named<'a>> {
    let mut found = Vec::new();
    walk::fields(value.node, &mut |field| {
        if field.is("runtime_key") {
            let text = field.node.as_str().filter(|text| is_guard(text));
            found.extend(text.map(|text| Named { name: text.to_owned(), span: field.node.span, set: None }));
            return;
        }
        let Some(name) = dotted(field.path) else { return };
        found.push(Named { name, span: value.view.value_route_span(&field.route()), set: Some(field.node) });
    });
    found
}

/// The last keys of a route, joined to the name of a guard.
fn dotted(path: &[Part<'_>]) -> Option<String> {
    // Nearly no field is one.
    if !path.iter().any(|part| matches!(part, Part::Key(key) if key.starts_with("envoy"))) {
        return None;
    }
    let mut name = String::new();
    for part in path.iter().rev() {
        let Part::Key(key) = part else { return None };
        name = if name.is_empty() { (*key).to_owned() } else { format!("{key}.{name}") };
        if PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
            return is_guard(&name).then_some(name);
        }
        if name.len() > LONGEST {
            return None;
        }
    }
    None
}

/// Longer than any name of a guard, in bytes.
const LONGEST: usize = 256;

/// Whether no proxy gets the value: a bootstrap patch, which this istiod does not apply.
pub(crate) fn unread(value: &PatchValue<'_>, release: Release) -> bool {
    let bootstrap = value.view.built.is_some_and(|built| built.status == Status::NoOp(NoOp::Bootstrap));
    bootstrap && release >= BOOTSTRAP_UNTIL
}

/// The Envoy releases with a guard: `Envoy 1.26 to 1.30 have it`; `None` for a name that no known release has.
pub(crate) fn life(name: &str) -> Option<String> {
    let guard = envoy::runtime_guard(name).filter(|guard| guard.name() == name)?;
    let (first, last) = guard.minors()?;
    let [(oldest, before), (after, newest)] = envoy::GUARDS_KNOWN;
    let text = match (first, last) {
        _ if first == last => format!("Envoy 1.{first} has it"),
        (_, _) if first == oldest => format!("Envoy up to 1.{last} has it"),
        _ if last == newest => format!("Envoy has it since 1.{first}"),
        _ => format!("Envoy 1.{first} to 1.{last} have it"),
    };
    if first == after || last == before {
        return Some(format!("{text}; whether 1.{} and 1.{} do is unknown", before + 1, after - 1));
    }
    Some(text)
}

/// The releases whose guards are known: `Envoy 1.26 to 1.33 and 1.36 to 1.40`.
pub(crate) fn looked_at() -> String {
    let runs = envoy::GUARDS_KNOWN.map(|(first, last)| format!("1.{first} to 1.{last}"));
    format!("Envoy {}", runs.join(" and "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_joined_as_envoy_joins_them() {
        let route = |keys: &[&'static str]| -> Vec<Part<'static>> { keys.iter().map(|key| Part::Key(key)).collect() };
        let whole = "envoy.reloadable_features.a_b";
        assert_eq!(dotted(&route(&["static_layer", whole])).as_deref(), Some(whole));
        assert_eq!(dotted(&route(&["static_layer", "envoy", "reloadable_features", "a_b"])).as_deref(), Some(whole));
        assert_eq!(dotted(&route(&["static_layer", "envoy.reloadable_features", "a_b"])).as_deref(), Some(whole));
        // A fraction instead of a switch: its parts are not guards themselves.
        assert_eq!(dotted(&route(&["static_layer", whole, "numerator"])), None);
        assert_eq!(dotted(&route(&["static_layer", "envoy", "reloadable_features"])), None);
        assert_eq!(dotted(&route(&["my.envoy.reloadable_features.a"])), None);
        // A number under such a name is not a guard.
        assert_eq!(dotted(&route(&["envoy.reloadable_features.max_request_headers_count"])), None);
    }

    #[test]
    fn lives_are_said_with_what_is_not_known() {
        let life = |name: &str| life(&format!("envoy.reloadable_features.{name}"));
        assert_eq!(life("http_allow_partial_urls_in_referer").unwrap(), "Envoy up to 1.30 has it");
        assert_eq!(life("abort_filter_chain_on_stream_reset").unwrap(), "Envoy 1.29 to 1.31 have it");
        assert_eq!(
            life("abort_when_accessing_dead_decoder").unwrap(),
            "Envoy has it since 1.36; whether 1.34 and 1.35 do is unknown"
        );
        assert_eq!(life("nobody_knows"), None);
    }
}
