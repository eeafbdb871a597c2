//! Tracing merged into the HTTP connection manager: Telemetry.

use super::attach::{self, Directions};
use super::catalog;
use super::draft::Action;
use super::step::{Cx, Move, Part};
use super::telemetry;
use super::value::Fields;
use super::verdict::{Concern, Kind, State};
use serde_json::{Map, Value as Json, json};

/// The move if the value sets only tracing.
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
    // istiod sorts the tags of a Telemetry among its own; the filter's come last.
    let (mut last, mut in_order) = (LAST_TAG.to_owned(), true);
    for mut tag in tracing.list("custom_tags") {
        let name = tag.text("tag")?;
        in_order &= last < name;
        last.clone_from(&name);
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
    if !in_order {
        found.difference(Kind::Position, "the tags of a span are sorted by name");
    }
    match traced(cx) {
        Some(true) => found.guard(Concern::Existing, State::Held, "the mesh has a tracing provider"),
        Some(false) => found.difference(
            Kind::Behavior,
            "the mesh has no tracing provider: the filter writes its settings anyway, without a tracer, and the Telemetry \
             object has no effect until the mesh has a provider",
        ),
        None => found.guard(
            Concern::Existing,
            State::Undecided,
            "a Telemetry object takes effect only where a tracing provider is configured: include the ConfigMap `istio`, \
             the provider's Service and other Telemetry objects with `tracing`",
        ),
    }
    found.actions.push(Action::Object(telemetry::object(cx, "tracing", &[Json::Object(one)])));
    Some(found)
}

/// The last of istiod's own tags, by name.
const LAST_TAG: &str = "istio.namespace";

/// Whether istiod writes tracing into the proxies of the mesh, as it does for the first default provider whose service
/// it knows; `None` if something else also decides.
fn traced(cx: &Cx<'_>) -> Option<bool> {
    let mesh = cx.mesh.mesh_config()?;
    let older = mesh.pointer("/defaultConfig/tracing").is_some() || mesh["enableTracing"] == false;
    let others = cx.mesh.policies("Telemetry", cx.filter);
    if older || others.iter().any(|object| object.document.under(&["spec", "tracing"]).is_some()) {
        return None;
    }
    let Some(name) = mesh.pointer("/defaultProviders/tracing/0").and_then(Json::as_str) else { return Some(false) };
    let providers = mesh["extensionProviders"].as_array()?;
    let provider = providers.iter().find(|one| one["name"] == name)?;
    let host = provider.as_object()?.values().find_map(|value| value.get("service")?.as_str())?;
    let host = host.rsplit_once('/').map_or(host, |(_, host)| host);
    cx.mesh.namespace_of_host(host).map(|_| true)
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
