//! EF404: two filters whose order matters, and which only the time of creation or the name puts in order.

use crate::declare_rule;
use crate::engine::Judged;
use crate::lint::Confidence;
use crate::lint::context::Knowledge;
use crate::lint::order::reason;
use crate::lint::{Context, Finding, Findings, RuleInfo};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

declare_rule! {
    /// Two EnvoyFilters whose order matters but is decided only by creation time or name.
    ///
    /// # What it finds
    /// Two filters of equal priority on one proxy, one after the other in the order of application, where the result
    /// changes when the two are swapped. Computed by running the engine with the two swapped.
    ///
    /// # Why it matters
    /// Deleting and creating a filter again, a restore, or another cluster reverses the order: filters swap places, or
    /// another value wins.
    ///
    /// # How to fix
    /// Give them different priorities.
    ///
    /// # References
    /// istiod `push_context.go`: priority, root namespace first, creation time, `name.namespace`; istio/istio issue
    /// 38214.
    "EF404" "order-by-creation-time" Conflict Warning => check
}

/// On how many different made-up proxies a pair is tried: filters for all workloads meet on as many as there are selectors.
const TRIES: usize = 8;

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let mut found: BTreeMap<(usize, usize), (Vec<String>, bool)> = BTreeMap::new();
    // On which made-up proxies a pair was tried; those that get the same patches are one run.
    let mut tried: HashMap<(usize, usize), HashSet<*const Judged<'_>>> = HashMap::new();
    for run in &cx.runs {
        let made_up = run.knowledge == Knowledge::Reference;
        // Of made-up proxies one that shows it is enough.
        let worth = |first: usize, second: usize| {
            let tries = tried.entry((first, second)).or_default();
            !made_up
                || (tries.len() < TRIES
                    && !found.contains_key(&(second, first))
                    && tries.insert(Arc::as_ptr(&run.judged)))
        };
        let matters = run.order_matters(cx, worth);
        for (first, second) in matters {
            let entry = found.entry((second, first)).or_default();
            entry.0.push(run.label().to_owned());
            entry.1 |= run.knowledge == Knowledge::Dump;
        }
    }
    for ((second, first), (labels, certain)) in found {
        let (Some(filter), Some(other)) = (cx.filters.get(second), cx.filters.get(first)) else { continue };
        let name = |filter: &crate::model::envoy_filter::EnvoyFilter| {
            filter.document.key_span(&["metadata".into(), "name".into()])
        };
        let finding = Finding::new(
            rule,
            name(filter),
            format!("the result depends on whether it comes before or after {}", other.full_name()),
        )
        .label("comes later")
        .related(name(other), "comes first")
        .note(format!("no priority decides the order: {}", reason(cx, first, second)))
        .help("spec:\n  priority: 10 # the higher one comes later")
        .confidence(if certain { Confidence::Certain } else { Confidence::Likely })
        .of(filter, None);
        out.push(if certain { finding.workloads(labels) } else { finding });
    }
}
