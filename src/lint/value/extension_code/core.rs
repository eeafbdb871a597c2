//! What the code of Envoy's core rejects although the API allows it: headers, routes, clusters, addresses and TLS.

use super::object::{Refusal, child, has, holder, is, is_set, is_true, refusal, span, text};
use crate::lint::value::constraint::duration;
use crate::lint::value::walk::{self, get};
use crate::lint::value::{Object, PatchValue};
use crate::source::Node;
use crate::source::escape::one_line;
use std::collections::BTreeSet;
use std::net::IpAddr;

pub(super) fn items<'a>(object: &Object<'a>, name: &str) -> &'a [Node] {
    object.member(name).map_or(&[], |member| member.entry.value.items())
}

/// A number that is written, also as text.
pub(super) fn number(object: &Object<'_>, name: &str) -> Option<u64> {
    walk::number(&object.member(name)?.entry.value)
}

/// The seconds of a duration.
pub(super) fn seconds(object: &Object<'_>, name: &str) -> Option<f64> {
    let written = &object.member(name)?.entry.value;
    if object.in_typed_struct && written.as_str().is_none() {
        #[allow(clippy::cast_precision_loss, reason = "bounds are whole milliseconds or more")]
        return duration(written).map(|nanos| nanos as f64 / 1e9);
    }
    written.as_str()?.strip_suffix('s')?.parse().ok()
}

/// The name of a host where an IP address is expected.
pub(super) fn host_name(node: &Node) -> Option<&str> {
    node.as_str().filter(|name| !name.is_empty() && name.parse::<IpAddr>().is_err())
}

fn is_needed(header: &str) -> bool {
    header.starts_with(':') || header.eq_ignore_ascii_case("host")
}

/// Headers that Envoy's router needs cannot be set or removed like others (`HeaderParser::configure`).
pub(super) fn headers(_: &PatchValue<'_>, object: &Object<'_>) -> Option<Refusal> {
    let mut removed =
        ["request_headers_to_remove", "response_headers_to_remove"].into_iter().flat_map(|list| items(object, list));
    if let Some(node) = removed.find(|node| node.as_str().is_some_and(is_needed)) {
        let message = format!("`{}` cannot be removed", node.as_str().unwrap_or_default());
        return Some(refusal(node.span, message, "delete the entry: a request without it would be invalid"));
    }
    let lists = ["request_headers_to_add", "response_headers_to_add", "headers_to_add"];
    // Read in the text: a value may have thousands of routes, and the list of its objects is searched from the beginning.
    let mut added =
        lists.into_iter().flat_map(|list| items(object, list)).filter_map(|option| get(get(option, "header")?, "key"));
    let key = added.find(|key| key.as_str().is_some_and(is_needed))?;
    let name = key.as_str().unwrap_or_default();
    let help = match name {
        ":path" => "write `prefix_rewrite` or `regex_rewrite` in the route, or change it with Lua",
        ":status" if object.member("filter").is_some() => "write `status_code` beside the list",
        ":method" | ":scheme" | ":status" => "change it with Lua",
        _ => "write `host_rewrite_literal` in the route",
    };
    Some(refusal(key.span, format!("`{name}` cannot be set by a list of headers"), help))
}

/// The same in the filter that changes headers; it may remove them.
pub(super) fn mutation(_: &PatchValue<'_>, mutation: &Object<'_>) -> Option<Refusal> {
    let key = get(get(get(mutation.node, "append")?, "header")?, "key")?;
    let name = key.as_str().filter(|name| is_needed(name))?;
    let help = "change it with Lua, or in the route";
    Some(refusal(key.span, format!("`{name}` cannot be set by a list of headers"), help))
}

/// Two ways to find the client's address.
pub(super) fn trusted_hops(_: &PatchValue<'_>, manager: &Object<'_>) -> Option<Refusal> {
    let detects = !items(manager, "original_ip_detection_extensions").is_empty();
    let hops = number(manager, "xff_num_trusted_hops").is_some_and(|hops| hops > 0);
    (detects && hops).then(|| {
        let message = "`xff_num_trusted_hops` and `original_ip_detection_extensions` exclude each other";
        refusal(span(manager, "xff_num_trusted_hops"), message, "remove one of them")
    })
}

/// A path is rewritten in one way, and an upgrade is named once.
pub(super) fn route_action(_: &PatchValue<'_>, action: &Object<'_>) -> Option<Refusal> {
    let rewrites = ["prefix_rewrite", "regex_rewrite", "path_rewrite_policy"];
    let mut given = rewrites.into_iter().filter(|name| has(action, name) && action.text(name) != Some(""));
    if let (Some(one), Some(other)) = (given.next(), given.next()) {
        let message = format!("`{one}` and `{other}` exclude each other");
        return Some(refusal(span(action, other), message, "remove one of them"));
    }
    let mut known = BTreeSet::new();
    let names = items(action, "upgrade_configs").iter().filter_map(|upgrade| get(upgrade, "upgrade_type"));
    let mut again = names.filter(|node| {
        let name = node.as_str().filter(|name| !name.is_empty());
        name.is_some_and(|name| !known.insert(name.to_lowercase()))
    });
    again.next().map(|node| {
        let name = node.as_str().unwrap_or_default();
        refusal(node.span, format!("`upgrade_configs` names {name} twice"), "remove one of them")
    })
}

/// Pauses between retries grow up to a limit.
pub(super) fn back_off(_: &PatchValue<'_>, pauses: &Object<'_>) -> Option<Refusal> {
    let (base, most) = (seconds(pauses, "base_interval")?, seconds(pauses, "max_interval")?);
    (most < base).then(|| {
        let help = format!("write at least {base}s, or remove it: the default is ten times `base_interval`");
        refusal(span(pauses, "max_interval"), "`max_interval` is shorter than `base_interval`", help)
    })
}

/// So do the pauses of a TCP proxy, and between attempts to get keys.
pub(super) fn pauses(value: &PatchValue<'_>, pauses: &Object<'_>) -> Option<Refusal> {
    let above = |object: &Object<'_>| object.parent.and_then(|(at, _)| value.objects.get(at));
    let owner = above(pauses)?;
    let checked = owner.short_name() == "TcpProxy" || above(owner).is_some_and(|it| it.short_name() == "RemoteJwks");
    if checked { back_off(value, pauses) } else { None }
}

/// A prefix of paths begins like a path.
pub(super) fn path_prefix(_: &PatchValue<'_>, service: &Object<'_>) -> Option<Refusal> {
    let prefix = text(service, "path_prefix").filter(|prefix| !prefix.starts_with('/'))?;
    let help = format!("path_prefix: /{}", one_line(prefix));
    Some(refusal(span(service, "path_prefix"), "`path_prefix` must start with `/`", help))
}

/// A merge of a matcher leaves the routes that istiod generates for every virtual host.
pub(super) fn matcher(_: &PatchValue<'_>, host: &Object<'_>) -> Option<Refusal> {
    (!host.whole && has(host, "matcher") && !has(host, "routes")).then(|| {
        let help = "insert routes with HTTP_ROUTE patches, or replace the virtual host (operation: REPLACE)";
        refusal(
            span(host, "matcher"),
            "`matcher` is merged into a virtual host with `routes`: both exclude each other",
            help,
        )
    })
}

/// Some cluster must get requests.
pub(super) fn weights(_: &PatchValue<'_>, clusters: &Object<'_>) -> Option<Refusal> {
    let all = items(clusters, "clusters");
    let nothing = |cluster: &Node| get(cluster, "weight").and_then(walk::number) == Some(0);
    if !all.is_empty() && all.iter().all(nothing) {
        let help = "write a weight above 0 for at least one cluster";
        return Some(refusal(clusters.span, "all weights are 0", help));
    }
    let sum: u64 =
        all.iter().filter_map(|cluster| get(cluster, "weight").and_then(walk::number)).fold(0, u64::saturating_add);
    (sum > u64::from(u32::MAX)).then(|| {
        refusal(
            clusters.span,
            "the sum of the weights exceeds 4294967295",
            "write smaller weights, such as percentages",
        )
    })
}

/// A share of the requests goes to one cluster.
pub(super) fn weighted(_: &PatchValue<'_>, cluster: &Object<'_>) -> Option<Refusal> {
    let [fixed, header] = ["name", "cluster_header"];
    cluster.envoy?.field(header)?;
    match (text(cluster, fixed).is_some(), text(cluster, header).is_some()) {
        (true, true) => {
            let message = format!("`{fixed}` and `{header}` exclude each other");
            Some(refusal(span(cluster, header), message, "remove one of them"))
        }
        (false, false) => Some(refusal(cluster.span, "an item of `weighted_clusters` needs a `name`", "add `name`")),
        _ if cluster.member("weight").is_none() => {
            let help = "weight: 50";
            Some(refusal(cluster.span, "an item of `weighted_clusters` needs a `weight`", help))
        }
        _ => None,
    }
}

/// So does a copy of a request.
pub(super) fn mirrored(_: &PatchValue<'_>, policy: &Object<'_>) -> Option<Refusal> {
    let [fixed, header] = ["cluster", "cluster_header"];
    policy.envoy?.field(header)?;
    (text(policy, fixed).is_none() && text(policy, header).is_none())
        .then(|| refusal(policy.span, "a mirror policy needs a `cluster`", "add `cluster`"))
}

/// A virtual cluster is what its headers match.
pub(super) fn virtual_cluster(_: &PatchValue<'_>, cluster: &Object<'_>) -> Option<Refusal> {
    items(cluster, "headers").is_empty().then(|| {
        let help = "headers:\n- name: \":path\"\n  string_match: {prefix: /}";
        refusal(cluster.span, "a virtual cluster needs `headers`", help)
    })
}

/// Two ways to say what happens to a header that exists.
pub(super) fn append_action(_: &PatchValue<'_>, option: &Object<'_>) -> Option<Refusal> {
    (has(option, "append") && is_set(option, "append_action")).then(|| {
        let message = "`append` and `append_action` exclude each other";
        refusal(span(option, "append"), message, "remove `append`, which is deprecated")
    })
}

/// Only CONNECT ends in the proxy.
pub(super) fn connect_config(_: &PatchValue<'_>, upgrade: &Object<'_>) -> Option<Refusal> {
    let kind = text(upgrade, "upgrade_type")?;
    (has(upgrade, "connect_config") && !["connect", "connect-udp"].contains(&kind.to_lowercase().as_str())).then(|| {
        refusal(span(upgrade, "connect_config"), format!("the upgrade `{kind}` has no `connect_config`"), "remove it")
    })
}

/// Headers of the request for authorization.
pub(super) fn authorization_headers(_: &PatchValue<'_>, request: &Object<'_>) -> Option<Refusal> {
    let mut keys = items(request, "headers_to_add").iter().filter_map(|header| get(header, "key"));
    let key = keys.find(|key| key.as_str().is_some_and(is_needed))?;
    let message = format!("`{}` cannot be set by a list of headers", key.as_str().unwrap_or_default());
    Some(refusal(key.span, message, "remove it: Envoy sets it"))
}

/// A name belongs to one virtual host of a route configuration, whatever its case.
pub(super) fn domains(_: &PatchValue<'_>, routes: &Object<'_>) -> Option<Refusal> {
    let mut known = BTreeSet::new();
    let all = items(routes, "virtual_hosts").iter().filter_map(|host| get(host, "domains")).flat_map(Node::items);
    let mut again = all.filter(|node| node.as_str().is_some_and(|domain| !known.insert(domain.to_lowercase())));
    again.next().map(|node| {
        let message =
            format!("the domain `{}` is given twice in this route configuration", node.as_str().unwrap_or_default());
        refusal(node.span, message, "remove one of them")
    })
}

fn has_policy(cluster: &Object<'_>) -> bool {
    is(cluster, "lb_policy", "CLUSTER_PROVIDED") || has(cluster, "load_balancing_policy")
}

fn needs_policy(cluster: &Object<'_>, kind: &str) -> Refusal {
    let message = format!("a cluster {kind} needs `lb_policy: CLUSTER_PROVIDED`");
    refusal(span(cluster, "lb_policy"), message, "lb_policy: CLUSTER_PROVIDED")
}

/// Whether a cluster has a type of Envoy's own.
fn is_of_type(cluster: &Object<'_>, kind: &str) -> bool {
    !has(cluster, "cluster_type") && is(cluster, "type", kind)
}

/// A dynamic forward proxy selects hosts itself.
pub(super) fn forward_proxy(value: &PatchValue<'_>, cluster: &Object<'_>) -> Option<Refusal> {
    let own = child(value, cluster, "cluster_type")?;
    let forwards = text(own, "name") == Some("envoy.clusters.dynamic_forward_proxy");
    (forwards && !has_policy(cluster)).then(|| needs_policy(cluster, "of dynamic forward proxies"))
}

/// So does a cluster that sends to the original destination.
pub(super) fn original_destination(_: &PatchValue<'_>, cluster: &Object<'_>) -> Option<Refusal> {
    let wrong = is_of_type(cluster, "ORIGINAL_DST") && !has_policy(cluster);
    wrong.then(|| needs_policy(cluster, "of type `ORIGINAL_DST`"))
}

/// Endpoints come from somewhere.
pub(super) fn endpoints(value: &PatchValue<'_>, cluster: &Object<'_>) -> Option<Refusal> {
    let source = child(value, cluster, "eds_cluster_config").is_some_and(|eds| has(eds, "eds_config"));
    (is_of_type(cluster, "EDS") && !source).then(|| {
        let help = "eds_cluster_config:\n  eds_config: {ads: {}, resource_api_version: V3}";
        refusal(span(cluster, "type"), "a cluster of type `EDS` needs an `eds_config`", help)
    })
}

/// A logical host is one host.
pub(super) fn logical_dns(value: &PatchValue<'_>, cluster: &Object<'_>) -> Option<Refusal> {
    if !is_of_type(cluster, "LOGICAL_DNS") {
        return None;
    }
    let assignment = child(value, cluster, "load_assignment");
    let places = assignment.map(|assignment| items(assignment, "endpoints")).unwrap_or_default();
    let number: usize =
        places.iter().filter_map(|place| get(place, "lb_endpoints")).map(|list| list.items().len()).sum();
    let given = assignment.filter(|assignment| has(assignment, "endpoints"));
    let place = given.map_or(span(cluster, "type"), |assignment| span(assignment, "endpoints"));
    let message = "a cluster of type `LOGICAL_DNS` has one endpoint";
    match (places.len(), number) {
        (1, 1) => None,
        (_, 0) => Some(refusal(place, message, "add the host to `lb_endpoints` of `load_assignment`")),
        _ => Some(refusal(place, message, "write one name, or `type: STRICT_DNS`")),
    }
}

/// A ring has a smallest size that is not above its largest one.
pub(super) fn ring(_: &PatchValue<'_>, ring: &Object<'_>) -> Option<Refusal> {
    let [least, most] = ["minimum_ring_size", "maximum_ring_size"];
    let (low, high) = (number(ring, least)?, number(ring, most)?);
    (low > high).then(|| refusal(span(ring, least), format!("`{least}` is above `{most}`"), format!("{least}: {high}")))
}

/// A range of statuses ends behind its start.
pub(super) fn statuses(value: &PatchValue<'_>, range: &Object<'_>) -> Option<Refusal> {
    let (_, field) = holder(value, range, "envoy.config.core.v3.HealthCheck.HttpHealthCheck")?;
    let end = number(range, "end")?;
    let start = number(range, "start").unwrap_or(0);
    if start < 100 || end > 600 {
        let message = format!("a range of `{field}` contains numbers that are not HTTP statuses");
        return Some(refusal(range.span, message, "write a range from 100, up to 600"));
    }
    (start >= end).then(|| {
        let help = "`end` is not part of the range: `{start: 200, end: 201}` is 200 alone";
        refusal(range.span, format!("a range of `{field}` starts at {start} and ends before {end}"), help)
    })
}

/// A network is an address and a length.
pub(super) fn network(_: &PatchValue<'_>, network: &Object<'_>) -> Option<Refusal> {
    let prefix = network.member("address_prefix")?;
    let written = host_name(&prefix.entry.value)?;
    let help = match written.split_once('/').map(|(address, length)| (address.parse::<IpAddr>(), length.parse::<u8>()))
    {
        Some((Ok(address), Ok(length))) => format!("address_prefix: {address}\nprefix_len: {length}"),
        _ => "write an IP address, and the length in `prefix_len`".to_owned(),
    };
    Some(refusal(prefix.entry.value.span, "`address_prefix` is not an IP address", help))
}

/// Connections are bound to an address, not a name.
pub(super) fn source_address(value: &PatchValue<'_>, address: &Object<'_>) -> Option<Refusal> {
    holder(value, address, "envoy.config.core.v3.BindConfig").filter(|(_, field)| *field == "source_address")?;
    let written = address.member("address")?;
    host_name(&written.entry.value)?;
    Some(refusal(written.entry.value.span, "`source_address` is not an IP address", "write an IP address of the proxy"))
}

/// A wildcard stands for whole labels at the beginning of a name.
pub(super) fn server_names(_: &PatchValue<'_>, chain: &Object<'_>) -> Option<Refusal> {
    let partial = |name: &str| name.contains('*') && !name.starts_with("*.");
    let node = items(chain, "server_names").iter().find(|node| node.as_str().is_some_and(partial))?;
    let message = format!("`{}` is not a server name that Envoy can match", node.as_str().unwrap_or_default());
    Some(refusal(
        node.span,
        message,
        "write a whole name, or `*.` before one; without `server_names` every name matches",
    ))
}

/// A server needs a certificate.
pub(super) fn server_certificate(value: &PatchValue<'_>, context: &Object<'_>) -> Option<Refusal> {
    let sources = [
        "tls_certificates",
        "tls_certificate_sds_secret_configs",
        "tls_certificate_provider_instance",
        "tls_certificate_certificate_provider",
        "tls_certificate_certificate_provider_instance",
        "custom_tls_certificate_selector",
    ];
    let common = child(value, context, "common_tls_context");
    if common.is_some_and(|common| sources.iter().any(|source| has(common, source))) {
        return None;
    }
    let place = common.map_or(context.span, |common| common.span);
    let help = "add `tls_certificate_sds_secret_configs`, such as istiod's secret `default`";
    Some(refusal(place, "`DownstreamTlsContext` has no certificate", help))
}

/// Answers are only kept for requests that went to the service.
pub(super) fn kept_answers(_: &PatchValue<'_>, filter: &Object<'_>) -> Option<Refusal> {
    (!is_true(filter, "pass_through_mode") && has(filter, "cache_time")).then(|| {
        let help = "write `pass_through_mode: true`, or remove `cache_time`";
        refusal(span(filter, "cache_time"), "`cache_time` needs `pass_through_mode: true`", help)
    })
}
