//! EF103: a value of the wrong type for its field.

use crate::declare_rule;
use crate::lint::{Context, Edit, Findings, RuleInfo};
use crate::proto::decode::What;
use crate::source::NodeValue;

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
    fixes: true
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for noticed in &value.notices {
            let What::WrongType { expected } = &noticed.notice.what else { continue };
            let found = match noticed.node.map(|node| &node.value) {
                Some(NodeValue::Null) | None => "nothing",
                Some(NodeValue::Bool(_)) => "a boolean",
                Some(NodeValue::Number(_)) => "a number",
                Some(NodeValue::String(_)) => "text",
                Some(NodeValue::List(_)) => "a list",
                Some(NodeValue::Map(_)) => "a mapping",
            };
            let span = value.written_span(noticed);
            let mut finding = value
                // `a string: put it in quotes`: the instruction becomes help.
                .finding(
                    rule,
                    span,
                    format!("{found} where {} is expected", expected.split(": ").next().unwrap_or(expected)),
                )
                .label(format!("in `{}`", value.holder(&noticed.notice)))
                .rejected_if(noticed.in_typed_struct, super::bad_duration::consequence(noticed.in_typed_struct))
                .ineffective_if(!noticed.in_typed_struct);
            if let Some(node) = noticed.node {
                let scalar = matches!(node.value, NodeValue::Number(_) | NodeValue::Bool(_));
                if scalar && expected.contains("quotes") {
                    let text = format!("{:?}", cx.sources.snippet(node.span));
                    finding = finding.help(format!("write {text}"));
                    finding = finding.fix("put it in quotes", true, vec![Edit { span: node.span, text }]);
                }
            }
            out.push(finding);
        }
    }
}
