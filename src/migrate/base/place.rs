//! The proxies that a filter selects, and when it applies.

use crate::model::envoy_filter::EnvoyFilter;
use crate::model::inventory::Labels;
use std::cmp::Ordering;

/// The proxies that a filter selects, and when it applies.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    namespace: String,
    labels: Labels,
    targets: Vec<String>,
    /// Whether it is in the root namespace.
    root: bool,
    /// Whether it may be for proxies of every namespace.
    everywhere: bool,
    priority: i32,
    created: Option<(i64, u32)>,
    name: String,
}

impl Place {
    /// Of a filter.
    pub(crate) fn of(filter: &EnvoyFilter, root: &str) -> Place {
        let of_gateways = filter.target_refs.iter().any(|target| target.kind == "Gateway");
        Place {
            namespace: filter.namespace.clone(),
            labels: filter.selector.clone().unwrap_or_default(),
            targets: filter.target_refs.iter().map(|target| format!("{}/{}", target.kind, target.name)).collect(),
            root: filter.namespace == root,
            everywhere: filter.namespace == root && !of_gateways,
            priority: filter.priority,
            created: filter.created,
            name: filter.name.clone(),
        }
    }

    /// Whether every proxy of the other one is among its proxies.
    pub(crate) fn covers(&self, other: &Place) -> bool {
        (self.everywhere || self.namespace == other.namespace)
            && self.labels.iter().all(|(key, value)| other.labels.get(key) == Some(value))
            && (self.targets.is_empty() || self.targets == other.targets)
    }

    /// Whether a proxy may be among those of both.
    pub(crate) fn meets(&self, other: &Place) -> bool {
        if !(self.everywhere || other.everywhere || self.namespace == other.namespace) {
            return false;
        }
        let apart = self.labels.iter().any(|(key, value)| other.labels.get(key).is_some_and(|own| own != value));
        let referred = self.targets.is_empty()
            || other.targets.is_empty()
            || self.targets.iter().any(|target| other.targets.contains(target));
        !apart && referred
    }

    /// Whether `targetRefs` select them.
    pub(crate) fn is_referred(&self) -> bool {
        !self.targets.is_empty()
    }

    /// What [`Place::meets`] depends on.
    pub(crate) fn proxies(&self) -> (Option<&str>, &Labels, &[String]) {
        ((!self.everywhere).then_some(&self.namespace), &self.labels, &self.targets)
    }

    /// Its position in the order in which istiod applies filters, as far as it is known.
    pub(crate) fn rank(&self) -> (i32, bool, Option<(i64, u32)>, String) {
        (self.priority, !self.root, self.created, self.full())
    }

    /// Whether istiod applies it before the other one: priority, the root namespace first, creation time, name; `None` if the
    /// creation times decide and are unknown.
    pub(crate) fn before(&self, other: &Place) -> Option<bool> {
        let first = |one: &Place| (one.priority, !one.root);
        match first(self).cmp(&first(other)) {
            Ordering::Less => Some(true),
            Ordering::Greater => Some(false),
            Ordering::Equal => match (self.created, other.created) {
                (Some(one), Some(two)) => Some((one, self.full()) < (two, other.full())),
                _ => None,
            },
        }
    }

    /// Whether its age is known.
    pub(in crate::migrate) fn is_dated(&self) -> bool {
        self.created.is_some()
    }

    fn full(&self) -> String {
        format!("{}.{}", self.name, self.namespace)
    }
}
