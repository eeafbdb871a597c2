//! EF714: settings of a host's routes that a VirtualService can set.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo, moves};
use crate::migrate::catalog::{
    CORS, DIRECT_RESPONSE, FAULT, REDIRECT, ROUTE_DESTINATION, ROUTE_HEADERS, ROUTE_MIRROR, ROUTE_RETRIES,
    ROUTE_REWRITE, ROUTE_TIMEOUT,
};
use crate::migrate::step::Move;

declare_rule! {
    /// Settings merged into the routes of one host, which a VirtualService could set.
    ///
    /// # What it finds
    /// A MERGE into the routes or the virtual host of one named host whose fields all exist in a VirtualService, a route
    /// inserted before all others that a VirtualService can express, and `require_tls: ALL`, which a Gateway's server has.
    ///
    /// # Why it matters
    /// Route patches stop working on waypoints as soon as the service has a VirtualService, headers are appended at
    /// each merge, and virtual hosts with the same routes are collapsed into one, so a patch may reach other hosts.
    ///
    /// # How to fix
    /// Put the settings that `kubectl envoyfilter migrate` writes into the VirtualService of the host.
    ///
    /// `lint --fix --unsafe-fixes` removes the patch and adds the object if only names, order and metadata differ and
    /// every guard holds.
    ///
    /// # References
    /// Istio: VirtualService HTTPRoute.
    "EF714" "route-settings-beside-virtual-service" Native Info => check,
    fixes: true
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let patterns = [
        &ROUTE_TIMEOUT,
        &ROUTE_RETRIES,
        &ROUTE_HEADERS,
        &ROUTE_REWRITE,
        &ROUTE_MIRROR,
        &ROUTE_DESTINATION,
        &CORS,
        &FAULT,
        &DIRECT_RESPONSE,
        &REDIRECT,
    ];
    moves::check(rule, cx, out, &patterns, "a VirtualService can set this", |found| {
        found.homes.iter().any(|home| !home.is_built_in()) && !of_gateway(found)
    });
    moves::check(rule, cx, out, &[&REDIRECT], "the server of a Gateway can redirect to HTTPS", of_gateway);
}

fn of_gateway(found: &Move) -> bool {
    found.homes.iter().any(|home| home.kind == "Gateway")
}
