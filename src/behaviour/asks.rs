//! Requests derived from a configuration: the paths, methods and header fields that its matches require.

use super::http1::Fields;
use super::request::Request;
use crate::proto::tree::{Tree, Value};
use std::net::IpAddr;

/// What a request needs to satisfy a match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ask {
    /// Its path.
    pub path: Option<String>,
    /// Its method.
    pub method: Option<String>,
    /// Header fields.
    pub headers: Fields,
    /// The source address.
    pub from: Option<IpAddr>,
}

/// A rate limit descriptor that a route's actions produce, and the requests that produce it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Keys with their values; one without a value takes it from the request.
    pub entries: Vec<(String, EntryValue)>,
    /// What a request needs to produce it.
    pub ask: Ask,
}

/// The value of an entry of a descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryValue {
    /// A fixed value.
    Fixed(String),
    /// The value of a header field.
    Header(String),
    /// The client's address.
    Address,
}

/// Maximum number of requests that are derived for one filter.
const MOST: usize = 8;

impl Ask {
    fn is_empty(&self) -> bool {
        *self == Ask::default()
    }

    /// The request with these properties.
    pub(super) fn put_in(&self, request: &Request) -> Request {
        let mut request = request.clone();
        if let Some(path) = &self.path {
            request.path.clone_from(path);
        }
        if let Some(method) = &self.method {
            request.method.clone_from(method);
        }
        request.from = self.from.or(request.from);
        for (name, value) in &self.headers {
            request.headers.retain(|(key, _)| !key.eq_ignore_ascii_case(name));
            request.headers.push((name.clone(), value.clone()));
        }
        request
    }

    /// The requirements of a route's or rule's match; `None` if no request can be constructed.
    pub(super) fn of_match(matched: &Tree<'_>) -> Option<Ask> {
        let mut ask = Ask::default();
        for header in list(matched, "headers") {
            ask.header(&header)?;
        }
        for key in ["path", "prefix", "path_separated_prefix"] {
            let text = matched.str_at(key);
            if !text.is_empty() {
                ask.path = Some(text.to_owned());
            }
        }
        if let Some(regex) = matched.get("safe_regex") {
            ask.path = Some(instance(regex.readable().str_at("regex"))?);
        }
        let other = ["connect_matcher", "path_match_policy", "query_parameters", "dynamic_metadata", "filter_state"];
        (!other.iter().any(|key| matched.get(key).is_some())).then_some(ask)
    }

    /// Adds the requirements of a header matcher; `None` if no value can be constructed.
    fn header(&mut self, matcher: &Tree<'_>) -> Option<()> {
        if is_true(matcher, "invert_match") {
            return Some(());
        }
        let texts = matcher.get("string_match").map_or_else(|| matcher.clone(), |texts| texts.readable().into_owned());
        let keys =
            ["exact", "prefix", "suffix", "contains", "exact_match", "prefix_match", "suffix_match", "contains_match"];
        let plain = keys.iter().map(|key| texts.str_at(key)).find(|text| !text.is_empty()).map(str::to_owned);
        let regex = texts.get("safe_regex").or_else(|| matcher.get("safe_regex_match"));
        let value = match (plain, regex) {
            (Some(plain), _) => plain,
            (None, Some(regex)) => instance(regex.readable().str_at("regex"))?,
            (None, None) if matcher.get("range_match").is_some() => return None,
            (None, None) => "1".to_owned(),
        };
        match matcher.name() {
            ":path" => self.path = Some(if value.starts_with('/') { value } else { format!("/{value}") }),
            ":method" => self.method = Some(value),
            name if name.starts_with(':') => {}
            name => self.headers.push((name.to_owned(), value)),
        }
        Some(())
    }
}

/// The items under a key, with `Any`s opened.
pub(super) fn list<'a>(config: &Tree<'a>, key: &str) -> Vec<Tree<'a>> {
    let list = config.get(key).map(|list| list.readable().into_owned());
    list.as_ref().map(Tree::items).unwrap_or_default().iter().map(|item| item.readable().into_owned()).collect()
}

/// Whether a field is `true`.
pub(super) fn is_true(config: &Tree<'_>, key: &str) -> bool {
    config.get(key).is_some_and(|value| matches!(value.readable().value, Value::Bool(true)))
}

/// A text that a regular expression matches, if the expression is simple.
fn instance(regex: &str) -> Option<String> {
    let regex = regex.trim_start_matches('^').trim_end_matches('$');
    let text = regex.replace(".*", "x").replace(".+", "x").replace("\\.", "\u{0}").replace("\\/", "/");
    let plain = !text.contains(['\\', '.', '*', '+', '?', '[', ']', '(', ')', '{', '}', '|', '^', '$']);
    plain.then(|| text.replace('\u{0}', "."))
}

/// The requests derived from a configuration.
pub(super) fn asks(tree: &Tree<'_>) -> Vec<Ask> {
    let mut all = Vec::new();
    collect(tree, &mut all);
    all.truncate(MOST);
    all
}

fn collect(tree: &Tree<'_>, into: &mut Vec<Ask>) {
    let tree = tree.readable();
    for (key, value) in tree.entries() {
        let value = value.readable();
        let found = match value.as_str() {
            Some(text) if key.contains("inline") => of_script(text),
            _ => of_matcher(key, &value).into_iter().collect(),
        };
        if found.is_empty() {
            collect(&value, into);
        }
        for ask in found {
            if !ask.is_empty() && !into.contains(&ask) {
                into.push(ask);
            }
        }
    }
    tree.items().iter().for_each(|item| collect(item, into));
}

/// The requirements of a matcher under this key, empty if no request can be constructed; `None` if it is not a matcher.
fn of_matcher(key: &str, value: &Tree<'_>) -> Option<Ask> {
    let mut ask = Ask::default();
    let made = match key {
        "match" if value.entries().iter().any(|(key, _)| key != "any_match") => {
            return Some(Ask::of_match(value).unwrap_or_default());
        }
        "headers" => {
            let items: Vec<Tree<'_>> = value.items().iter().map(|item| item.readable().into_owned()).collect();
            if items.is_empty() || items.iter().any(|item| item.name().is_empty()) {
                return None;
            }
            items.iter().try_for_each(|item| ask.header(item))
        }
        "header" if !value.name().is_empty() => ask.header(value),
        "url_path" => {
            let path = value.get("path").map(|path| path.readable().into_owned())?;
            let text = [path.str_at("exact"), path.str_at("prefix")].into_iter().find(|text| text.starts_with('/'));
            ask.path = text.map(str::to_owned);
            Some(())
        }
        _ => return None,
    };
    Some(if made.is_some() { ask } else { Ask::default() })
}

/// Paths that a script names, and the values that it compares header fields to.
fn of_script(text: &str) -> Vec<Ask> {
    let mut all = Vec::new();
    for quote in ['"', '\''] {
        for path in text.split(quote).skip(1).step_by(2) {
            let plain = |c: char| c.is_ascii_alphanumeric() || "/-_.~".contains(c);
            if path.starts_with('/') && path.chars().all(plain) {
                all.push(Ask { path: Some(path.to_owned()), ..Ask::default() });
            }
        }
    }
    let quoted = |text: &str| -> Option<String> {
        let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        text[1..].split_once(quote).map(|(inside, _)| inside.to_owned())
    };
    for after in text.split(":get(").skip(1) {
        let Some(name) = quoted(after.trim_start()) else { continue };
        let Some((_, rest)) = after.split_once(')') else { continue };
        let Some(value) = rest.trim_start().strip_prefix("==").and_then(|rest| quoted(rest.trim_start())) else {
            continue;
        };
        let field = |text: &str| !text.is_empty() && !text.contains(['\r', '\n']);
        match name.as_str() {
            ":path" => all.push(Ask { path: Some(value).filter(|it| it.starts_with('/')), ..Ask::default() }),
            ":method" => all.push(Ask { method: Some(value), ..Ask::default() }),
            name if name.starts_with(':') || !field(name) || !field(&value) => {}
            name => all.push(Ask { headers: vec![(name.to_owned(), value)], ..Ask::default() }),
        }
    }
    all
}

/// The descriptor that an entry of a route's `rate_limits` produces; `None` for actions that depend on more than the
/// request.
pub(super) fn written(limit: &Tree<'_>) -> Option<Written> {
    let limit = limit.readable();
    let mut written = Written { entries: Vec::new(), ask: Ask::default() };
    if limit.get("stage").and_then(Tree::as_u64).unwrap_or(0) != 0 {
        return None;
    }
    for action in list(&limit, "actions") {
        let (kind, how) = action.entries().first()?;
        let how = how.readable();
        let or = |key: &str, other: &str| {
            let text = how.str_at(key);
            if text.is_empty() { other.to_owned() } else { text.to_owned() }
        };
        let entry = match kind.as_ref() {
            "request_headers" => {
                let name = how.str_at("header_name").to_owned();
                match name.as_str() {
                    ":path" | ":method" => {}
                    name if name.starts_with(':') => return None,
                    name => written.ask.headers.push((name.to_owned(), "1".to_owned())),
                }
                (how.str_at("descriptor_key").to_owned(), EntryValue::Header(name))
            }
            "remote_address" => ("remote_address".to_owned(), EntryValue::Address),
            "generic_key" => {
                (or("descriptor_key", "generic_key"), EntryValue::Fixed(how.str_at("descriptor_value").to_owned()))
            }
            "header_value_match" => {
                if how.get("expect_match").is_some() {
                    return None;
                }
                for header in list(&how, "headers") {
                    written.ask.header(&header)?;
                }
                (or("descriptor_key", "header_match"), EntryValue::Fixed(how.str_at("descriptor_value").to_owned()))
            }
            _ => return None,
        };
        written.entries.push(entry);
    }
    Some(written)
}

impl Written {
    /// What a request needs to produce this descriptor; `None` if no request can.
    pub(super) fn meets(&self, descriptor: &[(String, String)]) -> Option<Ask> {
        let mut ask = self.ask.clone();
        if self.entries.len() != descriptor.len() {
            return None;
        }
        for ((key, value), (wanted_key, wanted)) in self.entries.iter().zip(descriptor) {
            let fits = match value {
                _ if key != wanted_key => false,
                // A descriptor without a value matches every value.
                _ if wanted.is_empty() => true,
                EntryValue::Fixed(value) => value == wanted,
                EntryValue::Header(name) => {
                    match name.as_str() {
                        ":path" => ask.path = Some(wanted.clone()),
                        ":method" => ask.method = Some(wanted.clone()),
                        name => {
                            ask.headers.retain(|(key, _)| key != name);
                            ask.headers.push((name.to_owned(), wanted.clone()));
                        }
                    }
                    true
                }
                EntryValue::Address => {
                    ask.from = wanted.parse().ok();
                    ask.from.is_some()
                }
            };
            if !fits {
                return None;
            }
        }
        Some(ask)
    }

    /// Its entries on one line.
    pub(super) fn in_words(&self) -> String {
        let entry = |(key, value): &(String, EntryValue)| match value {
            EntryValue::Fixed(value) => format!("{key}={value}"),
            EntryValue::Header(name) => format!("{key}=(header {name})"),
            EntryValue::Address => format!("{key}=(address of the client)"),
        };
        self.entries.iter().map(entry).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::json::from_json;
    use serde_json::json;

    #[test]
    fn matches_make_requests() {
        let rules = from_json(&json!({"rules": [
            {"match": {"prefix": "/api", "headers": [{"name": "x-team", "string_match": {"exact": "a"}}]}, "requires": {}},
            {"match": {"safe_regex": {"regex": "^/v1/.*$"}}},
            {"match": {"safe_regex": {"regex": "/(a|b)"}}},
        ]}));
        let all = asks(&rules);
        assert_eq!(all.len(), 2, "{all:?}");
        assert_eq!(all[0].path.as_deref(), Some("/api"));
        assert_eq!(all[0].headers, [("x-team".to_owned(), "a".to_owned())]);
        assert_eq!(all[1].path.as_deref(), Some("/v1/x"));
        let rbac = from_json(&json!({"permissions": [{"url_path": {"path": {"prefix": "/admin"}}},
            {"header": {"name": ":method", "string_match": {"exact": "PUT"}}}]}));
        let all = asks(&rbac);
        assert_eq!((all[0].path.as_deref(), all[1].method.as_deref()), (Some("/admin"), Some("PUT")));
    }

    #[test]
    fn scripts_name_paths_and_values() {
        let script = r#"if path == "/admin" then end if handle:headers():get("x-user") == 'alice' then end"#;
        let all = asks(&from_json(&json!({"inline_string": script})));
        assert_eq!(all[0].path.as_deref(), Some("/admin"));
        assert_eq!(all[1].headers, [("x-user".to_owned(), "alice".to_owned())]);
    }

    #[test]
    fn actions_write_descriptors() {
        let of = |value: serde_json::Value| written(&from_json(&value));
        let path = of(json!({"actions": [{"header_value_match": {"descriptor_value": "list",
            "headers": [{"name": ":path", "string_match": {"prefix": "/list"}}]}}]}))
        .unwrap();
        let descriptor = |key: &str, value: &str| [(key.to_owned(), value.to_owned())];
        assert_eq!(path.meets(&descriptor("header_match", "list")).unwrap().path.as_deref(), Some("/list"));
        assert_eq!(path.meets(&descriptor("path", "list")), None);
        let user =
            of(json!({"actions": [{"request_headers": {"header_name": "x-user", "descriptor_key": "user"}}]})).unwrap();
        assert_eq!(user.meets(&descriptor("user", "bob")).unwrap().headers, [("x-user".to_owned(), "bob".to_owned())]);
        assert_eq!(user.meets(&descriptor("user", "")).unwrap().headers, [("x-user".to_owned(), "1".to_owned())]);
        assert_eq!(of(json!({"actions": [{"source_cluster": {}}]})), None);
    }
}
