//! Names of filters: those of old releases, and those that istiod generates, with their releases.

pub(crate) use crate::source::alike::name as nearest;
pub(crate) use crate::words::count;

use crate::model::release::Release;
use crate::model::resource::BOOTSTRAP_CLUSTERS;

/// Istio stopped comparing old names in matches with this release.
pub(crate) const LEGACY_NAMES_UNTIL: Release = Release::minor(19);

/// A name that istiod generates, for some configuration of the mesh.
struct Generated {
    name: &'static str,
    since: Release,
    until: Release,
}

const EVER: Release = Release::minor(0);
const STILL: Release = Release::minor(999);

const fn name(name: &'static str) -> Generated {
    Generated { name, since: EVER, until: STILL }
}

/// Names that istiod generates both for HTTP filters and for network filters: Istio's own, and plugins.
const BOTH: &[Generated] = &[
    name("istio.metadata_exchange"),
    name("istio.stackdriver"),
    name("istio.stats"),
    Generated { name: "istio_authn", since: EVER, until: Release::minor(24) },
    Generated { name: "extenstions.istio.io/wasmplugin/", since: Release::minor(21), until: Release::minor(26) },
    Generated { name: "extensions.istio.io/wasmplugin/", since: Release::minor(26), until: Release::minor(30) },
    Generated { name: "extensions.istio.io/trafficextension/", since: Release::minor(30), until: STILL },
];

/// From istiod's `pilot/pkg/networking`, `pilot/pkg/xds/filters`, `pilot/pkg/security`, releases 1.22 to 1.31, whatever
/// condition generates them (a policy, a protocol, a provider). A name ending in `/` is a prefix.
const GENERATED: &[(&str, &[Generated])] = &[
    (
        "http",
        &[
            name("connect_authority"),
            name("envoy.filters.http.alpn"),
            name("envoy.filters.http.composite"),
            name("envoy.filters.http.cors"),
            name("envoy.filters.http.dynamic_forward_proxy"),
            name("envoy.filters.http.ext_authz"),
            name("envoy.filters.http.ext_proc"),
            name("envoy.filters.http.fault"),
            name("envoy.filters.http.grpc_stats"),
            name("envoy.filters.http.grpc_web"),
            name("envoy.filters.http.health_check"),
            name("envoy.filters.http.jwt_authn"),
            name("envoy.filters.http.peer_metadata"),
            name("envoy.filters.http.rbac"),
            name("envoy.filters.http.router"),
            name("envoy.filters.http.stateful_session"),
            name("istio.alpn"),
            name("upstream_hbone_peer_metadata"),
            name("waypoint_downstream_peer_metadata"),
            name("waypoint_upstream_peer_metadata"),
        ],
    ),
    (
        "network",
        &[
            name("connect_authority"),
            name("envoy.filters.network.connection_limit"),
            name("envoy.filters.network.ext_authz"),
            name("envoy.filters.network.http_connection_manager"),
            name("envoy.filters.network.mongo_proxy"),
            name("envoy.filters.network.mysql_proxy"),
            name("envoy.filters.network.rbac"),
            name("envoy.filters.network.redis_proxy"),
            name("envoy.filters.network.set_filter_state"),
            name("envoy.filters.network.sni_cluster"),
            name("envoy.filters.network.tcp_proxy"),
            name("envoy.filters.network.thrift_proxy"),
            name("istio.peer_metadata"),
        ],
    ),
    (
        "listener",
        &[
            name("envoy.filters.listener.http_inspector"),
            name("envoy.filters.listener.original_dst"),
            name("envoy.filters.listener.original_src"),
            name("envoy.filters.listener.proxy_protocol"),
            name("envoy.filters.listener.set_dst_address"),
            name("envoy.filters.listener.tls_inspector"),
            name("set_dst_address"),
        ],
    ),
];

/// Whether istiod generates a filter of that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// This release does, for some meshes.
    Now,
    /// Other releases do: the first, and the first that no longer does.
    Other(Release, Option<Release>),
    /// None does.
    Never,
}

fn of_kind(kind: &str) -> impl Iterator<Item = &'static Generated> + use<> {
    let own = GENERATED.iter().find(|(known, _)| *known == kind).map_or(&[][..], |(_, names)| *names);
    let both = if kind == "listener" { &[] } else { BOTH };
    own.iter().chain(both)
}

/// Whether a release generates a filter of this kind (`http`, `network`, `listener`) and name.
pub(crate) fn known(kind: &str, name: &str, release: Release) -> Known {
    let same = |one: &&Generated| if one.name.ends_with('/') { name.starts_with(one.name) } else { name == one.name };
    match of_kind(kind).find(same) {
        Some(one) if one.since <= release && release < one.until => Known::Now,
        Some(one) => Known::Other(one.since, (one.until != STILL).then_some(one.until)),
        None => Known::Never,
    }
}

/// The names of this kind that a release generates, without prefixes.
pub(crate) fn generated(kind: &str, release: Release) -> impl Iterator<Item = &'static str> {
    let now = move |one: &&Generated| one.since <= release && release < one.until && !one.name.ends_with('/');
    of_kind(kind).filter(now).map(|one| one.name)
}

/// Up to `most` of these names in backquotes, and how many more there are.
pub(crate) fn listed<'n>(names: impl IntoIterator<Item = &'n str>, most: usize) -> String {
    listed_or(names, most, "(no name)")
}

/// The same for texts that are not names, with a word for an empty one.
pub(crate) fn listed_or<'n>(names: impl IntoIterator<Item = &'n str>, most: usize, absent: &str) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    let quote = |name: &&str| if name.is_empty() { absent.to_owned() } else { format!("`{name}`") };
    let shown: Vec<String> = names.iter().take(most).map(quote).collect();
    match names.len().saturating_sub(most) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// The cluster that was most likely meant: for a generated name one of the same service, or of a service with a similar
/// host and the same port.
pub(crate) fn cluster_like<'n>(wanted: &str, among: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let parts = |name: &'n str| -> Option<[&'n str; 4]> { name.split('|').collect::<Vec<_>>().try_into().ok() };
    let wanted_parts: Vec<&str> = wanted.split('|').collect();
    let &[direction, port, subset, host] = wanted_parts.as_slice() else {
        return nearest(wanted, among.into_iter().filter(|name| !name.contains('|')));
    };
    let all: Vec<(&str, [&str; 4])> = among
        .into_iter()
        .filter_map(|name| Some((name, parts(name)?)))
        .filter(|(_, parts)| parts[0] == direction && !parts[3].is_empty())
        .collect();
    let same_host = all.iter().filter(|(_, parts)| parts[3] == host);
    let distance = |parts: &[&str; 4]| usize::from(parts[1] != port) + usize::from(parts[2] != subset);
    if let Some((name, _)) = same_host.min_by_key(|(name, parts)| (distance(parts), *name)) {
        return Some(name);
    }
    // A short host, if it is short for one host only.
    let is_short_for = |full: &str| full.strip_prefix(host).is_some_and(|rest| rest.starts_with('.'));
    let longer = || all.iter().filter(|(_, parts)| !host.is_empty() && is_short_for(parts[3]));
    if let Some((first, of_first)) = longer().min_by_key(|(name, parts)| (distance(parts), *name)) {
        return longer().all(|(_, parts)| parts[3] == of_first[3]).then_some(first);
    }
    let of_port = || all.iter().filter(|(_, parts)| parts[1] == port && parts[2] == subset);
    let like = nearest(host, of_port().map(|(_, parts)| parts[3]))?;
    of_port().find(|(_, parts)| parts[3] == like).map(|(name, _)| *name)
}

/// The virtual host that the clients of a waypoint's service have, from the name of the service's filter chain.
pub(crate) fn client_virtual_host(chain: &str) -> Option<String> {
    let (port, rest) = chain.strip_prefix("inbound-vip|")?.split_once('|')?;
    Some(format!("{}:{port}", rest.strip_prefix("http|")?))
}

/// Whether every proxy may have a cluster of this name: from the bootstrap, or of istiod for any mesh.
pub(crate) fn is_cluster_of_any_mesh(name: &str) -> bool {
    let catch_all = [
        "BlackHoleCluster",
        "InboundPassthroughCluster",
        "InboundPassthroughClusterIpv4",
        "InboundPassthroughClusterIpv6",
        "PassthroughCluster",
    ];
    BOOTSTRAP_CLUSTERS.contains(&name) || catch_all.contains(&name)
}

/// Whether istiod may generate an object of this name in some mesh: its names contain a host or address, or a port.
pub(crate) fn may_be_generated(name: &str) -> bool {
    let port = name.rsplit(['_', '-', '.']).next().is_some_and(|end| end.parse::<u16>().is_ok());
    let fixed = ["allow_any", "block_all", "default", "virtualInbound", "virtualOutbound", "main_internal"];
    port || name.contains(['|', ':', '.'])
        || name.contains("Cluster")
        || name.contains("connect")
        || fixed.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_clusters_belong_to_the_service_or_to_a_similar_host() {
        let all =
            ["outbound|80||cart.shop.svc.cluster.local", "outbound|9000||cart.shop.svc.cluster.local", "static-site"];
        let like = |wanted| cluster_like(wanted, all);
        assert_eq!(like("outbound|81||cart.shop.svc.cluster.local"), Some(all[0]));
        assert_eq!(like("outbound|9000|v1|cart.shop.svc.cluster.local"), Some(all[1]));
        assert_eq!(like("outbound|80||cartt.shop.svc.cluster.local"), Some(all[0]));
        assert_eq!(like("outbound|80||bill.shop.svc.cluster.local"), None);
        assert_eq!(like("outbound|9000||cart.shop"), Some(all[1]));
        assert_eq!(like("outbound|80||car"), None);
        let two = ["outbound|80||cart.shop.svc.cluster.local", "outbound|80||cart.test.svc.cluster.local"];
        assert_eq!(cluster_like("outbound|80||cart", two), None);
        assert_eq!(like("static_site"), Some("static-site"));
        assert_eq!(like("payments"), None);
    }

    #[test]
    fn old_names_have_a_name_of_their_kind() {
        assert_eq!(crate::envoy::canonical_filter_name("http", "envoy.router"), Some("envoy.filters.http.router"));
        assert_eq!(
            crate::envoy::canonical_filter_name("network", "envoy.ext_authz"),
            Some("envoy.filters.network.ext_authz")
        );
        assert_eq!(crate::envoy::canonical_filter_name("http", "envoy.tcp_proxy"), None);
        assert_eq!(
            crate::envoy::canonical_filter_name("listener", "envoy.listener.tls_inspector"),
            Some("envoy.filters.listener.tls_inspector")
        );
    }

    #[test]
    fn names_come_and_go_with_releases() {
        assert_eq!(known("http", "istio_authn", Release::minor(23)), Known::Now);
        assert_eq!(known("http", "istio_authn", Release::minor(24)), Known::Other(EVER, Some(Release::minor(24))));
        assert_eq!(known("http", "extensions.istio.io/wasmplugin/a.b", Release::minor(26)), Known::Now);
        assert_eq!(known("http", "envoy.filters.http.lua", Release::NEWEST), Known::Never);
    }
}
