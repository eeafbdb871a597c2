//! Differences between two configurations, as they are found.

use super::ports::{self, Chain};
use super::rbac;
use serde_json::Value as Json;

/// How one side differs from the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A different value.
    Change,
    /// Only the first side has it.
    OnlyBefore,
    /// Only the second side has it.
    OnlyAfter,
    /// A different name.
    Name,
    /// A different position in its list.
    Position,
}

impl Operation {
    pub(in crate::migrate) const fn as_str(self) -> &'static str {
        match self {
            Operation::Change => "change",
            Operation::OnlyBefore => "only-filter",
            Operation::OnlyAfter => "only-native",
            Operation::Name => "name",
            Operation::Position => "position",
        }
    }
}

/// One difference, with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The kind of resource.
    pub resource_kind: String,
    /// The resource.
    pub resource: String,
    /// JSON pointer.
    pub path: String,
    /// Names along the path.
    pub names: Vec<String>,
    /// The operation.
    pub operation: Operation,
    /// The value before.
    pub before: Json,
    /// The value after.
    pub after: Json,
}

/// Marks a rule that names the port of its chain, among the names along its path.
const OWN: &str = "its port";

/// Marks rules of which none matches in their chain.
const OTHER: &str = "other ports";

/// The differences of a resource found so far.
pub(in crate::migrate) struct Seen<'a> {
    /// Them.
    pub(in crate::migrate) found: Vec<Found>,
    /// The first side of the resource if it is a listener.
    listener: Option<&'a Json>,
}

impl<'a> Seen<'a> {
    /// None yet.
    pub(in crate::migrate) fn of(listener: Option<&'a Json>) -> Seen<'a> {
        Seen { found: Vec::new(), listener }
    }

    /// The filter chain at a path.
    pub(in crate::migrate) fn chain(&self, path: &str) -> Chain {
        self.listener.map(|listener| Chain::of(listener, path)).unwrap_or_default()
    }

    /// All of them; rules that only the second side has are marked if they name the port of their chain.
    pub(in crate::migrate) fn marked(mut self) -> Vec<Found> {
        let Some(listener) = self.listener else { return self.found };
        for one in self.found.iter_mut().filter(|one| one.operation == Operation::OnlyAfter) {
            if ports::names_its_own(listener, &one.path, &one.after) {
                one.names.push(OWN.to_owned());
            } else if rbac::never(&one.after, &Chain::of(listener, &one.path)) {
                one.names.push(OTHER.to_owned());
            }
        }
        self.found
    }
}
