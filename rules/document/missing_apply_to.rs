//! EF016: a patch without `applyTo`.

use crate::declare_rule;
use crate::lint::document;
use crate::lint::rule::{Cel, PolicyTarget};
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, PatchContext};
use crate::source::Severity;

declare_rule! {
    /// A patch without `applyTo`.
    ///
    /// # What it finds
    /// An item of `configPatches` without `applyTo`, or with `INVALID`.
    ///
    /// # Why it matters
    /// istiod's webhook rejects the EnvoyFilter. If it is stored anyway, the value has no type and the patch is discarded.
    ///
    /// # How to fix
    /// Write which kind of object the patch changes.
    ///
    /// # References
    /// istiod `pkg/config/validation/envoyfilter` (release 1.31); recorded.
    "EF016" "missing-apply-to" Document Error => check,
    policy: Cel(policy)
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        // istiod checks no patches for waypoints.
        if view.patch.apply_to != ApplyTo::Invalid || view.patch.context == PatchContext::Waypoint {
            continue;
        }
        let names: Vec<_> = ApplyTo::ALL[1..].iter().map(|one| one.name()).collect();
        let written = view.node(&["applyTo"]).filter(|node| node.as_str().is_some());
        let (span, message) = match written {
            Some(node) => (node.span, "`INVALID` is not a kind of object that a patch can apply to"),
            None => (document::patch_place(&view, "applyTo"), "this patch has no applyTo"),
        };
        out.push(
            view.finding(rule, span, message)
                .note("istiod's webhook rejects the EnvoyFilter; if it is stored anyway, istiod discards the patch")
                .ineffective()
                .help(format!("write applyTo: and one of {}", names.join(", "))),
        );
    }
}

fn policy(_: &PolicyTarget<'_>) -> Vec<Cel> {
    vec![Cel::patch(Severity::Error, r#"!@waypoint && @to == "INVALID""#, "this patch has no applyTo")]
}
