//! Hosts of istiod's registry: those of Services and those of ServiceEntries.

use super::mesh::{Mesh, is_http};
use crate::model::inventory::{Object, Service, ServiceEntry, ServicePort};
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// A host of the registry.
#[derive(Clone, Copy, Debug)]
pub(in crate::migrate) enum Registered<'a> {
    /// Of a Service.
    Service(&'a Service),
    /// Of a ServiceEntry.
    Entry(&'a ServiceEntry),
}

/// A port of a host.
#[derive(Clone, Copy, Debug)]
pub(in crate::migrate) struct Port<'a> {
    /// Its number for clients.
    pub number: u32,
    /// Its name.
    pub name: &'a str,
    /// The protocol that overrides the one in the name: that of a ServiceEntry, or `appProtocol` of a Service.
    pub protocol: Option<&'a str>,
}

impl Port<'_> {
    /// Whether requests to it may be HTTP.
    pub(in crate::migrate) fn is_http(&self) -> bool {
        is_http(self.name, self.protocol)
    }

    /// Its protocol, as written in the name or a field.
    pub(in crate::migrate) fn protocol_name(&self) -> String {
        let word = self.protocol.unwrap_or_else(|| self.name.split('-').next().unwrap_or_default());
        word.to_ascii_lowercase()
    }
}

impl<'a> Registered<'a> {
    /// The object that declares it.
    pub(in crate::migrate) const fn object(&self) -> &'a Object {
        match self {
            Registered::Service(service) => &service.object,
            Registered::Entry(entry) => &entry.object,
        }
    }

    /// Its kind and name.
    pub(in crate::migrate) fn title(&self) -> String {
        let kind = match self {
            Registered::Service(_) => "Service",
            Registered::Entry(_) => "ServiceEntry",
        };
        let object = self.object();
        format!("{kind} {}/{}", object.namespace, object.name)
    }

    /// Its ports.
    pub(in crate::migrate) fn ports(&self) -> impl Iterator<Item = Port<'a>> + use<'a> {
        let (ports, is_entry): (&'a [ServicePort], bool) = match self {
            Registered::Service(service) => (&service.ports, false),
            Registered::Entry(entry) => (&entry.ports, true),
        };
        ports.iter().map(move |one| Port {
            number: one.number,
            name: &one.name,
            protocol: if is_entry { Some(one.protocol.as_str()) } else { one.app_protocol.as_deref() },
        })
    }

    /// Its HTTP ports other than these.
    pub(in crate::migrate) fn other_http_ports<'p>(
        &self,
        ports: &'p BTreeSet<u32>,
    ) -> impl Iterator<Item = u32> + use<'a, 'p> {
        self.ports().filter(|one| !ports.contains(&one.number) && one.is_http()).map(|one| one.number)
    }

    /// Whether no other object declares the host.
    pub(in crate::migrate) fn is_alone(&self, mesh: &Mesh<'_>, host: &str) -> bool {
        matches!(self, Registered::Entry(_)) || mesh.index.entry(host).is_none()
    }

    /// Whether the clients of a namespace read it, or those of all namespaces (`exportTo`, `defaultServiceExportTo`).
    fn is_read_by(&self, mesh: &Mesh<'_>, client: Option<&str>) -> bool {
        let own = match self {
            Registered::Service(service) => &service.export_to,
            Registered::Entry(entry) => &entry.export_to,
        };
        let home = self.object().namespace.as_str();
        let reads = |to: &str| to == "*" || client.is_some_and(|client| to == client || to == "." && home == client);
        if !own.is_empty() {
            return own.iter().any(|to| reads(to));
        }
        let default = mesh.mesh_config().and_then(|mesh| mesh["defaultServiceExportTo"].as_array());
        let default = default.filter(|list| !list.is_empty());
        default.is_none_or(|list| list.iter().filter_map(Json::as_str).any(reads))
    }
}

/// What the registry of the input has for a host.
#[derive(Clone, Copy, Debug)]
pub(in crate::migrate) enum Found<'a> {
    /// One object that the clients read.
    One(Registered<'a>),
    /// Several ServiceEntries that the clients read.
    Several,
    /// Only objects that the clients do not read.
    Hidden(Registered<'a>),
    /// Nothing.
    Nothing,
}

impl<'a> Mesh<'a> {
    /// The Service of a host, or else its only ServiceEntry.
    pub(in crate::migrate) fn registered(&self, host: &str) -> Option<Registered<'a>> {
        if let Some(service) = self.service(host) {
            return Some(Registered::Service(service));
        }
        match self.index.entries(host) {
            [entry] => Some(Registered::Entry(entry)),
            _ => None,
        }
    }

    /// What the clients of a namespace, or of all namespaces, have for a host.
    pub(in crate::migrate) fn read_host(&self, host: &str, client: Option<&str>) -> Found<'a> {
        let service = self.service(host).map(Registered::Service);
        let entries = self.index.entries(host).iter().map(|entry| Registered::Entry(entry));
        let all: Vec<Registered<'a>> = service.into_iter().chain(entries).collect();
        let mut read = all.iter().copied().filter(|one| one.is_read_by(self, client));
        match (read.next(), read.next()) {
            (Some(one @ Registered::Service(_)), _) | (Some(one), None) => Found::One(one),
            (Some(_), Some(_)) => Found::Several,
            (None, _) => all.first().map_or(Found::Nothing, |one| Found::Hidden(*one)),
        }
    }
}
