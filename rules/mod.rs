//! The rules: one file each. This list is written by `UPDATE=1 cargo test --test it rules`.

use crate::lint::Rule;

mod duplicate_filter;
mod duplicate_key;
mod ignored_filter_match;
mod incomplete_patch;
mod invalid_name;
mod invalid_proxy_version;
mod invalid_selector;
mod invalid_yaml;
mod legacy_api;
mod long_proxy_version;
mod loose_proxy_version;
mod match_of_wrong_kind;
mod misplaced_field;
mod misplaced_sub_filter;
mod missing_apply_to;
mod misspelt_field;
mod nameless_filter_match;
mod no_config_patches;
mod null_field;
mod operation_without_effect;
mod selector_beside_target_refs;
mod several_match_objects;
mod text_not_utf8;
mod unknown_api_value;
mod unknown_field;
mod unrendered_template;
mod wrong_api_version;
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
    &operation_without_effect::RULE,
];
