//! What istiod calls things, by release, and a config dump as a later release would have it.
//!
//! A dump shows what the current istiod generates. Of what the next one generates, what is known for certain are the names
//! that change; the rest is taken to stay.

use crate::model::release::Release;
use crate::model::resource::{ProxyConfig, Resource};
use std::borrow::Cow;
use std::sync::Arc;

/// A name that a release of istiod changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renamed {
    /// What is called so: `cluster`, `http` (filter), `network` (filter).
    pub kinds: &'static [&'static str],
    /// The name before; one that ends in `/` is the beginning of names.
    pub old: &'static str,
    /// The name after.
    pub new: &'static str,
    /// The first release with the new name.
    pub since: Release,
}

/// Names that istiod changed (1.22 to 1.31: recordings, and `pilot/pkg/networking/util/util.go`,
/// `pilot/pkg/model/extensions.go` of each release).
pub const RENAMED: &[Renamed] = &[
    Renamed {
        kinds: &["cluster", "route", "vhost"],
        old: "InboundPassthroughClusterIpv4",
        new: "InboundPassthroughCluster",
        since: Release::minor(23),
    },
    Renamed {
        kinds: &["cluster", "route", "vhost"],
        old: "InboundPassthroughClusterIpv6",
        new: "InboundPassthroughCluster",
        since: Release::minor(23),
    },
    Renamed {
        kinds: &["http", "network"],
        old: "extenstions.istio.io/wasmplugin/",
        new: "extensions.istio.io/wasmplugin/",
        since: Release::minor(26),
    },
    Renamed {
        kinds: &["http", "network"],
        old: "extensions.istio.io/wasmplugin/",
        new: "extensions.istio.io/trafficextension/",
        since: Release::minor(30),
    },
];

/// What a name is called after an upgrade, and the release that changed it last; `None` when it stays.
pub fn renamed(kind: &str, name: &str, from: Release, to: Release) -> Option<(String, Release)> {
    let mut current: Option<(String, Release)> = None;
    for one in RENAMED.iter().filter(|one| one.kinds.contains(&kind) && from < one.since && one.since <= to) {
        let now = current.as_ref().map_or(name, |(name, _)| name.as_str());
        let next = match now.strip_prefix(one.old) {
            Some(rest) if rest.is_empty() != one.old.ends_with('/') => format!("{}{rest}", one.new),
            _ => continue,
        };
        current = Some((next, one.since));
    }
    current
}

/// The newest name of an object that istiod has renamed; every other name as it is.
pub fn newest(name: &str) -> &str {
    RENAMED.iter().find(|one| one.old == name).map_or(name, |one| one.new)
}

/// A configuration with the names of a later release.
#[derive(Debug)]
pub struct Forecast {
    texts: Vec<Option<String>>,
    /// The version that the proxy gets; `None`: it keeps its own.
    proxies: Option<Release>,
}

impl Forecast {
    /// Renames what changes its name between two releases of istiod; the proxy becomes one of `proxies`, when that is
    /// another minor release than it runs.
    pub fn new(config: &ProxyConfig<'_>, from: Release, to: Release, proxies: Option<Release>) -> Forecast {
        let wanted: Vec<&Renamed> = RENAMED.iter().filter(|one| from < one.since && one.since <= to).collect();
        let text = |json: &str| {
            let mut text = Cow::Borrowed(json);
            for one in &wanted {
                if memchr::memmem::find(text.as_bytes(), one.old.as_bytes()).is_some() {
                    text = Cow::Owned(text.replace(one.old, one.new));
                }
            }
            match text {
                Cow::Owned(text) => Some(text),
                Cow::Borrowed(_) => None,
            }
        };
        let texts = if wanted.is_empty() {
            Vec::new()
        } else {
            config.resources.iter().map(|resource| text(resource.json)).collect()
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
            Resource { json, name: name.unwrap_or_else(|| resource.name.clone()), ..resource.clone() }
        });
        let mut proxy = config.proxy.clone();
        if let Some(proxies) = self.proxies {
            proxy.istio_version = proxies.to_string();
            if let Some(version) = Arc::make_mut(&mut proxy.metadata).get_mut("ISTIO_VERSION") {
                *version = proxy.istio_version.clone().into();
            }
            // What another build holds is not known from this one.
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
        assert_eq!(to(24, 30).as_deref(), Some("extensions.istio.io/trafficextension/shop.auth"));
        assert_eq!(to(22, 25), None);
        let cluster = |name| renamed("cluster", name, Release::minor(22), Release::NEWEST).map(|(name, _)| name);
        assert_eq!(cluster("InboundPassthroughClusterIpv4").as_deref(), Some("InboundPassthroughCluster"));
        assert_eq!(cluster("InboundPassthroughClusterIpv4x"), None);
    }
}
