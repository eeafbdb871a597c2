//! The checks in the code of Envoy, each with its message, the Envoys that have it, and its place in their sources.

use super::object::Check;
use super::object::Find::{Both, Code};
use super::{access, cluster, core, extensions, filters, jwt, listener, tls, transcoder};

const EVER: (u16, u16) = (0, u16::MAX);

macro_rules! checks {
    ($($message:literal $envoys:expr, $source:literal, $find:expr;)+) => {
        &[$(Check { message: $message, envoys: $envoys, source: $source, find: $find }),+]
    };
}

/// Every check that is known.
pub(super) const CHECKS: &[Check] = checks! {
    "envoy.config.cluster.v3.Cluster" EVER, "source/common/network/resolver_impl.cc", Code(extensions::static_with_name);
    "envoy.config.cluster.v3.Cluster" EVER, "source/common/upstream/cluster_manager_impl.cc", Code(core::forward_proxy);
    "envoy.config.cluster.v3.Cluster" EVER, "source/extensions/clusters/original_dst/original_dst_cluster.cc",
        Code(core::original_destination);
    "envoy.config.cluster.v3.Cluster" EVER, "source/extensions/clusters/eds/eds.cc", Code(core::endpoints);
    "envoy.config.cluster.v3.Cluster" EVER, "source/extensions/clusters/logical_dns/logical_dns_cluster.cc",
        Code(core::logical_dns);
    "envoy.config.cluster.v3.Cluster" EVER, "source/common/upstream/cluster_factory_impl.cc", Code(cluster::policy);
    "envoy.config.cluster.v3.Cluster" EVER, "source/extensions/clusters/original_dst/original_dst_cluster.cc",
        Code(cluster::destinations);
    "envoy.config.cluster.v3.Cluster" EVER, "source/common/upstream/health_checker_impl.cc", Code(cluster::grpc_health);
    "envoy.config.cluster.v3.Cluster" EVER, "source/common/upstream/upstream_impl.cc", Code(cluster::transport);
    "envoy.config.cluster.v3.Cluster" EVER, "source/extensions/clusters/dynamic_forward_proxy/cluster.cc",
        Code(cluster::checked_names);
    "envoy.config.core.v3.BindConfig" EVER, "source/common/upstream/upstream_impl.cc", Code(cluster::source_addresses);
    "envoy.config.route.v3.WeightedCluster" EVER, "source/common/router/weighted_cluster_specifier.cc", Code(core::weights);
    "envoy.config.route.v3.WeightedCluster.ClusterWeight" EVER, "source/common/router/weighted_cluster_specifier.cc",
        Code(core::weighted);
    "envoy.config.route.v3.RouteAction.RequestMirrorPolicy" EVER, "source/common/router/config_impl.cc",
        Code(core::mirrored);
    "envoy.config.route.v3.VirtualCluster" EVER, "source/common/router/config_impl.cc", Code(core::virtual_cluster);
    "envoy.config.listener.v3.Listener" EVER, "source/common/listener_manager/listener_impl.cc", Code(listener::address);
    "envoy.config.listener.v3.Listener" EVER, "source/common/listener_manager/filter_chain_manager_impl.cc",
        Code(listener::chains);
    "envoy.config.trace.v3.ZipkinConfig" EVER, "source/extensions/tracers/zipkin/zipkin_tracer_impl.cc",
        Code(access::collector);
    "envoy.extensions.filters.network.http_connection_manager.v3.Rds" EVER, "source/common/router/rds_impl.cc",
        Code(access::route_source);
    "envoy.config.core.v3.ExtensionConfigSource" EVER, "source/common/filter/config_discovery_impl.cc",
        Code(access::without_warming);
    "envoy.extensions.filters.http.adaptive_concurrency.v3.GradientControllerConfig.MinimumRTTCalculationParams" EVER,
        "source/extensions/filters/http/adaptive_concurrency/controller/gradient_controller.cc", Code(filters::round_trips);
    "envoy.extensions.filters.http.api_key_auth.v3.KeySource" EVER,
        "source/extensions/filters/http/api_key_auth/api_key_auth.cc", Code(filters::key_source);
    "envoy.extensions.filters.http.ip_tagging.v3.IPTagging" (39, u16::MAX),
        "source/extensions/filters/http/ip_tagging/ip_tagging_filter.cc", Code(filters::tags);
    "envoy.extensions.filters.http.oauth2.v3.OAuth2Config" EVER,
        "source/extensions/filters/http/oauth2/filter.cc", Code(filters::end_of_session);
    "envoy.extensions.filters.http.grpc_json_transcoder.v3.GrpcJsonTranscoder" EVER,
        "source/extensions/filters/http/grpc_json_transcoder/json_transcoder_filter.cc", Code(transcoder::descriptor);
    "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.TunnelingConfig" EVER,
        "source/common/tcp_proxy/upstream.cc", Code(filters::tunnel_path);
    "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy" EVER, "source/common/tcp_proxy/tcp_proxy.cc",
        Code(filters::early_data);
    "envoy.config.core.v3.KeyValueMutation" EVER, "source/extensions/filters/http/header_mutation/header_mutation.cc",
        Code(filters::query_change);
    "envoy.extensions.filters.common.set_filter_state.v3.FilterStateValue" EVER,
        "source/extensions/filters/common/set_filter_state/filter_config.cc", Code(filters::state_key);
    "envoy.extensions.transport_sockets.tls.v3.TlsCertificate" EVER, "source/common/tls/context_impl.cc",
        Code(tls::private_key);
    "envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext" EVER,
        "source/common/tls/cert_validator/default_validator.cc", Code(tls::without_ca);
    "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext" EVER,
        "source/common/tls/client_context_impl.cc", Code(tls::checked_names);
    "envoy.extensions.filters.http.health_check.v3.HealthCheck" EVER,
        "source/extensions/filters/http/health_check/config.cc", Code(core::kept_answers);
    "envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext" EVER,
        "source/common/tls/server_context_impl.cc", Code(core::server_certificate);
    "envoy.config.listener.v3.Listener" EVER, "source/common/listener_manager/listener_impl.cc", Code(extensions::listener_chains);
    "envoy.config.listener.v3.Listener" EVER, "source/common/listener_manager/listener_manager_impl.cc", Code(extensions::quic_sockets);
    "envoy.config.listener.v3.Listener" EVER, "source/extensions/filters/network/http_connection_manager/config.cc",
        Code(extensions::quic_codec);
    "envoy.extensions.filters.http.composite.v3.ExecuteFilterAction" (0, 36),
        "source/extensions/filters/http/composite/action.cc", Both(["typed_config", "dynamic_config"]);
    "envoy.extensions.filters.http.composite.v3.ExecuteFilterAction" EVER,
        "source/extensions/filters/http/composite/action.cc", Code(extensions::composite);
    "envoy.type.v3.TokenBucket" EVER, "source/extensions/filters/common/local_ratelimit/local_ratelimit_impl.cc",
        Code(extensions::fast_bucket);
    "envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor" EVER,
        "source/extensions/filters/http/ext_proc/ext_proc.cc", Code(extensions::processor_service);
    "envoy.extensions.filters.http.ext_proc.v3.ProcessingMode" EVER,
        "source/extensions/filters/http/ext_proc/ext_proc.cc", Code(extensions::processing_mode);
    "envoy.extensions.filters.http.header_to_metadata.v3.Config.Rule" EVER,
        "source/extensions/filters/http/header_to_metadata/header_to_metadata_filter.cc", Code(extensions::header_to_metadata);
    "envoy.extensions.filters.http.json_to_metadata.v3.JsonToMetadata.Rule" EVER,
        "source/extensions/filters/http/json_to_metadata/filter.cc", Code(extensions::json_to_metadata);
    "envoy.extensions.filters.http.jwt_authn.v3.JwtProvider" EVER,
        "source/extensions/filters/http/common/jwks_fetcher.cc", Code(jwt::keys);
    "envoy.extensions.filters.http.jwt_authn.v3.JwtProvider" EVER,
        "source/extensions/filters/http/jwt_authn/filter_factory.cc", Code(jwt::address);
    "envoy.extensions.filters.http.jwt_authn.v3.RequirementRule" EVER,
        "source/extensions/filters/http/jwt_authn/filter_config.cc", Code(jwt::requirement);
    "envoy.extensions.filters.http.jwt_authn.v3.JwtRequirement" EVER,
        "source/extensions/filters/http/jwt_authn/verifier.cc", Code(jwt::provider);
    "envoy.extensions.filters.http.jwt_authn.v3.ProviderWithAudiences" EVER,
        "source/extensions/filters/http/jwt_authn/verifier.cc", Code(jwt::provider);
    "envoy.extensions.filters.http.oauth2.v3.OAuth2" (0, 37),
        "source/extensions/filters/http/oauth2/config.cc", Code(extensions::oauth2);
    "envoy.extensions.filters.http.oauth2.v3.OAuth2Config" EVER,
        "source/extensions/filters/http/oauth2/filter.cc", Code(extensions::oauth2_config);
    "envoy.extensions.filters.http.oauth2.v3.OAuth2Credentials" (38, u16::MAX),
        "source/extensions/filters/http/oauth2/config.cc", Code(extensions::oauth2_credentials);
    "envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig" EVER,
        "source/extensions/filters/http/oauth2/config.cc", Code(extensions::oauth2_secret);
    "envoy.extensions.filters.http.wasm.v3.Wasm" EVER, "source/extensions/common/wasm/wasm.cc", Code(extensions::wasm);
    "envoy.extensions.filters.network.wasm.v3.Wasm" EVER, "source/extensions/common/wasm/wasm.cc", Code(extensions::wasm);
};

/// Checks of what is written, whatever a MERGE finds beside it.
pub(super) const OF_PARTS: &[Check] = checks! {
    "envoy.config.route.v3.Route" EVER, "source/common/router/header_parser.cc", Code(core::headers);
    "envoy.config.route.v3.VirtualHost" EVER, "source/common/router/header_parser.cc", Code(core::headers);
    "envoy.config.route.v3.RouteConfiguration" EVER, "source/common/router/header_parser.cc", Code(core::headers);
    "envoy.config.route.v3.WeightedCluster.ClusterWeight" EVER, "source/common/router/header_parser.cc", Code(core::headers);
    "envoy.extensions.filters.network.http_connection_manager.v3.ResponseMapper" EVER,
        "source/common/router/header_parser.cc", Code(core::headers);
    "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager" EVER,
        "source/extensions/filters/network/http_connection_manager/config.cc", Both(["strip_matching_host_port", "strip_any_host_port"]);
    "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager" EVER,
        "source/extensions/filters/network/http_connection_manager/config.cc", Code(core::trusted_hops);
    "envoy.config.common.mutation_rules.v3.HeaderMutation" EVER, "source/common/router/header_parser.cc", Code(core::mutation);
    "envoy.config.route.v3.RouteAction" EVER, "source/common/router/config_impl.cc", Code(core::route_action);
    "envoy.config.route.v3.RouteAction.RequestMirrorPolicy" EVER, "source/common/router/config_impl.cc", Both(["cluster", "cluster_header"]);
    "envoy.config.route.v3.RetryPolicy.RetryBackOff" EVER, "source/common/router/retry_policy_impl.cc", Code(core::back_off);
    "envoy.extensions.filters.http.ext_authz.v3.HttpService" EVER,
        "source/extensions/filters/common/ext_authz/ext_authz_http_impl.cc", Code(core::path_prefix);
    "envoy.config.cluster.v3.Cluster.RingHashLbConfig" EVER,
        "source/extensions/load_balancing_policies/ring_hash/ring_hash_lb.cc", Code(core::ring);
    "envoy.type.v3.Int64Range" EVER, "source/extensions/health_checkers/http/health_checker_impl.cc", Code(core::statuses);
    "envoy.config.core.v3.HealthCheck.Payload" EVER, "source/extensions/health_checkers/common/health_checker_base_impl.h",
        Code(cluster::payload);
    "envoy.config.cluster.v3.Cluster.MaglevLbConfig" EVER,
        "source/extensions/load_balancing_policies/maglev/maglev_lb.cc", Code(cluster::maglev);
    "envoy.extensions.load_balancing_policies.maglev.v3.Maglev" EVER,
        "source/extensions/load_balancing_policies/maglev/maglev_lb.cc", Code(cluster::maglev);
    "envoy.config.cluster.v3.Cluster.OriginalDstLbConfig" EVER,
        "source/extensions/clusters/original_dst/original_dst_cluster.cc", Code(cluster::destination_header);
    "envoy.config.cluster.v3.Cluster.LbSubsetConfig.LbSubsetSelector" EVER,
        "source/extensions/load_balancing_policies/subset/config.h", Code(cluster::subset);
    "envoy.config.cluster.v3.OutlierDetection" EVER, "source/common/upstream/outlier_detection_impl.cc",
        Code(cluster::ejection);
    "envoy.config.cluster.v3.Cluster.RefreshRate" EVER, "source/extensions/clusters/common/dns_cluster_backcompat.cc",
        Code(cluster::dns_pauses);
    "envoy.config.cluster.v3.CircuitBreakers.Thresholds" EVER, "source/common/upstream/upstream_impl.cc",
        Code(cluster::host_thresholds);
    "envoy.config.core.v3.SocketAddress" EVER, "source/extensions/network/dns_resolver/cares/dns_impl.cc",
        Code(cluster::resolver);
    "envoy.config.core.v3.BindConfig" EVER, "source/common/upstream/upstream_impl.cc",
        Both(["extra_source_addresses", "additional_source_addresses"]);
    "envoy.config.core.v3.BackoffStrategy" EVER, "source/common/common/backoff_strategy.h", Code(core::pauses);
    "envoy.config.core.v3.HeaderValueOption" EVER, "source/common/router/header_parser.cc", Code(core::append_action);
    "envoy.config.route.v3.VirtualHost" EVER, "source/common/router/config_impl.cc", Both(["routes", "matcher"]);
    "envoy.config.route.v3.VirtualHost" EVER, "source/common/router/config_impl.cc", Code(core::matcher);
    "envoy.config.route.v3.RouteAction.UpgradeConfig" EVER, "source/common/router/config_impl.cc",
        Code(core::connect_config);
    "envoy.extensions.filters.http.ext_authz.v3.AuthorizationRequest" EVER, "source/common/router/header_parser.cc",
        Code(core::authorization_headers);
    "envoy.extensions.filters.http.ext_authz.v3.ExtAuthz" EVER, "source/common/config/utility.h", Code(access::version);
    "envoy.extensions.filters.network.ext_authz.v3.ExtAuthz" EVER, "source/common/config/utility.h", Code(access::version);
    "envoy.config.ratelimit.v3.RateLimitServiceConfig" EVER, "source/common/config/utility.h", Code(access::version);
    "envoy.extensions.access_loggers.grpc.v3.CommonGrpcAccessLogConfig" EVER, "source/common/config/utility.h",
        Code(access::version);
    "envoy.config.core.v3.Http2ProtocolOptions" EVER, "source/common/http/utility.cc", Code(access::settings);
    "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager" EVER,
        "source/extensions/filters/network/http_connection_manager/config.cc",
        Both(["access_log_flush_interval", "access_log_options"]);
    "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager" EVER,
        "source/extensions/filters/network/http_connection_manager/config.cc",
        Both(["flush_access_log_on_new_request", "access_log_options"]);
    "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager" EVER,
        "source/extensions/filters/network/http_connection_manager/config.cc", Code(access::header_validation);
    "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy" EVER, "source/common/tcp_proxy/tcp_proxy.cc",
        Both(["access_log_flush_interval", "access_log_options"]);
    "envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy" EVER, "source/common/tcp_proxy/tcp_proxy.cc",
        Both(["flush_access_log_on_connected", "access_log_options"]);
    "envoy.extensions.http.original_ip_detection.xff.v3.XffConfig" EVER,
        "source/extensions/http/original_ip_detection/xff/xff.cc", Both(["xff_num_trusted_hops", "xff_trusted_cidrs"]);
    "envoy.config.trace.v3.OpenTelemetryConfig" EVER,
        "source/extensions/tracers/opentelemetry/opentelemetry_tracer_impl.cc", Both(["grpc_service", "http_service"]);
    "envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor" EVER,
        "source/extensions/filters/http/ext_proc/ext_proc.cc", Both(["disable_clear_route_cache", "route_cache_action"]);
    "envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor" EVER,
        "source/extensions/filters/http/ext_proc/ext_proc.cc", Code(filters::http_processor);
    "envoy.extensions.filters.http.lua.v3.Lua" EVER, "source/extensions/filters/http/lua/lua_filter.cc",
        Both(["inline_code", "default_source_code"]);
    "envoy.extensions.wasm.v3.PluginConfig" EVER, "source/extensions/common/wasm/plugin.cc",
        Both(["fail_open", "failure_policy"]);
    "envoy.extensions.wasm.v3.EnvironmentVariables" EVER, "source/extensions/common/wasm/plugin.cc",
        Code(filters::environment);
    "envoy.extensions.filters.http.api_key_auth.v3.ApiKeyAuth" EVER,
        "source/extensions/filters/http/api_key_auth/api_key_auth.cc", Code(filters::keys);
    "envoy.extensions.filters.http.basic_auth.v3.BasicAuth" EVER,
        "source/extensions/filters/http/basic_auth/config.cc", Code(filters::users);
    "envoy.extensions.filters.http.router.v3.Router" EVER, "source/common/router/router.cc",
        Code(filters::router_codec);
    "envoy.extensions.upstreams.http.v3.HttpProtocolOptions" EVER, "source/extensions/upstreams/http/config.cc",
        Code(filters::upstream_codec);
    "envoy.config.rbac.v3.Permission" EVER, "source/extensions/filters/network/rbac/config.cc", Code(filters::no_requests);
    "envoy.config.rbac.v3.Principal" EVER, "source/extensions/filters/network/rbac/config.cc", Code(filters::no_requests);
    "envoy.type.v3.Int32Range" EVER, "source/extensions/filters/common/rbac/matchers.cc", Code(filters::port_range);
    "envoy.config.listener.v3.FilterChainMatch" EVER, "source/common/listener_manager/filter_chain_manager_impl.cc",
        Code(listener::suffix);
    "envoy.config.route.v3.RouteConfiguration" EVER, "source/common/router/config_impl.cc", Code(core::domains);
    "envoy.extensions.transport_sockets.tls.v3.TlsParameters" EVER, "source/common/tls/context_impl.cc",
        Code(tls::algorithms);
    "envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext" EVER,
        "source/common/tls/cert_validator/default_validator.cc", Code(tls::digests);
    "envoy.config.core.v3.DataSource" EVER, "source/common/tls/context_impl.cc", Code(tls::pem);
    "envoy.extensions.transport_sockets.tls.v3.SubjectAltNameMatcher" EVER,
        "source/common/tls/cert_validator/san_matcher.cc", Code(tls::other_name);
    "envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig" EVER, "source/common/tls/context_config_impl.cc",
        Code(tls::secret);
    "envoy.config.core.v3.SocketAddress" EVER, "source/common/listener_manager/listener_impl.cc",
        Code(listener::other_address);
    "envoy.extensions.access_loggers.filters.cel.v3.ExpressionFilter" EVER,
        "source/extensions/access_loggers/filters/cel/config.cc", Code(access::expression);
    "envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor" EVER,
        "source/extensions/filters/http/ext_proc/matching_utils.cc", Code(access::attributes);
    "envoy.config.core.v3.CidrRange" EVER, "source/common/network/cidr_range.cc", Code(core::network);
    "envoy.config.core.v3.SocketAddress" EVER, "source/common/network/utility.cc", Code(core::source_address);
    "envoy.config.listener.v3.FilterChainMatch" EVER,
        "source/common/listener_manager/filter_chain_manager_impl.cc", Code(core::server_names);
};
