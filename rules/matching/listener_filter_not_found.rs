//! EF216: the listener filter that a match names does not exist.

use crate::declare_rule;
use crate::engine::trace::Condition;
use crate::lint::{Context, Findings, RuleInfo, anchor, no_match};
use crate::model::envoy_filter::ObjectMatch;

declare_rule! {
    /// `match.listener.listenerFilter` that no listener filter has when the patch runs.
    ///
    /// # What it finds
    /// The name of a listener filter that none of the matched listeners has.
    ///
    /// # Why it matters
    /// The patch silently does nothing.
    ///
    /// # How to fix
    /// Write a name that exists: `envoy.filters.listener.tls_inspector`, `envoy.filters.listener.http_inspector`,
    /// `envoy.filters.listener.original_dst`.
    ///
    /// # References
    /// istiod `pilot/pkg/networking/core/envoyfilter/listener_patch.go`.
    "EF216" "listener-filter-not-found" Matching Error => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for one in no_match::at(cx, &[Condition::ListenerFilter]) {
        let ObjectMatch::Listener(want) = &one.view.patch.object else { continue };
        if let Some(finding) = anchor::absent(rule, cx, &one, "listener", &want.listener_filter) {
            out.push(finding);
        }
    }
}
