//! Tracing merged into the HTTP connection manager: Telemetry.

use super::attach::{self, Directions};
use super::catalog;
use super::draft::Action;
use super::step::{Cx, Move, Part};
use super::telemetry;
use super::value::Fields;
use super::verdict::Kind;
use serde_json::{Map, Value as Json, json};

/// The move when tracing is all that the value sets.
pub(super) fn of_manager(cx: &Cx<'_>, part: &Part<'_>, config: &Fields) -> Option<Move> {
    let mut config = config.clone();
    let mut tracing = config.sub("tracing")?;
    if !config.is_empty() {
        return None;
    }
    let mut found = Move::new(&catalog::TRACING);
    let mut one = Map::new();
    if let Some(share) = tracing.take("random_sampling/value") {
        found.add_home("Telemetry", "tracing.randomSamplingPercentage", 0);
        one.insert("randomSamplingPercentage".to_owned(), share);
    }
    let mut tags = Map::new();
    for mut tag in tracing.list("custom_tags") {
        let name = tag.text("tag")?;
        let native = tag_of(&mut tag)?;
        if !tag.is_empty() {
            return Some(Move::none(&catalog::TRACING, format!("tag {name} has no native equivalent")));
        }
        tags.insert(name, native);
    }
    if !tags.is_empty() {
        found.add_home("Telemetry", "tracing.customTags", 0);
        one.insert("customTags".to_owned(), Json::Object(tags));
    }
    if !tracing.is_empty() || one.is_empty() {
        let keys: Vec<&str> = tracing.0.as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
        return Some(Move::none(&catalog::TRACING, format!("no native field for tracing {}", keys.join(", "))));
    }
    attach::check(cx, part, &mut found, Directions::Mode);
    telemetry::scope(cx, part, &mut found);
    if let Some(mode) = telemetry::mode(part) {
        one.insert("match".to_owned(), json!({ "mode": mode }));
    }
    found.difference(
        Kind::Behavior,
        "the mesh's provider is also set: spans go to it, where the filter sets a sampling rate and no tracer",
    );
    found.actions.push(Action::Object(telemetry::object(cx, "tracing", &[Json::Object(one)])));
    Some(found)
}

fn tag_of(tag: &mut Fields) -> Option<Json> {
    if let Some(value) = tag.text("literal/value") {
        return Some(json!({ "literal": { "value": value } }));
    }
    for (from, to, key) in [("request_header", "header", "name"), ("environment", "environment", "name")] {
        if let Some(mut inner) = tag.sub(from) {
            let mut native = json!({ "name": inner.text(key)? });
            if let Some(default) = inner.text("default_value") {
                native["defaultValue"] = default.into();
            }
            return inner.is_empty().then(|| json!({ to: native }));
        }
    }
    None
}
