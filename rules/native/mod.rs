//! Rules of the family `native`. This list is written by `UPDATE=1 cargo test --test it rules`.

pub(crate) mod access_log_beside_telemetry;
pub(crate) mod bootstrap_beside_override;
pub(crate) mod cluster_beside_service_entry;
pub(crate) mod cluster_settings_beside_destination_rule;
pub(crate) mod connection_setting_not_read;
pub(crate) mod connection_settings_beside_proxy_config;
pub(crate) mod destination_rule_hides_another;
pub(crate) mod ext_authz_beside_authorization_policy;
pub(crate) mod hop_settings_beside_gateway_topology;
pub(crate) mod idle_timeout_beside_proxy_metadata;
pub(crate) mod jwt_authn_beside_request_authentication;
pub(crate) mod leftover_telemetry_filter;
pub(crate) mod lua_beside_traffic_extension;
pub(crate) mod metrics_beside_telemetry;
pub(crate) mod rbac_beside_authorization_policy;
pub(crate) mod route_settings_beside_virtual_service;
pub(crate) mod server_header_beside_proxy_headers;
pub(crate) mod server_settings_beside_gateway;
pub(crate) mod tracing_beside_telemetry;
pub(crate) mod wasm_beside_wasm_plugin;
