//! Virtual machines: workloads of WorkloadEntries, whose proxies the API server cannot reach. They are judged on the reference
//! configuration of a sidecar.

use super::planes;
use super::read::Mesh;
use crate::cluster::facts;
use crate::cluster::kinds;
use crate::load::reference;
use crate::model::inventory::Workload;
use crate::model::proxy::{Proxy, ProxyKind};
use crate::model::resource::ProxyConfig;
use crate::source::{Code, Problem, Severity};

/// A virtual machine with the configuration that stands in for its own.
pub(super) struct Machine {
    /// The reference configuration, as that of the machine.
    pub(super) config: ProxyConfig<'static>,
    /// Number of its control plane.
    pub(super) plane: usize,
    /// What is unknown about it.
    pub(super) problem: Problem,
}

/// The virtual machines with a name, in a namespace if one is given.
pub(super) fn named(mesh: &Mesh<'_>, namespace: Option<&str>, name: &str) -> Vec<Machine> {
    let inventory = &mesh.loaded.inventory;
    let home = namespace.or(mesh.only.as_deref());
    let is = |one: &&Workload| {
        one.object.kind == kinds::WORKLOAD_ENTRY.kind
            && one.object.name == name
            && home.is_none_or(|home| home == one.object.namespace)
    };
    inventory.workloads.iter().map(AsRef::as_ref).filter(is).filter_map(|entry| machine(mesh, entry)).collect()
}

fn machine(mesh: &Mesh<'_>, entry: &Workload) -> Option<Machine> {
    let object = &entry.object;
    let revision = facts::revision(entry, mesh.loaded.inventory.namespace(&object.namespace));
    let plane = planes::number(&mesh.planes, &mesh.facts, revision);
    let release = mesh.planes.get(plane)?.release;
    let mut config = reference::configs(release).iter().find(|one| one.proxy.kind == ProxyKind::Sidecar)?.clone();
    config.proxy = Proxy {
        name: object.name.clone(),
        workload: object.name.clone(),
        namespace: object.namespace.clone(),
        labels: entry.labels.clone(),
        istio_version: release.to_string(),
        ..config.proxy
    };
    let problem = Problem {
        code: Code::NoDump,
        severity: Severity::Warning,
        span: None,
        message: format!(
            "{}/{} is a virtual machine, whose proxy cannot be read through the cluster: likely, judged on the reference \
             configuration of a sidecar of Istio {}.{}",
            object.namespace, object.name, release.major, release.minor
        ),
        help: Some("on the machine, `curl localhost:15000/config_dump` writes its config dump, for --dump".to_owned()),
    };
    Some(Machine { config, plane, problem })
}
