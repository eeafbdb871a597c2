//! EF324: an added filter chain without filters, or listener without a name, which istiod drops.

use crate::declare_rule;
use crate::engine::trace::Effect;
use crate::engine::trace::NoOp;
use crate::lint::{Context, Finding, Findings, Rule};

declare_rule! {
    /// An added filter chain without filters, or listener without a name, which istiod drops.
    ///
    /// # What it finds
    /// A FILTER_CHAIN ADD whose value has no `filters`, or a LISTENER ADD whose value has no `name`.
    ///
    /// # Why it matters
    /// istiod drops them when all patches are done.
    ///
    /// # How to fix
    /// Give the chain its filters, the listener its name.
    ///
    /// # References
    /// istiod `pilot/pkg/networking/core/envoyfilter`, releases 1.22 to 1.31; recorded.
    "EF324" "added-object-empty" Error => check
}

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
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
        let finding = Finding::new(
            rule,
            view.key_span(&["patch", "value"]),
            format!("added without `{missing}`: istiod drops it"),
        )
        .label(format!("no `{missing}`"))
        .help(format!("give it `{missing}`"))
        .of(view.filter, Some(view.patch.index));
        let finding = seen.tell(finding);
        out.push(finding.ineffective());
    }
}
