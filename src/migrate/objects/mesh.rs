//! Facts about the mesh from the other objects of the input, on which guards are based.

use super::index::{Index, includes};
use crate::model::envoy_filter::{EnvoyFilter, Patch, PatchContext};
use crate::model::inventory::{
    DestinationRule, Gateway, Inventory, Labels, Object, Server, Service, TargetPort, Workload,
};
use crate::model::proxy::GATEWAY_NAME_LABEL;
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// The kind of proxy that a patch reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proxies {
    /// Gateways only.
    Gateway,
    /// Sidecars only.
    Sidecar,
    /// Waypoints only.
    Waypoint,
    /// Sidecars and gateways.
    Both,
    /// The input is not enough to decide.
    Unknown,
}

/// The mesh's setting for DestinationRules without `exportTo`.
pub(in crate::migrate) const RULES: &str = "defaultDestinationRuleExportTo";

/// The objects of the input other than filters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mesh<'a> {
    /// Everything that was read.
    pub inventory: &'a Inventory,
    /// The root namespace.
    pub root: &'a str,
    /// The same objects by what guards look for.
    pub index: &'a Index<'a>,
}

/// A port of a workload, according to the Services that select it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WorkloadPort {
    /// The number on the pod.
    pub number: u32,
    /// How istiod treats it.
    pub protocol: Protocol,
}

/// How istiod treats connections to a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Protocol {
    /// Always as HTTP.
    Http,
    /// As HTTP or as TCP, by the first bytes: the port names no protocol, and has filter chains for both.
    Sniffed,
    /// Always as TCP.
    Tcp,
}

/// A server of an Istio Gateway that the proxies of a filter serve.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Served<'a> {
    /// The Gateway.
    pub gateway: &'a Gateway,
    /// Its server.
    pub server: &'a Server,
}

impl<'a> Mesh<'a> {
    /// Whether the input has more than filters, so that a missing object counts as absent from the mesh.
    pub(crate) fn described(&self) -> bool {
        let inventory = self.inventory;
        !(inventory.services.is_empty()
            && inventory.workloads.is_empty()
            && inventory.gateways.is_empty()
            && inventory.kube_gateways.is_empty()
            && inventory.virtual_services.is_empty()
            && inventory.destination_rules.is_empty())
    }

    /// Whether a filter selects proxies by labels or references.
    pub(crate) fn is_narrow(filter: &EnvoyFilter) -> bool {
        !filter.target_refs.is_empty() || filter.selector.as_ref().is_some_and(|labels| !labels.is_empty())
    }

    /// Whether a filter applies to every proxy of the mesh.
    pub(crate) fn is_mesh_wide(&self, filter: &EnvoyFilter) -> bool {
        filter.namespace == self.root && !Mesh::is_narrow(filter)
    }

    /// Whether the references of a filter name only Services and ServiceEntries, to which no release attaches a filter.
    pub(crate) fn never_attaches(filter: &EnvoyFilter) -> bool {
        !filter.target_refs.is_empty()
            && filter.target_refs.iter().all(|target| matches!(target.kind.as_str(), "Service" | "ServiceEntry"))
    }

    /// Whether neither a filter nor an object with its references attaches to anything: a GatewayClass attaches only that of
    /// waypoints, from the root namespace (`policyattachment.go`).
    pub(crate) fn attaches_nothing(&self, filter: &EnvoyFilter) -> bool {
        let waypoints = |name: &str| filter.namespace == self.root && name == "istio-waypoint";
        !filter.target_refs.is_empty()
            && filter.target_refs.iter().all(|target| target.kind == "GatewayClass" && !waypoints(&target.name))
    }

    /// The kind of proxies that a patch reaches.
    pub(crate) fn proxies(&self, filter: &EnvoyFilter, patch: &Patch) -> Proxies {
        if !filter.target_refs.is_empty() {
            return self.referred(filter, patch.context);
        }
        match patch.context {
            PatchContext::Gateway => Proxies::Gateway,
            PatchContext::SidecarInbound | PatchContext::SidecarOutbound => Proxies::Sidecar,
            PatchContext::Waypoint => Proxies::Waypoint,
            PatchContext::Any => self.selected(filter),
        }
    }

    fn referred(&self, filter: &EnvoyFilter, context: PatchContext) -> Proxies {
        let kinds: BTreeSet<Option<bool>> = filter
            .target_refs
            .iter()
            .map(|target| match target.kind.as_str() {
                "Service" | "ServiceEntry" => Some(true),
                "GatewayClass" => Some(target.name.contains("waypoint")),
                _ => self
                    .inventory
                    .kube_gateways
                    .iter()
                    .find(|gateway| gateway.object.name == target.name && gateway.object.namespace == filter.namespace)
                    .map(|gateway| gateway.is_waypoint()),
            })
            .collect();
        match kinds.into_iter().collect::<Vec<_>>().as_slice() {
            [Some(true)] => Proxies::Waypoint,
            [Some(false)] => Proxies::Gateway,
            // A waypoint has the contexts of a sidecar's inbound side, a gateway its own.
            _ if context == PatchContext::Gateway => Proxies::Gateway,
            _ if context == PatchContext::SidecarInbound => Proxies::Waypoint,
            _ => Proxies::Unknown,
        }
    }

    fn selected(&self, filter: &EnvoyFilter) -> Proxies {
        let Some(selector) = filter.selector.as_ref().filter(|labels| !labels.is_empty()) else { return Proxies::Both };
        let gateway = !self.index.gateways_of([selector]).is_empty() || selector.contains_key(GATEWAY_NAME_LABEL);
        let workloads: Vec<&Workload> = self.workloads(filter).collect();
        if gateway || (!workloads.is_empty() && workloads.iter().all(|one| self.is_gateway(one))) {
            return Proxies::Gateway;
        }
        if !workloads.is_empty() && !workloads.iter().any(|one| self.is_gateway(one)) {
            return Proxies::Sidecar;
        }
        match selector.get("istio").map(String::as_str) {
            Some("ingressgateway" | "egressgateway") => Proxies::Gateway,
            _ if workloads.is_empty() => Proxies::Unknown,
            _ => Proxies::Both,
        }
    }

    /// Whether a workload runs a gateway.
    pub(crate) fn is_gateway(&self, workload: &Workload) -> bool {
        self.inventory.is_gateway(workload)
    }

    /// The workloads in the input that a filter selects.
    pub(crate) fn workloads<'f>(&self, filter: &'f EnvoyFilter) -> impl Iterator<Item = &'a Workload> + use<'a, 'f> {
        let (mesh, inventory) = (*self, self.inventory);
        let labels = filter.selector.as_ref().filter(|labels| !labels.is_empty());
        let labelled = labels.map(|labels| inventory.labelled(labels));
        let all = if labels.is_none() { &inventory.workloads[..] } else { &[] };
        let all = all.iter().map(AsRef::as_ref).chain(labelled.into_iter().flatten());
        all.filter(move |workload| mesh.selects(filter, workload))
    }

    /// Whether a filter selects a workload.
    pub(crate) fn selects(&self, filter: &EnvoyFilter, workload: &Workload) -> bool {
        let namespace = workload.object.namespace.as_str();
        if !filter.target_refs.is_empty() {
            let gateway = workload.labels.get(GATEWAY_NAME_LABEL);
            return gateway.is_some_and(|name| Mesh::refers_to(filter, (namespace, name)));
        }
        let here = filter.namespace == self.root || namespace == filter.namespace;
        here && filter.selector.as_ref().is_none_or(|selector| includes(&workload.labels, selector))
    }

    /// Whether the references of a filter name a Gateway, by namespace and name: istiod looks for it in the namespace of the
    /// filter, also in the root namespace (`policyattachment.go`).
    pub(crate) fn refers_to(filter: &EnvoyFilter, (namespace, name): (&str, &str)) -> bool {
        namespace == filter.namespace
            && filter.target_refs.iter().any(|target| {
                let here = target.namespace.is_empty() || target.namespace == namespace;
                target.kind == "Gateway" && target.name == name && here
            })
    }

    /// The namespaces of the proxies that a filter reaches, as far as the input shows: its own unless it is in the root
    /// namespace and selects by labels.
    pub(crate) fn namespaces(&self, filter: &'a EnvoyFilter) -> Option<BTreeSet<&'a str>> {
        let of_gateways = filter.target_refs.iter().any(|target| target.kind == "Gateway");
        if filter.namespace != self.root || of_gateways {
            return Some(BTreeSet::from([filter.namespace.as_str()]));
        }
        let found: BTreeSet<&str> = self.workloads(filter).map(|workload| workload.object.namespace.as_str()).collect();
        (!found.is_empty()).then_some(found)
    }

    /// Ports of the workloads that a filter selects, from the Services that select them; `None` if no Service is known.
    pub(crate) fn ports(&self, filter: &EnvoyFilter) -> Option<BTreeSet<WorkloadPort>> {
        let workloads: Vec<&Workload> = self.workloads(filter).collect();
        let mut ports = BTreeSet::new();
        let mut known = false;
        for service in self.services_of(filter) {
            let here = filter.namespace == self.root || service.object.namespace == filter.namespace;
            if !here {
                continue;
            }
            known = true;
            ports.extend(service.ports.iter().filter_map(|port| {
                let number = match &port.target {
                    TargetPort::Number(number) => Some(*number),
                    TargetPort::Name(name) => workloads
                        .iter()
                        .flat_map(|workload| &workload.ports)
                        .find(|container| &container.name == name)
                        .map(|container| container.number),
                };
                number
                    .map(|number| WorkloadPort { number, protocol: protocol(&port.name, port.app_protocol.as_deref()) })
            }));
        }
        known.then_some(ports)
    }

    /// Servers of Istio Gateways that a filter's gateways serve; `None` if none of their Gateways is known.
    pub(crate) fn servers(&self, filter: &EnvoyFilter) -> Option<Vec<Served<'a>>> {
        let labels: Vec<&Labels> = match &filter.selector {
            Some(selector) if !selector.is_empty() => {
                let of_workloads: Vec<&Labels> = self.workloads(filter).map(|workload| &workload.labels).collect();
                if of_workloads.is_empty() { vec![selector] } else { of_workloads }
            }
            _ => Vec::new(),
        };
        let gateways: Vec<&'a Gateway> = if labels.is_empty() && filter.target_refs.is_empty() {
            self.inventory.gateways.iter().map(AsRef::as_ref).collect()
        } else {
            self.index.gateways_of(labels)
        };
        let found: Vec<Served<'a>> = gateways
            .into_iter()
            .flat_map(|gateway| gateway.servers.iter().map(move |server| Served { gateway, server }))
            .collect();
        (!found.is_empty()).then_some(found)
    }

    /// Listeners of the Gateway API gateways that a filter refers to or selects; `None` if unknown.
    pub(crate) fn kube_listeners(&self, filter: &EnvoyFilter) -> Option<Vec<(u32, &'a str)>> {
        let found: Vec<(u32, &'a str)> = self
            .inventory
            .kube_gateways
            .iter()
            .filter(|gateway| {
                let own = gateway.object.namespace == filter.namespace;
                if !filter.target_refs.is_empty() {
                    return own && filter.target_refs.iter().any(|target| target.name == gateway.object.name);
                }
                let labels = filter.selector.as_ref().filter(|labels| !labels.is_empty());
                let named = labels.is_none_or(|labels| {
                    labels.get(GATEWAY_NAME_LABEL).is_some_and(|name| *name == gateway.object.name)
                });
                named && (own || filter.namespace == self.root) && !gateway.is_waypoint()
            })
            .flat_map(|gateway| gateway.listeners.iter().map(|one| (one.port, one.protocol.as_str())))
            .collect();
        (!found.is_empty()).then_some(found)
    }

    /// Whether a filter's gateways have ports with a matching protocol; `None` if unknown.
    pub(crate) fn serves(&self, filter: &EnvoyFilter, test: impl Fn(&str, Option<&str>) -> bool) -> Option<bool> {
        let classic = self.servers(filter);
        let kube = self.kube_listeners(filter);
        if classic.is_none() && kube.is_none() {
            return None;
        }
        Some(
            classic.iter().flatten().any(|one| test(&one.server.protocol, one.server.tls_mode.as_deref()))
                || kube.iter().flatten().any(|(_, protocol)| test(protocol, None)),
        )
    }

    /// The DestinationRules of a host that are visible to a client in this namespace, among those that istiod looks at.
    pub(crate) fn destination_rules(&self, host: &str, client: &str) -> Vec<&'a DestinationRule> {
        let rules = self.index.rules_of(host).iter().copied();
        rules.filter(|rule| self.looked_at(rule, host, client).is_some()).collect()
    }

    /// The rank of a rule for a client: istiod looks in the client's namespace, then in the service's, then in the root
    /// namespace, and stops at the first with a rule for the host (`destinationRule` in `push_context.go`).
    fn looked_at(&self, rule: &DestinationRule, host: &str, client: &str) -> Option<u8> {
        let own = rule.object.namespace.as_str();
        let hidden = rule.export_to.is_empty() && !self.exports(RULES);
        if own == client && (rule.is_local(self.root) || hidden) {
            Some(0)
        } else if hidden || !rule.is_exported_to(client) {
            None
        } else if self.namespace_of_host(host) == Some(own) {
            Some(1)
        } else {
            (own == self.root).then_some(2)
        }
    }

    /// The rule for several hosts (`*.local`) that applies to a client because no rule for this host alone comes first.
    pub(crate) fn wildcard_rule(&self, host: &str, client: &str) -> Option<&'a DestinationRule> {
        let rules = self.index.wildcard_rules().iter().copied();
        let covers = |rule: &&DestinationRule| {
            rule.selector.is_empty() && rule.specificity(host).is_some_and(|specificity| specificity != usize::MAX)
        };
        let best = rules
            .filter(covers)
            .filter_map(|rule| Some((self.looked_at(rule, host, client)?, rule)))
            .min_by_key(|(rank, rule)| (*rank, std::cmp::Reverse(rule.host.len())));
        let (rank, rule) = best?;
        let exact = self.destination_rules(host, client).into_iter();
        let exact = exact.filter(|rule| rule.selector.is_empty()).filter_map(|rule| self.looked_at(rule, host, client));
        exact.min().is_none_or(|exact| rank < exact).then_some(rule)
    }

    /// A Service by its full host name.
    pub(crate) fn service(&self, host: &str) -> Option<&'a Service> {
        self.inventory.service_of_host(host)
    }

    /// Services that select workloads of a filter, or pods with exactly the labels of its selector.
    pub(crate) fn services_of(&self, filter: &EnvoyFilter) -> Vec<&'a Service> {
        let selector = filter.selector.as_ref().filter(|labels| !labels.is_empty());
        let workloads: Vec<&Workload> = self.workloads(filter).collect();
        let all = self.index.services_of(workloads.iter().map(|workload| &workload.labels).chain(selector));
        let by_labels = |service: &Service| selector.is_some_and(|labels| includes(labels, &service.selector));
        // A Service selects pods of its own namespace.
        let namespaces: BTreeSet<&str> = workloads.iter().map(|workload| workload.object.namespace.as_str()).collect();
        let by_workload = |service: &Service| {
            namespaces.contains(service.object.namespace.as_str())
                && (namespaces.len() == 1 && !by_labels(service)
                    || workloads.iter().any(|workload| {
                        workload.object.namespace == service.object.namespace
                            && includes(&workload.labels, &service.selector)
                    }))
        };
        all.into_iter().filter(|service| by_labels(service) || by_workload(service)).collect()
    }

    /// Services that select a pod.
    pub(crate) fn services_of_pod(&self, pod: &Workload) -> Vec<&'a Service> {
        let mut all = self.index.services_of([&pod.labels]);
        all.retain(|one| one.object.namespace == pod.object.namespace && includes(&pod.labels, &one.selector));
        all
    }

    /// Namespace of a service by its full host name: from the name, or from the ServiceEntry that declares the host.
    pub(crate) fn namespace_of_host(&self, host: &str) -> Option<&'a str> {
        if let Some(service) = self.service(host) {
            return Some(&service.object.namespace);
        }
        self.index.entry(host).map(|entry| &*entry.object.namespace)
    }

    /// Objects of a kind without a dedicated type, in the namespaces whose objects a filter's proxies read.
    pub(crate) fn policies(&self, kind: &str, filter: &'a EnvoyFilter) -> Vec<&'a Object> {
        let namespaces = self.namespaces(filter);
        let near = |object: &&Object| {
            object.namespace == self.root
                || namespaces.as_ref().is_none_or(|names| names.contains(object.namespace.as_str()))
        };
        self.index.policies(kind).iter().copied().filter(near).collect()
    }

    /// Whether the clients of every namespace read an object without `exportTo`, by the mesh's setting for its kind.
    pub(crate) fn exports(&self, setting: &str) -> bool {
        let default = self.mesh_config().and_then(|mesh| mesh.get(setting)).and_then(Json::as_array);
        default.is_none_or(|list| list.is_empty() || list.iter().any(|to| to == "*"))
    }

    /// Whether the clients of every namespace read a DestinationRule.
    pub(crate) fn is_exported(&self, rule: &DestinationRule) -> bool {
        if rule.export_to.is_empty() { self.exports(RULES) } else { rule.export_to.iter().any(|to| to == "*") }
    }

    /// The settings of the default control plane as JSON.
    pub(crate) fn mesh_config(&self) -> Option<&'a Json> {
        self.index.mesh_config()
    }
}

/// Whether requests to a Service's port may be HTTP.
pub(in crate::migrate) fn is_http(name: &str, app_protocol: Option<&str>) -> bool {
    protocol(name, app_protocol) != Protocol::Tcp
}

/// How istiod treats a Service's port: by `appProtocol`, otherwise by the name up to its first dash.
pub(in crate::migrate) fn protocol(name: &str, app_protocol: Option<&str>) -> Protocol {
    let word = app_protocol.unwrap_or_else(|| name.split('-').next().unwrap_or_default());
    let word = word.rsplit('/').next().unwrap_or(word).to_ascii_lowercase();
    match word.as_str() {
        "tcp" | "tls" | "https" | "mongo" | "mysql" | "redis" | "udp" => Protocol::Tcp,
        "http" | "http2" | "h2c" | "ws" | "grpc" | "grpc-web" => Protocol::Http,
        _ => Protocol::Sniffed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protocols_come_from_names() {
        for name in ["http-web", "http", "http2", "grpc", "grpc-web", "GRPC-admin"] {
            assert_eq!(protocol(name, None), Protocol::Http, "{name}");
        }
        for name in ["https-web", "tcp-admin", "tls", "mongo"] {
            assert_eq!(protocol(name, None), Protocol::Tcp, "{name}");
        }
        for name in ["", "web", "h-ttp"] {
            assert_eq!(protocol(name, None), Protocol::Sniffed, "{name}");
        }
        assert_eq!(protocol("web", Some("kubernetes.io/https")), Protocol::Tcp);
        assert_eq!(protocol("web", Some("kubernetes.io/h2c")), Protocol::Http);
        assert_eq!(protocol("tcp-x", Some("http")), Protocol::Http);
        assert_eq!(protocol("http-x", Some("example.com/own")), Protocol::Sniffed);
    }
}
