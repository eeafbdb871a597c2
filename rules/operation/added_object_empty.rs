//! EF324: an added filter chain without filters, or listener without a name, which istiod drops.

use crate::declare_rule;
use crate::engine::trace::Effect;
use crate::engine::trace::NoOp;
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// An added filter chain without filters, or listener without a name, which istiod drops.
    ///
    /// # What it finds
    /// A FILTER_CHAIN ADD whose value has no `filters`, or a LISTENER ADD whose value has no `name`.
    ///
    /// # Why it matters
    /// istiod drops them after all patches.
    ///
    /// # How to fix
    /// Give the filter chain its filters, or the listener its name.
    ///
    /// # References
    /// istiod `pilot/pkg/networking/core/envoyfilter`, releases 1.22 to 1.31; recorded.
    "EF324" "added-object-empty" Operation Error => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        if cx.on_proxies(view.filter_index, view.patch.index).any(|run| run.changes()) {
            continue;
        }
        let Some(seen) = cx.seen_if(&view, |run| run.has(|effect| matches!(effect, Effect::NoOp(NoOp::AddedEmpty))))
        else {
            continue;
        };
        let missing =
            if view.patch.apply_to == crate::model::envoy_filter::ApplyTo::Listener { "name" } else { "filters" };
        let finding = view
            .finding(
                rule,
                view.key_span(&["patch", "value"]),
                format!("istiod drops what is added without `{missing}`"),
            )
            .label(format!("no `{missing}`"))
            .help(format!("give it `{missing}`"));
        let finding = seen.tell(finding);
        out.push(finding.ineffective());
    }
}
