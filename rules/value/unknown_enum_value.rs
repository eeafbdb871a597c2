//! EF105: a name that the enum does not have.

use crate::declare_rule;
use crate::lint::value::short;
use crate::lint::{Context, Edit, Findings, RuleInfo};
use crate::proto::decode::What;
use crate::proto::schema::Schema;
use crate::source::alike;

declare_rule! {
    /// An enum value that does not exist.
    ///
    /// # What it finds
    /// A value of an enum field that is not a name that the enum declares. Names are in uppercase.
    ///
    /// # Why it matters
    /// istiod rejects the whole value: the webhook rejects the EnvoyFilter, and one that bypasses the webhook has no
    /// effect. In a TypedStruct, the proxy silently drops an unknown name and uses the default instead.
    ///
    /// # How to fix
    /// Write one of the listed names.
    ///
    /// # References
    /// Envoy's API reference of the message.
    "EF105" "unknown-enum-value" Value Error => check,
    fixes: true, by_release: true
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for (value, noticed) in cx.noticed() {
        let What::UnknownEnumValue { enumeration } = noticed.notice.what else { continue };
        let schema = if noticed.in_typed_struct {
            value.envoy_minor.and_then(Schema::envoy).unwrap_or(cx.program.schema)
        } else {
            cx.program.schema
        };
        let names: Vec<&str> = schema
            .enumeration(enumeration)
            .into_iter()
            .flat_map(crate::proto::schema::Enum::values)
            .map(crate::proto::schema::EnumValue::name)
            .collect();
        let node = noticed.node;
        let written = node.and_then(|node| node.as_str()).unwrap_or_default();
        let span = node.map_or_else(|| value.notice_span(&noticed.notice), |node| node.span);
        let listed = names.iter().take(12).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let more = if names.len() > 12 { format!(" and {} more", names.len() - 12) } else { String::new() };
        let mut finding = value
            .finding(rule, span, format!("`{}` has no value `{written}`", short(enumeration)))
            .label("not a name of the enum")
            .note(match names.first().filter(|_| noticed.in_typed_struct) {
                Some(default) => {
                    format!("the proxy silently drops the name and uses the default, `{default}`")
                }
                None => super::bad_duration::consequence(noticed.in_typed_struct).to_owned(),
            })
            .ineffective_if(!noticed.in_typed_struct)
            .help(format!("it has {listed}{more}"));
        if let Some(near) = alike::keyword(written, names.iter().copied()) {
            let edit = Edit { span, text: near.name.to_owned() };
            finding = finding.fix(format!("write `{}`", near.name), near.same_letters, vec![edit]);
        }
        out.push(finding);
    }
}
