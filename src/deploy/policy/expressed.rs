//! The rules that the API server itself can check, in CEL: the expressions that rules declare, expanded.
//!
//! A policy sees one object as it is stored: unknown fields have been pruned. It knows nothing about the cluster, proxies and
//! Envoy's types, and CEL has no recursion, so expressions look only at known places in values.

use super::Policy;
use crate::engine::compat::Compat;
use crate::lint::rule::{Each, Policy as Declared, PolicyTarget};
use crate::rules;
use crate::source::Severity;

/// The part of a rule that CEL can check.
#[derive(Clone, Debug)]
pub struct Expressed {
    /// Code of the rule.
    pub code: &'static str,
    /// Severity of its findings.
    pub severity: Severity,
    /// Whether it is about each patch, named `p`, or about the filter.
    pub of_patch: bool,
    /// True for what the rule reports.
    pub finds: String,
    /// What is wrong.
    pub message: &'static str,
    /// The part of the rule that is left out; empty for none.
    pub without: &'static str,
}

/// Shorthands: a missing value is what istiod takes it for.
const SHORT: &[(&str, &str)] = &[
    ("@judged", "(!@waypoint && @to != \"INVALID\" && @op != \"INVALID\")"),
    (
        "@named",
        "(@to == \"LISTENER_FILTER\" ? (@listener && has(p.match.listener.listenerFilter) && p.match.listener.listenerFilter != \"\") : @to == \"NETWORK_FILTER\" ? @filter : (@filter && has(@f.subFilter)))",
    ),
    ("@waypoint", "(has(p.match) && has(p.match.context) && p.match.context == \"WAYPOINT\")"),
    ("@filters", "(@to in [\"LISTENER_FILTER\", \"NETWORK_FILTER\", \"HTTP_FILTER\"])"),
    ("@filter", "(@listener && has(p.match.listener.filterChain) && has(p.match.listener.filterChain.filter))"),
    ("@listener", "(has(p.match) && has(p.match.listener))"),
    ("@route", "(has(p.match) && has(p.match.routeConfiguration))"),
    ("@cluster", "(has(p.match) && has(p.match.cluster))"),
    (
        "@version",
        "(has(p.match) && has(p.match.proxy) && has(p.match.proxy.proxyVersion) ? p.match.proxy.proxyVersion : \"\")",
    ),
    (
        "@typed",
        "(has(p.patch) && has(p.patch.value) && has(p.patch.value.typed_config) && type(p.patch.value.typed_config) == map)",
    ),
    ("@url", "(@typed && \"@type\" in @t && type(@t[\"@type\"]) == string ? @t[\"@type\"] : \"\")"),
    ("@to", "(has(p.applyTo) ? p.applyTo : \"INVALID\")"),
    ("@op", "(has(p.patch) && has(p.patch.operation) ? p.patch.operation : \"INVALID\")"),
    ("@f", "p.match.listener.filterChain.filter"),
    ("@t", "p.patch.value.typed_config"),
    (
        "@labels",
        "(has(object.spec) && has(object.spec.workloadSelector) && has(object.spec.workloadSelector.labels) ? object.spec.workloadSelector.labels : {})",
    ),
    ("@targets", "(has(object.spec) && has(object.spec.targetRefs) ? object.spec.targetRefs : [])"),
    ("@selector", "(has(object.spec) && has(object.spec.workloadSelector))"),
];

/// An expression with its shorthands expanded, except for `@type` inside quotes.
fn long(short: &str) -> String {
    let mut text = short.to_owned();
    // Shorthands may use others, but not themselves.
    while let Some((word, meaning)) = SHORT.iter().find(|(word, _)| find(&text, word).is_some()) {
        while let Some(at) = find(&text, word) {
            text.replace_range(at..at + word.len(), meaning);
        }
    }
    text
}

/// The place of a shorthand as a whole word.
fn find(text: &str, word: &str) -> Option<usize> {
    text.match_indices(word).map(|(at, _)| at).find(|&at| {
        let next = text[at + word.len()..].chars().next();
        !next.is_some_and(|next| next.is_ascii_alphabetic())
    })
}

/// Every rule that CEL can express, by its code.
pub fn expressed(policy: &Policy<'_>) -> Vec<Expressed> {
    let target = PolicyTarget { compat: Compat { release: policy.release }, root_namespace: policy.root_namespace };
    let mut all = Vec::new();
    for rule in rules::ALL {
        let Declared::Cel(expressions) = rule.policy else { continue };
        all.extend(expressions(&target).into_iter().map(|one| Expressed {
            code: rule.code,
            severity: one.severity,
            of_patch: one.each == Each::Patch,
            finds: long(&one.finds),
            message: one.message,
            without: one.without,
        }));
    }
    all
}
