//! The objects of the input by what guards look for, each part built when it is first asked for: with many filters, no
//! question walks all objects.

use super::{discovered, ingress};
use crate::migrate::base::value::has_entry;
use crate::model::destination::full_host;
use crate::model::inventory::{
    DestinationRule, Gateway, Inventory, KubeGateway, Labels, Object, Service, ServiceEntry, VirtualService,
};
use crate::model::proxy_config::ANNOTATION;
use serde_json::Value as Json;
use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// The variable by which a sidecar accepts the tunnels of ambient mode.
const HBONE: &str = "ISTIO_META_ENABLE_HBONE";

type Pair<'a> = (&'a str, &'a str);

/// Objects by kind, namespace and name.
type ByName<'a> = HashMap<&'a str, HashMap<&'a str, HashMap<&'a str, Vec<&'a Object>>>>;

/// A route of the Gateway API with its content.
#[derive(Debug)]
pub(in crate::migrate) struct Route<'a> {
    /// The object.
    pub object: &'a Object,
    /// Its document.
    pub document: Json,
}

/// Objects by a host name; those whose host contains a wildcard apart.
#[derive(Debug)]
struct ByHost<'a, T> {
    exact: HashMap<String, Vec<&'a T>>,
    wildcards: Vec<&'a T>,
}

impl<'a, T> ByHost<'a, T> {
    fn new() -> ByHost<'a, T> {
        ByHost { exact: HashMap::new(), wildcards: Vec::new() }
    }

    fn add(&mut self, host: String, one: &'a T) {
        if host.starts_with('*') {
            self.wildcards.push(one);
        } else {
            self.exact.entry(host).or_default().push(one);
        }
    }
}

/// The index.
#[derive(Debug)]
pub(crate) struct Index<'a> {
    inventory: &'a Inventory,
    service_namespaces: OnceCell<HashSet<&'a str>>,
    services_by_label: OnceCell<BySelector<'a>>,
    gateways_by_label: OnceCell<BySelector<'a>>,
    rules: OnceCell<ByHost<'a, DestinationRule>>,
    virtual_services: OnceCell<ByHost<'a, VirtualService>>,
    entries: OnceCell<HashMap<&'a str, Vec<&'a ServiceEntry>>>,
    objects: OnceCell<ByName<'a>>,
    policies: OnceCell<HashMap<&'a str, Vec<&'a Object>>>,
    routes: OnceCell<Vec<Route<'a>>>,
    discovered: OnceCell<Option<HashMap<&'a str, bool>>>,
    ingresses: OnceCell<HashMap<String, &'a Object>>,
    waypoints: OnceCell<Vec<&'a KubeGateway>>,
    hbone: OnceCell<bool>,
    cors: OnceCell<bool>,
    mesh_config: OnceCell<Option<Json>>,
    joined: OnceCell<HashMap<String, (Pair<'a>, bool)>>,
}

/// Name and namespace of a filter as one name.
pub(in crate::migrate) fn joined(name: &str, namespace: &str) -> String {
    format!("{name}-{namespace}").replace('.', "-")
}

fn pair<'l>((key, value): (&'l String, &'l String)) -> Pair<'l> {
    (key, value)
}

/// No label: stands for an empty selector.
const NONE: Pair<'static> = ("", "");

/// Numbers of objects by the first label of their selector.
type BySelector<'a> = HashMap<Pair<'a>, Vec<usize>>;

fn by_selector<'a, T>(list: &'a [Arc<T>], selector: impl Fn(&'a T) -> &'a Labels) -> BySelector<'a> {
    let mut all = BySelector::new();
    for (at, one) in list.iter().enumerate() {
        all.entry(selector(one).iter().next().map_or(NONE, pair)).or_default().push(at);
    }
    all
}

/// The objects whose selector any of these labels meet, in the order of the input; `more` may be [`NONE`].
fn found<'a, 'l, T>(
    list: &'a [Arc<T>],
    by: &BySelector<'a>,
    selector: impl Fn(&T) -> &Labels,
    labels: impl IntoIterator<Item = &'l Labels>,
    more: &[Pair<'static>],
) -> Vec<&'a T> {
    let mut found = BTreeSet::new();
    for labels in labels {
        for label in labels.iter().map(pair).chain(more.iter().copied()) {
            let near = by.get(&label).map_or(&[][..], Vec::as_slice);
            found.extend(near.iter().copied().filter(|at| includes(labels, selector(&list[*at]))));
        }
    }
    found.into_iter().map(|at| list[at].as_ref()).collect()
}

impl<'a> Index<'a> {
    /// Of everything that was read.
    pub(crate) fn of(inventory: &'a Inventory) -> Index<'a> {
        Index {
            inventory,
            service_namespaces: OnceCell::new(),
            services_by_label: OnceCell::new(),
            gateways_by_label: OnceCell::new(),
            rules: OnceCell::new(),
            virtual_services: OnceCell::new(),
            entries: OnceCell::new(),
            objects: OnceCell::new(),
            policies: OnceCell::new(),
            routes: OnceCell::new(),
            discovered: OnceCell::new(),
            ingresses: OnceCell::new(),
            waypoints: OnceCell::new(),
            hbone: OnceCell::new(),
            cors: OnceCell::new(),
            mesh_config: OnceCell::new(),
            joined: OnceCell::new(),
        }
    }

    /// The waypoints, in the order of the input.
    pub(in crate::migrate) fn waypoints(&self) -> &[&'a KubeGateway] {
        let gateways = self.inventory.kube_gateways.iter().map(AsRef::as_ref);
        self.waypoints.get_or_init(|| gateways.filter(|one| one.is_waypoint()).collect())
    }

    /// Whether some sidecars end the tunnels of ambient mode themselves, as far as the input shows: the mesh settings of the
    /// profile `ambient`, a ProxyConfig or an annotation says so.
    pub(in crate::migrate) fn accepts_tunnels(&self) -> bool {
        let on = |value: Option<&Json>| value.is_some_and(|value| *value == "true" || *value == true);
        *self.hbone.get_or_init(|| {
            let of_mesh = || self.mesh_config().and_then(|mesh| mesh["defaultConfig"]["proxyMetadata"].get(HBONE));
            let mut configs = self.policies("ProxyConfig").iter();
            let mut workloads = self.inventory.workloads.iter();
            on(of_mesh())
                || configs.any(|one| on(one.document.to_json()["spec"]["environmentVariables"].get(HBONE)))
                || workloads.any(|one| one.annotations.get(ANNOTATION).is_some_and(|settings| settings.contains(HBONE)))
        })
    }

    /// Whether a namespace has Services.
    pub(in crate::migrate) fn has_services(&self, namespace: &str) -> bool {
        let all = || self.inventory.services.iter().map(|one| one.object.namespace.as_str()).collect();
        self.service_namespaces.get_or_init(all).contains(namespace)
    }

    /// The Services whose selector these labels meet, in the order of the input. Services without a selector are not among
    /// them.
    pub(in crate::migrate) fn services_of<'l>(&self, labels: impl IntoIterator<Item = &'l Labels>) -> Vec<&'a Service> {
        let services = &self.inventory.services;
        let by_label = self.services_by_label.get_or_init(|| by_selector(services, |one| &one.selector));
        found(services, by_label, |one| &one.selector, labels, &[])
    }

    /// The Gateways whose selector these labels meet, in the order of the input; also those without a selector.
    pub(in crate::migrate) fn gateways_of<'l>(&self, labels: impl IntoIterator<Item = &'l Labels>) -> Vec<&'a Gateway> {
        let gateways = &self.inventory.gateways;
        let by_label = self.gateways_by_label.get_or_init(|| by_selector(gateways, |one| &one.selector));
        found(gateways, by_label, |one| &one.selector, labels, &[NONE])
    }

    fn rules(&self) -> &ByHost<'a, DestinationRule> {
        self.rules.get_or_init(|| {
            let mut all = ByHost::new();
            for one in self.inventory.destination_rules.iter() {
                all.add(full_host(&one.host, &one.object.namespace), one.as_ref());
            }
            all
        })
    }

    /// The DestinationRules of a host alone.
    pub(in crate::migrate) fn rules_of(&self, host: &str) -> &[&'a DestinationRule] {
        self.rules().exact.get(host).map_or(&[], Vec::as_slice)
    }

    /// The DestinationRules of several hosts.
    pub(in crate::migrate) fn wildcard_rules(&self) -> &[&'a DestinationRule] {
        &self.rules().wildcards
    }

    /// The VirtualServices that may name a host, in the order of the input.
    pub(in crate::migrate) fn virtual_services(&self, host: &str) -> impl Iterator<Item = &'a VirtualService> {
        let all = self.virtual_services.get_or_init(|| {
            let mut all = ByHost::new();
            for one in self.inventory.virtual_services.iter() {
                for host in &one.hosts {
                    all.add(full_host(host, &one.object.namespace), one.as_ref());
                }
            }
            all
        });
        all.exact.get(host).into_iter().flatten().chain(&all.wildcards).copied()
    }

    /// The ServiceEntries that declare a host, in the order of the input.
    pub(in crate::migrate) fn entries(&self, host: &str) -> &[&'a ServiceEntry] {
        let entries = self.entries.get_or_init(|| {
            let mut all: HashMap<&str, Vec<&ServiceEntry>> = HashMap::new();
            // The same object may be given twice.
            let mut seen = HashSet::new();
            for one in self.inventory.service_entries.iter() {
                if seen.insert((&one.object.namespace, &one.object.name)) {
                    one.hosts.iter().for_each(|host| all.entry(host.as_str()).or_default().push(one.as_ref()));
                }
            }
            all
        });
        entries.get(host).map_or(&[], Vec::as_slice)
    }

    /// The first ServiceEntry that declares a host.
    pub(in crate::migrate) fn entry(&self, host: &str) -> Option<&'a ServiceEntry> {
        self.entries(host).first().copied()
    }

    /// Existing objects of a kind that may be written, by namespace and name. Gateways of the Gateway API have the kind
    /// `KubeGateway`.
    pub(in crate::migrate) fn objects(&self, kind: &str, namespace: &str, name: &str) -> &[&'a Object] {
        let objects = self.objects.get_or_init(|| {
            let mut all: ByName<'a> = HashMap::new();
            let inventory = self.inventory;
            let mut add = |kind: &'a str, one: &'a Object| {
                let kind = all.entry(kind).or_default();
                kind.entry(&one.namespace).or_default().entry(&one.name).or_default().push(one);
            };
            inventory.virtual_services.iter().for_each(|one| add("VirtualService", &one.object));
            inventory.destination_rules.iter().for_each(|one| add("DestinationRule", &one.object));
            inventory.service_entries.iter().for_each(|one| add("ServiceEntry", &one.object));
            inventory.gateways.iter().for_each(|one| add("Gateway", &one.object));
            inventory.kube_gateways.iter().for_each(|one| add("KubeGateway", &one.object));
            inventory.policies.iter().for_each(|one| add(&one.kind, one));
            all
        });
        let of = objects.get(kind).and_then(|all| all.get(namespace)).and_then(|all| all.get(name));
        of.map_or(&[], Vec::as_slice)
    }

    /// Whether a VirtualService, a route of the Gateway API or an EnvoyFilter has a CORS policy.
    pub(in crate::migrate) fn has_cors(&self) -> bool {
        let has = |document: &Json| {
            has_entry(document, &|key, value| {
                matches!(key, "corsPolicy" | "envoy.filters.http.cors" | "cors") || key == "type" && *value == "CORS"
            })
        };
        *self.cors.get_or_init(|| {
            let inventory = self.inventory;
            inventory.virtual_services.iter().any(|one| has(&one.object.document.to_json()))
                || self.routes().iter().any(|route| has(&route.document))
                || inventory.envoy_filters.iter().any(|filter| has(&filter.document.to_json()))
        })
    }

    /// The settings of the default control plane.
    pub(in crate::migrate) fn mesh_config(&self) -> Option<&Json> {
        let read = || self.inventory.meshes.first().map(|mesh| mesh.settings.to_json());
        self.mesh_config.get_or_init(read).as_ref()
    }

    /// Whether several EnvoyFilters have this `NAME-NAMESPACE`.
    pub(in crate::migrate) fn is_shared(&self, name: &str) -> bool {
        let titles = self.joined.get_or_init(|| {
            let mut all: HashMap<String, (Pair<'a>, bool)> = HashMap::new();
            for filter in &self.inventory.envoy_filters {
                let own = (filter.name.as_str(), filter.namespace.as_str());
                let (first, shared) = all.entry(joined(own.0, own.1)).or_insert((own, false));
                *shared |= *first != own;
            }
            all
        });
        titles.get(name).is_some_and(|(_, shared)| *shared)
    }

    /// Objects of a kind without a dedicated type.
    pub(in crate::migrate) fn policies(&self, kind: &str) -> &[&'a Object] {
        let policies = self.policies.get_or_init(|| {
            let mut all: HashMap<&'a str, Vec<&'a Object>> = HashMap::new();
            self.inventory.policies.iter().for_each(|one| all.entry(&one.kind).or_default().push(one));
            all
        });
        policies.get(kind).map_or(&[], Vec::as_slice)
    }

    /// Whether istiod reads the objects of a namespace, which `discoverySelectors` may leave out; `None` if that is unknown.
    pub(in crate::migrate) fn is_discovered(&self, namespace: &str) -> Option<bool> {
        let of = || discovered::of(&self.inventory.namespaces, self.mesh_config());
        self.discovered.get_or_init(of).as_ref().map_or(Some(true), |all| all.get(namespace).copied())
    }

    /// The Ingress that gives gateways routes for a host, or the first one for any host.
    pub(in crate::migrate) fn ingress(&self, host: Option<&str>) -> Option<&'a Object> {
        let all = self.ingresses.get_or_init(|| {
            ingress::by_host(self.policies("Ingress"), self.policies("IngressClass"), self.mesh_config())
        });
        match host {
            Some(host) => all.get(host).copied(),
            None => all.iter().min_by_key(|(host, _)| *host).map(|(_, ingress)| *ingress),
        }
    }

    /// The routes of the Gateway API, each object once.
    pub(in crate::migrate) fn routes(&self) -> &[Route<'a>] {
        self.routes.get_or_init(|| {
            let mut seen = HashSet::new();
            ["HTTPRoute", "GRPCRoute"]
                .iter()
                .flat_map(|kind| self.policies(kind))
                .filter(|one| seen.insert((&one.kind, &one.namespace, &one.name)))
                .map(|object| Route { object, document: object.document.to_json() })
                .collect()
        })
    }
}

/// Whether labels have all of these.
pub(crate) fn includes(labels: &Labels, wanted: &Labels) -> bool {
    wanted.iter().all(|(key, value)| labels.get(key) == Some(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Loaded, Options};

    #[test]
    fn labels_find_what_selects_them() {
        let mut loaded = Loaded::default();
        let text = "apiVersion: v1\nkind: Service\nmetadata: {name: a, namespace: team}\nspec: {selector: {app: a, tier: web}}\n---\n\
                    apiVersion: v1\nkind: Service\nmetadata: {name: b, namespace: team}\nspec: {selector: {app: a}}\n---\n\
                    apiVersion: v1\nkind: Service\nmetadata: {name: c, namespace: team}\nspec: {ports: [{port: 80}]}\n";
        loaded.add_text("t", text, &Options::default());
        let index = Index::of(&loaded.inventory);
        let labels = Labels::from([("app".to_owned(), "a".to_owned())]);
        let names = |labels: &Labels| -> Vec<&str> {
            index.services_of([labels]).into_iter().map(|one| one.object.name.as_str()).collect()
        };
        assert_eq!(names(&labels), ["b"]);
        let more = Labels::from([("app".to_owned(), "a".to_owned()), ("tier".to_owned(), "web".to_owned())]);
        assert_eq!(names(&more), ["a", "b"]);
        assert!(index.has_services("team") && !index.has_services("other"));
    }
}
