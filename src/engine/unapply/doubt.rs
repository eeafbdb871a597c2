//! What a reconstruction cannot tell: objects that REMOVE and REPLACE took are in no dump.

use crate::engine::program::{Plan, proxy_runs};
use crate::engine::trace::PatchId;
use crate::engine::{Judged, Outcome, matching};
use crate::model::envoy_filter::{ApplyTo, ObjectMatch, Operation};
use crate::model::resource::ProxyConfig;
use std::collections::BTreeSet;

/// Patches whose outcome on the proxy is unknown although the run over the reconstruction gives one: they match nothing there,
/// but what they could match may have been removed, replaced or renamed.
pub fn doubtful(plan: &Plan<'_>, judged: &Judged<'_>) -> BTreeSet<PatchId> {
    let takers: Vec<PatchId> = plan.ids().filter(|&id| proxy_runs(plan.get(id)) && takes(plan, id)).collect();
    if takers.is_empty() {
        return BTreeSet::new();
    }
    plan.ids()
        .filter(|&id| {
            let outcome = judged.outcome(plan, id);
            let nothing =
                matches!(outcome, Outcome::NoMatch | Outcome::NoOp | Outcome::Aborted) && proxy_runs(plan.get(id));
            nothing && !changed(judged, id) && takers.iter().any(|&taker| reaches(plan, taker, id))
        })
        .collect()
}

fn changed(judged: &Judged<'_>, id: PatchId) -> bool {
    judged.trace.patches[id.index()].effects.iter().any(|(_, effect)| effect.changes())
}

/// Whether a merge that left no trace may have changed its target so that it no longer matches: the dump contains an object
/// with the name it sets, or it writes other fields that matches read.
pub(crate) fn hides(plan: &Plan<'_>, config: &ProxyConfig<'_>, id: PatchId) -> bool {
    let planned = plan.get(id);
    let built = planned.built;
    let Some(value) = built.value.as_ref().filter(|_| proxy_runs(planned) && built.operation.is_merge()) else {
        return false;
    };
    let apply_to = built.patch.apply_to;
    let named = match &built.object {
        ObjectMatch::Listener(listener) if apply_to == ApplyTo::Listener => Some(listener.name.as_str()),
        ObjectMatch::Listener(listener) if apply_to == ApplyTo::FilterChain => {
            listener.filter_chain.as_ref().map(|chain| chain.name.as_str())
        }
        ObjectMatch::Listener(_) => filter_name(&built.object, apply_to),
        ObjectMatch::Cluster(cluster) => Some(cluster.name.as_str()),
        ObjectMatch::RouteConfiguration(routes) => match apply_to {
            ApplyTo::RouteConfiguration => Some(routes.name.as_str()),
            ApplyTo::VirtualHost => routes.vhost.as_ref().map(|vhost| vhost.name.as_str()),
            _ => routes.vhost.as_ref().and_then(|vhost| vhost.route.as_ref()).map(|route| route.name.as_str()),
        },
        _ => None,
    };
    let given = value.name();
    if !given.is_empty() && named != Some(given) {
        let quoted = format!("\"{given}\"");
        return config
            .resources
            .iter()
            .any(|it| memchr::memmem::find(it.json.search().as_bytes(), quoted.as_bytes()).is_some());
    }
    let keys: &[&str] = match apply_to {
        ApplyTo::Listener => &["address"],
        ApplyTo::FilterChain => &["filter_chain_match"],
        ApplyTo::Cluster => &["metadata"],
        ApplyTo::HttpRoute => &["route", "redirect", "direct_response", "filter_action", "non_forwarding_action"],
        _ => &[],
    };
    value.entries().iter().any(|(key, _)| keys.contains(&&**key))
}

/// Whether a patch may have removed something that the dump no longer shows.
fn takes(plan: &Plan<'_>, id: PatchId) -> bool {
    let built = plan.get(id).built;
    match built.operation {
        Operation::Remove | Operation::Replace => true,
        // A merge that writes fields that matches read: a name, an address, criteria, domains, an action.
        Operation::Merge | Operation::MergeAndReplaceList => built.value.as_ref().is_some_and(|value| {
            let keys: &[&str] = match built.patch.apply_to {
                ApplyTo::Listener => &["name", "address", "filter_chains", "default_filter_chain", "listener_filters"],
                ApplyTo::FilterChain => &["name", "filter_chain_match", "filters"],
                ApplyTo::Cluster => &["name", "metadata", "transport_socket"],
                ApplyTo::RouteConfiguration => &["name", "virtual_hosts"],
                ApplyTo::VirtualHost => &["name", "domains", "routes"],
                ApplyTo::HttpRoute => {
                    &["name", "route", "redirect", "direct_response", "filter_action", "non_forwarding_action"]
                }
                _ => &["name", "typed_config", "config_discovery"],
            };
            value.entries().iter().any(|(key, _)| keys.contains(&&**key))
        }),
        _ => false,
    }
}

/// How deep in its resource an applyTo works; deeper ones are inside what shallower ones change.
fn depth(apply_to: ApplyTo) -> Option<(u8, u8)> {
    Some(match apply_to {
        ApplyTo::Listener => (0, 0),
        ApplyTo::FilterChain => (0, 1),
        ApplyTo::ListenerFilter => (1, 1),
        ApplyTo::NetworkFilter => (0, 2),
        ApplyTo::HttpFilter => (0, 3),
        ApplyTo::RouteConfiguration => (2, 4),
        ApplyTo::VirtualHost => (2, 5),
        ApplyTo::HttpRoute => (2, 6),
        ApplyTo::Cluster => (3, 0),
        ApplyTo::ExtensionConfig => (4, 9),
        ApplyTo::Bootstrap | ApplyTo::Invalid => return None,
    })
}

/// Whether an object that one patch took can be or contain what another one looks for.
fn reaches(plan: &Plan<'_>, taker: PatchId, id: PatchId) -> bool {
    let (one, other) = (plan.get(taker).built, plan.get(id).built);
    let (Some((area, level)), Some((other_area, other_level))) =
        (depth(one.patch.apply_to), depth(other.patch.apply_to))
    else {
        return false;
    };
    let inside = match (area, other_area) {
        (3, _) | (_, 3) => area == other_area,
        // Listeners contain everything else: listener filters, inline routes. They request routes and extensions.
        (0, 1) => level == 0,
        (0, _) | (1, 1 | 4) | (2, 2) => level <= other_level,
        _ => false,
    };
    if !inside {
        return false;
    }
    // A filter with another name is another filter.
    let name = |object: &ObjectMatch, apply_to| filter_name(object, apply_to).map(str::to_owned);
    if level == other_level
        && area == other_area
        && let (Some(taken), Some(wanted)) =
            (name(&one.object, one.patch.apply_to), name(&other.object, other.patch.apply_to))
    {
        let given = one.value.as_ref().map(|value| value.name().to_owned()).unwrap_or_default();
        return taken == wanted || given == wanted;
    }
    true
}

fn filter_name(object: &ObjectMatch, apply_to: ApplyTo) -> Option<&str> {
    let listener = matching::listener_match(object)?;
    let filter = listener.filter_chain.as_ref().and_then(|chain| chain.filter.as_ref());
    match apply_to {
        ApplyTo::ListenerFilter => Some(listener.listener_filter.as_str()).filter(|name| !name.is_empty()),
        ApplyTo::NetworkFilter => filter.map(|filter| filter.name.as_str()),
        ApplyTo::HttpFilter => filter.and_then(|filter| filter.sub_filter.as_deref()),
        _ => None,
    }
}
