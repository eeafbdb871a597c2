//! Settings of a cluster as the `trafficPolicy` of a DestinationRule.
//!
//! How istiod uses each field: `pilot/pkg/networking/core/cluster_traffic_policy.go`, releases 1.22 to 1.31.

use super::header_case::keeps_case;
use super::upstream_tls::upstream_tls;
use crate::migrate::base::catalog::{self, Pattern};
use crate::migrate::base::nearest;
use crate::migrate::base::step::{Cx, Move, Part, has as since};
use crate::migrate::base::value::{Fields, any_type, has_entry, left, refused, set_at};
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::objects::registry::Port;
use crate::model::inventory::DestinationRule;
use serde_json::{Value as Json, json};

const PROTOCOL_OPTIONS: &str = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";

/// What a patch sets on clusters.
pub(in crate::migrate) struct Policy {
    /// The traffic policy.
    pub native: Json,
    /// Fields without a native equivalent.
    pub rest: Option<Json>,
    /// The pattern.
    pub pattern: &'static Pattern,
    /// A setting of the whole proxy instead, if any.
    pub proxy: Option<Json>,
}

/// The field of a cluster before `typed_extension_protocol_options`.
const DEPRECATED_HTTP2: &str = "http2_protocol_options";

type Refused = (&'static Pattern, String);

/// Reads a value.
pub(in crate::migrate) fn policy(cx: &Cx<'_>, part: &Part<'_>, found: &mut Move) -> Result<Policy, Refused> {
    let mut value = part.value.clone();
    let mut native = json!({});
    let mut pattern: &'static Pattern = &catalog::CLUSTER_POLICY;
    if let Some(timeout) = value.text("connect_timeout") {
        set_at(&mut native, "connectionPool/tcp/connectTimeout", timeout);
    }
    if let Some(requests) = value.take("max_requests_per_connection") {
        set_at(&mut native, "connectionPool/http/maxRequestsPerConnection", requests);
        found.difference(
            Kind::Behavior,
            "the limit moves to the HTTP options, where Envoy reads it; the cluster's deprecated field is ignored when they are set",
        );
        found.meanwhile.push("the rule's limit of requests per connection applies: Envoy ignores the deprecated field beside the HTTP options");
    }
    keepalive(&mut value, &mut native)?;
    thresholds(cx, &mut value, &mut native, found)?;
    if let Some(detection) = value.sub("outlier_detection") {
        outliers(cx, detection, &mut native, found)?;
    }
    balancing(cx, part, &mut value, &mut native, found)?;
    super::warmup::slow_start(cx, part, &mut value, &mut native, found)?;
    if let Some(mut options) = value.sub("typed_extension_protocol_options") {
        pattern = &catalog::CLUSTER_HTTP_OPTIONS;
        let Some(mut http) = options.typed(PROTOCOL_OPTIONS, PROTOCOL_OPTIONS) else {
            return Err((pattern, "only the HTTP options have native fields".to_owned()));
        };
        if keeps_case(&http) {
            if !since(cx, 25) {
                return Err((pattern, "`preserveHttp1HeaderCase` is new in Istio 1.25".to_owned()));
            }
            let proxy = json!({ "proxyHeaders": { "preserveHttp1HeaderCase": true } });
            return Ok(Policy { native, rest: None, pattern, proxy: Some(proxy) });
        }
        http_options(cx, part, &mut http, &mut native, found)?;
        if !http.is_empty() || !options.is_empty() {
            return Err((pattern, left("a DestinationRule", [&http, &options])));
        }
    }
    if let Some(socket) = value.sub("transport_socket") {
        if socket.peek("typed_config").map(any_type).is_some_and(|of| of.ends_with("ProxyProtocolUpstreamTransport")) {
            let reason = "a cluster with mutual TLS reads `transport_socket_matches`, where the filter's PROXY protocol is missing: write `trafficPolicy.proxyProtocol` of a DestinationRule (Istio 1.21), which istiod puts around both";
            return Err((pattern, reason.to_owned()));
        }
        let tls = upstream_tls(socket).map_err(|reason| (pattern, reason.to_string()))?;
        native["tls"] = tls.native;
        found.guard(Concern::Tls, State::Review, "istiod configures TLS to the service instead of the filter: test a connection, and that a wrong certificate is refused if the filter refuses it");
        found.difference(
            Kind::Behavior,
            format!(
                "istiod's own TLS settings are used with the rule's: versions 1.2 to 1.3; the certificate of the service {}",
                tls.verified
            ),
        );
        tls.effects.into_iter().for_each(|effect| found.difference(Kind::Behavior, effect));
    }
    if native.as_object().is_none_or(serde_json::Map::is_empty) {
        return Err((
            pattern,
            if value.is_empty() {
                "the value sets nothing that a merge can set".to_owned()
            } else if value.0.as_object().is_some_and(|map| map.keys().eq([DEPRECATED_HTTP2])) {
                format!(
                    "`{DEPRECATED_HTTP2}` of a cluster is deprecated: HTTP/2 for a service is `connectionPool.http.h2UpgradePolicy: UPGRADE` of its DestinationRule, or the protocol of the port (`appProtocol: http2`); for all of them it is `meshConfig.h2UpgradePolicy`"
                )
            } else {
                nearest::without_field(&value)
            },
        ));
    }
    if let Some(reason) = refused(&native) {
        return Err((pattern, reason));
    }
    // What is said so far is about these alone.
    let said = ["circuit_breakers", "max_requests_per_connection"];
    let mut keys = part.value.0.as_object().into_iter().flatten().map(|(key, _)| key.as_str());
    if found.meanwhile.contains(&REJECTED_CLUSTERS) {
        found.meanwhile = vec![REJECTED_CLUSTERS];
    } else if !found.meanwhile.is_empty() && keys.any(|key| !said.contains(&key) && value.peek(key).is_none()) {
        found.meanwhile.push("of the other settings, the filter's values win: nothing is applied twice");
    }
    let rest = (!value.is_empty()).then_some(value.0);
    Ok(Policy { native, rest, pattern, proxy: None })
}

fn keepalive(value: &mut Fields, native: &mut Json) -> Result<(), Refused> {
    let Some(mut keepalive) = value.sub("upstream_connection_options/tcp_keepalive") else { return Ok(()) };
    if let Some(probes) = keepalive.take("keepalive_probes") {
        if probes == 0 {
            return Err((&catalog::CLUSTER_POLICY, "a DestinationRule reads 0 probes as no setting".to_owned()));
        }
        set_at(native, "connectionPool/tcp/tcpKeepalive/probes", probes);
    }
    for (from, to) in [("keepalive_time", "time"), ("keepalive_interval", "interval")] {
        if let Some(seconds) = keepalive.number(from) {
            set_at(native, &format!("connectionPool/tcp/tcpKeepalive/{to}"), format!("{seconds}s"));
        }
    }
    if keepalive.is_empty() {
        Ok(())
    } else {
        Err((&catalog::CLUSTER_POLICY, left("`tcpKeepalive` of a DestinationRule", [&keepalive])))
    }
}

fn thresholds(cx: &Cx<'_>, value: &mut Fields, native: &mut Json, found: &mut Move) -> Result<(), Refused> {
    let refused = |why: &str| (&catalog::CLUSTER_POLICY, why.to_owned());
    let mut list = value.list("circuit_breakers/thresholds");
    let Some(mut threshold) = list.pop() else { return Ok(()) };
    if !list.is_empty() || threshold.peek("priority").is_some() {
        return Err(refused("a DestinationRule has one set of limits, for the default priority"));
    }
    found.meanwhile.push(
        "the rule's limits (`circuit_breakers`) apply: Envoy reads istiod's entry, not the one that the filter adds",
    );
    // Envoy uses the first entry of a priority, as seen in Envoy 1.39.3.
    found.difference(
        Kind::Behavior,
        "MERGE leaves istiod's unlimited entry first, and Envoy reads the first: the filter's limits never applied, the rule's do",
    );
    for (from, to) in [
        ("max_connections", "connectionPool/tcp/maxConnections"),
        ("max_pending_requests", "connectionPool/http/http1MaxPendingRequests"),
        ("max_requests", "connectionPool/http/http2MaxRequests"),
        ("max_retries", "connectionPool/http/maxRetries"),
    ] {
        if let Some(limit) = threshold.take(from) {
            set_at(native, to, limit);
        }
    }
    if let Some(mut budget) = threshold.sub("retry_budget") {
        if !since(cx, 27) {
            return Err(refused("`retryBudget` is new in Istio 1.27"));
        }
        found.add_home("DestinationRule", "trafficPolicy.retryBudget", 27);
        for (from, to) in [("budget_percent/value", "percent"), ("min_retry_concurrency", "minRetryConcurrency")] {
            if let Some(setting) = budget.take(from) {
                set_at(native, &format!("retryBudget/{to}"), setting);
            }
        }
        if !budget.is_empty() {
            return Err(refused(&left("`retryBudget` of a DestinationRule", [&budget])));
        }
    }
    threshold.skip("track_remaining");
    if threshold.is_empty() {
        Ok(())
    } else {
        Err(refused(&left("`connectionPool` of a DestinationRule", [&threshold])))
    }
}

const GATEWAY_ERRORS: &str = "consecutiveGatewayErrors";
const SPLIT: &str = "splitExternalLocalOriginErrors";
const NO_SUCCESS_RATE: &str = "istiod disables success-rate detection, and ejections stop below a percentage of healthy endpoints (`minHealthPercent`)";
const NO_PANIC: &str = "the panic threshold is 0: if all endpoints are ejected or unhealthy, Envoy refuses requests instead of trying all endpoints";
const EJECTS_FOR_GATEWAY: &str = "istiod ejects after gateway failures; by Envoy's default they are only counted";
const NO_LOCAL_RATE: &str = "istiod disables success-rate detection of local errors too";

/// A rule that has outlier detection for all clusters of its host does today what istiod adds to the settings of a filter.
pub(in crate::migrate) fn already_detects(rule: &DestinationRule, found: &mut Move) {
    let document = rule.object.document.to_json();
    let policy = &document["spec"]["trafficPolicy"];
    if policy.get("portLevelSettings").is_some() || !policy["outlierDetection"].is_object() {
        return;
    }
    let detection = &policy["outlierDetection"];
    let ejects = detection[GATEWAY_ERRORS].as_u64().is_some_and(|number| number > 0);
    let split = detection[SPLIT] == true;
    for (same, effect) in
        [(true, NO_SUCCESS_RATE), (true, NO_PANIC), (ejects, EJECTS_FOR_GATEWAY), (split, NO_LOCAL_RATE)]
    {
        if same {
            found.differences.retain(|one| one.effect != effect);
        }
    }
}

fn outliers(cx: &Cx<'_>, mut detection: Fields, native: &mut Json, found: &mut Move) -> Result<(), Refused> {
    for (from, to) in [
        ("consecutive_5xx", "consecutive5xxErrors"),
        ("consecutive_gateway_failure", "consecutiveGatewayErrors"),
        ("interval", "interval"),
        ("base_ejection_time", "baseEjectionTime"),
        ("max_ejection_percent", "maxEjectionPercent"),
        ("split_external_local_origin_errors", "splitExternalLocalOriginErrors"),
        ("consecutive_local_origin_failure", "consecutiveLocalOriginFailures"),
    ] {
        if let Some(setting) = detection.take(from) {
            set_at(native, &format!("outlierDetection/{to}"), setting);
        }
    }
    if native
        .pointer("/outlierDetection/maxEjectionPercent")
        .and_then(Json::as_u64)
        .is_some_and(|percent| percent > 100)
    {
        return Err((&catalog::CLUSTER_POLICY, "istiod accepts a `maxEjectionPercent` of at most 100".to_owned()));
    }
    // istiod sets these to full enforcement itself, and disables detection by success rate.
    let mut given = Vec::new();
    for (field, expected) in [
        ("enforcing_consecutive_5xx", 100),
        ("enforcing_consecutive_gateway_failure", 100),
        ("enforcing_consecutive_local_origin_failure", 100),
        ("enforcing_success_rate", 0),
    ] {
        match detection.number(field) {
            Some(number) if number != expected => {
                return Err((
                    &catalog::CLUSTER_POLICY,
                    format!(
                        "istiod always enforces the detection of a DestinationRule at {expected} % (`{field}`), the filter at {number} %: the patch can move only without it"
                    ),
                ));
            }
            Some(_) => given.push(field),
            None => {}
        }
    }
    found.difference(Kind::Metadata, "defaults of the detection are written out");
    let has = |field: &str| native.pointer(&format!("/outlierDetection/{field}"));
    let zero = |field: &str| has(field).and_then(Json::as_u64) == Some(0);
    let enforced = given.contains(&"enforcing_consecutive_gateway_failure");
    for (differs, effect) in [
        (!given.contains(&"enforcing_success_rate"), NO_SUCCESS_RATE),
        (!since(cx, 31), NO_PANIC),
        (has(GATEWAY_ERRORS).is_some() && !enforced, EJECTS_FOR_GATEWAY),
        (
            has(GATEWAY_ERRORS).is_none() && enforced,
            "the filter ejects after gateway failures; istiod only counts them without `consecutiveGatewayErrors`",
        ),
        (zero("consecutive5xxErrors"), "istiod turns the detection by errors off for a limit of 0"),
        (
            zero("maxEjectionPercent"),
            "istiod leaves out a `maxEjectionPercent` of 0, and Envoy's default of 10 applies",
        ),
        (has(SPLIT) == Some(&json!(true)), NO_LOCAL_RATE),
        (
            has("consecutiveLocalOriginFailures").is_some() && has(SPLIT) != Some(&json!(true)),
            "istiod reads `consecutiveLocalOriginFailures` only with `splitExternalLocalOriginErrors`",
        ),
    ] {
        if differs {
            found.difference(Kind::Behavior, effect);
        }
    }
    if detection.is_empty() && native.get("outlierDetection").is_some() {
        Ok(())
    } else {
        Err((&catalog::CLUSTER_POLICY, left("`outlierDetection` of a DestinationRule", [&detection])))
    }
}

fn balancing(
    cx: &Cx<'_>,
    part: &Part<'_>,
    value: &mut Fields,
    native: &mut Json,
    found: &mut Move,
) -> Result<(), Refused> {
    if let Some(word) = value.text("lb_policy") {
        if !matches!(word.as_str(), "LEAST_REQUEST" | "RANDOM") {
            return Err((
                &catalog::CLUSTER_POLICY,
                format!(
                    "`loadBalancer.simple` of a DestinationRule has no {word}: LEAST_REQUEST, RANDOM and ROUND_ROBIN move, and hashing moves with the hash policy of the routes"
                ),
            ));
        }
        if hashes(cx, part) {
            found.difference(
                Kind::Behavior,
                "the rule replaces the consistent hash of a DestinationRule that exists: its hash policy and ring go too, which the filter leaves without effect",
            );
        }
        set_at(native, "loadBalancer/simple", word);
    } else if part.defaults.iter().any(|field| field == "lb_policy" || field == "lbPolicy") {
        set_at(native, "loadBalancer/simple", "ROUND_ROBIN");
        found.difference(
            Kind::Behavior,
            "ROUND_ROBIN is the enum's zero value, which MERGE cannot set: the filter does not change the cluster, the rule does",
        );
        found.meanwhile.push("the rule's ROUND_ROBIN applies: MERGE cannot set it");
    }
    Ok(())
}

/// Whether a DestinationRule of the host already balances by hash.
fn hashes(cx: &Cx<'_>, part: &Part<'_>) -> bool {
    let hash = |key: &str, _: &Json| key == "consistentHash";
    super::target::target(part).is_some_and(|target| {
        let rules = cx.mesh.destination_rules(&target.host, &cx.filter.namespace);
        rules.into_iter().any(|rule| has_entry(&rule.object.document.to_json(), &hash))
    })
}

/// Whether istiod already uses HTTP/2 for the service because of its ports; `None` if they are unknown.
fn is_http2(cx: &Cx<'_>, part: &Part<'_>) -> Option<bool> {
    let target = super::target::target(part)?;
    let service = cx.mesh.registered(&target.host)?;
    let mut ports = service.ports().filter(|port| target.port.is_none_or(|number| port.number == number));
    Some(ports.all(|port| speaks_http2(&port)))
}

/// Whether istiod uses HTTP/2 for a port, by its protocol.
pub(super) fn speaks_http2(port: &Port<'_>) -> bool {
    matches!(port.protocol_name().as_str(), "grpc" | "grpc-web" | "http2" | "kubernetes.io/h2c")
}

/// Whether istiod generates no HTTP options for the clusters of the service, since its ports are named HTTP/1.
fn is_http1(cx: &Cx<'_>, part: &Part<'_>) -> bool {
    let Some(target) = super::target::target(part) else { return false };
    let Some(service) = cx.mesh.registered(&target.host) else { return false };
    let mut ports = service.ports().filter(|port| target.port.is_none_or(|number| port.number == number)).peekable();
    let upgrades = |mesh: &Json| mesh["h2UpgradePolicy"] == "UPGRADE";
    let own = |rule: &crate::model::inventory::DestinationRule| {
        has_entry(&rule.object.document.to_json(), &|key, value| key == "connectionPool" && value.get("http").is_some())
    };
    ports.peek().is_some()
        && ports.all(|port| port.protocol_name() == "http")
        && cx.mesh.mesh_config().is_some_and(|mesh| !upgrades(mesh))
        && !cx.mesh.destination_rules(&target.host, &cx.filter.namespace).into_iter().any(own)
}

/// Settings of DestinationRules that istiod writes into the HTTP options of a cluster.
const IN_OPTIONS: [&str; 7] = [
    "http/h2UpgradePolicy",
    "http/http2KeepAlive",
    "http/idleTimeout",
    "http/maxConcurrentStreams",
    "http/maxRequestsPerConnection",
    "http/useClientProtocol",
    "tcp/maxConnectionDuration",
];

/// A DestinationRule of the service that has such a setting, and the setting.
fn dropped_by_merge(cx: &Cx<'_>, part: &Part<'_>) -> Option<(String, &'static str)> {
    let target = super::target::target(part)?;
    let rules = cx.mesh.destination_rules(&target.host, &cx.filter.namespace);
    rules.into_iter().find_map(|rule| {
        let document = rule.object.document.to_json();
        let has = |path: &&&str| {
            let pointer = format!("/{path}");
            has_entry(&document, &|key, value| key == "connectionPool" && value.pointer(&pointer).is_some())
        };
        let path = IN_OPTIONS.iter().find(has)?;
        let (object, key) = (&rule.object, path.rsplit('/').next().unwrap_or(path));
        Some((format!("DestinationRule {}/{}", object.namespace, object.name), key))
    })
}

fn http_options(
    cx: &Cx<'_>,
    part: &Part<'_>,
    http: &mut Fields,
    native: &mut Json,
    found: &mut Move,
) -> Result<(), Refused> {
    let refused = |why: &str| (&catalog::CLUSTER_HTTP_OPTIONS, why.to_owned());
    let mut replaced = false;
    let rejected = UPSTREAM_OPTIONS.iter().all(|field| http.peek(field).is_none());
    if rejected {
        // As seen in Envoy 1.36.4 and 1.40.0: `upstream_protocol_options` is required.
        found.difference(
            Kind::Behavior,
            "MERGE replaces all of istiod's HTTP options, and Envoy rejects clusters whose HTTP options name no protocol (`explicit_http_config`, `use_downstream_protocol_config` or `auto_config`): the filter's value never applies, the rule's does",
        );
        found.meanwhile.push(REJECTED_CLUSTERS);
    }
    for (from, to) in [
        ("common_http_protocol_options/idle_timeout", "connectionPool/http/idleTimeout"),
        ("common_http_protocol_options/max_requests_per_connection", "connectionPool/http/maxRequestsPerConnection"),
        ("common_http_protocol_options/max_connection_duration", "connectionPool/tcp/maxConnectionDuration"),
    ] {
        if let Some(setting) = http.take(from) {
            set_at(native, to, setting);
            replaced = true;
        }
    }
    let http2 = http.peek("explicit_http_config/http2_protocol_options").is_some();
    let plain = !http2 && http.peek("explicit_http_config/http_protocol_options").is_some() && is_http1(cx, part);
    let istiods = http2 && is_http2(cx, part) == Some(true);
    if replaced && !(rejected || plain || istiods) {
        found.difference(
            Kind::Behavior,
            "MERGE replaces all of istiod's HTTP options, also the choice of HTTP/2; with the rule, requests use the protocol that istiod chooses",
        );
    }
    if let Some((rule, key)) = dropped_by_merge(cx, part).filter(|_| istiods) {
        found.difference(
            Kind::Behavior,
            format!("MERGE replaces all of istiod's HTTP options, with `{key}` of {rule}; the new rule keeps it"),
        );
    }
    if let Some(mut two) = http.sub("explicit_http_config/http2_protocol_options") {
        if let Some(streams) = two.take("max_concurrent_streams") {
            set_at(native, "connectionPool/http/maxConcurrentStreams", streams);
            empty_options(replaced, found);
        }
        for window in ["initial_stream_window_size", "initial_connection_window_size"] {
            if two.peek(window).is_some() {
                return Err(refused(
                    "a DestinationRule has no HTTP/2 windows (`connectionSettings` of the proxy sets those of its listeners only): the patch can move only without them",
                ));
            }
        }
        match is_http2(cx, part) {
            Some(true) => {}
            other => {
                set_at(native, "connectionPool/http/h2UpgradePolicy", "UPGRADE");
                found.difference(
                    Kind::Behavior,
                    "ALPN offers h2, so the other sidecar also speaks HTTP/2; the filter does not change ALPN",
                );
                if other.is_none() {
                    found.guard(
                        Concern::Patch,
                        State::Undecided,
                        "it is unknown whether istiod already uses HTTP/2 for this service: its Service or ServiceEntry is not in the input",
                    );
                }
            }
        }
        if let Some(mut keepalive) = two.sub("connection_keepalive") {
            if !since(cx, 31) {
                return Err(refused("`http2KeepAlive` is new in Istio 1.31"));
            }
            found.add_home("DestinationRule", "trafficPolicy.connectionPool.http.http2KeepAlive", 31);
            for key in ["interval", "timeout"] {
                if let Some(time) = keepalive.text(key) {
                    set_at(native, &format!("connectionPool/http/http2KeepAlive/{key}"), time);
                }
            }
            empty_options(replaced, found);
            if !keepalive.is_empty() {
                return Err(refused(&left("`http2KeepAlive` of a DestinationRule", [&keepalive])));
            }
            let both = native.pointer("/connectionPool/http/http2KeepAlive");
            if both.is_none_or(|both| both.get("interval").is_none() || both.get("timeout").is_none()) {
                return Err(refused("`http2KeepAlive` needs an interval and a timeout"));
            }
        }
        if !two.is_empty() {
            return Err(refused(&left("`connectionPool.http` of a DestinationRule", [&two])));
        }
    }
    if let Some(one) = http.sub("explicit_http_config/http_protocol_options") {
        if !one.is_empty() {
            return Err(refused(&left("`connectionPool.http` of a DestinationRule", [&one])));
        }
        set_at(native, "connectionPool/http/h2UpgradePolicy", "DO_NOT_UPGRADE");
        if !plain {
            found.difference(Kind::Behavior, "MERGE replaces all of istiod's HTTP options; the rule keeps the others");
        }
    }
    Ok(())
}

/// The HTTP options of which Envoy requires one.
const UPSTREAM_OPTIONS: [&str; 3] = ["explicit_http_config", "use_downstream_protocol_config", "auto_config"];

const REJECTED_CLUSTERS: &str =
    "Envoy rejects the clusters as long as the filter is in them: the rule applies once the EnvoyFilter is gone";

/// istiod writes `common_http_protocol_options` as soon as a rule has HTTP/2 settings; `set` if the patch has it too.
fn empty_options(set: bool, found: &mut Move) {
    if !set {
        found.difference(Kind::Metadata, "an empty message is written out");
    }
}
