//! Resources of a pass in which a patch makes istiod panic: it has patched some of them by then, and their order varies.

use super::computed::{Computed, Resources, computed};
use crate::engine::{Options, PatchId, Plan};
use crate::model::envoy_filter::ApplyTo;
use crate::model::resource::{ProxyConfig, Resource, ResourceKind};
use std::sync::Arc;

/// Whether istiod may send this for a resource, depending on whether it patched it before the panic: the resource without patches,
/// or with those that reach it when it is the only one of its kind. `None`: it sends none.
///
/// Source: istiod `pilot/pkg/networking/core/envoyfilter` (a panic ends the call, and what is patched by then stays), releases 1.22
/// to 1.31; listeners come from a Go map.
pub(super) fn may_send(
    plan: &Plan<'_>,
    config: &ProxyConfig<'_>,
    options: &Options,
    base: &Resources,
    key: &(ResourceKind, String),
    theirs: Option<&Vec<String>>,
) -> bool {
    if theirs == base.get(key) {
        return true;
    }
    // A proxy requests the routes that its listeners name.
    if theirs.is_none() && key.0 == ResourceKind::Route {
        return true;
    }
    // Which listeners request a route depends on what they are patched to, and how it is patched does not.
    let route_only = (key.0 == ResourceKind::Route).then(|| plan.without(&of_listeners(plan)));
    let other = |one: &&Resource<'_>| one.kind != key.0 || one.name == key.1;
    let resources: Vec<Resource<'_>> = config.resources.iter().filter(other).cloned().collect();
    let alone = ProxyConfig { resources: Arc::from(resources), ..config.clone() };
    let Computed { resources, .. } = computed(route_only.as_ref().unwrap_or(plan), &alone, options);
    theirs == resources.get(key)
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
