//! The parts of a cluster that matter to EnvoyFilters: workloads, services, gateways, mesh settings.
//!
//! Only the fields that decide where a filter applies or what it can match. Each object keeps its document for places.

use super::envoy_filter::EnvoyFilter;
use super::owner;
use super::proxy::GATEWAY_NAME_LABEL;
use crate::source::{Node, Span};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Labels or annotations.
pub(crate) type Labels = BTreeMap<String, String>;

/// The labels in a mapping of a document; what is no text is left out.
pub(crate) fn labels(node: Option<&Node>) -> Labels {
    let entries = node.map_or(&[][..], Node::entries);
    entries.iter().filter_map(|entry| Some((entry.key.clone(), entry.value.as_str()?.to_owned()))).collect()
}

/// A list shared by its copies, as are its items: a copy with one item less is cheap.
pub(crate) type Shared<T> = Arc<Vec<Arc<T>>>;

/// Everything that was read, in order of the inputs' names. Lists that can have thousands of items are shared between copies.
#[derive(Clone, Debug, Default)]
pub struct Inventory {
    /// EnvoyFilters.
    pub envoy_filters: Vec<EnvoyFilter>,
    /// EnvoyFilters that the API server rejects, so only their names are read.
    pub refused_filters: Vec<RefusedFilter>,
    /// Namespaces.
    pub namespaces: Shared<Object>,
    /// Workloads: pods, controllers of pods, virtual machines.
    pub workloads: Shared<Workload>,
    /// Kubernetes Services.
    pub services: Shared<Service>,
    /// Istio ServiceEntries.
    pub service_entries: Shared<ServiceEntry>,
    /// Istio Gateways.
    pub gateways: Shared<Gateway>,
    /// Gateways of the Kubernetes Gateway API.
    pub kube_gateways: Shared<KubeGateway>,
    /// Istio VirtualServices.
    pub virtual_services: Shared<VirtualService>,
    /// Istio DestinationRules.
    pub destination_rules: Shared<DestinationRule>,
    /// Istio Sidecars.
    pub sidecars: Shared<Sidecar>,
    /// Objects that only migrations and single rules read, unparsed: policies, Telemetry, extensions, HTTPRoutes, manifests of
    /// installations.
    pub policies: Shared<Object>,
    /// Mesh settings, one per control plane, the default revision first.
    pub meshes: Arc<Vec<Mesh>>,
    /// Revision tags and their revisions, from the labels of the webhooks that define the tags.
    pub revision_tags: BTreeMap<String, String>,
    /// Number of ignored documents of other kinds, by kind.
    pub other: BTreeMap<String, usize>,
    /// Indexes of these lists.
    pub indexes: Arc<Indexes>,
}

/// Numbers of workloads in their list, in its order, by key and value of a label.
pub(crate) type ByLabel = HashMap<String, HashMap<String, Vec<usize>>>;

/// Indexes of the lists of an inventory, each built when it is first asked for and shared by the inventory's copies.
#[derive(Debug, Default)]
pub struct Indexes {
    workloads: Index<Workload, ByLabel>,
    services: Index<Service, HashMap<String, usize>>,
    kinds: Index<Workload, Index<Gateway, HashMap<String, Kinds>>>,
}

/// The kinds of proxies that workloads run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kinds {
    /// Whether some run a gateway.
    pub gateways: bool,
    /// Whether some do not.
    pub sidecars: bool,
}

/// The indexes of the lists that were last asked about, the latest at the end: reviews of a cluster ask in turns about all
/// workloads and about those of single namespaces.
#[derive(Debug)]
struct Index<T, I>(Mutex<Vec<Known<T, I>>>);

/// Most lists with an index.
const INDEXED: usize = 8;

/// A list, unless it is gone, and its index.
type Known<T, I> = (Weak<Vec<Arc<T>>>, Arc<I>);

impl<T, I> Default for Index<T, I> {
    fn default() -> Self {
        Index(Mutex::default())
    }
}

impl<T, I> Index<T, I> {
    fn of(&self, list: &Shared<T>, build: impl FnOnce(&[Arc<T>]) -> I) -> Arc<I> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Lists are changed in place only while nothing else refers to them; then the weak reference is dead.
        let is_same = |(one, _): &Known<T, I>| one.upgrade().is_some_and(|one| Arc::ptr_eq(&one, list));
        if let Some(at) = known.iter().rposition(is_same) {
            known[at..].rotate_left(1);
        } else {
            known.retain(|(one, _)| one.strong_count() > 0);
            if known.len() == INDEXED {
                known.remove(0);
            }
            known.push((Arc::downgrade(list), Arc::new(build(list))));
        }
        let (_, index) = &known[known.len() - 1];
        Arc::clone(index)
    }
}

impl Inventory {
    /// The workloads by label.
    pub(crate) fn workloads_by_label(&self) -> Arc<ByLabel> {
        self.indexes.workloads.of(&self.workloads, |workloads| {
            let mut index = ByLabel::new();
            for (number, workload) in workloads.iter().enumerate() {
                for (key, value) in &workload.labels {
                    if !index.contains_key(key) {
                        index.insert(key.clone(), HashMap::new());
                    }
                    let Some(values) = index.get_mut(key) else { continue };
                    match values.get_mut(value) {
                        Some(numbers) => numbers.push(number),
                        None => drop(values.insert(value.clone(), vec![number])),
                    }
                }
            }
            index
        })
    }

    /// The workloads with all of these labels, of which there is at least one.
    pub(crate) fn labelled<'a, 'l>(&'a self, labels: &'l Labels) -> impl Iterator<Item = &'a Workload> + use<'a, 'l> {
        let index = self.workloads_by_label();
        let of = labels.iter().map(|(key, value)| index.get(key).and_then(|values| values.get(value)));
        let fewest = of.map(|of| of.map_or(&[][..], Vec::as_slice)).min_by_key(|of| of.len()).unwrap_or_default();
        let found: Vec<usize> = fewest.to_vec();
        let has = |one: &&Workload| labels.iter().all(|(key, value)| one.labels.get(key) == Some(value));
        found.into_iter().filter_map(|number| self.workloads.get(number)).map(AsRef::as_ref).filter(has)
    }

    /// Whether a workload runs a gateway.
    pub(crate) fn is_gateway(&self, workload: &Workload) -> bool {
        let injection = &workload.injection;
        let selects = |gateway: &Gateway| {
            !gateway.selector.is_empty()
                && gateway.selector.iter().all(|(key, value)| workload.labels.get(key) == Some(value))
        };
        injection.templates.as_deref() == Some("gateway")
            || injection.proxy_args.iter().any(|argument| argument == "router")
            || workload.labels.contains_key(GATEWAY_NAME_LABEL)
            || self.gateways.iter().any(|gateway| selects(gateway))
    }

    /// What the workloads of a namespace, or of all, run.
    pub(crate) fn kinds(&self, namespace: Option<&str>) -> Kinds {
        let index = self.indexes.kinds.of(&self.workloads, |_| Index::default()).of(&self.gateways, |_| {
            let mut kinds: HashMap<String, Kinds> = HashMap::new();
            for workload in self.workloads.iter() {
                let of = kinds.entry(workload.object.namespace.clone()).or_default();
                if self.is_gateway(workload) { of.gateways = true } else { of.sidecars = true }
            }
            kinds
        });
        match namespace {
            Some(namespace) => index.get(namespace).copied().unwrap_or_default(),
            None => Kinds {
                gateways: index.values().any(|kinds| kinds.gateways),
                sidecars: index.values().any(|kinds| kinds.sidecars),
            },
        }
    }

    /// The Service with this full host name.
    pub(crate) fn service_of_host(&self, host: &str) -> Option<&Service> {
        let name = host.strip_suffix(".svc.cluster.local")?;
        let index = self.indexes.services.of(&self.services, |services| {
            let mut index = HashMap::new();
            for (number, Service { object, .. }) in services.iter().map(AsRef::as_ref).enumerate() {
                index.entry(format!("{}.{}", object.name, object.namespace)).or_insert(number);
            }
            index
        });
        self.services.get(*index.get(name)?).map(AsRef::as_ref)
    }

    /// Everything but EnvoyFilters. The lists are shared, so a copy costs a list of pointers.
    #[must_use]
    pub(crate) fn without_filters(&self) -> Inventory {
        Inventory {
            envoy_filters: Vec::new(),
            refused_filters: self.refused_filters.clone(),
            namespaces: self.namespaces.clone(),
            workloads: self.workloads.clone(),
            services: self.services.clone(),
            service_entries: self.service_entries.clone(),
            gateways: self.gateways.clone(),
            kube_gateways: self.kube_gateways.clone(),
            virtual_services: self.virtual_services.clone(),
            destination_rules: self.destination_rules.clone(),
            sidecars: self.sidecars.clone(),
            policies: self.policies.clone(),
            meshes: Arc::clone(&self.meshes),
            revision_tags: self.revision_tags.clone(),
            other: self.other.clone(),
            indexes: Arc::clone(&self.indexes),
        }
    }

    /// The namespace with this name.
    pub(crate) fn namespace(&self, name: &str) -> Option<&Object> {
        self.namespaces.iter().find(|namespace| namespace.name == name).map(Arc::as_ref)
    }

    /// The namespace whose filters apply to all namespaces, from the default revision's mesh settings; `istio-system` (the
    /// default of every release) when there are none.
    pub fn root_namespace(&self) -> &str {
        self.meshes.first().map_or(DEFAULT_ROOT_NAMESPACE, |mesh| &mesh.root_namespace)
    }
}

/// Istio's default for `meshConfig.rootNamespace`.
pub(crate) const DEFAULT_ROOT_NAMESPACE: &str = "istio-system";

/// An EnvoyFilter that the API server rejects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedFilter {
    /// `metadata.name`.
    pub name: String,
    /// `metadata.namespace`, or the caller's default.
    pub namespace: String,
    /// The document's place.
    pub span: Span,
}

/// The common part of every Kubernetes object.
#[derive(Clone, Debug)]
pub struct Object {
    /// `kind`.
    pub kind: String,
    /// `metadata.name`.
    pub name: String,
    /// `metadata.namespace`, or the caller's default; empty for a Namespace.
    pub namespace: String,
    /// `metadata.labels`.
    pub labels: Labels,
    /// `metadata.annotations`.
    pub annotations: Labels,
    /// The document. For a pod only its place, because a mesh has many and all needed fields are read.
    pub document: Node,
}

/// A pod, a controller of pods, a WorkloadEntry or a WorkloadGroup.
#[derive(Clone, Debug)]
pub struct Workload {
    /// The object.
    pub object: Object,
    /// Labels of its pods, compared with selectors.
    pub labels: Labels,
    /// Annotations of its pods.
    pub annotations: Labels,
    /// Kind and name of the controller that owns it (`metadata.ownerReferences` with `controller: true`).
    pub owner: Option<(String, String)>,
    /// Ports of its containers, without those of the proxy.
    pub ports: Vec<ContainerPort>,
    /// Whether it runs a proxy.
    pub injection: Injection,
    /// Its lifecycle state; only for a pod.
    pub state: PodState,
    /// Image of istiod's own container, `discovery`, if it has one.
    pub discovery_image: Option<String>,
}

impl Workload {
    /// Kind and name of the workload that it is or belongs to: for a pod, the Deployment behind its ReplicaSet.
    pub(crate) fn controller(&self) -> (&str, &str) {
        let Some((kind, name)) = self.owner.as_ref().filter(|_| self.object.kind == "Pod") else {
            return (&self.object.kind, &self.object.name);
        };
        owner::behind(kind, name, |key| self.labels.get(key).map(String::as_str))
    }
}

/// The keys to the pod in an object of a kind.
pub(crate) fn pod_of(kind: &str) -> &'static [&'static str] {
    match kind {
        "Pod" | "WorkloadEntry" => &[],
        "WorkloadGroup" => &["spec"],
        "CronJob" => &["spec", "jobTemplate", "spec", "template"],
        _ => &["spec", "template"],
    }
}

/// The lifecycle state of a pod.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PodState {
    /// Terminating (`metadata.deletionTimestamp`).
    pub ending: bool,
    /// Running, and ready if that is known.
    pub ready: bool,
}

/// A port of a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerPort {
    /// `name`, empty when absent.
    pub name: String,
    /// `containerPort`.
    pub number: u32,
}

/// What decides whether a pod gets a sidecar, in addition to the labels of its namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Injection {
    /// Label `sidecar.istio.io/inject`, or the annotation of that name if the label is missing.
    pub asked: Option<String>,
    /// Label `istio.io/rev`.
    pub revision: Option<String>,
    /// Annotation `inject.istio.io/templates`: `gateway` makes the pod a gateway.
    pub templates: Option<String>,
    /// Image of the container `istio-proxy`, if the document has one because it is already injected.
    pub proxy_image: Option<String>,
    /// Arguments of that container; the first two are `proxy` and the proxy's type.
    pub proxy_args: Vec<String>,
    /// Capabilities that its `securityContext` adds; `ALL` if it is privileged.
    pub(crate) proxy_capabilities: Vec<String>,
    /// User of that container, if known.
    pub(crate) proxy_user: Option<u32>,
    /// `hostNetwork`: such pods get no sidecar.
    pub host_network: bool,
}

/// A Service.
#[derive(Clone, Debug)]
pub struct Service {
    /// The object.
    pub object: Object,
    /// `spec.selector`.
    pub selector: Labels,
    /// `spec.ports`.
    pub ports: Vec<ServicePort>,
    /// `spec.type`, `ClusterIP` when absent.
    pub service_type: String,
    /// `spec.clusterIP` is `None`.
    pub headless: bool,
    /// Annotation `networking.istio.io/exportTo`, split at commas.
    pub export_to: Vec<String>,
}

/// A port of a Service or ServiceEntry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServicePort {
    /// `name`, empty when absent.
    pub name: String,
    /// `port` (Service) or `number` (ServiceEntry).
    pub number: u32,
    /// The target port on the pod; the port itself when absent.
    pub target: TargetPort,
    /// `protocol`: TCP or UDP for a Service, Istio's protocol for a ServiceEntry.
    pub protocol: String,
    /// `appProtocol` of a Service.
    pub app_protocol: Option<String>,
}

/// A target port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetPort {
    /// By number.
    Number(u32),
    /// By the name of a container's port.
    Name(String),
}

/// A ServiceEntry.
#[derive(Clone, Debug)]
pub struct ServiceEntry {
    /// The object.
    pub object: Object,
    /// `spec.hosts`.
    pub hosts: Vec<String>,
    /// `spec.addresses`.
    pub addresses: Vec<String>,
    /// `spec.ports`.
    pub ports: Vec<ServicePort>,
    /// `spec.location`.
    pub location: String,
    /// `spec.resolution`.
    pub resolution: String,
    /// `spec.exportTo`.
    pub export_to: Vec<String>,
    /// `spec.workloadSelector.labels`.
    pub selector: Labels,
}

/// An Istio Gateway.
#[derive(Clone, Debug)]
pub struct Gateway {
    /// The object.
    pub object: Object,
    /// `spec.selector`.
    pub selector: Labels,
    /// `spec.servers`.
    pub servers: Vec<Server>,
}

/// A server of an Istio Gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// `name`.
    pub name: String,
    /// `bind`.
    pub bind: String,
    /// `port.number`.
    pub port: u32,
    /// `port.name`.
    pub port_name: String,
    /// `port.protocol`.
    pub protocol: String,
    /// `hosts`.
    pub hosts: Vec<String>,
    /// `tls.mode`; `None` without `tls`, empty when `tls` has no mode.
    pub tls_mode: Option<String>,
}

impl Server {
    /// Its hosts without the namespaces before them.
    pub(crate) fn bare_hosts(&self) -> impl Iterator<Item = &str> {
        self.hosts.iter().map(|host| host.rsplit('/').next().unwrap_or(host))
    }
}

/// A Gateway of the Kubernetes Gateway API.
#[derive(Clone, Debug)]
pub struct KubeGateway {
    /// The object.
    pub object: Object,
    /// `spec.gatewayClassName`.
    pub class: String,
    /// `spec.listeners`.
    pub listeners: Vec<KubeListener>,
}

impl KubeGateway {
    /// Whether it is a waypoint, by its class.
    pub(crate) fn is_waypoint(&self) -> bool {
        self.class.contains("waypoint")
    }
}

/// A listener of a Gateway API gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KubeListener {
    /// `name`.
    pub name: String,
    /// `port`.
    pub port: u32,
    /// `protocol`.
    pub protocol: String,
    /// `hostname`, empty for all.
    pub hostname: String,
}

/// A VirtualService.
#[derive(Clone, Debug)]
pub struct VirtualService {
    /// The object.
    pub object: Object,
    /// `spec.hosts`.
    pub hosts: Vec<String>,
    /// `spec.gateways`; empty stands for `mesh`.
    pub gateways: Vec<String>,
    /// `spec.exportTo`.
    pub export_to: Vec<String>,
    /// `spec.http[].name`, empty where absent.
    pub http_routes: Vec<String>,
}

/// A DestinationRule.
#[derive(Clone, Debug)]
pub struct DestinationRule {
    /// The object.
    pub object: Object,
    /// `spec.host`.
    pub host: String,
    /// `spec.subsets[].name`.
    pub subsets: Vec<String>,
    /// `spec.exportTo`.
    pub export_to: Vec<String>,
    /// `spec.workloadSelector.matchLabels`.
    pub selector: Labels,
}

/// A Sidecar.
#[derive(Clone, Debug)]
pub struct Sidecar {
    /// The object.
    pub object: Object,
    /// `spec.workloadSelector.labels`; empty for a namespace's default.
    pub selector: Labels,
    /// `spec.egress[].hosts`, all together.
    pub egress_hosts: Vec<String>,
    /// `spec.ingress[].port.number`.
    pub ingress_ports: Vec<u32>,
}

/// The settings of a control plane, from a ConfigMap `istio` or `istio-<revision>`, key `mesh`.
#[derive(Clone, Debug)]
pub struct Mesh {
    /// The ConfigMap.
    pub object: Object,
    /// The part of its name after `istio-`; empty for the default revision.
    pub revision: String,
    /// `rootNamespace`.
    pub root_namespace: String,
    /// `defaultServiceExportTo`.
    pub default_service_export_to: Vec<String>,
    /// `outboundTrafficPolicy.mode`, empty when absent.
    pub outbound_traffic_mode: String,
    /// All of it, with places in a text of its own.
    pub settings: Node,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn an_index_stays_while_other_lists_come_and_go() {
        let (index, built) = (Index::<u8, usize>::default(), Cell::new(0));
        let ask = |list: &Shared<u8>| {
            *index.of(list, |items| {
                built.set(built.get() + 1);
                items.len()
            })
        };
        let of = |numbers: usize| -> Shared<u8> { Arc::new((0..numbers).map(|_| Arc::new(0)).collect()) };
        let all = of(9);
        for number in 0..3 * INDEXED {
            // As a review does: a list of its own.
            assert_eq!((ask(&all), ask(&of(number))), (9, number));
        }
        assert_eq!(built.get(), 1 + 3 * INDEXED);
        assert!(index.0.lock().unwrap().len() <= 2);
        // Many lists at the same time: the one that was not asked about for longest is forgotten.
        let lists: Vec<Shared<u8>> = (0..INDEXED).map(of).collect();
        for list in &lists {
            ask(list);
        }
        built.set(0);
        for list in lists.iter().rev() {
            ask(list);
        }
        assert_eq!(built.get(), 0);
        assert_eq!((ask(&all), built.get()), (9, 1));
    }

    #[test]
    fn a_changed_list_has_another_index() {
        let index = Index::<u8, usize>::default();
        let mut list: Shared<u8> = Arc::new(vec![Arc::new(1)]);
        assert_eq!(*index.of(&list, <[_]>::len), 1);
        Arc::make_mut(&mut list).push(Arc::new(2));
        assert_eq!(*index.of(&list, <[_]>::len), 2);
    }
}
