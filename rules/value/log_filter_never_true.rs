//! EF173: a filter of an access log or local reply that never matches.

use crate::declare_rule;
use crate::lint::value::expression::without_texts;
use crate::lint::walk::{get, number};
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::{Node, Severity};

declare_rule! {
    /// A filter of an access log or of a local reply that never matches.
    ///
    /// # What it finds
    /// `header_filter` on `:status`; `and_filter` with `status_code_filter`s that no response code satisfies together; CEL expressions
    /// with an attribute `request.…` or `response.…` that Envoy does not have.
    ///
    /// # Why it matters
    /// `header_filter` reads headers of the request, also in `local_reply_config`. An unknown attribute is an error, which counts as
    /// false. No line is written, and no reply is changed.
    ///
    /// # How to fix
    /// `status_code_filter` for response codes, `response.code` in CEL, `or_filter` for codes of several ranges.
    ///
    /// # References
    /// Envoy `config.accesslog.v3.AccessLogFilter`, "Attributes"; tested with Envoy 1.38.2.
    "EF173" "log-filter-never-true" Value Error => check
}

const REQUEST: &str =
    "path url_path host scheme method headers referer useragent time id protocol query duration size total_size";
const RESPONSE: &str = "code code_details flags grpc_status headers trailers size total_size backend_latency";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for object in &value.objects {
            match object.full_name() {
                "envoy.config.accesslog.v3.HeaderFilter" => {
                    let header = object.member("header").map(|member| &member.entry.value);
                    let Some(name) = header.and_then(|header| get(header, "name")) else { continue };
                    if name.as_str() == Some(":status") {
                        out.push(
                            value
                                .finding(rule, name.span, "requests have no header `:status`, and this filter reads their headers")
                                .label("a header of responses")
                                .snippet("status_code_filter:\n  comparison:\n    op: GE\n    value: {default_value: 500, runtime_key: <unused name>}"),
                        );
                    }
                }
                "envoy.config.accesslog.v3.AndFilter" => {
                    let filters = object.member("filters").map(|member| member.entry.value.items()).unwrap_or_default();
                    let ranges: Vec<(u32, u32)> = filters.iter().filter_map(codes).collect();
                    let least = ranges.iter().map(|(least, _)| *least).max().unwrap_or(0);
                    let most = ranges.iter().map(|(_, most)| *most).min().unwrap_or(u32::MAX);
                    if least > most {
                        out.push(
                            value
                                .finding(
                                    rule,
                                    object.span,
                                    format!("no response code is at least {least} and at most {most}"),
                                )
                                .severity(Severity::Warning)
                                .label("all of these must be true")
                                .help("or_filter, if one of them is enough"),
                        );
                    }
                }
                "envoy.extensions.access_loggers.filters.cel.v3.ExpressionFilter" => {
                    let Some(node) = object.member("expression").map(|member| &member.entry.value) else { continue };
                    let bare = without_texts(node.as_str().unwrap_or_default());
                    let Some((of, name)) = unknown(&bare) else { continue };
                    let help = match (of, name) {
                        ("response", name) if name.contains("stat") || name.contains("code") => {
                            "response.code".to_owned()
                        }
                        ("response", _) => format!("one of {}", RESPONSE.replace(' ', ", ")),
                        (_, "authority") => "request.host".to_owned(),
                        (_, "user_agent" | "userAgent") => "request.useragent".to_owned(),
                        (_, "uri" | "url") => "request.path".to_owned(),
                        _ => format!("one of {}", REQUEST.replace(' ', ", ")),
                    };
                    out.push(
                        value
                            .finding(rule, node.span, format!("Envoy has no attribute `{of}.{name}`"))
                            .label("an error, which counts as false")
                            .help(help),
                    );
                }
                _ => {}
            }
        }
    }
}

/// The response codes of a `status_code_filter`.
fn codes(filter: &Node) -> Option<(u32, u32)> {
    let comparison = get(get(filter, "status_code_filter")?, "comparison")?;
    let code = number(get(get(comparison, "value")?, "default_value")?)?;
    match get(comparison, "op").and_then(Node::as_str) {
        None | Some("EQ") => Some((code, code)),
        Some("GE") => Some((code, u32::MAX)),
        Some("LE") => Some((0, code)),
        Some(_) => None,
    }
}

/// The first attribute of a request or response in an expression, without its texts, that does not exist.
fn unknown(bare: &str) -> Option<(&'static str, &str)> {
    [("request", REQUEST), ("response", RESPONSE)].into_iter().find_map(|(of, attributes)| {
        bare.match_indices(of).find_map(|(at, _)| {
            let name = bare[at + of.len()..].strip_prefix('.')?;
            let before = bare[..at].chars().next_back();
            let own = before.is_none_or(|c| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '.'));
            let length = name.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
            let (name, rest) = name.split_at(length);
            let known = name.is_empty() || rest.starts_with('(') || attributes.split(' ').any(|one| one == name);
            (own && !known).then_some((of, name))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::unknown;

    #[test]
    fn only_unknown_attributes_are_found() {
        assert_eq!(unknown("response.status >= 400"), Some(("response", "status")));
        assert_eq!(unknown("'x' in request.headers && request.uri == '/'"), Some(("request", "uri")));
        for text in ["response.code >= 400", "xds.response.status", "my_request.a"] {
            assert_eq!(unknown(text), None, "{text}");
        }
    }
}
