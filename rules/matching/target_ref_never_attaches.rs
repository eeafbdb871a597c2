//! EF203: a target reference of a kind, group, name or namespace that istiod never attaches.

use crate::declare_rule;
use crate::engine::compat::Behaviour;
use crate::lint::rule::{Cel, PolicyTarget};
use crate::lint::{Context, Finding, Findings, RuleInfo};
use crate::model::envoy_filter::{EnvoyFilter, TargetRef};
use crate::source::Severity;
use crate::source::Step;
use crate::source::escape::one_line;
use crate::words;

declare_rule! {
    /// A targetRefs entry that attaches to nothing in any release.
    ///
    /// # What it finds
    /// References to a Service or ServiceEntry (documented for EnvoyFilter, attached by no release), to kinds other than
    /// Gateway and GatewayClass, to a Gateway without `group: gateway.networking.k8s.io` or with another `namespace`, and to a
    /// GatewayClass other than `istio-waypoint` or from outside the root namespace.
    ///
    /// # Why it matters
    /// The EnvoyFilter is accepted, but with `targetRefs` nothing else selects workloads: if no reference attaches, it
    /// does nothing.
    ///
    /// # How to fix
    /// Refer to the Gateway (or waypoint) by name, from its own namespace.
    ///
    /// # References
    /// istiod `pilot/pkg/model/policyattachment.go`, releases 1.27 to 1.31; recorded.
    "EF203" "target-ref-never-attaches" Matching Error => check,
    explains: super::context_of_other_proxies::ALL,
    releases: since(27), policy: Cel(policy)
}

const GROUP: &str = "gateway.networking.k8s.io";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    if !cx.program.compat.has(Behaviour::TargetRefs) {
        return;
    }
    for filter in cx.filters {
        for (index, target) in filter.target_refs.iter().enumerate() {
            let Some((key, message, help)) = trouble(filter, target, &cx.mesh.root_namespace) else { continue };
            let route: Vec<Step> = vec!["spec".into(), "targetRefs".into(), index.into(), key.into()];
            let span = filter.document.at(&route).map_or(filter.document.key_span(&route), |node| node.span);
            let others = filter.target_refs.len() - 1;
            let note = match others {
                0 => "with `targetRefs`, nothing else selects workloads: the EnvoyFilter does nothing".to_owned(),
                _ => format!("this reference does nothing; {others} of the EnvoyFilter's other references may"),
            };
            let finding = Finding::new(rule, span, message).of(filter, None).label("never attaches").note(note);
            let finding = finding.ineffective_if(others == 0);
            out.push(finding.snippet(help));
        }
    }
}

/// Kinds that create pods: those are selected by labels.
const WORKLOADS: &[&str] = &[
    "Deployment",
    "ReplicaSet",
    "StatefulSet",
    "DaemonSet",
    "Job",
    "CronJob",
    "Pod",
    "Rollout",
    "WorkloadEntry",
    "WorkloadGroup",
];

fn trouble(filter: &EnvoyFilter, target: &TargetRef, root: &str) -> Option<(&'static str, String, String)> {
    let gateway = format!("targetRefs:\n- group: {GROUP}\n  kind: Gateway\n  name: {}", one_line(&target.name));
    let waypoint = format!("targetRefs:\n- group: {GROUP}\n  kind: Gateway\n  name: <the waypoint>");
    match target.kind.as_str() {
        "Service" | "ServiceEntry" => {
            let message = format!("no release of Istio attaches an EnvoyFilter to a {}", target.kind);
            Some(("kind", message, format!("{}:\n{waypoint}", words::NO_TARGET_SERVICE)))
        }
        "Gateway" if target.group == "networking.istio.io" => {
            let message = "targetRefs cannot refer to an Istio Gateway, only to one of the Gateway API".to_owned();
            let help = "select the gateway's pods by the labels of its selector:\nworkloadSelector:\n  labels:\n    istio: ingressgateway";
            Some(("group", message, help.to_owned()))
        }
        "Gateway" | "GatewayClass" if target.group != GROUP => {
            let message = format!("a {} is found only with `group: {GROUP}`", target.kind);
            let key = if target.group.is_empty() { "kind" } else { "group" };
            Some((key, message, gateway.replace("kind: Gateway", &format!("kind: {}", target.kind))))
        }
        "Gateway" if !target.namespace.is_empty() && target.namespace != filter.namespace => {
            let message = format!("a reference reaches only its own namespace `{}`", filter.namespace);
            Some(("namespace", message, format!("move the EnvoyFilter to namespace `{}`", one_line(&target.namespace))))
        }
        "GatewayClass" if target.name != "istio-waypoint" => {
            let message = format!("only gateway class `istio-waypoint` attaches, not `{}`", target.name);
            Some((
                "name",
                message,
                format!("refer to each gateway by name:\n{}", gateway.replace(&*one_line(&target.name), "<gateway>")),
            ))
        }
        "GatewayClass" if filter.namespace != root => {
            let message = format!("a GatewayClass attaches only from the root namespace `{root}`");
            Some(("kind", message, format!("move the EnvoyFilter to `{root}`, or refer to the waypoint:\n{waypoint}")))
        }
        "Gateway" | "GatewayClass" => None,
        kind if WORKLOADS.contains(&kind) => {
            let message = format!("a `{kind}` is not a kind that an EnvoyFilter attaches to");
            let help = "select the pods by their labels, instead of `targetRefs`:\nworkloadSelector:\n  labels:\n    <key>: <value>";
            Some(("kind", message, help.to_owned()))
        }
        kind => Some(("kind", format!("a `{kind}` is not a kind that an EnvoyFilter attaches to"), waypoint)),
    }
}

fn policy(target: &PolicyTarget<'_>) -> Vec<Cel> {
    if !target.compat.has(Behaviour::TargetRefs) {
        return Vec::new();
    }
    let finds = format!(
        r#"@targets.exists(t, !(t.kind in ["Gateway", "GatewayClass"]) || !has(t.group) || t.group != "gateway.networking.k8s.io" || (t.kind == "GatewayClass" && (t.name != "istio-waypoint" || object.metadata.namespace != {:?})))"#,
        target.root_namespace
    );
    let without = "references to other namespaces: the CustomResourceDefinition rejects those";
    vec![Cel::filter(Severity::Error, finds, "a reference in targetRefs attaches to nothing").without(without)]
}
