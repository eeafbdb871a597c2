//! EF147: a configuration for a route that the filter's extension does not accept there.

use crate::declare_rule;
use crate::lint::value::{Object, Slot};
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// A per-route configuration of an extension that accepts none, or of the filter's own type.
    ///
    /// # What it finds
    /// In `typed_per_filter_config`: the type of a filter that has no configuration for routes (Wasm, gRPC statistics,
    /// tap), or the type of the filter itself if routes have another one (`Buffer` instead of `BufferPerRoute`), also
    /// in the `config` of a `FilterConfig`.
    ///
    /// # Why it matters
    /// istiod sends it unchecked, and Envoy rejects the whole route configuration.
    ///
    /// # How to fix
    /// Use the type for routes, which the finding names. If there is none, narrow the match of the HTTP_FILTER patch,
    /// or let the extension read the route's metadata.
    ///
    /// # References
    /// Envoy `source/common/router/config_impl.cc` ("doesn't support virtual host or route specific configurations");
    /// each type tested with Envoy 1.39.3.
    "EF147" "per-route-config-not-taken" Value Error => check
}

const EXTENSIONS: &str = "envoy.extensions.filters.http.";

/// Types below [`EXTENSIONS`] that Envoy 1.39.3 does not accept for a route. Extensions that gained a configuration for
/// routes in some release are not listed.
const NONE: &[&str] = &[
    "adaptive_concurrency.v3.AdaptiveConcurrency",
    "alternate_protocols_cache.v3.FilterConfig",
    "cache.v3.CacheConfig",
    "cdn_loop.v3.CdnLoopConfig",
    "connect_grpc_bridge.v3.FilterConfig",
    "credential_injector.v3.CredentialInjector",
    "decompressor.v3.Decompressor",
    "gcp_authn.v3.GcpAuthnFilterConfig",
    "grpc_http1_bridge.v3.Config",
    "grpc_stats.v3.FilterConfig",
    "grpc_web.v3.GrpcWeb",
    "health_check.v3.HealthCheck",
    "ip_tagging.v3.IPTagging",
    "original_src.v3.OriginalSrc",
    "proto_message_extraction.v3.ProtoMessageExtractionConfig",
    "router.v3.Router",
    "tap.v3.Tap",
    "thrift_to_metadata.v3.ThriftToMetadata",
    "wasm.v3.Wasm",
];

/// Types of filters, and the corresponding types for routes.
const OTHERS: &[(&str, &str)] = &[
    ("buffer.v3.Buffer", "BufferPerRoute"),
    ("compressor.v3.Compressor", "CompressorPerRoute"),
    ("ext_authz.v3.ExtAuthz", "ExtAuthzPerRoute"),
    ("ext_proc.v3.ExternalProcessor", "ExtProcPerRoute"),
    ("header_mutation.v3.HeaderMutation", "HeaderMutationPerRoute"),
    ("jwt_authn.v3.JwtAuthentication", "PerRouteConfig"),
    ("lua.v3.Lua", "LuaPerRoute"),
    ("ratelimit.v3.RateLimit", "RateLimitPerRoute"),
    ("rbac.v3.RBAC", "RBACPerRoute"),
];

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        // `FilterConfig` switches a filter on or off and contains its configuration for the route.
        let wrapped = |slot: &Slot<'_>| {
            let owner = value.objects.get(slot.owner).map_or("", Object::full_name);
            slot.field.name() == "config" && owner == "envoy.config.route.v3.FilterConfig"
        };
        for slot in value.slots.iter().filter(|slot| slot.field.name() == "typed_per_filter_config" || wrapped(slot)) {
            let Some(url) = slot.content() else { continue };
            // A wrapper that only switches the filter on or off works for every filter.
            let Some(kind) = url.name().strip_prefix(EXTENSIONS) else { continue };
            if NONE.contains(&kind) {
                out.push(
                    value
                        .finding(rule, url.span, format!("`{}` cannot be configured for a route", short(kind)))
                        .label("this extension has no configuration for routes")
                        .note("Envoy rejects the whole route configuration that contains it")
                        .help("to switch the filter off for a route, write\n\"@type\": type.googleapis.com/envoy.config.route.v3.FilterConfig\ndisabled: true"),
                );
                continue;
            }
            let Some((_, route)) = OTHERS.iter().find(|(filter, _)| *filter == kind) else { continue };
            // An empty message of any type is read as an empty one of the right type.
            let empty = slot.node.entries().len() <= 1;
            if empty {
                continue;
            }
            let package = kind.rsplit_once('.').map_or("", |(package, _)| package);
            out.push(
                value
                    .finding(
                        rule,
                        url.span,
                        format!("`{}` is the configuration of the filter, not of a route", short(kind)),
                    )
                    .label(format!("a route has `{route}`"))
                    .note("Envoy cannot read it and rejects the whole route configuration")
                    .help(format!("\"@type\": type.googleapis.com/{EXTENSIONS}{package}.{route}")),
            );
        }
    }
}

fn short(kind: &str) -> &str {
    kind.rsplit('.').next().unwrap_or(kind)
}
