//! What the code of Envoy's extensions rejects although the API allows it: required fields and combinations of fields.
//!
//! Taken from the sources of Envoy 1.26 and 1.32, and tested on Envoy 1.36 to 1.40 (`tests/it/envoy/agreement.rs`).
//! Most judge only objects that are given in full: what a MERGE leaves out may exist.

mod access;
mod checks;
mod cluster;
mod core;
mod extensions;
mod filters;
mod jwt;
mod listener;
mod object;
mod tls;
mod transcoder;

use crate::lint::value::{Object, PatchValue};
use checks::{CHECKS, OF_PARTS};
use object::{Check, Refusal};
use std::collections::HashMap;
use std::sync::LazyLock;

/// The checks of each message; those for whole objects come first.
static BY_MESSAGE: LazyLock<HashMap<&str, Vec<(bool, &Check)>>> = LazyLock::new(|| {
    let mut all: HashMap<&str, Vec<(bool, &Check)>> = HashMap::new();
    for (whole, checks) in [(true, CHECKS), (false, OF_PARTS)] {
        checks.iter().for_each(|check| all.entry(check.message).or_default().push((whole, check)));
    }
    all
});

/// What the checks find in an object of a patch's value.
pub(crate) fn refusals<'v>(
    value: &'v PatchValue<'_>,
    object: &'v Object<'_>,
) -> impl Iterator<Item = (&'static Check, Refusal)> {
    let minor = value.envoy_minor.unwrap_or_default();
    let checks = object.envoy.and_then(|_| BY_MESSAGE.get(object.full_name())).map_or(&[][..], Vec::as_slice);
    checks
        .iter()
        .filter(move |(whole, check)| (object.whole || !whole) && check.envoys.0 <= minor && minor <= check.envoys.1)
        .filter_map(move |(_, check)| Some((*check, check.find.refusal(value, object)?)))
}
