//! What a name in a cluster that completes a word is for.

use crate::cluster::kinds::Kind;
use crate::model::owner::WorkloadKind;

/// What a name is for.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Named {
    /// An object of one of these kinds.
    Objects(&'static [&'static Kind]),
    /// A workload of this kind, or of any.
    Workloads(Option<WorkloadKind>),
}
