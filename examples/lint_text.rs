//! Lints EnvoyFilters in a string, without files, a cluster or a command line.

#![allow(clippy::disallowed_methods, reason = "benches and examples stand outside the layers")]

use kubectl_envoyfilter::engine::MeshSettings;
use kubectl_envoyfilter::lint::config::Config;
use kubectl_envoyfilter::lint::{Input, check};
use kubectl_envoyfilter::load::{self, reference};
use kubectl_envoyfilter::{Release, rules};
use std::io::{self, Write};

/// Findings as `line: code message`, judged as by the newest known release.
pub(crate) fn findings(text: &str) -> Vec<String> {
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
    let checked = check(&input, rules::ALL, &Config::default(), str::to_owned);
    let line = |finding: &kubectl_envoyfilter::Finding| loaded.sources.position(finding.primary.span).line;
    checked.findings.iter().map(|one| format!("{}: {} {}", line(one), one.rule.code, one.message)).collect()
}

/// An EnvoyFilter whose operation istiod ignores.
pub(crate) const TEXT: &str = "\
apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata:
  name: timeouts
  namespace: shop
spec:
  workloadSelector:
    labels:
      app: cart
  configPatches:
  - applyTo: CLUSTER
    match:
      context: SIDECAR_OUTBOUND
    patch:
      operation: MERGE
      value:
        conect_timeout: 2s
";

#[allow(dead_code, reason = "a test calls the function above instead")]
fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    findings(TEXT).iter().try_for_each(|line| writeln!(out, "{line}"))
}
