//! EF029: both `workloadSelector` and `targetRefs`.

use crate::declare_rule;
use crate::lint::document;
use crate::lint::{Context, Finding, Findings, RuleInfo};

declare_rule! {
    /// Both `workloadSelector` and `targetRefs`.
    ///
    /// # What it finds
    /// An EnvoyFilter with both ways to say where it attaches.
    ///
    /// # Why it matters
    /// The API server rejects it.
    ///
    /// # How to fix
    /// Keep `targetRefs` for a Gateway API gateway or a waypoint, `workloadSelector` for anything else.
    ///
    /// # References
    /// CustomResourceDefinition of EnvoyFilter (Istio 1.31).
    "EF029" "selector-beside-target-refs" Document Error => check,
    objections: &[Objected::TwoSelections], policy: Never("the CustomResourceDefinition rejects it already")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for filter in cx.filters {
        let given = |key: &str| document::present(&filter.document, &["spec", key]).is_some();
        if !given("workloadSelector") || !given("targetRefs") {
            continue;
        }
        let place = |key: &str| filter.document.key_span(&["spec".into(), key.into()]);
        out.push(
            Finding::new(rule, place("targetRefs"), "only one of targetRefs and workloadSelector may be given")
                .related(place("workloadSelector"), "the selector")
                .note("the API server rejects the EnvoyFilter")
                .help("keep targetRefs for a Gateway API gateway or waypoint, workloadSelector for anything else")
                .of(filter, None),
        );
    }
}
