//! EF103: a value of the wrong type for its field.

use crate::declare_rule;
use crate::lint::{Context, Edit, Findings, RuleInfo};
use crate::proto::decode::What;
use crate::proto::expected::Expected;
use crate::source::{Node, NodeValue};

declare_rule! {
    /// A value of the wrong type for its field.
    ///
    /// # What it finds
    /// Text where a number is expected, a number or Boolean without quotes where text is expected, a mapping instead of
    /// a list, and so on.
    ///
    /// # Why it matters
    /// istiod rejects the whole value: the webhook rejects the EnvoyFilter, and one that bypasses the webhook has no effect. In a
    /// TypedStruct the proxy rejects the listener, route or cluster instead.
    ///
    /// # How to fix
    /// Write the value in the type of the field.
    ///
    /// # References
    /// protobuf's JSON mapping; istiod reads values with golang/protobuf `jsonpb`, releases 1.22 to 1.31.
    "EF103" "wrong-json-type" Value Error => check,
    fixes: true, explains: &["EF118"]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for (value, noticed) in cx.noticed() {
        let What::WrongType { expected } = noticed.notice.what else { continue };
        let found = match noticed.node.map(|node| &node.value) {
            Some(NodeValue::Null) | None => "nothing",
            Some(NodeValue::Bool(_)) => "a boolean",
            Some(NodeValue::Number(text)) if expected.is_whole_number() => match text.parse::<f64>() {
                Ok(number) if number.fract() != 0.0 => "a fraction",
                Ok(number) if number < 0.0 && !takes_negative(expected) => "a negative number",
                _ => "a number",
            },
            Some(NodeValue::Number(_)) => "a number",
            Some(NodeValue::String(_)) => "text",
            Some(NodeValue::List(_)) => "a list",
            Some(NodeValue::Map(_)) => "a mapping",
        };
        let span = value.written_span(noticed);
        let mut finding = value
            .finding(rule, span, format!("{found} where {expected} is expected"))
            .label(format!("in `{}`", value.holder(&noticed.notice)))
            .at_line(Some(span))
            .rejected_if(noticed.in_typed_struct, super::bad_duration::consequence(noticed.in_typed_struct))
            .ineffective_if(!noticed.in_typed_struct);
        if let Some(node) = noticed.node {
            if expected == Expected::QuotedText {
                let text = format!("{:?}", cx.sources.snippet(node.span));
                finding = finding.help(format!("write {text}"));
                finding = finding.fix("put it in quotes", true, vec![Edit { span: node.span, text }]);
            } else if let Some(help) = instead(node, expected) {
                finding = finding.help(help);
            }
        }
        out.push(finding);
    }
}

/// Whether a field takes negative numbers.
const fn takes_negative(expected: Expected) -> bool {
    matches!(expected, Expected::WholeNumberFrom(low, _) if low < 0)
}

/// What to write where the intention is clear.
fn instead(node: &Node, expected: Expected) -> Option<String> {
    match &node.value {
        NodeValue::List(items)
            if expected == Expected::Mapping && matches!(&items[..], [item] if !item.entries().is_empty()) =>
        {
            Some("write the mapping itself, without `-`".to_owned())
        }
        NodeValue::Map(_) if expected == Expected::List => {
            Some("write it as an item of a list: `- ` before the first key".to_owned())
        }
        NodeValue::String(text) if expected == Expected::Boolean => match text.to_lowercase().as_str() {
            "true" | "yes" | "on" => Some("write true".to_owned()),
            "false" | "no" | "off" => Some("write false".to_owned()),
            _ => None,
        },
        NodeValue::String(text) if expected.is_whole_number() => without_unit(text),
        _ => None,
    }
}

/// A number with a unit, such as `32KiB` or `50%`.
fn without_unit(text: &str) -> Option<String> {
    let (digits, unit) = text.split_at(text.find(|letter: char| !letter.is_ascii_digit())?);
    let number: u64 = digits.parse().ok()?;
    let unit = unit.trim_start();
    let shift = match unit.strip_suffix('B').unwrap_or(unit) {
        "Ki" => 10,
        "Mi" => 20,
        "Gi" => 30,
        _ if !unit.is_empty() && unit.chars().all(|letter| letter.is_ascii_alphabetic() || letter == '%') => {
            return Some("write the number without its unit".to_owned());
        }
        _ => return None,
    };
    number.checked_mul(1 << shift).map(|bytes| format!("write {bytes}"))
}
