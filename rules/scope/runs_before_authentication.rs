//! EF520: a filter that runs before istiod's authentication and authorization, because it is inserted first.

use crate::declare_rule;
use crate::engine::PatchId;
use crate::engine::program::names_filter;
use crate::lint::seen::{changed_filter_lists, config_type};
use crate::lint::{Context, Findings, Knowledge, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, Operation};
use crate::proto::json;
use crate::proto::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};

declare_rule! {
    /// A filter inserted first that runs before authentication or authorization.
    ///
    /// # What it finds
    /// An HTTP filter inserted with INSERT_FIRST, or INSERT_BEFORE without an anchor, before `jwt_authn`, `rbac` or
    /// `ext_authz` filters that istiod generates from policies. Rate limits, CORS and login filters belong there and
    /// are not reported, unless they read the claims that `jwt_authn` finds only later. Needs config dumps.
    ///
    /// # Why it matters
    /// The filter runs for requests that the policies deny, and cannot use their results: claims and principals do not
    /// exist yet. A header that it trusts may be forged.
    ///
    /// # How to fix
    /// INSERT_BEFORE the router, which comes after all policies.
    ///
    /// # References
    /// istiod `pilot/pkg/networking/core/listener_builder.go`: the order of HTTP filters.
    "EF520" "runs-before-authentication" Scope Warning => check,
    needs: &[Dump], policy: Never("it needs the policies of the mesh")
}

/// Packages below `envoy.extensions.filters.http` that are intended to run early, or that make decisions themselves.
const EARLY: &[&str] = &[
    "local_ratelimit",
    "ratelimit",
    "rate_limit_quota",
    "cors",
    "csrf",
    "oauth2",
    "buffer",
    "compressor",
    "decompressor",
    "health_check",
    "ip_tagging",
    "original_src",
    "jwt_authn",
    "rbac",
    "ext_authz",
    "basic_auth",
    "api_key_auth",
    "fault",
    "cdn_loop",
    "geoip",
    "bandwidth_limit",
    "admission_control",
    "adaptive_concurrency",
    "grpc_stats",
    "grpc_web",
    "connect_grpc_bridge",
    "tap",
    "kill_request",
];

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let mut found: BTreeMap<(usize, usize), (BTreeSet<String>, BTreeSet<String>)> = BTreeMap::new();
    for run in cx.runs.iter().filter(|run| run.knowledge == Knowledge::Dump) {
        for (_, listener) in run.changed_listeners() {
            for (_, filters) in changed_filter_lists(listener).filter(|(http, _)| *http) {
                for (at, filter) in filters.iter().enumerate() {
                    let Some(id) = PatchId::of(filter.origin).filter(|id| !run.doubtful(*id)) else { continue };
                    let built = run.plan.get(id).built;
                    let first = match built.operation {
                        Operation::InsertFirst => true,
                        Operation::InsertBefore => !names_filter(ApplyTo::HttpFilter, &built.object),
                        _ => false,
                    };
                    if !first {
                        continue;
                    }
                    let early = early(&config_type(filter));
                    let policies = filters[at + 1..].iter().filter(|later| PatchId::of(later.origin).is_none());
                    let policies: BTreeSet<String> = policies
                        .filter(|later| if early { claims(filter, later) } else { decides(&config_type(later)) })
                        .map(|later| later.name().to_owned())
                        .collect();
                    if !policies.is_empty() {
                        let planned = run.plan.get(id);
                        let entry = found.entry((planned.filter, planned.built.patch.index)).or_default();
                        entry.0.extend(policies);
                        entry.1.insert(run.label().to_owned());
                    }
                }
            }
        }
    }
    for ((filter, patch), (policies, workloads)) in found {
        let Some(view) = cx.patch(filter, patch) else { continue };
        let names: Vec<String> = policies.iter().map(|name| format!("`{name}`")).collect();
        out.push(
            view.finding(
                rule,
                view.value_span(&["patch", "operation"]),
                format!("this filter runs before {}", names.join(" and ")),
            )
            .label("before all policies")
            .note("it runs for requests that these deny, and before tokens and principals are known")
            .help("operation: INSERT_BEFORE, with subFilter: {name: envoy.filters.http.router}")
            .workloads(workloads),
        );
    }
}

fn package(kind: &str) -> &str {
    kind.strip_prefix("envoy.extensions.filters.http.").and_then(|rest| rest.split('.').next()).unwrap_or_default()
}

fn early(kind: &str) -> bool {
    EARLY.contains(&package(kind))
}

/// Whether a filter names the metadata that a later one writes from tokens.
fn claims(filter: &Tree<'_>, later: &Tree<'_>) -> bool {
    package(&config_type(later)) == "jwt_authn" && json::canonical(filter).contains(&format!("\"{}\"", later.name()))
}

fn decides(kind: &str) -> bool {
    matches!(package(kind), "jwt_authn" | "rbac" | "ext_authz")
}
