//! EF111: `config` instead of `typed_config`.

use crate::declare_rule;
use crate::envoy;
use crate::lint::rule::{Cel, PolicyTarget};
use crate::lint::{Context, Edit, Findings, RuleInfo};
use crate::source::Severity;

declare_rule! {
    /// `config` instead of `typed_config`.
    ///
    /// # What it finds
    /// The untyped `config` of Envoy's v2 API in a message of the v3 API.
    ///
    /// # Why it matters
    /// The field is gone since Envoy 1.18: istiod drops it, and the rest loads nothing, or the proxy rejects it.
    ///
    /// # How to fix
    /// Rename it to `typed_config` and add the type.
    ///
    /// # References
    /// Envoy 1.18 release notes; the field's name is reserved in the v3 messages.
    "EF111" "untyped-config" Value Error => check,
    explains: &["EF112", "EF329"],
    fixes: true, renews: true, policy: Cel(policy)
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for object in &value.objects {
            let has_typed = object.message().is_some_and(|message| message.field("typed_config").is_some());
            let Some(member) = object.members.iter().find(|member| member.entry.key == "config") else { continue };
            if !has_typed || member.field().is_some() {
                continue;
            }
            // Envoy finds the extensions of filters by the type of their configuration.
            let refused = object.whole
                && matches!(object.short_name(), "HttpFilter" | "Filter")
                && object.member("typed_config").is_none();
            let mut finding = value
                .finding(rule, member.entry.key_span, format!("`{}` no longer has `config`", object.short_name()))
                .label("a field of the v2 API")
                .rejected_if(refused, "istiod drops it and accepts the EnvoyFilter");
            let known = object.text("name").and_then(|name| {
                let extension = envoy::extension(envoy::canonical_name(name).unwrap_or(name))?;
                extension.messages().find(|message| !message.contains("PerRoute"))
            });
            let url = known.map(|message| format!("type.googleapis.com/{message}"));
            let shown = url.as_deref().unwrap_or("type.googleapis.com/…");
            finding = finding.snippet(format!("write\ntyped_config:\n  \"@type\": {shown}\n  …"));
            let content = &member.entry.value;
            let position = cx.sources.position(content.span);
            let snippet = cx.sources.snippet(content.span);
            let free = object.member("typed_config").is_none();
            if let (Some(url), false, true) = (url, content.entries().is_empty(), free) {
                // JSON writes keys in quotes.
                let quote = if cx.sources.snippet(member.entry.key_span).starts_with('"') { "\"" } else { "" };
                let (end, text) = if snippet.starts_with('{') {
                    (content.span.start + 1, format!("{{\"@type\": \"{url}\", "))
                } else {
                    (content.span.start, format!("\"@type\": {url}\n{}", " ".repeat(position.column - 1)))
                };
                finding = finding.fix(
                    "write `typed_config` with its type",
                    false,
                    vec![
                        Edit { span: member.entry.key_span, text: format!("{quote}typed_config{quote}") },
                        Edit { span: crate::source::Span { end, ..content.span }, text },
                    ],
                );
            }
            out.push(finding);
        }
    }
}

fn policy(_: &PolicyTarget<'_>) -> Vec<Cel> {
    vec![Cel::patch(
        Severity::Error,
        r"@filters && has(p.patch) && has(p.patch.value) && has(p.patch.value.config) && !has(p.patch.value.typed_config)",
        "filters no longer have `config`: use `typed_config` with its `@type`",
    )
        .without("fields deeper in the value")]
}
