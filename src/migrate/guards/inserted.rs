//! Routes that patches insert: they get what a patch sets on their virtual host or table, but not what a rule sets on its own
//! routes.

use super::chain::At;
use super::overlap::objects_meet;
use crate::engine::program::{BuiltPatch, Program, Status};
use crate::migrate::FilterReport;
use crate::migrate::PatchReport;
use crate::migrate::base::names::Names;
use crate::migrate::output::draft::Action;
use crate::model::envoy_filter::{ApplyTo, ObjectMatch, Operation};
use crate::proto::tree::Tree;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// A patch that inserts a route, with the index of its filter.
type Inserted<'a> = (usize, &'a BuiltPatch<'a>);

/// Most patches of one virtual host whose routes are compared with one another.
const MOST_ROUTES: usize = 128;

/// The patches that insert routes, by the name of the virtual host that they match; empty for those that match several.
pub(in crate::migrate) struct Inserts<'a>(HashMap<&'a str, Vec<Inserted<'a>>>);

fn vhost<'a>(built: &'a BuiltPatch<'_>) -> &'a str {
    match &built.object {
        ObjectMatch::RouteConfiguration(route) => route.vhost.as_ref().map_or("", |vhost| vhost.name.as_str()),
        _ => "",
    }
}

/// Whether a match may be for a route that another patch inserts, as a rule with the same name.
fn may_name(object: &ObjectMatch, inserted: &BuiltPatch<'_>) -> bool {
    let ObjectMatch::RouteConfiguration(table) = object else { return true };
    let route = table.vhost.as_ref().and_then(|vhost| vhost.route.as_ref());
    let name = route.map_or("", |route| route.name.as_str());
    name.is_empty() || inserted.value.as_ref().is_some_and(|value| value.name() == name)
}

/// Whether a move adds a rule in front of those of an object.
fn adds_rule(patch: &PatchReport) -> bool {
    patch.found.actions.iter().any(Action::adds_rule)
}

/// Whether a move sets the rules of an object.
fn sets_rules(patch: &PatchReport) -> bool {
    patch.found.homes.iter().any(|home| matches!(home.kind, "VirtualService" | "HTTPRoute"))
}

/// Whether both patches may insert into, or match, the same virtual host.
fn meet((filter, built): Inserted<'_>, (other, one): Inserted<'_>, names: &Names) -> bool {
    built.patch.context.meets(one.patch.context)
        && names.meet(filter, other)
        && objects_meet(&built.object, &one.object)
}

/// Whether no request matches both routes, or both do the same.
fn apart(one: &BuiltPatch<'_>, other: &BuiltPatch<'_>) -> bool {
    let (Some(one), Some(other)) = (&one.value, &other.value) else { return false };
    let path = |value: &Tree<'_>| value.get("match")?.get("path")?.as_str().map(str::to_owned);
    one.same(other) || path(one).zip(path(other)).is_some_and(|(one, other)| one != other)
}

/// The patches that move and add rules.
fn adding(reports: &[FilterReport]) -> HashSet<At> {
    let patches = reports.iter().flat_map(|report| report.patches.iter().map(move |patch| (report.index, patch)));
    patches
        .filter(|(_, patch)| patch.written && adds_rule(patch))
        .map(|(filter, patch)| (filter, patch.index))
        .collect()
}

/// Why a route must not become a rule: one of these patches, in the order in which istiod applies them, would insert a route in
/// front of it although it may be behind it today. The rules of those that move keep that order, if it is known.
fn in_front(own: Inserted<'_>, list: &[Inserted<'_>], names: &Names, moved: &HashSet<At>) -> Option<String> {
    let (filter, built) = own;
    if list.len() > MOST_ROUTES {
        return Some(format!("{} patches insert routes there, and their order was not compared", list.len()));
    }
    for &(other, one) in list.iter().filter(|(other, one)| (*other, one.patch.index) != (filter, built.patch.index)) {
        let first = if other == filter {
            Some(built.patch.index < one.patch.index)
        } else {
            names.place(filter).before(names.place(other))
        };
        // It comes in front today too, and so do those after it.
        if first == Some(true) {
            return None;
        }
        let follows = moved.contains(&(other, one.patch.index));
        let aside = one.operation == Operation::Add || !may_name(&one.object, built) || apart(built, one);
        if aside || follows && first.is_some() || !meet(own, (other, one), names) {
            continue;
        }
        let (title, index) = (names.title(other), one.patch.index);
        return Some(if follows {
            format!(
                "configPatches[{index}] of {title} also inserts a route there, and which of both is first depends on when the EnvoyFilters were created, which the input does not say"
            )
        } else {
            format!(
                "configPatches[{index}] of {title} stays and inserts a route in front of the rules: it may be behind this one today"
            )
        });
    }
    None
}

impl<'a> Inserts<'a> {
    /// Of all filters.
    pub(in crate::migrate) fn of(program: &'a Program<'_>, names: &Names) -> Inserts<'a> {
        let mut all: HashMap<&str, Vec<Inserted<'a>>> = HashMap::new();
        let inserts = |built: &&BuiltPatch<'_>| {
            let operation = matches!(
                built.operation,
                Operation::Add | Operation::InsertBefore | Operation::InsertAfter | Operation::InsertFirst
            );
            built.status == Status::Ready && built.patch.apply_to == ApplyTo::HttpRoute && operation
        };
        let mut filters: Vec<usize> = (0..names.titles().len()).collect();
        filters.sort_by_cached_key(|filter| names.place(*filter).rank());
        for filter in filters {
            for built in program.patches(filter).iter().filter(inserts) {
                all.entry(vhost(built)).or_default().push((filter, built));
            }
        }
        Inserts(all)
    }

    /// The patches that insert routes into the virtual hosts that a patch matches.
    fn near<'s>(&'s self, built: &BuiltPatch<'_>) -> impl Iterator<Item = &'s Vec<Inserted<'a>>> + use<'s, 'a> {
        let own = vhost(built);
        let named = if own.is_empty() { [None, None] } else { [self.0.get(own), self.0.get("")] };
        let all = own.is_empty().then(|| self.0.values());
        all.into_iter().flatten().chain(named.into_iter().flatten())
    }

    /// The patches that may insert a route into what another one matches, those of the same filter first.
    fn into(&self, filter: usize, built: &BuiltPatch<'_>, names: &Names) -> Vec<&Inserted<'a>> {
        let own = (filter, built);
        let mut found: Vec<&Inserted<'a>> = self.near(built).flatten().filter(|one| meet(own, **one, names)).collect();
        found.sort_by_key(|(other, one)| (*other != filter, *other, one.patch.index));
        found
    }

    /// Keeps back patches of virtual hosts and tables into which another patch inserts a route, and that patch with them:
    /// without its route, the setting could move. Whether something was kept back.
    pub(in crate::migrate) fn settle(
        &self,
        program: &Program<'_>,
        names: &Names,
        reports: &mut [FilterReport],
    ) -> bool {
        let mut changed = false;
        if self.0.is_empty() {
            return changed;
        }
        let mut inserting: BTreeMap<At, String> = self.reached(program, names, reports);
        self.passed(program, names, reports, &mut inserting);
        for report in reports.iter_mut() {
            for patch in report.patches.iter_mut().filter(|patch| patch.written && sets_rules(patch)) {
                if !matches!(patch.apply_to, ApplyTo::VirtualHost | ApplyTo::RouteConfiguration) {
                    continue;
                }
                let built = program.patches(report.index).iter().find(|built| built.patch.index == patch.index);
                let all = built.map(|built| self.into(report.index, built, names)).unwrap_or_default();
                let Some((filter, one)) = all.first() else { continue };
                for (other, one) in &all {
                    let of = if *other == report.index {
                        String::new()
                    } else {
                        format!(" of {}", names.title(report.index))
                    };
                    let reason = format!(
                        "configPatches[{}]{of} stays, and sets what this route gets from its virtual host",
                        patch.index
                    );
                    inserting.entry((*other, one.patch.index)).or_insert(reason);
                }
                let of = if *filter == report.index { String::new() } else { format!(" of {}", names.title(*filter)) };
                patch.keep(format!(
                    "configPatches[{}]{of} inserts a route, which gets this setting from its virtual host; the rules of native objects do not pass it on",
                    one.patch.index
                ), true);
                changed = true;
            }
        }
        for report in reports {
            let index = report.index;
            for patch in report.patches.iter_mut().filter(|patch| patch.written) {
                if let Some(reason) = inserting.remove(&(index, patch.index)) {
                    patch.keep(reason, true);
                    changed = true;
                }
            }
        }
        changed
    }

    /// Calls `found` for filters that move and insert routes, with the patches that move and change the routes of native rules
    /// there, but not the ones that patches insert.
    pub(super) fn passed_by(
        &self,
        program: &Program<'_>,
        names: &Names,
        reports: &[FilterReport],
        found: &mut dyn FnMut(Inserted<'_>, Inserted<'_>),
    ) {
        let patches =
            || reports.iter().flat_map(|report| report.patches.iter().map(move |patch| (report.index, patch)));
        let moved: BTreeSet<At> =
            patches().filter(|(_, patch)| patch.written).map(|(filter, patch)| (filter, patch.index)).collect();
        self.merged(program, names, reports, true, &mut |merges, (other, one)| {
            if moved.contains(&(other, one.patch.index)) {
                found((other, one), merges);
            }
        });
    }

    /// The filters that move and, as long as they exist, turn the redirects and direct responses of native rules into routes
    /// without a destination, which Envoy rejects.
    pub(in crate::migrate) fn broken_by(
        &self,
        program: &Program<'_>,
        names: &Names,
        reports: &[FilterReport],
    ) -> BTreeSet<usize> {
        let mut all = BTreeSet::new();
        let routes = |built: &BuiltPatch<'_>| built.value.as_ref().is_some_and(|value| value.get("route").is_some());
        self.passed_by(program, names, reports, &mut |(_, inserted), (filter, merged)| {
            if routes(merged) && !routes(inserted) {
                all.insert(filter);
            }
        });
        all
    }

    /// Calls `found` for patches that change or remove routes and are written, or are not, with those whose routes they would
    /// also reach once these come from an object: neither MERGE nor REMOVE reaches a route that a patch inserts.
    fn merged(
        &self,
        program: &Program<'_>,
        names: &Names,
        reports: &[FilterReport],
        written: bool,
        found: &mut dyn FnMut(Inserted<'_>, Inserted<'_>),
    ) {
        let reports: HashMap<usize, &FilterReport> = reports.iter().map(|report| (report.index, report)).collect();
        for filter in 0..names.titles().len() {
            // A filter that was not requested stays.
            let is_written = |index: usize| {
                let patches = reports.get(&filter).into_iter().flat_map(|report| &report.patches);
                patches.into_iter().any(|patch| patch.index == index && patch.written)
            };
            let merges = |built: &&BuiltPatch<'_>| {
                built.status == Status::Ready
                    && built.patch.apply_to == ApplyTo::HttpRoute
                    && matches!(built.operation, Operation::Merge | Operation::Remove)
                    && is_written(built.patch.index) == written
            };
            for built in program.patches(filter).iter().filter(merges) {
                let all = self.into(filter, built, names).into_iter();
                for (other, one) in all.filter(|(_, one)| may_name(&built.object, one)) {
                    found((filter, built), (*other, one));
                }
            }
        }
    }

    /// Calls `found` for filters whose routes become rules of the same virtual host, each with the next one: the order of the
    /// rules is only right if all of them move.
    pub(super) fn in_turn(&self, reports: &[FilterReport], found: &mut dyn FnMut(usize, usize)) {
        let moved = adding(reports);
        for list in self.0.values() {
            let filters: Vec<usize> = list
                .iter()
                .filter(|(filter, one)| moved.contains(&(*filter, one.patch.index)))
                .map(|(filter, _)| *filter)
                .collect();
            filters.windows(2).for_each(|pair| found(pair[0], pair[1]));
        }
    }

    /// Adds the patches that move and behind whose route another one is today, but would not be any more: a rule is behind every
    /// route that a patch inserts first.
    fn passed(&self, program: &Program<'_>, names: &Names, reports: &[FilterReport], found: &mut BTreeMap<At, String>) {
        let moved = adding(reports);
        for &(filter, index) in &moved {
            let Some(built) = program.patches(filter).get(index) else { continue };
            if let Some(reason) = self.near(built).find_map(|list| in_front((filter, built), list, names, &moved)) {
                found.entry((filter, index)).or_insert(reason);
            }
        }
    }

    /// The patches whose routes a patch that stays would change once they come from an object.
    fn reached(&self, program: &Program<'_>, names: &Names, reports: &[FilterReport]) -> BTreeMap<At, String> {
        let mut all = BTreeMap::new();
        self.merged(program, names, reports, false, &mut |(filter, built), (other, one)| {
            let what = if built.operation == Operation::Remove { "removes" } else { "changes" };
            let reason = format!(
                "configPatches[{}] of {} stays: it {what} the route of a native object, and not one that a patch inserts",
                built.patch.index,
                names.title(filter)
            );
            all.entry((other, one.patch.index)).or_insert(reason);
        });
        all
    }
}
