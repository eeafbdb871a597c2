//! EF806: a running proxy that holds what a filter inserts, although the filter does not select it.

use crate::declare_rule;
use crate::engine::Selection;
use crate::lint::live::in_cluster;
use crate::lint::names::{count, listed};
use crate::lint::{Context, Finding, Findings, RuleInfo};
use crate::model::envoy_filter::Operation;
use crate::source::Step;
use std::collections::BTreeMap;

declare_rule! {
    /// A running proxy that holds exactly what an EnvoyFilter inserts, although the EnvoyFilter does not select it.
    ///
    /// # What it finds
    /// Objects in config dumps with the name and content that a patch inserts or adds, on proxies that the filter's
    /// `workloadSelector` or `targetRefs` do not select, if no attached filter explains them. Objects that istiod
    /// generates itself, such as its own `envoy.filters.http.cors`, are not reported.
    ///
    /// # Why it matters
    /// The selector was narrowed or the workload relabeled, and the proxy still runs with the filter's effect, which
    /// will vanish with the next push or restart. Or a copy of the filter exists that was not provided.
    ///
    /// # How to fix
    /// Decide which proxies are intended, and select them; restart the pods that should not have it.
    ///
    /// # References
    /// istiod `pilot/pkg/model/policyattachment.go`.
    "EF806" "effect-without-selection" Live Warning => check,
    needs: &[Live]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for (index, filter) in cx.filters.iter().enumerate().filter(|(_, filter)| in_cluster(filter)) {
        let mut held: BTreeMap<(usize, String), Vec<String>> = BTreeMap::new();
        for run in cx.running() {
            let here = filter.namespace == run.config.proxy.namespace || filter.namespace == cx.mesh.root_namespace;
            let unselected = !matches!(run.plan.selections[index], Selection::Selected | Selection::Unreadable(_));
            if !here || !unselected {
                continue;
            }
            for built in cx.program.patches(index) {
                let adds =
                    !built.operation.is_merge() && !matches!(built.operation, Operation::Remove | Operation::Invalid);
                let Some(value) = built.value.as_ref().filter(|value| adds && !value.name().is_empty()) else {
                    continue;
                };
                // A bare name does not show who wrote the object.
                if value.entries().len() > 1 && run.holds(value) && !cx.istiod_generates(value) {
                    let key = (built.patch.index, value.name().to_owned());
                    held.entry(key).or_default().push(run.label().to_owned());
                }
            }
        }
        for ((patch, name), workloads) in held {
            let key = if filter.target_refs.is_empty() { "workloadSelector" } else { "targetRefs" };
            let span = filter.document.key_span(&[Step::from("spec"), Step::from(key)]);
            let proxies = count(workloads.len(), "proxy", "proxies");
            out.push(
                Finding::new(rule, span, format!("`{name}` runs in {proxies} that this EnvoyFilter does not select"))
                    .of(filter, Some(patch))
                    .label("does not select them")
                    .note(format!(
                        "{} holds it exactly as configPatches[{patch}] writes it",
                        listed(workloads.iter().map(String::as_str), 4)
                    ))
                    .help("select these workloads too, or restart them")
                    .workloads(workloads),
            );
        }
    }
}
