//! The real API server accepts everything that `migrate` writes, field by field.

use super::{Cluster, cluster, documents};
use crate::migrate::{all_recorded, input, judged, migrated};
use crate::migrate_corpus::cases;
use crate::migrate_result::shapes;
use crate::support::testdata;
use kubectl_envoyfilter::load::Loaded;
use kubectl_envoyfilter::migrate::{Accept, After};
use kubectl_envoyfilter::model::release::Release;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

/// The path of a collection of one of Istio's kinds.
fn path(object: &Json) -> String {
    let text = |path: &str| object.pointer(path).and_then(Json::as_str).unwrap_or_default();
    let kind = text("/kind").to_lowercase();
    let plural = match kind.strip_suffix('y') {
        Some(stem) if !kind.ends_with("ay") => format!("{stem}ies"),
        _ => format!("{kind}s"),
    };
    format!("/apis/{}/namespaces/{}/{plural}", text("/apiVersion"), text("/metadata/namespace"))
}

/// A CustomResourceDefinition of the Gateway API release that Istio requires.
fn definition(path: &str) -> Vec<Json> {
    let packed = std::fs::read(testdata(&format!("crds/gateway-api/{path}.yaml.zst"))).unwrap();
    documents(&String::from_utf8(zstd::decode_all(&*packed).unwrap()).unwrap())
}

/// Installs the kinds of its standard channel.
fn gateway_api(cluster: &Cluster) {
    for plural in ["gateways", "httproutes"] {
        cluster.create(&definition(&format!("gateway.networking.k8s.io_{plural}")));
        cluster.wait_for(&format!("/apis/gateway.networking.k8s.io/v1/{plural}"));
    }
}

const DRY_RUN: &str = "dryRun=All&fieldValidation=Strict";

/// The standard channel rejects routes with retries, and the experimental one accepts them, as `migrate` says.
fn experimental(cluster: &Cluster, routes: &[(String, Json)]) {
    assert!(routes.len() >= 3, "{routes:?}");
    let post = |object: &Json| cluster.send("POST", &format!("{}?{DRY_RUN}", path(object)), "application/json", object);
    for (id, route) in routes {
        let error = post(route).err().unwrap_or_else(|| panic!("{id}: the standard channel accepts {route}"));
        assert!(error.to_string().contains("unknown field"), "{id}: {error}");
    }
    let mut definition = definition("experimental/gateway.networking.k8s.io_httproutes").remove(0);
    let url = format!(
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{}",
        definition["metadata"]["name"].as_str().unwrap()
    );
    let old = cluster.send("GET", &url, "application/json", &Json::Null).unwrap();
    definition["metadata"]["resourceVersion"] = old["metadata"]["resourceVersion"].clone();
    cluster.send("PUT", &url, "application/json", &definition).unwrap();
    for (id, route) in routes {
        // The API server needs a moment for the new definition.
        let accepted = (0..100).any(|_| {
            let accepted = post(route).is_ok();
            if !accepted {
                std::thread::sleep(std::time::Duration::from_millis(100));
            }
            accepted
        });
        assert!(accepted, "{id}: {:?}: {route}", post(route).err());
    }
}

/// What `migrate` writes for a case in each form: to several releases, with what is the same and with all that was reviewed.
fn written(loaded: &Loaded) -> Vec<Json> {
    let mut all = BTreeMap::new();
    for to in [Release::NEWEST, Release::minor(30), Release::minor(28), Release::minor(24)] {
        for accept in [Accept::SameBut, Accept::Reviewed] {
            let report = migrated(loaded, to, accept);
            let smaller = report.filters.iter().filter_map(|one| match &one.after {
                After::Smaller(smaller) => Some(smaller.clone()),
                _ => None,
            });
            let made = report.draft.made.iter().map(|one| one.object.clone());
            let edited = report.draft.edited.iter().map(|one| one.after.clone());
            all.extend(made.chain(edited).chain(smaller).map(|object| (object.to_string(), object)));
        }
    }
    all.into_values().collect()
}

/// Posts an object that is not stored; one of its name may exist in the cluster.
fn dry_run(cluster: &Cluster, object: &Json) -> Result<(), kube::Error> {
    let url = format!("{}?{DRY_RUN}", path(object));
    match cluster.send("POST", &url, "application/json", object) {
        Err(kube::Error::Api(status)) if status.code == 409 => {
            let mut other = object.clone();
            other["metadata"]["name"] = "dry-run".into();
            cluster.send("POST", &url, "application/json", &other).map(drop)
        }
        answer => answer.map(drop),
    }
}

#[test]
#[ignore = "needs Go: .ci/run"]
fn written_objects_can_be_applied() {
    let cluster = cluster();
    gateway_api(cluster);
    let (mut kinds, mut namespaces, mut faults) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    let (mut unusable, mut retried, mut sent) = (BTreeSet::new(), Vec::new(), 0);
    for case in all_recorded().into_iter().chain(shapes()).chain(judged()).chain(cases()) {
        let id = case["id"].as_str().unwrap();
        let loaded = input(&case);
        for object in written(&loaded) {
            // Some published filters are invalid, and their namespaces do not exist.
            let namespace = object["metadata"]["namespace"].as_str().unwrap();
            if !namespace.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-') {
                unusable.insert(id.to_owned());
                continue;
            }
            if namespaces.insert(namespace.to_owned()) {
                let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": namespace } });
                // Other tests may have created it.
                let _ = cluster.send("POST", "/api/v1/namespaces", "application/json", &namespace);
            }
            if object["kind"] == "HTTPRoute" && object.to_string().contains("\"retry\"") {
                retried.push((id.to_owned(), object));
                continue;
            }
            sent += 1;
            if let Err(error) = dry_run(cluster, &object) {
                // The rest of an invalid filter is also invalid.
                let mut given = loaded.inventory.envoy_filters.iter().map(|filter| filter.document.to_json());
                let never = object["kind"] == "EnvoyFilter"
                    && given.any(|given| {
                        let mut whole = object.clone();
                        whole["spec"] = given["spec"].clone();
                        whole["metadata"]["name"] = given["metadata"]["name"].clone();
                        dry_run(cluster, &whole).is_err()
                    });
                if never {
                    unusable.insert(id.to_owned());
                } else {
                    faults.push(format!("{id}: {error}: {object}"));
                }
            }
            let of = object["apiVersion"].as_str().unwrap().split('/').next().unwrap();
            kinds.insert(format!("{} of {of}", object["kind"].as_str().unwrap()));
        }
    }
    println!("{sent} objects; {kinds:?}; left out, as no API server takes the filter itself: {unusable:?}");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(kinds.len() >= 9, "{kinds:?}");
    assert!(kinds.contains("Gateway of gateway.networking.k8s.io"), "{kinds:?}");
    assert!(kinds.contains("HTTPRoute of gateway.networking.k8s.io"), "{kinds:?}");
    assert!(unusable.len() < 20, "{unusable:?}");
    experimental(cluster, &retried);
}
