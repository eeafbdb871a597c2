//! The examples of the crate work.

#[path = "../../examples/explain_dump.rs"]
mod explain_dump;
#[path = "../../examples/lint_text.rs"]
mod lint_text;
#[path = "../../examples/own_rule.rs"]
mod own_rule;

use kubectl_envoyfilter::demo;
use kubectl_envoyfilter::load::{self, Options};

#[test]
fn a_text_is_linted() {
    let findings = lint_text::findings(lint_text::TEXT);
    assert!(findings.iter().any(|line| line.starts_with("17: EF1") && line.contains("conect_timeout")), "{findings:?}");
}

#[test]
fn a_dump_is_explained() {
    let filters = load::read_text(demo::FILTERS_NAME, demo::FILTERS, &Options::default());
    let outcomes = explain_dump::outcomes(&filters, &demo::dump().0.unwrap());
    for verdict in ["applied", "no-match"] {
        assert!(outcomes.iter().any(|line| line.ends_with(verdict)), "{verdict}: {outcomes:?}");
    }
}

#[test]
fn a_rule_is_written() {
    let rule = own_rule::rule(own_rule::RULE).unwrap();
    assert_eq!(own_rule::findings(rule, own_rule::TEXT), ["ACME001 everywhere has no workloadSelector"]);
    assert!(own_rule::rule("kind: LintRule").is_err());
}
