//! The admission server gives the same findings about a filter as `lint`.

mod attacks;
mod bodies;
mod cluster;
mod deep;
mod files;
mod installed;
mod late;
mod parity;
mod reviews;
mod server;
mod standing;

use kubectl_envoyfilter::admission::judge::Rules;
use kubectl_envoyfilter::admission::snapshot::{Change, Overrides, SnapshotBuilder};
use kubectl_envoyfilter::cluster::kinds::{self, Kind};
use kubectl_envoyfilter::lint::config::Config;
use kubectl_envoyfilter::rules::ALL;
use serde_json::{Value, json};

/// All rules, without a configuration.
fn rules() -> Rules {
    Rules::new(ALL.to_vec(), Config::default())
}

fn text<'v>(object: &'v Value, pointer: &str) -> &'v str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The kind that the server watches for an object; `None` if it does not.
fn kind_of(object: &Value) -> Option<&'static Kind> {
    let kinds = kinds::WEBHOOK.kinds.iter().copied().chain([kinds::CONFIG_MAP]);
    let group = text(object, "/apiVersion").split_once('/').map_or("", |(group, _)| group);
    kinds.into_iter().find(|kind| kind.kind == text(object, "/kind") && kind.group == group)
}

/// A builder that knows these objects.
fn builder(overrides: Overrides, objects: &[Value]) -> SnapshotBuilder {
    let mut builder = SnapshotBuilder::new(overrides, &[]);
    for object in objects {
        if let Some(kind) = kind_of(object) {
            builder.apply(kind, Change::Put(object.clone()));
        }
    }
    builder
}

/// An `AdmissionReview` as kube-apiserver sends it.
fn review(operation: &str, old: Option<&Value>, new: Option<&Value>) -> Value {
    let object = new.or(old).unwrap();
    let named = |pointer: &str| object.pointer(pointer).cloned().unwrap_or(Value::Null);
    json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "3f0c", "operation": operation, "dryRun": false,
            "kind": {"group": "networking.istio.io", "version": "v1alpha3", "kind": "EnvoyFilter"},
            "resource": {"group": "networking.istio.io", "version": "v1alpha3", "resource": "envoyfilters"},
            "name": named("/metadata/name"), "namespace": named("/metadata/namespace"),
            "userInfo": {"username": "jane"},
            "object": new, "oldObject": old,
        }
    })
}
