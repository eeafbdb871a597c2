//! EF005: an unquoted word that YAML 1.1 takes for something else.

use crate::declare_rule;
use crate::lint::document;
use crate::lint::{Context, Findings, Rule};
use crate::source::Severity;
use std::collections::HashMap;

declare_rule! {
    /// An unquoted word that YAML 1.1 takes for something else.
    ///
    /// # What it finds
    /// `y`, `on`, `off`, `no`, `0777`, `0b1`, `1_000` without quotes in an EnvoyFilter: kubectl reads YAML 1.1, where these are
    /// booleans and numbers.
    ///
    /// # Why it matters
    /// Editors and linters that know only YAML 1.2 show a text or another number. Where a text is needed, the API server or
    /// istiod refuses the filter; a file mode `0777` becomes 511.
    ///
    /// # How to fix
    /// Write what is meant: `true`, `"on"`, `511`.
    ///
    /// # References
    /// YAML 1.1 types `bool` and `int`; sigs.k8s.io/yaml 1.6.
    "EF005" "yaml-1-1-word" Info => check
}

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
    // Where a text was needed: the loader says so at the same place.
    let refused: HashMap<_, _> = cx
        .problems
        .iter()
        .filter(|problem| problem.code == "wrong-type")
        .map(|problem| (problem.span, problem.help.is_some()))
        .collect();
    for (problem, finding) in document::in_filters(cx, rule, &["yaml-1.1-surprise"]) {
        let finding = finding.note("a reader of YAML 1.2 takes it for something else");
        let Some(quotes) = refused.get(&problem.span) else {
            out.push(finding);
            continue;
        };
        let mut finding = finding.severity(Severity::Error);
        let word = problem.span.map(|span| cx.sources.snippet(span));
        finding.help = word.filter(|_| *quotes).map(|word| format!("write \"{word}\""));
        out.push(finding);
    }
}
