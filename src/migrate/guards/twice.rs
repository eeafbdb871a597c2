//! Patches that an EnvoyFilter has twice: what both add is there twice today, and once afterwards.

use crate::migrate::base::step::Part;
use crate::migrate::base::verdict::Kind;
use crate::model::envoy_filter::{ApplyTo, Operation};
use serde_json::Value as Json;
use std::collections::HashMap;

/// Fields whose items may be listed twice: it changes nothing.
const SETS: [&str; 1] = ["retriable_status_codes"];

/// What differs for a patch that there is more than once.
const EFFECT: &str =
    "the EnvoyFilter contains this patch more than once: today what it adds takes effect each time, afterwards once";

/// Compares the patches of a filter.
pub(in crate::migrate) fn check(parts: &mut [Part<'_>]) {
    if parts.len() < 2 {
        return;
    }
    let mut alike: HashMap<_, Vec<(usize, Kind)>> = HashMap::new();
    for (at, part) in parts.iter().enumerate() {
        let Some(kind) = added(part) else { continue };
        let (patch, operation) = (part.built.patch, part.built.operation);
        let key = (patch.apply_to, patch.context, operation, &patch.object, part.value.0.to_string());
        alike.entry(key).or_default().push((at, kind));
    }
    let several: Vec<(usize, Kind)> = alike.into_values().filter(|all| all.len() > 1).flatten().collect();
    for (at, kind) in several {
        if let Some(found) = parts[at].found.as_mut().filter(|found| found.moves) {
            found.difference(kind, EFFECT);
        }
    }
}

/// What it means that a patch is applied once instead of twice; `None` if that is the same.
fn added(part: &Part<'_>) -> Option<Kind> {
    match part.built.operation {
        Operation::InsertBefore | Operation::InsertAfter | Operation::InsertFirst => Some(Kind::Behavior),
        // istiod adds no second cluster of a name.
        Operation::Add if !matches!(part.apply_to(), ApplyTo::Cluster | ApplyTo::ExtensionConfig) => {
            Some(Kind::Behavior)
        }
        Operation::Merge => appended(&part.value.0),
        _ => None,
    }
}

/// What a MERGE appends to lists.
fn appended(value: &Json) -> Option<Kind> {
    let Json::Object(fields) = value else { return None };
    let of_field = |(key, value): (&String, &Json)| match value {
        // The entries of the map are replaced.
        _ if key == "typed_per_filter_config" => None,
        Json::Array(items) if items.is_empty() => None,
        Json::Array(_) if SETS.contains(&key.as_str()) => Some(Kind::Metadata),
        Json::Array(_) => Some(Kind::Behavior),
        other => appended(other),
    };
    fields.iter().filter_map(of_field).max()
}
