//! The rules: one file each. This list is written by `UPDATE=1 cargo test --test it rules`.

use crate::lint::Rule;

mod access_log_beside_telemetry;
mod added_object_empty;
mod added_object_out_of_reach;
mod added_then_removed;
mod anchor_added_later;
mod anchor_renamed;
mod authorization_fails_open;
mod bad_duration;
mod bad_format_string;
mod bad_typed_struct_type;
mod begins_to_apply;
mod behaviour_changes;
mod bootstrap_beside_override;
mod bootstrap_patch;
mod both_directions;
mod broken_validation_rule;
mod check_disabled_for_route;
mod client_cert_header_trusted;
mod cluster_add_on_waypoint;
mod cluster_beside_service_entry;
mod cluster_name_decides_alone;
mod cluster_not_found;
mod cluster_settings_beside_destination_rule;
mod conflicting_values;
mod connection_settings_beside_proxy_config;
mod context_of_other_proxies;
mod context_waypoint;
mod deprecated_after_upgrade;
mod deprecated_enum_value;
mod deprecated_field;
mod different_result;
mod disallowed_field;
mod drifted_copies;
mod duplicate_cluster;
mod duplicate_filter;
mod duplicate_insertion;
mod duplicate_key;
mod duplicate_object;
mod duration_leak;
mod effect_without_selection;
mod empty_selector;
mod ext_authz_beside_authorization_policy;
mod extension_config_missing;
mod extension_config_not_used;
mod extension_gone_after_upgrade;
mod extension_not_built_in;
mod field_beside_typed_config;
mod field_given_twice;
mod field_nobody_reads;
mod field_of_another_release;
mod filter_after_terminal;
mod filter_chain_not_found;
mod filter_not_found;
mod filter_not_named;
mod filter_refused_after_upgrade;
mod gateway_match_on_http_server;
mod hop_settings_beside_gateway_topology;
mod idle_timeout_beside_proxy_metadata;
mod ignored_filter_match;
mod incomplete_patch;
mod insert_without_anchor;
mod invalid_name;
mod invalid_proxy_version;
mod invalid_regex;
mod invalid_selector;
mod invalid_yaml;
mod jwt_authn_beside_request_authentication;
mod leftover_object;
mod leftover_telemetry_filter;
mod legacy_api;
mod legacy_name_in_match;
mod list_replacing_merge_of_filters;
mod listener_filter_merge_before_1_27;
mod listener_filter_not_found;
mod listener_not_found;
mod listener_port_not_found;
mod long_proxy_version;
mod loose_proxy_version;
mod lost_to_panic;
mod lost_to_panic_after_upgrade;
mod lua_beside_traffic_extension;
mod lua_inline_code;
mod lua_syntax_error;
mod lua_without_entry_point;
mod malformed_type_url;
mod map_entry_replaced;
mod match_of_wrong_kind;
mod match_wider_than_it_looks;
mod merge_appends_to_list;
mod merge_cannot_reset;
mod merge_changes_nothing;
mod merge_into_every_filter;
mod merge_into_every_listener_filter;
mod merge_into_untyped_filter;
mod merge_of_another_type;
mod merge_runs_after_insert;
mod metrics_beside_telemetry;
mod misplaced_field;
mod misplaced_sub_filter;
mod missing_apply_to;
mod missing_required_field;
mod missing_type_url;
mod missing_typed_config;
mod misspelt_field;
mod name_of_another_extension;
mod nameless_filter_match;
mod no_config_patches;
mod no_effect_on_given_proxies;
mod no_http_connection_manager;
mod nothing_to_match;
mod null_field;
mod old_extension_name;
mod oneof_set_twice;
mod opens_admin_interface;
mod operation_without_effect;
mod order_by_creation_time;
mod panics_after_upgrade;
mod patch_contradicted;
mod patch_not_in_effect;
mod plaintext_transport;
mod port_reaches_other_services;
mod priority_across_namespaces;
mod proxy_metadata_matches_nothing;
mod proxy_protocol_after_inspector;
mod proxy_version_matches_nothing;
mod rbac_beside_authorization_policy;
mod refused_by_api_server;
mod refused_by_envoy;
mod refused_by_extension;
mod remote_code_without_hash;
mod removed_field;
mod removes_protection;
mod replicas_differ;
mod rewritten_often;
mod route_configuration_not_found;
mod route_not_found;
mod route_settings_beside_virtual_service;
mod runtime_guard_changes;
mod runtime_guard_not_there;
mod secret_in_value;
mod selector_beside_target_refs;
mod selector_fits_other_namespace;
mod selector_matches_nothing;
mod server_header_beside_proxy_headers;
mod service_not_visible;
mod several_match_objects;
mod shadowed_patch;
mod shared_state_leak;
mod stops_attaching;
mod stops_matching;
mod sub_filter_not_found;
mod suppression_without_reason;
mod target_ref_never_attaches;
mod target_ref_unknown_gateway;
mod target_refs_ignored;
mod text_not_utf8;
mod tracing_beside_telemetry;
mod transport_socket_merge_drops_rest;
mod transport_socket_not_found;
mod two_terminal_filters;
mod unfinished_extension;
mod unknown_api_value;
mod unknown_cluster;
mod unknown_enum_value;
mod unknown_envoy_field;
mod unknown_field;
mod unknown_filter_config_key;
mod unknown_rule;
mod unknown_type;
mod unnecessary_after_upgrade;
mod unrendered_template;
mod untyped_config;
mod untyped_extension_after_upgrade;
mod unused_suppression;
mod update_rejected;
mod v2_type;
mod validation_fails_after_upgrade;
mod value_refused_after_upgrade;
mod version_pin_lost;
mod virtual_host_not_found;
mod wasm_beside_wasm_plugin;
mod wasm_plugin_gone;
mod waypoint_needs_target_refs;
mod waypoint_never_patched;
mod weakens_tls;
mod whole_mesh;
mod whole_namespace;
mod wrong_api_version;
mod wrong_extension_slot;
mod wrong_json_type;
mod wrong_type;
mod yaml_1_1_word;

/// Every rule, by code.
pub static ALL: &[&Rule] = &[
    &invalid_yaml::RULE,
    &unrendered_template::RULE,
    &text_not_utf8::RULE,
    &duplicate_key::RULE,
    &yaml_1_1_word::RULE,
    &unknown_field::RULE,
    &misspelt_field::RULE,
    &misplaced_field::RULE,
    &legacy_api::RULE,
    &wrong_api_version::RULE,
    &invalid_name::RULE,
    &wrong_type::RULE,
    &null_field::RULE,
    &unknown_api_value::RULE,
    &several_match_objects::RULE,
    &missing_apply_to::RULE,
    &incomplete_patch::RULE,
    &duplicate_filter::RULE,
    &invalid_selector::RULE,
    &no_config_patches::RULE,
    &match_of_wrong_kind::RULE,
    &nameless_filter_match::RULE,
    &misplaced_sub_filter::RULE,
    &ignored_filter_match::RULE,
    &invalid_proxy_version::RULE,
    &loose_proxy_version::RULE,
    &long_proxy_version::RULE,
    &selector_beside_target_refs::RULE,
    &refused_by_api_server::RULE,
    &unknown_envoy_field::RULE,
    &field_beside_typed_config::RULE,
    &wrong_json_type::RULE,
    &bad_duration::RULE,
    &unknown_enum_value::RULE,
    &oneof_set_twice::RULE,
    &missing_type_url::RULE,
    &malformed_type_url::RULE,
    &unknown_type::RULE,
    &v2_type::RULE,
    &untyped_config::RULE,
    &missing_typed_config::RULE,
    &bad_typed_struct_type::RULE,
    &deprecated_field::RULE,
    &deprecated_enum_value::RULE,
    &disallowed_field::RULE,
    &removed_field::RULE,
    &broken_validation_rule::RULE,
    &missing_required_field::RULE,
    &wrong_extension_slot::RULE,
    &extension_not_built_in::RULE,
    &unfinished_extension::RULE,
    &old_extension_name::RULE,
    &name_of_another_extension::RULE,
    &lua_syntax_error::RULE,
    &lua_without_entry_point::RULE,
    &lua_inline_code::RULE,
    &invalid_regex::RULE,
    &bad_format_string::RULE,
    &wasm_plugin_gone::RULE,
    &field_of_another_release::RULE,
    &field_given_twice::RULE,
    &refused_by_envoy::RULE,
    &refused_by_extension::RULE,
    &runtime_guard_not_there::RULE,
    &selector_matches_nothing::RULE,
    &selector_fits_other_namespace::RULE,
    &target_ref_never_attaches::RULE,
    &target_ref_unknown_gateway::RULE,
    &target_refs_ignored::RULE,
    &empty_selector::RULE,
    &context_of_other_proxies::RULE,
    &context_waypoint::RULE,
    &waypoint_needs_target_refs::RULE,
    &listener_not_found::RULE,
    &listener_port_not_found::RULE,
    &filter_chain_not_found::RULE,
    &legacy_name_in_match::RULE,
    &filter_not_found::RULE,
    &sub_filter_not_found::RULE,
    &listener_filter_not_found::RULE,
    &no_http_connection_manager::RULE,
    &route_configuration_not_found::RULE,
    &gateway_match_on_http_server::RULE,
    &virtual_host_not_found::RULE,
    &route_not_found::RULE,
    &cluster_not_found::RULE,
    &service_not_visible::RULE,
    &cluster_name_decides_alone::RULE,
    &proxy_version_matches_nothing::RULE,
    &proxy_metadata_matches_nothing::RULE,
    &field_nobody_reads::RULE,
    &nothing_to_match::RULE,
    &no_effect_on_given_proxies::RULE,
    &operation_without_effect::RULE,
    &list_replacing_merge_of_filters::RULE,
    &listener_filter_merge_before_1_27::RULE,
    &bootstrap_patch::RULE,
    &filter_not_named::RULE,
    &filter_after_terminal::RULE,
    &two_terminal_filters::RULE,
    &insert_without_anchor::RULE,
    &merge_cannot_reset::RULE,
    &merge_appends_to_list::RULE,
    &map_entry_replaced::RULE,
    &merge_of_another_type::RULE,
    &merge_into_every_filter::RULE,
    &merge_into_every_listener_filter::RULE,
    &transport_socket_merge_drops_rest::RULE,
    &transport_socket_not_found::RULE,
    &extension_config_not_used::RULE,
    &extension_config_missing::RULE,
    &duplicate_cluster::RULE,
    &duplicate_object::RULE,
    &added_object_out_of_reach::RULE,
    &unknown_filter_config_key::RULE,
    &unknown_cluster::RULE,
    &added_object_empty::RULE,
    &proxy_protocol_after_inspector::RULE,
    &cluster_add_on_waypoint::RULE,
    &waypoint_never_patched::RULE,
    &merge_into_untyped_filter::RULE,
    &merge_changes_nothing::RULE,
    &conflicting_values::RULE,
    &shadowed_patch::RULE,
    &duplicate_insertion::RULE,
    &order_by_creation_time::RULE,
    &anchor_added_later::RULE,
    &added_then_removed::RULE,
    &drifted_copies::RULE,
    &merge_runs_after_insert::RULE,
    &lost_to_panic::RULE,
    &priority_across_namespaces::RULE,
    &whole_mesh::RULE,
    &whole_namespace::RULE,
    &match_wider_than_it_looks::RULE,
    &both_directions::RULE,
    &port_reaches_other_services::RULE,
    &removes_protection::RULE,
    &weakens_tls::RULE,
    &plaintext_transport::RULE,
    &authorization_fails_open::RULE,
    &check_disabled_for_route::RULE,
    &client_cert_header_trusted::RULE,
    &opens_admin_interface::RULE,
    &secret_in_value::RULE,
    &shared_state_leak::RULE,
    &duration_leak::RULE,
    &remote_code_without_hash::RULE,
    &stops_matching::RULE,
    &begins_to_apply::RULE,
    &stops_attaching::RULE,
    &different_result::RULE,
    &panics_after_upgrade::RULE,
    &lost_to_panic_after_upgrade::RULE,
    &filter_refused_after_upgrade::RULE,
    &anchor_renamed::RULE,
    &value_refused_after_upgrade::RULE,
    &extension_gone_after_upgrade::RULE,
    &validation_fails_after_upgrade::RULE,
    &untyped_extension_after_upgrade::RULE,
    &deprecated_after_upgrade::RULE,
    &version_pin_lost::RULE,
    &behaviour_changes::RULE,
    &unnecessary_after_upgrade::RULE,
    &runtime_guard_changes::RULE,
    &access_log_beside_telemetry::RULE,
    &tracing_beside_telemetry::RULE,
    &metrics_beside_telemetry::RULE,
    &leftover_telemetry_filter::RULE,
    &cluster_settings_beside_destination_rule::RULE,
    &ext_authz_beside_authorization_policy::RULE,
    &jwt_authn_beside_request_authentication::RULE,
    &rbac_beside_authorization_policy::RULE,
    &wasm_beside_wasm_plugin::RULE,
    &lua_beside_traffic_extension::RULE,
    &hop_settings_beside_gateway_topology::RULE,
    &connection_settings_beside_proxy_config::RULE,
    &route_settings_beside_virtual_service::RULE,
    &server_header_beside_proxy_headers::RULE,
    &cluster_beside_service_entry::RULE,
    &idle_timeout_beside_proxy_metadata::RULE,
    &bootstrap_beside_override::RULE,
    &patch_not_in_effect::RULE,
    &patch_contradicted::RULE,
    &replicas_differ::RULE,
    &update_rejected::RULE,
    &leftover_object::RULE,
    &effect_without_selection::RULE,
    &rewritten_often::RULE,
    &unused_suppression::RULE,
    &suppression_without_reason::RULE,
    &unknown_rule::RULE,
];
