//! Filters of access logs as CEL.

use crate::migrate::base::value::{Fields, left};
use crate::source::ErrorMessage;
use serde_json::Value as Json;
use std::collections::BTreeSet;

const CEL: &str = "envoy.extensions.access_loggers.filters.cel.v3.ExpressionFilter";

/// What a log filter is in CEL.
pub(in crate::migrate) struct Condition {
    /// The expression.
    pub expression: String,
    /// How it differs from the filter.
    pub effects: BTreeSet<&'static str>,
}

impl Condition {
    fn of(expression: String, effect: &'static str) -> Condition {
        Condition { expression, effects: BTreeSet::from([effect]) }
    }
}

const STATUS: &str = "the condition is a CEL expression instead of a status filter with a runtime key; on TCP chains, where \
                      `response.code` is missing, it logs nothing";
const DURATION: &str = "the condition is a CEL expression instead of a duration filter with a runtime key; it also applies to \
                        TCP connections, by how long they were open";
const HEADER: &str = "the condition is a CEL expression instead of a header filter; on TCP chains, where requests have no \
                      headers, it logs nothing";
const SAME: &str = "the same CEL expression; on TCP chains, attributes of requests are missing";

/// Reads a filter.
pub(in crate::migrate) fn condition(mut filter: Fields) -> Result<Condition, ErrorMessage> {
    let known = "only filters by status code, duration and header, and CEL expressions have a native equivalent";
    let found = if let Some(mut status) = filter.sub("status_code_filter") {
        let (op, number) = comparison(&mut status, "the status code is missing")?;
        let sign = match op.as_str() {
            "GE" => ">=",
            "EQ" => "==",
            "LE" => "<=",
            "NE" => "!=",
            other => return Err(unknown_comparison(other)),
        };
        Condition::of(format!("response.code {sign} {number}"), STATUS)
    } else if let Some(mut duration) = filter.sub("duration_filter") {
        let (op, number) = comparison(&mut duration, "the duration is missing")?;
        Condition::of(milliseconds(&op, number)?, DURATION)
    } else if let Some(mut header) = filter.sub("header_filter") {
        let matcher = header.sub("header").ok_or("the header filter names no header")?;
        if !header.is_empty() {
            return Err(known.into());
        }
        Condition::of(of_header(matcher)?, HEADER)
    } else if let Some(expression) = expression(&mut filter) {
        Condition::of(expression, SAME)
    } else if let Some((field, sign)) =
        [("and_filter", " && "), ("or_filter", " || ")].into_iter().find(|(field, _)| filter.peek(field).is_some())
    {
        let mut list = filter.sub(field).ok_or(known)?;
        let all = list.list("filters").into_iter().map(condition).collect::<Result<Vec<Condition>, _>>()?;
        if all.is_empty() || !list.is_empty() {
            return Err(known.into());
        }
        let texts: Vec<String> = all.iter().map(|one| format!("({})", one.expression)).collect();
        Condition { expression: texts.join(sign), effects: all.into_iter().flat_map(|one| one.effects).collect() }
    } else {
        return Err(known.into());
    };
    if filter.is_empty() { Ok(found) } else { Err(known.into()) }
}

/// Operator and number of a comparison.
fn comparison(of: &mut Fields, missing: &'static str) -> Result<(String, u64), ErrorMessage> {
    let mut comparison = of.sub("comparison").ok_or(missing)?;
    let op = comparison.text("op").unwrap_or_else(|| "EQ".to_owned());
    let number = comparison.number("value/default_value").ok_or(missing)?;
    comparison.skip("value/runtime_key");
    if comparison.is_empty() && of.is_empty() {
        Ok((op, number))
    } else {
        Err(left("the CEL expression of a Telemetry", [&comparison, of]).into())
    }
}

/// Envoy compares whole milliseconds.
fn milliseconds(op: &str, number: u64) -> Result<String, ErrorMessage> {
    let least = format!("request.duration >= duration('{number}ms')");
    let less = format!("request.duration < duration('{}ms')", number.saturating_add(1));
    match op {
        "GE" => Ok(least),
        "LE" => Ok(less),
        "EQ" => Ok(format!("{least} && {less}")),
        "NE" => Ok(format!("!({least} && {less})")),
        other => Err(unknown_comparison(other)),
    }
}

fn unknown_comparison(op: &str) -> ErrorMessage {
    format!("the log filter compares by {op}; only GE, EQ, LE and NE are written as a CEL expression").into()
}

/// A text in quotes; `None` if CEL would read it differently.
fn quoted(text: &str) -> Option<String> {
    let plain = !text.is_empty() && !text.chars().any(|c| matches!(c, '\'' | '\\') || c.is_control());
    plain.then(|| format!("'{text}'"))
}

fn of_header(mut header: Fields) -> Result<String, ErrorMessage> {
    let refused = || {
        ErrorMessage::from(
            "the log filter compares a header in a way that the CEL expression of a Telemetry is not written for: only equal, start, end, part and present, not inverted, case-sensitive, of texts without quotes and backslashes",
        )
    };
    let name = header.text("name").ok_or_else(refused)?.to_ascii_lowercase();
    let name = quoted(&name).ok_or_else(refused)?;
    let value = format!("request.headers[{name}]");
    // Envoy reads an inverted match of a missing header in its own way.
    if header.flag("invert_match") == Some(true) {
        return Err(refused());
    }
    let mut matcher = header.sub("string_match").unwrap_or(Fields(Json::Null));
    let mut text = |new: &str, old: &str| matcher.text(new).or_else(|| header.text(old));
    let found = if let Some(text) = text("exact", "exact_match") {
        format!("{value} == {}", quoted(&text).ok_or_else(refused)?)
    } else if let Some(text) = text("prefix", "prefix_match") {
        format!("{value}.startsWith({})", quoted(&text).ok_or_else(refused)?)
    } else if let Some(text) = text("suffix", "suffix_match") {
        format!("{value}.endsWith({})", quoted(&text).ok_or_else(refused)?)
    } else if let Some(text) = text("contains", "contains_match") {
        format!("{value}.contains({})", quoted(&text).ok_or_else(refused)?)
    } else if header.flag("present_match") == Some(true) {
        format!("{name} in request.headers")
    } else {
        return Err(refused());
    };
    if matcher.is_empty() && header.is_empty() { Ok(found) } else { Err(refused()) }
}

/// The expression of Envoy's own CEL filter.
fn expression(filter: &mut Fields) -> Option<String> {
    let mut extension = filter.peek("extension_filter").cloned().map(Fields)?;
    extension.skip("name");
    let mut config = extension.typed("typed_config", CEL)?;
    let text = config.text("expression")?;
    if !config.is_empty() || !extension.is_empty() {
        return None;
    }
    filter.skip("extension_filter");
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: Json) -> Option<String> {
        condition(Fields(value)).ok().map(|one| one.expression)
    }

    #[test]
    fn filters_are_expressions() {
        let slow = json!({ "duration_filter": { "comparison": { "op": "GE", "value": { "default_value": 500, "runtime_key": "x" } } } });
        let of_user =
            json!({ "header_filter": { "header": { "name": "X-User", "string_match": { "exact": "a b" } } } });
        assert_eq!(read(slow.clone()).as_deref(), Some("request.duration >= duration('500ms')"));
        assert_eq!(read(of_user.clone()).as_deref(), Some("request.headers['x-user'] == 'a b'"));
        let both = json!({ "or_filter": { "filters": [slow, of_user] } });
        assert_eq!(
            read(both).as_deref(),
            Some("(request.duration >= duration('500ms')) || (request.headers['x-user'] == 'a b')")
        );
        let present = json!({ "header_filter": { "header": { "name": "x", "present_match": true } } });
        assert_eq!(read(present).as_deref(), Some("'x' in request.headers"));
    }

    #[test]
    fn other_filters_have_no_expression() {
        for filter in [
            json!({ "header_filter": { "header": { "name": "x", "string_match": { "exact": "it's" } } } }),
            json!({ "header_filter": { "header": { "name": "x", "present_match": true, "invert_match": true } } }),
            json!({ "header_filter": { "header": { "name": "x", "string_match": { "exact": "a", "ignore_case": true } } } }),
            json!({ "traceable_filter": {} }),
            json!({ "and_filter": { "filters": [] } }),
        ] {
            assert_eq!(read(filter.clone()), None, "{filter}");
        }
    }
}
