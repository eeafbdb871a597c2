//! EF166: a fraction of 100 whose denominator is not 100, or a percentage written as a fraction.

use crate::declare_rule;
use crate::lint::walk::number;
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::NodeValue;

declare_rule! {
    /// A fraction with `numerator: 100` whose denominator is 10,000 or a million, or a percentage written as a fraction.
    ///
    /// # What it finds
    /// `FractionalPercent` with `numerator: 100` and `denominator: TEN_THOUSAND` or `MILLION`; `healthy_panic_threshold` and
    /// `budget_percent` with a value between 0 and 1.
    ///
    /// # Why it matters
    /// It looks like everything and is 1 % or 0.01 %: a rate limit, fault, mirror or authorization then applies to next to
    /// nothing.
    ///
    /// # How to fix
    /// `denominator: HUNDRED`, which is also the default; for 1 %, `numerator: 1`. `value: 50` for one half.
    ///
    /// # References
    /// Envoy `type.v3.FractionalPercent`.
    "EF166" "fraction-smaller-than-it-looks" Value Warning => check
}

/// Percentages that are useless below 1 %, by the field.
const PERCENT: [&str; 2] = ["budget_percent", "healthy_panic_threshold"];

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for object in value.objects.iter().filter(|object| object.full_name() == "envoy.type.v3.Percent") {
            let named = object.parent.is_some_and(|(_, field)| PERCENT.contains(&field.name()));
            let Some(written) = object.member("value").map(|member| &member.entry.value).filter(|_| named) else {
                continue;
            };
            let Some(percent) = number::<f64>(written).filter(|percent| *percent > 0.0 && *percent < 1.0) else {
                continue;
            };
            let meant = (percent * 1e5).round() / 1e3;
            out.push(
                value
                    .finding(rule, written.span, format!("{percent} is {percent} %, not {meant} %"))
                    .label("a percentage")
                    .help(format!("value: {meant}")),
            );
        }
        for object in value.objects.iter().filter(|object| object.full_name() == "envoy.type.v3.FractionalPercent") {
            let (Some(numerator), Some(denominator)) = (object.member("numerator"), object.member("denominator"))
            else {
                continue;
            };
            let (of, percent) = match denominator.entry.value.as_str() {
                Some("TEN_THOUSAND") => ("10,000", "1"),
                Some("MILLION") => ("a million", "0.01"),
                _ => continue,
            };
            if !matches!(&numerator.entry.value.value, NodeValue::Number(text) if text == "100") {
                continue;
            }
            out.push(
                value
                    .finding(rule, denominator.entry.value.span, format!("100 of {of} is {percent} %"))
                    .label("not a hundredth")
                    .help("denominator: HUNDRED"),
            );
        }
    }
}
