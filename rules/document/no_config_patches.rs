//! EF020: an EnvoyFilter without patches.

use crate::declare_rule;
use crate::lint::document;
use crate::lint::rule::{Cel, PolicyTarget};
use crate::lint::{Context, Finding, Findings, RuleInfo};
use crate::source::{NodeValue, Severity, Step};

declare_rule! {
    /// An EnvoyFilter without patches.
    ///
    /// # What it finds
    /// `spec.configPatches` is missing or empty.
    ///
    /// # Why it matters
    /// The EnvoyFilter is accepted but has no effect.
    ///
    /// # How to fix
    /// Add a patch or delete the EnvoyFilter.
    ///
    /// # References
    /// Istio API reference, EnvoyFilter (release 1.31).
    "EF020" "no-config-patches" Document Warning => check,
    policy: Cel(policy)
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let kustomize = document::has_kustomization(cx);
    for filter in cx.filters.iter().filter(|filter| filter.patches.is_empty()) {
        let root = &filter.document;
        let spec = document::present(root, &["spec"]);
        // Patches in the wrong place, misspelled, or of the old API are reported by other rules.
        let elsewhere = root.entries().iter().any(|entry| is_meant(&entry.key) || entry.key == "configPatches")
            || spec.is_some_and(|spec| spec.entries().iter().any(|entry| is_meant(&entry.key)));
        // A key without a value is another rule's.
        let empty = root.at(&["spec".into(), "configPatches".into()]).is_some_and(|node| node.value == NodeValue::Null);
        if elsewhere || empty {
            continue;
        }
        let route = ["spec", "configPatches"];
        let depth = (1..=route.len()).rev().find(|&depth| document::present(root, &route[..depth]).is_some());
        let key: Vec<Step> = route[..depth.unwrap_or(0)].iter().map(|&key| key.into()).collect();
        let span = if key.is_empty() { root.key_span(&["kind".into()]) } else { root.key_span(&key) };
        let finding = Finding::new(rule, span, "this EnvoyFilter has no config patches").of(filter, None);
        // A kustomize patch names an object and contains only its changes.
        let directive = root.get("$patch").is_some() || spec.is_some_and(|spec| spec.get("$patch").is_some());
        out.push(if directive || kustomize {
            finding
                .severity(Severity::Info)
                .note("it looks like a kustomize patch, which is not checked by itself")
                .help("lint the result: kustomize build … | kubectl envoyfilter lint -")
        } else {
            finding
                .note("it is accepted and changes no proxy")
                .help("add an item to configPatches, or delete the EnvoyFilter")
        });
    }
}

fn is_meant(key: &str) -> bool {
    let key = key.to_lowercase();
    key != "configpatches" && (key.contains("patch") || key == "filters")
}

fn policy(_: &PolicyTarget<'_>) -> Vec<Cel> {
    vec![Cel::filter(Severity::Warning, r"size(variables.patches) == 0", "this EnvoyFilter has no config patches")]
}
