//! The objects that istiod reads, prepared for serving: complete metadata, and their JSON in pieces.

use super::gateway_api;
use super::kinds::{self, KINDS, Kind, Origin};
use crate::model::stored;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Objects of this kind define kinds.
const DEFINITIONS: &str = "customresourcedefinitions";

/// Identifies a kind: group and plural.
type Shelf = (&'static str, &'static str);

/// Identifies an object: its kind's group and plural, its namespace and name.
pub(super) type Place = (&'static str, &'static str, String, String);

/// Creation time of an object from a file, for which a cluster would have a real one. It is the oldest possible time,
/// so an object without a time comes first in every order of istiod.
const NO_TIME: &str = "1970-01-01T00:00:00Z";

/// The label that every namespace has.
pub(super) const NAME_LABEL: &str = "kubernetes.io/metadata.name";

/// One object.
#[derive(Debug)]
pub(super) struct Object {
    pub(super) kind: &'static Kind,
    pub(super) namespace: String,
    pub(super) name: String,
    /// The whole object.
    pub(super) value: Value,
    /// JSON of `metadata`.
    metadata: String,
    /// JSON of all fields except `metadata`, `apiVersion` and `kind`, each after a comma.
    rest: String,
}

impl Object {
    fn new(kind: &'static Kind, mut value: Value, version: u64) -> Option<Object> {
        let fields = value.as_object_mut()?;
        let metadata = fields.entry("metadata").or_insert_with(|| json!({})).as_object_mut()?;
        let name = metadata.get("name")?.as_str()?.to_owned();
        let namespace = metadata.get("namespace").and_then(Value::as_str).unwrap_or_default().to_owned();
        metadata.insert("resourceVersion".to_owned(), version.to_string().into());
        // A stand-in, so that equal input gives equal objects.
        metadata.entry("uid").or_insert_with(|| format!("{}-{namespace}-{name}", kind.plural).into());
        metadata.entry("creationTimestamp").or_insert_with(|| NO_TIME.into());
        metadata.remove("managedFields");
        if kind.plural == "namespaces" {
            // As the API server: `discoverySelectors` select by it.
            let labels = metadata.entry("labels").or_insert_with(|| json!({}));
            if let Some(labels) = labels.as_object_mut() {
                labels.entry(NAME_LABEL).or_insert_with(|| name.clone().into());
            }
        }
        let metadata = Value::Object(metadata.clone()).to_string();
        let mut rest = String::new();
        for (key, value) in fields.iter() {
            if !matches!(key.as_str(), "apiVersion" | "kind" | "metadata") {
                rest.push_str(&format!(",{}:{value}", Value::from(key.as_str())));
            }
        }
        Some(Object { kind, namespace, name, value, metadata, rest })
    }

    /// Its place.
    pub(super) fn place(&self) -> Place {
        (self.kind.group, self.kind.plural, self.namespace.clone(), self.name.clone())
    }

    /// Its JSON in an API version, or only its metadata.
    pub(super) fn write(&self, api_version: &str, metadata_only: bool) -> String {
        let metadata = &self.metadata;
        if metadata_only {
            return format!(
                r#"{{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata","metadata":{metadata}}}"#
            );
        }
        let (kind, rest) = (self.kind.kind, &self.rest);
        format!(r#"{{"apiVersion":"{api_version}","kind":"{kind}","metadata":{metadata}{rest}}}"#)
    }
}

/// All objects, by kind, namespace and name.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    by_kind: BTreeMap<Shelf, BTreeMap<(String, String), Arc<Object>>>,
    version: u64,
    /// The places of objects that a cluster has: they are complete and get no stand-ins.
    real: Arc<BTreeSet<Place>>,
    /// How many were skipped because istiod does not read their kind.
    pub passed_over: usize,
}

impl Objects {
    /// The given objects that istiod reads; of two with the same name, the last one counts. `namespace` is the default
    /// namespace.
    pub(crate) fn new(documents: impl IntoIterator<Item = Value>, namespace: &str) -> Objects {
        let mut objects = Objects { version: 1, ..Objects::default() };
        for document in documents {
            objects.upsert(document, namespace);
        }
        objects.define();
        objects
    }

    /// Adds or replaces an object; `None` if istiod does not read its kind.
    pub(super) fn upsert(&mut self, mut document: Value, namespace: &str) -> Option<Arc<Object>> {
        let group = kinds::group_of(document.get("apiVersion").and_then(Value::as_str).unwrap_or_default()).to_owned();
        let kind = kinds::by_name(&group, document.get("kind").and_then(Value::as_str).unwrap_or_default());
        let Some(kind) = kind else {
            self.passed_over += 1;
            return None;
        };
        if kind.namespaced
            && let Some(metadata) = document.get_mut("metadata").and_then(Value::as_object_mut)
            && metadata.get("namespace").and_then(Value::as_str).is_none_or(str::is_empty)
        {
            metadata.insert("namespace".to_owned(), namespace.into());
        }
        if kind.plural == "envoyfilters" {
            stored::prune(&mut document);
        }
        gateway_api::set_defaults(&mut document);
        self.version += 1;
        let object = Arc::new(Object::new(kind, document, self.version)?);
        let key = (object.namespace.clone(), object.name.clone());
        self.by_kind.entry((kind.group, kind.plural)).or_default().insert(key, Arc::clone(&object));
        Some(object)
    }

    /// Marks all of these as complete objects of a cluster.
    pub(super) fn of_cluster(&mut self) {
        self.real = Arc::new(self.places());
    }

    /// Whether a cluster has an object.
    pub(super) fn is_real(&self, kind: &Kind, namespace: &str, name: &str) -> bool {
        !self.real.is_empty() && self.real.contains(&(kind.group, kind.plural, namespace.to_owned(), name.to_owned()))
    }

    /// The same for a value.
    pub(super) fn has_real(&self, value: &Value) -> bool {
        if self.real.is_empty() {
            return false;
        }
        let kind = kinds::by_name(kinds::group_of(text(value, &["apiVersion"])), text(value, &["kind"]));
        let (namespace, name) = (text(value, &["metadata", "namespace"]), text(value, &["metadata", "name"]));
        kind.is_some_and(|kind| self.is_real(kind, if kind.namespaced { namespace } else { "" }, name))
    }

    /// Whether a cluster has any object of a kind.
    pub(super) fn has_real_of(&self, group: &str, plural: &str) -> bool {
        self.real.iter().any(|place| place.0 == group && place.1 == plural)
    }

    /// Marks an object as changed, so that it is no longer what the cluster has.
    pub(super) fn replaced(&mut self, place: &Place) {
        if self.real.contains(place) {
            Arc::make_mut(&mut self.real).remove(place);
        }
    }

    /// Only these objects and the definitions.
    pub(super) fn alone(&self, wanted: &[Place]) -> Objects {
        let wanted: BTreeSet<&Place> = wanted.iter().collect();
        let mut objects = self.clone();
        for ((_, plural), shelf) in &mut objects.by_kind {
            shelf.retain(|_, object| *plural == DEFINITIONS || wanted.contains(&object.place()));
        }
        objects
    }

    /// Where all objects are.
    pub(super) fn places(&self) -> BTreeSet<Place> {
        self.by_kind.values().flat_map(|objects| objects.values().map(|object| object.place())).collect()
    }

    /// The kind of an existing object for a word that users write: `VirtualService`, `virtualservices`.
    pub(super) fn kind_of(&self, word: &str, namespace: &str, name: &str) -> Option<&'static str> {
        let word = word.to_lowercase();
        let is = |kind: &&Kind| kind.kind.to_lowercase() == word || kind.plural == word;
        let exists = |kind: &&Kind| self.get(kind, if kind.namespaced { namespace } else { "" }, name).is_some();
        KINDS.iter().filter(is).find(exists).map(|kind| kind.kind)
    }

    /// Removes an object by kind and name.
    pub(super) fn take_away(&mut self, kind: &str, namespace: &str, name: &str) {
        for kind in KINDS.iter().filter(|one| one.kind == kind) {
            self.remove(kind, if kind.namespaced { namespace } else { "" }, name);
        }
    }

    /// Removes an object.
    pub(super) fn remove(&mut self, kind: &Kind, namespace: &str, name: &str) -> Option<Arc<Object>> {
        self.version += 1;
        self.by_kind.get_mut(&(kind.group, kind.plural))?.remove(&(namespace.to_owned(), name.to_owned()))
    }

    /// Adds the definitions of the custom kinds: istiod reads no kind without one. Given definitions stay.
    fn define(&mut self) {
        let api = |kind: &&Kind| {
            kind.origin == Origin::Istio
                || (kind.origin == Origin::GatewayApi
                    && KINDS.iter().any(|other| other.group == kind.group && self.any(other)))
        };
        let wanted: Vec<&Kind> = KINDS.iter().filter(api).collect();
        let definitions = kinds::by_name("apiextensions.k8s.io", "CustomResourceDefinition");
        for kind in wanted {
            let name = format!("{}.{}", kind.plural, kind.group);
            if definitions.is_some_and(|definitions| self.get(definitions, "", &name).is_some()) {
                continue;
            }
            let versions: Vec<Value> =
                kind.versions.iter().map(|version| json!({"name": version, "served": true})).collect();
            self.upsert(
                json!({
                    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                    "metadata": {
                        "name": name,
                        // istiod ignores the kinds of a Gateway API that is older than it requires.
                        "annotations": {"gateway.networking.k8s.io/bundle-version": "v1.6.0"},
                    },
                    "spec": {
                        "group": kind.group, "names": {"kind": kind.kind, "plural": kind.plural},
                        "scope": if kind.namespaced { "Namespaced" } else { "Cluster" }, "versions": versions,
                    },
                }),
                "",
            );
        }
    }

    fn any(&self, kind: &Kind) -> bool {
        self.by_kind.get(&(kind.group, kind.plural)).is_some_and(|objects| !objects.is_empty())
    }

    /// One object.
    pub(super) fn get(&self, kind: &Kind, namespace: &str, name: &str) -> Option<&Arc<Object>> {
        self.by_kind.get(&(kind.group, kind.plural))?.get(&(namespace.to_owned(), name.to_owned()))
    }

    /// All objects of a kind.
    pub(super) fn of(&self, kind: &Kind) -> impl Iterator<Item = &Arc<Object>> {
        self.by_kind.get(&(kind.group, kind.plural)).into_iter().flat_map(BTreeMap::values)
    }

    /// The values of all objects of a kind, by group and name.
    pub fn values<'o>(&'o self, group: &str, kind: &str) -> impl Iterator<Item = &'o Value> {
        kinds::by_name(group, kind).into_iter().flat_map(move |kind| self.of(kind)).map(|object| &object.value)
    }

    /// The number of objects, without definitions.
    pub(crate) fn len(&self) -> usize {
        self.by_kind.iter().filter(|((_, plural), _)| *plural != DEFINITIONS).map(|(_, objects)| objects.len()).sum()
    }

    /// Grows with every change.
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// The value of an object, by group and name of its kind.
    pub(super) fn value(&self, group: &str, kind: &str, namespace: &str, name: &str) -> Option<&Value> {
        kinds::by_name(group, kind).and_then(|kind| self.get(kind, namespace, name)).map(|object| &object.value)
    }

    /// The documents of all objects except generated definitions.
    pub fn documents(&self) -> impl Iterator<Item = &Value> {
        self.by_kind
            .iter()
            .filter(|((_, plural), _)| *plural != DEFINITIONS)
            .flat_map(|(_, objects)| objects.values().map(|object| &object.value))
    }
}

/// A text in an object, by its keys.
pub(super) fn text<'v>(value: &'v Value, keys: &[&str]) -> &'v str {
    at(value, keys).and_then(Value::as_str).unwrap_or_default()
}

/// A value in an object, by its keys.
pub(super) fn at<'v>(value: &'v Value, keys: &[&str]) -> Option<&'v Value> {
    keys.iter().try_fold(value, |value, key| value.get(key))
}

/// A list in an object, by its keys.
pub(super) fn list<'v>(value: &'v Value, keys: &[&str]) -> &'v [Value] {
    at(value, keys).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A map in an object, by its keys.
pub(super) fn map<'v>(value: &'v Value, keys: &[&str]) -> Option<&'v Map<String, Value>> {
    at(value, keys).and_then(Value::as_object)
}

/// Whether labels match a selector; a selector without entries selects nothing.
pub(super) fn selects(selector: Option<&Map<String, Value>>, labels: Option<&Map<String, Value>>) -> bool {
    let Some(selector) = selector.filter(|selector| !selector.is_empty()) else { return false };
    selector.iter().all(|(key, value)| labels.and_then(|labels| labels.get(key)) == Some(value))
}

/// Pods by namespace and label: a mesh may have thousands of pods and as many selectors.
#[derive(Debug, Default)]
pub(super) struct PodsByLabel<'o> {
    of: HashMap<(&'o str, &'o str, &'o Value), Vec<&'o Value>>,
}

impl<'o> PodsByLabel<'o> {
    /// Indexes all pods.
    pub(super) fn new(objects: &'o Objects) -> PodsByLabel<'o> {
        let mut pods = PodsByLabel::default();
        for pod in objects.values("", "Pod") {
            let namespace = text(pod, &["metadata", "namespace"]);
            for (key, value) in map(pod, &["metadata", "labels"]).into_iter().flatten() {
                pods.of.entry((namespace, key, value)).or_default().push(pod);
            }
        }
        pods
    }

    /// The pods of a namespace that a selector selects, in their order.
    pub(super) fn selected(&self, namespace: &str, selector: Option<&Map<String, Value>>) -> Vec<&'o Value> {
        let of = |(key, value)| self.of.get(&(namespace, String::as_str(key), value)).map_or(&[][..], Vec::as_slice);
        let fewest = selector.into_iter().flatten().map(of).min_by_key(|pods| pods.len()).unwrap_or_default();
        fewest.iter().copied().filter(|pod| selects(selector, map(pod, &["metadata", "labels"]))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_has_its_name_as_a_label() {
        let mut objects = Objects::default();
        let labels = |objects: &mut Objects, metadata: Value| {
            let document = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata});
            objects.upsert(document, "default").map(|object| object.value["metadata"]["labels"].clone())
        };
        assert_eq!(labels(&mut objects, json!({"name": "shop"})), Some(json!({NAME_LABEL: "shop"})));
        let of_team = json!({"name": "pay", "labels": {"team": "a"}});
        assert_eq!(labels(&mut objects, of_team), Some(json!({"team": "a", NAME_LABEL: "pay"})));
    }
}
