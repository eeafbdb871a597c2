//! Patches at which istiod panics: it skips others of the same proxies, whose native objects would work. What the patches
//! themselves do today is unknown.

use super::chain::At;
use super::panicking::Panicking;
use crate::engine::compat::Behaviour;
use crate::engine::program::Program;
use crate::engine::trace::Panic;
use crate::migrate::base::names::Names;
use crate::migrate::base::verdict::{Concern, State};
use crate::migrate::{Accept, FilterReport, is_written};
use crate::model::envoy_filter::{ApplyTo, PatchContext};
use std::collections::HashMap;

/// What istiod patches in one go: a panic ends it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    Listeners,
    Routes,
    Clusters,
}

impl Pass {
    const fn of(apply_to: ApplyTo) -> Option<Pass> {
        match apply_to {
            ApplyTo::Listener
            | ApplyTo::ListenerFilter
            | ApplyTo::FilterChain
            | ApplyTo::NetworkFilter
            | ApplyTo::HttpFilter => Some(Pass::Listeners),
            ApplyTo::RouteConfiguration | ApplyTo::VirtualHost | ApplyTo::HttpRoute => Some(Pass::Routes),
            ApplyTo::Cluster => Some(Pass::Clusters),
            _ => None,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Pass::Listeners => "listeners",
            Pass::Routes => "routes",
            Pass::Clusters => "clusters",
        }
    }
}

/// Patches at which istiod panics in one pass and context, by what tells most of their proxies apart.
#[derive(Default)]
struct Causes<'n> {
    all: Vec<(At, Panic)>,
    by_namespace: Groups<'n>,
    by_app: Groups<'n>,
}

/// Positions in a list; under `None`, of those for any value.
type Groups<'n> = HashMap<Option<&'n str>, Vec<usize>>;

/// The namespace of a filter's proxies and their label `app`.
fn sides(names: &Names, filter: usize) -> (Option<&str>, Option<&str>) {
    let (namespace, labels, _) = names.place(filter).proxies();
    (namespace, labels.get("app").map(String::as_str))
}

/// Those with a value and those for any; `None` without a value.
fn near<'g>(groups: &'g Groups<'g>, value: Option<&'g str>) -> Option<[&'g [usize]; 2]> {
    value.map(|_| [value, None].map(|key| groups.get(&key).map_or(&[][..], Vec::as_slice)))
}

impl<'n> Causes<'n> {
    fn add(&mut self, names: &'n Names, at: At, why: Panic) {
        let (namespace, app) = sides(names, at.0);
        self.by_namespace.entry(namespace).or_default().push(self.all.len());
        self.by_app.entry(app).or_default().push(self.all.len());
        self.all.push((at, why));
    }

    /// The first one, other than this patch itself, that a proxy of the patch may have too.
    fn first(&self, names: &'n Names, patch: At) -> Option<&(At, Panic)> {
        let (namespace, app) = sides(names, patch.0);
        let meets = |position: &usize| {
            let (at, _) = &self.all[*position];
            *at != patch && names.meet(patch.0, at.0)
        };
        let near = [near(&self.by_namespace, namespace), near(&self.by_app, app)].into_iter().flatten();
        let first = match near.min_by_key(|[some, any]| some.len() + any.len()) {
            Some(groups) => groups.iter().filter_map(|group| group.iter().copied().find(meets)).min(),
            None => (0..self.all.len()).find(meets),
        };
        first.map(|position| &self.all[position])
    }
}

/// Patches at which istiod panics, by pass and context.
#[derive(Default)]
pub(in crate::migrate) struct Panics<'n> {
    causes: Vec<(Pass, PatchContext, Causes<'n>)>,
}

impl<'n> Panics<'n> {
    /// Those of all filters.
    pub(in crate::migrate) fn of(program: &Program<'_>, names: &'n Names) -> Panics<'n> {
        let mut panics = Panics::default();
        if !program.compat.has(Behaviour::TypeMismatchPanics) {
            return panics;
        }
        let filters = names.titles().len();
        let mut panicking = Panicking::of(program, filters);
        for filter in 0..filters {
            for built in program.patches(filter) {
                let Some(pass) = Pass::of(built.patch.apply_to) else { continue };
                let Some(why) = panicking.at(filter, built) else { continue };
                panics.add(names, (pass, built.patch.context), (filter, built.patch.index), why);
            }
        }
        panics
    }

    fn add(&mut self, names: &'n Names, of: (Pass, PatchContext), at: At, why: Panic) {
        let known = self.causes.iter().position(|(pass, context, _)| (*pass, *context) == of);
        let place = known.unwrap_or_else(|| {
            self.causes.push((of.0, of.1, Causes::default()));
            self.causes.len() - 1
        });
        self.causes[place].2.add(names, at, why);
    }

    /// Says of patches that istiod panics at them, and lowers their class.
    pub(in crate::migrate) fn say(&self, accept: Accept, reports: &mut [FilterReport]) {
        let known: HashMap<At, &Panic> =
            self.causes.iter().flat_map(|(.., causes)| &causes.all).map(|(at, why)| (*at, why)).collect();
        for report in reports.iter_mut().filter(|_| !known.is_empty()) {
            for patch in &mut report.patches {
                let at = (report.index, patch.index);
                let Some(pass) = Pass::of(patch.apply_to) else { continue };
                let Some(why) = known.get(&at) else { continue };
                patch.found.notes.push(format!(
                    "istiod panics at this patch, because {why}, and then skips other patches of {}: `lint` says what to change",
                    pass.name()
                ));
                if patch.found.moves {
                    let reason = "istiod panics at this patch: it may have no effect today, but its replacement will";
                    patch.found.guard(Concern::Patch, State::Undecided, reason);
                    patch.class = patch.found.class();
                    patch.written &= is_written(&patch.found, accept);
                }
            }
        }
    }

    /// Lowers the class of patches that istiod may skip today because of a panic at another one. Whether some are kept back
    /// for that.
    pub(in crate::migrate) fn settle(
        &self,
        program: &Program<'_>,
        names: &'n Names,
        accept: Accept,
        reports: &mut [FilterReport],
    ) -> bool {
        let mut changed = false;
        for report in reports.iter_mut().filter(|_| !self.causes.is_empty()) {
            let filter = report.index;
            for built in program.patches(filter) {
                let of = report.patches.iter_mut().find(|patch| patch.index == built.patch.index);
                let Some(patch) = of.filter(|patch| patch.found.moves) else { continue };
                let Some(pass) = Pass::of(patch.apply_to) else { continue };
                let near = self
                    .causes
                    .iter()
                    .filter(|(one, context, _)| *one == pass && context.meets(built.patch.context))
                    .filter_map(|(.., causes)| causes.first(names, (filter, patch.index)));
                let Some(((other, index), why)) = near.min_by_key(|(at, _)| *at) else { continue };
                let of = if *other == filter { String::new() } else { format!(" of {}", names.title(*other)) };
                let reason = format!(
                    "istiod panics at configPatches[{index}]{of}, because {why}, and then skips other patches of {}: this one may have no effect today, but its replacement will",
                    pass.name()
                );
                patch.found.guard(Concern::Patch, State::Undecided, reason);
                patch.class = patch.found.class();
                let written = patch.written && is_written(&patch.found, accept);
                changed |= patch.written && !written;
                patch.written = written;
            }
        }
        changed
    }
}
