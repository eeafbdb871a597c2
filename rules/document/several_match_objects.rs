//! EF015: more than one of `listener`, `routeConfiguration`, `cluster`, `waypoint` in a match.

use crate::declare_rule;
use crate::lint::document;
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::Code;

declare_rule! {
    /// More than one of `listener`, `routeConfiguration`, `cluster`, `waypoint` in a match.
    ///
    /// # What it finds
    /// A `match` with two or more of these four mutually exclusive parts.
    ///
    /// # Why it matters
    /// The API server rejects the whole object.
    ///
    /// # How to fix
    /// Make a patch for each, or delete the parts that do not fit `applyTo`.
    ///
    /// # References
    /// CustomResourceDefinition of EnvoyFilter (Istio 1.31).
    "EF015" "several-match-objects" Document Error => check,
    policy: Never("the CustomResourceDefinition rejects it already")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for (_, finding) in document::in_filters(cx, rule, &[Code::SeveralMatchObjects]) {
        let help = "keep the one that fits applyTo, and write a second patch for the other";
        out.push(finding.note("the API server rejects the whole EnvoyFilter").help(help));
    }
}
