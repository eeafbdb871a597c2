//! EF208: no release applies context WAYPOINT.

use crate::declare_rule;
use crate::engine::compat::{self, Behaviour};
use crate::lint::rule::{Cel, PolicyTarget};
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::{ObjectMatch, PatchContext};
use crate::source::Severity;

declare_rule! {
    /// `context: WAYPOINT`, which is accepted but never applied.
    ///
    /// # What it finds
    /// `context: WAYPOINT`, and `match.waypoint` with any context.
    ///
    /// # Why it matters
    /// The API has both since 1.29, but no code of istiod applies them. istiod does not validate such a patch; the API
    /// server only requires both together (EF030). Before 1.29 it rejects the context and drops `match.waypoint`.
    ///
    /// # How to fix
    /// For waypoints, use SIDECAR_INBOUND (their services) or SIDECAR_OUTBOUND, with `match.listener` and
    /// `match.routeConfiguration`; since 1.27 the filter needs `targetRefs`.
    ///
    /// # References
    /// istio/api#3577, istio/api#3442; recorded with the 1.31 line.
    "EF208" "context-waypoint" Matching Error => check,
    explains: super::context_of_other_proxies::NOWHERE, objections: &[Objected::Waypoint], policy: Cel(policy)
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let exists = cx.program.compat.has(Behaviour::WaypointContext);
    for view in cx.patches() {
        let by_context = view.patch.context == PatchContext::Waypoint;
        if !by_context && !matches!(view.patch.object, ObjectMatch::Waypoint(_)) {
            continue;
        }
        let (span, what) = if by_context {
            (view.value_span(&["match", "context"]), "context WAYPOINT")
        } else {
            (view.key_span(&["match", "waypoint"]), "match.waypoint")
        };
        let since = compat::since(Behaviour::WaypointContext);
        let (message, note) = match (exists, by_context) {
            (true, true) => (
                format!("no release of Istio applies {what}"),
                "istiod does not validate the patch, and ignores it".to_owned(),
            ),
            (true, false) => (
                format!("no release of Istio reads {what}"),
                "for istiod the patch matches every object of its context".to_owned(),
            ),
            (false, true) => (
                format!("{what} exists since Istio {}.{}, but no release applies it", since.major, since.minor),
                "this release rejects the whole filter".to_owned(),
            ),
            (false, false) => (
                format!("{what} exists since Istio {}.{}, but no release reads it", since.major, since.minor),
                "this release drops it, and the patch matches every object of its context".to_owned(),
            ),
        };
        let alone = by_context && !matches!(view.patch.object, ObjectMatch::Waypoint(_));
        let mut finding = view.finding(rule, span, message).note(note);
        if alone && cx.release.minor >= since.minor {
            finding = finding.note("the API server rejects it: context WAYPOINT needs `match.waypoint`");
        }
        out.push(
            finding
                .ineffective_if(by_context)
                .help("context: SIDECAR_INBOUND # with match.listener or match.routeConfiguration"),
        );
    }
}

fn policy(_: &PolicyTarget<'_>) -> Vec<Cel> {
    vec![Cel::patch(Severity::Error, r"@waypoint", "no release of Istio applies context WAYPOINT")]
}
