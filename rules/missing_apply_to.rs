//! EF016: a patch without `applyTo`.

use crate::declare_rule;
use crate::lint::document;
use crate::lint::{Context, Finding, Findings, Rule};
use crate::model::envoy_filter::{ApplyTo, PatchContext};

declare_rule! {
    /// A patch without `applyTo`.
    ///
    /// # What it finds
    /// An item of `configPatches` without `applyTo`, or with `INVALID`.
    ///
    /// # Why it matters
    /// istiod's admission refuses the filter. Where it gets in, the value has no type and the patch is thrown away.
    ///
    /// # How to fix
    /// Say what the patch changes.
    ///
    /// # References
    /// istiod `pkg/config/validation/envoyfilter` (release 1.31); recorded.
    "EF016" "missing-apply-to" Error => check
}

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        // istiod looks at no patch for waypoints.
        if view.patch.apply_to != ApplyTo::Invalid || view.patch.context == PatchContext::Waypoint {
            continue;
        }
        let names: Vec<_> = ApplyTo::ALL[1..].iter().map(|one| one.name()).collect();
        let written = view.node(&["applyTo"]).filter(|node| node.as_str().is_some());
        let (span, message) = match written {
            Some(node) => (node.span, "`INVALID` is no kind of object that a patch can be for"),
            None => (document::patch_place(&view, "applyTo"), "this patch has no applyTo"),
        };
        out.push(
            Finding::new(rule, span, message)
                .note("istiod's admission refuses the filter; where it gets in, istiod throws the patch away")
                .ineffective()
                .help(format!("write applyTo: and one of {}", names.join(", ")))
                .of(view.filter, Some(view.patch.index)),
        );
    }
}
