//! Compares the proxies before and after a migration: the actual differences, with their effects.

use super::compare::{Resources, differences, explain};
use crate::migrate::base::verdict::{Class, Difference, class_of};
use crate::model::resource::{ProxyConfig, Resource, ResourceKind};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

/// A proxy before and after.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Proxy {
    /// `namespace/name`, or the name of the workload.
    pub name: String,
    /// Each difference once, with the number of places.
    pub differences: Vec<(Difference, usize)>,
    /// The class of them.
    pub class: Class,
}

/// The result of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Verified {
    /// Proxies with a dump on both sides.
    pub proxies: Vec<Proxy>,
    /// Proxies with a dump on only one side.
    pub unpaired: BTreeSet<String>,
}

impl Verified {
    /// The worst class; `None` if nothing was compared.
    pub(crate) fn class(&self) -> Option<Class> {
        self.proxies.iter().map(|proxy| proxy.class).max()
    }
}

/// The resources of a dump.
pub(crate) fn resources(config: &ProxyConfig<'_>) -> Resources {
    let mut all = Resources::new();
    for kind in ResourceKind::ALL {
        for (_, resource) in config.generated(kind) {
            add(&mut all, resource);
        }
    }
    all
}

/// The key of a kind of resource in [`Resources`].
pub(crate) const fn key(kind: ResourceKind) -> &'static str {
    match kind {
        ResourceKind::ExtensionConfig => "ecds",
        _ => kind.as_str(),
    }
}

/// Adds a resource of a dump.
pub(crate) fn add(all: &mut Resources, resource: &Resource<'_>) {
    if let Some(value) = content(resource.json.read()) {
        all.entry(key(resource.kind).to_owned()).or_default().insert(resource.name.to_string(), value);
    }
}

/// A resource without its type.
pub(crate) fn content(json: &str) -> Option<Json> {
    let mut value: Json = serde_json::from_str(json).ok()?;
    if let Some(map) = value.as_object_mut() {
        map.shift_remove("@type");
    }
    Some(value)
}

/// Names that identify a proxy before and after: pods get new names when they restart, workloads do not.
pub(crate) fn name(config: &ProxyConfig<'_>) -> String {
    let proxy = &config.proxy;
    let own = if proxy.workload.is_empty() { &proxy.name } else { &proxy.workload };
    format!("{}/{own}", proxy.namespace)
}

/// The replicas of each workload; equal ones are stored once.
#[derive(Debug, Default)]
pub(crate) struct Side(BTreeMap<String, Vec<Resources>>);

impl Side {
    /// Adds a proxy.
    pub(crate) fn add(&mut self, name: String, resources: Resources) {
        let replicas = self.0.entry(name).or_default();
        if !replicas.contains(&resources) {
            replicas.push(resources);
        }
    }
}

/// Compares proxies by name, each replica with each; `renamed` maps clusters to their new names.
pub(crate) fn verify(before: &Side, after: &Side, renamed: &BTreeMap<String, String>) -> Verified {
    let (Side(before), Side(after)) = (before, after);
    let mut verified = Verified::default();
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for name in names {
        let (Some(old), Some(new)) = (before.get(name), after.get(name)) else {
            verified.unpaired.insert(name.clone());
            continue;
        };
        let mut counted: Vec<(Difference, usize)> = Vec::new();
        let pairs = old.iter().flat_map(|old| new.iter().map(move |new| (old, new)));
        for found in pairs.flat_map(|(old, new)| differences(old, new, renamed)) {
            let one = explain(name, &found, &[]);
            match counted.iter_mut().find(|(known, _)| *known == one) {
                Some((_, number)) => *number += 1,
                None => counted.push((one, 1)),
            }
        }
        counted.sort_by_key(|(one, _)| std::cmp::Reverse(one.kind));
        let all: Vec<Difference> = counted.iter().map(|(one, _)| one.clone()).collect();
        verified.proxies.push(Proxy { name: name.clone(), class: class_of(&all, &[], false), differences: counted });
    }
    verified
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn side(proxies: &[(&str, Json)]) -> Side {
        let mut side = Side::default();
        for (name, value) in proxies {
            let clusters = BTreeMap::from([("c".to_owned(), value.clone())]);
            side.add((*name).to_owned(), Resources::from([("cluster".to_owned(), clusters)]));
        }
        side
    }

    #[test]
    fn lists_may_have_any_order_where_envoy_does_not_read_it() {
        let class = |one: Json, other: Json| {
            let of = |route: Json| {
                let table = json!({ "virtual_hosts": [{ "name": "v", "routes": [route] }] });
                Resources::from([("route".to_owned(), BTreeMap::from([("80".to_owned(), table)]))])
            };
            let found = differences(&of(one), &of(other), &BTreeMap::new());
            class_of(&found.iter().map(|one| explain("p", one, &[])).collect::<Vec<_>>(), &[], false)
        };
        let removed = |list: [&str; 2]| json!({ "response_headers_to_remove": list });
        assert_eq!(class(removed(["server", "x-a"]), removed(["x-a", "server"])), Class::SameBut);
        assert_eq!(class(removed(["server", "x-a"]), removed(["x-b", "server"])), Class::Differs);
        let codes = |list: &[u16]| json!({ "route": { "retry_policy": { "retriable_status_codes": list } } });
        assert_eq!(class(codes(&[503, 503]), codes(&[503])), Class::SameBut);
        assert_eq!(class(codes(&[503, 502]), codes(&[503])), Class::Differs);
        let mirrors = |shares: &[u32]| {
            let to = |share: &u32| json!({ "cluster": "a", "runtime_fraction": { "default_value": { "numerator": share } } });
            json!({ "route": { "request_mirror_policies": shares.iter().map(to).collect::<Vec<_>>() } })
        };
        assert_eq!(class(mirrors(&[10, 100]), mirrors(&[100, 10])), Class::SameBut);
        assert_eq!(class(mirrors(&[10, 10, 100]), mirrors(&[100, 100, 10])), Class::Differs);
    }

    #[test]
    fn of_equal_items_each_is_compared_with_the_one_in_its_place() {
        let proxy = |own: bool| json!({ "name": "proxy_protocol", "typed_config": { "own": own } });
        let inspector = json!({ "name": "envoy.filters.listener.tls_inspector" });
        let of = |list: [Json; 3]| {
            let listener = json!({ "listener_filters": list });
            Resources::from([("listener".to_owned(), BTreeMap::from([("80".to_owned(), listener)]))])
        };
        let before = of([proxy(true), inspector.clone(), proxy(false)]);
        let after = of([proxy(false), inspector, proxy(false)]);
        let found = differences(&before, &after, &BTreeMap::new());
        let paths: Vec<&str> = found.iter().map(|one| one.path.as_str()).collect();
        assert_eq!(paths, ["/listener_filters/0/typed_config/own"]);
    }

    #[test]
    fn defaults_of_a_cors_policy_are_metadata_under_every_key() {
        let class = |preflights: bool| {
            let of = |key: &str, policy: Json| {
                let route = json!({ "name": "r", "typed_per_filter_config": { key: policy } });
                let table = json!({ "virtual_hosts": [{ "name": "v", "routes": [route] }] });
                Resources::from([("route".to_owned(), BTreeMap::from([("80".to_owned(), table)]))])
            };
            let share = json!({ "default_value": { "numerator": 100 } });
            let native = json!({ "filter_enabled": share, "forward_not_matching_preflights": preflights });
            let (before, after) = (of("depot.cors", json!({})), of("envoy.filters.http.cors", native));
            let found = differences(&before, &after, &BTreeMap::new());
            class_of(&found.iter().map(|one| explain("p", one, &[])).collect::<Vec<_>>(), &[], false)
        };
        assert_eq!((class(true), class(false)), (Class::SameBut, Class::Differs));
    }

    #[test]
    fn proxies_are_paired_by_name() {
        let (old, new) = (json!({ "connect_timeout": "3s" }), json!({ "connect_timeout": "5s" }));
        let before = side(&[("shop/cart", old.clone()), ("x/y", json!({}))]);
        let verified = verify(&before, &side(&[("shop/cart", old)]), &BTreeMap::new());
        assert_eq!(verified.class(), Some(Class::Exact));
        assert_eq!(verified.unpaired, BTreeSet::from(["x/y".to_owned()]));
        assert_eq!(verify(&before, &side(&[("shop/cart", new)]), &BTreeMap::new()).class(), Some(Class::Differs));
    }

    /// A single replica that was not restarted is enough.
    #[test]
    fn every_replica_is_compared() {
        let (old, new) = (json!({ "connect_timeout": "3s" }), json!({ "connect_timeout": "5s" }));
        let before = side(&[("shop/cart", old.clone()), ("shop/cart", old.clone())]);
        let after = side(&[("shop/cart", new), ("shop/cart", old)]);
        assert_eq!(verify(&before, &after, &BTreeMap::new()).class(), Some(Class::Differs));
    }
}
