//! EF159: an access log whose lines are not separated.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::Node;

declare_rule! {
    /// A text format of an access log that does not end with a newline.
    ///
    /// # What it finds
    /// `format`, or `log_format` with `text_format` or `text_format_source`, of an access log to a file, to standard output
    /// or to standard error, without a newline at its end. JSON formats end each line.
    ///
    /// # Why it matters
    /// Envoy writes the text as it is: all requests end up in one line, which no log collector can split.
    ///
    /// # How to fix
    /// End the format with `\n` in double quotes, or use a literal block (`|`).
    ///
    /// # References
    /// Envoy `extensions.access_loggers.file.v3.FileAccessLog`, `config.core.v3.SubstitutionFormatString`; tested with
    /// Envoy 1.38.2.
    "EF159" "log-line-without-newline" Value Warning => check
}

const LOGS: [&str; 3] = [
    "envoy.extensions.access_loggers.file.v3.FileAccessLog",
    "envoy.extensions.access_loggers.stream.v3.StdoutAccessLog",
    "envoy.extensions.access_loggers.stream.v3.StderrAccessLog",
];

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for (index, object) in value.objects.iter().enumerate() {
            let of = |parent: Option<usize>, field: &str, wanted: &[&str]| {
                parent.map(|parent| &value.objects[parent]).is_some_and(|it| wanted.contains(&it.full_name()))
                    && object.parent.is_some_and(|(_, own)| own.name() == field)
            };
            let parent = object.parent.map(|(parent, _)| parent);
            let found: Option<&Node> = if LOGS.contains(&object.full_name()) {
                object.member("format").map(|member| &member.entry.value)
            } else if of(parent, "log_format", &LOGS) {
                object.member("text_format").map(|member| &member.entry.value)
            } else if of(parent, "text_format_source", &["envoy.config.core.v3.SubstitutionFormatString"]) {
                let format = parent.map(|parent| &value.objects[parent]);
                let in_log = format.and_then(|format| format.parent).is_some_and(|(log, field)| {
                    field.name() == "log_format" && LOGS.contains(&value.objects[log].full_name())
                });
                in_log.then(|| value.objects[index].member("inline_string").map(|member| &member.entry.value)).flatten()
            } else {
                None
            };
            let Some(node) =
                found.filter(|node| node.as_str().is_some_and(|text| !text.is_empty() && !text.ends_with('\n')))
            else {
                continue;
            };
            out.push(
                value
                    .finding(rule, node.span, "the lines of this access log are not separated")
                    .label("no newline at the end")
                    .note("Envoy writes the text as it is; only JSON formats end each line")
                    .snippet("end it with \\n in double quotes, or write it as a literal block:\n  inline_string: |\n    %START_TIME% …"),
            );
        }
    }
}
