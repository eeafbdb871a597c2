//! EF120: an extension in a slot for another kind.

use crate::declare_rule;
use crate::envoy;
use crate::lint::value::{PatchValue, Slot, short};
use crate::lint::{Context, Findings, RuleInfo};
use std::collections::BTreeSet;

declare_rule! {
    /// An extension where another kind of extension belongs.
    ///
    /// # What it finds
    /// A network filter's type among HTTP filters, an HTTP filter's among network filters, an upstream TLS context on a
    /// listener, a per-route configuration in the filter itself, and the like; a cluster, a route, an address or a
    /// `google.protobuf.Struct` where an extension belongs, or a message that is only a part of an extension's configuration
    /// (`FaultAbort` instead of `HTTPFault`), of a service's protocol or of a log entry (`envoy.service.*`, `envoy.data.*`).
    ///
    /// # Why it matters
    /// istiod does not know which type belongs where: it sends the value, and the proxy finds no such extension of the
    /// expected kind and rejects the listener or cluster.
    ///
    /// # How to fix
    /// Write the `applyTo` and place for the extension, or a type that belongs there.
    ///
    /// # References
    /// Envoy's `extensions_metadata.yaml`, releases 1.26 to 1.39: categories and types of every extension.
    "EF120" "wrong-extension-slot" Value Error => check,
    explains: &["EF119", "EF153", "EF517"]
}

/// The configuration of a filter for a route, and protocol options of a cluster: no categories of Envoy, so only messages that
/// no extension has are found there.
const FOR_ROUTES: &str = "for routes";
const PROTOCOL_OPTIONS: &str = "protocol options";

/// The kinds of extensions that a slot accepts.
fn wanted(value: &PatchValue<'_>, slot: &Slot<'_>) -> &'static [&'static str] {
    let owner = &value.objects[slot.owner];
    match slot.field.name() {
        "typed_config" => {}
        "typed_per_filter_config" => return &[FOR_ROUTES],
        "config" if owner.full_name() == "envoy.config.route.v3.FilterConfig" => return &[FOR_ROUTES],
        "typed_extension_protocol_options" => return &[PROTOCOL_OPTIONS],
        _ => return &[],
    }
    let field = owner.parent.map_or("", |(_, field)| field.name());
    match owner.full_name() {
        // Filters of the router and of a cluster run once the cluster is known.
        "envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter"
            if owner.parent.is_some_and(|(parent, _)| {
                matches!(value.objects[parent].short_name(), "Router" | "HttpProtocolOptions")
            }) =>
        {
            &["envoy.filters.http.upstream"]
        }
        "envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter" => {
            &["envoy.filters.http", "envoy.filters.http.upstream"]
        }
        "envoy.config.listener.v3.Filter" => &["envoy.filters.network"],
        "envoy.config.listener.v3.ListenerFilter" => {
            &["envoy.filters.listener", "envoy.filters.udp_listener", "envoy.filters.quic_listener"]
        }
        "envoy.config.accesslog.v3.AccessLog" => &["envoy.access_loggers"],
        "envoy.config.cluster.v3.Filter" => &["envoy.filters.upstream_network", "envoy.filters.network"],
        "envoy.config.core.v3.TransportSocket" => {
            match owner.parent.map(|(parent, _)| value.objects[parent].full_name()) {
                Some("envoy.config.listener.v3.FilterChain") => &["envoy.transport_sockets.downstream"],
                Some("envoy.config.cluster.v3.Cluster" | "envoy.config.cluster.v3.Cluster.TransportSocketMatch") => {
                    &["envoy.transport_sockets.upstream"]
                }
                _ => &[],
            }
        }
        "envoy.config.core.v3.TypedExtensionConfig" => match field {
            "compressor_library" => &["envoy.compression.compressor"],
            "decompressor_library" => &["envoy.compression.decompressor"],
            "original_ip_detection_extensions" => &["envoy.http.original_ip_detection"],
            "early_header_mutation_extensions" => &["envoy.http.early_header_mutation"],
            "session_state" => &["envoy.http.stateful_session"],
            "stateful_formatter" => &["envoy.http.stateful_header_formatters"],
            "formatters" => &["envoy.formatter"],
            _ => &[],
        },
        "envoy.config.route.v3.RetryPolicy.RetryHostPredicate" => &["envoy.retry_host_predicates"],
        "envoy.config.route.v3.RetryPolicy.RetryPriority" => &["envoy.retry_priorities"],
        "envoy.config.core.v3.HealthCheck.CustomHealthCheck" => &["envoy.health_checkers"],
        _ => &[],
    }
}

/// The display name of a category.
fn category_name(category: &str) -> String {
    match category {
        FOR_ROUTES => "the configuration of an HTTP filter for routes".to_owned(),
        PROTOCOL_OPTIONS => "a type with protocol options".to_owned(),
        "envoy.filters.http" => "an HTTP filter".to_owned(),
        "envoy.filters.network" => "a network filter".to_owned(),
        "envoy.filters.listener" | "envoy.filters.udp_listener" | "envoy.filters.quic_listener" => {
            "a listener filter".to_owned()
        }
        "envoy.filters.upstream_network" => "an upstream network filter".to_owned(),
        "envoy.access_loggers" => "an access logger".to_owned(),
        "envoy.compression.compressor" => "a compressor".to_owned(),
        "envoy.compression.decompressor" => "a decompressor".to_owned(),
        "envoy.filters.http.upstream" => "an HTTP filter of a cluster".to_owned(),
        "envoy.formatter" => "a formatter".to_owned(),
        "envoy.health_checkers" => "a health checker".to_owned(),
        "envoy.http.early_header_mutation" => "an early header mutation".to_owned(),
        "envoy.http.original_ip_detection" => "an original IP detection extension".to_owned(),
        "envoy.http.stateful_header_formatters" => "a header formatter".to_owned(),
        "envoy.http.stateful_session" => "a session state".to_owned(),
        "envoy.retry_host_predicates" => "a retry host predicate".to_owned(),
        "envoy.retry_priorities" => "a retry priority".to_owned(),
        "envoy.transport_sockets.downstream" => "a transport socket of a listener".to_owned(),
        "envoy.transport_sockets.upstream" => "a transport socket of a cluster".to_owned(),
        other => format!("an extension of the category `{other}`"),
    }
}

/// Types that only one direction of a transport socket accepts; its extension is registered for both under one name.
const DIRECTIONS: [(&str, &str); 6] = [
    ("envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext", "envoy.transport_sockets.upstream"),
    ("envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext", "envoy.transport_sockets.downstream"),
    ("envoy.extensions.transport_sockets.quic.v3.QuicUpstreamTransport", "envoy.transport_sockets.upstream"),
    ("envoy.extensions.transport_sockets.quic.v3.QuicDownstreamTransport", "envoy.transport_sockets.downstream"),
    ("envoy.extensions.transport_sockets.starttls.v3.UpstreamStartTlsConfig", "envoy.transport_sockets.upstream"),
    ("envoy.extensions.transport_sockets.starttls.v3.StartTlsConfig", "envoy.transport_sockets.downstream"),
];

/// A type for routes whose name does not say so.
const ROUTES_ONLY: &str = "envoy.extensions.filters.http.cors.v3.CorsPolicy";

/// The type that switches a filter on or off for a route.
const SWITCH: &str = "envoy.config.route.v3.FilterConfig";

/// Packages whose messages configure no extension but those in the table: the protocols of services, what is logged, what the
/// admin interface answers, and common types.
const DATA: [&str; 4] = ["envoy.admin.", "envoy.data.", "envoy.service.", "envoy.type."];

/// Whether a type that is not in the table of extensions configures none in any Envoy: a resource; data; a part of a message; a
/// `Struct`, since Envoy no longer finds extensions by their names (tested with Envoy 1.36 and 1.40). A type of a custom build is none of these.
fn is_no_extension(message: &str) -> bool {
    let resources = ["cluster", "core", "endpoint", "listener", "route"];
    let of_resource = |package: &str| {
        let rest = message.strip_prefix("envoy.config.").and_then(|rest| rest.strip_prefix(package));
        rest.is_some_and(|rest| rest.starts_with(".v3."))
    };
    message != SWITCH
        && (message == "google.protobuf.Struct"
            || resources.into_iter().any(of_resource)
            || DATA.iter().any(|package| message.starts_with(package))
            || envoy::is_part(message))
}

/// The only extension whose configuration has fields of this type, and those fields.
fn holder(part: &str, wanted: &str) -> Option<(&'static str, String)> {
    let category = if wanted == FOR_ROUTES { "envoy.filters.http" } else { wanted };
    let holders: BTreeSet<_> = envoy::holders(part, category).collect();
    let (message, _) = holders.first()?;
    if holders.iter().any(|(other, _)| other != message) {
        return None;
    }
    let fields: Vec<String> = holders.iter().map(|(_, field)| format!("`{field}`")).collect();
    Some((message, fields.join(" or ")))
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.proxy_values() {
        for slot in &value.slots {
            let wanted = wanted(value, slot);
            let Some(url) = slot.content().filter(|_| !wanted.is_empty()) else { continue };
            let direction =
                DIRECTIONS.iter().find(|(message, _)| *message == url.name()).map(|(_, category)| *category);
            let has: Vec<&str> = match direction {
                Some(category) => vec![category],
                None => envoy::extensions_of(url.name()).flat_map(envoy::Extension::categories).collect(),
            };
            let per_route = (short(url.name()).contains("PerRoute") || url.name() == ROUTES_ONLY)
                && wanted[0].starts_with("envoy.filters.");
            let is_none = has.is_empty() && is_no_extension(url.name());
            let unlisted = has.is_empty() || [FOR_ROUTES, PROTOCOL_OPTIONS].contains(&wanted[0]);
            let fits = !is_none && unlisted || has.iter().any(|category| wanted.contains(category));
            if fits && !per_route {
                continue;
            }
            let place = category_name(wanted[0]);
            let mut finding = if per_route && fits {
                value
                    .finding(rule, url.span, format!("`{}` configures routes, not the filter", short(url.name())))
                    .label(format!("{place} is expected here"))
                    .help("it belongs in `typed_per_filter_config` of a route, virtual host or route configuration")
            } else {
                let kinds: BTreeSet<String> = has.iter().map(|category| category_name(category)).collect();
                let kinds = if is_none {
                    "not an extension".to_owned()
                } else {
                    kinds.into_iter().collect::<Vec<_>>().join(" or ")
                };
                value
                    .finding(
                        rule,
                        url.span,
                        format!("`{}` is {kinds}, and {place} is expected here", short(url.name())),
                    )
                    .label(format!("not {place}"))
            };
            finding = finding
                .rejected("istiod sends it, and the proxy finds no such extension of this kind and rejects the resource that contains it");
            let apply_to = if has.contains(&"envoy.filters.http") && wanted[0] == "envoy.filters.network" {
                Some("HTTP_FILTER")
            } else if has.contains(&"envoy.filters.network") && wanted[0].starts_with("envoy.filters.") {
                Some("NETWORK_FILTER")
            } else if has.contains(&"envoy.filters.listener") {
                Some("LISTENER_FILTER")
            } else {
                None
            };
            let top = value.objects[slot.owner].parent.is_none();
            if let (Some(apply_to), true, false) = (apply_to, top, fits) {
                finding = finding.help(format!("it belongs in a patch with `applyTo: {apply_to}`"));
            }
            if let Some((message, fields)) = is_none.then(|| holder(url.name(), wanted[0])).flatten() {
                finding = finding.help(format!("write it as {fields} of `type.googleapis.com/{message}`"));
            }
            out.push(finding);
        }
    }
}
