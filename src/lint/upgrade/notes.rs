//! Behavior changes of releases that do not change the configuration, each with a test for the filters that it affects,
//! so that nobody has to read release notes about filters they do not use.

use crate::lint::value::walk;
use crate::lint::value::{Object, PatchValue};
use crate::model::release::Release;
use crate::source::Span;

/// The component whose release counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// istiod.
    ControlPlane,
    /// The proxy; its Envoy minor is Istio's minor plus eight.
    Proxy,
}

/// How much it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// The filter no longer does its job.
    Breaks,
    /// The filter behaves differently.
    Changes,
}

/// The condition that makes a note apply to a filter.
#[derive(Clone, Copy, Debug)]
pub enum Test {
    /// A message of this type.
    Has(&'static str),
    /// A message of this type, given in full, without this field.
    Lacks(&'static str, &'static str),
    /// A message of this type with this field.
    Sets(&'static str, &'static str),
    /// This text, in any text of a value.
    Says(&'static str),
    /// This text, in the code of a Lua filter.
    Lua(&'static str),
    /// A field with text that has none of these prefixes.
    NotBeginning(&'static str, &'static str, &'static [&'static str]),
    /// A type that the proxy no longer contains, under any name.
    TypeGone(&'static str),
}

/// A change of behavior.
#[derive(Clone, Copy, Debug)]
pub struct Note {
    /// First release of Istio with the new behavior.
    pub since: Release,
    /// The component whose release counts.
    pub of: Of,
    /// How much it matters.
    pub weight: Weight,
    /// The filters that it affects.
    pub test: Test,
    /// What changes: follows "from Istio 1.N on".
    pub what: &'static str,
    /// What to do.
    pub fix: &'static str,
    /// The source of this information.
    pub source: &'static str,
}

const HCM: &str = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
const HTTP2: &str = "envoy.config.core.v3.Http2ProtocolOptions";
const TLS: &str = "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext";
const EXT_AUTHZ: &str = "envoy.extensions.filters.http.ext_authz.v3.ExtAuthz";

macro_rules! notes {
    ($($minor:literal $of:ident $weight:ident $test:expr, $what:literal, $fix:literal, $source:literal;)+) => {
        &[$(Note {
            since: Release::minor($minor),
            of: Of::$of,
            weight: Weight::$weight,
            test: $test,
            what: $what,
            fix: $fix,
            source: $source,
        }),+]
    };
}

/// Every known change.
pub const NOTES: &[Note] = notes! {
    20 Proxy Breaks Test::TypeGone("io.istio.tcp.forward_downstream_sni.v1.Config"),
        "the proxy has no filter `forward_downstream_sni`, and rejects the resource that contains it",
        "remove the patch: nothing takes its place", "istio/proxy 1.19 and 1.20, build files";
    20 Proxy Breaks Test::TypeGone("io.istio.tcp.sni_verifier.v1.Config"),
        "the proxy has no filter `sni_verifier`, and rejects the resource that contains it",
        "remove the patch: nothing takes its place", "istio/proxy 1.19 and 1.20, build files";
    20 Proxy Breaks Test::TypeGone("istio.envoy.config.filter.network.tcp_cluster_rewrite.v2alpha1.TcpClusterRewrite"),
        "the proxy has no filter `tcp_cluster_rewrite`, although istiod still takes its type: it rejects the resource that contains it",
        "route with a VirtualService instead", "istio/proxy 1.19 and 1.20, build files";
    21 Proxy Breaks Test::TypeGone("istio.envoy.config.filter.http.authn.v2alpha1.FilterConfig"),
        "the proxy has no filter `istio_authn`, and rejects the resource that contains it",
        "write a RequestAuthentication", "istio/proxy 1.20 and 1.21, sources";
    21 Proxy Changes Test::Says("istio_authn"),
        "the claims of a JWT are dynamic metadata of `envoy.filters.http.jwt_authn` and no longer of `istio_authn`",
        "read `envoy.filters.http.jwt_authn`, key `payload`", "Istio 1.21 release notes; istiod 1.24 drops `istio_authn`";
    22 Proxy Changes Test::Lua("httpCall"),
        "spans of a Lua `httpCall` inherit the sampling of the request they belong to",
        "check what the callee does with trace headers", "Envoy 1.30 changelog";
    23 Proxy Changes Test::NotBeginning("envoy.config.core.v3.HttpUri", "uri", &["http://", "https://"]),
        "jwt_authn checks the URI of a provider, and rejects one without `http://` or `https://`",
        "write the whole URI", "Envoy 1.31 changelog, `jwt_authn_validate_uri`";
    24 Proxy Breaks Test::Says("wasm.downstream_peer"),
        "the peer's metadata is `filter_state.downstream_peer` and no longer `filter_state[\"wasm.downstream_peer\"]`",
        "write `filter_state.downstream_peer`", "Istio 1.24 release notes";
    24 Proxy Breaks Test::Says("wasm.upstream_peer"),
        "the peer's metadata is `filter_state.upstream_peer` and no longer `filter_state[\"wasm.upstream_peer\"]`",
        "write `filter_state.upstream_peer`", "Istio 1.24 release notes";
    25 Proxy Changes Test::Lacks(HCM, "internal_address_config"),
        "no address counts as internal unless `internal_address_config` says so: `x-envoy-*` headers of clients are dropped",
        "set `internal_address_config`", "Envoy 1.33 changelog; Istio 1.25 release notes";
    25 Proxy Changes Test::Lacks("envoy.extensions.filters.http.oauth2.v3.OAuth2Config", "use_refresh_token"),
        "oauth2 uses refresh tokens unless `use_refresh_token` is false",
        "set `use_refresh_token` to what you mean", "Envoy 1.33 changelog";
    25 Proxy Changes Test::Has("envoy.extensions.filters.http.wasm.v3.Wasm"),
        "a Wasm filter of ABI 0.2.1 or later no longer clears the route cache when it changes headers",
        "call `clear_route_cache` in the plugin where routing depends on the headers it sets", "Envoy 1.33 changelog";
    27 Proxy Changes Test::Lua(":metadata("),
        "`metadata()` of Lua looks for the name of the filter first and for the canonical name second",
        "give route metadata one of the two names, not both", "Envoy 1.35 changelog";
    27 Proxy Changes Test::Sets("xds.type.matcher.v3.Matcher.MatcherTree", "prefix_match_map"),
        "`prefix_match_map` falls back to shorter prefixes when the longest has no match",
        "add `on_no_match` where the fall-back is not wanted", "Envoy 1.35 changelog";
    28 Proxy Changes Test::Lacks(HTTP2, "max_concurrent_streams"),
        "HTTP/2 allows 1024 concurrent streams and not 2147483647, with windows of 16 MiB and not 256 MiB",
        "set `max_concurrent_streams` and the window sizes to what you need", "Envoy 1.36 changelog";
    28 Proxy Changes Test::Has(EXT_AUTHZ),
        "a request is rejected when what external authorization adds brings its headers over the limit",
        "raise `max_request_headers_kb` where services add large headers", "Envoy 1.36 changelog";
    29 Proxy Changes Test::Sets("envoy.config.core.v3.GrpcService", "retry_policy"),
        "`retry_on` of a gRPC service is respected by external authorization",
        "write the conditions that are intended", "Envoy 1.37 changelog";
    30 Proxy Changes Test::Sets(TLS, "enforce_rsa_key_usage"),
        "`enforce_rsa_key_usage` is true by default, and has no effect since 1.31: certificates must allow what they are used for",
        "issue certificates with the right key usage", "Envoy 1.38 and 1.39 changelogs";
    30 Proxy Changes Test::Sets("envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy", "upstream_connect_mode"),
        "`upstream_connect_mode` needs `max_early_data_bytes`",
        "set `max_early_data_bytes` too", "Envoy 1.38 changelog";
    31 Proxy Changes Test::Has("envoy.config.route.v3.HeaderMatcher"),
        "a header that comes several times is matched value by value",
        "check matchers of headers that may repeat", "Envoy 1.39 changelog";
};

impl Test {
    /// The first affected place in a patch's value.
    pub(crate) fn place(&self, value: &PatchValue<'_>) -> Option<Span> {
        let of = |name: &'static str| value.objects.iter().filter(move |object| object.full_name() == name);
        let text = |needle: &str, lua: bool| {
            let mut found = None;
            walk::fields(value.node, &mut |field| {
                let here = field.node.as_str().is_some_and(|text| text.contains(needle)) || field.key.contains(needle);
                let code = !lua || field.message == LUA || field.message == LUA_ROUTE;
                if found.is_none() && here && code {
                    let mut route = value.view.route(&["patch", "value"]);
                    route.extend(field.route());
                    found = Some(value.view.filter.document.key_span(&route));
                }
            });
            found
        };
        match *self {
            Test::Has(name) => of(name).next().map(|object| object.span),
            Test::Lacks(name, field) => {
                of(name).find(|object| object.whole && object.member(field).is_none()).map(|object| object.span)
            }
            Test::Sets(name, field) => of(name).find_map(|object| member_span(object, field)),
            Test::Says(needle) => text(needle, false),
            Test::Lua(needle) => text(needle, true),
            Test::NotBeginning(name, field, beginnings) => of(name).find_map(|object| {
                let jwt = object.parent.and_then(|(index, _)| value.objects.get(index));
                let provider = jwt.is_some_and(|parent| parent.full_name().ends_with(".RemoteJwks"));
                let text = object.text(field).filter(|_| provider)?;
                let fits = beginnings.iter().any(|beginning| text.starts_with(beginning));
                if fits { None } else { member_span(object, field) }
            }),
            Test::TypeGone(name) => {
                let slot = value.slots.iter().find(|slot| slot.content().is_some_and(|url| url.name() == name))?;
                slot.content().map(|url| url.span)
            }
        }
    }
}

const LUA: &str = "envoy.extensions.filters.http.lua.v3.Lua";
const LUA_ROUTE: &str = "envoy.extensions.filters.http.lua.v3.LuaPerRoute";

fn member_span(object: &Object<'_>, field: &str) -> Option<Span> {
    object.member(field).map(|member| member.entry.key_span)
}
