//! Verdicts on patches, for people.

use super::style::Role;
use crate::engine::Outcome;
use crate::explain::view::{Live, Patch};
use crate::study::InEffect;

/// A mark and its color.
pub(super) fn mark(patch: &Patch) -> (&'static str, Role) {
    match patch.live {
        Some(Live::InEffect) if patch.later.is_empty() && patch.lost.is_empty() => return ("✓", Role::Good),
        Some(Live::InEffect) => return ("✓", Role::Odd),
        Some(Live::PartlyInEffect) => return ("◐", Role::Odd),
        Some(Live::NotInEffect | Live::Refused) => return ("✗", Role::Bad),
        Some(Live::Unknown) => return ("?", Role::Dim),
        None => {}
    }
    match patch.outcome {
        _ if patch.uncertain => ("?", Role::Dim),
        Outcome::Applied if !patch.later.is_empty() || !patch.lost.is_empty() => ("✓", Role::Odd),
        Outcome::Applied => ("✓", Role::Good),
        Outcome::NotSelected => ("–", Role::Dim),
        Outcome::NoOp if patch.in_effect == Some(InEffect::Yes) => ("✓", Role::Good),
        Outcome::NoOp => ("○", Role::Odd),
        _ => ("✗", Role::Bad),
    }
}

/// The verdict in words; `live`: the dump is of a running proxy.
pub(super) fn outcome(patch: &Patch, live: bool) -> String {
    if let Some(live) = patch.live {
        return match live {
            Live::InEffect => "in effect",
            Live::PartlyInEffect => "partly in effect",
            Live::NotInEffect => "not in effect",
            Live::Refused => "refused by Envoy",
            Live::Unknown => "unknown",
        }
        .to_owned();
    }
    match (patch.in_effect, patch.outcome) {
        (Some(InEffect::Yes), _) => "in effect".to_owned(),
        (_, Outcome::NoMatch | Outcome::NoOp | Outcome::Aborted) if patch.uncertain => "unknown".to_owned(),
        (Some(InEffect::Partly), Outcome::Applied) => "partly in effect".to_owned(),
        (Some(InEffect::No), Outcome::Applied) if live => "applied, not yet in this dump".to_owned(),
        (_, Outcome::NoMatch) => "no match".to_owned(),
        (_, Outcome::NoOp) => "no effect".to_owned(),
        (_, Outcome::NotSelected) => "not for this proxy".to_owned(),
        (_, outcome) => outcome.to_string(),
    }
}
