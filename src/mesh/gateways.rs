//! The proxies behind a gateway: for an Istio Gateway those its selector finds, for a Gateway API Gateway its own.

use super::read::Mesh;
use crate::cluster::targets::Target;
use crate::model::inventory::{Gateway, KubeGateway, Labels, Object};
use crate::model::proxy::{GATEWAY_NAME_LABEL, NO_WAYPOINT, ProxyKind, USE_WAYPOINT, USE_WAYPOINT_NAMESPACE};
use crate::source::{Node, NodeValue};
use std::collections::BTreeSet;

/// The name of a gateway, with its namespace if given.
pub(super) type Asked<'a> = (Option<&'a str>, &'a str);

/// The Istio Gateways with the requested name.
pub(super) fn istio<'m>(asked: Asked<'m>, mesh: &'m Mesh<'_>) -> impl Iterator<Item = &'m Gateway> {
    let gateways = mesh.loaded.inventory.gateways.iter().map(AsRef::as_ref);
    gateways.filter(move |gateway: &&Gateway| is(asked, mesh, &gateway.object))
}

fn of_kubernetes<'m>(asked: Asked<'m>, mesh: &'m Mesh<'_>) -> impl Iterator<Item = &'m KubeGateway> {
    let gateways = mesh.loaded.inventory.kube_gateways.iter().map(AsRef::as_ref);
    gateways.filter(move |gateway: &&KubeGateway| is(asked, mesh, &gateway.object))
}

fn is(asked: Asked<'_>, mesh: &Mesh<'_>, object: &Object) -> bool {
    let (namespace, name) = asked;
    let home = mesh.settings.namespace.as_deref().unwrap_or(&mesh.namespace);
    let namespace = namespace.or(Some(home).filter(|_| !mesh.settings.all_namespaces));
    object.name == name && namespace.is_none_or(|namespace| namespace == object.namespace)
}

/// `namespace/name` of the pods behind the gateways with the requested name; `None` if no such object exists.
pub(super) fn behind(asked: Asked<'_>, mesh: &Mesh<'_>) -> Option<BTreeSet<String>> {
    let (mut found, mut pods) = (false, BTreeSet::new());
    let mut take = |fits: &dyn Fn(&Target) -> bool| {
        found = true;
        let fitting = mesh.targets().iter().filter(|target| target.kind != ProxyKind::Sidecar && fits(target));
        pods.extend(fitting.map(Target::full_name));
    };
    for gateway in istio(asked, mesh) {
        take(&|target| selects(&gateway.selector, &target.labels));
    }
    for gateway in of_kubernetes(asked, mesh) {
        let object = &gateway.object;
        let services = addresses(object);
        take(&|target| {
            let own = target.labels.get(GATEWAY_NAME_LABEL) == Some(&object.name);
            let behind = |(namespace, name): &(String, String)| {
                let services = mesh.loaded.inventory.services.iter();
                let mut named = services.filter(|it| it.object.name == *name && it.object.namespace == *namespace);
                target.namespace == *namespace
                    && named.any(|service| !service.selector.is_empty() && selects(&service.selector, &target.labels))
            };
            (own && target.namespace == object.namespace) || services.iter().any(behind)
        });
    }
    found.then_some(pods)
}

/// The waypoint of a Service.
pub(super) struct Waypoint {
    namespace: String,
    name: String,
    /// `namespace/name` of its pods that were read.
    pub(super) pods: BTreeSet<String>,
}

impl Waypoint {
    /// `namespace/name` of its Gateway.
    pub(super) fn full_name(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }

    /// What to ask when its pods are not known.
    pub(super) fn help(&self, mesh: &Mesh<'_>) -> String {
        if mesh.only.as_ref().is_some_and(|only| *only != self.namespace) {
            return format!("explain it with `explain gateway {}`", self.full_name());
        }
        format!("no pod of {} has a proxy: does the Gateway exist, and is it ready?", self.full_name())
    }
}

/// The waypoint that a Service or else its namespace names (istiod `pilot/pkg/serviceregistry/ambient`,
/// `getGatewayOrGatewayClassFromLabels`); `None` if neither does.
pub(super) fn waypoint_of(service: &Object, mesh: &Mesh<'_>) -> Option<Waypoint> {
    let of = |object: &Object| object.labels.get(USE_WAYPOINT).map(|name| (name.clone(), object.labels.clone()));
    let namespace = mesh.loaded.inventory.namespace(&service.namespace);
    let (name, labels) = of(service).or_else(|| of(namespace?))?;
    if name == NO_WAYPOINT {
        return None;
    }
    let namespace = labels.get(USE_WAYPOINT_NAMESPACE).unwrap_or(&service.namespace).clone();
    let is = |target: &&Target| {
        target.kind == ProxyKind::Waypoint
            && target.namespace == namespace
            && target.labels.get(GATEWAY_NAME_LABEL) == Some(&name)
    };
    let pods = mesh.targets().iter().filter(is).map(Target::full_name).collect();
    Some(Waypoint { namespace, name, pods })
}

fn selects(selector: &Labels, labels: &Labels) -> bool {
    selector.iter().all(|(key, want)| labels.get(key) == Some(want))
}

/// The Services that a manually deployed Gateway lists as addresses: `NAME`, `NAME.NAMESPACE.svc…`.
fn addresses(gateway: &Object) -> Vec<(String, String)> {
    let list = gateway.document.under(&["spec", "addresses"]).map(Node::items).unwrap_or_default();
    let of_host = |address: &Node| {
        let text = |key: &str| address.get(key).and_then(Node::as_str);
        let is_host = matches!(text("type"), Some("Hostname"))
            || address.get("type").is_none_or(|it| matches!(it.value, NodeValue::Null));
        let mut labels = text("value").filter(|_| is_host)?.split('.');
        let name = labels.next()?.to_owned();
        Some((labels.next().unwrap_or(&gateway.namespace).to_owned(), name))
    };
    list.iter().filter_map(of_host).collect()
}
