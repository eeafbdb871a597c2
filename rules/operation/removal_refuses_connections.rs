//! EF346: a removal after which connections are refused or closed.

use crate::declare_rule;
use crate::engine::trace::Effect;
use crate::lint::context::PatchRun;
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, Operation};
use crate::model::resource::ResourceKind;

declare_rule! {
    /// A REMOVE after which connections are refused or closed.
    ///
    /// # What it finds
    /// A NETWORK_FILTER REMOVE that leaves a filter chain without filters; a FILTER_CHAIN REMOVE that leaves a listener
    /// without filter chains; a LISTENER REMOVE of `virtualInbound` or `virtualOutbound`.
    ///
    /// # Why it matters
    /// Envoy closes every connection that a filter chain without filters matches, and rejects a listener without filter
    /// chains: a proxy that starts does not listen there, a running one keeps the listener that it has. Traffic is still redirected to the
    /// ports of the two listeners, where nothing listens any more: the workload is cut off.
    ///
    /// # How to fix
    /// REPLACE the filter instead of removing it. To leave traffic out of the proxy, use the annotations
    /// `traffic.sidecar.istio.io/excludeInboundPorts` and `excludeOutboundPorts`.
    ///
    /// # References
    /// Envoy `ActiveStreamListenerBase` ("closing connection: no filters"); tested with Envoy 1.38.2 and, for
    /// "no filter chains specified", 1.39.3.
    "EF346" "removal-refuses-connections" Operation Error => check,
    explains: &["EF342"]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        if view.built.is_none_or(|built| built.operation != Operation::Remove) {
            continue;
        }
        let broken = match view.patch.apply_to {
            ApplyTo::NetworkFilter => empty_chain,
            ApplyTo::FilterChain => no_chain,
            ApplyTo::Listener => redirected,
            _ => continue,
        };
        // A listener that only other meshes have says nothing about this one.
        let found = if view.patch.apply_to == ApplyTo::NetworkFilter {
            cx.seen_if(&view, |run| broken(run).is_some())
        } else {
            cx.seen(&view, |run| broken(run).is_some())
        };
        let Some(seen) = found else { continue };
        let Some(what) = seen.runs.first().and_then(broken) else { continue };
        let finding = view.finding(rule, view.value_span(&["patch", "operation"]), what);
        out.push(seen.tell(match view.patch.apply_to {
            ApplyTo::Listener => finding
                .label("the workload is cut off")
                .note("traffic is redirected to this listener's port before it reaches the proxy")
                .help("name the listener that you mean (match.listener.name), or leave ports out with the annotations traffic.sidecar.istio.io/excludeInboundPorts and excludeOutboundPorts"),
            ApplyTo::FilterChain => finding
                .label("the last filter chain of the listener")
                .rejected("Envoy rejects a listener without filter chains: a proxy that starts does not listen there, a running one keeps the listener that it has")
                .help("name the filter chain that you mean (match.listener.filterChain), or remove the listener"),
            _ => finding
                .label("the last filter of the chain")
                .note("Envoy closes every connection that matches a filter chain without filters")
                .help("REPLACE the filter, or remove the whole chain: applyTo: FILTER_CHAIN"),
        }));
    }
}

/// The listener that a patch left without filter chains.
fn no_chain(run: &PatchRun<'_, '_>) -> Option<String> {
    let mut removed = run.trace.effects.iter().filter(|(_, effect)| matches!(effect, Effect::Removed));
    removed.find_map(|(place, _)| {
        let listener = run.run.after(ResourceKind::Listener, &place.resource)?;
        let none = listener.get("filter_chains").is_none_or(|all| all.items().is_empty());
        (none && listener.get("default_filter_chain").is_none())
            .then(|| format!("listener `{}` has no filter chain left", place.resource))
    })
}

/// The filter chain that a patch left without filters.
fn empty_chain(run: &PatchRun<'_, '_>) -> Option<String> {
    let removed = run.trace.effects.iter().filter(|(_, effect)| matches!(effect, Effect::Removed));
    removed.map(|(place, _)| place).filter(|place| place.filter.is_some()).find_map(|place| {
        let chain = place.with(|names| names.filter = None);
        let empty = run.run.with_object(&chain, |it| Some(it.get("filters").is_none_or(|all| all.items().is_empty())));
        // This chain of `virtualInbound` and `virtualOutbound` drops its connections anyway.
        let (index, name) = place.chain.as_ref().filter(|(_, name)| !name.ends_with("-blackhole"))?;
        let number = index.map(|index| format!(" {index}")).unwrap_or_default();
        let name = if name.is_empty() { String::new() } else { format!(" `{name}`") };
        (empty == Some(true))
            .then(|| format!("filter chain{number}{name} of listener `{}` has no filter left", place.resource))
    })
}

/// The listener of redirected traffic that a patch removed.
fn redirected(run: &PatchRun<'_, '_>) -> Option<String> {
    let mut removed = run.trace.effects.iter().filter(|(_, effect)| matches!(effect, Effect::Removed));
    removed.find_map(|(place, _)| {
        let what = match &*place.resource {
            "virtualInbound" => "every connection to the workload is refused: `virtualInbound` is removed",
            "virtualOutbound" => "every connection of the workload is refused: `virtualOutbound` is removed",
            _ => return None,
        };
        run.run.after(ResourceKind::Listener, &place.resource).is_none().then(|| what.to_owned())
    })
}
