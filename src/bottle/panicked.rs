//! Resources of a pass in which a patch makes istiod panic: it has patched some of them by then, and their order varies.

use super::computed::{Resources, computed};
use crate::engine::{Options, PatchId, Plan};
use crate::model::envoy_filter::ApplyTo;
use crate::model::resource::{ProxyConfig, Resource, ResourceKind};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Whether istiod may send this for a resource that a panic may have kept from it: in a pass that panicked, the resource without
/// patches, or with those that reach it when it is the only one. Which routes and extension configurations a proxy requests depends on
/// what its listeners are patched to; how these are patched does not. `None`: it sends none.
///
/// Source: istiod `pilot/pkg/networking/core/envoyfilter` (a panic ends the call, and what is patched by then stays), releases 1.22
/// to 1.31; listeners come from a Go map.
pub(super) fn may_send(
    (plan, config, options): (&Plan<'_>, &ProxyConfig<'_>, &Options),
    passes: &BTreeSet<ResourceKind>,
    base: &Resources,
    key: &(ResourceKind, String),
    theirs: Option<&Vec<String>>,
) -> bool {
    let (own, listeners) = (passes.contains(&key.0), passes.contains(&ResourceKind::Listener));
    let requested = listeners && matches!(key.0, ResourceKind::Route | ResourceKind::ExtensionConfig);
    if own && theirs == base.get(key) || requested && theirs.is_none() {
        return true;
    }
    if !own && !requested {
        return false;
    }
    let without = requested.then(|| plan.without(&of_listeners(plan)));
    let is_kept =
        |one: &&Resource<'_>| one.kind == key.0 && one.name == key.1 || requested && one.kind == ResourceKind::Listener;
    let resources: Vec<Resource<'_>> = config.resources.iter().filter(is_kept).cloned().collect();
    let alone = ProxyConfig { resources: Arc::from(resources), ..config.clone() };
    theirs == computed(without.as_ref().unwrap_or(plan), &alone, options).resources.get(key)
}

/// The patches of listeners and what is in them.
fn of_listeners(plan: &Plan<'_>) -> Vec<PatchId> {
    let is_in_listener = |id: &PatchId| {
        use ApplyTo::{FilterChain, HttpFilter, Listener, ListenerFilter, NetworkFilter};
        let kind = plan.get(*id).built.patch.apply_to;
        matches!(kind, Listener | ListenerFilter | FilterChain | NetworkFilter | HttpFilter)
    };
    plan.ids().filter(is_in_listener).collect()
}
