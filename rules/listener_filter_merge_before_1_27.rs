//! EF303: a LISTENER_FILTER MERGE on a control plane before Istio 1.27, which does nothing.

use crate::declare_rule;
use crate::engine::program::Status;
use crate::engine::trace::NoOp;
use crate::lint::{Context, Finding, Findings, Rule};

declare_rule! {
    /// A LISTENER_FILTER MERGE on a control plane before Istio 1.27, which does nothing.
    ///
    /// # What it finds
    /// A patch with `applyTo: LISTENER_FILTER` and operation MERGE where the control plane is older than 1.27.
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
    "EF303" "listener-filter-merge-before-1-27" Error => check
}

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        if view.built.is_none_or(|built| built.status != Status::NoOp(NoOp::ListenerFilterMergeBefore127)) {
            continue;
        }

        out.push(
            Finding::new(
                rule,
                view.value_span(&["patch", "operation"]),
                format!("MERGE of listener filters does nothing in Istio {}", cx.release),
            )
            .label("exists from Istio 1.27 on")
            .note("the filter is accepted and nothing is logged: the patch changes no proxy")
            .help("write REPLACE, with `match.listener.listenerFilter` and the whole filter as value")
            .ineffective()
            .of(view.filter, Some(view.patch.index)),
        );
    }
}
