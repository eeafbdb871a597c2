//! The base settings of all proxies, from the mesh config.

use super::objects::{Objects, text};
use crate::load::yaml;
use crate::source::{FileId, Node as Document};
use serde_json::{Value, json};

/// Base settings of all proxies.
#[derive(Clone, Debug, Default)]
pub struct Defaults {
    /// `defaultConfig` of the mesh.
    pub(super) settings: Value,
    /// The namespace whose ProxyConfigs apply to every proxy.
    pub(super) root: String,
}

impl Defaults {
    /// The settings in the mesh config that the istiod of a revision and a namespace reads.
    pub(super) fn of(objects: &Objects, revision: &str, namespace: &str) -> Defaults {
        let own = if revision.is_empty() { "istio".to_owned() } else { format!("istio-{revision}") };
        let named = |name: &str| {
            let is = |map: &&Value| {
                text(map, &["metadata", "name"]) == name && text(map, &["metadata", "namespace"]) == namespace
            };
            objects.values("", "ConfigMap").find(is)
        };
        let mesh = named(&own).or_else(|| named("istio")).map(|map| read(text(map, &["data", "mesh"])));
        let mesh = mesh.unwrap_or_default();
        let root = match text(&mesh, &["rootNamespace"]) {
            "" => namespace,
            root => root,
        };
        Defaults {
            settings: mesh.get("defaultConfig").filter(|it| it.is_object()).cloned().unwrap_or_else(|| json!({})),
            root: root.to_owned(),
        }
    }
}

/// The first document of a text.
pub(super) fn read(text: &str) -> Value {
    let (documents, _) = yaml::documents(FileId(0), text);
    documents.first().map(Document::to_json).unwrap_or_default()
}
