//! EF714: settings of a host's routes that a VirtualService has.

use crate::declare_rule;
use crate::lint::better::{self, Candidate, Parts, put};
use crate::lint::manifest::Instead;
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, ObjectMatch, Operation, PatchContext};
use crate::model::release::Release;
use serde_json::{Map, Value as Json, json};

declare_rule! {
    /// Settings merged into the routes of one host, which a VirtualService would set.
    ///
    /// # What it finds
    /// A MERGE into the routes or the virtual host of one named host whose every field has a place in a VirtualService.
    ///
    /// # Why it matters
    /// Route patches stop working on waypoints as soon as the service has a VirtualService, headers are appended at each
    /// merge, and virtual hosts with the same routes are collapsed into one, so that a patch may reach other hosts.
    ///
    /// # How to fix
    /// Put the settings shown into the VirtualService of the host.
    ///
    /// # References
    /// Istio: VirtualService HTTPRoute.
    "EF714" "route-settings-beside-virtual-service" Native Info => check
}

const CORS: &str = "envoy.extensions.filters.http.cors.v3.CorsPolicy";
const FAULT: &str = "envoy.extensions.filters.http.fault.v3.HTTPFault";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for apply_to in [ApplyTo::HttpRoute, ApplyTo::VirtualHost] {
        for candidate in better::candidates(cx, apply_to) {
            let Some((host, instead)) = instead(&candidate) else { continue };
            let mut finding = instead.finding(rule, &candidate.view, &["patch", "value"]);
            for service in cx.inventory.virtual_services.iter().filter(|service| service.hosts.contains(&host)) {
                let span = service.object.document.key_span(&["spec".into(), "hosts".into()]);
                let name = format!("{}/{}", service.object.namespace, service.object.name);
                finding = finding.related(span, format!("VirtualService {name} is for this host: put it there"));
            }
            out.push(finding);
        }
    }
}

fn instead(candidate: &Candidate<'_>) -> Option<(String, Instead)> {
    let filter = candidate.view.filter;
    let ObjectMatch::RouteConfiguration(route) = &candidate.view.patch.object else { return None };
    let vhost = route.vhost.as_ref()?;
    let gateway = match candidate.reach.context {
        PatchContext::SidecarOutbound => false,
        PatchContext::Gateway => true,
        _ => return None,
    };
    let (host, port) = vhost.name.rsplit_once(':')?;
    let port = port.parse::<u16>().ok()?;
    if candidate.operation != Operation::Merge || host.is_empty() || host == "*" || !vhost.domain_name.is_empty() {
        return None;
    }
    let settings = settings(candidate.parts.clone())?;
    let route = vhost.route.as_ref().filter(|_| candidate.view.patch.apply_to == ApplyTo::HttpRoute);
    let mut notes = Vec::new();
    if let Some(name) = route.map(|route| route.name.as_str()).filter(|name| !name.is_empty()) {
        notes.push(format!("the patch is for route {name} only: put it under that route"));
    }
    let (comment, manifest) = if gateway {
        // Where the gateway sends this host is known to its own VirtualService only.
        let comment = format!("in the VirtualService that serves {host} at the gateway, for its routes");
        (comment, json!({ "spec": { "http": [settings] } }))
    } else {
        let mut only = Map::from_iter([("port".to_owned(), Json::from(port))]);
        if let Some(labels) = filter.selector.as_ref().filter(|labels| !labels.is_empty()) {
            put(&mut only, "sourceLabels", json!(labels));
        }
        let mut http = Map::from_iter([("match".to_owned(), json!([only]))]);
        http.extend(settings);
        let destination = json!([{ "destination": { "host": host } }]);
        http.insert("route".to_owned(), destination.clone());
        // Other ports and clients keep what they had.
        let routes = json!([http, { "route": destination }]);
        let manifest = json!({
            "apiVersion": "networking.istio.io/v1",
            "kind": "VirtualService",
            "metadata": { "name": filter.name, "namespace": filter.namespace },
            "spec": { "hosts": [host], "exportTo": ["."], "http": routes },
        });
        (String::new(), manifest)
    };
    let instead = Instead {
        message: format!("a VirtualService for {host} can set this"),
        since: Release::OLDEST,
        manifests: vec![(comment, manifest)],
        notes,
    };
    Some((host.to_owned(), instead))
}

/// A route or virtual host as the settings of a VirtualService's HTTP route.
fn settings(mut parts: Parts<'_>) -> Option<Map<String, Json>> {
    let mut http = Map::new();
    for (from, to) in [
        ("route/timeout", "timeout"),
        ("route/host_rewrite_literal", "rewrite/authority"),
        ("route/prefix_rewrite", "rewrite/uri"),
    ] {
        if let Some(text) = parts.text(from) {
            put(&mut http, to, text);
        }
    }
    for path in ["route/retry_policy", "retry_policy"] {
        if let Some(mut retry) = parts.sub(path) {
            put(&mut http, "retries/attempts", retry.json("num_retries").unwrap_or(json!(1)));
            for (from, to) in [("per_try_timeout", "perTryTimeout"), ("retry_on", "retryOn")] {
                if let Some(text) = retry.text(from) {
                    put(&mut http, &format!("retries/{to}"), text);
                }
            }
            if !retry.done() {
                return None;
            }
        }
    }
    for side in ["request", "response"] {
        for mut header in parts.list(&format!("{side}_headers_to_add")) {
            let (key, value) = (header.text("header/key")?, header.text("header/value").unwrap_or_default());
            let action = header.text("append_action");
            let sets = match (action.as_deref(), header.flag("append")) {
                (Some("OVERWRITE_IF_EXISTS_OR_ADD"), _) | (None, Some(false)) => "set",
                (None | Some("APPEND_IF_EXISTS_OR_ADD"), _) => "add",
                _ => return None,
            };
            if !header.done() {
                return None;
            }
            let side_map = http.entry("headers").or_insert_with(|| json!({}));
            side_map[side][sets][key] = value.into();
        }
        if let Some(names) = parts.json(&format!("{side}_headers_to_remove")) {
            put(&mut http, &format!("headers/{side}/remove"), names);
        }
    }
    for path in ["route/cors", "cors"] {
        if let Some(policy) = parts.sub(path) {
            put(&mut http, "corsPolicy", cors(policy)?);
        }
    }
    if let Some(mut filters) = parts.sub("typed_per_filter_config") {
        let names: Vec<String> = filters.tree.entries().iter().map(|(name, _)| name.to_string()).collect();
        for name in names {
            if let Some(policy) = filters.clone().typed(&name, CORS) {
                put(&mut http, "corsPolicy", cors(policy)?);
            } else {
                put(&mut http, "fault", fault(filters.clone().typed(&name, FAULT)?)?);
            }
            filters.skip(&name);
        }
    }
    (parts.done() && !http.is_empty()).then_some(http)
}

fn cors(mut policy: Parts<'_>) -> Option<Json> {
    let mut map = Map::new();
    let mut origins = Vec::new();
    for mut origin in policy.list("allow_origin_string_match") {
        let one = if let Some(exact) = origin.text("exact") {
            json!({ "exact": exact })
        } else if let Some(prefix) = origin.text("prefix") {
            json!({ "prefix": prefix })
        } else {
            json!({ "regex": origin.text("safe_regex/regex")? })
        };
        origin.skip("safe_regex/google_re2");
        if !origin.done() {
            return None;
        }
        origins.push(one);
    }
    if !origins.is_empty() {
        map.insert("allowOrigins".to_owned(), origins.into());
    }
    for (from, to) in
        [("allow_methods", "allowMethods"), ("allow_headers", "allowHeaders"), ("expose_headers", "exposeHeaders")]
    {
        if let Some(text) = policy.text(from) {
            let words: Vec<Json> = text.split(',').map(|word| word.trim().into()).collect();
            map.insert(to.to_owned(), words.into());
        }
    }
    if let Some(age) = policy.text("max_age") {
        let age = if age.chars().all(|digit| digit.is_ascii_digit()) { format!("{age}s") } else { age };
        map.insert("maxAge".to_owned(), age.into());
    }
    if let Some(credentials) = policy.flag("allow_credentials") {
        map.insert("allowCredentials".to_owned(), credentials.into());
    }
    (policy.done() && !map.is_empty()).then_some(Json::Object(map))
}

fn fault(mut fault: Parts<'_>) -> Option<Json> {
    let mut map = Map::new();
    if let Some(mut delay) = fault.sub("delay") {
        put(&mut map, "delay/fixedDelay", delay.text("fixed_delay")?);
        put(&mut map, "delay/percentage/value", percentage(&mut delay)?);
        if !delay.done() {
            return None;
        }
    }
    if let Some(mut abort) = fault.sub("abort") {
        put(&mut map, "abort/httpStatus", abort.json("http_status")?);
        put(&mut map, "abort/percentage/value", percentage(&mut abort)?);
        if !abort.done() {
            return None;
        }
    }
    (fault.done() && !map.is_empty()).then_some(Json::Object(map))
}

fn percentage(of: &mut Parts<'_>) -> Option<Json> {
    let numerator = of.number("percentage/numerator")?;
    let denominator = of.text("percentage/denominator");
    let hundredths = match denominator.as_deref() {
        None | Some("HUNDRED") => return Some(numerator.into()),
        Some("TEN_THOUSAND") => 100.0,
        _ => 10_000.0,
    };
    Some(json!(f64::from(u32::try_from(numerator).ok()?) / hundredths))
}
