//! Patches that set the same field: one that moves must not end up below another that stays and that it overrides today.

mod passed;

use self::passed::Passed;
use super::chain::At;
use super::turned;
use crate::engine::program::{BuiltPatch, Program, Status};
use crate::engine::{MeshSettings, select};
use crate::migrate::base::names::Names;
use crate::migrate::base::reach;
use crate::migrate::base::value::{has_entry, json};
use crate::migrate::base::verdict::Kind;
use crate::migrate::output::draft::Action;
use crate::migrate::proofs::forms::reads_headers;
use crate::migrate::{Accept, FilterReport, PatchReport, is_written};
use crate::model::envoy_filter::{ApplyTo, EnvoyFilter, ObjectMatch, Operation};
use crate::proto::tree::Tree;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// A patch that merges a value.
struct Setter<'a> {
    filter: usize,
    built: &'a BuiltPatch<'a>,
    /// What it sets, and whether to the default: MERGE cannot reset what another patch has set.
    fields: BTreeMap<String, bool>,
    /// Its number among those with different proxies, contexts or matches: equal ones meet the same others.
    kind: usize,
    /// What tells it apart from others: its namespace, a label of its proxies, what it matches; `None` if it is for all.
    marks: [Option<String>; MARKS],
}

const MARKS: usize = 4;

/// Where a patch moves to, as far as one of two settings hides the other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    /// The settings of the mesh.
    Mesh,
    /// Those of pods.
    Pods,
    Other,
}

impl Level {
    fn of(patch: &PatchReport) -> Level {
        let moves = |to: fn(&Action) -> bool| patch.found.actions.iter().any(to);
        if moves(|action| matches!(action, Action::Mesh(_))) {
            Level::Mesh
        } else if moves(|action| matches!(action, Action::Proxy { .. })) {
            Level::Pods
        } else {
            Level::Other
        }
    }
}

/// What a patch sets a field to.
fn value_at<'t>(setter: &'t Setter<'_>, field: &str) -> Option<&'t Tree<'t>> {
    field.split('/').skip(1).try_fold(setter.built.value.as_ref()?, |tree, key| tree.get(key))
}

/// Whether two patches set a field to the same value.
fn same_at(one: &Setter<'_>, other: &Setter<'_>, field: &str) -> bool {
    value_at(one, field).zip(value_at(other, field)).is_some_and(|(one, other)| one.same(other))
}

/// Whether two patches retry under the same conditions, `field`, and for the same status codes.
fn same_retries(one: &Setter<'_>, other: &Setter<'_>, field: &str) -> bool {
    let codes = field.replace(RETRY_ON, RETRY_CODES);
    [field, codes.as_str()].into_iter().all(|field| match (value_at(one, field), value_at(other, field)) {
        (None, None) => true,
        (one, other) => one.zip(other).is_some_and(|(one, other)| one.same(other)),
    })
}

/// Whether the order of two patches that set a field does not matter.
fn same_value(one: &Setter<'_>, other: &Setter<'_>, field: &str) -> bool {
    if field.ends_with(RETRY_ON) { same_retries(one, other, field) } else { same_at(one, other, field) }
}

/// The label that most selectors have.
const APP: &str = "app";

fn marks(filter: &EnvoyFilter, built: &BuiltPatch<'_>, root: &str) -> [Option<String>; MARKS] {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let namespace = (filter.namespace != root).then(|| filter.namespace.clone());
    let label = filter.selector.as_ref().and_then(|labels| labels.get(APP)).cloned();
    // In the same order as `objects_meet` compares them.
    let (name, part) = match &built.object {
        ObjectMatch::Listener(one) => (some(&one.name), None),
        ObjectMatch::RouteConfiguration(one) => {
            (some(&one.name), one.vhost.as_ref().and_then(|vhost| some(&vhost.name)))
        }
        ObjectMatch::Cluster(one) => (some(&one.name), some(&one.service)),
        _ => (None, None),
    };
    [namespace, label, name, part]
}

/// The patches that set a field, by what tells most of them apart: those with different values never meet.
#[derive(Default)]
struct Field {
    all: Vec<usize>,
    /// Which of the values of [`Setter::marks`] they are grouped by.
    mark: usize,
    groups: HashMap<String, Vec<usize>>,
    /// Those without that value may meet any.
    rest: Vec<usize>,
    /// Whether some set it to its default and others do not.
    mixed: bool,
    /// Whether they set it to different values, and the order in which istiod applies some of them is unknown.
    open_order: bool,
}

impl Field {
    /// Groups the patches, once all are known.
    fn group(&mut self, name: &str, setters: &[Setter<'_>], names: &Names) {
        let undated = self.all.iter().any(|at| !names.place(setters[*at].filter).is_dated());
        self.open_order = undated
            && self
                .all
                .first()
                .is_some_and(|first| self.all.iter().any(|at| !same_value(&setters[*first], &setters[*at], name)));
        let mut defaults = self.all.iter().filter_map(|at| setters[*at].fields.get(name));
        let first = defaults.next();
        self.mixed = defaults.any(|one| Some(one) != first);
        let distinct = |mark: usize| {
            let values: BTreeSet<&str> = self.all.iter().filter_map(|at| setters[*at].marks[mark].as_deref()).collect();
            let without = self.all.iter().filter(|at| setters[**at].marks[mark].is_none()).count();
            values.len().saturating_sub(without)
        };
        self.mark = (0..MARKS).max_by_key(|mark| distinct(*mark)).unwrap_or_default();
        for at in &self.all {
            match &setters[*at].marks[self.mark] {
                Some(value) => self.groups.entry(value.clone()).or_default().push(*at),
                None => self.rest.push(*at),
            }
        }
    }

    /// The patches that may meet one.
    fn near<'f>(&'f self, setter: &Setter<'_>) -> impl Iterator<Item = usize> + 'f {
        let (group, rest) = match &setter.marks[self.mark] {
            Some(value) => (self.groups.get(value).map_or(&[][..], Vec::as_slice), self.rest.as_slice()),
            None => (self.all.as_slice(), &[][..]),
        };
        group.iter().chain(rest).copied()
    }
}

/// The patches that merge something, by the fields that they set.
pub(in crate::migrate) struct Overlaps<'a> {
    setters: Vec<Setter<'a>>,
    by_field: HashMap<String, Field>,
    /// How many kinds of patches there are.
    kinds: usize,
    names: &'a Names,
    /// The position of each filter in the order in which istiod applies them.
    ranks: Vec<usize>,
}

/// Marks the fields that stand for a header of routes.
const HEADER: &str = "header ";

/// Marks the fields that stand for the options of a cluster's protocol or for the settings of a route for an HTTP filter, which
/// a MERGE replaces as a whole.
const ENTRY: &str = "entry ";

/// The conditions of retries, which go with a list of status codes.
const RETRY_ON: &str = "/retry_policy/retry_on";

const RETRY_CODES: &str = "/retry_policy/retriable_status_codes";

/// What of a request chooses its destination.
const HASH: &str = "/hash_policy";

/// Marks the lists that are one list of a native object, where MERGE of several patches joins theirs.
const LIST: &str = "list ";

/// The ends of their paths.
const ONE_LIST: [&str; 4] = ["/custom_tags", "/cipher_suites", "/ecdh_curves", "/cors/allow_origin_string_match"];

/// Marks the fields that stand for all headers of a direction that a patch of routes adds or removes, whose order is that of the
/// patches.
const ORDER: &str = "order ";

/// Marks those that stand for the removed ones.
const REMOVED: &str = "order removed ";

/// Stands for the action of routes: patches that match by it, and those that replace it.
const ACTION: &str = "action";

/// The settings of routes for HTTP filters, of which a MERGE replaces those of one filter as a whole.
const PER_FILTER: &str = "/typed_per_filter_config";

const OPTIONS: &str = "CLUSTER/typed_extension_protocol_options";

/// Adds the paths of everything that a value sets.
fn fields_of(value: &Json, path: &str, routes: bool, out: &mut BTreeMap<String, bool>) {
    match value {
        Json::Object(map) if path == OPTIONS => {
            out.extend(map.keys().map(|key| (format!("{ENTRY}{key}"), false)));
        }
        Json::Object(map) if routes && path.ends_with(PER_FILTER) => {
            out.extend(map.keys().map(|key| (format!("{ENTRY}{path}/{key}"), false)));
        }
        Json::Object(map) => {
            for (key, inner) in map {
                if !matches!((key.as_str(), path.contains('/')), ("name", false) | ("@type", _)) {
                    fields_of(inner, &format!("{path}/{key}"), routes, out);
                }
            }
        }
        Json::Array(_) if path.ends_with(RETRY_CODES) => {
            out.entry(path.replace(RETRY_CODES, RETRY_ON)).or_insert(false);
        }
        Json::Array(_) if path.ends_with(HASH) => drop(out.insert(path.to_owned(), false)),
        Json::Array(_) if ONE_LIST.iter().any(|list| path.ends_with(list)) => {
            out.insert(format!("{LIST}{path}"), false);
        }
        Json::Array(items) if routes => {
            for direction in ["request", "response"] {
                for item in items.iter().filter(|_| path.contains(&format!("{direction}_headers_to_"))) {
                    let name = item.as_str().or_else(|| item.pointer("/header/key").and_then(Json::as_str));
                    let name = name.unwrap_or_default().to_ascii_lowercase();
                    out.insert(format!("{HEADER}{direction} {name}"), false);
                }
                if path.ends_with(&format!("{direction}_headers_to_add")) {
                    let reads =
                        has_entry(value, &|key, value| key == "value" && value.as_str().is_some_and(reads_headers));
                    out.insert(format!("{ORDER}{direction}"), reads);
                } else if path.ends_with(&format!("{direction}_headers_to_remove")) {
                    out.insert(format!("{REMOVED}{direction}"), false);
                }
            }
        }
        // MERGE adds to other lists: nothing is overridden.
        Json::Array(_) => {}
        _ => drop(out.insert(path.to_owned(), is_default(value))),
    }
}

/// Whether a scalar, a wrapper or a duration adds nothing to what it is merged into.
fn is_default(value: &Json) -> bool {
    match value {
        Json::Bool(written) => !written,
        Json::Number(number) => number.as_f64() == Some(0.0),
        Json::String(text) => matches!(text.as_str(), "" | "0" | "0s"),
        _ => false,
    }
}

/// Why only one of two patches that set a field may move, whatever they set it to.
fn one_only(field: &str) -> Option<String> {
    if let Some(header) = field.strip_prefix(HEADER) {
        return Some(format!(
            "also changes the {header} header of these routes: MERGE applies both changes, one after the other; a rule has one"
        ));
    }
    if let Some(entry) = field.strip_prefix(ENTRY) {
        let entry = entry.rsplit('/').next().unwrap_or(entry);
        return Some(format!(
            "also sets `{entry}` there: MERGE keeps only what the later one sets; native settings join"
        ));
    }
    if let Some(list) = field.strip_prefix(LIST) {
        let list = list.rsplit('/').next().unwrap_or(list);
        return Some(format!("also adds to `{list}` there: MERGE joins both lists; a native object has one"));
    }
    let hash = "also sets `hash_policy` of these routes: MERGE joins both policies; a rule has one";
    field.ends_with(HASH).then(|| hash.to_owned())
}

/// Whether a name is that of a field that patches set, not one of what they have in common otherwise.
fn is_field(name: &str) -> bool {
    name != ACTION && !name.starts_with(ORDER)
}

fn is_route(apply_to: ApplyTo) -> bool {
    matches!(apply_to, ApplyTo::RouteConfiguration | ApplyTo::VirtualHost | ApplyTo::HttpRoute)
}

impl<'a> Overlaps<'a> {
    /// Of all filters.
    pub(in crate::migrate) fn of(
        filters: &[EnvoyFilter],
        program: &'a Program<'_>,
        names: &'a Names,
        root: &str,
    ) -> Overlaps<'a> {
        let mut order: Vec<usize> = (0..filters.len()).collect();
        let mesh = MeshSettings { root_namespace: root.to_owned(), ..MeshSettings::default() };
        select::sort(filters, &mut order, &mesh, program.compat);
        let mut ranks = vec![0; filters.len()];
        order.into_iter().enumerate().for_each(|(rank, filter)| ranks[filter] = rank);
        let mut all = Overlaps { ranks, setters: Vec::new(), by_field: HashMap::new(), kinds: 0, names };
        let mut kinds = HashMap::new();
        for (filter, object) in filters.iter().enumerate() {
            for built in program.patches(filter) {
                let Some(tree) = built.value.as_ref().filter(|_| {
                    built.status == Status::Ready
                        && built.operation == Operation::Merge
                        && built.patch.apply_to != ApplyTo::Bootstrap
                }) else {
                    continue;
                };
                let routes = is_route(built.patch.apply_to);
                let mut fields = BTreeMap::new();
                fields_of(&json(tree, program.schema), &built.patch.apply_to.to_string(), routes, &mut fields);
                if turned::concerns(built) {
                    fields.insert(ACTION.to_owned(), false);
                }
                for field in fields.keys() {
                    all.by_field.entry(field.clone()).or_default().all.push(all.setters.len());
                }
                let marks = marks(object, built, root);
                let next = kinds.len();
                let kind = *kinds.entry((names.kind(filter), built.patch.context, &built.object)).or_insert(next);
                all.setters.push(Setter { filter, built, fields, kind, marks });
            }
        }
        all.kinds = kinds.len();
        let setters = &all.setters;
        all.by_field.iter_mut().for_each(|(name, field)| field.group(name, setters, names));
        all
    }

    /// Whether some object of some proxy may match both.
    fn meet(&self, one: &Setter<'_>, other: &Setter<'_>) -> bool {
        let meets = one.built.patch.context.meets(other.built.patch.context);
        meets && self.names.meet(one.filter, other.filter) && objects_meet(&one.built.object, &other.built.object)
    }

    /// Whether a patch certainly applies before another.
    fn before(&self, one: &Setter<'_>, other: &Setter<'_>) -> bool {
        if one.filter == other.filter {
            return one.built.patch.index < other.built.patch.index;
        }
        self.names.place(one.filter).before(self.names.place(other.filter)) == Some(true)
    }

    /// The positions of reports in the order in which istiod applies their filters.
    pub(in crate::migrate) fn order(&self, reports: &[FilterReport]) -> Vec<usize> {
        let mut order: Vec<usize> = (0..reports.len()).collect();
        order.sort_by_key(|at| self.ranks.get(reports[*at].index));
        order
    }

    /// Calls `found` for filters that set the same field, or headers in an order, where both may match, with the indexes of the filters and of their
    /// patches.
    pub(in crate::migrate) fn pairs(&self, found: &mut dyn FnMut(At, At)) {
        for (_, field) in self.by_field.iter().filter(|(name, _)| *name != ACTION) {
            for (at, one) in field.all.iter().enumerate() {
                for other in &field.all[..at] {
                    let (one, other) = (&self.setters[*one], &self.setters[*other]);
                    if one.filter != other.filter && self.meet(one, other) {
                        found((one.filter, one.built.patch.index), (other.filter, other.built.patch.index));
                    }
                }
            }
        }
    }

    /// Keeps back patches that move although one stays that sets the same field and that they override today, until nothing
    /// changes any more. Whether something was kept back.
    pub(in crate::migrate) fn settle(&self, accept: Accept, reports: &mut [FilterReport]) -> bool {
        let at: BTreeMap<usize, usize> = reports.iter().enumerate().map(|(at, report)| (report.index, at)).collect();
        let mut changed = false;
        loop {
            let stays = |setter: &Setter<'_>| {
                let report = at.get(&setter.filter).and_then(|at| reports.get(*at));
                let mut patches = report.into_iter().flat_map(|report| &report.patches);
                !patches.any(|patch| patch.index == setter.built.patch.index && patch.written)
            };
            let stays: Vec<bool> = self.setters.iter().map(stays).collect();
            let mut open: HashSet<&str> = HashSet::new();
            for (setter, _) in self.setters.iter().zip(&stays).filter(|(_, stays)| **stays) {
                open.extend(setter.fields.keys().map(String::as_str));
            }
            let report_of = |setter: &Setter<'_>| {
                let report = at.get(&setter.filter).and_then(|at| reports.get(*at));
                let mut patches = report.into_iter().flat_map(|report| &report.patches);
                patches.find(|patch| patch.index == setter.built.patch.index)
            };
            let level = |setter: &Setter<'_>| report_of(setter).map_or(Level::Other, Level::of);
            let levels: Vec<Level> = self.setters.iter().map(level).collect();
            let spares = |setter: &Setter<'_>| report_of(setter).is_some_and(|patch| patch.found.spares);
            let mut kept: Vec<(usize, usize, String)> = Vec::new();
            let mut moved: Vec<(usize, usize, Kind, String)> = Vec::new();
            for (number, setter) in self.setters.iter().enumerate().filter(|(number, _)| !stays[*number]) {
                let against = self.against(number, &stays, &open).or_else(|| self.hidden(number, &stays, &levels));
                let against = against.or_else(|| self.turned(number, &stays, spares(setter)));
                let against = against.or_else(|| self.unordered(number));
                if let Some(reason) = against {
                    kept.push((setter.filter, setter.built.patch.index, reason));
                } else {
                    if let Some((kind, reason)) = self.listed_again(number, &stays) {
                        moved.push((setter.filter, setter.built.patch.index, kind, reason));
                    }
                    match self.passed(number, &stays) {
                        Some(Passed::Reads(reason)) => kept.push((setter.filter, setter.built.patch.index, reason)),
                        Some(Passed::Order(kind, reason)) => {
                            moved.push((setter.filter, setter.built.patch.index, kind, reason));
                        }
                        None => {}
                    }
                }
            }
            let mut of = |(filter, patch): At, change: &mut dyn FnMut(&mut PatchReport)| {
                let report = at.get(&filter).and_then(|at| reports.get_mut(*at));
                report.and_then(|report| report.patches.iter_mut().find(|one| one.index == patch)).map(change);
            };
            let mut again = !kept.is_empty();
            for (filter, patch, reason) in kept {
                of((filter, patch), &mut |one| one.keep(reason.clone(), false));
            }
            for (filter, patch, kind, reason) in moved {
                of((filter, patch), &mut |one| {
                    one.found.difference(kind, reason.clone());
                    one.class = one.found.class();
                    one.written = is_written(&one.found, accept);
                    again |= !one.written;
                });
            }
            changed |= again;
            if !again {
                return changed;
            }
        }
    }

    /// Why a patch must not move to the settings of the mesh: those of pods hide them, and come from a patch that it overrides.
    fn hidden(&self, number: usize, stays: &[bool], levels: &[Level]) -> Option<String> {
        let setter = &self.setters[number];
        if levels[number] != Level::Mesh {
            return None;
        }
        setter.fields.keys().find_map(|field| {
            let other = self.by_field[field].near(setter).map(|other| (other, &self.setters[other])).find(|(at, one)| {
                let overrides = *at != number && !stays[*at] && !self.before(setter, one);
                overrides && levels[*at] == Level::Pods && self.meet(setter, one) && !same_at(setter, one, field)
            });
            let (_, other) = other?;
            let (patch, title) = (other.built.patch.index, self.names.title(other.filter));
            let field = field.rsplit('/').next().unwrap_or(field);
            Some(format!(
                "configPatches[{patch}] of {title} also sets `{field}` and becomes a setting of pods, which hides that of the mesh: this patch may override it today"
            ))
        })
    }

    /// Why a patch must not move although it matches routes by their action: another one that stays replaces that. `spares` if it leaves
    /// rules with another action as they are.
    fn turned(&self, number: usize, stays: &[bool], spares: bool) -> Option<String> {
        let setter = &self.setters[number];
        let others = self.by_field.get(ACTION).filter(|_| setter.fields.contains_key(ACTION))?.near(setter);
        let others = others.filter(|other| *other != number && stays[*other]).map(|other| &self.setters[other]);
        let mut others = others.filter(|other| turned::matters(setter.built, other.built, spares));
        let other = others.find(|other| self.meet(setter, other) && !self.before(setter, other))?;
        Some(format!(
            "configPatches[{}] of {} stays and replaces the action of these routes, by which this patch matches them: a rule has the action that its object says",
            other.built.patch.index,
            self.names.title(other.filter)
        ))
    }

    /// Why a patch must not move alone. `open` are the fields that some patch sets that stays.
    fn against(&self, number: usize, stays: &[bool], open: &HashSet<&str>) -> Option<String> {
        let setter = &self.setters[number];
        let name = |other: &Setter<'_>| {
            format!("configPatches[{}] of {}", other.built.patch.index, self.names.title(other.filter))
        };
        let mut met: Vec<Option<bool>> = vec![None; self.kinds];
        let mut meets = |other: &Setter<'_>| *met[other.kind].get_or_insert_with(|| self.meet(setter, other));
        for (field, default) in setter.fields.iter().filter(|(field, _)| is_field(field)) {
            let mut others = self.by_field[field].near(setter).filter(|other| *other != number);
            if let Some(why) = one_only(field) {
                if let Some(other) = others.map(|other| &self.setters[other]).find(|other| meets(other)) {
                    return Some(format!("{} {why}", name(other)));
                }
            } else if field.ends_with(RETRY_ON)
                && let Some(other) = others.find(|other| {
                    let one = &self.setters[*other];
                    one.fields.contains_key(field) && meets(one) && !same_retries(setter, one, field)
                })
            {
                let other = &self.setters[other];
                let what = if same_at(setter, other, field) {
                    "`retriable_status_codes` of these routes: MERGE adds the codes of both; a rule has those of one"
                } else {
                    "`retry_on` of these routes: MERGE keeps the status codes of the one with the conditions of the other; a rule has the codes and conditions of one"
                };
                return Some(format!("{} also sets {what}", name(other)));
            } else if self.by_field[field].mixed
                && let Some(other) = self.by_field[field].near(setter).filter(|other| *other != number).find(|other| {
                    let one = &self.setters[*other];
                    let (zero, value) = if *default { (setter, one) } else { (one, setter) };
                    one.fields.get(field) == Some(&!default) && meets(one) && !self.before(zero, value)
                })
            {
                let field = field.rsplit('/').next().unwrap_or(field);
                return Some(format!(
                    "{} also sets `{field}`, and one of them sets 0, the default: it is not known which of the two native settings would win",
                    name(&self.setters[other])
                ));
            } else if open.contains(field.as_str())
                && let Some(other) = others.find(|other| {
                    let one = &self.setters[*other];
                    stays[*other] && meets(one) && !self.before(setter, one)
                })
            {
                let field = field.rsplit('/').next().unwrap_or(field);
                return Some(format!(
                    "{} stays and also sets `{field}`: this patch may override it today, and a native setting would not",
                    name(&self.setters[other])
                ));
            }
        }
        None
    }

    /// Why a patch must not move with another one that sets a field to another value: which of them wins is unknown.
    fn unordered(&self, number: usize) -> Option<String> {
        let setter = &self.setters[number];
        let place = self.names.place(setter.filter);
        let open = setter.fields.keys().filter(|field| is_field(field) && self.by_field[*field].open_order);
        open.into_iter().find_map(|field| {
            let others = self.by_field[field].near(setter).map(|other| &self.setters[other]);
            let other = others.filter(|other| other.filter != setter.filter).find(|other| {
                let unordered = place.before(self.names.place(other.filter)).is_none();
                unordered && !same_value(setter, other, field) && self.meet(setter, other)
            })?;
            let (patch, title) = (other.built.patch.index, self.names.title(other.filter));
            let field = field.rsplit('/').next().unwrap_or(field);
            Some(format!(
                "configPatches[{patch}] of {title} sets `{field}` to another value, and istiod applies the older EnvoyFilter \
                 first: the input does not say which one that is (`creationTimestamp`)"
            ))
        })
    }
}

fn differ(one: &str, other: &str) -> bool {
    !one.is_empty() && !other.is_empty() && one != other
}

pub(super) fn objects_meet(one: &ObjectMatch, other: &ObjectMatch) -> bool {
    let ports = |one: u32, other: u32| one != 0 && other != 0 && one != other;
    match (one, other) {
        (ObjectMatch::Listener(a), ObjectMatch::Listener(b)) => {
            let names = (reach::names_filter(one).unwrap_or_default(), reach::names_filter(other).unwrap_or_default());
            let sub = (reach::anchor(one).unwrap_or_default(), reach::anchor(other).unwrap_or_default());
            let sni = |of: &crate::model::envoy_filter::ListenerMatch| {
                of.filter_chain.as_ref().map(|chain| chain.sni.clone()).unwrap_or_default()
            };
            !(ports(a.port_number, b.port_number)
                || differ(&a.name, &b.name)
                || differ(names.0, names.1)
                || differ(sub.0, sub.1)
                || differ(&sni(a), &sni(b)))
        }
        (ObjectMatch::RouteConfiguration(a), ObjectMatch::RouteConfiguration(b)) => {
            let host = |of: &crate::model::envoy_filter::RouteConfigurationMatch| {
                of.vhost.as_ref().map(|vhost| vhost.name.clone()).unwrap_or_default()
            };
            let route = |of: &crate::model::envoy_filter::RouteConfigurationMatch| {
                let route = of.vhost.as_ref().and_then(|vhost| vhost.route.as_ref());
                route.map(|route| route.name.clone()).unwrap_or_default()
            };
            !(ports(a.port_number, b.port_number)
                || differ(&a.name, &b.name)
                || differ(&host(a), &host(b))
                || differ(&route(a), &route(b)))
        }
        (ObjectMatch::Cluster(a), ObjectMatch::Cluster(b)) => {
            !(ports(a.port_number, b.port_number)
                || differ(&a.name, &b.name)
                || differ(&a.service, &b.service)
                || differ(&a.subset, &b.subset))
        }
        _ => true,
    }
}
