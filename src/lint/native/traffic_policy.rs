//! A cluster's settings as the `trafficPolicy` of a DestinationRule.
//!
//! What istiod makes of each field: `pilot/pkg/networking/core/cluster_traffic_policy.go`, releases 1.22 to 1.31.

use crate::lint::native::better::{Candidate, Parts, put};
use crate::model::release::Release;
use crate::proto::decode::What;
use crate::source::Step;
use serde_json::{Map, Value as Json, json};

/// A traffic policy that says the same as a cluster.
pub struct TrafficPolicy {
    /// The policy.
    pub policy: Json,
    /// The first release that has all of its fields.
    pub since: Release,
    /// What the filter does otherwise than its author may think.
    pub notes: Vec<String>,
}

const PROTOCOL_OPTIONS: &str = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
const TLS: &str = "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext";

/// The policy for what a patch merges into a cluster; `None` when a field has no place in it.
pub fn from_cluster(candidate: &Candidate<'_>) -> Option<TrafficPolicy> {
    let mut parts = candidate.parts.clone();
    let mut policy = Map::new();
    let mut since = Release::OLDEST;
    let mut notes = Vec::new();
    if let Some(timeout) = parts.text("connect_timeout") {
        put(&mut policy, "connectionPool/tcp/connectTimeout", timeout);
    }
    if let Some(requests) = parts.json("max_requests_per_connection") {
        put(&mut policy, "connectionPool/http/maxRequestsPerConnection", requests);
    }
    let keepalive = "upstream_connection_options/tcp_keepalive";
    if let Some(mut keepalive) = parts.sub(keepalive) {
        if let Some(probes) = keepalive.json("keepalive_probes") {
            put(&mut policy, "connectionPool/tcp/tcpKeepalive/probes", probes);
        }
        for (from, to) in [("keepalive_time", "time"), ("keepalive_interval", "interval")] {
            if let Some(seconds) = keepalive.number(from) {
                put(&mut policy, &format!("connectionPool/tcp/tcpKeepalive/{to}"), format!("{seconds}s"));
            }
        }
        if !keepalive.done() {
            return None;
        }
    }
    let thresholds = parts.list("circuit_breakers/thresholds");
    if let [threshold] = thresholds.as_slice() {
        let mut threshold = threshold.clone();
        // Envoy (every release): ResourceManager settings come from the first threshold of the priority.
        notes.push(
            "MERGE appends a second threshold; Envoy reads the first of a priority, which is istiod's: \
             as it stands the limits have no effect"
                .to_owned(),
        );
        for (from, to) in [
            ("max_connections", "connectionPool/tcp/maxConnections"),
            ("max_pending_requests", "connectionPool/http/http1MaxPendingRequests"),
            ("max_requests", "connectionPool/http/http2MaxRequests"),
            ("max_retries", "connectionPool/http/maxRetries"),
        ] {
            if let Some(limit) = threshold.json(from) {
                put(&mut policy, to, limit);
            }
        }
        if let Some(mut budget) = threshold.sub("retry_budget") {
            since = since.max(Release::minor(27));
            for (from, to) in [
                ("budget_percent/value", "retryBudget/percent"),
                ("min_retry_concurrency", "retryBudget/minRetryConcurrency"),
                ("budget_interval", "retryBudget/budgetInterval"),
            ] {
                if let Some(value) = budget.json(from) {
                    put(&mut policy, to, value);
                }
            }
            if !budget.done() {
                return None;
            }
        }
        if !threshold.done() {
            return None;
        }
    } else if !thresholds.is_empty() {
        return None;
    }
    if let Some(detection) = parts.sub("outlier_detection") {
        policy.insert("outlierDetection".to_owned(), outlier_detection(detection)?);
    }
    if let Some(lb) = parts.text("lb_policy") {
        if !matches!(lb.as_str(), "LEAST_REQUEST" | "RANDOM") {
            return None;
        }
        put(&mut policy, "loadBalancer/simple", lb);
    }
    let notices = candidate.view.built.map(|built| built.notices.as_slice()).unwrap_or_default();
    let lost = |field: &str| {
        let key = |step: Option<&Step>| matches!(step, Some(Step::Key(key)) if key == field);
        notices.iter().any(|notice| notice.what == What::DefaultDropped && key(notice.route.first()))
    };
    if lost("lb_policy") || lost("lbPolicy") {
        put(&mut policy, "loadBalancer/simple", "ROUND_ROBIN");
        notes.push("ROUND_ROBIN is the enum's default: MERGE cannot set it, the cluster keeps its policy".to_owned());
    } else if notices.iter().any(|notice| notice.what == What::DefaultDropped) {
        return None;
    }
    if let Some(options) = parts.take("http2_protocol_options") {
        if !options.entries().is_empty() {
            return None;
        }
        put(&mut policy, "connectionPool/http/h2UpgradePolicy", "UPGRADE");
    }
    if let Some(options) = parts.sub("typed_extension_protocol_options") {
        notes.push("MERGE replaces the whole entry: what istiod has in it (HTTP/2, auto_sni) is lost".to_owned());
        since = since.max(protocol_options(options, &mut policy)?);
    }
    if let Some(tls) = parts.sub("transport_socket") {
        policy.insert("tls".to_owned(), upstream_tls(tls)?);
    }
    // istiod merges the socket and nothing beside it (`cluster_patch.go`, 1.22 to 1.31), so that no other note holds.
    let fields = candidate.parts.tree.entries();
    if fields.len() > 1 && fields.iter().any(|(field, _)| field == "transport_socket") {
        notes = vec![
            "with `transport_socket` in it MERGE takes only that: the rest of this value has no effect".to_owned(),
        ];
    }
    // A name merged into every matching cluster is a mistake of its own.
    (parts.done() && !policy.is_empty()).then_some(TrafficPolicy { policy: Json::Object(policy), since, notes })
}

fn outlier_detection(mut detection: Parts<'_>) -> Option<Json> {
    let mut map = Map::new();
    for (from, to) in [
        ("consecutive_5xx", "consecutive5xxErrors"),
        ("consecutive_gateway_failure", "consecutiveGatewayErrors"),
        ("interval", "interval"),
        ("base_ejection_time", "baseEjectionTime"),
        ("max_ejection_percent", "maxEjectionPercent"),
        ("split_external_local_origin_errors", "splitExternalLocalOriginErrors"),
        ("consecutive_local_origin_failure", "consecutiveLocalOriginFailures"),
    ] {
        if let Some(value) = detection.json(from) {
            put(&mut map, to, value);
        }
    }
    // istiod sets these itself to what counts fully, and switches detection by success rate off.
    let expected = [
        ("enforcing_consecutive_5xx", map.contains_key("consecutive5xxErrors"), 100),
        ("enforcing_consecutive_gateway_failure", map.contains_key("consecutiveGatewayErrors"), 100),
        ("enforcing_consecutive_local_origin_failure", map.contains_key("consecutiveLocalOriginFailures"), 100),
        ("enforcing_success_rate", true, 0),
    ];
    for (field, counted, value) in expected {
        if let Some(have) = detection.number(field)
            && (!counted || have != value)
        {
            return None;
        }
    }
    (detection.done() && !map.is_empty()).then_some(Json::Object(map))
}

/// Takes what a DestinationRule has of the upstream's HTTP options; gives the release that it needs.
fn protocol_options(mut options: Parts<'_>, policy: &mut Map<String, Json>) -> Option<Release> {
    let mut since = Release::OLDEST;
    let mut http = options.typed(PROTOCOL_OPTIONS, PROTOCOL_OPTIONS)?;
    for (from, to) in [
        ("common_http_protocol_options/idle_timeout", "connectionPool/http/idleTimeout"),
        ("common_http_protocol_options/max_requests_per_connection", "connectionPool/http/maxRequestsPerConnection"),
        ("common_http_protocol_options/max_connection_duration", "connectionPool/tcp/maxConnectionDuration"),
    ] {
        if let Some(value) = http.json(from) {
            put(policy, to, value);
        }
    }
    if let Some(mut two) = http.sub("explicit_http_config/http2_protocol_options") {
        put(policy, "connectionPool/http/h2UpgradePolicy", "UPGRADE");
        if let Some(streams) = two.json("max_concurrent_streams") {
            put(policy, "connectionPool/http/maxConcurrentStreams", streams);
        }
        if let Some(mut keepalive) = two.sub("connection_keepalive") {
            since = Release::minor(31);
            for key in ["interval", "timeout"] {
                if let Some(value) = keepalive.text(key) {
                    put(policy, &format!("connectionPool/http/http2KeepAlive/{key}"), value);
                }
            }
            if !keepalive.done() {
                return None;
            }
        }
        if !two.done() {
            return None;
        }
    }
    if let Some(one) = http.take("explicit_http_config/http_protocol_options") {
        if !one.entries().is_empty() {
            return None;
        }
        put(policy, "connectionPool/http/h2UpgradePolicy", "DO_NOT_UPGRADE");
    }
    (http.done() && options.done()).then_some(since)
}

/// Upstream TLS with certificates from files, as `trafficPolicy.tls`.
pub fn upstream_tls(mut socket: Parts<'_>) -> Option<Json> {
    socket.skip("name");
    let mut context = socket.typed("typed_config", TLS)?;
    let mut map = Map::new();
    if let Some(sni) = context.text("sni") {
        put(&mut map, "sni", sni);
    }
    let ca = context.text("common_tls_context/validation_context/trusted_ca/filename");
    let certificates = context.list("common_tls_context/tls_certificates");
    let mut mode = "SIMPLE";
    if let [certificate] = certificates.as_slice() {
        let mut certificate = certificate.clone();
        mode = "MUTUAL";
        put(&mut map, "clientCertificate", certificate.text("certificate_chain/filename")?);
        put(&mut map, "privateKey", certificate.text("private_key/filename")?);
        if !certificate.done() {
            return None;
        }
    } else if !certificates.is_empty() {
        return None;
    }
    let ca_given = ca.is_some();
    if let Some(ca) = ca {
        put(&mut map, "caCertificates", ca);
    }
    if !ca_given && map.get("insecureSkipVerify").is_none() {
        // Without a CA the filter's TLS accepts any certificate; a DestinationRule verifies with the system's CAs.
        put(&mut map, "insecureSkipVerify", true);
    }
    if !context.done() || !socket.done() {
        return None;
    }
    let mut all = Map::from_iter([("mode".to_owned(), json!(mode))]);
    all.extend(map);
    Some(Json::Object(all))
}
