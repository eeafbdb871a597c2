//! EF116: a field or enum value that Envoy rejects by default.

use crate::declare_rule;
use crate::envoy;
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// A field or enum value that Envoy rejects by default.
    ///
    /// # What it finds
    /// A deprecated field or enum value that the proxies' Envoy rejects unless its runtime allows it.
    ///
    /// # Why it matters
    /// istiod accepts it, but the proxy rejects the listener, route or cluster that contains it.
    ///
    /// # How to fix
    /// Use its replacement.
    ///
    /// # References
    /// `envoy.annotations.disallowed_by_default` in the protos of Envoy 1.26 to 1.40; measured with Envoy 1.36 and 1.40.
    "EF116" "disallowed-field" Value Error => check,
    by_release: true
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.proxy_values() {
        for object in &value.objects {
            for member in &object.members {
                let mut found = Vec::new();
                if let Some(field) = member.envoy.filter(|field| field.disallowed_by_default()) {
                    let path = format!("{}.{}", object.full_name(), field.name());
                    found.push((member.entry.key_span, field.name(), path));
                }
                for (node, of, one) in super::deprecated_enum_value::enum_values(member) {
                    if one.disallowed_by_default() {
                        found.push((node.span, one.name(), format!("{}.{}", of.full_name(), one.name())));
                    }
                }
                for (span, name, path) in found {
                    let known = envoy::deprecation(&path);
                    let since = known.map(|known| known.disallowed()).unwrap_or_default();
                    let mut finding = value
                        .finding(rule, span, format!("Envoy rejects `{name}` {since}").trim_end().to_owned())
                        .label("disallowed by default")
                        .rejected("istiod accepts it, and the proxy rejects the resource that contains it");
                    if let Some(instead) = known.and_then(|known| known.instead) {
                        finding = finding.help(instead.to_string());
                    }
                    out.push(finding);
                }
            }
        }
    }
}
