//! The names that istiod uses, by release, and a config dump with the names of a later release.
//!
//! A dump shows what the current istiod generates. For the next one, only the changed names, the omitted listener
//! filters and the added domains are known; everything else is assumed to stay.

use crate::model::proxy::ProxyKind;
use crate::model::release::Release;
use crate::model::resource::{ProxyConfig, Resource, ResourceKind};
use crate::proto::json::{self, Style};
use crate::proto::tree::{Origin, Tree};
use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;

/// A name that a release of istiod changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Renamed {
    /// The kinds that have the name: `cluster`, `http` (filter), `network` (filter).
    pub kinds: &'static [&'static str],
    /// The name before; one that ends in `/` is a prefix.
    pub old: &'static str,
    /// The name after.
    pub new: &'static str,
    /// Suffix of the new name, after what follows the prefix.
    pub suffix: &'static str,
    /// The first release with the new name.
    pub since: Release,
}

/// Names that istiod changed (1.22 to 1.31: recordings, and `pilot/pkg/networking/util/util.go`,
/// `pilot/pkg/model/extensions.go` of each release).
pub(crate) const RENAMED: &[Renamed] = &[
    Renamed {
        kinds: &["cluster", "route", "vhost"],
        old: "InboundPassthroughClusterIpv4",
        new: "InboundPassthroughCluster",
        suffix: "",
        since: Release::minor(23),
    },
    Renamed {
        kinds: &["cluster", "route", "vhost"],
        old: "InboundPassthroughClusterIpv6",
        new: "InboundPassthroughCluster",
        suffix: "",
        since: Release::minor(23),
    },
    Renamed {
        kinds: &["http", "network"],
        old: "extenstions.istio.io/wasmplugin/",
        new: "extensions.istio.io/wasmplugin/",
        suffix: "",
        since: Release::minor(26),
    },
    Renamed {
        kinds: &["http", "network"],
        old: "extensions.istio.io/wasmplugin/",
        new: "extensions.istio.io/trafficextension/",
        suffix: TRANSLATED,
        since: Release::minor(30),
    },
];

impl Renamed {
    /// A JSON text with the new names. A name with the prefix ends at the end of its string.
    fn replace(&self, text: &str) -> String {
        let mut parts = text.split(self.old);
        let mut replaced = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            replaced.push_str(self.new);
            let end = part.find(['"', '\\']).unwrap_or(part.len());
            replaced.push_str(&part[..end]);
            replaced.push_str(self.suffix);
            replaced.push_str(&part[end..]);
        }
        replaced
    }
}

/// Suffix of the TrafficExtension that istiod creates from a WasmPlugin, and thus of the name of its filter
/// (`pilot/pkg/config/kube/extensions/translate.go`, 1.30.0 to 1.31).
pub(crate) const TRANSLATED: &str = "~istio-translated-wasmplugin";

/// The name after an upgrade, and the release that changed it last; `None` if it stays.
pub(crate) fn renamed(kind: &str, name: &str, from: Release, to: Release) -> Option<(String, Release)> {
    names(kind, name, from, to).pop()
}

/// Every name that an object gets along an upgrade, with the release that introduces it.
pub(crate) fn names(kind: &str, name: &str, from: Release, to: Release) -> Vec<(String, Release)> {
    let mut found: Vec<(String, Release)> = Vec::new();
    for one in RENAMED.iter().filter(|one| one.kinds.contains(&kind) && from < one.since && one.since <= to) {
        let now = found.last().map_or(name, |(name, _)| name.as_str());
        let next = match now.strip_prefix(one.old) {
            Some(rest) if rest.is_empty() != one.old.ends_with('/') => format!("{}{rest}{}", one.new, one.suffix),
            _ => continue,
        };
        found.push((next, one.since));
    }
    found
}

/// The newest name of an object that istiod has renamed; any other name unchanged.
pub(crate) fn newest(name: &str) -> &str {
    RENAMED.iter().find(|one| one.old == name).map_or(name, |one| one.new)
}

/// First release that adds `tls_inspector` to a sidecar's outbound listener only if a filter chain needs it: up to 1.24
/// every listener with an `http_inspector` has it (recordings of 1.24 and 1.26).
const INSPECTOR_WHERE_ASKED: Release = Release::minor(26);

/// First release whose waypoints have no `tls_inspector` on `main_internal` (recordings of 1.26 and 1.28).
const WAYPOINT_WITHOUT_INSPECTOR: Release = Release::minor(28);

/// First release in which a sidecar's virtual hosts of services also have their name with a trailing dot (recordings of
/// 1.26 and 1.28; release notes of 1.27).
const ABSOLUTE_DOMAINS: Release = Release::minor(27);

const TLS_INSPECTOR: &str = "envoy.filters.listener.tls_inspector";

/// A field by its proto or its JSON name: a dump may have either.
fn field<'t, 'a>(tree: &'t Tree<'a>, name: &str, json: &str) -> Option<&'t Tree<'a>> {
    tree.get(name).or_else(|| tree.get(json))
}

fn field_mut<'t, 'a>(tree: &'t mut Tree<'a>, name: &str, json: &str) -> Option<&'t mut Tree<'a>> {
    if tree.get(name).is_some() { tree.get_mut(name) } else { tree.get_mut(json) }
}

/// A listener without the `tls_inspector` that later releases omit; `None` if it stays.
fn without_inspector(text: &str, kind: ProxyKind) -> Option<String> {
    memchr::memmem::find(text.as_bytes(), TLS_INSPECTOR.as_bytes())?;
    let mut listener = json::parse(text).ok()?;
    let leaves = match kind {
        ProxyKind::Waypoint => listener.name() == "main_internal",
        ProxyKind::Sidecar => {
            let direction = field(&listener, "traffic_direction", "trafficDirection").and_then(Tree::as_str);
            let chains = field(&listener, "filter_chains", "filterChains").map(Tree::items).unwrap_or_default();
            let asks = |chain: &Tree<'_>| {
                field(chain, "filter_chain_match", "filterChainMatch").is_some_and(|wanted| {
                    field(wanted, "server_names", "serverNames").is_some()
                        || field(wanted, "transport_protocol", "transportProtocol").and_then(Tree::as_str)
                            == Some("tls")
                })
            };
            direction == Some("OUTBOUND") && !chains.iter().any(asks)
        }
        ProxyKind::Gateway => false,
    };
    let filters = field_mut(&mut listener, "listener_filters", "listenerFilters").filter(|_| leaves)?.items_mut()?;
    let before = filters.len();
    filters.retain(|filter| filter.name() != TLS_INSPECTOR);
    (filters.len() < before).then(|| json::write(&listener, Style::Compact))
}

/// A route configuration in which the virtual hosts of services have their absolute names; `None` if none gets one.
fn with_absolute_domains(text: &str) -> Option<String> {
    let mut routes = json::parse(text).ok()?;
    let mut changed = false;
    for vhost in field_mut(&mut routes, "virtual_hosts", "virtualHosts")?.items_mut()? {
        // A host that only a VirtualService names is not a service; it keeps its one domain.
        let of_virtual_service = |route: &Tree<'_>| {
            let metadata = route.get("metadata");
            let metadata = metadata.and_then(|one| field(one, "filter_metadata", "filterMetadata"));
            let config = metadata.and_then(|one| one.path(&["istio", "config"]));
            config.and_then(Tree::as_str).is_some_and(|config| config.contains("/virtual-service/"))
        };
        let has_virtual_service =
            vhost.get("routes").map(Tree::items).unwrap_or_default().iter().any(of_virtual_service);
        let name = vhost.name().rsplit_once(':').map(|(host, _)| host.to_owned()).unwrap_or_default();
        let Some(domains) = vhost.get_mut("domains").and_then(Tree::items_mut) else { continue };
        if has_virtual_service && domains.len() == 1 {
            continue;
        }
        let absolute = format!("{name}.");
        let is_name = name.contains('.') && !name.starts_with('*') && name.parse::<IpAddr>().is_err();
        let first = domains.first().and_then(Tree::as_str) == Some(name.as_str());
        if is_name && first && !domains.iter().any(|domain| domain.as_str() == Some(absolute.as_str())) {
            domains.insert(1, Tree::string(absolute, Origin::ISTIOD));
            changed = true;
        }
    }
    changed.then(|| json::write(&routes, Style::Compact))
}

/// A configuration with the names of a later release.
#[derive(Debug)]
pub struct Forecast {
    texts: Vec<Option<String>>,
    /// The version that the proxy gets; `None`: it keeps its own.
    proxies: Option<Release>,
}

impl Forecast {
    /// Applies the renames between two releases of istiod. The proxy becomes one of `proxies` if that is a different
    /// minor release.
    pub fn new(config: &ProxyConfig<'_>, from: Release, to: Release, proxies: Option<Release>) -> Forecast {
        let wanted: Vec<&Renamed> = RENAMED.iter().filter(|one| from < one.since && one.since <= to).collect();
        let text = |json: &str| {
            let mut text = Cow::Borrowed(json);
            for one in &wanted {
                if memchr::memmem::find(text.as_bytes(), one.old.as_bytes()).is_some() {
                    text = Cow::Owned(one.replace(&text));
                }
            }
            match text {
                Cow::Owned(text) => Some(text),
                Cow::Borrowed(_) => None,
            }
        };
        let crosses = |release: Release| from < release && release <= to;
        let kind = config.proxy.kind;
        let listeners = match kind {
            ProxyKind::Sidecar => crosses(INSPECTOR_WHERE_ASKED),
            ProxyKind::Waypoint => crosses(WAYPOINT_WITHOUT_INSPECTOR),
            ProxyKind::Gateway => false,
        };
        let routes = kind == ProxyKind::Sidecar && crosses(ABSOLUTE_DOMAINS);
        let texts = if wanted.is_empty() && !listeners && !routes {
            Vec::new()
        } else {
            let now = |resource: &Resource<'_>| {
                let renamed = text(resource.json.search());
                let here = renamed.as_deref().unwrap_or(resource.json.search());
                let other = match resource.kind {
                    ResourceKind::Listener if listeners => without_inspector(here, kind),
                    ResourceKind::Route if routes => with_absolute_domains(here),
                    _ => None,
                };
                let other = other.or(renamed);
                if other.is_some() {
                    // The new text has the secrets of the old.
                    resource.json.read();
                }
                other
            };
            config.resources.iter().map(now).collect()
        };
        let runs: Option<Release> = config.proxy.istio_version.parse().ok();
        let other =
            |proxies: &Release| runs.is_none_or(|runs| (runs.major, runs.minor) != (proxies.major, proxies.minor));
        Forecast { texts, proxies: proxies.filter(other) }
    }

    /// The configuration.
    pub fn apply<'a>(&'a self, config: &ProxyConfig<'a>) -> ProxyConfig<'a> {
        let resources = config.resources.iter().enumerate().map(|(index, resource)| {
            let Some(json) = self.texts.get(index).and_then(Option::as_deref) else { return resource.clone() };
            let name = RENAMED.iter().find(|one| one.old == resource.name).map(|one| Cow::Borrowed(one.new));
            Resource { json: json.into(), name: name.unwrap_or_else(|| resource.name.clone()), ..resource.clone() }
        });
        let mut proxy = config.proxy.clone();
        if let Some(proxies) = self.proxies {
            proxy.istio_version = proxies.to_string();
            if let Some(version) = Arc::make_mut(&mut proxy.metadata).get_mut("ISTIO_VERSION") {
                *version = proxy.istio_version.clone().into();
            }
            // The extensions of another build are unknown.
            proxy.extensions.clear();
            proxy.envoy_version = None;
        }
        ProxyConfig { resources: resources.collect(), proxy, ..config.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_every_change_on_the_way() {
        let old = "extenstions.istio.io/wasmplugin/shop.auth";
        let to = |from, to| renamed("http", old, Release::minor(from), Release::minor(to)).map(|(name, _)| name);
        assert_eq!(to(24, 26).as_deref(), Some("extensions.istio.io/wasmplugin/shop.auth"));
        let translated = "extensions.istio.io/trafficextension/shop.auth~istio-translated-wasmplugin";
        assert_eq!(to(24, 30).as_deref(), Some(translated));
        let plugin = &RENAMED[3];
        assert_eq!(
            plugin.replace(r#"{"name":"extensions.istio.io/wasmplugin/shop.auth","x":1}"#),
            format!(r#"{{"name":"{translated}","x":1}}"#)
        );
        assert_eq!(to(22, 25), None);
        let cluster = |name| renamed("cluster", name, Release::minor(22), Release::NEWEST).map(|(name, _)| name);
        assert_eq!(cluster("InboundPassthroughClusterIpv4").as_deref(), Some("InboundPassthroughCluster"));
        assert_eq!(cluster("InboundPassthroughClusterIpv4x"), None);
    }
}
