//! EF303: a LISTENER_FILTER MERGE on a control plane before Istio 1.27, which does nothing.

use crate::declare_rule;
use crate::engine::compat::Behaviour;
use crate::engine::program::Status;
use crate::engine::trace::NoOp;
use crate::lint::rule::{Cel, PolicyTarget};
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::Severity;

declare_rule! {
    /// A LISTENER_FILTER MERGE on a control plane before Istio 1.27, where it has no effect.
    ///
    /// # What it finds
    /// A patch with `applyTo: LISTENER_FILTER` and operation MERGE for a control plane older than 1.27.
    ///
    /// # Why it matters
    /// Istio before 1.27 has no code for it: the patch is accepted and ignored.
    ///
    /// # How to fix
    /// Write REPLACE with `listenerFilter`, the name of the filter, and the whole filter as value: that works in
    /// every release.
    ///
    /// # References
    /// istiod pull request 56486; recorded in 1.26 and 1.28.
    "EF303" "listener-filter-merge-before-1-27" Operation Error => check,
    releases: before(27), policy: Cel(policy)
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        if view.built.is_none_or(|built| built.status != Status::NoOp(NoOp::ListenerFilterMergeBefore127)) {
            continue;
        }

        out.push(
            view.finding(
                rule,
                view.value_span(&["patch", "operation"]),
                format!("MERGE of listener filters has no effect in Istio {}", cx.release),
            )
            .label("exists since Istio 1.27")
            .note("the EnvoyFilter is accepted and nothing is logged, but the patch changes no proxy")
            .help("write REPLACE, with `match.listener.listenerFilter` and the whole filter as value")
            .ineffective(),
        );
    }
}

fn policy(target: &PolicyTarget<'_>) -> Vec<Cel> {
    if target.compat.has(Behaviour::ListenerFilterMerge) {
        return Vec::new();
    }
    vec![Cel::patch(
        Severity::Error,
        r#"@judged && @to == "LISTENER_FILTER" && @op == "MERGE""#,
        "this release of istiod ignores a MERGE of listener filters",
    )]
}
