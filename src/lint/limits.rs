//! How large an EnvoyFilter may be to be judged at admission.
//!
//! The limits are far above real EnvoyFilters: of 490 published ones, the largest has 262 values. A merge into every
//! cluster copies each value as often, about 2 KiB for each. They bound what one review costs in memory and time,
//! whoever sends it.

use crate::engine::go_regexp;
use crate::model::envoy_filter::EnvoyFilter;
use crate::source::Node;
use std::collections::BTreeSet;
use std::fmt;

/// Maximum number of values (mappings, lists and their contents) in a filter.
pub(crate) const VALUES: usize = 10_000;
/// Maximum nesting; the YAML reader stops at the same depth.
pub(crate) const DEPTH: usize = 1_000;
/// Maximum number of patches.
pub(crate) const PATCHES: usize = 2_000;
/// Maximum number of instructions that all `proxyVersion` expressions of a filter compile to.
pub(crate) const INSTRUCTIONS: u64 = 20_000;

/// A limit that is exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Excess {
    /// More values than [`VALUES`].
    Values(usize),
    /// Nested deeper than [`DEPTH`].
    Depth,
    /// More patches than [`PATCHES`].
    Patches(usize),
    /// More instructions than [`INSTRUCTIONS`].
    Instructions(u64),
    /// Judging it took more steps than a review may take.
    Steps,
    /// Judging it took longer than a review may take.
    Time,
    /// Its namespace sent more reviews at once than are judged in time.
    Reviews,
}

impl fmt::Display for Excess {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Excess::Values(values) => write!(out, "it has {values} values; at most {VALUES} are judged"),
            Excess::Depth => write!(out, "it nests deeper than {DEPTH} levels"),
            Excess::Patches(patches) => write!(out, "it has {patches} patches; at most {PATCHES} are judged"),
            Excess::Instructions(size) => write!(
                out,
                "its `proxyVersion` expressions compile to {size} instructions; at most {INSTRUCTIONS} are judged"
            ),
            Excess::Steps => out.write_str("judging it takes more steps than a review may take"),
            Excess::Time => out.write_str("judging it takes longer than a review may take"),
            Excess::Reviews => {
                out.write_str("its namespace sent more reviews at once than are judged before the deadline")
            }
        }
    }
}

/// The first limit that a document exceeds, by the number of its values and its depth.
pub(crate) fn of_size(values: usize, depth: usize) -> Option<Excess> {
    match () {
        () if depth > DEPTH => Some(Excess::Depth),
        () if values > VALUES => Some(Excess::Values(values)),
        () => None,
    }
}

/// The first limit that a filter exceeds.
pub(crate) fn excess(filter: &EnvoyFilter) -> Option<Excess> {
    let (values, depth) = size(&filter.document);
    let patches = filter.patches.len();
    of_size(values, depth).or_else(|| (patches > PATCHES).then_some(Excess::Patches(patches))).or_else(|| {
        let versions =
            filter.patches.iter().filter_map(|patch| patch.proxy.as_ref()).map(|proxy| proxy.version.as_str());
        // Equal expressions are compiled once.
        let different: BTreeSet<&str> = versions.filter(|version| !version.is_empty()).collect();
        let mut all: u64 = 0;
        for version in different {
            // A version that is longer than the limit need not be read.
            let longest = u64::try_from(version.len()).unwrap_or(u64::MAX);
            all = all.saturating_add(if longest > INSTRUCTIONS {
                longest
            } else {
                go_regexp::size(version).unwrap_or(1)
            });
            if all > INSTRUCTIONS {
                return Some(Excess::Instructions(all));
            }
        }
        None
    })
}

/// How many values a document has, and how deep they nest.
pub(crate) fn size(node: &Node) -> (usize, usize) {
    let (mut values, mut deepest, mut open) = (0, 0, vec![(node, 1)]);
    while let Some((node, depth)) = open.pop() {
        values += 1;
        deepest = deepest.max(depth);
        open.extend(node.entries().iter().map(|entry| (&entry.value, depth + 1)));
        open.extend(node.items().iter().map(|item| (item, depth + 1)));
    }
    (values, deepest)
}
