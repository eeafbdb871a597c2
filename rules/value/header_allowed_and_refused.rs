//! EF178: a header for an authorization service that another list takes back.

use crate::declare_rule;
use crate::lint::walk::get;
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::Node;

declare_rule! {
    /// A header in `allowed_headers` of an `ext_authz` filter that `disallowed_headers` matches as well.
    ///
    /// # What it finds
    /// An `exact` pattern of `allowed_headers` that equals an `exact`, `prefix`, `suffix` or `contains` pattern of
    /// `disallowed_headers` of the same filter.
    ///
    /// # Why it matters
    /// `disallowed_headers` decides: the authorization service never sees the header, and judges without it.
    ///
    /// # How to fix
    /// A narrower pattern in `disallowed_headers`, or none: with `allowed_headers`, other headers are not sent anyway.
    ///
    /// # References
    /// Envoy `extensions.filters.http.ext_authz.v3.ExtAuthz.disallowed_headers`; tested with Envoy 1.38.2.
    "EF178" "header-allowed-and-refused" Value Warning => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        let filters = value.objects.iter();
        for filter in filters.filter(|it| it.full_name() == "envoy.extensions.filters.http.ext_authz.v3.ExtAuthz") {
            let list = |field: &str| filter.member(field).and_then(|member| get(&member.entry.value, "patterns"));
            let (Some(allowed), Some(refused)) = (list("allowed_headers"), list("disallowed_headers")) else {
                continue;
            };
            for node in allowed.items().iter().filter_map(|pattern| get(pattern, "exact")).take(MOST) {
                let Some(name) = node.as_str() else { continue };
                let Some(pattern) = refused.items().iter().take(MOST).find(|pattern| takes(pattern, name)) else {
                    continue;
                };
                out.push(
                    value
                        .finding(
                            rule,
                            node.span,
                            format!("the service never sees `{name}`: `disallowed_headers` matches it too"),
                        )
                        .label("not sent")
                        .related(pattern.span, "decides")
                        .help("remove the pattern from disallowed_headers: headers that are not allowed are not sent"),
                );
            }
        }
    }
}

/// Maximum number of patterns of a list that are compared.
const MOST: usize = 64;

/// Whether a pattern matches a name.
fn takes(pattern: &Node, name: &str) -> bool {
    let text = |kind: &str| get(pattern, kind).and_then(Node::as_str).filter(|text| !text.is_empty());
    text("exact") == Some(name)
        || text("prefix").is_some_and(|part| name.starts_with(part))
        || text("suffix").is_some_and(|part| name.ends_with(part))
        || text("contains").is_some_and(|part| name.contains(part))
}
