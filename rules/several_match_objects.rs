//! EF015: more than one of `listener`, `routeConfiguration`, `cluster`, `waypoint` in a match.

use crate::declare_rule;
use crate::lint::document;
use crate::lint::{Context, Findings, Rule};

declare_rule! {
    /// More than one of `listener`, `routeConfiguration`, `cluster`, `waypoint` in a match.
    ///
    /// # What it finds
    /// A `match` with two or more of the four parts that exclude each other.
    ///
    /// # Why it matters
    /// The API server refuses the whole object.
    ///
    /// # How to fix
    /// Make a patch for each, or delete what does not go with `applyTo`.
    ///
    /// # References
    /// CustomResourceDefinition of EnvoyFilter (Istio 1.31).
    "EF015" "several-match-objects" Error => check
}

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
    for (_, finding) in document::in_filters(cx, rule, &["several-match-objects"]) {
        let help = "keep the one that goes with applyTo, and write a second patch for the other";
        out.push(finding.note("the API server refuses the whole filter").help(help));
    }
}
