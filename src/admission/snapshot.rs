//! The view of a cluster: each object is parsed once, shared by all reviews, and replaced when it changes.

use super::standing::{fresh, number_of};
use crate::cluster::facts::Facts;
use crate::cluster::kinds::{self, Kind};
use crate::cluster::objects::{self, name_of};
use crate::cluster::read::source_name;
use crate::cluster::targets::{Target, groups, targets};
use crate::lint::limits::{self, Excess};
use crate::load::{Loaded, Options, reference, yaml_text};
use crate::mesh::planes::{Homes, Plane, planes};
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::inventory::{
    DestinationRule, Gateway, Inventory, KubeGateway, Mesh, Object, RefusedFilter, Service, ServiceEntry, Shared,
    Sidecar, VirtualService, Workload,
};
use crate::model::proxy::ProxyKind;
use crate::model::release::Release;
use crate::model::resource::ProxyConfig;
use crate::source::{FileId, Problem, Sources};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// A change reported by the watch of a kind.
#[derive(Clone, Debug)]
pub enum Change {
    /// An object was created or updated.
    Put(Value),
    /// An object was deleted: its namespace and name.
    Gone(String, String),
    /// All objects have been listed: exactly those with these namespaces and names exist.
    All(Vec<Name>),
}

/// Settings that override what the cluster says.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// Name of the cluster in the places of messages.
    pub context: String,
    /// The release of every control plane.
    pub release: Option<Release>,
    /// The root namespace.
    pub root_namespace: Option<String>,
}

/// A stored EnvoyFilter.
#[derive(Debug)]
pub(super) struct StoredFilter {
    /// Its text.
    pub(super) file: FileId,
    /// The filter; `None` when only its name can be read.
    pub(super) filter: Option<EnvoyFilter>,
    pub(super) refused: Vec<RefusedFilter>,
    pub(super) problems: Vec<Problem>,
    /// Number of values in it.
    pub(super) values: usize,
    /// The limit that it exceeds.
    pub(super) excess: Option<Excess>,
    /// Its number, by its content.
    pub(super) number: u128,
}

impl StoredFilter {
    /// Number of patches in it.
    pub(super) fn patches(&self) -> usize {
        self.filter.as_ref().map_or(0, |filter| filter.patches.len())
    }
}

/// The text of a filter as a command reads it from a cluster: YAML, or JSON when the indentation of deep nesting would outweigh the
/// content.
pub(super) fn text_of(object: &Value) -> String {
    const DEEP: usize = 64;
    let json = || object.to_string();
    if size_of(object).1 > DEEP { json() } else { yaml_text::write(object).unwrap_or_else(|_| json()) }
}

/// How many values an object has, and how deep they nest.
fn size_of(object: &Value) -> (usize, usize) {
    let (mut values, mut deepest, mut open) = (0, 0, vec![(object, 1)]);
    while let Some((value, depth)) = open.pop() {
        values += 1;
        deepest = deepest.max(depth);
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(entries) => open.extend(entries.values().map(|value| (value, depth + 1))),
            _ => {}
        }
    }
    (values, deepest)
}

/// Namespace and name.
pub(crate) type Name = (String, String);

/// A snapshot of the cluster. Cloning it is cheap.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The texts of all objects.
    pub(super) texts: Arc<Sources>,
    /// All objects but EnvoyFilters.
    pub(super) objects: Inventory,
    pub(super) filters: Arc<BTreeMap<Name, Arc<StoredFilter>>>,
    /// The control planes, the main one first; at least one.
    pub(super) planes: Arc<Vec<Plane>>,
    /// Where each of them has proxies.
    pub(super) homes: Arc<Homes>,
    pub(super) facts: Arc<Facts>,
    /// For each control plane, the reference configurations that stand for its proxies.
    pub(super) references: Arc<Vec<Vec<ProxyConfig<'static>>>>,
    /// Kinds whose objects have not all been read yet.
    pub(super) missing: BTreeSet<&'static str>,
    /// The number of everything but EnvoyFilters, which changes with the content.
    pub(super) serial: u64,
}

impl Snapshot {
    /// A cluster about which nothing is known yet.
    fn new(overrides: &Overrides) -> Snapshot {
        let planes = planes(&Facts::default(), &[], overrides.release, overrides.root_namespace.as_deref());
        Snapshot {
            texts: Arc::default(),
            objects: Inventory::default(),
            filters: Arc::default(),
            references: Arc::new(references(&planes, &Sampled::new())),
            planes: Arc::new(planes),
            homes: Arc::default(),
            facts: Arc::default(),
            missing: BTreeSet::new(),
            serial: fresh(),
        }
    }

    /// A namespace's object.
    pub(super) fn namespace(&self, name: &str) -> Option<&Object> {
        self.objects.namespace(name)
    }

    /// The workloads of a namespace.
    pub(super) fn workloads_of(&self, namespace: &str) -> Vec<Arc<Workload>> {
        let list = &self.objects.workloads;
        let of = |kind: &Kind| {
            let want = (kind.kind, namespace);
            let key = |one: &Arc<Workload>| -> std::cmp::Ordering {
                (one.object.kind.as_str(), one.object.namespace.as_str()).cmp(&want)
            };
            let from = list.partition_point(|one| key(one).is_lt());
            list.iter().skip(from).take_while(|one| key(one).is_eq()).cloned().collect::<Vec<_>>()
        };
        [kinds::POD, kinds::WORKLOAD_ENTRY].into_iter().flat_map(of).collect()
    }

    /// The filters of a namespace.
    pub(super) fn filters_of(&self, namespace: &str) -> impl Iterator<Item = (&Name, &Arc<StoredFilter>)> {
        let namespace = namespace.to_owned();
        let from = (namespace.clone(), String::new());
        self.filters.range(from..).take_while(move |(name, _)| name.0 == namespace)
    }

    /// Kinds whose objects have not all been read yet.
    pub(crate) fn missing(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.missing.iter().copied()
    }

    /// Pods with a proxy, grouped by replicas.
    pub(crate) fn proxies(&self) -> Vec<Vec<Target>> {
        groups(targets(&self.objects), false)
    }

    /// Everything in the view, for those who judge all of it.
    pub(crate) fn whole(&self) -> Whole {
        let mut whole = Whole {
            sources: Arc::clone(&self.texts),
            inventory: self.objects.without_filters(),
            problems: Vec::new(),
            excess: BTreeMap::new(),
            planes: Arc::clone(&self.planes),
            facts: Arc::clone(&self.facts),
        };
        for (name, known) in self.filters.iter() {
            if let Some(excess) = known.excess {
                whole.excess.insert(name.clone(), excess.to_string());
                continue;
            }
            whole.inventory.envoy_filters.extend(known.filter.clone());
            whole.inventory.refused_filters.extend(known.refused.iter().cloned());
            whole.problems.extend(known.problems.iter().cloned());
        }
        whole
    }

    /// Number of EnvoyFilters and of workloads in the view.
    pub fn size(&self) -> (usize, usize) {
        (self.filters.len(), self.objects.workloads.len())
    }

    /// Namespace and revision of each control plane; the namespace is empty if none of its pods exists.
    pub(crate) fn control_planes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.facts.planes.iter().map(|plane| (plane.namespace.as_str(), plane.revision.as_str()))
    }

    /// The same without all objects of a kind.
    #[must_use]
    pub(crate) fn lacking(mut self, kind: &'static Kind) -> Snapshot {
        self.missing.insert(kind_label(kind));
        self
    }
}

/// Everything in a view.
#[derive(Clone, Debug)]
pub(crate) struct Whole {
    /// The texts of all objects.
    pub sources: Arc<Sources>,
    /// All objects.
    pub inventory: Inventory,
    /// Problems from reading EnvoyFilters.
    pub problems: Vec<Problem>,
    /// EnvoyFilters that are too large to judge, each with the limit that it exceeds.
    pub excess: BTreeMap<Name, String>,
    /// The control planes, the main one first; at least one.
    pub planes: Arc<Vec<Plane>>,
    /// What is known about the mesh.
    pub facts: Arc<Facts>,
}

/// Keeps a [`Snapshot`] up to date.
#[derive(Debug)]
pub struct SnapshotBuilder {
    overrides: Overrides,
    snapshot: Snapshot,
    /// The place of each object's text, by kind.
    places: HashMap<&'static str, HashMap<Name, FileId>>,
    /// Places of deleted texts, to be reused.
    free: Vec<FileId>,
    /// Revision tags and their revisions, by the object that defines them.
    tags: BTreeMap<Name, BTreeMap<String, String>>,
    /// Whether an object that describes control planes has changed.
    planes_changed: bool,
    sampled: Sampled,
}

/// Extensions that running proxies list, by kind of proxy.
pub(crate) type Sampled = BTreeMap<ProxyKind, Vec<String>>;

/// The reference configurations of each control plane's release, with the extensions sampled from proxies of their kind.
fn references(planes: &[Plane], sampled: &Sampled) -> Vec<Vec<ProxyConfig<'static>>> {
    let of_plane = |plane: &Plane| {
        let mut references = reference::configs(plane.release).to_vec();
        for one in &mut references {
            one.proxy.extensions = sampled.get(&one.proxy.kind).cloned().unwrap_or_default();
        }
        references
    };
    planes.iter().map(of_plane).collect()
}

impl SnapshotBuilder {
    /// A builder that waits for all objects of these kinds.
    pub fn new(overrides: Overrides, kinds: &[&'static Kind]) -> SnapshotBuilder {
        let mut snapshot = Snapshot::new(&overrides);
        snapshot.missing = kinds.iter().map(|kind| kind_label(kind)).collect();
        SnapshotBuilder {
            overrides,
            snapshot,
            places: HashMap::new(),
            free: Vec::new(),
            tags: BTreeMap::new(),
            planes_changed: false,
            sampled: Sampled::new(),
        }
    }

    /// Applies a change reported by a watch.
    pub fn apply(&mut self, kind: &'static Kind, change: Change) {
        match change {
            Change::Put(object) => self.upsert(kind, object),
            Change::Gone(namespace, name) => self.remove(kind, &(namespace, name)),
            Change::All(names) => {
                let names: BTreeSet<Name> = names.into_iter().collect();
                let known = self.places.get(kind_label(kind)).into_iter().flatten().map(|(name, _)| name);
                let stale: Vec<Name> = known.filter(|name| !names.contains(*name)).cloned().collect();
                // The ConfigMaps come from watches of one object each.
                if kind != kinds::CONFIG_MAP {
                    for name in &stale {
                        self.remove(kind, name);
                    }
                }
                self.mark_read(kind);
            }
        }
    }

    /// Applies sampled extensions.
    pub fn set_sampled(&mut self, sampled: Sampled) {
        if self.sampled == sampled {
            return;
        }
        self.snapshot.references = Arc::new(references(&self.snapshot.planes, &sampled));
        self.snapshot.serial = fresh();
        self.sampled = sampled;
    }

    /// Marks a kind as read, also when the cluster does not serve or show it.
    pub fn mark_read(&mut self, kind: &'static Kind) {
        self.snapshot.missing.remove(kind_label(kind));
    }

    /// The current snapshot.
    pub fn snapshot(&mut self) -> Snapshot {
        if self.planes_changed {
            self.planes_changed = false;
            let facts = Facts::of(&self.snapshot.objects, String::new());
            let targets = targets(&self.snapshot.objects);
            let root = self.overrides.root_namespace.as_deref();
            let planes = planes(&facts, &targets, self.overrides.release, root);
            self.snapshot.references = Arc::new(references(&planes, &self.sampled));
            self.snapshot.homes = Arc::new(Homes::of(&planes, &facts, &targets));
            self.snapshot.planes = Arc::new(planes);
            self.snapshot.facts = Arc::new(facts);
            self.snapshot.serial = fresh();
        }
        self.snapshot.clone()
    }

    fn upsert(&mut self, kind: &'static Kind, mut object: Value) {
        let name = name_of(&object);
        if !objects::keep(&mut object, objects::Reader::Questions) {
            return self.remove(kind, &name);
        }
        let is_filter = kind == kinds::ENVOY_FILTER;
        let (values, depth) = if is_filter { size_of(&object) } else { (0, 0) };
        let too_large = limits::of_size(values, depth);
        let text = match too_large {
            // Not judged, so not kept.
            Some(_) => String::new(),
            None if is_filter => text_of(&object),
            None => object.to_string(),
        };
        let known = self.places.get(kind_label(kind)).and_then(|places| places.get(&name)).copied();
        if too_large.is_none() && known.is_some_and(|file| self.snapshot.texts.get(file).text == text) {
            // Most watch events are about fields that are not used here: the state of a pod, the version of an object.
            return;
        }
        // The mesh config in a ConfigMap is a text of its own, after that of the object.
        let file = if kind == kinds::CONFIG_MAP {
            self.remove(kind, &name);
            self.snapshot.texts.next()
        } else {
            known.or_else(|| self.free.pop()).unwrap_or_else(|| self.snapshot.texts.next())
        };
        let number = if is_filter { number_of(&name.0, &name.1, file, &text) } else { 0 };
        let mut loaded = Loaded { sources: Sources::starting_at(file), ..Loaded::default() };
        let source = source_name(&self.overrides.context, kind.kind, &name.0, &name.1);
        loaded.add_text(&source, text, &Options::default());
        let Loaded { sources, inventory, problems, .. } = loaded;
        Arc::make_mut(&mut self.snapshot.texts).splice(sources);
        if is_filter {
            let filter = inventory.envoy_filters.into_iter().next();
            if let Some(filter) = &filter {
                // Reviews judge copies, each of which would search for them again.
                filter.secrets();
            }
            let excess = too_large.or_else(|| filter.as_ref().and_then(limits::excess));
            let refused = inventory.refused_filters;
            let known = StoredFilter { file, filter, refused, problems, values, excess, number };
            Arc::make_mut(&mut self.snapshot.filters).insert(name.clone(), Arc::new(known));
        } else {
            self.replace(kind, &name, inventory);
        }
        self.places.entry(kind_label(kind)).or_default().insert(name, file);
    }

    fn remove(&mut self, kind: &'static Kind, name: &Name) {
        let Some(file) = self.places.get_mut(kind_label(kind)).and_then(|places| places.remove(name)) else { return };
        if kind != kinds::CONFIG_MAP {
            self.free.push(file);
        }
        let mut empty = Sources::starting_at(file);
        empty.add("", "");
        Arc::make_mut(&mut self.snapshot.texts).splice(empty);
        if kind == kinds::ENVOY_FILTER {
            Arc::make_mut(&mut self.snapshot.filters).remove(name);
        } else {
            self.replace(kind, name, Inventory::default());
        }
    }

    /// Replaces the object of this name.
    fn replace(&mut self, kind: &'static Kind, name: &Name, new: Inventory) {
        self.snapshot.serial = fresh();
        let known = &mut self.snapshot.objects;
        if [kinds::POD, kinds::NAMESPACE, kinds::CONFIG_MAP, kinds::REVISION_TAG].contains(&kind) {
            self.planes_changed = true;
        }
        if kind == kinds::POD || kind == kinds::WORKLOAD_ENTRY {
            swap(&mut known.workloads, kind, name, new.workloads);
        } else if kind == kinds::SERVICE {
            swap(&mut known.services, kind, name, new.services);
        } else if kind == kinds::SERVICE_ENTRY {
            swap(&mut known.service_entries, kind, name, new.service_entries);
        } else if kind == kinds::GATEWAY {
            swap(&mut known.gateways, kind, name, new.gateways);
        } else if kind == kinds::KUBE_GATEWAY {
            swap(&mut known.kube_gateways, kind, name, new.kube_gateways);
        } else if kind == kinds::VIRTUAL_SERVICE {
            swap(&mut known.virtual_services, kind, name, new.virtual_services);
        } else if kind == kinds::DESTINATION_RULE {
            swap(&mut known.destination_rules, kind, name, new.destination_rules);
        } else if kind == kinds::SIDECAR {
            swap(&mut known.sidecars, kind, name, new.sidecars);
        } else if kind == kinds::NAMESPACE {
            swap(&mut known.namespaces, kind, &(String::new(), name.1.clone()), new.namespaces);
        } else if kind == kinds::REVISION_TAG {
            self.tags.insert(name.clone(), new.revision_tags);
            self.tags.retain(|_, tags| !tags.is_empty());
            known.revision_tags = self.tags.values().flatten().map(|(tag, of)| (tag.clone(), of.clone())).collect();
        } else if kind == kinds::CONFIG_MAP {
            let meshes = Arc::make_mut(&mut known.meshes);
            meshes.retain(|mesh| (&mesh.object.namespace, &mesh.object.name) != (&name.0, &name.1));
            meshes.extend(new.meshes.iter().cloned());
            meshes.sort_by(|a, b| (&a.revision, &a.object.namespace).cmp(&(&b.revision, &b.object.namespace)));
        }
    }
}

/// The name of a kind, unique among kinds of the same name.
pub(crate) fn kind_label(kind: &'static Kind) -> &'static str {
    if kind == kinds::KUBE_GATEWAY { "Gateway (gateway.networking.k8s.io)" } else { kind.kind }
}

/// An object in a list of the view.
trait Entry {
    fn object(&self) -> &Object;
}

macro_rules! entries {
    ($($name:ty),+) => {
        $(impl Entry for $name {
            fn object(&self) -> &Object {
                &self.object
            }
        })+
    };
}

entries!(Workload, Service, ServiceEntry, Gateway, KubeGateway, VirtualService, DestinationRule, Sidecar, Mesh);

impl Entry for Object {
    fn object(&self) -> &Object {
        self
    }
}

/// Replaces the entry of one name in a list sorted by kind, namespace and name, which is the order in which a command reads a
/// cluster.
fn swap<E: Entry>(list: &mut Shared<E>, kind: &Kind, name: &Name, new: Shared<E>) {
    let list = Arc::make_mut(list);
    let want = (kind.kind, name.0.as_str(), name.1.as_str());
    let found = list.binary_search_by(|one| {
        let object = one.object();
        (object.kind.as_str(), object.namespace.as_str(), object.name.as_str()).cmp(&want)
    });
    let new = Arc::unwrap_or_clone(new).into_iter().next();
    match (found, new) {
        (Ok(at), Some(new)) => list[at] = new,
        (Ok(at), None) => drop(list.remove(at)),
        (Err(at), Some(new)) => list.insert(at, new),
        (Err(_), None) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pod(name: &str, app: &str) -> Value {
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "shop", "labels": {"app": app}}})
    }

    fn names(snapshot: &Snapshot) -> Vec<String> {
        snapshot
            .objects
            .workloads
            .iter()
            .map(|it| {
                let text = &snapshot.texts.get(it.object.document.span.file).text;
                assert!(text.contains(&it.object.name), "{text}");
                format!("{} {}", it.object.name, it.labels["app"])
            })
            .collect()
    }

    #[test]
    fn objects_come_change_and_go_and_older_moments_stay() {
        let mut builder = SnapshotBuilder::new(Overrides::default(), &[kinds::POD]);
        builder.apply(kinds::POD, Change::Put(pod("b", "1")));
        builder.apply(kinds::POD, Change::Put(pod("a", "1")));
        let first = builder.snapshot();
        assert_eq!(first.missing().collect::<Vec<_>>(), ["Pod"]);
        builder.apply(kinds::POD, Change::Put(pod("b", "2")));
        builder.apply(kinds::POD, Change::Gone("shop".into(), "a".into()));
        builder.apply(kinds::POD, Change::Put(pod("c", "1")));
        let second = builder.snapshot();
        builder.apply(kinds::POD, Change::Put(pod("c", "3")));
        builder.apply(kinds::POD, Change::Put(pod("d", "1")));
        builder.apply(kinds::POD, Change::All(vec![("shop".into(), "c".into()), ("shop".into(), "d".into())]));
        let third = builder.snapshot();
        assert_eq!(names(&first), ["a 1", "b 1"]);
        assert_eq!(names(&second), ["b 2", "c 1"]);
        assert_eq!(names(&third), ["c 3", "d 1"]);
        assert_eq!(third.missing().count(), 0);
        // Places of texts are reused: a cluster may run for years.
        assert!(third.texts.next().0 <= 4, "{:?}", third.texts.next());
    }

    #[test]
    fn mesh_settings_decide_the_root_namespace() {
        let map = |root: &str| {
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "istio", "namespace": "istio-system"},
                "data": {"mesh": format!("rootNamespace: {root}")}})
        };
        let mut builder = SnapshotBuilder::new(Overrides::default(), &[]);
        assert_eq!(builder.snapshot().planes[0].mesh.root_namespace, "istio-system");
        builder.apply(kinds::CONFIG_MAP, Change::Put(map("a")));
        builder.apply(kinds::CONFIG_MAP, Change::All(vec![("istio-system".into(), "istio".into())]));
        assert_eq!(builder.snapshot().planes[0].mesh.root_namespace, "a");
        builder.apply(kinds::CONFIG_MAP, Change::Put(map("b")));
        assert_eq!(builder.snapshot().planes[0].mesh.root_namespace, "b");
        builder.apply(kinds::CONFIG_MAP, Change::Gone("istio-system".into(), "istio".into()));
        assert_eq!(builder.snapshot().planes[0].mesh.root_namespace, "istio-system");
    }

    /// The release that judges a proxy is that of the control plane behind its tag, as soon as the tag is moved.
    #[test]
    fn revision_tags_say_which_control_planes_are_in_use() {
        let istiod = |revision: &str, version: &str| {
            json!({"apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": format!("istiod-{revision}"), "namespace": "istio-system", "labels": {"app": "istiod", "istio.io/rev": revision}},
                "spec": {"containers": [{"name": "discovery", "image": format!("istio/pilot:{version}")}]}})
        };
        let tag = |revision: &str| {
            json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",
                "metadata": {"name": "istio-revision-tag-prod", "labels": {"istio.io/tag": "prod", "istio.io/rev": revision}}})
        };
        let mut proxy = pod("cart", "cart");
        proxy["metadata"]["labels"]["istio.io/rev"] = "prod".into();
        proxy["spec"] = json!({"containers": [{"name": "istio-proxy", "image": "istio/proxyv2:1.29.0", "args": ["proxy", "sidecar"]}]});
        let mut builder = SnapshotBuilder::new(Overrides::default(), &[]);
        for object in [istiod("default", "1.31.0"), istiod("a", "1.28.0"), istiod("b", "1.29.0"), proxy] {
            builder.apply(kinds::POD, Change::Put(object));
        }
        let releases = |builder: &mut SnapshotBuilder| -> Vec<String> {
            builder.snapshot().planes.iter().map(|plane| plane.release.to_string()).collect()
        };
        assert_eq!(releases(&mut builder), ["1.31.0"]);
        builder.apply(kinds::REVISION_TAG, Change::Put(tag("a")));
        assert_eq!(releases(&mut builder), ["1.31.0", "1.28.0"]);
        builder.apply(kinds::REVISION_TAG, Change::Put(tag("b")));
        assert_eq!(releases(&mut builder), ["1.31.0", "1.29.0"]);
        builder.apply(kinds::REVISION_TAG, Change::All(Vec::new()));
        assert_eq!(releases(&mut builder), ["1.31.0"]);
    }
}
