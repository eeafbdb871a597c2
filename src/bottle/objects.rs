//! The objects that istiod is shown, ready to be served: complete metadata, and their JSON in pieces.

use super::kinds::{self, KINDS, Kind, Origin};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Kinds are defined by objects of this one.
const DEFINITIONS: &str = "customresourcedefinitions";

/// Where a kind has its objects: group and plural.
type Shelf = (&'static str, &'static str);

/// Where one object is: its kind's group and plural, its namespace and name.
pub(super) type Place = (&'static str, &'static str, String, String);

/// What an object has that was read from a file, where a cluster would know when it was made. The oldest time there is:
/// an object without a time comes first in every order that istiod has.
const NO_TIME: &str = "1970-01-01T00:00:00Z";

/// One object.
#[derive(Debug)]
pub(super) struct Object {
    pub(super) kind: &'static Kind,
    pub(super) namespace: String,
    pub(super) name: String,
    /// All of it.
    pub(super) value: Value,
    /// JSON of `metadata`.
    metadata: String,
    /// JSON of all other fields but `apiVersion` and `kind`, each after a comma.
    rest: String,
}

impl Object {
    fn new(kind: &'static Kind, mut value: Value, version: u64) -> Option<Object> {
        let fields = value.as_object_mut()?;
        let metadata = fields.entry("metadata").or_insert_with(|| json!({})).as_object_mut()?;
        let name = metadata.get("name")?.as_str()?.to_owned();
        let namespace = metadata.get("namespace").and_then(Value::as_str).unwrap_or_default().to_owned();
        metadata.insert("resourceVersion".to_owned(), version.to_string().into());
        // A stand-in, so that equal inputs make equal objects.
        metadata.entry("uid").or_insert_with(|| format!("{}-{namespace}-{name}", kind.plural).into());
        metadata.entry("creationTimestamp").or_insert_with(|| NO_TIME.into());
        metadata.remove("managedFields");
        let metadata = Value::Object(metadata.clone()).to_string();
        let mut rest = String::new();
        for (key, value) in fields.iter() {
            if !matches!(key.as_str(), "apiVersion" | "kind" | "metadata") {
                rest.push_str(&format!(",{}:{value}", Value::from(key.as_str())));
            }
        }
        Some(Object { kind, namespace, name, value, metadata, rest })
    }

    /// Where it is.
    pub(super) fn place(&self) -> Place {
        (self.kind.group, self.kind.plural, self.namespace.clone(), self.name.clone())
    }

    /// Its JSON in a version of its API, or of its metadata alone.
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
    /// Where those are that a cluster has: nothing is missing of them, and nothing is made up for them.
    real: Arc<BTreeSet<Place>>,
    /// How many were passed over because istiod does not read their kind.
    pub passed_over: usize,
}

impl Objects {
    /// Those among these that istiod reads; of two with the same name the last counts. `namespace` is that of objects
    /// that give none.
    pub fn new(documents: impl IntoIterator<Item = Value>, namespace: &str) -> Objects {
        let mut objects = Objects { version: 1, ..Objects::default() };
        for document in documents {
            objects.upsert(document, namespace);
        }
        objects.define();
        objects
    }

    /// Adds an object or replaces it; `None` when it is none that istiod reads.
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
        self.version += 1;
        let object = Arc::new(Object::new(kind, document, self.version)?);
        let key = (object.namespace.clone(), object.name.clone());
        self.by_kind.entry((kind.group, kind.plural)).or_default().insert(key, Arc::clone(&object));
        Some(object)
    }

    /// Says that a cluster has all of these as they are.
    pub(super) fn of_cluster(&mut self) {
        self.real = Arc::new(self.places());
    }

    /// Whether a cluster has an object.
    pub(super) fn is_real(&self, kind: &Kind, namespace: &str, name: &str) -> bool {
        !self.real.is_empty() && self.real.contains(&(kind.group, kind.plural, namespace.to_owned(), name.to_owned()))
    }

    /// The same of a value.
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

    /// Says that an object is not what a cluster has, because it is another one now.
    pub(super) fn replaced(&mut self, place: &Place) {
        if self.real.contains(place) {
            Arc::make_mut(&mut self.real).remove(place);
        }
    }

    /// These objects and the definitions alone.
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

    /// The kind that a word means, as users write it, of an object that exists: `VirtualService`, `virtualservices`.
    pub(super) fn kind_of(&self, word: &str, namespace: &str, name: &str) -> Option<&'static str> {
        let word = word.to_lowercase();
        let is = |kind: &&Kind| kind.kind.to_lowercase() == word || kind.plural == word;
        let exists = |kind: &&Kind| self.get(kind, if kind.namespaced { namespace } else { "" }, name).is_some();
        KINDS.iter().filter(is).find(exists).map(|kind| kind.kind)
    }

    /// Takes away what has this kind and name.
    pub(super) fn take_away(&mut self, kind: &str, namespace: &str, name: &str) {
        for kind in KINDS.iter().filter(|one| one.kind == kind) {
            self.remove(kind, if kind.namespaced { namespace } else { "" }, name);
        }
    }

    /// Takes an object away.
    pub(super) fn remove(&mut self, kind: &Kind, namespace: &str, name: &str) -> Option<Arc<Object>> {
        self.version += 1;
        self.by_kind.get_mut(&(kind.group, kind.plural))?.remove(&(namespace.to_owned(), name.to_owned()))
    }

    /// The definitions of the custom kinds: istiod reads no kind without one. Those that were given stay as they are.
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
                        // istiod passes over kinds of a Gateway API that is older than it needs.
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

    /// How many there are, definitions left out.
    pub fn len(&self) -> usize {
        self.by_kind.iter().filter(|((_, plural), _)| *plural != DEFINITIONS).map(|(_, objects)| objects.len()).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Grows with every change.
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// The documents of all objects but definitions that were made here.
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

/// Whether labels have all that a selector asks for; one without entries asks for nothing and selects nothing.
pub(super) fn selects(selector: Option<&Map<String, Value>>, labels: Option<&Map<String, Value>>) -> bool {
    let Some(selector) = selector.filter(|selector| !selector.is_empty()) else { return false };
    selector.iter().all(|(key, value)| labels.and_then(|labels| labels.get(key)) == Some(value))
}
