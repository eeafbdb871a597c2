//! Patches at which istiod panics: it skips others of the same proxies, whose native objects would work.

use super::chain::At;
use crate::engine::compat::Behaviour;
use crate::engine::matching::HTTP_CONNECTION_MANAGER;
use crate::engine::program::{BuiltPatch, Program, Status};
use crate::migrate::base::names::{Names, contexts_meet};
use crate::migrate::base::reach;
use crate::migrate::base::verdict::{Concern, State};
use crate::migrate::{Accept, FilterReport, is_written};
use crate::model::envoy_filter::{ApplyTo, Operation};
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
    let of_filter = |filter: usize| {
        let causes = program.patches(filter).iter().filter_map(move |built| Some((built, panics(built)?)));
        causes.map(move |(built, why)| ((filter, built.patch.index), built, why))
    };
    let causes: Vec<(At, &BuiltPatch<'_>, &str)> = (0..names.titles().len()).flat_map(of_filter).collect();
    if causes.is_empty() {
        return false;
    }
    let mut changed = false;
    let mut meet: HashMap<(usize, usize), bool> = HashMap::new();
    for report in reports {
        let filter = report.index;
        for built in program.patches(filter) {
            let of = report.patches.iter_mut().find(|patch| patch.index == built.patch.index);
            let Some(patch) = of.filter(|patch| patch.found.moves) else { continue };
            let Some(pass) = Pass::of(patch.apply_to) else { continue };
            let cause = causes.iter().find(|((other, index), one, _)| {
                (*other, *index) != (filter, patch.index)
                    && Pass::of(one.patch.apply_to) == Some(pass)
                    && contexts_meet(one.patch.context, built.patch.context)
                    && *meet
                        .entry((names.kind(filter), names.kind(*other)))
                        .or_insert_with(|| names.meet(filter, *other))
            });
            let Some(((other, index), _, why)) = cause else { continue };
            let of = if *other == filter { String::new() } else { format!(" of {}", names.title(*other)) };
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
