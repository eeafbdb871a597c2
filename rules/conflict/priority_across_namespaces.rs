//! EF410: a priority that should put a filter before those of the root namespace, which has no effect before Istio 1.22.

use crate::declare_rule;
use crate::engine::compat::{Behaviour, since};
use crate::lint::names::{count, listed};
use crate::lint::{Context, Finding, Findings, RuleInfo};
use crate::source::Step;
use std::collections::BTreeSet;

declare_rule! {
    /// A priority that should put an EnvoyFilter before those of the root namespace, which has no effect before Istio 1.22.
    ///
    /// # What it finds
    /// On control planes before 1.22, filters in a workload's namespace whose priority is lower than that of a filter
    /// in the root namespace that attaches to the same proxy.
    ///
    /// # Why it matters
    /// Before 1.22, filters of the root namespace are applied first, whatever their priorities: the order contradicts
    /// the priorities, and reverses with the upgrade to 1.22.
    ///
    /// # How to fix
    /// Upgrade the control plane, or move the filter to the root namespace with a selector.
    ///
    /// # References
    /// istiod `PushContext.EnvoyFilters`, 1.18 to 1.21 and 1.22; istio/istio issue 49555, pull request 49681.
    "EF410" "priority-across-namespaces" Conflict Warning => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    if cx.program.compat.has(Behaviour::PriorityAcrossNamespaces) {
        return;
    }
    for (index, filter) in cx.filters.iter().enumerate().filter(|(_, it)| it.namespace != cx.mesh.root_namespace) {
        let mut ahead: BTreeSet<usize> = BTreeSet::new();
        for run in cx.attached.get(index).into_iter().flatten().filter_map(|&run| cx.runs.get(run)) {
            let root = |other: &usize| {
                cx.filters
                    .get(*other)
                    .is_some_and(|other| other.namespace == cx.mesh.root_namespace && other.priority > filter.priority)
            };
            ahead.extend(run.plan.order.iter().copied().filter(root));
        }
        let Some(first) = ahead.first().and_then(|&first| cx.filters.get(first)) else { continue };
        let key = |key: &'static str| [Step::from("spec"), Step::from(key)];
        let written = filter.document.at(&key("priority")).is_some();
        let place = if written { filter.document.key_span(&key("priority")) } else { filter.name_key_span() };
        let names: Vec<String> = ahead
            .iter()
            .filter_map(|&it| cx.filters.get(it))
            .map(crate::model::envoy_filter::EnvoyFilter::full_name)
            .collect();
        let message = format!(
            "its priority {} does not put it before {}",
            filter.priority,
            listed(names.iter().map(String::as_str), 5),
        );
        out.push(
            Finding::new(rule, place, message)
                .label("applied after all filters of the root namespace")
                .related(
                    first.document.key_span(&key("priority")),
                    format!("priority {}, and applied first", first.priority),
                )
                .note(format!(
                    "Istio 1.{} applies {} of the root namespace first; 1.{} and later go by priority",
                    cx.release.minor,
                    count(ahead.len(), "filter", "filters"),
                    since(Behaviour::PriorityAcrossNamespaces).minor,
                ))
                .help(format!(
                    "move it to {} with a selector, where priorities apply, or upgrade the control plane",
                    cx.mesh.root_namespace
                ))
                .of(filter, None),
        );
    }
}
