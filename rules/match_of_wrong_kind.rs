//! EF021: a match that does not go with `applyTo`.

use crate::declare_rule;
use crate::lint::{Context, Finding, Findings, Rule};
use crate::model::envoy_filter::{ApplyTo as To, ObjectMatch, PatchContext};
use crate::source::Severity;

declare_rule! {
    /// A match that does not go with `applyTo`.
    ///
    /// # What it finds
    /// A `match.cluster` for an HTTP_FILTER, a `match.listener` for a CLUSTER, and so on; `match.waypoint` without `context: WAYPOINT`.
    ///
    /// # Why it matters
    /// istiod's admission refuses the filter. Where it gets in, and for LISTENER_FILTER and EXTENSION_CONFIG where admission does not
    /// look, the match counts for nothing: the patch applies everywhere.
    ///
    /// # How to fix
    /// Use `listener` for LISTENER, LISTENER_FILTER, FILTER_CHAIN, NETWORK_FILTER and HTTP_FILTER, `routeConfiguration` for
    /// ROUTE_CONFIGURATION, VIRTUAL_HOST and HTTP_ROUTE, `cluster` for CLUSTER.
    ///
    /// # References
    /// istiod `pkg/config/validation/envoyfilter` (release 1.31); recorded.
    "EF021" "match-of-wrong-kind" Error => check
}

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let patch = view.patch;
        let given = match &patch.object {
            ObjectMatch::None => continue,
            ObjectMatch::Listener(_) => "listener",
            ObjectMatch::RouteConfiguration(_) => "routeConfiguration",
            ObjectMatch::Cluster(_) => "cluster",
            ObjectMatch::Waypoint(_) => "waypoint",
        };
        let wanted = match patch.apply_to {
            To::ExtensionConfig => "its name alone",
            other => match other.matched_by() {
                Some(wanted) => wanted,
                None => continue,
            },
        };
        // istiod looks at no patch for waypoints.
        if wanted == given || patch.context == PatchContext::Waypoint {
            continue;
        }
        let (severity, note) = if given == "waypoint" {
            (Severity::Error, "the API server accepts match.waypoint only with context: WAYPOINT")
        } else if matches!(patch.apply_to, To::ListenerFilter | To::ExtensionConfig) {
            (Severity::Warning, "istiod accepts it and ignores the match: the patch applies as if it were not there")
        } else {
            (Severity::Error, "istiod's admission refuses the filter; where it gets in, the match counts for nothing")
        };
        let message = format!("`match.{given}` does not go with applyTo: {}", patch.apply_to);
        let help = format!("{} is matched by {wanted}", patch.apply_to);
        out.push(
            Finding::new(rule, view.key_span(&["match", given]), message)
                .severity(severity)
                .related(view.value_span(&["applyTo"]), "applyTo")
                .note(note)
                .help(help)
                .of(view.filter, Some(patch.index)),
        );
    }
}
