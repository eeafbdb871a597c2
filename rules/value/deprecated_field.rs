//! EF114: a deprecated field.

use crate::declare_rule;
use crate::envoy;
use crate::lint::{Context, Edit, Findings, RuleInfo};
use crate::source::{NodeValue, Severity};

declare_rule! {
    /// A deprecated field or type.
    ///
    /// # What it finds
    /// A field, or the type of an `Any`, that the proxies' Envoy declares deprecated. Another rule reports fields that
    /// Envoy rejects by default. Silent in settings that a route switches off (`FilterConfig.disabled`), which Envoy does not read.
    ///
    /// # Why it matters
    /// Envoy still accepts it, logs a warning and counts it in `runtime.deprecated_feature_use`; a later release rejects or
    /// removes it.
    ///
    /// # How to fix
    /// Use its replacement.
    ///
    /// # References
    /// The protos of Envoy 1.15 to 1.40, release by release, and their comments; tested with Envoy 1.36.4 to 1.40.0.
    "EF114" "deprecated-field" Value Warning => check,
    fixes: true, renews: true, by_release: true
}

const APPEND: &str = "envoy.config.core.v3.HeaderValueOption.append";
const HEADER_MATCHER: &str = "envoy.config.route.v3.HeaderMatcher";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.proxy_values() {
        for object in value.objects.iter().filter(|object| !object.is_off) {
            for member in &object.members {
                let Some(field) = member.envoy.filter(|field| field.deprecated() && !field.disallowed_by_default())
                else {
                    continue;
                };
                let path = format!("{}.{}", object.full_name(), field.name());
                // Another rule says that Envoy rejects both.
                let action = object.text("append_action").filter(|action| *action != "APPEND_IF_EXISTS_OR_ADD");
                let with_successor = path == APPEND && action.is_some();
                if path == super::lua_inline_code::PATH || member.entry.value.is_null() || with_successor {
                    continue;
                }
                let known = envoy::deprecation(&path);
                let since = known.map(|known| known.since()).unwrap_or_default();
                let mut finding = value
                    .finding(
                        rule,
                        member.entry.key_span,
                        format!("`{}` is deprecated {since}", field.name()).trim_end().to_owned(),
                    )
                    .label("deprecated")
                    .note("the proxy accepts it with a warning; a later release rejects or removes it");
                if let Some(instead) = known.and_then(|known| known.instead) {
                    let unfinished = object.envoy.and_then(|message| envoy::unfinished_successor(message, &instead));
                    finding = match unfinished {
                        Some(successor) => finding.severity(Severity::Info).note(format!(
                            "its replacement `{successor}` is still work in progress: keep `{}`",
                            field.name()
                        )),
                        None => finding.help(instead.to_string()),
                    };
                }
                if field.name() == "google_re2" {
                    finding = finding.severity(Severity::Info);
                }
                let matcher =
                    object.full_name() == HEADER_MATCHER && matches!(member.entry.value.value, NodeValue::String(_));
                if let (true, Some(kind)) = (matcher, field.name().strip_suffix("_match")) {
                    let written = cx.sources.snippet(member.entry.value.span);
                    if !written.starts_with(['|', '>']) {
                        finding = finding.fix(
                            "write a `string_match`",
                            true,
                            vec![
                                Edit { span: member.entry.key_span, text: "string_match".to_owned() },
                                Edit { span: member.entry.value.span, text: format!("{{ {kind}: {written} }}") },
                            ],
                        );
                    }
                }
                out.push(finding);
            }
        }
        for slot in &value.slots {
            let Some(url) = slot.content().filter(|_| !slot.is_off) else { continue };
            if url.envoy.is_some_and(crate::proto::schema::Message::deprecated) {
                out.push(
                    value
                        .finding(rule, url.span, format!("the type `{}` is deprecated", url.name()))
                        .label("deprecated")
                        .note("the proxy accepts it with a warning; a later release removes it"),
                );
            }
        }
    }
}
