//! Computed results of a migration, from a real istiod instead of the recordings.

use crate::migrate::base::verdict::{Class, Difference, class_of};
use crate::source::ErrorMessage;
use std::collections::BTreeSet;

/// The computed result for one filter.
#[derive(Clone, Debug, PartialEq)]
pub struct Proof {
    /// `namespace/name` of the filter.
    pub filter: String,
    /// `namespace/name` of the filters that it was compared together with: their differences are among those found.
    pub with: Vec<String>,
    /// The result.
    pub found: Proven,
    /// What requests through a real Envoy showed, or why none were sent; `None` if none were requested.
    pub traffic: Option<Result<Traffic, ErrorMessage>>,
}

/// Requests through a real Envoy, with the filter and with its replacement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Version of the Envoy.
    pub envoy: String,
    /// How many proxies they were sent through.
    pub proxies: usize,
    /// How many were answered on both sides.
    pub requests: usize,
    /// These requests with their proxies, as text.
    pub sent: Vec<String>,
    /// Requests that show a difference.
    pub apart: Vec<Apart>,
    /// Requests that could not be sent, with the reason.
    pub unsent: BTreeSet<String>,
}

/// A request that shows a difference between the filter and the native objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Apart {
    /// The proxy.
    pub proxy: String,
    /// The request as text.
    pub request: String,
    /// The answer with the filter.
    pub filter: String,
    /// The answer with the native objects.
    pub native: String,
}

/// The result of asking istiod.
#[derive(Clone, Debug, PartialEq)]
pub enum Proven {
    /// istiod generated both configurations for every proxy, and they were compared.
    Computed(Computed),
    /// They could not be compared, with the reason.
    NotComputed(String),
}

/// Two configurations of every proxy, compared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Computed {
    /// Each difference once, with the number of places; the worst first.
    pub differences: Vec<(Difference, usize)>,
    /// How many proxies were compared.
    pub proxies: usize,
    /// Proxies that change although the filter does not attach to them, `namespace/name`.
    pub beyond: Vec<String>,
}

impl Computed {
    /// Adds an occurrence of a difference.
    pub(crate) fn add(&mut self, difference: Difference) {
        match self.differences.iter_mut().find(|(known, _)| *known == difference) {
            Some((_, places)) => *places += 1,
            None => self.differences.push((difference, 1)),
        }
        self.differences.sort_by_key(|(one, _)| std::cmp::Reverse(one.kind));
    }

    /// The class of what was compared.
    pub(crate) fn class(&self) -> Class {
        let all: Vec<Difference> = self.differences.iter().map(|(one, _)| one.clone()).collect();
        if self.beyond.is_empty() { class_of(&all, &[], false) } else { Class::Differs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::migrate::base::verdict::Kind;

    #[test]
    fn a_change_beyond_the_filter_is_never_the_same() {
        let mut computed = Computed::default();
        assert_eq!(computed.class(), Class::Exact);
        computed.add(Difference::new(Kind::Metadata, "m"));
        computed.add(Difference::new(Kind::Name, "n"));
        computed.add(Difference::new(Kind::Name, "n"));
        assert_eq!(computed.class(), Class::SameBut);
        assert_eq!(computed.differences.iter().map(|(_, places)| *places).collect::<Vec<_>>(), [1, 2]);
        computed.beyond.push("shop/cart".to_owned());
        assert_eq!(computed.class(), Class::Differs);
    }
}
