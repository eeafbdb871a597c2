//! Texts that are compared with parts of a request and can equal none of them.

use crate::lint::value::Object;
use crate::lint::value::walk::get;
use crate::source::escape::one_line;
use crate::source::{Node, NodeValue};

/// A text that nothing equals.
pub(crate) struct Vain<'a> {
    pub(crate) node: &'a Node,
    pub(crate) message: String,
    pub(crate) help: String,
}

/// The texts of a matcher of strings, or of a list of content types, that no request has.
pub(crate) fn texts<'a>(object: &Object<'a>, objects: &[Object<'a>]) -> Vec<Vain<'a>> {
    if object.full_name() == "envoy.extensions.filters.http.compressor.v3.Compressor.CommonDirectionConfig" {
        let list = object.member("content_type").map(|member| member.entry.value.items()).unwrap_or_default();
        return list.iter().filter_map(content_type).collect();
    }
    if object.full_name() != "envoy.type.matcher.v3.StringMatcher" {
        return Vec::new();
    }
    let Some((parent, field)) = object.parent else { return Vec::new() };
    let any_case = object.member("ignore_case").is_some_and(|it| matches!(it.entry.value.value, NodeValue::Bool(true)));
    let judge: fn(&str, &str) -> Option<(String, String)> = match (objects[parent].full_name(), field.name()) {
        ("envoy.type.matcher.v3.PathMatcher", "path") => path,
        ("envoy.config.rbac.v3.Principal.Authenticated", "principal_name") => principal,
        ("envoy.type.matcher.v3.ListStringMatcher", _) if !any_case && of_headers(&objects[parent]) => header_name,
        (_, "allow_origin_string_match") if !any_case => origin,
        ("envoy.extensions.filters.http.csrf.v3.CsrfPolicy", "additional_origins") => target_origin,
        _ => return Vec::new(),
    };
    let mut found: Vec<Vain<'a>> = Vec::new();
    for kind in ["exact", "prefix", "suffix", "contains"] {
        let Some(member) = object.member(kind) else { continue };
        let node = &member.entry.value;
        if let Some((message, help)) = node.as_str().and_then(|text| judge(kind, text)) {
            found.push(Vain { node, message, help });
        }
    }
    let regex = object.member("safe_regex").and_then(|member| get(&member.entry.value, "regex"));
    if let Some(node) = regex.filter(|_| field.name() == "path")
        && let Some((message, help)) = node.as_str().and_then(path_regex)
    {
        found.push(Vain { node, message, help });
    }
    found
}

/// What is wrong with a path or the beginning of one.
pub(crate) enum NoPath<'t> {
    /// It has a query: the path before it, and the query.
    Query(&'t str, &'t str),
    /// It does not begin with a slash.
    NoSlash,
    /// It has a `*`, here.
    Star(usize),
}

impl<'t> NoPath<'t> {
    pub(crate) fn of(written: &'t str) -> Option<NoPath<'t>> {
        if let Some((path, query)) = written.split_once('?') {
            return Some(NoPath::Query(path, query));
        }
        // `*` is the path of `OPTIONS *`.
        if written.is_empty() || written == "*" {
            return None;
        }
        if !written.starts_with('/') {
            return Some(NoPath::NoSlash);
        }
        written.find('*').map(NoPath::Star)
    }
}

/// What is wrong with the path of an RBAC rule.
fn path(kind: &str, written: &str) -> Option<(String, String)> {
    if !matches!(kind, "exact" | "prefix") {
        return None;
    }
    match NoPath::of(written)? {
        NoPath::Query(path, _) => {
            let message = format!("`{written}` matches no path: Envoy compares it without the query");
            Some((message, format!("{kind}: {path}")))
        }
        NoPath::NoSlash => {
            Some((format!("`{written}` matches no path: paths begin with a slash"), format!("{kind}: /{written}")))
        }
        NoPath::Star(at) if at + 1 == written.len() => {
            Some((format!("`*` in `{written}` is not a wildcard"), format!("prefix: {}", &written[..at])))
        }
        NoPath::Star(_) => None,
    }
}

/// What is wrong with the name of an RBAC principal.
fn principal(kind: &str, written: &str) -> Option<(String, String)> {
    let before = written.split('*').next().filter(|before| before.len() < written.len() && kind == "exact")?;
    Some((format!("no client is named `{written}`: `*` is not a wildcard"), format!("prefix: {before}")))
}

/// What is wrong with the name of a header. Envoy keeps names in lowercase.
fn header_name(kind: &str, written: &str) -> Option<(String, String)> {
    let lower = written.to_ascii_lowercase();
    (lower != written).then(|| {
        (format!("no header is named `{written}`: Envoy compares names in lowercase"), format!("{kind}: {lower}"))
    })
}

/// What is wrong with an origin. Browsers send it in lowercase.
fn origin(kind: &str, written: &str) -> Option<(String, String)> {
    let lower = written.to_ascii_lowercase();
    (kind == "exact" && lower != written).then(|| {
        (
            format!("no browser sends the origin `{written}`: scheme and host are in lowercase"),
            format!("exact: {lower}"),
        )
    })
}

/// What is wrong with an origin of a CSRF policy, which is compared without its scheme.
fn target_origin(kind: &str, written: &str) -> Option<(String, String)> {
    let (_, host) = written.split_once("://").filter(|_| matches!(kind, "exact" | "prefix"))?;
    let host = host.trim_end_matches('/');
    Some((format!("no origin equals `{written}`: it is compared without the scheme"), format!("{kind}: {host}")))
}

/// Whether a list of texts is one of names of headers.
fn of_headers(list: &Object<'_>) -> bool {
    list.parent.is_some_and(|(_, field)| field.name().ends_with("headers"))
}

/// What is wrong with a content type, which is compared without its parameters.
fn content_type(node: &Node) -> Option<Vain<'_>> {
    let written = node.as_str()?;
    let (message, help) = if let Some((kind, _)) = written.split_once(';') {
        (
            format!("no response equals `{written}`: Envoy compares content types without parameters"),
            kind.trim().to_owned(),
        )
    } else if written.contains('*') {
        (
            format!("`*` in `{written}` is not a wildcard"),
            "one item for each content type, such as text/html".to_owned(),
        )
    } else {
        return None;
    };
    Some(Vain { node, message, help })
}

/// What is wrong with a regular expression for a path, which must match all of it, without the query.
pub(crate) fn path_regex(written: &str) -> Option<(String, String)> {
    // What one alternative does not match, another may.
    if written.contains('|') || written.starts_with("(?") {
        return None;
    }
    if let Some(inside) = written.strip_prefix("/^") {
        let inside = inside.strip_suffix('/').unwrap_or(inside).trim_end_matches('$').replace("\\/", "/");
        let message = format!("`{written}` matches no path: the slashes around it are part of the expression");
        return Some((message, format!("regex: {}", one_line(&inside))));
    }
    let bare = written.trim_start_matches('^');
    let mut start = bare.chars();
    let literal = start.next().is_some_and(|first| first.is_ascii_alphanumeric());
    if literal && !matches!(start.next(), Some('?' | '*' | '{')) {
        return Some((
            format!("`{written}` matches no path: paths begin with a slash"),
            format!("regex: /{}", one_line(bare)),
        ));
    }
    let (before, after) = written.split_once("\\?")?;
    let optional = before.contains(['(', '[']) || before.ends_with('\\') || after.starts_with(['?', '*', '{']);
    (!optional).then(|| {
        let help = format!("regex: {}, and `query_parameters` for the query", one_line(before));
        (format!("`{written}` matches no path: Envoy compares paths without the query"), help)
    })
}
