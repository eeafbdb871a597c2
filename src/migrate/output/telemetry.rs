//! Items of the lists of a Telemetry.

use serde_json::{Map, Value as Json};

/// Adds an item to a list of a Telemetry. Overrides of the same providers are merged, and the same override for both
/// directions becomes one without a direction.
pub(super) fn add_item(list: &mut Vec<Json>, one: &Json) {
    if one.get("overrides").is_none() {
        return list.push(one.clone());
    }
    let same = |old: &&mut Json| old.get("overrides").is_some() && old["providers"] == one["providers"];
    let Some(old) = list.iter_mut().find(same) else { return list.push(one.clone()) };
    let Some(overrides) = old["overrides"].as_array_mut() else { return };
    for new in one["overrides"].as_array().into_iter().flatten() {
        match overrides.iter_mut().find(|known| differ_in_mode_only(known, new)) {
            Some(known) if known["match"].get("mode") != new["match"].get("mode") => {
                if let Some(matched) = known.get_mut("match").and_then(Json::as_object_mut) {
                    matched.shift_remove(MODE);
                }
            }
            Some(_) => {}
            None => overrides.push(new.clone()),
        }
    }
}

/// The direction that an override of a Telemetry is for.
const MODE: &str = "mode";

fn differ_in_mode_only(one: &Json, other: &Json) -> bool {
    let without = |matched: &Map<String, Json>| matched.len() - usize::from(matched.contains_key(MODE));
    let same = |(key, value): (&String, &Json)| match (key.as_str(), value.as_object(), other[key].as_object()) {
        ("match", Some(one), Some(other)) => {
            without(one) == without(other)
                && one.iter().all(|(key, value)| key == MODE || other.get(key) == Some(value))
        }
        _ => other.get(key) == Some(value),
    };
    let (Some(one), Some(other)) = (one.as_object(), other.as_object()) else { return one == other };
    one.len() == other.len() && one.iter().all(same)
}
