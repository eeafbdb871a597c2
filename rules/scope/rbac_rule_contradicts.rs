//! EF537: an RBAC policy that every request satisfies, or none.

use crate::declare_rule;
use crate::lint::value::chain_match::network;
use crate::lint::value::{Object, PatchValue};
use crate::lint::walk::get;
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::{Node, NodeValue, Severity};
use std::cell::LazyCell;
use std::collections::HashMap;
use std::net::IpAddr;

declare_rule! {
    /// Conditions of an RBAC policy that contradict each other.
    ///
    /// # What it finds
    /// `and_rules` or `and_ids` with two different exact values of one header, port or identity, which no request has; and
    /// `permissions`, `principals`, `or_rules` or `or_ids` with the negations of two such values, of which every request
    /// satisfies one. As a warning, an RBAC filter (HTTP or network) whose `rules` allow by no `policies`, unless a given patch
    /// configures routes for it.
    ///
    /// # Why it matters
    /// An ALLOW that nothing satisfies denies every request; a DENY that everything satisfies, too.
    ///
    /// # How to fix
    /// Alternatives belong into `or_rules` and `or_ids`, or one list of `permissions` or `principals`; negations that must all hold
    /// into `and_rules` and `and_ids`.
    ///
    /// # References
    /// Envoy `config.rbac.v3.Policy`: one of the permissions and one of the principals must match; Envoy 1.38.2.
    "EF537" "rbac-rule-contradicts" Scope Error => check
}

const HTTP: &str = "envoy.extensions.filters.http.rbac.v3.RBAC";
const PER_ROUTE: &str = "envoy.extensions.filters.http.rbac.v3.RBACPerRoute";
const NETWORK: &str = "envoy.extensions.filters.network.rbac.v3.RBAC";

/// Rules that allow, without a policy that could.
fn allows_nothing(rule: &'static RuleInfo, by_route: &impl Fn() -> bool, value: &PatchValue<'_>, out: &mut Findings) {
    let what = |filter: &Object<'_>| match filter.full_name() {
        HTTP if !by_route() => Some("request"),
        NETWORK => Some("connection"),
        _ => None,
    };
    for filter in value.objects.iter().filter(|filter| filter.whole) {
        // A matcher replaces them.
        let Some(member) = filter.member("rules").filter(|_| filter.member("matcher").is_none()) else { continue };
        let rules = &member.entry.value;
        let allows = get(rules, "action").is_none_or(|action| action.as_str() == Some("ALLOW"));
        let none = get(rules, "policies").is_none_or(|policies| policies.entries().is_empty());
        let given = matches!(rules.value, NodeValue::Map(_));
        let Some(what) = what(filter).filter(|_| given && allows && none) else { continue };
        let finding = value.finding(rule, member.entry.key_span, format!("this filter denies every {what}"));
        out.push(
            finding
                .severity(Severity::Warning)
                .label("`ALLOW` without `policies`")
                .snippet("add `policies`; if all are to be denied, say so:\naction: DENY\npolicies:\n  all:\n    permissions: [{any: true}]\n    principals: [{any: true}]"),
        );
    }
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let by_route = LazyCell::new(|| {
        let mut objects = cx.values().iter().flat_map(|value| &value.objects);
        objects.any(|object| object.full_name() == PER_ROUTE)
    });
    for value in cx.values() {
        allows_nothing(rule, &|| *by_route, value, out);
        for object in &value.objects {
            let lists: &[(&str, bool)] = match object.full_name() {
                "envoy.config.rbac.v3.Policy" => &[("permissions", false), ("principals", false)],
                "envoy.config.rbac.v3.Permission.Set" => &[("rules", is_and(object.parent.map(|it| it.1.name())))],
                "envoy.config.rbac.v3.Principal.Set" => &[("ids", is_and(object.parent.map(|it| it.1.name())))],
                _ => continue,
            };
            for (field, and) in lists {
                let Some(list) = object.member(field).map(|member| &member.entry.value) else { continue };
                let Some((first, second)) = contradiction(list.items(), *and) else { continue };
                let (message, help) = if *and {
                    ("no request satisfies both conditions", "or_rules or or_ids, for alternatives")
                } else {
                    (
                        "every request satisfies one of these conditions",
                        "and_rules or and_ids, for negations that must all hold",
                    )
                };
                out.push(
                    value
                        .finding(rule, second.span, message)
                        .label(if *and { "another value" } else { "satisfied by what the other excludes" })
                        .related(first.span, "the other condition")
                        .help(help),
                );
            }
        }
    }
}

fn is_and(field: Option<&str>) -> bool {
    field.is_some_and(|field| field.starts_with("and_"))
}

/// Two conditions that exclude each other, or whose negations do.
fn contradiction(conditions: &[Node], and: bool) -> Option<(&Node, &Node)> {
    let mut known: HashMap<String, (String, &Node)> = HashMap::new();
    for condition in conditions {
        let inner = if and { Some(condition) } else { get(condition, "not_rule").or_else(|| get(condition, "not_id")) };
        let Some((about, value)) = inner.and_then(exact) else { continue };
        match known.get(&about) {
            Some((other, first)) if exclude(other, &value) => return Some((first, condition)),
            Some(_) => {}
            None => {
                known.insert(about, (value, condition));
            }
        }
    }
    None
}

/// Whether no request has both values: different texts, or ranges of addresses without a common one.
fn exclude(one: &str, other: &str) -> bool {
    let (Some((first, first_length)), Some((second, second_length))) = (range(one), range(other)) else {
        return one != other;
    };
    let length = first_length.min(second_length);
    first.contains(':') != second.contains(':') || network(first, length) != network(second, length)
}

/// The address of a range, and its length.
fn range(text: &str) -> Option<(&str, u64)> {
    let (address, length) = text.split_once('/')?;
    address.parse::<IpAddr>().ok()?;
    Some((address, length.parse().ok()?))
}

/// What a condition is about, and the only value, or range of addresses, that satisfies it.
fn exact(condition: &Node) -> Option<(String, String)> {
    let text = |node: &Node, keys: &[&str]| {
        let found = keys.iter().try_fold(node, |node, key| get(node, key))?;
        found.as_str().map(str::to_owned)
    };
    if let Some(header) = get(condition, "header") {
        let value = text(header, &["string_match", "exact"]).or_else(|| text(header, &["exact_match"]))?;
        let inverted = get(header, "invert_match").is_some();
        return (!inverted)
            .then(|| Some((format!("header {}", text(header, &["name"])?.to_ascii_lowercase()), value)))?;
    }
    if let Some(name) = get(condition, "authenticated").and_then(|it| text(it, &["principal_name", "exact"])) {
        return Some(("identity".to_owned(), name));
    }
    ["source_ip", "direct_remote_ip", "remote_ip"].iter().find_map(|field| {
        let range = get(condition, field)?;
        let Some(NodeValue::Number(length)) = get(range, "prefix_len").map(|node| &node.value) else { return None };
        Some(((*field).to_owned(), format!("{}/{length}", text(range, &["address_prefix"])?)))
    })
}
