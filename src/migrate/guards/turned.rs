//! Patches that replace the action of routes: MERGE of `route` makes a route of a redirect, and patches that match by the action
//! then match other routes than those of the rules.

use crate::engine::program::BuiltPatch;
use crate::model::envoy_filter::{ApplyTo, ObjectMatch, RouteAction};

/// The action of the routes that a patch matches.
fn matched(built: &BuiltPatch<'_>) -> RouteAction {
    let ObjectMatch::RouteConfiguration(one) = &built.object else { return RouteAction::Any };
    let route = one.vhost.as_ref().and_then(|vhost| vhost.route.as_ref());
    route.map_or(RouteAction::Any, |route| route.action)
}

/// The action that the routes have afterwards.
fn given(built: &BuiltPatch<'_>) -> Option<RouteAction> {
    let value = built.value.as_ref()?;
    let actions = [
        ("route", RouteAction::Route),
        ("redirect", RouteAction::Redirect),
        ("direct_response", RouteAction::DirectResponse),
    ];
    actions.into_iter().find_map(|(key, action)| value.get(key).map(|_| action))
}

/// Whether a patch matches routes by their action, or may replace it.
pub(super) fn concerns(built: &BuiltPatch<'_>) -> bool {
    let (matched, given) = (matched(built), given(built));
    built.patch.apply_to == ApplyTo::HttpRoute && (matched != RouteAction::Any || given.is_some())
}

/// Whether a patch matches other routes after another one. `spares` if there are rules with another action.
pub(super) fn matters(built: &BuiltPatch<'_>, other: &BuiltPatch<'_>, spares: bool) -> bool {
    let (own, from) = (matched(built), matched(other));
    let Some(to) = given(other).filter(|to| own != RouteAction::Any && from != *to) else { return false };
    if own == to { spares } else { [RouteAction::Any, own].contains(&from) }
}
