//! EF020: an EnvoyFilter without patches.

use crate::declare_rule;
use crate::lint::document;
use crate::lint::{Context, Finding, Findings, Rule};
use crate::source::Step;

declare_rule! {
    /// An EnvoyFilter without patches.
    ///
    /// # What it finds
    /// `spec.configPatches` is missing or empty.
    ///
    /// # Why it matters
    /// The filter is accepted and does nothing.
    ///
    /// # How to fix
    /// Add a patch or delete the filter.
    ///
    /// # References
    /// Istio API reference, EnvoyFilter (release 1.31).
    "EF020" "no-config-patches" Warning => check
}

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
    for filter in cx.filters.iter().filter(|filter| filter.patches.is_empty()) {
        let root = &filter.document;
        let spec = document::present(root, &["spec"]);
        // Patches in the wrong place, misspelt, or of the old API: told by other rules.
        let elsewhere = root.entries().iter().any(|entry| is_meant(&entry.key) || entry.key == "configPatches")
            || spec.is_some_and(|spec| spec.entries().iter().any(|entry| is_meant(&entry.key)));
        if elsewhere {
            continue;
        }
        let route = ["spec", "configPatches"];
        let depth = (1..=route.len()).rev().find(|&depth| document::present(root, &route[..depth]).is_some());
        let key: Vec<Step> = route[..depth.unwrap_or(0)].iter().map(|&key| key.into()).collect();
        let span = if key.is_empty() { root.key_span(&["kind".into()]) } else { root.key_span(&key) };
        out.push(
            Finding::new(rule, span, "this EnvoyFilter has no config patches")
                .note("it is accepted and changes no proxy")
                .help("add an item to configPatches, or delete the filter")
                .of(filter, None),
        );
    }
}

fn is_meant(key: &str) -> bool {
    let key = key.to_lowercase();
    key != "configpatches" && (key.contains("patch") || key == "filters")
}
