//! EF147: a configuration for a route that the filter's extension does not accept there.

use crate::declare_rule;
use crate::lint::filter_keys::{self, package};
use crate::lint::value::{Object, PatchValue, Slot, TypeUrl};
use crate::lint::{Context, Findings, PatchView, RuleInfo};
use crate::source::Step;
use crate::source::escape::one_line;
use std::collections::BTreeSet;

declare_rule! {
    /// A per-route configuration of an extension that accepts none, or of the filter's own type.
    ///
    /// # What it finds
    /// In `typed_per_filter_config`: the type of a filter that has no configuration for routes (Wasm, gRPC statistics,
    /// tap), or the type of the filter itself if routes have another one (`Buffer` instead of `BufferPerRoute`), also
    /// in the `config` of a `FilterConfig` without `disabled: true`. It also names the key to write if no HTTP filter has
    /// that name.
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
    "EF147" "per-route-config-not-taken" Value Error => check,
    explains: &["EF119", "EF523"]
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
        for (slot, url, refusal) in refused(value) {
            let name = short(url.name());
            let package = package(url.name());
            let wrong = key_at(&slot.route)
                .and_then(|key| filter_keys::unknown(cx, &value.view, key, package).map(|it| (key, it)));
            // The advice must hold for the key as well, or the settings would be ignored.
            let key = wrong.as_ref().and_then(|(_, unknown)| unknown.other.as_deref());
            let below = key
                .map(|key| format!("\nbelow the key `{}`, the name of the filter", one_line(key)))
                .unwrap_or_default();
            let finding = match refusal {
                Refusal::None => value
                    .finding(rule, url.span, format!("`{}` cannot be configured for a route", distinct(url.name())))
                    .label("this extension has no configuration for routes")
                    .rejected("Envoy rejects the whole route configuration that contains it")
                    .snippet(format!(
                        "to switch the filter off for a route, write\n\"@type\": type.googleapis.com/envoy.config.route.v3.FilterConfig\ndisabled: true{below}"
                    )),
                Refusal::Filter(route) => value
                    .finding(rule, url.span, format!("`{name}` is the configuration of the filter, not of a route"))
                    .label(format!("a route has `{route}`"))
                    .rejected("Envoy cannot read it and rejects the whole route configuration")
                    .snippet(format!("\"@type\": type.googleapis.com/{package}.{route}{below}")),
            };
            out.push(match wrong {
                Some((key, _)) => finding.note(format!("no HTTP filter is named `{key}`")),
                None => finding,
            });
        }
    }
}

/// The short name of a type, with its package if the type that switches filters off has the same one.
fn distinct(full: &str) -> &str {
    match short(full) {
        "FilterConfig" => full.strip_prefix(EXTENSIONS).unwrap_or(full),
        name => name,
    }
}

/// Why a route does not take a configuration.
enum Refusal {
    /// The extension has no configuration for routes.
    None,
    /// It is the filter's own; the name of the type for routes.
    Filter(&'static str),
}

/// The configurations for routes in a value that Envoy rejects.
fn refused<'v, 'a>(value: &'v PatchValue<'a>) -> impl Iterator<Item = (&'v Slot<'a>, TypeUrl<'a>, Refusal)> {
    // `FilterConfig` switches a filter on or off and contains its configuration for the route.
    let wrapped = |slot: &Slot<'_>| {
        let owner = value.objects.get(slot.owner).map_or("", Object::full_name);
        slot.field.name() == "config" && owner == "envoy.config.route.v3.FilterConfig"
    };
    let slots = value.slots.iter();
    slots.filter(move |slot| slot.field.name() == "typed_per_filter_config" || wrapped(slot)).filter_map(|slot| {
        // What a wrapper switches off is not read.
        let url = slot.content().filter(|_| !slot.is_off)?;
        // A wrapper that only switches the filter on or off works for every filter.
        let kind = url.name().strip_prefix(EXTENSIONS)?;
        if NONE.contains(&kind) {
            return Some((slot, url, Refusal::None));
        }
        let (_, route) = OTHERS.iter().find(|(filter, _)| *filter == kind)?;
        // An empty message of any type is read as an empty one of the right type.
        (slot.node.entries().len() > 1).then_some((slot, url, Refusal::Filter(route)))
    })
}

/// The keys of `typed_per_filter_config` in a patch whose settings this rule reports.
pub(crate) fn refused_keys(cx: &Context<'_>, view: &PatchView<'_>) -> BTreeSet<String> {
    let refused = cx.value_of(view).into_iter().flat_map(refused);
    refused.filter_map(|(slot, ..)| key_at(&slot.route).map(str::to_owned)).collect()
}

/// The key of `typed_per_filter_config` that a place in a value is under.
pub(crate) fn key_at(route: &[Step]) -> Option<&str> {
    let map = |step: &Step| matches!(step, Step::Key(key) if key == "typed_per_filter_config" || key == "typedPerFilterConfig");
    let at = route.iter().rposition(map)?;
    match route.get(at + 1)? {
        Step::Key(key) => Some(key),
        Step::Item(_) => None,
    }
}

fn short(kind: &str) -> &str {
    kind.rsplit('.').next().unwrap_or(kind)
}
