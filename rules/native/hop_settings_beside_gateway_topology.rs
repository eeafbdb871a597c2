//! EF712: a gateway's position behind other proxies, which its topology settings describe.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo, moves};
use crate::migrate::catalog::{CLIENT_CERT_HEADER, PROXY_PROTOCOL, TRUSTED_HOPS};

declare_rule! {
    /// Trusted hops or the PROXY protocol patched into a gateway, which `gatewayTopology` can set.
    ///
    /// # What it finds
    /// On gateways: a MERGE of `xff_num_trusted_hops`, `use_remote_address: true` (istiod sets it on gateways anyway) or
    /// `forward_client_cert_details` into the HTTP connection manager, and an added `proxy_protocol` listener filter.
    ///
    /// # Why it matters
    /// Everything that istiod generates for the gateway uses the topology; a patch changes one place, and the
    /// annotation and the filter together insert `proxy_protocol` twice.
    ///
    /// # How to fix
    /// Put the annotation that `kubectl envoyfilter migrate` prints on the gateway's pods (or the same under
    /// `meshConfig.defaultConfig`). It is read at start-up: restart the gateway.
    ///
    /// # References
    /// Istio: Configuring Gateway Network Topology; istio/istio#49836.
    "EF712" "hop-settings-beside-gateway-topology" Native Info => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for (patterns, message) in [
        (
            [&TRUSTED_HOPS, &PROXY_PROTOCOL].as_slice(),
            "the proxy's own settings can set how many proxies are in front of the gateway",
        ),
        (&[&CLIENT_CERT_HEADER], "the proxy's own settings can set the header with the client's certificate"),
    ] {
        moves::check(rule, cx, out, patterns, message, |_| true);
    }
}
