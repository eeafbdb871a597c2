//! EF005: an unquoted word that YAML 1.1 interprets differently.

use crate::declare_rule;
use crate::lint::document;
use crate::lint::value::PatchValue;
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::{Code, Severity, Span};
use std::collections::{HashMap, HashSet};

declare_rule! {
    /// An unquoted word that YAML 1.1 interprets differently.
    ///
    /// # What it finds
    /// `y`, `on`, `off`, `no`, `0777`, `0b1`, `1_000` without quotes in an EnvoyFilter: kubectl reads YAML 1.1, where
    /// these are Booleans and numbers.
    ///
    /// # Why it matters
    /// Editors and linters that know only YAML 1.2 show text or another number. Where text is needed, the API server or
    /// istiod rejects the filter; a file mode `0777` becomes 511.
    ///
    /// # How to fix
    /// Write what is intended: `true`, `"on"`, `511`.
    ///
    /// # References
    /// YAML 1.1 types `bool` and `int`; sigs.k8s.io/yaml 1.6.
    "EF005" "yaml-1-1-word" Document Info => check,
    explains: &["EF012"]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    // If text was needed, the loader reports the same place.
    let refused: HashMap<_, _> = cx
        .problems
        .iter()
        .filter(|problem| problem.code == Code::WrongType)
        .map(|problem| (problem.span, problem.help.is_some()))
        .collect();
    // If the value of a patch needs text, the rule about values says what to write.
    let in_values: HashSet<Span> = cx.values().iter().flat_map(PatchValue::mistyped).map(|node| node.span).collect();
    for (problem, finding) in document::in_filters(cx, rule, &[Code::Yaml11Surprise]) {
        if problem.span.is_some_and(|span| in_values.contains(&span)) {
            continue;
        }
        let finding = finding.at_line(problem.span).note("a YAML 1.2 reader interprets it differently");
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
