//! Tracing merged into the HTTP connection manager: Telemetry.

use super::{setting, telemetry};
use crate::migrate::base::catalog;
use crate::migrate::base::step::{Cx, Move, Part};
use crate::migrate::base::value::{Fields, left};
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::guards::attach::{self, Directions};
use crate::migrate::guards::whole::{Reads, whole_proxy};
use crate::migrate::output::change::settings_of;
use crate::migrate::output::draft::Action;
use crate::model::proxy_config::ANNOTATION;
use serde_json::{Map, Value as Json, json};

/// The move if the value sets only tracing.
pub(in crate::migrate) fn of_manager(cx: &Cx<'_>, part: &Part<'_>, config: &Fields) -> Option<Move> {
    let mut config = config.clone();
    let mut tracing = config.sub("tracing")?;
    if !config.is_empty() {
        return None;
    }
    if tracing.0.as_object().is_some_and(|map| map.len() == 1)
        && let Some(length) = tracing.number(PATH_LENGTH)
    {
        return Some(path_length(cx, part, length));
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
        let Some(native) = tag_of(&mut tag).filter(|_| tag.is_empty()) else {
            return Some(Move::none(
                &catalog::TRACING,
                format!(
                    "`customTags` of a Telemetry takes a literal, an environment variable or a request header; the tag {name} is none of them, or has other settings"
                ),
            ));
        };
        tags.insert(name, native);
    }
    if !tags.is_empty() {
        found.add_home("Telemetry", "tracing.customTags", 0);
        one.insert("customTags".to_owned(), Json::Object(tags));
    }
    if tracing.peek(PATH_LENGTH).is_some() {
        let reason = "`max_path_tag_length` is a setting of the proxy (`tracing.maxPathTagLength` in `proxy.istio.io/config`), the rest belongs to a Telemetry object: put each into a patch of its own";
        return Some(Move::none(&catalog::TRACING, reason));
    }
    if !tracing.is_empty() || one.is_empty() {
        let reason = if tracing.is_empty() {
            "the value sets nothing that a Telemetry could set".to_owned()
        } else {
            left("`tracing` of a Telemetry", [&tracing])
        };
        return Some(Move::none(&catalog::TRACING, reason));
    }
    attach::check(cx, part, &mut found, Directions::Mode);
    telemetry::scope(cx, part, &mut found);
    if let Some(mode) = telemetry::mode(part) {
        one.insert("match".to_owned(), json!({ "mode": mode }));
    }
    if !in_order {
        found.difference(Kind::Position, "the tags of a span are sorted by name");
    }
    match tracer(cx) {
        Tracer::Provider => found.guard(Concern::Existing, State::Held, "the mesh has a tracing provider"),
        Tracer::None => found.difference(
            Kind::Behavior,
            "the mesh has no tracing provider, so its proxies send no spans. The Telemetry object takes effect only when \
             the mesh has one; until then istiod writes no tracing settings for these workloads, in either direction",
        ),
        Tracer::Own(place) => {
            let reason = format!(
                "a Telemetry object without a provider turns off the tracer that {place} configures, in both directions: \
                 first add the tracer to `extensionProviders` and `defaultProviders.tracing`"
            );
            found.difference(Kind::Behavior, reason.clone());
            found.guard(Concern::Existing, State::Broken, reason);
        }
        Tracer::Unknown => found.guard(
            Concern::Existing,
            State::Undecided,
            "a Telemetry object takes effect only with a tracing provider, and without one turns off a tracer that \
             `defaultConfig.tracing` configures: include the ConfigMap `istio`, the provider's Service and other Telemetry \
             objects with `tracing`",
        ),
    }
    found.actions.push(Action::Object(telemetry::object(cx, "tracing", &[Json::Object(one)])));
    Some(found)
}

const PATH_LENGTH: &str = "max_path_tag_length";

/// The length of the tag with the path: a setting of the proxy, after that of the provider (`configureTracingFromTelemetry` in
/// istiod's `tracing.go`).
fn path_length(cx: &Cx<'_>, part: &Part<'_>, length: u64) -> Move {
    if length == 0 {
        return Move::none(
            &catalog::TRACING,
            "istiod reads a `maxPathTagLength` of 0 as none, and writes its default of 256",
        );
    }
    let mut found = Move::new(&catalog::TRACING).home("proxy.istio.io/config", "tracing.maxPathTagLength", 0);
    whole_proxy(cx, part, &mut found, Reads::All, "the length of the path tag");
    let undecided = match cx.mesh.mesh_config() {
        None => Some("the mesh settings are not in the input: it is unknown whether the mesh traces"),
        Some(mesh) => {
            let provider = mesh.pointer("/defaultProviders/tracing/0").and_then(Json::as_str);
            let length = provider.and_then(|name| {
                mesh["extensionProviders"]
                    .as_array()?
                    .iter()
                    .find(|one| one["name"] == name)?
                    .as_object()?
                    .values()
                    .find_map(|one| one.get("maxTagLength"))
            });
            if length.is_some() {
                let reason = "the tracing provider has its own `maxTagLength`, which comes before the setting of the proxy; the filter comes before both";
                found.difference(Kind::Behavior, reason);
                found.guard(Concern::Existing, State::Broken, reason);
            }
            let others = cx.mesh.policies("Telemetry", cx.filter);
            if others.iter().any(|object| object.document.under(&["spec", "tracing"]).is_some()) {
                Some(
                    "a Telemetry object sets tracing: it is unknown whether these proxies have tracing settings without the filter",
                )
            } else if mesh["enableTracing"] == false && provider.is_none() {
                Some(
                    "the mesh has no tracing (`enableTracing: false`): the filter alone adds tracing settings, the setting does not",
                )
            } else if provider.is_some_and(|name| !is_known(cx, mesh, name)) {
                Some(
                    "the service of the tracing provider is not in the input: istiod writes no tracing settings if it does not know it",
                )
            } else {
                None
            }
        }
    };
    if let Some(reason) = undecided {
        found.guard(Concern::Existing, State::Undecided, reason);
    }
    setting::write(cx, part, &mut found, json!({ "tracing": { "maxPathTagLength": length } }));
    found
}

/// The last of istiod's own tags, by name.
const LAST_TAG: &str = "istio.namespace";

/// What sends the spans of the filter's proxies.
enum Tracer {
    /// The first default provider of the mesh, whose service istiod knows.
    Provider,
    /// Nothing.
    None,
    /// The settings of the proxies themselves, in this place.
    Own(String),
    /// Something else also decides, or the input does not say.
    Unknown,
}

fn tracer(cx: &Cx<'_>) -> Tracer {
    let Some(mesh) = cx.mesh.mesh_config() else { return Tracer::Unknown };
    let others = cx.mesh.policies("Telemetry", cx.filter);
    if mesh["enableTracing"] == false
        || others.iter().any(|object| object.document.under(&["spec", "tracing"]).is_some())
    {
        return Tracer::Unknown;
    }
    let own = own_tracer(cx, &mesh["defaultConfig"]);
    match (mesh.pointer("/defaultProviders/tracing/0").and_then(Json::as_str), own) {
        (None, Some(place)) => Tracer::Own(place),
        (None, None) => Tracer::None,
        (Some(name), None) if is_known(cx, mesh, name) => Tracer::Provider,
        (Some(_), _) => Tracer::Unknown,
    }
}

/// Where the settings of the filter's proxies name a tracer.
fn own_tracer(cx: &Cx<'_>, defaults: &Json) -> Option<String> {
    const TRACERS: [&str; 5] = ["zipkin", "lightstep", "datadog", "stackdriver", "openCensusAgent"];
    let names = |config: &Json| TRACERS.iter().any(|tracer| config["tracing"].get(tracer).is_some());
    if names(defaults) {
        return Some("`defaultConfig.tracing`".to_owned());
    }
    let mut workloads = cx.mesh.workloads(cx.filter);
    let one = workloads.find(|one| one.annotations.get(ANNOTATION).is_some_and(|text| names(&settings_of(text))))?;
    Some(format!(
        "the annotation `{ANNOTATION}` of {} {}",
        one.object.kind,
        one.object.namespace.clone() + "/" + &one.object.name
    ))
}

/// Whether istiod knows the service of a provider.
fn is_known(cx: &Cx<'_>, mesh: &Json, name: &str) -> bool {
    let service = || {
        let provider = mesh["extensionProviders"].as_array()?.iter().find(|one| one["name"] == name)?;
        let host = provider.as_object()?.values().find_map(|value| value.get("service")?.as_str())?;
        let host = host.rsplit_once('/').map_or(host, |(_, host)| host);
        cx.mesh.namespace_of_host(host)
    };
    service().is_some()
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
