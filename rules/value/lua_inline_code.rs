//! EF127: `inline_code` of the Lua filter.

use crate::declare_rule;
use crate::lint::rule::{Cel, DEEPER_VALUES, PolicyTarget};
use crate::lint::{Context, Edit, Findings, RuleInfo};
use crate::source::Severity;

declare_rule! {
    /// The Lua filter's deprecated `inline_code`.
    ///
    /// # What it finds
    /// `inline_code` (`inlineCode`) in the configuration of the Lua filter.
    ///
    /// # Why it matters
    /// It is deprecated since Envoy 1.23 in favor of `default_source_code`; the proxy warns, and a later release rejects
    /// it.
    ///
    /// # How to fix
    /// Write `default_source_code` with an `inline_string`.
    ///
    /// # References
    /// Envoy 1.23 release notes; envoyproxy/envoy#22125.
    "EF127" "lua-inline-code" Value Warning => check,
    fixes: true, renews: true, by_release: true, policy: Cel(policy)
}

/// The field.
pub(super) const PATH: &str = "envoy.extensions.filters.http.lua.v3.Lua.inline_code";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.proxy_values() {
        for object in
            value.objects.iter().filter(|object| object.full_name() == "envoy.extensions.filters.http.lua.v3.Lua")
        {
            let Some(member) = object.member("inline_code") else { continue };
            let camel = member.entry.key == "inlineCode";
            let (outer, inner) =
                if camel { ("defaultSourceCode", "inlineString") } else { ("default_source_code", "inline_string") };
            let mut finding = value
                .finding(rule, member.entry.key_span, format!("`{}` is deprecated since Envoy 1.23", member.entry.key))
                .label("deprecated")
                .note("the proxy accepts it with a warning; a later release rejects or removes it")
                .snippet(format!("write\n{outer}:\n  {inner}: |\n    …"));
            if object.member("default_source_code").is_none() {
                let source = cx.sources.get(member.entry.key_span.file);
                finding = finding.fix(
                    format!("write `{outer}`"),
                    true,
                    rewrite(source, member.entry.key_span, member.entry.value.span, outer, inner),
                );
            }
            out.push(finding);
        }
    }
}

/// Moves the value one level deeper: the key becomes two, and every further line of the value moves right by two.
fn rewrite(
    source: &crate::source::SourceText,
    key: crate::source::Span,
    value: crate::source::Span,
    outer: &str,
    inner: &str,
) -> Vec<Edit> {
    let flow = source.text.get(value.end as usize..).is_some_and(|rest| rest.trim_start_matches(' ').starts_with('}'));
    let written = source.text.get(key.start as usize..value.end as usize).unwrap_or_default();
    let column = source.position(key.start).column - 1;
    if flow || !written.contains('\n') {
        let text = source.text.get(value.start as usize..value.end as usize).unwrap_or_default();
        return vec![
            Edit { span: key, text: outer.to_owned() },
            Edit { span: value, text: format!("{{ {inner}: {text} }}") },
        ];
    }
    let mut edits = vec![Edit { span: key, text: format!("{outer}:\n{}{inner}", " ".repeat(column + 2)) }];
    let first = source.position(key.start).line + 1;
    let last = source.position(value.end.saturating_sub(1)).line;
    for line in first..=last {
        let Some(start) = source.line_start(line) else { break };
        let text = source.text[start as usize..].lines().next().unwrap_or_default();
        // The span of a block text extends into the line of the next key.
        let next_key = text.len() - text.trim_start_matches(' ').len() <= column;
        if !text.trim().is_empty() && next_key {
            break;
        }
        if !text.trim().is_empty() {
            edits.push(Edit { span: crate::source::Span { file: key.file, start, end: start }, text: "  ".to_owned() });
        }
    }
    edits
}

fn policy(_: &PolicyTarget<'_>) -> Vec<Cel> {
    vec![
        Cel::patch(
            Severity::Warning,
            r#"@url.endsWith(".lua.v3.Lua") && (has(@t.inline_code) || has(@t.inlineCode))"#,
            "the Lua filter's inline_code is deprecated: use default_source_code",
        )
        .without(DEEPER_VALUES),
    ]
}
