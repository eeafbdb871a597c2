//! EF313: a MERGE that does not name a filter and therefore changes every filter.

use crate::declare_rule;
use crate::engine::program::Status;
use crate::engine::program::names_filter;
use crate::engine::trace::Effect;
use crate::lint::document;
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, Operation};

declare_rule! {
    /// A MERGE that does not name a filter and therefore changes every filter.
    ///
    /// # What it finds
    /// A MERGE of HTTP_FILTER without `subFilter`, or of NETWORK_FILTER without `filter`.
    ///
    /// # Why it matters
    /// istiod merges it into every filter of the list, not only into the one with the name in `value` (which renames
    /// them all). Merging into a filter of another type makes istiod panic.
    ///
    /// # How to fix
    /// Name the filter in the match.
    ///
    /// # References
    /// istiod `pilot/pkg/networking/core/envoyfilter`, releases 1.22 to 1.31; recorded.
    "EF313" "merge-into-every-filter" Operation Warning => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let dropped = document::Dropped::of(cx);
    for view in cx.patches() {
        let Some(built) = view.built.filter(|built| built.status == Status::Ready) else { continue };
        let (kind, key) = match view.patch.apply_to {
            ApplyTo::HttpFilter => ("HTTP filter", "filterChain.filter.subFilter"),
            ApplyTo::NetworkFilter => ("network filter", "filterChain.filter"),
            _ => continue,
        };
        if built.operation != Operation::Merge || names_filter(view.patch.apply_to, &built.object) {
            continue;
        }
        // Another rule reports a condition that the API server drops: the filter may be named in it.
        if dropped.take_condition(&view) {
            continue;
        }
        let reached = |effect: &Effect| matches!(effect, Effect::Merged(_) | Effect::NoOp(_) | Effect::Panicked(_));
        let Some(seen) = cx.seen_if(&view, |run| run.has(reached)) else { continue };
        let mut names: Vec<&str> = Vec::new();
        for run in &seen.runs {
            for (place, _) in &run.trace.effects {
                let name = place.sub_filter.as_deref().or(place.filter.as_deref()).unwrap_or_default();
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        let finding = view
            .finding(
                rule,
                view.value_span(&["patch", "operation"]),
                format!("MERGE without `{key}` changes every {kind}"),
            )
            .label("the name in `value` does not select a filter")
            .note(seen.reached(&names))
            .help(format!("name the filter in `{key}`"));
        out.push(seen.tell(finding));
    }
}
