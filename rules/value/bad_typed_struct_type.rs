//! EF113: a TypedStruct whose `type_url` names nothing.

use crate::declare_rule;
use crate::lint::{Context, Edit, Findings, RuleInfo};
use crate::source::Severity;

declare_rule! {
    /// A TypedStruct whose `type_url` is missing, empty or unknown to the proxy.
    ///
    /// # What it finds
    /// A `udpa.type.v1.TypedStruct` or `xds.type.v3.TypedStruct` without `type_url`, or with one that no message of the
    /// proxies' Envoy has. Another rule reports types of the v2 API.
    ///
    /// # Why it matters
    /// istiod does not read inside, so nothing rejects the filter; the proxy rejects the resource that contains it.
    ///
    /// # How to fix
    /// Write the full name of the message after `type.googleapis.com/`.
    ///
    /// # References
    /// `xds/type/v3/typed_struct.proto`; Envoy `source/common/config/utility.cc`.
    "EF113" "bad-typed-struct-type" Value Error => check,
    fixes: true, renews: true, by_release: true
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.proxy_values() {
        for slot in &value.slots {
            // Only where an extension is looked up by type; other fields accept a TypedStruct as plain data
            // (`plugin_config` of the Go filter).
            if !slot.typed_struct || !matches!(slot.field.name(), "typed_config" | "typed_per_filter_config") {
                continue;
            }
            let Some(url) = slot.inner.filter(|url| !url.text.is_empty()) else {
                let span = slot.inner.map_or_else(|| slot.url.map_or(slot.span, |url| url.span), |url| url.span);
                out.push(
                    value
                        .finding(rule, span, "a TypedStruct without `type_url`")
                        .label("the type of its value is unknown")
                        .rejected("istiod does not read inside; the proxy finds no extension for it and rejects the resource that contains it")
                        .help("add `type_url: type.googleapis.com/…` next to `value`"),
                );
                continue;
            };
            let known = url.envoy.is_some();
            if known
                || super::v2_type::successor(&url).is_some()
                || super::malformed_type_url::meant(cx, &url).is_some()
            {
                continue;
            }
            let mut finding = value
                .finding(
                    rule,
                    url.span,
                    format!(
                        "Envoy 1.{} does not know the type `{}`",
                        value.envoy_minor.unwrap_or_default(),
                        url.name()
                    ),
                )
                .label("unknown type")
                .rejected("istiod does not read inside a TypedStruct; the proxy rejects the resource that contains it");
            // A custom proxy image may have its own extensions.
            if !url.name().starts_with("envoy.") {
                finding = finding
                    .severity(Severity::Warning)
                    .likely("Istio's proxies do not have it, but a custom proxy image may");
            }
            for note in super::unknown_type::releases(url.name()) {
                finding = finding.note(note);
            }
            if let Some(better) = super::unknown_type::better(cx, &url) {
                let text = format!("type.googleapis.com/{better}");
                finding = finding.help(format!("did you mean `{text}`?"));
                finding = finding.fix("write that type", false, vec![Edit { span: url.span, text }]);
            }
            out.push(finding);
        }
    }
}
