//! EF187: a fraction of more than everything.

use crate::declare_rule;
use crate::lint::walk::number;
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::{Node, NodeValue};

declare_rule! {
    /// A fraction whose numerator is greater than its denominator.
    ///
    /// # What it finds
    /// `FractionalPercent` with a `numerator` above 100 and no `denominator` (or `HUNDRED`), above 10,000 and `TEN_THOUSAND`,
    /// or above a million and `MILLION`.
    ///
    /// # Why it matters
    /// Envoy accepts it as 100 %. Nearly always the denominator is missing: a fault, mirror or limit that is meant for a
    /// small part of the requests applies to all of them.
    ///
    /// # How to fix
    /// Write the denominator, or `numerator: 100` if everything is meant.
    ///
    /// # References
    /// Envoy `type.v3.FractionalPercent`; tested with Envoy 1.39.3.
    "EF187" "fraction-above-one" Value Warning => check
}

/// Name, number and text of each denominator.
const DENOMINATORS: [(&str, u32, &str); 3] =
    [("HUNDRED", 100, "100"), ("TEN_THOUSAND", 10_000, "10,000"), ("MILLION", 1_000_000, "1,000,000")];

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for object in value.objects.iter().filter(|object| object.full_name() == "envoy.type.v3.FractionalPercent") {
            let Some(numerator) = object.member("numerator").map(|member| &member.entry.value) else { continue };
            let denominator = object.member("denominator").map(|member| &member.entry.value);
            // A merge keeps the denominator that the object has.
            if denominator.is_none() && !object.whole {
                continue;
            }
            let (Some(written), Some((_, all, text))) = (number::<u32>(numerator), of(denominator)) else { continue };
            if written <= all {
                continue;
            }
            let larger = DENOMINATORS.iter().find(|(_, all, _)| written <= *all);
            let help = match larger {
                Some((name, all, _)) => {
                    let percent = f64::from(written) * 100.0 / f64::from(*all);
                    format!("denominator: {name} # {percent} %; or numerator: 100, if everything is meant")
                }
                None => "numerator: 100\ndenominator: HUNDRED".to_owned(),
            };
            out.push(
                value
                    .finding(rule, numerator.span, format!("{written} of {text} is more than everything"))
                    .label("100 %")
                    .note(match denominator {
                        None => "the denominator defaults to HUNDRED, and Envoy accepts the fraction as 100 %",
                        Some(_) => "Envoy accepts the fraction as 100 %",
                    })
                    .snippet(help),
            );
        }
    }
}

/// The denominator that is written, by name or number.
fn of(written: Option<&Node>) -> Option<(&'static str, u32, &'static str)> {
    let Some(node) = written else { return Some(DENOMINATORS[0]) };
    match &node.value {
        NodeValue::String(name) => DENOMINATORS.into_iter().find(|(known, ..)| known == name),
        _ => DENOMINATORS.get(number::<usize>(node)?).copied(),
    }
}
