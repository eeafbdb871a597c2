//! Pods that a migration is for, and the settings that they get.

use super::change::settings_of;
use crate::migrate::base::value::merge;
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::inventory::Labels;
use crate::model::proxy::GATEWAY_NAME_LABEL;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

/// Settings for the pods of some workloads.
#[derive(Clone, Debug, PartialEq)]
pub struct PodSettings {
    /// Namespace; empty for every namespace.
    pub namespace: String,
    /// Labels of the pods; empty for all of the namespace.
    pub labels: Labels,
    /// Whether they are for gateways only.
    pub gateways: bool,
    /// Settings from the filters.
    pub config: Json,
    /// The mesh's defaults (`defaultConfig`): an annotation that sets part of a field hides all of it.
    pub defaults: Json,
    /// Workloads in the input with those pods (kind, namespace and name), with the current annotation of their pods.
    pub workloads: BTreeMap<Place, String>,
    /// `namespace/name` of the filters.
    pub from: BTreeSet<String>,
}

/// Kind, namespace and name of an object.
pub(crate) type Place = (String, String, String);

impl PodSettings {
    /// The new annotation of a pod that has this one. Mesh settings in the same fields are repeated unless the
    /// annotation already hides them.
    pub fn over(&self, annotation: &str) -> Json {
        completed(annotation, &self.config, &self.defaults)
    }

    /// Whose pods: `Deployment istio-system/gateway`, or the labels.
    pub(crate) fn title(&self) -> String {
        if !self.workloads.is_empty() {
            let names: Vec<String> =
                self.workloads.keys().map(|(kind, namespace, name)| format!("{kind} {namespace}/{name}")).collect();
            return names.join(", ");
        }
        let labels: Vec<String> = self.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        if labels.is_empty() {
            let what = if self.gateways { "gateway" } else { "workload" };
            return format!("every {what} of {}", whereabouts(&self.namespace, "namespace "));
        }
        format!("pods with {} in {}", labels.join(","), whereabouts(&self.namespace, ""))
    }
}

/// A namespace after a word, or the whole mesh if it is empty.
pub(crate) fn whereabouts(namespace: &str, before: &str) -> String {
    if namespace.is_empty() { "the mesh".to_owned() } else { format!("{before}{namespace}") }
}

/// The settings of an annotation with others merged into them, and the mesh's settings in the same fields.
pub(super) fn completed(annotation: &str, config: &Json, defaults: &Json) -> Json {
    let mut settings = settings_of(annotation);
    for key in config.as_object().into_iter().flatten().map(|(key, _)| key) {
        if settings.get(key).is_none()
            && let Some(default) = defaults.get(key)
        {
            settings[key.as_str()] = default.clone();
        }
    }
    merge(&mut settings, config);
    settings
}

/// The labels of the pods that a filter selects: those of its `workloadSelector`, or of the Gateway that its `targetRefs` name;
/// `None` if no labels select just these pods.
pub(crate) fn pod_labels(filter: &EnvoyFilter) -> Option<Labels> {
    match filter.target_refs.as_slice() {
        [] => Some(filter.selector.clone().unwrap_or_default()),
        [target] if target.kind == "Gateway" => {
            Some(Labels::from([(GATEWAY_NAME_LABEL.to_owned(), target.name.clone())]))
        }
        _ => None,
    }
}
