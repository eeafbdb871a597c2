//! What to do with configuration that no native API has: the setting that comes nearest, and what it lacks.

use crate::migrate::base::value::{Fields, fieldless, paths};

/// Fields without a native one, by how their path starts.
const FIELDS: &[(&str, &str)] = &[
    (
        "common_http_protocol_options.max_headers_count",
        "`runtimeValues` of `proxy.istio.io/config` with \"envoy.reloadable_features.max_request_headers_count\", which applies to every listener of the proxy without a limit of its own",
    ),
    (
        "route.cluster_header",
        "one rule of a VirtualService for each value of the header, with `match.headers` and its destination, if the values are known",
    ),
    (
        "route.hedge_policy",
        "`retries.perTryTimeout` of a VirtualService, which ends a slow try before the next one starts; hedging waits for both",
    ),
    ("virtual_hosts", "a VirtualService with these hosts"),
];

/// The setting that is nearest to `idle_timeout` of a route.
pub(in crate::migrate) const ROUTE_IDLE: &str = "`idle_timeout` of a route has no native field; nearest: `connectionSettings.httpStreamIdleTimeout` of `proxy.istio.io/config` (Istio 1.31), which applies to every route of the proxy's listeners";

/// The setting that is nearest to `max_request_headers_kb`.
pub(in crate::migrate) const HEADER_SIZE: &str = "nearest: `runtimeValues` of `proxy.istio.io/config` with \"envoy.reloadable_features.max_request_headers_size_kb\", which applies to every listener of the proxy without a limit of its own";

/// The setting that is nearest to `local_reply_config`.
pub(in crate::migrate) const LOCAL_REPLY: &str = "nearest: Lua code of a TrafficExtension (Istio 1.30), whose `envoy_on_response` can change status, headers and body of a reply; it must be written, and it also sees the replies of services";

/// Says for socket options of listeners which API is not meant.
pub(in crate::migrate) const SOCKETS: &str = "no API sets socket options of listeners: keep the EnvoyFilter; `tcpKeepalive` of a DestinationRule is for connections to services, not for those of clients";

/// Says that fields have no native one, and what to do instead.
pub(in crate::migrate) fn without_field(value: &Fields) -> String {
    let mut all: Vec<String> = paths(&value.0);
    all.sort();
    let found = FIELDS.iter().filter(|(start, _)| {
        all.iter().any(|path| path.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
    });
    let nearest: Vec<&str> = found.map(|(_, nearest)| *nearest).collect();
    if nearest.is_empty() {
        let it = if all.len() == 1 { "it" } else { "them" };
        return format!("{}: keep the EnvoyFilter for {it}", fieldless(&all));
    }
    format!("{}; nearest: {}", fieldless(&all), nearest.join("; "))
}
