//! Headers of routes: those of a patch come before those of one that stays once they are a rule's, not after them as today.

use super::{ORDER, Overlaps, REMOVED, RETRY_CODES, RETRY_ON, Setter, same_retries, value_at};
use crate::migrate::base::verdict::Kind;

/// What a patch that passes another one changes.
pub(super) enum Passed {
    /// A value reads headers, and may read others then.
    Reads(String),
    /// Only the order.
    Order(Kind, String),
}

impl Overlaps<'_> {
    /// What a patch changes that moves although another one stays which adds or removes headers before it today.
    pub(super) fn passed(&self, number: usize, stays: &[bool]) -> Option<Passed> {
        let setter = &self.setters[number];
        let directions = setter.fields.iter().filter(|(field, _)| field.starts_with(ORDER));
        let passed = directions.filter_map(|(field, reads)| {
            let others = self.by_field[field].near(setter).filter(|other| *other != number && stays[*other]);
            let other = others.map(|other| &self.setters[other]).find(|other| {
                let same_list = other.built.patch.apply_to == setter.built.patch.apply_to;
                (same_list || *reads || other.fields[field]) && !self.before(setter, other) && self.meet(setter, other)
            })?;
            Some((*reads || other.fields[field], !field.starts_with(REMOVED), other))
        });
        let (reads, adds, other) = passed.max_by_key(|(reads, adds, _)| (*reads, *adds))?;
        Some(self.words(reads, adds, other))
    }

    /// That another patch which moves adds the same status codes of retries: MERGE lists them once for each, a rule once.
    pub(super) fn listed_again(&self, number: usize, stays: &[bool]) -> Option<(Kind, String)> {
        let setter = &self.setters[number];
        let field = setter.fields.keys().find(|field| {
            field.ends_with(RETRY_ON) && value_at(setter, &field.replace(RETRY_ON, RETRY_CODES)).is_some()
        })?;
        let others = self.by_field[field].near(setter).filter(|other| *other != number && !stays[*other]);
        let other = others.map(|other| &self.setters[other]).find(|other| {
            other.fields.contains_key(field) && same_retries(setter, other, field) && self.meet(setter, other)
        })?;
        let (patch, title) = (other.built.patch.index, self.names.title(other.filter));
        let effect = format!(
            "configPatches[{patch}] of {title} adds the same `retriable_status_codes`: today these routes list them more than once, afterwards once"
        );
        Some((Kind::Metadata, effect))
    }

    fn words(&self, reads: bool, adds: bool, other: &Setter<'_>) -> Passed {
        let (patch, title) = (other.built.patch.index, self.names.title(other.filter));
        if !adds {
            let reason = format!(
                "its headers are removed before those of configPatches[{patch}] of {title}, which stays, not after them"
            );
            return Passed::Order(Kind::Metadata, reason);
        }
        let front =
            format!("its headers come before those of configPatches[{patch}] of {title}, which stay, not after them");
        if reads {
            return Passed::Reads(format!(
                "{front}, and a value reads headers (`%REQ(…)%`, `%RESP(…)%`): it may read different values"
            ));
        }
        Passed::Order(Kind::Position, front)
    }
}
