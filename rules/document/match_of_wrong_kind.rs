//! EF021: a match that does not fit `applyTo`.

use crate::declare_rule;
use crate::lint::rule::{Cel, PolicyTarget};
use crate::lint::{Context, Finding, Findings, RuleInfo};
use crate::model::envoy_filter::{ApplyTo as To, ObjectMatch, PatchContext};
use crate::source::Severity;

declare_rule! {
    /// A match that does not fit `applyTo`.
    ///
    /// # What it finds
    /// A `match.cluster` for an HTTP_FILTER, a `match.listener` for a CLUSTER, and so on.
    ///
    /// # Why it matters
    /// istiod's webhook rejects the EnvoyFilter. If it is stored anyway, and for LISTENER_FILTER and EXTENSION_CONFIG,
    /// which the webhook does not check, the match is ignored: the patch applies everywhere.
    ///
    /// # How to fix
    /// Use `listener` for LISTENER, LISTENER_FILTER, FILTER_CHAIN, NETWORK_FILTER and HTTP_FILTER, `routeConfiguration` for
    /// ROUTE_CONFIGURATION, VIRTUAL_HOST and HTTP_ROUTE, `cluster` for CLUSTER.
    ///
    /// # References
    /// istiod `pkg/config/validation/envoyfilter` (release 1.31); recorded.
    "EF021" "match-of-wrong-kind" Document Error => check,
    explains: &["EF312"], policy: Cel(policy)
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let patch = view.patch;
        let given = match &patch.object {
            // No release reads `match.waypoint` (EF208).
            ObjectMatch::None | ObjectMatch::Waypoint(_) => continue,
            ObjectMatch::Listener(_) => "listener",
            ObjectMatch::RouteConfiguration(_) => "routeConfiguration",
            ObjectMatch::Cluster(_) => "cluster",
        };
        let wanted = match patch.apply_to {
            To::ExtensionConfig => "its name alone",
            other => match other.matched_by() {
                Some(wanted) => wanted,
                None => continue,
            },
        };
        // istiod checks no patches for waypoints.
        if wanted == given || patch.context == PatchContext::Waypoint {
            continue;
        }
        let (severity, note) = if matches!(patch.apply_to, To::ListenerFilter | To::ExtensionConfig) {
            (Severity::Warning, "istiod accepts it and ignores the match: the patch applies as if there were no match")
        } else {
            (Severity::Error, "istiod's webhook rejects the EnvoyFilter; if it is stored anyway, the match is ignored")
        };
        let message = format!("`match.{given}` does not fit applyTo: {}", patch.apply_to);
        let help = format!("{} is matched by {wanted}", patch.apply_to);
        let span = view.key_span(&["match", given]);
        let finding = Finding::new(rule, span, message)
            .severity(severity)
            .related(view.value_span(&["applyTo"]), "applyTo")
            .note(note)
            .help(help)
            .of(view.filter, Some(patch.index));
        // An error in the value of such a patch stays an error of its own.
        out.push(if severity == Severity::Warning { finding.at_line(Some(span)) } else { finding });
    }
}

fn policy(_: &PolicyTarget<'_>) -> Vec<Cel> {
    vec![
        Cel::patch(
            Severity::Error,
            r#"!@waypoint && ((@to in ["LISTENER", "FILTER_CHAIN", "NETWORK_FILTER", "HTTP_FILTER"] && (@route || @cluster)) || (@to in ["ROUTE_CONFIGURATION", "VIRTUAL_HOST", "HTTP_ROUTE"] && (@listener || @cluster)) || (@to == "CLUSTER" && (@listener || @route)))"#,
            "the kind of match does not fit applyTo",
        ),
        Cel::patch(
            Severity::Warning,
            r#"!@waypoint && ((@to == "LISTENER_FILTER" && (@route || @cluster)) || (@to == "EXTENSION_CONFIG" && (@listener || @route || @cluster)))"#,
            "the kind of match does not fit applyTo and is ignored",
        ),
    ]
}
