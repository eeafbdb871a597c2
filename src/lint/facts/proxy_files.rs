//! The files of a proxy, as far as the manifests of workloads show what is mounted into its container.

use crate::budget;
use crate::lint::facts::context::Context;
use crate::lint::facts::reach;
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::injection::{self, Sidecar};
use crate::model::inventory::{Workload, pod_of};
use crate::source::Node;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// The annotation that adds mounts to an injected sidecar.
const USER_MOUNTS: &str = "sidecar.istio.io/userVolumeMount";

/// The container of the proxy.
const PROXY: &str = "istio-proxy";

/// A volume in a container.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Mount {
    /// The container.
    pub container: String,
    /// The volume.
    pub volume: String,
    /// Where.
    pub path: String,
}

/// What is mounted in the pods of a workload.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Mounts {
    /// Whether it is a gateway, whose container of the proxy is in its manifest.
    pub is_gateway: bool,
    /// The folders and files in the container of the proxy; `None` if they are not known.
    in_proxy: Option<Vec<String>>,
    /// The mounts of other containers.
    elsewhere: Vec<Mount>,
}

/// Workloads with the same mounts.
pub(crate) struct Group {
    /// Namespace and name of each.
    pub workloads: BTreeSet<String>,
    /// What is mounted in them.
    pub mounts: Rc<Mounts>,
}

/// The mounts of workloads, each read once however many filters select it.
#[derive(Default)]
pub(crate) struct Files {
    /// Those of a workload, by its address.
    by_workload: HashMap<usize, Rc<Mounts>>,
    /// The distinct ones.
    distinct: HashSet<Rc<Mounts>>,
}

impl Files {
    /// What is mounted in the workloads that a filter selects by labels: most have the same.
    pub(crate) fn of_filter(&mut self, cx: &Context<'_>, filter: &EnvoyFilter) -> Vec<Group> {
        let Some(labels) = filter.selector.as_ref().filter(|labels| !labels.is_empty()) else { return Vec::new() };
        if reach::by_target_refs(cx, filter) {
            return Vec::new();
        }
        let selected = cx.inventory.labelled(labels);
        let in_scope = |one: &&Workload| reach::is_root(cx, filter) || one.object.namespace == filter.namespace;
        let mut groups: Vec<Group> = Vec::new();
        let mut numbers: HashMap<*const Mounts, usize> = HashMap::new();
        for workload in selected.filter(in_scope) {
            budget::charge(1);
            let mounts = self.of(cx, workload);
            let number = *numbers.entry(Rc::as_ptr(&mounts)).or_insert(groups.len());
            if number == groups.len() {
                groups.push(Group { workloads: BTreeSet::new(), mounts });
            }
            let name = format!("{}/{}", workload.object.namespace, workload.controller().1);
            groups[number].workloads.insert(name);
        }
        groups
    }

    fn of(&mut self, cx: &Context<'_>, workload: &Workload) -> Rc<Mounts> {
        let address = std::ptr::from_ref(workload).addr();
        if let Some(known) = self.by_workload.get(&address) {
            return Rc::clone(known);
        }
        let mounts = Mounts::of(cx, workload);
        budget::charge_for(mounts.elsewhere.len());
        let mounts = match self.distinct.get(&mounts) {
            Some(known) => Rc::clone(known),
            None => Rc::new(mounts),
        };
        self.distinct.insert(Rc::clone(&mounts));
        self.by_workload.insert(address, Rc::clone(&mounts));
        mounts
    }
}

impl Mounts {
    /// Whether a file is mounted into the proxy; `None` if that is not known.
    pub(crate) fn has(&self, file: &str) -> Option<bool> {
        self.in_proxy.as_ref().map(|paths| paths.iter().any(|path| is_below(file, path)))
    }

    /// The mount of another container that has the file.
    pub(crate) fn elsewhere(&self, file: &str) -> Option<&Mount> {
        self.elsewhere.iter().find(|mount| is_below(file, &mount.path))
    }

    fn of(cx: &Context<'_>, workload: &Workload) -> Mounts {
        let object = &workload.object;
        let pod = object.document.under(pod_of(&object.kind));
        let containers: Vec<&Node> = ["containers", "initContainers"]
            .into_iter()
            .flat_map(|list| pod.and_then(|pod| pod.under(&["spec", list])).map_or(&[][..], Node::items))
            .collect();
        let name = |container: &Node| container.get("name").and_then(Node::as_str).unwrap_or_default().to_owned();
        let proxy = containers.iter().find(|container| name(container) == PROXY);
        let others = containers.iter().filter(|container| name(container) != PROXY);
        let elsewhere = others.flat_map(|container| mounts(container, &name(container))).collect();
        let is_gateway = cx.inventory.is_gateway(workload);
        let annotated = workload.annotations.get(USER_MOUNTS).map(|text| annotated(text));
        let injected = || {
            let namespace = cx.inventory.namespace(&object.namespace);
            let decided = injection::sidecar(workload, namespace);
            !is_gateway && !matches!(decided, Sidecar::HostNetwork | Sidecar::Declined | Sidecar::Ambient)
        };
        let own = proxy.map(|proxy| mounts(proxy, PROXY).into_iter().map(|mount| mount.path).collect());
        // A manifest shows all mounts of a proxy if its pod has the container, or gets it from istiod's own template.
        let is_known = pod.is_some() && is_ordinary(workload) && (own.is_some() || injected());
        let in_proxy = match (own, annotated) {
            (_, Some(None)) => None,
            (own, annotated) => {
                let mut all: Vec<String> = own.unwrap_or_default();
                all.extend(annotated.flatten().unwrap_or_default());
                (is_known || !all.is_empty()).then_some(all)
            }
        };
        Mounts { is_gateway, in_proxy, elsewhere }
    }
}

/// Whether a proxy has istiod's template and image, which bring no files of the user's own.
fn is_ordinary(workload: &Workload) -> bool {
    let injection = &workload.injection;
    let template = injection.templates.as_deref().is_none_or(|name| matches!(name, "sidecar" | "gateway"));
    let image = injection.proxy_image.as_deref().is_none_or(|image| {
        let name = image.rsplit('/').next().unwrap_or(image);
        matches!(image, "" | "auto") || name.split(['@', ':']).next() == Some("proxyv2")
    });
    template && image && !workload.annotations.contains_key("sidecar.istio.io/proxyImage")
}

/// The mounts of a container.
fn mounts(container: &Node, name: &str) -> Vec<Mount> {
    let text = |mount: &Node, key: &str| mount.get(key).and_then(Node::as_str).unwrap_or_default().to_owned();
    let all = container.get("volumeMounts").map_or(&[][..], Node::items);
    let mount =
        |one: &Node| Mount { container: name.to_owned(), volume: text(one, "name"), path: text(one, "mountPath") };
    all.iter().map(mount).collect()
}

/// The paths in the annotation, a list or an object by volume; `None` if it cannot be read.
fn annotated(text: &str) -> Option<Vec<String>> {
    let path = |mount: &Value| mount.get("mountPath").and_then(Value::as_str).map(str::to_owned);
    match serde_json::from_str(text).ok()? {
        Value::Array(items) => items.iter().map(path).collect(),
        Value::Object(by_volume) => by_volume.values().map(path).collect(),
        _ => None,
    }
}

/// Whether a file is in a folder or is that file itself; a relative path begins at the root, where the proxy runs.
fn is_below(file: &str, path: &str) -> bool {
    let (file, path) = (from_root(file), from_root(path));
    file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || path.is_empty())
}

/// A path without its ends.
fn from_root(path: &str) -> &str {
    path.trim_start_matches("./").trim_matches('/')
}

/// The folder of a file, from the root.
pub(crate) fn folder(file: &str) -> &str {
    from_root(file).rsplit_once('/').map_or("", |(folder, _)| folder)
}
