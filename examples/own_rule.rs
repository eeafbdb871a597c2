//! Writes a rule in CEL, as a platform team would keep it beside its EnvoyFilters, and runs it.

#![allow(clippy::disallowed_methods, reason = "benches and examples stand outside the layers")]

use kubectl_envoyfilter::engine::MeshSettings;
use kubectl_envoyfilter::lint::{Input, Rule, custom, lint};
use kubectl_envoyfilter::load::{self, reference, yaml};
use kubectl_envoyfilter::source::Sources;
use kubectl_envoyfilter::{Release, rules};
use std::io::{self, Write};

/// Nobody patches the whole mesh at our company.
pub(crate) const RULE: &str = "\
apiVersion: envoyfilter.dev/v1
kind: LintRule
metadata: {name: no-selector}
spec:
  code: ACME001
  severity: error
  for: filter
  when: size(filter.selector) == 0
  message: \"{{filter.name}} has no workloadSelector\"
";

/// Reads the rule. Fails with what is wrong with it.
pub(crate) fn rule(text: &str) -> Result<&'static Rule, Vec<String>> {
    let mut sources = Sources::default();
    let file = sources.add("rule.yaml", text);
    let (documents, problems) = yaml::documents(file, text);
    let mut wrong: Vec<String> = problems.iter().map(|problem| problem.message.clone()).collect();
    for document in documents {
        match custom::read(&document, rules::ALL) {
            Ok(rule) => return Ok(rule),
            Err(problems) => wrong.extend(problems.iter().map(|problem| problem.message.clone())),
        }
    }
    Err(wrong)
}

/// What the rule says of EnvoyFilters in a text.
pub(crate) fn findings(rule: &'static Rule, text: &str) -> Vec<String> {
    let loaded = load::read_text("filters.yaml", text, &load::Options::default());
    let release = Release::NEWEST;
    let input = Input {
        sources: &loaded.sources,
        inventory: &loaded.inventory,
        problems: &loaded.problems,
        dumps: &[],
        references: reference::configs(release),
        release,
        mesh: &MeshSettings::of(&loaded.inventory),
    };
    lint(&input, &[rule]).iter().map(|one| format!("{} {}", one.rule.code, one.message)).collect()
}

/// An EnvoyFilter that the rule is against.
pub(crate) const TEXT: &str = "\
apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: everywhere, namespace: shop}
spec:
  configPatches: []
";

#[allow(dead_code, reason = "a test calls the functions above instead")]
fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    match rule(RULE) {
        Ok(rule) => findings(rule, TEXT).iter().try_for_each(|line| writeln!(out, "{line}")),
        Err(wrong) => wrong.iter().try_for_each(|line| writeln!(out, "{line}")),
    }
}
