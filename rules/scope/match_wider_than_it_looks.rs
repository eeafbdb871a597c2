//! EF503: istiod does not read the only narrowing condition of a match.

use crate::declare_rule;
use crate::engine::compat::Behaviour;
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, FilterChainMatch, ObjectMatch, Operation, Patch, RouteAction};

declare_rule! {
    /// A match that is wider than it looks, because istiod does not read its only condition.
    ///
    /// # What it finds
    /// `vhost.domainName` for a control plane before 1.26. Conditions on a part of what the patch changes: `filterChain` with
    /// applyTo LISTENER or LISTENER_FILTER, `vhost` with ROUTE_CONFIGURATION, `vhost.route` with VIRTUAL_HOST. Fields that no
    /// release reads, such as `portName`, have a rule of their own.
    ///
    /// # Why it matters
    /// The patch changes every virtual host of the context instead of one, or all of an object instead of a part.
    ///
    /// # How to fix
    /// Write a condition that is read, such as `vhost.name`, or apply the patch to the part.
    ///
    /// # References
    /// istiod `pilot/pkg/networking/core/envoyfilter`, releases 1.22 to 1.31; recorded.
    "EF503" "match-wider-than-it-looks" Scope Warning => check,
    objections: &[Objected::DomainName]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let mut report = |route: &[&str], message: &str, help: &str| {
            out.push(view.finding(rule, view.key_span(route), message).label("not read").help(help));
        };
        if let Some((route, message, help)) = below(view.patch) {
            report(route, message, help);
            continue;
        }
        if let ObjectMatch::RouteConfiguration(route) = &view.patch.object
            && !cx.program.compat.has(Behaviour::DomainName)
            && let Some(vhost) = &route.vhost
            && !vhost.domain_name.is_empty()
            && vhost.name.is_empty()
        {
            report(
                &["match", "routeConfiguration", "vhost", "domainName"],
                "before Istio 1.26 `domainName` is not read: this patch matches every virtual host",
                "name: <host>:<port>",
            );
        }
    }
}

/// A condition on a part of what a patch is applied to: where it stands, what happens, and what to write.
fn below(patch: &Patch) -> Option<(&'static [&'static str], &'static str, &'static str)> {
    // What is added is added without a look at such a part.
    if patch.body.as_ref().is_none_or(|body| body.operation == Operation::Add) {
        return None;
    }
    match (&patch.object, patch.apply_to) {
        (ObjectMatch::Listener(listener), ApplyTo::Listener | ApplyTo::ListenerFilter) => {
            // A filter match has a rule of its own.
            let chain = listener.filter_chain.as_ref().filter(|chain| chain.filter.is_none())?;
            (*chain != FilterChainMatch::default()).then_some((
                &["match", "listener", "filterChain"],
                "`filterChain` is not read for listeners and their filters: this patch changes the listener for all connections",
                "match the listener by name or portNumber, and filter chains with applyTo: FILTER_CHAIN, NETWORK_FILTER or HTTP_FILTER",
            ))
        }
        (ObjectMatch::RouteConfiguration(routes), ApplyTo::RouteConfiguration) => {
            let vhost = routes.vhost.as_ref()?;
            let described = !vhost.name.is_empty() || !vhost.domain_name.is_empty() || vhost.route.is_some();
            described.then_some((
                &["match", "routeConfiguration", "vhost"],
                "`vhost` is not read for route configurations: this patch changes all virtual hosts",
                "applyTo: VIRTUAL_HOST, or delete `vhost` if all hosts are meant",
            ))
        }
        (ObjectMatch::RouteConfiguration(routes), ApplyTo::VirtualHost) => {
            let route = routes.vhost.as_ref()?.route.as_ref()?;
            (!route.name.is_empty() || route.action != RouteAction::Any).then_some((
                &["match", "routeConfiguration", "vhost", "route"],
                "`route` is not read for virtual hosts: this patch changes virtual hosts whatever their routes",
                "applyTo: HTTP_ROUTE, or delete `route` if whole virtual hosts are meant",
            ))
        }
        _ => None,
    }
}
