//! EF506: a patch removes a filter that authenticates or authorizes.

use crate::declare_rule;
use crate::lint::rule::{Cel, PolicyTarget};
use crate::lint::{Confidence, Context, Findings, Knowledge, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, ObjectMatch, Operation};
use crate::source::Severity;

declare_rule! {
    /// A patch that removes or replaces a filter that authenticates or authorizes requests.
    ///
    /// # What it finds
    /// REMOVE or REPLACE of the RBAC, JWT or external authorization filters (HTTP and network), unless config dumps show
    /// that it matches nothing.
    ///
    /// # Why it matters
    /// AuthorizationPolicy and RequestAuthentication still appear to be in force (`kubectl get`), but no proxy enforces
    /// them.
    ///
    /// # How to fix
    /// Change the policy: use an AuthorizationPolicy with `action: ALLOW` for requests that must pass.
    ///
    /// # References
    /// Istio security: AuthorizationPolicy, RequestAuthentication.
    "EF506" "removes-protection" Scope Warning => check,
    policy: Cel(policy)
}

pub(crate) const PROTECT: &[(&str, &str)] = &[
    ("envoy.filters.http.rbac", "AuthorizationPolicy"),
    ("envoy.filters.network.rbac", "AuthorizationPolicy"),
    ("envoy.filters.http.jwt_authn", "RequestAuthentication"),
    ("istio_authn", "RequestAuthentication"),
    ("envoy.filters.http.ext_authz", "AuthorizationPolicy with action CUSTOM"),
    ("envoy.filters.network.ext_authz", "AuthorizationPolicy with action CUSTOM"),
];

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let operation = view.built.map_or(Operation::Invalid, |built| built.operation);
        if !matches!(operation, Operation::Remove | Operation::Replace) {
            continue;
        }
        let ObjectMatch::Listener(listener) = &view.patch.object else { continue };
        let Some(filter) = listener.filter_chain.as_ref().and_then(|chain| chain.filter.as_ref()) else { continue };
        let (name, route): (&str, &[&str]) = match (view.patch.apply_to, &filter.sub_filter) {
            (ApplyTo::NetworkFilter, _) => (&filter.name, &["match", "listener", "filterChain", "filter", "name"]),
            (ApplyTo::HttpFilter, Some(sub)) => {
                (sub, &["match", "listener", "filterChain", "filter", "subFilter", "name"])
            }
            _ => continue,
        };
        let Some((_, policy)) = PROTECT.iter().find(|(known, _)| *known == name) else { continue };
        let met: Vec<_> = cx
            .on_proxies(view.filter_index, view.patch.index)
            .filter(|met| met.run.knowledge == Knowledge::Dump)
            .collect();
        let hit: Vec<_> =
            met.iter().filter(|met| met.trace.effects.iter().any(|(_, effect)| effect.changes())).collect();
        if !met.is_empty() && hit.is_empty() {
            continue;
        }
        let verb = if operation == Operation::Remove { "removes" } else { "replaces" };
        out.push(
            view.finding(rule, view.value_span(route), format!("this patch {verb} `{name}`, which enforces {policy}"))
                .confidence(if hit.is_empty() { Confidence::Likely } else { Confidence::Certain })
                .label("no longer enforced")
                .note(format!("each {policy} stays visible, but no proxy that this patch changes enforces it"))
                .help(format!("change the {policy} instead"))
                .workloads(hit.iter().map(|met| met.run.label().to_owned())),
        );
    }
}

fn policy(_: &PolicyTarget<'_>) -> Vec<Cel> {
    let names = Cel::list(&[
        "envoy.filters.http.rbac",
        "envoy.filters.network.rbac",
        "envoy.filters.http.jwt_authn",
        "istio_authn",
        "envoy.filters.http.ext_authz",
        "envoy.filters.network.ext_authz",
    ]);
    let finds = format!(
        r#"@judged && @op in ["REMOVE", "REPLACE"] && @filter && ((@to == "NETWORK_FILTER" && has(@f.name) && @f.name in {names}) || (@to == "HTTP_FILTER" && has(@f.subFilter) && has(@f.subFilter.name) && @f.subFilter.name in {names}))"#
    );
    let message = "this patch removes or replaces a filter that authenticates or authorizes requests";
    vec![Cel::patch(Severity::Warning, finds, message).without("whether it has an effect on a proxy")]
}
