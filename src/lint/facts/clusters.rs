//! Names of clusters, judged by the Services of the input where no config dump shows the clusters of a proxy.

use crate::lint::facts::context::Context;
use crate::lint::facts::names::is_cluster_of_any_mesh;
use crate::model::envoy_filter::ApplyTo;
use crate::model::inventory::{Inventory, Service, ServicePort};
use crate::model::resource::STATIC_CLUSTERS;
use crate::source::alike;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Why a proxy most likely has no cluster of a name.
pub(crate) enum Doubt {
    /// istiod generates no such name, and no given patch adds it.
    Name,
    /// Services have other hosts or ports: the reason, and what to do.
    Service(String, String),
}

/// Why [`Doubt::Name`] is not certain.
pub(crate) const NOT_GENERATED: &str = "istiod generates no cluster of that name, and no given patch adds it";

/// The names of clusters that the input shows, indexed, since a mesh may have thousands of filters and services.
pub(crate) struct Clusters<'c> {
    inventory: &'c Inventory,
    added: HashSet<String>,
    services: HashMap<(&'c str, &'c str), &'c Service>,
    entries: HashSet<&'c str>,
}

impl<'c> Clusters<'c> {
    pub(crate) fn new(cx: &'c Context<'_>) -> Clusters<'c> {
        let added = cx.patches().filter(|view| view.patch.apply_to == ApplyTo::Cluster);
        let added = added.filter_map(|view| Some(view.built?.value.as_ref()?.name().to_owned()));
        let services = cx.inventory.services.iter().map(|one| ((&*one.object.name, &*one.object.namespace), &**one));
        let entries = cx.inventory.service_entries.iter().flat_map(|one| one.hosts.iter().map(String::as_str));
        Clusters {
            inventory: cx.inventory,
            added: added.collect(),
            services: services.collect(),
            entries: entries.collect(),
        }
    }

    /// Whether a name is most likely not one of a cluster; a filter in `namespace` uses it.
    pub(crate) fn doubt(&self, name: &str, namespace: &str) -> Option<Doubt> {
        let is_template = name.contains('%') || name.contains("{{");
        if is_static(name) || is_template || is_cluster_of_any_mesh(name) || self.added.contains(name) {
            return None;
        }
        let parts: Vec<&str> = name.split('|').collect();
        match parts.as_slice() {
            ["outbound", port, subset, host] => match port.parse() {
                Ok(number) => self.by_services((number, subset, host), namespace),
                Err(_) => Some(Doubt::Name),
            },
            ["inbound", port, ..] if port.parse::<u16>().is_ok() => None,
            _ => Some(Doubt::Name),
        }
    }

    /// Whether the host of a cluster of istiod is no full one, or its service has no such port.
    fn by_services(&self, cluster: (u16, &str, &str), namespace: &str) -> Option<Doubt> {
        let (number, subset, host) = cluster;
        if let Some((full, _)) = full_host(self.inventory, host, namespace) {
            let why = format!("`{host}` is not a full host, and istiod names clusters by full hosts");
            if !self.is_given(&full) {
                return Some(self.unseen(why, cluster, &full));
            }
            // The port may be wrong, too, and the help must name a cluster that exists.
            return Some(match self.by_port((number, subset, &full)) {
                Some((no_port, help)) => Doubt::Service(format!("{why}; {no_port}"), help),
                None => Doubt::Service(why, format!("use `outbound|{number}|{subset}|{full}`")),
            });
        }
        self.by_port(cluster).map(|(why, help)| Doubt::Service(why, help))
    }

    /// Whether a Service of the input has this full host.
    fn is_given(&self, full: &str) -> bool {
        let mut labels = full.split('.');
        labels.next().zip(labels.next()).is_some_and(|of| self.services.contains_key(&of))
    }

    /// A short host of no given Service: a full one that nobody has seen is no advice.
    fn unseen(&self, why: String, (number, subset, host): (u16, &str, &str), full: &str) -> Doubt {
        /// Maximum number of Services that are named.
        const SHOWN: usize = 3;
        let mut labels = full.split('.');
        let (name, home) = (labels.next().unwrap_or(full), labels.next().unwrap_or_default());
        if self.services.is_empty() {
            let help = format!("use the full host: `outbound|{number}|{subset}|{name}.<namespace>.svc.cluster.local`");
            return Doubt::Service(why, help);
        }
        let like = self.services.keys().filter(|(other, _)| alike::similar(name, other));
        let like: BTreeSet<String> = like.map(|(other, _)| (*other).to_owned()).collect();
        let mut like: Vec<String> = alike::ranked(name, &like, SHOWN)
            .iter()
            .flat_map(|like| self.services.keys().filter(move |(name, _)| name == like))
            .map(|(name, home)| format!("{home}/{name}"))
            .collect();
        like.sort();
        like.truncate(SHOWN);
        let mut help =
            format!("use the full host of a Service: `outbound|<port>|{subset}|<name>.<namespace>.svc.cluster.local`");
        if !like.is_empty() {
            help.push_str(&format!("; similar Services: {}", like.join(", ")));
        }
        let wanted = if host == name { format!("named `{name}`") } else { format!("{home}/{name}") };
        Doubt::Service(format!("{why}; no Service {wanted} is given"), help)
    }

    /// Whether the Service of a full host has no such port: why, and what to write.
    fn by_port(&self, (number, subset, host): (u16, &str, &str)) -> Option<(String, String)> {
        // istiod merges the ports of several ServiceEntries.
        let mut labels = host.splitn(4, '.');
        let (name, home, kind) = (labels.next()?, labels.next()?, labels.next()?);
        if kind != "svc" || labels.next().is_none() || self.entries.contains(host) {
            return None;
        }
        let service = self.services.get(&(name, home)).filter(|one| one.service_type != "ExternalName")?;
        let serves = |port: &&ServicePort| port.protocol != "UDP";
        let ports: Vec<u32> = service.ports.iter().filter(serves).map(|port| port.number).collect();
        if ports.contains(&u32::from(number)) {
            return None;
        }
        let why = format!("Service {}/{} has no port {number}", service.object.namespace, service.object.name);
        let help = match ports.as_slice() {
            [] => return None,
            [port] => format!("use `outbound|{port}|{subset}|{host}`"),
            ports => {
                let ports: Vec<String> = ports.iter().map(u32::to_string).collect();
                format!("use `outbound|PORT|{subset}|{host}` with one of its ports: {}", ports.join(", "))
            }
        };
        Some((why, help))
    }
}

/// Whether every proxy has this cluster in its bootstrap; `zipkin` is there only if tracing uses it.
pub(crate) fn is_static(name: &str) -> bool {
    STATIC_CLUSTERS.contains(&name) && name != "zipkin"
}

/// The full host of a Service for a short name, and whether it is unambiguous; nothing for a name that is, or looks
/// like, the host of a ServiceEntry.
pub(crate) fn full_host(inventory: &Inventory, host: &str, namespace: &str) -> Option<(String, bool)> {
    let mut entries = inventory.service_entries.iter();
    if host.is_empty() || entries.any(|entry| entry.hosts.iter().any(|it| it == host)) {
        return None;
    }
    let services = || inventory.services.iter().map(|service| &service.object);
    let short = host.strip_suffix(".svc").unwrap_or(host);
    match short.split_once('.') {
        None if short == host => {
            let homes: Vec<&str> = services().filter(|it| it.name == short).map(|it| it.namespace.as_str()).collect();
            let home = homes.first().filter(|_| !homes.contains(&namespace)).copied().unwrap_or(namespace);
            Some((format!("{short}.{home}.svc.cluster.local"), !homes.is_empty()))
        }
        // `cart.shop` could be the host of a ServiceEntry outside the input.
        Some((name, namespace)) if !namespace.contains('.') => {
            let known = short != host || services().any(|it| it.name == name && it.namespace == namespace);
            known.then(|| (format!("{short}.svc.cluster.local"), true))
        }
        _ => None,
    }
}
