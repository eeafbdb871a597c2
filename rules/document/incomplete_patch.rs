//! EF017: a patch without `patch`, `operation` or `value`.

use crate::declare_rule;
use crate::engine::trace::Effect;
use crate::lint::document;
use crate::lint::rule::{Cel, PolicyTarget};
use crate::lint::{Context, Finding, Findings, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, Operation, PatchContext};
use crate::source::Severity;

declare_rule! {
    /// A patch without `patch`, `operation` or `value`.
    ///
    /// # What it finds
    /// An item of `configPatches` without `patch`; a `patch` without `operation`; any operation but REMOVE without a `value`.
    ///
    /// # Why it matters
    /// istiod's webhook rejects the EnvoyFilter. If it is stored anyway, the patch does nothing.
    ///
    /// # How to fix
    /// Write what is missing. REMOVE needs no value.
    ///
    /// # References
    /// istiod `pkg/config/validation/envoyfilter` (release 1.31); recorded. Panics: `InsertedClusters` in
    /// `pilot/pkg/networking/core/envoyfilter/cluster_patch.go` (1.30 and 1.31); seen with the real istiod.
    "EF017" "incomplete-patch" Document Error => check,
    explains: &["EF013", "EF119", "EF217"], policy: Cel(policy)
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        // Without applyTo, istiod stops checking, and it checks no patches for waypoints.
        if view.patch.apply_to == ApplyTo::Invalid || view.patch.context == PatchContext::Waypoint {
            continue;
        }
        let panics = view.patch.body.as_ref().is_some_and(|body| body.value.is_none())
            && cx
                .on_proxies(view.filter_index, view.patch.index)
                .any(|run| run.has(|effect| matches!(effect, Effect::Panicked(_))));
        // istiod recovers from panics, but not where it adds clusters.
        let adds = view.built.is_some_and(|built| built.operation == Operation::Add);
        let (span, message, help) = match &view.patch.body {
            None => {
                let help = "patch:\n  operation: …\n  value: …";
                (document::patch_place(&view, "patch"), "this config patch has no `patch`", help)
            }
            Some(body) if body.operation == Operation::Invalid => {
                let help = "operation: MERGE, ADD, REMOVE, INSERT_BEFORE, INSERT_AFTER, INSERT_FIRST or REPLACE";
                (view.key_span(&["patch"]), "this patch has no operation", help)
            }
            Some(body) if body.operation != Operation::Remove && body.value.is_none() => {
                let help = "write the configuration to merge or add below `value`; only REMOVE needs none";
                let key = if view.node(&["patch", "value"]).is_some() { "value" } else { "operation" };
                (view.key_span(&["patch", key]), "this patch has no value", help)
            }
            Some(_) => continue,
        };
        out.push(
            Finding::new(rule, span, message)
                .note(if panics && view.patch.apply_to == ApplyTo::Cluster && adds {
                    "istiod's admission refuses the filter; where it gets in, istiod ends with a panic whenever it \
                     generates the clusters of such a proxy, and again after each restart: no proxy of the mesh gets \
                     updates until the filter is deleted"
                } else if panics {
                    "istiod's admission refuses the filter; where it gets in, istiod panics at the first object that \
                     matches, and drops what it had still to do in that pass, patches of other filters included"
                } else {
                    "istiod's webhook rejects the EnvoyFilter; if it is stored anyway, the patch does nothing"
                })
                .ineffective()
                .snippet(help)
                .of(view.filter, Some(view.patch.index)),
        );
    }
}

fn policy(_: &PolicyTarget<'_>) -> Vec<Cel> {
    vec![Cel::patch(
        Severity::Error,
        r#"!@waypoint && @to != "INVALID" && (@op == "INVALID" || (@op != "REMOVE" && !has(p.patch.value)))"#,
        "this patch has no `patch`, no operation or no value",
    )]
}
