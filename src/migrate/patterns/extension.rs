//! Lua and Wasm HTTP filters: TrafficExtension and WasmPlugin.

use super::telemetry;
use crate::lua::{self, Token};
use crate::migrate::base::catalog::{self, Pattern};
use crate::migrate::base::filters::{self, CORS, ROUTER};
use crate::migrate::base::reach::anchor;
use crate::migrate::base::step::{Cx, Move, Part, has, too_old};
use crate::migrate::base::value::{Fields, any_type, left, set_at};
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::guards::attach::{self, Directions};
use crate::migrate::guards::chain::{Chains, Insert, Phase, foreign};
use crate::migrate::objects::mesh::Proxies;
use crate::migrate::objects::policy;
use crate::migrate::output::draft::{Action, object};
use crate::migrate::output::roll_out::REJECTED;
use crate::model::envoy_filter::{ApplyTo, Operation};
use crate::source::ErrorMessage;
use serde_json::{Map, Value as Json, json};

const LUA: &str = "envoy.extensions.filters.http.lua.v3.Lua";
const WASM: &str = "envoy.extensions.filters.http.wasm.v3.Wasm";
const STRING: &str = "google.protobuf.StringValue";

/// Maximum length of code in a TrafficExtension, in bytes (API of Istio 1.30).
const MAX_CODE: usize = 65536;

/// The only difference of most moves that change a name.
pub(in crate::migrate) const RENAMED: &str = "the filter has a different name: anchors (INSERT_BEFORE, INSERT_AFTER) and `typed_per_filter_config` keys that use the old name no longer find it";

/// Replaces the reference to a discovered filter by its configuration, if both are in this EnvoyFilter.
pub(in crate::migrate) fn join_discovered(parts: &mut [Part<'_>]) -> Vec<(usize, usize)> {
    let mut joined = Vec::new();
    for at in 0..parts.len() {
        if parts[at].apply_to() != ApplyTo::HttpFilter || parts[at].value.peek("config_discovery").is_none() {
            continue;
        }
        let name = parts[at].value.peek("name").cloned();
        let config = (0..parts.len()).find(|&other| {
            let part = &parts[other];
            part.apply_to() == ApplyTo::ExtensionConfig
                && part.operation() == Operation::Add
                && name.is_some()
                && part.value.peek("name") == name.as_ref()
        });
        let Some(config) = config else { continue };
        let Some(content) = parts[config].value.peek("typed_config").cloned() else { continue };
        parts[at].value.skip("config_discovery");
        set_at(&mut parts[at].value.0, "typed_config", content);
        joined.push((at, config));
    }
    joined
}

/// Finds inserted Lua and Wasm filters.
pub(in crate::migrate) fn find(cx: &Cx<'_>, parts: &mut [Part<'_>]) {
    let joined = join_discovered(parts);
    let some = parts.iter().any(|part| matches!(part.config_type(), LUA | WASM));
    let places = if some { Places::of(cx, parts) } else { Places::default() };
    for at in 0..parts.len() {
        let part = &parts[at];
        if part.found.is_some() || part.apply_to() != ApplyTo::HttpFilter || !part.inserts() {
            continue;
        }
        let discovered = joined.iter().find(|(filter, _)| *filter == at);
        let found = match part.config_type() {
            LUA => of_lua(cx, part, &places, discovered.is_some()),
            WASM => wasm(cx, part, &places, discovered.is_some()),
            _ => continue,
        };
        if let Some((_, config)) = discovered {
            let leader = parts[at].built.patch.index;
            parts[*config].answer(found.shared(leader));
        }
        parts[at].answer(found);
    }
    for part in parts.iter_mut().filter(|part| part.found.is_none()) {
        if part.apply_to() == ApplyTo::ExtensionConfig {
            part.answer(Move::none(
                &catalog::ECDS,
                "no patch of this EnvoyFilter adds the HTTP filter that refers to this configuration",
            ));
        }
    }
}

/// Where the patches of a filter insert HTTP filters.
#[derive(Default)]
struct Places {
    chains: Chains,
    /// A CUSTOM policy for the same proxies, if some filter may be before the one that it adds.
    custom: Option<String>,
}

impl Places {
    fn of(cx: &Cx<'_>, parts: &[Part<'_>]) -> Places {
        let own: Vec<Insert<'_>> = parts.iter().filter_map(|part| Insert::of(cx.index, part.built)).collect();
        let early = own.iter().any(Insert::is_early);
        let custom = if early { policy::existing(cx, "CUSTOM") } else { Vec::new() };
        let custom = custom.first().map(|one| format!("AuthorizationPolicy {}/{}", one.namespace, one.name));
        let mut all = foreign(&own, cx.names);
        all.extend(own);
        Places { chains: Chains::of(&all, custom.is_some()), custom }
    }
}

/// The position of the native filter.
fn place(cx: &Cx<'_>, part: &Part<'_>, places: &Places, found: &mut Move, spec: &mut Map<String, Json>) {
    crate::migrate::guards::anchor::check(cx, part, found);
    let anchor = anchor(&part.built.object).filter(|name| !name.is_empty());
    if part.operation() == Operation::Add || (part.operation(), anchor) == (Operation::InsertAfter, None) {
        let at_the_end = "the patch puts the filter after the router, where no request reaches it and Envoy rejects the chain; the native object runs";
        found.difference(Kind::Behavior, at_the_end);
        found.meanwhile = vec![REJECTED];
        return;
    }
    let slot = places.chains.slot((cx.index, part.built.patch.index));
    let phase = slot.map_or(Phase::Rest, |slot| slot.phase);
    if let Some(name) = phase.name() {
        spec.insert("phase".to_owned(), name.into());
    }
    if slot.is_some_and(|slot| slot.before_custom)
        && let Some(policy) = &places.custom
    {
        let effect = format!(
            "runs after the external authorization of {policy}, not before it: the authorizer sees requests as they arrive, and those that it refuses no longer reach the filter"
        );
        found.difference(Kind::Position, effect);
        let reason = format!("{policy} decides before the native filter runs: review what the filter changes for it");
        found.guard(Concern::Authorization, State::Review, reason);
    }
    let rest = |to: &str| {
        format!("runs after metadata_exchange, jwt_authn and rbac and before grpc_stats, alpn, fault and cors, {to}")
    };
    let effect = match (phase, anchor) {
        (Phase::Authn, _) if slot.is_some_and(|slot| slot.before_exchange) => {
            "runs right after metadata_exchange, not before it".to_owned()
        }
        (Phase::Authn | Phase::Authz, _) => return,
        (Phase::Rest, Some(filters::RBAC)) if part.reach.proxies != Proxies::Waypoint => return,
        (Phase::Rest, _) if part.reach.proxies == Proxies::Waypoint => {
            "runs after cors and before the waypoint's peer metadata filters, which see the headers it changes"
                .to_owned()
        }
        (Phase::Rest, Some(ROUTER)) => {
            rest("not right before the router: CORS preflights and requests that an injected fault ends also reach it")
        }
        (Phase::Rest, Some(anchor)) if behind_cors(part.operation(), anchor) => rest(&format!(
            "not next to {anchor}: CORS preflights and requests that an injected fault ends also reach it"
        )),
        (Phase::Rest, anchor) => rest(&format!("not next to {}", anchor.unwrap_or("its anchor"))),
    };
    found.difference(Kind::Position, effect);
}

/// Whether an anchor puts a filter behind istiod's CORS filter.
fn behind_cors(operation: Operation, anchor: &str) -> bool {
    matches!(anchor, ROUTER | "istio.stats") || anchor == CORS && operation == Operation::InsertAfter
}

/// Whether code names a method, as `handle:name()` or `handle["name"]`.
fn names(code: &str, method: &str) -> bool {
    let tokens = lua::tokens(code);
    let keyed = |at: usize| at.checked_sub(1).is_some_and(|before| tokens[before].1 == Token::Sign("["));
    tokens.iter().enumerate().any(|(at, (_, token))| match token {
        Token::Name(name) => *name == method,
        Token::Text(name) => *name == method && keyed(at),
        _ => false,
    })
}

/// Code that answers requests itself does so before the CORS filter instead of behind it.
fn answers(cx: &Cx<'_>, part: &Part<'_>, code: &str, spec: &Map<String, Json>, found: &mut Move) {
    let behind = anchor(&part.built.object).is_some_and(|anchor| behind_cors(part.operation(), anchor));
    let answers = || names(code, "respond");
    if !behind || spec.contains_key("phase") || part.reach.proxies == Proxies::Waypoint || !answers() {
        return;
    }
    let kind = if cx.mesh.index.has_cors() { Kind::Behavior } else { Kind::Position };
    found.difference(
        kind,
        "on a route with a CORS policy, replies of the code (`respond`) no longer get its headers, and the code may refuse preflights, which the CORS filter used to answer",
    );
}

fn of_lua(cx: &Cx<'_>, part: &Part<'_>, places: &Places, discovered: bool) -> Move {
    let mut value = part.value.clone();
    value.skip("name");
    let Some(mut config) = value.typed("typed_config", LUA) else {
        return Move::none(&catalog::LUA, "the configuration cannot be read");
    };
    let code = config.text("inline_code").or_else(|| config.text("default_source_code/inline_string"));
    let Some(code) = code.filter(|code| !code.is_empty()) else {
        return Move::none(&catalog::LUA, "a TrafficExtension takes inline code only");
    };
    if code.len() > MAX_CODE {
        return Move::none(&catalog::LUA, "a TrafficExtension takes at most 64 KiB of code");
    }
    if let Err(error) = lua::parse(&code) {
        let line = code.get(..error.at).unwrap_or(&code).matches('\n').count() + 1;
        let reason = format!(
            "the code does not compile (line {line}: {}): Envoy rejects a listener with it, from an EnvoyFilter and from a TrafficExtension. Correct it first, or delete the filter",
            error.message
        );
        return Move::none(&catalog::LUA, reason);
    }
    let prefix = config.text("stat_prefix").is_some();
    if !config.is_empty() || !value.is_empty() {
        return Move::none(&catalog::LUA, left("a TrafficExtension", [&config, &value]));
    }
    if !has(cx, 30) {
        return too_old(&catalog::LUA, cx, "TrafficExtension", 30);
    }
    let mut found = Move::new(&catalog::LUA).home("TrafficExtension", "lua.inlineCode", 30);
    if prefix {
        found.difference(Kind::Metadata, "the prefix of statistics differs: `stat_prefix` has no native field");
    }
    if discovered {
        found.difference(Kind::Metadata, "the code is part of the listener instead of discovered (ECDS)");
    }
    found.instead = super::headers::of_lua(&code, !cx.filter.target_refs.is_empty());
    if part.value.peek("typed_config/inline_code").is_some() {
        found
            .difference(Kind::Metadata, "the code is in `default_source_code` instead of the deprecated `inline_code`");
    }
    // Envoy looks for the route's metadata under the name of the filter, then under that of the extension.
    let own = part.value.peek("name").and_then(Json::as_str).filter(|name| *name != "envoy.filters.http.lua");
    if let Some(own) = own
        && names(&code, "metadata")
    {
        found.difference(
            Kind::Behavior,
            format!("`metadata()` reads the metadata of the route under the filter's name, `{own}`, which changes"),
        );
    }
    attach::check(cx, part, &mut found, Directions::Mode);
    found.difference(Kind::Name, RENAMED);
    let mut spec = attach::traffic(cx, part, &mut found);
    place(cx, part, places, &mut found, &mut spec);
    answers(cx, part, &code, &spec, &mut found);
    spec.insert("lua".to_owned(), json!({ "inlineCode": code }));
    found.actions.push(Action::Object(object("extensions.istio.io/v1alpha1", "TrafficExtension", cx.filter, spec)));
    found
}

fn wasm(cx: &Cx<'_>, part: &Part<'_>, places: &Places, discovered: bool) -> Move {
    let pattern: &'static Pattern = if discovered { &catalog::ECDS } else { &catalog::WASM };
    let mut value = part.value.clone();
    value.skip("name");
    let Some(mut outer) = value.typed("typed_config", WASM) else {
        return Move::none(pattern, "the configuration cannot be read");
    };
    let Some(mut config) = outer.sub("config") else { return Move::none(pattern, "the plugin has no configuration") };
    if config.peek("vm_config/runtime").and_then(Json::as_str) == Some("envoy.wasm.runtime.null") {
        return telemetry::null_vm(cx, part, &config);
    }
    let mut found = Move::new(pattern).home("WasmPlugin", "url", 0);
    attach::check(cx, part, &mut found, Directions::Mode);
    found.difference(Kind::Name, RENAMED);
    let mut spec = attach::traffic(cx, part, &mut found);
    place(cx, part, places, &mut found, &mut spec);
    if !discovered {
        found.difference(
            Kind::Metadata,
            "the configuration is discovered (ECDS): the agent fetches the module, and listeners are not rebuilt when it changes",
        );
    }
    match plugin(&mut config, &mut found, &mut spec) {
        Ok(()) if config.is_empty() && outer.is_empty() && value.is_empty() => {}
        Ok(()) => return Move::none(pattern, left("a WasmPlugin", [&config, &outer])),
        Err(reason) => return Move::none(pattern, reason),
    }
    found.actions.push(Action::Object(object("extensions.istio.io/v1alpha1", "WasmPlugin", cx.filter, spec)));
    found
}

/// Module, settings and failure policy of a plugin (istiod `pilot/pkg/model/extensions.go`, 1.31).
fn plugin(config: &mut Fields, found: &mut Move, spec: &mut Map<String, Json>) -> Result<(), ErrorMessage> {
    let mut vm = config.sub("vm_config").ok_or("the plugin names no module")?;
    match vm.text("runtime").as_deref() {
        None | Some("envoy.wasm.runtime.v8") => {}
        Some(other) => return Err(format!("istiod always uses the V8 runtime, not {other}").into()),
    }
    if let Some(mut remote) = vm.sub("code/remote") {
        let url = remote.text("http_uri/uri").ok_or("the module has no URL")?;
        spec.insert("url".to_owned(), url.into());
        if let Some(sha) = remote.text("sha256") {
            spec.insert("sha256".to_owned(), sha.into());
        }
        if remote.text("http_uri/timeout").is_none_or(|timeout| timeout != "30s") {
            found.difference(
                Kind::Behavior,
                "the download times out after 30 s (the agent's limit) instead of the filter's",
            );
        }
        remote.skip("http_uri/cluster");
        found.difference(
            Kind::Metadata,
            "the agent of the pod downloads the module; the filter's cluster is no longer needed for it",
        );
        if remote.take("retry_policy").is_some() {
            found.difference(Kind::Behavior, "the agent retries the download of the module by its own rules; the filter's retry policy no longer applies");
        }
        if !remote.is_empty() {
            return Err(left("a WasmPlugin", [&remote]).into());
        }
    } else if let Some(file) = vm.text("code/local/filename") {
        spec.insert("url".to_owned(), format!("file://{file}").into());
    } else {
        return Err("a WasmPlugin takes a URL or a file, not code inside the filter".into());
    }
    if vm.text("vm_id").is_some() {
        found.difference(
            Kind::Behavior,
            "no `vm_id`: plugins that shared a VM by its id no longer share data or queues",
        );
    }
    let mut env = Vec::new();
    if let Some(Json::Object(pairs)) = vm.take("environment_variables/key_values") {
        env.extend(pairs.into_iter().map(|(name, value)| json!({ "name": name, "value": value })));
    }
    for name in vm.texts("environment_variables/host_env_keys") {
        env.push(json!({ "name": name, "valueFrom": "HOST" }));
    }
    if !vm.is_empty() {
        return Err(left("a WasmPlugin", [&vm]).into());
    }
    config.skip("name");
    let failure = config.text("failure_policy");
    let open = config.flag("fail_open") == Some(true);
    match failure.as_deref() {
        Some("FAIL_OPEN") => drop(spec.insert("failStrategy".to_owned(), "FAIL_OPEN".into())),
        None if open => drop(spec.insert("failStrategy".to_owned(), "FAIL_OPEN".into())),
        Some("FAIL_RELOAD") => drop(spec.insert("failStrategy".to_owned(), "FAIL_RELOAD".into())),
        Some("FAIL_CLOSED") => {}
        _ => found.difference(Kind::Metadata, "the default (fails closed) is written out"),
    }
    if let Some(root) = config.text("root_id") {
        spec.insert("pluginName".to_owned(), root.into());
    }
    match config.take("configuration") {
        None => found.difference(Kind::Metadata, "an empty configuration is written out"),
        Some(settings) => {
            spec.insert("pluginConfig".to_owned(), plugin_config(&settings)?);
            found.difference(Kind::Metadata, "the same JSON with different whitespace");
        }
    }
    if !env.is_empty() {
        spec.insert("vmConfig".to_owned(), json!({ "env": env }));
    }
    found.difference(
        Kind::Metadata,
        "istiod adds the version of the object to the environment, so that the module restarts when the object changes",
    );
    Ok(())
}

/// The settings as an object: a WasmPlugin accepts no other JSON.
fn plugin_config(settings: &Json) -> Result<Json, ErrorMessage> {
    let text = match any_type(settings) {
        STRING => settings.get("value").and_then(Json::as_str).unwrap_or_default(),
        "google.protobuf.Struct" => {
            return settings
                .get("value")
                .filter(|value| value.is_object())
                .cloned()
                .ok_or_else(|| "empty settings".into());
        }
        other => return Err(format!("a WasmPlugin passes its settings as JSON, not as {other}").into()),
    };
    match serde_json::from_str::<Json>(text) {
        Ok(settings) if imprecise(&settings) => {
            Err("istiod reads numbers in the settings of a WasmPlugin as doubles: one of these has too many digits"
                .into())
        }
        Ok(Json::Object(map)) => Ok(Json::Object(map)),
        _ => Err("a WasmPlugin takes settings that are a JSON object; these are not".into()),
    }
}

/// Whether a number may not be exact as a double (`google.protobuf.Struct`).
fn imprecise(value: &Json) -> bool {
    /// 2^53: below it, every whole number is exact.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        Json::Number(number) => number.as_f64().is_none_or(|number| number.abs() >= EXACT),
        Json::Array(items) => items.iter().any(imprecise),
        Json::Object(map) => map.values().any(imprecise),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_a_double_cannot_hold_do_not_move() {
        let settings = |number: &str| json!({ "@type": format!("type.googleapis.com/{STRING}"), "value": format!("{{\"id\": [{number}]}}") });
        assert!(plugin_config(&settings("9007199254740991")).is_ok());
        assert!(plugin_config(&settings("-9007199254740993")).is_err());
        assert!(plugin_config(&settings("18446744073709551615")).is_err());
    }
}
