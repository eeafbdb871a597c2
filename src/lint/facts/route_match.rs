//! Which requests the match of a route takes from those after it.

use crate::lint::value::walk::{get, same};
use crate::proto::tree::{Tree, Value};
use crate::source::{Node, NodeValue};

/// Whether every request matches.
pub(crate) fn takes_everything(wanted: &Tree<'_>) -> bool {
    let regex = wanted.path(&["safe_regex", "regex"]).and_then(Tree::as_str);
    takes(wanted.str_at("prefix"), regex, wanted.entries().iter().map(|(key, _)| &**key))
}

/// The same for a match as written.
pub(crate) fn node_takes_everything(wanted: &Node) -> bool {
    let regex = get(wanted, "safe_regex").and_then(|regex| text(regex, "regex"));
    takes(text(wanted, "prefix").unwrap_or_default(), regex, wanted.entries().iter().map(|entry| entry.key.as_str()))
}

fn takes<'k>(prefix: &str, regex: Option<&str>, mut keys: impl Iterator<Item = &'k str>) -> bool {
    // `case_sensitive` is irrelevant for a slash.
    let idle = |key: &str| ["prefix", "safe_regex", "case_sensitive"].iter().any(|name| same(key, name));
    (prefix == "/" || regex.is_some_and(|it| matches!(it, ".*" | "/.*"))) && keys.all(idle)
}

/// The prefix that is the only condition of a match.
pub(crate) fn only_prefix<'t>(wanted: &'t Tree<'_>) -> Option<&'t str> {
    let alone = wanted.entries().iter().all(|(key, _)| matches!(&**key, "prefix" | "case_sensitive"));
    Some(wanted.str_at("prefix")).filter(|prefix| alone && !prefix.is_empty() && is_exact(wanted))
}

/// What every path that a match accepts begins with.
pub(crate) fn beginnings<'t>(of: &'t Tree<'_>) -> impl Iterator<Item = &'t str> {
    WAYS.iter().filter(|_| is_exact(of)).map(|way| of.str_at(way))
}

/// The prefix of whole segments that is the only condition of a match: `/a` for `/a` and `/a/b`, not for `/ab`.
pub(crate) fn only_segments<'t>(wanted: &'t Tree<'_>) -> Option<&'t str> {
    let alone = wanted.entries().iter().all(|(key, _)| matches!(&**key, "path_separated_prefix" | "case_sensitive"));
    Some(wanted.str_at("path_separated_prefix")).filter(|prefix| alone && !prefix.is_empty() && is_exact(wanted))
}

/// The same as [`beginnings`] for a comparison with whole segments, which end with a slash.
pub(crate) fn beginnings_of_segments(of: &Tree<'_>) -> impl Iterator<Item = String> {
    WAYS.iter()
        .filter(|_| is_exact(of))
        .map(|way| (*way, of.str_at(way)))
        .filter(|(_, path)| !path.is_empty())
        .map(|(way, path)| if way == "prefix" { path.to_owned() } else { format!("{path}/") })
}

fn is_exact(of: &Tree<'_>) -> bool {
    of.get("case_sensitive").is_none_or(|it| matches!(it.value, Value::Bool(true)))
}

/// The prefix that is the only condition of a match as written, if every path that the other match accepts begins with it.
pub(crate) fn node_prefix_of<'t>(wanted: &'t Node, other: &Node) -> Option<&'t str> {
    let exact = |of: &Node| get(of, "case_sensitive").is_none_or(|it| matches!(it.value, NodeValue::Bool(true)));
    let alone =
        wanted.entries().iter().all(|entry| ["prefix", "case_sensitive"].iter().any(|key| same(&entry.key, key)));
    let prefix = text(wanted, "prefix").filter(|prefix| alone && !prefix.is_empty())?;
    let within = WAYS.iter().any(|way| text(other, way).is_some_and(|path| path.starts_with(prefix)));
    (within && exact(wanted) && exact(other)).then_some(prefix)
}

/// Conditions on the beginning of a path.
const WAYS: [&str; 3] = ["path", "prefix", "path_separated_prefix"];

fn text<'t>(node: &'t Node, key: &str) -> Option<&'t str> {
    get(node, key).and_then(Node::as_str)
}
