//! EF403: the same filter with the same configuration, inserted twice.

use crate::declare_rule;
use crate::engine::PatchId;
use crate::lint::Confidence;
use crate::lint::context::ProxyRun;
use crate::lint::seen::changed_filter_lists;
use crate::lint::seen::exact;
use crate::lint::{Context, Finding, Findings, RuleInfo};
use crate::proto::tree::Tree;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

declare_rule! {
    /// The same filter with the same configuration, inserted twice.
    ///
    /// # What it finds
    /// Two filters of one list with equal name and configuration after all patches, both inserted by patches.
    ///
    /// # Why it matters
    /// Envoy runs both: a rate limit takes tokens twice, a header is added twice, a Lua script runs twice.
    ///
    /// # How to fix
    /// Remove one of the two patches.
    ///
    /// # References
    /// istio/istio issues 39685, 15215.
    "EF403" "duplicate-insertion" Conflict Warning => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let mut found: BTreeMap<[usize; 4], (String, Vec<String>, bool)> = BTreeMap::new();
    // Sample proxies that get the same patches share a result.
    let mut known = HashMap::new();
    for run in &cx.runs {
        let repeats = *known
            .entry(Arc::as_ptr(&run.judged))
            .or_insert_with(|| lists(run).any(|filters| !repeated(filters).is_empty()));
        if !repeats {
            continue;
        }
        let certain = run.knowledge == crate::lint::Knowledge::Dump;
        let fits = |id| cx.view(run, id).is_some_and(|view| exact(run, &view));
        // A value that a patch inserts into many lists is the same tree in all of them.
        let mut meanings: HashMap<*const (), u64> = HashMap::new();
        for filters in lists(run) {
            let repeated = repeated(filters);
            let mut of_name: HashMap<(&str, u64), Vec<(PatchId, &Tree<'_>)>> = HashMap::new();
            for filter in filters.iter().filter(|filter| repeated.binary_search(&filter.name()).is_ok()) {
                let Some(id) = PatchId::of(filter.origin) else { continue };
                let meaning = *meanings.entry(filter.identity()).or_insert_with(|| filter.meaning());
                let earlier = of_name.entry((filter.name(), meaning)).or_default();
                let same = earlier.iter().find(|(other_id, other)| *other_id != id && other.same(filter));
                let same = same.map(|(other_id, _)| *other_id);
                earlier.push((id, filter));
                let Some(first) = same else { continue };
                let (first, second) = (first.min(id), first.max(id));
                if !fits(first) || !fits(second) {
                    continue;
                }
                let key = |id| (run.plan.get(id).filter, run.plan.get(id).built.patch.index);
                let (one, two) = (key(first), key(second));
                if cx.same_object(one.0, two.0) {
                    continue;
                }
                let entry = found.entry([two.0, two.1, one.0, one.1]).or_default();
                filter.name().clone_into(&mut entry.0);
                entry.1.push(run.label().to_owned());
                entry.2 |= certain;
            }
        }
    }
    for ([filter, patch, first, first_patch], (name, labels, certain)) in found {
        let (Some(view), Some(other)) = (cx.patch(filter, patch), cx.patch(first, first_patch)) else { continue };
        let finding = Finding::new(
            rule,
            view.value_path_span("name"),
            format!("`{name}` is inserted twice, with the same configuration"),
        )
        .label("runs a second time")
        .related(other.value_path_span("name"), format!("also inserted by {}", other.filter.full_name()))
        .help("remove one of the two patches")
        .confidence(if certain { Confidence::Certain } else { Confidence::Likely })
        .of(view.filter, Some(patch));
        out.push(if certain { finding.workloads(labels) } else { finding });
    }
}

/// The lists of filters that patches changed.
fn lists<'r>(run: &'r ProxyRun<'_>) -> impl Iterator<Item = &'r [Tree<'r>]> {
    run.changed_listeners().flat_map(|(_, listener)| {
        let of_listener = listener.get("listener_filters").map(Tree::items).unwrap_or_default();
        std::iter::once(of_listener).chain(changed_filter_lists(listener).map(|(_, filters)| filters))
    })
}

/// The names that several filters have which patches inserted, sorted: in most lists there are none.
fn repeated<'t>(filters: &'t [Tree<'_>]) -> Vec<&'t str> {
    let ours = filters.iter().filter(|filter| PatchId::of(filter.origin).is_some());
    let mut names: Vec<&str> = ours.map(Tree::name).collect();
    names.sort_unstable();
    let mut repeated: Vec<&str> = names.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    repeated.dedup();
    repeated
}
