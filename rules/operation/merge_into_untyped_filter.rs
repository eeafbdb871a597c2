//! EF328: a MERGE into a filter that istiod cannot merge into.

use crate::declare_rule;
use crate::engine::trace::Effect;
use crate::engine::trace::NoOp;
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// A MERGE into a filter that istiod cannot merge into.
    ///
    /// # What it finds
    /// A MERGE that matches only filters without typed_config (those with `config_discovery`, such as WasmPlugins),
    /// filters whose type istiod does not know, or an HTTP connection manager without configuration.
    ///
    /// # Why it matters
    /// istiod leaves such filters as they are: the patch changes nothing.
    ///
    /// # How to fix
    /// REPLACE the filter, or change the object that it comes from (WasmPlugin, Telemetry).
    ///
    /// # References
    /// istiod `pilot/pkg/networking/core/envoyfilter`, releases 1.22 to 1.31; recorded.
    "EF328" "merge-into-untyped-filter" Operation Error => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let skipped = |effect: &Effect| {
            matches!(effect, Effect::NoOp(NoOp::TargetUntyped | NoOp::TypeUnknown | NoOp::NoHttpConnectionManager))
        };
        if cx.on_proxies(view.filter_index, view.patch.index).any(|run| run.changes()) {
            continue;
        }
        let Some(seen) = cx.seen_if(&view, |run| run.has(skipped)) else { continue };
        let first = seen.runs[0].trace.effects.iter().find(|(_, effect)| skipped(effect));
        let Some((place, effect)) = first else { continue };
        let why = match effect {
            Effect::NoOp(NoOp::TargetUntyped) => "has no typed_config to merge into",
            Effect::NoOp(NoOp::NoHttpConnectionManager) => "has no HTTP connection manager configuration",
            _ => "has a type that istiod does not know, or the patch has",
        };
        let finding = view
            .finding(rule, view.value_span(&["patch", "operation"]), format!("{} {why}", place.innermost()))
            .label("leaves the filter as it is")
            .help("REPLACE the filter, or change the object that it comes from (WasmPlugin, Telemetry)")
            .cause(seen.cause_of_no_op(cx, &view));
        let full = finding.cause.is_none().then(|| format!("the full path is {place}"));
        let finding = seen.tell(finding.notes(full));
        out.push(finding.ineffective());
    }
}
