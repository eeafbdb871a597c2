//! External authorization: AuthorizationPolicy CUSTOM with an extension provider.

use super::provider::{PROVIDER, service_of};
use super::routes::hosts_ports;
use super::vhost::Vhost;
use crate::migrate::base::catalog;
use crate::migrate::base::step::{Cx, Move, Part};
use crate::migrate::base::value::{Fields, any_type, left};
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::guards::attach::{self, Directions};
use crate::migrate::guards::decides::{Decides, earlier};
use crate::migrate::objects::mesh::Proxies;
use crate::migrate::objects::policy::{self, with_ports};
use crate::migrate::output::draft::{Action, attachment, object};
use crate::model::envoy_filter::{ApplyTo, Operation};
use crate::source::ErrorMessage;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

pub(super) const EXT_AUTHZ: &str = "envoy.extensions.filters.http.ext_authz.v3.ExtAuthz";
/// Timeout of a call to a gRPC service that names none, in Envoy's filter.
const ENVOYS_TIMEOUT: &str = "0.2s";
const PER_ROUTE: &str = "envoy.extensions.filters.http.ext_authz.v3.ExtAuthzPerRoute";

/// Finds external authorization, with the virtual hosts for which the same filter turns it off.
pub(in crate::migrate) fn find(cx: &Cx<'_>, parts: &mut [Part<'_>]) {
    for at in 0..parts.len() {
        let part = &parts[at];
        let wanted = part.found.is_none()
            && part.apply_to() == ApplyTo::HttpFilter
            && part.inserts()
            && part.config_type() == EXT_AUTHZ;
        if !wanted {
            continue;
        }
        let name = part.value.peek("name").and_then(Json::as_str).unwrap_or_default().to_owned();
        let off: Vec<(usize, Vhost)> =
            (0..parts.len()).filter_map(|other| Some((other, off(&parts[other], &name)?))).collect();
        let free: Vec<Vhost> = off.iter().map(|(_, vhost)| vhost.clone()).collect();
        let found = of_filter(cx, &parts[at], &free);
        for (other, _) in off {
            let leader = parts[at].built.patch.index;
            parts[other].answer(found.shared(leader));
        }
        parts[at].answer(found);
    }
}

/// The virtual host for which a patch only turns the filter off.
fn off(part: &Part<'_>, name: &str) -> Option<Vhost> {
    if part.found.is_some() || part.apply_to() != ApplyTo::VirtualHost || part.operation() != Operation::Merge {
        return None;
    }
    let mut value = part.value.clone();
    let configs = value.sub("typed_per_filter_config")?;
    let config = configs.0.get(name).filter(|_| configs.0.as_object().is_some_and(|map| map.len() == 1))?;
    let disabled = any_type(config) == PER_ROUTE
        && config.get("disabled") == Some(&json!(true))
        && config.as_object().is_some_and(|map| map.len() == 2);
    (disabled && value.is_empty()).then(|| Vhost::of(part)).flatten().filter(|vhost| vhost.host.is_some())
}

fn of_filter(cx: &Cx<'_>, part: &Part<'_>, free: &[Vhost]) -> Move {
    let mut value = part.value.clone();
    value.skip("name");
    let Some(mut config) = value.typed("typed_config", EXT_AUTHZ) else {
        return Move::none(&catalog::EXT_AUTHZ, "the configuration cannot be read");
    };
    let mut found = Move::new(&catalog::EXT_AUTHZ).home("AuthorizationPolicy", "action CUSTOM, provider", 0).home(
        "MeshConfig",
        "extensionProviders",
        0,
    );
    attach::check(cx, part, &mut found, Directions::Inbound);
    earlier(cx, part, &mut found, Decides::First);
    found.guard(Concern::Authorization, State::Review, "an AuthorizationPolicy decides instead of the filter: test a request that it must refuse and one that it must allow");
    found.difference(
        Kind::Metadata,
        "a shadow RBAC filter before it decides which requests the service is asked about; it refuses nothing itself",
    );
    // Envoy 1.36 and 1.39 accept the filter without it.
    if config.text("transport_api_version").is_none() {
        found.difference(Kind::Metadata, "`transport_api_version: V3` is written out; Envoy supports no other version");
    }
    config.skip("transport_api_version");
    if config.text("stat_prefix").is_some() {
        found.difference(Kind::Metadata, "the stats prefix differs");
    }
    let (kind, mut provider) = match service(cx, &mut config, &mut found) {
        Ok(read) => read,
        Err(reason) => return Move::none(&catalog::EXT_AUTHZ, reason),
    };
    if config.flag("failure_mode_allow") == Some(true) {
        provider["failOpen"] = true.into();
    }
    if let Some(status) = config.text("status_on_error/code") {
        // istiod expects a number, and rejects everything if it cannot read it.
        match cx.schema.enumeration("envoy.type.v3.StatusCode").and_then(|codes| codes.by_name(&status)) {
            Some(number) => provider["statusOnError"] = number.to_string().into(),
            None => {
                return Move::none(
                    &catalog::EXT_AUTHZ,
                    format!("`statusOnError` of a provider is a status that Envoy knows by name; {status} is not one"),
                );
            }
        }
    }
    if let Some(body) = body_of(&mut config) {
        provider["includeRequestBodyInCheck"] = body;
    }
    // The API has `clearRouteCache` since 1.25; no code of istiod 1.30 and 1.31 reads it.
    if config.flag("clear_route_cache") == Some(true) {
        found.difference(
            Kind::Behavior,
            "the route is not selected again after the check: istiod accepts `clearRouteCache` of a provider and does not read \
             it, so headers that the authorization service adds no longer change the route",
        );
    }
    if !config.is_empty() || !value.is_empty() {
        return Move::none(&catalog::EXT_AUTHZ, left(PROVIDER, [&config, &value]));
    }
    let grpc = kind == "envoyExtAuthzGrpc";
    let mut rule = json!({});
    if let Some(port) = part.reach.port {
        let _ = with_ports(&mut rule, &[port]);
        found.difference(
            Kind::Behavior,
            "the filters are also in the chains of the other ports; the rule never matches there, so the service is not asked",
        );
    } else if grpc {
        tcp(cx, part, &mut found);
    }
    exempt(cx, free, &mut found, &mut rule);
    if let Some(other) = policy::existing(cx, "CUSTOM").first() {
        found.guard(
            Concern::Existing,
            State::Broken,
            format!(
                "AuthorizationPolicy {}/{} is also CUSTOM, and a workload can have only one provider",
                other.namespace, other.name
            ),
        );
    }
    let name = super::provider::name(cx, "", &json!({ kind: provider }));
    found.actions.push(Action::Mesh(json!({ "extensionProviders": [{ "name": name, kind: provider }] })));
    let mut spec = attachment(cx.filter);
    spec.insert("action".to_owned(), "CUSTOM".into());
    spec.insert("provider".to_owned(), json!({ "name": name }));
    spec.insert("rules".to_owned(), json!([rule]));
    found.actions.push(Action::Object(object("security.istio.io/v1", "AuthorizationPolicy", cx.filter, spec)));
    found
}

/// What the service gets of a request's body, in the provider's words.
pub(super) fn body_of(config: &mut Fields) -> Option<Json> {
    let mut body = config.sub("with_request_body")?;
    let mut native = json!({});
    for (from, to) in [
        ("max_request_bytes", "maxRequestBytes"),
        ("allow_partial_message", "allowPartialMessage"),
        ("pack_as_bytes", "packAsBytes"),
    ] {
        if let Some(setting) = body.take(from) {
            native[to] = setting;
        }
    }
    Some(native)
}

/// A gRPC provider is also added to TCP filter chains.
fn tcp(cx: &Cx<'_>, part: &Part<'_>, found: &mut Move) {
    let reason =
        "a gRPC provider is also asked about every TCP connection, and fails closed; the filter covers HTTP only";
    let serves = match part.reach.proxies {
        Proxies::Gateway => cx.mesh.serves(cx.filter, policy::is_tcp),
        _ => Some(true),
    };
    match serves {
        Some(false) => found.guard(Concern::TcpChains, State::Held, "these gateways serve no TCP"),
        Some(true) => {
            found.difference(Kind::Behavior, reason);
            found.guard(Concern::TcpChains, State::Broken, reason);
        }
        None => {
            found.difference(Kind::Behavior, reason);
            found.guard(Concern::TcpChains, State::Undecided, reason);
        }
    }
}

/// Hosts for which the filter is turned off become exceptions of the rule.
fn exempt(cx: &Cx<'_>, free: &[Vhost], found: &mut Move, rule: &mut Json) {
    let mut hosts: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for vhost in free {
        if let Some(host) = &vhost.host {
            hosts.entry(host).or_default().extend(vhost.port);
        }
    }
    if hosts.is_empty() {
        return;
    }
    found.difference(
        Kind::Behavior,
        "the `Host` of a request exempts it from the check instead of the virtual host that routes it",
    );
    let mut names = Vec::new();
    for (host, ports) in hosts {
        names.extend([host.to_owned(), format!("{host}:*")]);
        let all = hosts_ports(cx, host);
        let reason = format!(
            "the filter is disabled for {host} on port {} only; a rule by host exempts every port",
            ports.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
        );
        match all {
            Some(all) if all.is_subset(&ports) => {}
            Some(_) => {
                found.difference(Kind::Behavior, reason.clone());
                found.guard(Concern::Authorization, State::Broken, reason);
            }
            None => {
                found.difference(Kind::Behavior, reason.clone());
                found.guard(Concern::Authorization, State::Undecided, reason);
            }
        }
    }
    if rule["to"].is_null() {
        rule["to"] = json!([{ "operation": {} }]);
    }
    rule["to"][0]["operation"]["notHosts"] = names.into();
}

/// The authorization service.
fn service(cx: &Cx<'_>, config: &mut Fields, found: &mut Move) -> Result<(&'static str, Json), ErrorMessage> {
    if let Some(mut grpc) = config.sub("grpc_service") {
        let (host, port) = if let Some(target) = grpc.text("google_grpc/target_uri") {
            let (host, port) = target_of(&target).ok_or_else(|| format!("{target} names no host and port"))?;
            grpc.skip("google_grpc/stat_prefix");
            known(cx, &format!("outbound|{port}||{host}"), &host, found);
            found.difference(
                Kind::Behavior,
                format!(
                    "calls go through istiod's own cluster for {host}, with mesh mTLS, instead of a gRPC channel that the proxy opens by itself"
                ),
            );
            (host, port)
        } else {
            let cluster = grpc.text("envoy_grpc/cluster_name").ok_or("the filter names no cluster")?;
            let (host, port) = service_of(cx, &cluster)?;
            known(cx, &cluster, &host, found);
            (host, port)
        };
        if grpc.text("envoy_grpc/authority").is_none_or(|authority| authority != host) {
            found.difference(
                Kind::Behavior,
                "the call's `:authority` is the host name instead of the cluster's name; a service that checks it sees a different value",
            );
        }
        let mut one = json!({ "service": host, "port": port });
        // Without a timeout, istiod writes 600 s.
        let timeout = grpc.text("timeout").unwrap_or_else(|| {
            found.difference(Kind::Metadata, "the timeout of a call, 0.2 s by Envoy's default, is written out");
            ENVOYS_TIMEOUT.to_owned()
        });
        one["timeout"] = timeout.into();
        if !grpc.is_empty() {
            return Err(left(PROVIDER, [&grpc]).into());
        }
        return Ok(("envoyExtAuthzGrpc", one));
    }
    let mut http = config.sub("http_service").ok_or("the filter names no service")?;
    let cluster = http.text("server_uri/cluster").ok_or("the filter names no cluster")?;
    let (host, port) = service_of(cx, &cluster)?;
    known(cx, &cluster, &host, found);
    let mut one = json!({ "service": host, "port": port });
    http.skip("server_uri/uri");
    found.difference(Kind::Metadata, "the URI is written differently; the check keeps the request's Host");
    if let Some(timeout) = http.text("server_uri/timeout") {
        one["timeout"] = timeout.into();
    }
    if let Some(prefix) = http.text("path_prefix") {
        // istiod rejects the mesh settings as a whole otherwise.
        if !prefix.starts_with('/') || prefix.contains('%') {
            return Err(format!(
                "`pathPrefix` of a provider begins with `/` and has no escapes; the filter's is `{prefix}`"
            )
            .into());
        }
        one["pathPrefix"] = prefix.into();
    }
    for (path, field) in [
        ("authorization_request/allowed_headers/patterns", "includeRequestHeadersInCheck"),
        ("authorization_response/allowed_upstream_headers/patterns", "headersToUpstreamOnAllow"),
        ("authorization_response/allowed_client_headers/patterns", "headersToDownstreamOnDeny"),
        ("authorization_response/allowed_client_headers_on_success/patterns", "headersToDownstreamOnAllow"),
    ] {
        if let Some(names) = patterns(http.list(path), found)? {
            one[field] = names.into();
        }
    }
    if let Some(names) = patterns(config.list("allowed_headers/patterns"), found)? {
        one["includeRequestHeadersInCheck"] = names.into();
    }
    let mut more = json!({});
    for mut header in http.list("authorization_request/headers_to_add") {
        let (Some(name), Some(text)) = (header.text("key"), header.text("value")) else {
            return Err("a header that the filter adds to the check has no text".into());
        };
        more[&name] = text.into();
    }
    if more.as_object().is_some_and(|map| !map.is_empty()) {
        one["includeAdditionalHeadersInCheck"] = more;
    }
    http.skip("authorization_request");
    if !http.is_empty() {
        return Err(left(PROVIDER, [&http]).into());
    }
    Ok(("envoyExtAuthzHttp", one))
}

/// Host and port of a gRPC target: `HOST:PORT` or `dns:///HOST:PORT`; short names of Kubernetes services are completed.
fn target_of(target: &str) -> Option<(String, u32)> {
    let rest = target.strip_prefix("dns:").map_or(target, |rest| rest.rsplit('/').next().unwrap_or(rest));
    let (host, port) = rest.rsplit_once(':')?;
    let short = host.rsplit('.').next() == Some("svc");
    let host = if short { format!("{host}.cluster.local") } else { host.to_owned() };
    let plain = !host.is_empty() && host.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c));
    Some((host, port.parse().ok()?)).filter(|_| plain)
}

/// istiod rejects every request while it does not know the provider's service.
fn known(cx: &Cx<'_>, cluster: &str, host: &str, found: &mut Move) {
    // A cluster that a filter adds for a host outside the mesh becomes a ServiceEntry.
    let added = !cluster.contains('|') && !host.ends_with(".svc.cluster.local");
    if cx.mesh.namespace_of_host(host).is_some() {
        found.guard(Concern::Existing, State::Held, format!("istiod knows the service {host}"));
        if !cluster.contains('|') {
            found.difference(
                Kind::Behavior,
                format!(
                    "calls go through istiod's own cluster for {host}: TLS, timeouts and balancing of the filter's cluster {cluster} no longer apply to them"
                ),
            );
        }
    } else if !added {
        found.guard(
            Concern::Existing,
            State::Undecided,
            format!(
                "the input does not have the service {host}, and istiod refuses every request while it does not know it: include its Service or ServiceEntry"
            ),
        );
    }
}

/// Header name patterns in the provider's notation: `exact`, `prefix*`, `*suffix`; istiod ignores case.
fn patterns(list: Vec<Fields>, found: &mut Move) -> Result<Option<Vec<String>>, ErrorMessage> {
    let mut names = Vec::new();
    for mut one in list {
        let sensitive = one.flag("ignore_case") != Some(true);
        if sensitive {
            found.difference(Kind::Metadata, "header names are compared case-insensitively, as HTTP requires");
        }
        let written = one.0.to_string();
        if sensitive && written.chars().any(|c| c.is_ascii_uppercase()) {
            found.difference(
                Kind::Behavior,
                "a header name in upper case never matches in the filter, because Envoy lower-cases names; the provider ignores case, so this header is passed on",
            );
        }
        let name = one
            .text("exact")
            .or_else(|| one.text("prefix").map(|text| format!("{text}*")))
            .or_else(|| one.text("suffix").map(|text| format!("*{text}")));
        match name {
            // A star inside a name is not a wildcard in the filter.
            Some(name) if one.is_empty() && !written.contains('*') => names.push(name),
            _ => return Err("a provider names headers whole, by their start (`x-*`) or by their end (`*-x`); the filter matches one in another way, or by a name with `*`: list the headers one by one in the filter (`exact`)".into()),
        }
    }
    Ok((!names.is_empty()).then_some(names))
}
