//! A migration for people and programs.

mod human;
mod json;
mod markdown;
mod page;
mod text;

pub use human::{human, verified};
pub use json::json;
pub use markdown::markdown;
pub use page::html;
pub use text::{Document, diff, documents, yaml};

use crate::migrate::verdict::{Class, State};
use crate::migrate::{FilterReport, PatchReport, Report};

/// What a report says of itself: what was looked at, and what not.
pub fn scope(report: &Report) -> Vec<String> {
    let mut notes = Vec::new();
    if report.described {
        notes.push("objects that are not among the input count as absent".to_owned());
    } else {
        notes.push(
            "the input has only EnvoyFilters: guards that look at Services, Gateways, VirtualServices, DestinationRules and \
             policies are undecided; give those objects too, or let the cluster be read"
                .to_owned(),
        );
    }
    notes.push(
        "classes rest on what istiod 1.31 was recorded to generate with the filter and with the native objects; they were not \
         computed for your objects"
            .to_owned(),
    );
    notes
}

/// How many filters each class has.
pub fn classes(report: &Report) -> Vec<(Class, usize)> {
    Class::ALL
        .into_iter()
        .map(|class| (class, report.filters.iter().filter(|filter| filter.class == class).count()))
        .filter(|(_, number)| *number > 0)
        .collect()
}

/// Why the objects of a patch are not written; `None` when they are, or when there are none.
pub fn unwritten(patch: &PatchReport) -> Option<String> {
    if patch.written || !patch.found.moves {
        return None;
    }
    let guard = |state: State| patch.found.guards.iter().find(|guard| guard.state == state);
    if let Some(guard) = guard(State::Broken) {
        return Some(format!("refused: {}", guard.reason));
    }
    if let Some(guard) = guard(State::Review) {
        return Some(format!("not written without --accept reviewed: {}", guard.reason));
    }
    Some(match patch.class {
        Class::SameBut => "not written with --accept exact".to_owned(),
        _ => "not written without --accept differs".to_owned(),
    })
}

/// `namespace/name`.
pub fn full_name(filter: &FilterReport) -> String {
    format!("{}/{}", filter.namespace, filter.name)
}
