//! EF117: a field that was removed from its message.

use crate::declare_rule;
use crate::envoy;
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// A field that was removed from its message.
    ///
    /// # What it finds
    /// A key for a field that the message no longer has: its name is reserved in the proto file.
    ///
    /// # Why it matters
    /// istiod drops the key and accepts the EnvoyFilter, which then does not do what it says.
    ///
    /// # How to fix
    /// Write the field's successor.
    ///
    /// # References
    /// Reserved names in the protos of Envoy 1.40; Envoy 1.18 release notes (end of the v2 API).
    "EF117" "removed-field" Value Error => check,
    by_release: true, explains: &["EF329"]
}

/// Successors of removed fields, by their names.
const SUCCESSORS: [(&str, &str); 12] = [
    ("tls_context", "`transport_socket` with the name `envoy.transport_sockets.tls` and a `typed_config`"),
    ("hosts", "`load_assignment`"),
    ("per_filter_config", "`typed_per_filter_config`"),
    ("extension_protocol_options", "`typed_extension_protocol_options`"),
    ("allow_origin", "`allow_origin_string_match`"),
    ("allow_origin_regex", "`allow_origin_string_match`"),
    ("regex_match", "`string_match.safe_regex`"),
    ("regex", "`safe_regex`"),
    ("request_mirror_policy", "`request_mirror_policies`"),
    ("idle_timeout", "`common_http_protocol_options.idle_timeout`"),
    ("verify_subject_alt_name", "`match_typed_subject_alt_names`"),
    ("request_headers_for_tags", "`custom_tags`"),
];

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.proxy_values() {
        for object in &value.objects {
            for member in object.members.iter().filter(|member| member.field().is_none()) {
                let key = member.entry.key.as_str();
                let untyped =
                    key == "config" && object.message().is_some_and(|one| one.field("typed_config").is_some());
                if untyped || !envoy::field_removed(object.full_name(), key) {
                    continue;
                }
                let mut finding = value
                    .finding(rule, member.entry.key_span, format!("`{}` no longer has `{key}`", object.short_name()))
                    .label("removed from the API")
                    .note(format!(
                        "istiod accepts the EnvoyFilter and drops this key: `{}` does not have it",
                        object.full_name()
                    ));
                if let Some((_, instead)) = SUCCESSORS.iter().find(|(name, _)| *name == key) {
                    finding = finding.help(format!("use {instead} instead"));
                }
                out.push(finding);
            }
        }
    }
}
