//! The patterns of a migration, one line each, for reports and the documentation.

/// A kind of patch.
#[derive(Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The name in JSON and the folder in `testdata/migrate`.
    pub id: &'static str,
    /// What the patch does.
    pub title: &'static str,
    /// The native API, or why there is none.
    pub native: &'static str,
    /// Where the missing API is discussed; empty if there is a native API.
    pub follow: &'static str,
}

/// Declares the patterns as statics.
macro_rules! patterns {
    ($($name:ident = $id:literal, $title:literal, $native:literal, $follow:literal;)+) => {
        $(
            #[doc = $title]
            pub(crate) static $name: Pattern = Pattern { id: $id, title: $title, native: $native, follow: $follow };
        )+

        #[cfg(test)]
        static ALL: &[&Pattern] = &[$(&$name),+];
    };
}

patterns! {
    LUA = "lua", "Lua HTTP filter", "TrafficExtension `lua`", "";
    WASM = "wasm", "Wasm HTTP filter", "WasmPlugin", "";
    ECDS = "ecds", "Wasm HTTP filter whose configuration is discovered (ECDS)", "WasmPlugin", "";
    STATS_NULL_VM = "stats-null-vm", "Telemetry filters of old releases (stats, metadata exchange, attributegen)", "built in; Telemetry for labels", "";
    EXT_AUTHZ = "ext-authz", "external authorization", "AuthorizationPolicy CUSTOM and `meshConfig.extensionProviders`", "";
    RBAC = "rbac", "RBAC HTTP filter", "AuthorizationPolicy", "";
    JWT = "jwt", "JWT authentication filter", "RequestAuthentication and AuthorizationPolicy", "";
    ACCESS_LOG = "access-log", "access log of the HTTP connection manager", "Telemetry and `meshConfig.extensionProviders`", "";
    TRACING = "tracing", "tracing of the HTTP connection manager", "Telemetry", "";
    GRPC_WEB = "grpc-web", "gRPC-Web filter", "Gateway server protocol GRPC-WEB", "";
    CORS = "cors", "CORS policy", "VirtualService `corsPolicy`, HTTPRoute CORS", "";
    FAULT = "fault", "fault injection on routes", "VirtualService `fault`", "";
    HCM_TIMEOUTS = "hcm-timeouts", "timeouts and header checks of the HTTP connection manager", "`proxy.istio.io/config` `connectionSettings`", "";
    TCP_IDLE = "tcp-idle", "idle timeout of TCP connections", "environment variable ISTIO_META_IDLE_TIMEOUT of the proxy", "";
    HTTP2_OPTIONS = "http2-options", "HTTP/2 streams and windows", "`proxy.istio.io/config` `connectionSettings`", "";
    PATH_NORMALIZATION = "path-normalization", "path normalization", "`meshConfig.pathNormalization`, `connectionSettings`", "";
    TRUSTED_HOPS = "trusted-hops", "number of trusted proxies", "`proxy.istio.io/config` `gatewayTopology.numTrustedProxies`", "";
    CLIENT_CERT_HEADER = "client-cert-header", "client certificate header", "`gatewayTopology.forwardClientCertDetails`, `proxyHeaders`", "";
    SERVER_HEADER = "server-header", "server header", "`proxy.istio.io/config` `proxyHeaders.server`", "";
    HEADER_CASE = "header-case", "case of HTTP/1 header names", "`proxy.istio.io/config` `proxyHeaders.preserveHttp1HeaderCase`", "";
    HTTP10 = "http10", "HTTP/1.0", "environment variable ISTIO_META_HTTP10 of the proxy", "";
    LISTENER_BUFFER = "listener-buffer", "buffer limit of listeners", "`proxy.istio.io/config` `connectionSettings.listenerPerConnectionBufferLimitBytes`", "";
    PROXY_PROTOCOL = "proxy-protocol", "PROXY protocol on listeners", "`proxy.istio.io/config` `gatewayTopology.proxyProtocol`", "";
    SERVER_TLS = "server-tls", "TLS settings of servers", "Gateway `tls`; `meshConfig.tlsDefaults`, `meshMTLS`", "";
    DIRECT_RESPONSE = "direct-response", "direct response of a route", "VirtualService `directResponse`", "";
    REDIRECT = "redirect", "redirect by a route", "VirtualService `redirect`, HTTPRoute RequestRedirect, Gateway `tls.httpsRedirect`", "";
    ROUTE_TIMEOUT = "route-timeout", "route timeouts", "VirtualService `timeout`, HTTPRoute `timeouts`", "";
    ROUTE_RETRIES = "route-retries", "route retries", "VirtualService `retries`, HTTPRoute `retry`", "";
    ROUTE_REWRITE = "route-rewrite", "host and path of requests that a route sends on", "VirtualService `rewrite`, HTTPRoute URLRewrite", "";
    ROUTE_DESTINATION = "route-destination", "routes to other services", "VirtualService `route`", "";
    ROUTE_MIRROR = "route-mirror", "mirrored requests", "VirtualService `mirrors`, HTTPRoute RequestMirror", "";
    ROUTE_HEADERS = "route-headers", "headers of routes and virtual hosts", "VirtualService `headers`, HTTPRoute header modifiers", "";
    CLUSTER_ADD = "cluster-add", "clusters of services outside the mesh", "ServiceEntry and DestinationRule", "";
    CLUSTER_POLICY = "cluster-policy", "connection settings of clusters", "DestinationRule `trafficPolicy`", "";
    CLUSTER_HTTP_OPTIONS = "cluster-http-options", "upstream HTTP options", "DestinationRule `connectionPool.http`", "";
    CLUSTER_BUFFER = "cluster-buffer", "buffer limit of clusters", "none: `connectionSettings.clusterPerConnectionBufferLimitBytes` is accepted and not read", "https://github.com/istio/istio/pull/60785";
    PER_FILTER_CONFIG = "per-filter-config", "settings of one filter on a route", "moves with its filter", "";
    GLOBAL_RATELIMIT = "global-ratelimit", "global rate limit filter", "none", "https://github.com/istio/istio/issues/43295";
    VHOST_RATE_LIMITS = "vhost-rate-limits", "rate limit actions of routes", "none", "https://github.com/istio/istio/issues/43295";
    LOCAL_RATELIMIT = "local-ratelimit", "local rate limit filter", "none", "https://github.com/istio/istio.io/pull/16667";
    EXT_PROC = "ext-proc", "external processing filter", "none", "https://github.com/istio/istio/issues/32490";
    OAUTH2 = "oauth2", "OAuth 2 login filter", "none: RequestAuthentication validates tokens, it does not log in", "https://github.com/istio/istio/issues/32149";
    SOCKET_OPTIONS = "socket-options", "socket options of listeners", "none: `tcpKeepalive` is for clusters", "https://github.com/istio/istio/issues/28879";
    BUFFER = "buffer", "request buffer filter", "none", "https://github.com/istio/istio/issues/11119";
    COMPRESSOR = "compressor", "compression filter", "none", "https://github.com/istio/istio/issues/18443";
    HEADER_SIZE = "header-size", "size of request headers", "none", "";
    LOCAL_REPLY = "local-reply", "custom error pages", "none", "https://github.com/istio/istio/issues/40205";
    BOOTSTRAP = "bootstrap", "bootstrap settings", "none: no supported release applies the patch; use a ProxyConfig or a custom bootstrap", "";
    OTHER = "other", "another patch", "none known", "";
}

#[cfg(test)]
mod tests {
    /// `tests/it/migrate_result.rs` checks the contents of the folders.
    #[test]
    fn every_pattern_has_a_folder_of_cases() {
        let cases = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/migrate");
        let missing: Vec<&str> =
            super::ALL.iter().map(|pattern| pattern.id).filter(|id| !cases.join(id).is_dir()).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
