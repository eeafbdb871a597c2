//! EF104: a duration that cannot be read.

use crate::declare_rule;
use crate::lint::value::PatchValue;
use crate::lint::{Context, Edit, Findings, RuleInfo};
use crate::proto::decode::{What, parse_go_duration};
use crate::proto::schema::{Kind, WellKnown};
use crate::source::escape::one_line;
use crate::source::{Entry, NodeValue};

declare_rule! {
    /// A duration that cannot be read.
    ///
    /// # What it finds
    /// A value of a duration field that is not a duration: a number without a unit, an unknown unit, a structure. In a
    /// TypedStruct, which the proxy reads instead of istiod, also every unit other than seconds, and a structure with
    /// other fields than `seconds` and `nanos` or with values beyond their range.
    ///
    /// # Why it matters
    /// istiod rejects the whole value: the webhook rejects the EnvoyFilter, and one that bypasses the webhook has no effect. In a
    /// TypedStruct the proxy rejects the listener, route or cluster instead; it ignores unknown fields of a structure.
    ///
    /// # How to fix
    /// Write a decimal number of seconds with an `s`: `1.5s`.
    ///
    /// # References
    /// protobuf's JSON mapping of `google.protobuf.Duration`; Go's `time.ParseDuration`.
    "EF104" "bad-duration" Value Error => check,
    fixes: true
}

/// The consequence of a value that cannot be read.
pub(super) fn consequence(in_typed_struct: bool) -> &'static str {
    if in_typed_struct {
        "istiod does not read inside a TypedStruct: the proxy rejects the resource that contains it"
    } else {
        "istiod rejects the whole value: the webhook rejects the EnvoyFilter, or the patch has no effect"
    }
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for (value, noticed) in cx.noticed().filter(|(_, noticed)| noticed.notice.what == What::BadDuration) {
        let span = value.written_span(noticed);
        let mut finding = value
            .finding(rule, span, "not a duration")
            .label("a duration is expected")
            .rejected_if(noticed.in_typed_struct, consequence(noticed.in_typed_struct))
            .ineffective_if(!noticed.in_typed_struct);
        let written = noticed.node.and_then(|node| match &node.value {
            NodeValue::Number(text) | NodeValue::String(text) => Some((node, text)),
            _ => None,
        });
        match written {
            Some((node, text)) if text.parse::<f64>().is_ok() => {
                let edit = Edit { span: node.span, text: format!("{text}s") };
                finding = finding.help(format!("write `{text}s` for seconds"));
                finding = finding.fix("write seconds", false, vec![edit]);
            }
            _ => finding = finding.help("write a number of seconds with an `s`, such as `1.5s`"),
        }
        out.push(finding);
    }
    for (value, object) in cx.objects().filter(|(_, object)| object.in_typed_struct) {
        for member in &object.members {
            let Some(Kind::Message(message)) = member.envoy.map(crate::proto::schema::Field::kind) else {
                continue;
            };
            if message.well_known() != Some(WellKnown::Duration) {
                continue;
            }
            if let NodeValue::Map(entries) = &member.entry.value.value {
                fields(rule, value, entries, out);
            }
            let Some(text) = member.entry.value.as_str().filter(|text| !seconds(text)) else { continue };
            let Some(nanos) = parse_go_duration(text) else { continue };
            let (whole, rest) = (nanos / 1_000_000_000, (nanos % 1_000_000_000).abs());
            let mut written = format!("{whole}");
            if rest != 0 {
                written = format!("{whole}.{}", format!("{rest:09}").trim_end_matches('0'));
            }
            out.push(
                value
                    .finding(rule, member.entry.value.span, "the proxy reads durations in seconds only")
                    .label("in a TypedStruct")
                    .rejected(consequence(true))
                    .help(format!("write `{written}s`"))
                    .fix(
                        "write seconds",
                        true,
                        vec![Edit { span: member.entry.value.span, text: format!("{written}s") }],
                    ),
            );
        }
    }
}

/// A duration that is given by its fields, as the proxy reads them: it ignores other keys and rejects a duration whose
/// parts are no whole numbers, beyond their range, or of different signs (tested with Envoy 1.36 to 1.40).
fn fields(rule: &'static RuleInfo, value: &PatchValue<'_>, entries: &[Entry], out: &mut Findings) {
    const SECONDS: i64 = 315_576_000_000;
    const NANOS: i64 = 999_999_999;
    let part = |key: &str| entries.iter().find(|entry| entry.key == key);
    let number = |entry: &Entry| match &entry.value.value {
        NodeValue::Number(text) | NodeValue::String(text) => text.parse::<f64>().ok().filter(|it| it.fract() == 0.0),
        NodeValue::Null => Some(0.0),
        _ => None,
    };
    for entry in entries.iter().filter(|entry| !["seconds", "nanos"].contains(&entry.key.as_str())) {
        let message = format!("a duration has no field `{}`: the proxy ignores it", one_line(&entry.key));
        let reads = if part("seconds").or_else(|| part("nanos")).is_none() { ": this duration is 0s" } else { "" };
        out.push(
            value
                .finding(rule, entry.key_span, message)
                .label("in a TypedStruct")
                .note(format!("its fields are seconds and nanos{reads}"))
                .help("write a number of seconds with an `s`, such as `1.5s`"),
        );
    }
    for (key, limit) in [("seconds", SECONDS), ("nanos", NANOS)] {
        let Some(entry) = part(key) else { continue };
        #[allow(clippy::cast_precision_loss, reason = "the limits are exact")]
        let fits = number(entry).is_some_and(|number| number.abs() <= limit as f64);
        if !fits {
            let message = format!("`{key}` must be a whole number of at most {limit}");
            out.push(
                value
                    .finding(rule, entry.value.span, message)
                    .label("in a TypedStruct")
                    .rejected(consequence(true))
                    .help("write a number of seconds with an `s`, such as `1.5s`"),
            );
        }
    }
    if let (Some(seconds), Some(nanos)) = (part("seconds"), part("nanos"))
        && let (Some(whole), Some(rest)) = (number(seconds), number(nanos))
        && whole * rest < 0.0
    {
        out.push(
            value
                .finding(rule, nanos.value.span, "`nanos` must have the sign of `seconds`")
                .label("in a TypedStruct")
                .rejected(consequence(true))
                .help("write a number of seconds with an `s`, such as `1.5s`"),
        );
    }
}

/// Whether C++'s protobuf reads the text as a duration.
fn seconds(text: &str) -> bool {
    text.strip_suffix('s').is_some_and(|number| {
        number.parse::<f64>().is_ok()
            && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.' || byte == b'-')
    })
}
