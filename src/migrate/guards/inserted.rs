//! Routes that patches insert: they get what a patch sets on their virtual host or table, but not what a rule sets on its own
//! routes.

use super::chain::At;
use super::overlap::objects_meet;
use crate::engine::program::{BuiltPatch, Program, Status};
use crate::migrate::FilterReport;
use crate::migrate::PatchReport;
use crate::migrate::base::names::Names;
use crate::model::envoy_filter::{ApplyTo, ObjectMatch, Operation, PatchContext};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A patch that inserts a route, with the index of its filter.
type Inserted<'a> = (usize, &'a BuiltPatch<'a>);

/// The patches that insert routes, by the name of the virtual host that they match; empty for those that match several.
pub(in crate::migrate) struct Inserts<'a>(HashMap<&'a str, Vec<Inserted<'a>>>);

fn vhost<'a>(built: &'a BuiltPatch<'_>) -> &'a str {
    match &built.object {
        ObjectMatch::RouteConfiguration(route) => route.vhost.as_ref().map_or("", |vhost| vhost.name.as_str()),
        _ => "",
    }
}

/// Whether a match is for a route of one name.
fn names_route(object: &ObjectMatch) -> bool {
    matches!(object, ObjectMatch::RouteConfiguration(route)
        if route.vhost.as_ref().and_then(|vhost| vhost.route.as_ref()).is_some_and(|route| !route.name.is_empty()))
}

/// Whether a move sets the rules of an object.
fn sets_rules(patch: &PatchReport) -> bool {
    patch.found.homes.iter().any(|home| matches!(home.kind, "VirtualService" | "HTTPRoute"))
}

impl<'a> Inserts<'a> {
    /// Of all filters.
    pub(in crate::migrate) fn of(program: &'a Program<'_>, filters: usize) -> Inserts<'a> {
        let mut all: HashMap<&str, Vec<Inserted<'a>>> = HashMap::new();
        let inserts = |built: &&BuiltPatch<'_>| {
            let operation = matches!(
                built.operation,
                Operation::Add | Operation::InsertBefore | Operation::InsertAfter | Operation::InsertFirst
            );
            built.status == Status::Ready && built.patch.apply_to == ApplyTo::HttpRoute && operation
        };
        for filter in 0..filters {
            for built in program.patches(filter).iter().filter(inserts) {
                all.entry(vhost(built)).or_default().push((filter, built));
            }
        }
        Inserts(all)
    }

    /// The patches that may insert a route into what another one matches, those of the same filter first.
    fn into(&self, filter: usize, built: &BuiltPatch<'_>, names: &Names) -> Vec<&Inserted<'a>> {
        let own = vhost(built);
        let all = self.0.values().filter(|_| own.is_empty()).flatten();
        let named = [own, ""].into_iter().filter(|_| !own.is_empty()).filter_map(|name| self.0.get(name)).flatten();
        let mut found: Vec<&Inserted<'a>> = all
            .chain(named)
            .filter(|(other, one)| {
                let (context, other_context) = (built.patch.context, one.patch.context);
                let contexts = context == other_context || [context, other_context].contains(&PatchContext::Any);
                contexts && names.meet(filter, *other) && objects_meet(&built.object, &one.object)
            })
            .collect();
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

    /// Calls `found` for patches that change routes and are written, or are not, with those whose routes they would also change
    /// once these come from an object: MERGE does not reach a route that a patch inserts.
    fn merged(
        &self,
        program: &Program<'_>,
        names: &Names,
        reports: &[FilterReport],
        written: bool,
        found: &mut dyn FnMut(Inserted<'_>, Inserted<'_>),
    ) {
        for report in reports {
            let wanted: BTreeSet<usize> =
                report.patches.iter().filter(|patch| patch.written == written).map(|patch| patch.index).collect();
            let merges = |built: &&BuiltPatch<'_>| {
                built.status == Status::Ready
                    && (built.patch.apply_to, built.operation) == (ApplyTo::HttpRoute, Operation::Merge)
                    && wanted.contains(&built.patch.index)
                    && !names_route(&built.object)
            };
            for built in program.patches(report.index).iter().filter(merges) {
                for (other, one) in self.into(report.index, built, names) {
                    found((report.index, built), (*other, one));
                }
            }
        }
    }

    /// The patches whose routes a patch that stays would change once they come from an object.
    fn reached(&self, program: &Program<'_>, names: &Names, reports: &[FilterReport]) -> BTreeMap<At, String> {
        let mut all = BTreeMap::new();
        self.merged(program, names, reports, false, &mut |(filter, built), (other, one)| {
            let reason = format!(
                "configPatches[{}] of {} stays: it changes the route of a native object, and not one that a patch inserts",
                built.patch.index,
                names.title(filter)
            );
            all.entry((other, one.patch.index)).or_insert(reason);
        });
        all
    }
}
