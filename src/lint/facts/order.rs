//! The order of filters: why one comes after another, and whether the order matters.

use crate::budget;
use crate::engine::compat::Behaviour;
use crate::engine::program::{BuiltPatch, names_filter, proxy_runs};
use crate::engine::trace::{Effect, Place};
use crate::engine::{self, Options, PatchId, Plan, matching};
use crate::lint::facts::context::{Context, Knowledge, PatchRun, PatchView, ProxyRun};
use crate::lint::facts::per_run::PerRun;
use crate::lint::facts::seen::{changed_filter_lists, exact};
use crate::model::envoy_filter::{ApplyTo, EnvoyFilter, Operation};
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Maximum number of pairs of filters per proxy that are tried in the other order.
const MAX_SWAPS: usize = 64;

/// Number of sample proxies on which a pair is tried: filters for all workloads meet on one for each selector.
const TRIES: usize = 8;

/// Why the second of two filters is applied after the first.
pub(crate) fn reason(cx: &Context<'_>, first: usize, second: usize) -> String {
    let (Some(one), Some(two)) = (cx.filters.get(first), cx.filters.get(second)) else { return String::new() };
    let root = |filter: &EnvoyFilter| filter.namespace == cx.mesh.root_namespace;
    if first == second {
        "it comes later in the same EnvoyFilter".to_owned()
    } else if one.priority != two.priority
        && (root(one) == root(two) || cx.program.compat.has(Behaviour::PriorityAcrossNamespaces))
    {
        format!("priority {} after {}", two.priority, one.priority)
    } else if root(one) != root(two) {
        "EnvoyFilters of the root namespace come first".to_owned()
    } else if one.created != two.created {
        "it was created later".to_owned()
    } else if one.created.is_none() {
        "with equal priority the one created first comes first (assumed here: order by name)".to_owned()
    } else {
        "created at the same time, the name decides".to_owned()
    }
}

/// Whether two filters are ordered by priority or the root namespace rather than by creation time or name.
pub(crate) fn decided_by_priority(cx: &Context<'_>, first: usize, second: usize) -> bool {
    let (Some(one), Some(two)) = (cx.filters.get(first), cx.filters.get(second)) else { return true };
    let root = |filter: &EnvoyFilter| filter.namespace == cx.mesh.root_namespace;
    one.priority != two.priority || root(one) != root(two)
}

impl<'a> Context<'a> {
    /// Neighboring filters (first, second) that are ordered only by creation time or name and give another result in
    /// the other order on some proxy; with the proxies whose dumps show it, or none if a sample proxy does.
    pub fn where_order_matters(&self) -> BTreeMap<(usize, usize), Vec<String>> {
        self.ordered(true)
    }

    /// The same by runs of the engine alone, for comparison.
    pub fn where_order_matters_by_runs(&self) -> BTreeMap<(usize, usize), Vec<String>> {
        self.ordered(false)
    }

    fn ordered(&self, shortcut: bool) -> BTreeMap<(usize, usize), Vec<String>> {
        let mut found: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
        let mut of_dumps: Vec<(&ProxyRun<'_>, (usize, usize))> = Vec::new();
        // Sample proxies that get the same patches share a run.
        let mut made_up: BTreeMap<(usize, usize), Vec<&ProxyRun<'_>>> = BTreeMap::new();
        for run in &self.runs {
            let certain = run.knowledge == Knowledge::Dump;
            let touched = LazyCell::new(|| run.touched());
            for pair in run.pairs() {
                // One sample proxy that shows it is enough.
                if (!certain && found.contains_key(&pair)) || !run.perhaps_ordered(self, pair, &touched) {
                    continue;
                }
                if certain {
                    of_dumps.push((run, pair));
                    continue;
                }
                if shortcut && run.inserts_side_by_side(pair.0, pair.1) {
                    found.insert(pair, Vec::new());
                    made_up.remove(&pair);
                    continue;
                }
                let tries = made_up.entry(pair).or_default();
                if tries.len() < TRIES && !tries.iter().any(|other| Arc::ptr_eq(&other.judged, &run.judged)) {
                    tries.push(run);
                }
            }
        }
        let ask = |work: &[(&ProxyRun<'_>, (usize, usize))]| {
            budget::spread(work, |(run, (first, second))| {
                (shortcut && run.inserts_side_by_side(*first, *second)) || run.order_matters(*first, *second)
            })
        };
        for ((run, pair), matters) in of_dumps.iter().zip(ask(&of_dumps)) {
            if matters {
                found.entry(*pair).or_default().push(run.label().to_owned());
            }
        }
        for number in 0..TRIES {
            made_up.retain(|pair, tries| number < tries.len() && !found.contains_key(pair));
            let work: Vec<_> = made_up.iter().map(|(pair, tries)| (tries[number], *pair)).collect();
            for ((_, pair), matters) in work.iter().zip(ask(&work)) {
                if matters {
                    found.entry(*pair).or_default();
                }
            }
        }
        found
    }

    /// A patch by filter and index.
    pub(crate) fn patch(&self, filter: usize, patch: usize) -> Option<PatchView<'a>> {
        let owner = self.filters.get(filter)?;
        let built = self.program.patches(filter).get(patch);
        Some(self.view_of(filter, owner, owner.patches.get(patch)?, built))
    }
}

impl<'a> ProxyRun<'a> {
    /// Neighboring filters in the order of application (first, second).
    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + use<'a> {
        let plan = self.plan;
        plan.order.windows(2).take(MAX_SWAPS).map(|pair| (pair[0], pair[1]))
    }

    /// The names of the resources that each filter changes.
    fn touched(&self) -> HashMap<usize, BTreeSet<&str>> {
        let mut touched: HashMap<usize, BTreeSet<&str>> = HashMap::new();
        for (id, trace) in self.plan.ids().zip(&self.judged.trace.patches) {
            let changed = trace.effects.iter().filter(|(_, effect)| effect.changes());
            let mut changed = changed.map(|(place, _)| &*place.resource).peekable();
            if changed.peek().is_some() {
                touched.entry(self.plan.get(id).filter).or_default().extend(changed);
            }
        }
        touched
    }

    /// Whether two neighboring filters touch the same objects and are ordered only by creation time or name.
    fn perhaps_ordered(
        &self,
        cx: &Context<'_>,
        (first, second): (usize, usize),
        touched: &HashMap<usize, BTreeSet<&str>>,
    ) -> bool {
        let of = |filter: usize| self.plan.ids().filter(move |&id| self.plan.get(id).filter == filter);
        let known = |filter: usize| {
            of(filter)
                .all(|id| self.knowledge == Knowledge::Dump || cx.view(self, id).is_some_and(|view| exact(self, &view)))
        };
        let meet = || {
            let both = touched.get(&first).zip(touched.get(&second));
            both.is_some_and(|(one, two)| !one.is_disjoint(two))
        };
        !decided_by_priority(cx, first, second)
            && !cx.same_object(first, second)
            && meet()
            && known(first)
            && known(second)
    }

    /// Whether the proxy's configuration differs if the second of two filters comes before the first.
    fn order_matters(&self, first: usize, second: usize) -> bool {
        let plan = self.moved_behind(first, second);
        let options = Options::default();
        let other = engine::run(&plan, self.config, &options, &mut ());
        !self.same(&self.judged.patched, &other)
    }

    /// Whether both filters insert one HTTP filter at the same place of a list, where both are sent: then they change
    /// places with their filters, which needs no further run.
    ///
    /// Each is the only patch of its filter for HTTP filters in this context, and the filter has no other patch for
    /// listeners. Both use the same operation and match, and neither matches what the other inserts, so both find the
    /// same anchor in both orders. Nothing reorders a list later, and without REPLACE no patch depends on the order of
    /// the list. The names are unique in the list, so a list with the two exchanged is another list.
    fn inserts_side_by_side(&self, first: usize, second: usize) -> bool {
        let planned = |id: PatchId| self.plan.get(id);
        let of_list = |id: PatchId| {
            let patch = planned(id).built.patch;
            proxy_runs(planned(id)) && patch.apply_to == ApplyTo::HttpFilter
        };
        let is_in_place = |id: PatchId| {
            let operation = planned(id).built.operation;
            operation == Operation::Replace && of_list(id)
        };
        if !self.judged.trace.aborts.is_empty() || self.plan.ids().any(is_in_place) {
            return false;
        }
        let ours: Vec<PatchId> = self.plan.ids().filter(|&id| [first, second].contains(&planned(id).filter)).collect();
        let touches_listeners = |id: &PatchId| planned(*id).built.patch.apply_to.matched_by() == Some("listener");
        if !ours.iter().filter(|id| touches_listeners(id)).all(|&id| of_list(id) || !proxy_runs(planned(id))) {
            return false;
        }
        let context = |id: PatchId| planned(id).built.patch.context;
        let alone = |id: PatchId| {
            let beside = ours.iter().filter(|&&it| it != id && planned(it).filter == planned(id).filter);
            !beside.filter(|&&it| of_list(it)).any(|&it| context(it).meets(context(id)))
        };
        let pair = |one: PatchId, two: PatchId| {
            let (a, b) = (planned(one).built, planned(two).built);
            let inserts = matches!(
                a.operation,
                Operation::Add | Operation::InsertFirst | Operation::InsertBefore | Operation::InsertAfter
            );
            let anchored = names_filter(ApplyTo::HttpFilter, &a.object)
                && matches!(a.operation, Operation::InsertBefore | Operation::InsertAfter);
            // As inserted: a MERGE may have renamed it since.
            let is_anchor = |of: &BuiltPatch<'_>| {
                of.value.as_ref().is_none_or(|value| matching::http_filter(&a.object, value).is_ok())
            };
            inserts
                && a.operation == b.operation
                && a.object == b.object
                && context(one) == context(two)
                && alone(one)
                && alone(two)
                && !(anchored && (is_anchor(a) || is_anchor(b)))
        };
        let lists = self.changed_listeners().flat_map(|(_, listener)| changed_filter_lists(listener));
        lists.filter(|(http, _)| *http).any(|(_, filters)| {
            budget::charge_for(filters.len());
            let of = |wanted: usize| {
                let mut found = filters.iter().filter_map(|filter| {
                    let id = PatchId::of(filter.origin)?;
                    (planned(id).filter == wanted).then_some((id, filter.name()))
                });
                found.next().filter(|_| found.next().is_none())
            };
            let (Some((one, its_name)), Some((two, other_name))) = (of(first), of(second)) else { return false };
            let once = |name: &str| filters.iter().filter(|filter| filter.name() == name).count() == 1;
            of_list(one) && of_list(two) && pair(one, two) && once(its_name) && once(other_name)
        })
    }

    /// Whether a patch that matches nothing would match if its filter came after that of another patch (or, within one
    /// filter, if the patch came after the other).
    pub(crate) fn matches_after(&self, id: PatchId, other: PatchId) -> bool {
        self.scene().matches_after(id, other)
    }

    /// The plan with one filter moved right after another.
    fn moved_behind(&self, first: usize, second: usize) -> Plan<'a> {
        let mut plan = self.plan.without(&[]);
        let (moved, mut rest): (Vec<_>, Vec<_>) = plan.patches.into_iter().partition(|planned| planned.filter == first);
        let at = rest.iter().rposition(|planned| planned.filter == second).map_or(rest.len(), |at| at + 1);
        rest.splice(at..at, moved);
        plan.patches = rest;
        plan.order.retain(|&filter| filter != first);
        let at = plan.order.iter().position(|&filter| filter == second).map_or(0, |at| at + 1);
        plan.order.insert(at, first);
        plan
    }
}

/// The patches that remove an object, by its place, the first of each.
pub(crate) fn removals(run: &ProxyRun<'_>) -> HashMap<Place, PatchId> {
    let mut found = HashMap::new();
    for id in run.plan.ids() {
        let effects = run.by_id(id).trace.effects.iter();
        for (place, _) in effects.filter(|(_, effect)| matches!(effect, Effect::Removed)) {
            found.entry(place.clone()).or_insert(id);
        }
    }
    found
}

/// The patch that removes what this one inserted: a later REMOVE, or one for a virtual host of the same name. `removals` are
/// those of the run.
pub(crate) fn remover(run: &PatchRun<'_, '_>, removals: &PerRun<HashMap<Place, PatchId>>) -> Option<PatchId> {
    let inserted = |effect: &Effect| matches!(effect, Effect::Inserted { .. });
    let (place, _) = run.trace.effects.iter().find(|(_, effect)| inserted(effect))?;
    let removes = |id: PatchId| run.run.plan.get(id).built.operation == Operation::Remove;
    let buried = run.trace.later.iter().find(|later| later.removed && later.path.is_empty() && removes(later.by));
    if let Some(later) = buried {
        return Some(later.by);
    }
    place.vhost.as_ref()?;
    if place.route.is_some() {
        return None;
    }
    removals.of(run.run, self::removals).get(place).copied().filter(|id| *id != run.id)
}
