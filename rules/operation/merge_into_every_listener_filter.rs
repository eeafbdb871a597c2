//! EF314: a LISTENER_FILTER MERGE, which changes every listener filter whatever the match names.

use crate::declare_rule;
use crate::engine::program::Status;
use crate::engine::trace::Effect;
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, Operation};

declare_rule! {
    /// A LISTENER_FILTER MERGE, which changes every listener filter whatever the match names.
    ///
    /// # What it finds
    /// A MERGE with `applyTo: LISTENER_FILTER` and a `listenerFilter` match, on a control plane since Istio 1.27.
    ///
    /// # Why it matters
    /// istiod checks only whether `listenerFilter` exists, not its name: the value is merged into every listener filter
    /// with a typed_config. Merging into one of another type makes istiod panic.
    ///
    /// # How to fix
    /// REPLACE the listener filter instead: REPLACE uses the name.
    ///
    /// # References
    /// istiod 1.27 to 1.31, `listener_patch.go`; recorded.
    "EF314" "merge-into-every-listener-filter" Operation Warning => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let merge =
            view.built.is_some_and(|built| built.operation == Operation::Merge && built.status == Status::Ready);
        if view.patch.apply_to != ApplyTo::ListenerFilter || !merge {
            continue;
        }
        let others = |effect: &Effect| matches!(effect, Effect::Merged(_) | Effect::NoOp(_) | Effect::Panicked(_));
        let Some(seen) = cx.seen_if(&view, |run| run.has(others)) else { continue };
        let mut names: Vec<&str> = Vec::new();
        for run in &seen.runs {
            for name in run.trace.effects.iter().filter_map(|(place, _)| place.listener_filter.as_deref()) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        let finding = view
            .finding(
                rule,
                view.value_span(&["match", "listener", "listenerFilter"]),
                "MERGE of listener filters ignores the name in `listenerFilter`",
            )
            .label("changes every listener filter that has a typed_config")
            .note(seen.reached(&names))
            .help("write REPLACE with the whole listener filter as value: REPLACE uses the name");
        out.push(seen.tell(finding));
    }
}
