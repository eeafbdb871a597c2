//! Values merged into routes and virtual hosts, as rules of a VirtualService.

pub(in crate::migrate) mod retries;

use crate::engine::matching;
use crate::migrate::base::catalog::{self, Pattern};
use crate::migrate::base::filters;
use crate::migrate::base::nearest;
use crate::migrate::base::step::{Cx, Move, Part};
use crate::migrate::base::value::{Fields, any_type, left, percentage, refused};
use crate::migrate::base::verdict::{Difference, Kind};
use crate::migrate::proofs::forms::{is_internal, reads_headers};
use crate::model::envoy_filter::ApplyTo;
use crate::model::release::Release;
use crate::proto::decode::parse_go_duration;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeSet;

const CORS_POLICY: &str = "envoy.extensions.filters.http.cors.v3.CorsPolicy";
const FAULT: &str = "envoy.extensions.filters.http.fault.v3.HTTPFault";

/// What a patch sets on routes.
#[derive(Debug)]
pub(in crate::migrate) struct Setting {
    /// The pattern.
    pub pattern: &'static Pattern,
    /// The field of a VirtualService's rule.
    pub field: &'static str,
    /// The first minor release that reads it, 0 for all.
    pub since: u16,
    /// What to merge into the rule; `timeout: null` removes its timeout.
    pub value: Json,
    /// Differences that the setting always has.
    pub differences: Vec<Difference>,
    /// Whether it applies only to rules that route.
    pub needs_route: bool,
    /// Whether the filter sets it on the virtual host or table.
    pub at_host: bool,
    /// The effect of that move.
    pub moved: &'static str,
    /// Fields without a native equivalent.
    pub rest: Option<Json>,
    /// The fields of retries that the patch leaves to the mesh or to istiod, as `attempts`.
    pub left_to_mesh: Vec<&'static str>,
    /// Those of them of which the patch itself says nothing: retries that a rule already has keep theirs.
    pub fills: Vec<&'static str>,
    /// What to know about the rule.
    pub notes: Vec<String>,
    /// Whether it is the policy of a second CORS filter.
    pub second_cors: bool,
    /// Whether every rule that it changes has retries of its own: MERGE keeps what the patch leaves of those, not of the mesh's.
    pub beside_retries: bool,
}

impl Setting {
    /// The move of a patch with this setting, as far as it depends on nothing else.
    pub(in crate::migrate) fn start(&self) -> Move {
        Move {
            differences: self.differences.clone(),
            rest: self.rest.clone(),
            notes: self.notes.clone(),
            fills: self.fills.clone(),
            ..Move::new(self.pattern)
        }
    }
}

/// A refusal: the pattern and why.
type Refused = (&'static Pattern, String);

/// Reads a value; CORS filters that the same EnvoyFilter inserts count as istiod's.
pub(in crate::migrate) fn settings(cx: &Cx<'_>, part: &Part<'_>, own_cors: &[String]) -> Result<Setting, Refused> {
    read(cx, part, own_cors, false)
}

/// The same setting for these rules of VirtualServices, which may all have retries of their own.
pub(in crate::migrate) fn among<'r>(
    cx: &Cx<'_>,
    part: &Part<'_>,
    own_cors: &[String],
    setting: Setting,
    rules: impl IntoIterator<Item = &'r Json>,
) -> Setting {
    let mut rules = rules.into_iter().peekable();
    let retries = setting.value.get("retries").is_some() && rules.peek().is_some();
    if !retries || !rules.all(|rule| rule.get("retries").is_some()) {
        return setting;
    }
    read(cx, part, own_cors, true).unwrap_or(setting)
}

fn read(cx: &Cx<'_>, part: &Part<'_>, own_cors: &[String], beside_retries: bool) -> Result<Setting, Refused> {
    let mut value = part.value.clone();
    value.skip("name");
    let at_host = part.apply_to() != ApplyTo::HttpRoute;
    let mut found = Setting {
        pattern: &catalog::OTHER,
        field: "http",
        since: 0,
        value: json!({}),
        differences: Vec::new(),
        needs_route: false,
        at_host,
        moved: "it moves from the virtual host (or the whole table) to its routes: the same for every request that matches a route",
        rest: None,
        left_to_mesh: Vec::new(),
        fills: Vec::new(),
        notes: Vec::new(),
        second_cors: false,
        beside_retries,
    };
    headers(&mut value, &mut found)?;
    timeouts(&mut value, &mut found);
    retries::read(cx, &mut value, &mut found)?;
    rewrite(&mut value, &mut found);
    mirrors(&mut value, cx.to, &mut found)?;
    per_filter(&mut value, &mut found, own_cors)?;
    let mut first = cx.names.users(filters::CORS, cx.index, part.built.patch.context).filter(|user| !user.inserts);
    if found.second_cors && first.next().is_some() {
        let effect =
            "a patch also sets a policy of istiod's CORS filter: today both filters decide, then one policy does";
        differ(&mut found, Kind::Behavior, effect);
    }
    for path in ["cors", "route/cors"] {
        if let Some(policy) = value.sub(path) {
            cors(policy, &mut found)?;
            differ(
                &mut found,
                Kind::Metadata,
                "the policy is in `typed_per_filter_config` instead of the deprecated field `cors`; Envoy reads both the same way",
            );
        }
    }
    if found.pattern == &catalog::OTHER {
        return Err(homeless(part, &value));
    }
    if let Some(reason) = refused(&found.value) {
        return Err((found.pattern, reason));
    }
    if !value.is_empty() {
        found.rest = Some(value.0);
    }
    Ok(found)
}

fn homeless(part: &Part<'_>, value: &Fields) -> Refused {
    if value.peek("rate_limits").is_some() || value.peek("route/rate_limits").is_some() {
        return (
            &catalog::VHOST_RATE_LIMITS,
            "rate limit actions belong to the rate limit filter, which has no native API: keep both".to_owned(),
        );
    }
    if let Some(configs) = value.peek("typed_per_filter_config").and_then(Json::as_object) {
        let names: Vec<&str> = configs.keys().map(String::as_str).collect();
        return (
            &catalog::PER_FILTER_CONFIG,
            format!("only HTTP filter {} reads these settings: they stay as long as it stays", names.join(" or ")),
        );
    }
    if value.peek("route/weighted_clusters").is_some() {
        return (
            &catalog::OTHER,
            "MERGE adds a destination to `weighted_clusters` and changes none, so that there is nothing to write: set headers of a destination in the route object"
                .to_owned(),
        );
    }
    if value.peek("route/cluster").is_some() {
        return (
            &catalog::ROUTE_DESTINATION,
            "MERGE changes the cluster of a route and keeps what istiod derived from its old destination (headers, hash policy, retries): change `route` of the rule by hand"
                .to_owned(),
        );
    }
    if value.peek("direct_response").is_some() {
        return (
            &catalog::DIRECT_RESPONSE,
            "MERGE turns a route into a direct response: change the rule by hand, from `route` to `directResponse`"
                .to_owned(),
        );
    }
    if value.peek("route/idle_timeout").is_some() {
        return (&catalog::ROUTE_TIMEOUT, nearest::ROUTE_IDLE.to_owned());
    }
    let _ = part;
    (&catalog::OTHER, nearest::without_field(value))
}

fn differ(found: &mut Setting, kind: Kind, effect: &str) {
    found.differences.push(Difference::new(kind, effect));
}

/// Reads headers that are added and removed.
pub(in crate::migrate) fn headers(value: &mut Fields, found: &mut Setting) -> Result<(), Refused> {
    let mut native = Map::new();
    for direction in ["request", "response"] {
        let mut one = Map::new();
        let (mut set, mut add) = (Map::new(), Map::new());
        let mut order: Vec<(bool, String)> = Vec::new();
        let (mut names, mut reads) = (BTreeSet::new(), false);
        for mut option in value.list(&format!("{direction}_headers_to_add")) {
            let name = option.text("header/key");
            let text = option.text("header/value").unwrap_or_default();
            let action = option.text("append_action");
            let append = option.flag("append");
            let refused = |why: &str| (&catalog::ROUTE_HEADERS, why.to_owned());
            if !option.is_empty() {
                return Err(refused(&left("`headers` of a VirtualService", [&option])));
            }
            let Some(name) = name else { return Err(refused("a header without a name (`header.key`)")) };
            if direction == "request" && matches!(name.to_ascii_lowercase().as_str(), "host" | ":authority") {
                return Err(refused(
                    "a VirtualService that sets the host rewrites it before routing to the service; the filter does not",
                ));
            }
            if is_internal(&name) {
                return Err(refused(&format!("istiod ignores the header {name} in a VirtualService")));
            }
            if !names.insert(name.to_ascii_lowercase()) {
                return Err(refused(&format!(
                    "`headers` of a VirtualService has one value for a header; the patch adds {name} twice"
                )));
            }
            reads |= reads_headers(&text);
            if append.is_some() && action.is_none() {
                differ(found, Kind::Metadata, "the deprecated `append` is written as `append_action`");
            }
            let overwrite = match (action.as_deref(), append) {
                (Some("OVERWRITE_IF_EXISTS_OR_ADD"), _) => true,
                (None, Some(false)) => true,
                (None | Some("APPEND_IF_EXISTS_OR_ADD"), _) => false,
                (Some(other), _) => {
                    return Err(refused(&format!(
                        "`headers` of a VirtualService sets a header always or adds to it, and has no {other}"
                    )));
                }
            };
            order.push((overwrite, name.clone()));
            let into = if overwrite { &mut set } else { &mut add };
            into.insert(name, text.into());
        }
        let mixed = order.iter().any(|(overwrite, _)| *overwrite != order[0].0);
        if mixed || !order.is_sorted() {
            differ(found, Kind::Position, "the headers are set in a different order");
            if reads {
                differ(
                    found,
                    Kind::Behavior,
                    "a value reads headers (`%REQ(…)%`, `%RESP(…)%`), and in a different order it may read different values",
                );
            }
        }
        if !set.is_empty() {
            one.insert("set".to_owned(), Json::Object(set));
        }
        if !add.is_empty() {
            one.insert("add".to_owned(), Json::Object(add));
        }
        let remove = value.texts(&format!("{direction}_headers_to_remove"));
        if let Some(name) = remove.iter().find(|name| is_internal(name)) {
            return Err((&catalog::ROUTE_HEADERS, format!("istiod ignores the header {name} in a VirtualService")));
        }
        if !remove.is_empty() {
            one.insert("remove".to_owned(), remove.into());
        }
        if !one.is_empty() {
            native.insert(direction.to_owned(), Json::Object(one));
        }
    }
    if !native.is_empty() {
        found.pattern = &catalog::ROUTE_HEADERS;
        found.field = "http.headers";
        found.value["headers"] = Json::Object(native);
    }
    Ok(())
}

fn timeouts(value: &mut Fields, found: &mut Setting) {
    let Some(timeout) = value.text("route/timeout") else { return };
    found.pattern = &catalog::ROUTE_TIMEOUT;
    found.field = "http.timeout";
    found.needs_route = true;
    if parse_go_duration(&timeout) == Some(0) {
        // The rule loses its timeout, see `no_timeout`.
        found.value["timeout"] = Json::Null;
        return;
    }
    found.value["timeout"] = timeout.into();
    differ(
        found,
        Kind::Behavior,
        "the limit for a grpc-timeout header follows the timeout; the filter leaves that limit as it is",
    );
}

fn rewrite(value: &mut Fields, found: &mut Setting) {
    let mut native = Map::new();
    if let Some(host) = value.text("route/host_rewrite_literal") {
        native.insert("authority".to_owned(), host.into());
    }
    if let Some(prefix) = value.text("route/prefix_rewrite") {
        native.insert("uri".to_owned(), prefix.into());
    }
    let regex = value.peek("route/regex_rewrite/pattern/regex").and_then(Json::as_str).map(str::to_owned);
    if let Some(regex) = regex.filter(|_| !native.contains_key("uri")) {
        let substitution = value.text("route/regex_rewrite/substitution").unwrap_or_default();
        native.insert("uriRegexRewrite".to_owned(), json!({ "match": regex, "rewrite": substitution }));
        value.skip("route/regex_rewrite");
    }
    if native.is_empty() {
        return;
    }
    found.pattern = &catalog::ROUTE_REWRITE;
    found.field = "http.rewrite";
    found.needs_route = true;
    found.value["rewrite"] = Json::Object(native);
}

fn mirrors(value: &mut Fields, to: Release, found: &mut Setting) -> Result<(), Refused> {
    let refused = |why: String| (&catalog::ROUTE_MIRROR, why);
    // `PILOT_DISABLE_SHADOW_HOST_SUFFIX` is on by default from Istio 1.28.
    let keeps_host = to >= Release::minor(28);
    let mut native = Vec::new();
    for mut policy in value.list("route/request_mirror_policies") {
        let cluster = policy.text("cluster").unwrap_or_default();
        let key = matching::parse_subset_key(&cluster);
        if !cluster.contains('|') || key.direction != "outbound" || key.port == 0 {
            return Err(refused(format!("the mirror names cluster {cluster}, which is not that of a service")));
        }
        let mut one = json!({ "destination": { "host": key.host, "port": { "number": key.port } } });
        if !key.subset.is_empty() {
            one["destination"]["subset"] = key.subset.into();
        }
        match policy.sub("runtime_fraction/default_value") {
            Some(fraction) => {
                let mut whole = Fields(json!({ "percentage": fraction.0 }));
                let percent = percentage(&mut whole).filter(|percent| percent.as_f64() > Some(0.0));
                let percent = percent.ok_or_else(|| refused("`mirrors.percentage` of a VirtualService is above 0 and at most 100; the share of mirrored requests is not".to_owned()))?;
                one["percentage"] = json!({ "value": percent });
                differ(found, Kind::Metadata, "the same percentage, written in millionths");
            }
            None => differ(found, Kind::Metadata, "the share of mirrored requests, all of them, is written out"),
        }
        if policy.flag("trace_sampled") != Some(false) {
            differ(
                found,
                Kind::Behavior,
                "mirrored requests are never traced; with the filter they are traced like the original request",
            );
        }
        let keeps = policy.flag("disable_shadow_host_suffix_append") == Some(true);
        if keeps != keeps_host {
            let effect = if keeps {
                "`-shadow` is appended to the host of mirrored requests"
            } else {
                "mirrored requests keep their host; with the filter `-shadow` is appended to it"
            };
            differ(found, Kind::Behavior, effect);
        }
        if !policy.is_empty() {
            return Err(refused(left("`mirrors` of a VirtualService", [&policy])));
        }
        native.push(one);
    }
    if native.is_empty() {
        return Ok(());
    }
    found.pattern = &catalog::ROUTE_MIRROR;
    found.field = "http.mirrors";
    found.needs_route = true;
    found.value["mirrors"] = native.into();
    Ok(())
}

fn per_filter(value: &mut Fields, found: &mut Setting, own_cors: &[String]) -> Result<(), Refused> {
    let Some(Json::Object(configs)) = value.peek("typed_per_filter_config").cloned() else { return Ok(()) };
    for (name, config) in configs {
        let path = |fields: &mut Fields| {
            if let Some(map) = fields.0.get_mut("typed_per_filter_config").and_then(Json::as_object_mut) {
                map.shift_remove(&name);
                if map.is_empty() {
                    fields.skip("typed_per_filter_config");
                }
            }
        };
        let mut fields = Fields(config.clone());
        fields.skip("@type");
        match any_type(&config) {
            CORS_POLICY if name == filters::CORS || own_cors.contains(&name) => {
                cors(fields, found)?;
                found.second_cors |= name != filters::CORS;
                path(value);
            }
            FAULT if name == "envoy.filters.http.fault" => {
                fault(fields, found)?;
                path(value);
            }
            _ => {}
        }
    }
    Ok(())
}

fn split(text: &str) -> Vec<String> {
    text.split(',').map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

const ORIGINS: &str = "`allowOrigins` of a VirtualService";

fn cors(mut policy: Fields, found: &mut Setting) -> Result<(), Refused> {
    let refused = |why: String| (&catalog::CORS, why);
    let mut native = Map::new();
    let mut origins = Vec::new();
    for mut origin in policy.list("allow_origin_string_match") {
        let one = if let Some(text) = origin.text("exact") {
            json!({ "exact": text })
        } else if let Some(text) = origin.text("prefix") {
            json!({ "prefix": text })
        } else if let Some(text) = origin.text("safe_regex/regex") {
            if origin.peek("safe_regex").is_some() {
                differ(found, Kind::Metadata, "`google_re2`, the only engine, is not written");
            }
            origin.skip("safe_regex");
            json!({ "regex": text })
        } else {
            return Err(refused(left(ORIGINS, [&origin])));
        };
        if !origin.is_empty() {
            return Err(refused(left(ORIGINS, [&origin])));
        }
        origins.push(one);
    }
    if !origins.is_empty() {
        native.insert("allowOrigins".to_owned(), origins.into());
    }
    for (from, to) in
        [("allow_methods", "allowMethods"), ("allow_headers", "allowHeaders"), ("expose_headers", "exposeHeaders")]
    {
        if let Some(text) = policy.text(from) {
            let items = split(&text);
            if items.join(",") != text {
                differ(
                    found,
                    Kind::Behavior,
                    "a list of the CORS policy is written without spaces and empty items; browsers read both forms as the same list",
                );
            }
            native.insert(to.to_owned(), items.into());
        }
    }
    if let Some(age) = policy.text("max_age") {
        let seconds: u64 = age.parse().map_err(|_| refused(format!("max_age {age} is not a number of seconds")))?;
        native.insert("maxAge".to_owned(), format!("{seconds}s").into());
    }
    if let Some(flag) = policy.flag("allow_credentials") {
        native.insert("allowCredentials".to_owned(), flag.into());
    }
    if let Some(forward) = policy.flag("forward_not_matching_preflights") {
        native.insert("unmatchedPreflights".to_owned(), if forward { "FORWARD" } else { "IGNORE" }.into());
        found.since = found.since.max(23);
    }
    if !policy.is_empty() {
        return Err(refused(left("`corsPolicy` of a VirtualService", [&policy])));
    }
    if !found.at_host {
        differ(found, Kind::Metadata, "defaults of the policy are written out");
    }
    found.pattern = &catalog::CORS;
    found.field = "http.corsPolicy";
    found.moved = "the CORS policy moves from the virtual host (or the whole table) to its routes: the same for every \
         request that matches a route";
    found.value["corsPolicy"] = Json::Object(native);
    Ok(())
}

fn fault(mut config: Fields, found: &mut Setting) -> Result<(), Refused> {
    let refused = |of: &Fields| {
        let why = if of.is_empty() {
            "`fault` of a VirtualService delays by a fixed time (`fixed_delay`) or aborts with an HTTP status (`http_status`), for at most 100 % of the requests; this fault does not".to_owned()
        } else {
            left("`fault` of a VirtualService", [of])
        };
        (&catalog::FAULT, why)
    };
    let mut native = Map::new();
    if let Some(mut delay) = config.sub("delay") {
        let time = delay.text("fixed_delay").ok_or_else(|| refused(&delay))?;
        let share = percentage(&mut delay).ok_or_else(|| refused(&delay))?;
        if !delay.is_empty() {
            return Err(refused(&delay));
        }
        native.insert("delay".to_owned(), json!({ "fixedDelay": time, "percentage": { "value": share } }));
    }
    if let Some(mut abort) = config.sub("abort") {
        let status = abort.number("http_status").ok_or_else(|| refused(&abort))?;
        let share = percentage(&mut abort).ok_or_else(|| refused(&abort))?;
        if !abort.is_empty() {
            return Err(refused(&abort));
        }
        native.insert("abort".to_owned(), json!({ "httpStatus": status, "percentage": { "value": share } }));
    }
    if native.is_empty() || !config.is_empty() {
        return Err(refused(&config));
    }
    found.pattern = &catalog::FAULT;
    found.field = "http.fault";
    found.moved = "the fault moves from the virtual host (or the whole table) to its routes";
    differ(found, Kind::Metadata, "the same percentage, written in millionths");
    found.value["fault"] = Json::Object(native);
    Ok(())
}
