//! EF520: a filter that runs before istiod's authentication and authorization, because it is inserted first.

use crate::declare_rule;
use crate::engine::PatchId;
use crate::engine::program::{BuiltPatch, names_filter};
use crate::lint::context::PatchView;
use crate::lint::seen::{changed_filter_lists, config_type};
use crate::lint::{Context, Finding, Findings, Knowledge, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, Operation, PatchContext};
use crate::model::inventory::{self, Object};
use crate::proto::json;
use crate::proto::tree::Tree;
use crate::source::Node;
use crate::source::escape::one_line;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

declare_rule! {
    /// A filter inserted first that runs before authentication or authorization.
    ///
    /// # What it finds
    /// An HTTP filter inserted with INSERT_FIRST, or INSERT_BEFORE without an anchor, before `jwt_authn`, `rbac` or
    /// `ext_authz` filters that istiod generates from policies. Rate limits, CORS and login filters belong there and
    /// are not reported, unless they read the claims that `jwt_authn` finds only later. Without config dumps: by the
    /// RequestAuthentications and AuthorizationPolicies of the input for the same workloads.
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
    policy: Never("it needs the policies of the mesh")
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
    by_objects(rule, cx, out);
    let mut found: BTreeMap<(usize, usize), (BTreeSet<String>, BTreeSet<String>)> = BTreeMap::new();
    for run in cx.runs.iter().filter(|run| run.knowledge == Knowledge::Dump) {
        for (_, listener) in run.changed_listeners() {
            for (_, filters) in changed_filter_lists(listener).filter(|(http, _)| *http) {
                for (at, filter) in filters.iter().enumerate() {
                    let Some(id) = PatchId::of(filter.origin).filter(|id| !run.doubtful(*id)) else { continue };
                    if !is_first(run.plan.get(id).built) {
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
        out.push(finding(rule, &view, policies.iter().map(String::as_str)).workloads(workloads));
    }
}

fn finding<'n>(rule: &'static RuleInfo, view: &PatchView<'_>, before: impl Iterator<Item = &'n str>) -> Finding {
    let names: Vec<String> = before.map(|name| format!("`{}`", one_line(name))).collect();
    let span = view.value_span(&["patch", "operation"]);
    view.finding(rule, span, format!("this filter runs before {}", names.join(" and ")))
        .label("before all policies")
        .note("it runs for requests that these deny, and before tokens and principals are known")
        .help("operation: INSERT_BEFORE, with subFilter: {name: envoy.filters.http.router}")
}

fn is_first(built: &BuiltPatch<'_>) -> bool {
    match built.operation {
        Operation::InsertFirst => true,
        Operation::InsertBefore => !names_filter(ApplyTo::HttpFilter, &built.object),
        _ => false,
    }
}

/// Maximum number of policies that a finding names.
const NAMED: usize = 3;

/// Without a config dump, the policies of the input say which filters istiod generates.
fn by_objects(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let kinds = ["AuthorizationPolicy", "RequestAuthentication"];
    let policies: Vec<&Arc<Object>> =
        cx.inventory.policies.iter().filter(|one| kinds.contains(&one.kind.as_str())).collect();
    if policies.is_empty() {
        return;
    }
    for view in cx.patches().filter(|view| view.patch.apply_to == ApplyTo::HttpFilter) {
        let receives = [PatchContext::SidecarInbound, PatchContext::Gateway].contains(&view.patch.context);
        let Some(built) = view.built.filter(|built| receives && is_first(built)) else { continue };
        let kind = built.value.as_ref().map(config_type).unwrap_or_default();
        if kind.is_empty() || early(&kind) || cx.attaches_to_dump(view.filter_index) {
            continue;
        }
        let same = policies.iter().filter(|policy| meets(cx, &view, policy));
        let names: Vec<String> =
            same.take(NAMED).map(|one| format!("{} {}/{}", one.kind, one.namespace, one.name)).collect();
        if !names.is_empty() {
            let found = finding(rule, &view, names.iter().map(String::as_str));
            out.push(found.likely("no config dump was given; judged by the policies of the input"));
        }
    }
}

/// Whether a policy denies requests, or reads tokens, of a workload that a patch surely reaches too.
fn meets(cx: &Context<'_>, view: &PatchView<'_>, policy: &Object) -> bool {
    let (filter, root) = (view.filter, &cx.mesh.root_namespace);
    let labels = inventory::labels(policy.document.under(&["spec", "selector", "matchLabels"]));
    let attached = ["targetRef", "targetRefs"].iter().any(|key| policy.document.under(&["spec", key]).is_some());
    let audit = policy.document.under(&["spec", "action"]).and_then(Node::as_str) == Some("AUDIT");
    if attached || audit || !filter.target_refs.is_empty() {
        return false;
    }
    // Which namespaces have gateways is unknown.
    let sidecars = view.patch.context == PatchContext::SidecarInbound;
    let near = policy.namespace == filter.namespace || filter.namespace == *root && sidecars;
    if labels.is_empty() || filter.selector.is_some() {
        let selected = labels.is_empty() || filter.missing_label(&labels).is_none();
        return selected && (near || policy.namespace == *root);
    }
    // In the root namespace, the labels can be those of a gateway.
    near && sidecars && policy.namespace != *root
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
