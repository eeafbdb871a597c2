//! EF174: a login that comes back to a path that the OAuth2 filter does not expect.

use crate::declare_rule;
use crate::lint::walk::get;
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::{Node, NodeValue};

declare_rule! {
    /// An OAuth2 filter whose `redirect_uri` has another path than its `redirect_path_matcher`.
    ///
    /// # What it finds
    /// A `redirect_uri` with a fixed path that the `exact`, `prefix`, `suffix` or `contains` of `redirect_path_matcher` does not accept.
    ///
    /// # Why it matters
    /// The provider sends the browser to `redirect_uri` with the code. The filter takes that for a request without a login and starts
    /// the next one: a loop.
    ///
    /// # How to fix
    /// Write the same path in both.
    ///
    /// # References
    /// Envoy `extensions.filters.http.oauth2.v3.OAuth2Config`; tested with Envoy 1.38.2.
    "EF174" "oauth-callback-mismatch" Value Error => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        let filters = value.objects.iter();
        for object in filters.filter(|it| it.full_name() == "envoy.extensions.filters.http.oauth2.v3.OAuth2Config") {
            let field = |name: &str| object.member(name).map(|member| &member.entry.value);
            let Some(path) = field("redirect_uri").and_then(Node::as_str).and_then(path_of) else { continue };
            let Some(wanted) = field("redirect_path_matcher").and_then(|it| get(it, "path")) else { continue };
            if get(wanted, "ignore_case").is_some_and(|it| matches!(it.value, NodeValue::Bool(true))) {
                continue;
            }
            let refused = ["exact", "prefix", "suffix", "contains"].into_iter().find_map(|key| {
                let node = get(wanted, key)?;
                (!accepts(key, path, node.as_str()?)).then_some((key, node))
            });
            let Some((key, node)) = refused else { continue };
            let place = field("redirect_uri").map_or(object.span, |uri| uri.span);
            out.push(
                value
                    .finding(rule, node.span, format!("the login returns to `{path}`, which this does not match"))
                    .label("the next login begins")
                    .related(place, "where the provider sends the browser")
                    .help(format!("{key}: {path}")),
            );
        }
    }
}

/// Whether a matcher of this kind accepts a path.
fn accepts(kind: &str, path: &str, text: &str) -> bool {
    match kind {
        "prefix" => path.starts_with(text),
        "suffix" => path.ends_with(text),
        "contains" => path.contains(text),
        _ => path == text,
    }
}

/// The path of a URL whose scheme and host may be formats.
fn path_of(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let path = rest[rest.find('/')?..].split(['?', '#']).next()?;
    // A format in it may become anything.
    (!path.contains('%')).then_some(path)
}
