//! Patches at which istiod panics: it skips others of the same proxies, whose native objects would work.

use super::chain::At;
use crate::engine::compat::Behaviour;
use crate::engine::matching::HTTP_CONNECTION_MANAGER;
use crate::engine::program::{BuiltPatch, Program, Status};
use crate::migrate::base::names::{Names, contexts_meet};
use crate::migrate::base::reach;
use crate::migrate::base::verdict::{Concern, State};
use crate::migrate::{Accept, FilterReport, is_written};
use crate::model::envoy_filter::{ApplyTo, Operation, PatchContext};
use crate::proto::tree::{Tree, is_typed_struct};
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

/// The type of a filter's or socket's configuration; empty if there is none.
fn config_type(tree: &Tree<'_>) -> String {
    tree.get("typed_config").and_then(Tree::type_name).unwrap_or_default().into_owned()
}

/// Why istiod panics at a patch, if it does so wherever the patch matches.
fn panics(built: &BuiltPatch<'_>) -> Option<&'static str> {
    if built.status != Status::Ready || built.operation != Operation::Merge {
        return None;
    }
    let Some(value) = &built.value else { return Some("it has no value") };
    let own = match built.patch.apply_to {
        ApplyTo::NetworkFilter | ApplyTo::HttpFilter | ApplyTo::ListenerFilter => config_type(value),
        ApplyTo::FilterChain | ApplyTo::Cluster => value.get("transport_socket").map(config_type).unwrap_or_default(),
        _ => return None,
    };
    let manager = built.patch.apply_to == ApplyTo::NetworkFilter
        && reach::names_filter(&built.object) == Some(HTTP_CONNECTION_MANAGER);
    if is_typed_struct(&own) {
        Some("it merges a TypedStruct into a configuration of another type")
    } else if manager && !own.is_empty() && !own.ends_with(".HttpConnectionManager") {
        Some("it merges another type into the HTTP connection manager")
    } else {
        None
    }
}

/// Patches at which istiod panics in one pass and context, by what tells most of their proxies apart.
#[derive(Default)]
struct Causes<'n> {
    all: Vec<(At, &'static str)>,
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
    fn add(&mut self, names: &'n Names, at: At, why: &'static str) {
        let (namespace, app) = sides(names, at.0);
        self.by_namespace.entry(namespace).or_default().push(self.all.len());
        self.by_app.entry(app).or_default().push(self.all.len());
        self.all.push((at, why));
    }

    /// The first one, other than this patch itself, that a proxy of the patch may have too.
    fn first(&self, names: &'n Names, patch: At) -> Option<(At, &'static str)> {
        let (namespace, app) = sides(names, patch.0);
        let meets = |position: &usize| {
            let (at, _) = self.all[*position];
            at != patch && names.meet(patch.0, at.0)
        };
        let near = [near(&self.by_namespace, namespace), near(&self.by_app, app)].into_iter().flatten();
        let first = match near.min_by_key(|[some, any]| some.len() + any.len()) {
            Some(groups) => groups.iter().filter_map(|group| group.iter().copied().find(meets)).min(),
            None => (0..self.all.len()).find(meets),
        };
        first.map(|position| self.all[position])
    }
}

/// Lowers the class of patches that istiod may skip today because of a panic at another one. Whether some are kept back for
/// that.
pub(in crate::migrate) fn settle(
    program: &Program<'_>,
    names: &Names,
    accept: Accept,
    reports: &mut [FilterReport],
) -> bool {
    if !program.compat.has(Behaviour::TypeMismatchPanics) {
        return false;
    }
    let mut causes: Vec<(Pass, PatchContext, Causes<'_>)> = Vec::new();
    for filter in 0..names.titles().len() {
        for built in program.patches(filter) {
            let (Some(pass), Some(why)) = (Pass::of(built.patch.apply_to), panics(built)) else { continue };
            let context = built.patch.context;
            let known = causes.iter().position(|(one, other, _)| (*one, *other) == (pass, context));
            let at = known.unwrap_or_else(|| {
                causes.push((pass, context, Causes::default()));
                causes.len() - 1
            });
            causes[at].2.add(names, (filter, built.patch.index), why);
        }
    }
    let mut changed = false;
    for report in reports {
        let filter = report.index;
        for built in program.patches(filter) {
            let of = report.patches.iter_mut().find(|patch| patch.index == built.patch.index);
            let Some(patch) = of.filter(|patch| patch.found.moves) else { continue };
            let Some(pass) = Pass::of(patch.apply_to) else { continue };
            let near = causes
                .iter()
                .filter(|(one, context, _)| *one == pass && contexts_meet(*context, built.patch.context))
                .filter_map(|(.., causes)| causes.first(names, (filter, patch.index)));
            let Some(((other, index), why)) = near.min() else { continue };
            let of = if other == filter { String::new() } else { format!(" of {}", names.title(other)) };
            let reason = format!(
                "istiod panics at configPatches[{index}]{of}, because {why}, and then skips other patches of {}: this one may have no effect today, and what replaces it has",
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
