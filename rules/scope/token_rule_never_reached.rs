//! EF528: a rule of a JWT filter after one that matches the same requests.

use crate::declare_rule;
use crate::lint::route_match::{node_prefix_of, node_takes_everything};
use crate::lint::walk::get;
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::{Node, Severity};

declare_rule! {
    /// A rule of a JWT filter that no request reaches, because an earlier rule matches all of them.
    ///
    /// # What it finds
    /// In `rules` of a `jwt_authn` filter, a rule after one that matches every request, or whose prefix begins the
    /// path of the later rule. An error if the later rule requires a token and the earlier one does not.
    ///
    /// # Why it matters
    /// Envoy applies the first rule that matches and reads no further. Behind a rule without `requires`, requests pass
    /// without a token; behind a rule that requires one, public paths are not public.
    ///
    /// # How to fix
    /// Move the narrower match to the front.
    ///
    /// # References
    /// Envoy `extensions.filters.http.jwt_authn.v3.JwtAuthentication.rules`; tested with Envoy 1.38.2.
    "EF528" "token-rule-never-reached" Scope Error => check
}

const FILTER: &str = "envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for object in value.objects.iter().filter(|object| object.full_name() == FILTER) {
            let rules = object.member("rules").map(|member| member.entry.value.items()).unwrap_or_default();
            for (at, later) in rules.iter().enumerate() {
                let Some((first, takes)) = rules[..at].iter().find_map(|first| Some((first, takes(first, later)?)))
                else {
                    continue;
                };
                let (open, wanted) = (!requires(first), requires(later));
                if open && !wanted {
                    continue;
                }
                let message = if open && wanted {
                    "this rule never requires a token: an earlier rule matches the same requests and requires none"
                } else if wanted {
                    "no request reaches this rule: an earlier rule matches all of them"
                } else {
                    "this rule exempts no request: an earlier rule requires a token for all of them"
                };
                out.push(
                    value
                        .finding(rule, later.span, message)
                        .severity(if open { Severity::Error } else { Severity::Warning })
                        .label("after it")
                        .related(first.span, takes)
                        .note("Envoy applies the first rule that matches")
                        .help("move this rule before the other one"),
                );
            }
        }
    }
}

/// What the first of two rules takes, if that is every request of the later one.
fn takes(first: &Node, later: &Node) -> Option<String> {
    let (wanted, other) = (get(first, "match")?, get(later, "match")?);
    if node_takes_everything(wanted) {
        return Some("matches every request".to_owned());
    }
    node_prefix_of(wanted, other).map(|prefix| format!("matches every path that begins with `{prefix}`"))
}

/// Whether a rule requires a token.
fn requires(rule: &Node) -> bool {
    ["requires", "requirement_name"].iter().any(|key| {
        get(rule, key).is_some_and(|one| !one.entries().is_empty() || one.as_str().is_some_and(|name| !name.is_empty()))
    })
}
