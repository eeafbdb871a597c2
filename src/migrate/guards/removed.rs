//! istiod's own filters take the place of those that patches insert: a patch that removes, replaces or changes istiod's filter
//! would do so to what moves.

use crate::engine::program::{BuiltPatch, Status};
use crate::migrate::base::catalog::{self, Pattern};
use crate::migrate::base::filters::{CORS, EXCHANGE, EXT_AUTHZ, JWT, RBAC};
use crate::migrate::base::names::Changer;
use crate::migrate::base::reach;
use crate::migrate::base::step::{Cx, Move, Part};
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::model::envoy_filter::{ApplyTo, Operation};
use serde_json::Value as Json;

/// The filters of istiod that do the work once a patch has moved, by pattern.
const IN_PLACE: &[(&Pattern, &[&str])] = &[
    (&catalog::RBAC, &[RBAC, "envoy.filters.network.rbac"]),
    (&catalog::JWT, &[JWT, RBAC]),
    (&catalog::EXT_AUTHZ, &[EXT_AUTHZ, RBAC, "envoy.filters.network.ext_authz"]),
    (&catalog::CORS, &[CORS]),
    (&catalog::GRPC_WEB, &["envoy.filters.http.grpc_web"]),
    (&catalog::STATS_NULL_VM, &["istio.stats", EXCHANGE]),
];

/// The filter that a patch removes, replaces or changes, and how.
pub(in crate::migrate) fn changed<'a>(built: &'a BuiltPatch<'_>) -> Option<(&'a str, Operation)> {
    let changes = matches!(built.operation, Operation::Remove | Operation::Replace | Operation::Merge);
    if built.status != Status::Ready || !changes {
        return None;
    }
    let name = match built.patch.apply_to {
        ApplyTo::HttpFilter => reach::anchor(&built.object),
        ApplyTo::NetworkFilter => reach::names_filter(&built.object),
        _ => None,
    };
    Some((name.filter(|name| !name.is_empty())?, built.operation))
}

/// Whether a patch of a route already has its effect by istiod's CORS filter today.
fn uses_own_cors(part: &Part<'_>) -> bool {
    let keys = part.value.peek("typed_per_filter_config").and_then(Json::as_object);
    part.apply_to() != ApplyTo::HttpFilter && keys.is_some_and(|keys| keys.keys().all(|key| key == CORS))
}

/// Refuses a move if a patch removes or replaces the filter of istiod that would do the work; lowers its class if one changes it.
pub(in crate::migrate) fn check(cx: &Cx<'_>, part: &Part<'_>, found: &mut Move) {
    if !found.moves || found.is_refused() {
        return;
    }
    let Some((pattern, all)) = IN_PLACE.iter().find(|(pattern, _)| *pattern == found.pattern) else { return };
    if *pattern == &catalog::CORS && uses_own_cors(part) {
        return;
    }
    let own = part.value.peek("name").and_then(Json::as_str);
    let meets = |one: &&Changer| {
        let same = one.operation == Operation::Merge && own == Some(one.name.as_str());
        let itself = one.user.filter == cx.index && one.user.patch == part.built.patch.index;
        !same && !itself && cx.names.finds(&one.user, cx.index, part.built.patch.context)
    };
    let mut changers: Vec<&Changer> = all.iter().flat_map(|name| cx.names.changers(name)).filter(meets).collect();
    changers.sort_by_key(|one| one.operation == Operation::Merge);
    let Some(one) = changers.first() else { return };
    let concern = match found.pattern {
        pattern if pattern == &catalog::JWT => Concern::Authentication,
        pattern if pattern == &catalog::RBAC || pattern == &catalog::EXT_AUTHZ => Concern::Authorization,
        _ => Concern::Existing,
    };
    let of =
        if one.user.filter == cx.index { String::new() } else { format!(" of {}", cx.names.title(one.user.filter)) };
    let (verb, state) = match one.operation {
        Operation::Merge => ("changes", State::Undecided),
        Operation::Replace => ("replaces", State::Broken),
        _ => ("removes", State::Broken),
    };
    let reason = format!(
        "configPatches[{}]{of} {verb} istiod's filter `{}`, which would do the work of this one",
        one.user.patch, one.name
    );
    found.difference(Kind::Behavior, reason.clone());
    found.guard(concern, state, reason);
}
