//! The defaults that an API server would write into objects of the Gateway API.

use super::{istiod, open_in, topology};
use crate::support::testdata;
use kubectl_envoyfilter::bottle::gateway_api::{defaults_of, set_defaults};
use kubectl_envoyfilter::load::{self, Options};
use kubectl_envoyfilter::model::release::Release;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The defaults in a schema, by field.
fn defaults<'s>(schema: &'s Value, path: &str, found: &mut BTreeMap<String, &'s Value>) {
    if let Some(default) = schema.get("default") {
        found.insert(path.to_owned(), default);
    }
    for (key, inner) in schema["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        defaults(inner, &path, found);
    }
    if let Some(items) = schema.get("items") {
        defaults(items, &format!("{path}[]"), found);
    }
}

/// Both ways: a definition with another default fails, and one of ours that no definition has.
#[test]
fn defaults_are_those_of_the_definitions() {
    let folder = testdata("crds/gateway-api/experimental");
    let mut kinds = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let packed = std::fs::read(file.unwrap().path()).unwrap();
        let text = String::from_utf8(zstd::decode_all(&*packed).unwrap()).unwrap();
        let loaded = load::read_text("definition.yaml", &text, &Options { keep_documents: true, ..Options::default() });
        let [definition] = &*loaded.documents else { panic!("{} documents", loaded.documents.len()) };
        let kind = definition["spec"]["names"]["kind"].as_str().unwrap();
        let ours: BTreeMap<String, Value> = defaults_of(kind).map(|(path, value)| (path.to_owned(), value)).collect();
        for version in definition["spec"]["versions"].as_array().unwrap() {
            let mut theirs = BTreeMap::new();
            defaults(&version["schema"]["openAPIV3Schema"]["properties"]["spec"], "", &mut theirs);
            let theirs: BTreeMap<String, Value> =
                theirs.into_iter().map(|(path, value)| (path, value.clone())).collect();
            assert_eq!(ours, theirs, "{kind} {}", version["name"]);
        }
        kinds += 1;
    }
    assert_eq!(kinds, 7);
}

#[test]
fn defaults_fill_what_is_missing() {
    let mut route = json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "spec": {
        "parentRefs": [{"name": "front"}],
        "rules": [{"matches": [{"method": "GET"}, {"path": {"type": "Exact"}}], "backendRefs": [{"name": "a", "weight": 3}]}, {}],
    }});
    set_defaults(&mut route);
    let any = json!({"type": "PathPrefix", "value": "/"});
    let expected = json!({
        "parentRefs": [{"name": "front", "group": "gateway.networking.k8s.io", "kind": "Gateway"}],
        "rules": [
            {
                "matches": [{"method": "GET", "path": any}, {"path": {"type": "Exact", "value": "/"}}],
                "backendRefs": [{"name": "a", "weight": 3, "group": "", "kind": "Service"}],
            },
            {"matches": [{"path": any}]},
        ],
    });
    assert_eq!(route["spec"], expected);
    let mut other = json!({"apiVersion": "example.com/v1", "kind": "HTTPRoute", "spec": {}});
    set_defaults(&mut other);
    assert_eq!(other["spec"], json!({}));
}

/// istiod 1.31 ends with a panic if a route for a Service has a match without a path.
#[test]
#[ignore = "needs Go: .ci/run"]
fn a_route_that_says_little_does_not_end_istiod() {
    let mut documents = topology("delta");
    documents.push(json!({
        "apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": {"name": "get", "namespace": "reed"},
        "spec": {
            "parentRefs": [{"group": "", "kind": "Service", "name": "teal", "port": 8081}],
            "rules": [{"matches": [{"method": "GET"}], "backendRefs": [{"name": "teal", "port": 8081}]}],
        },
    }));
    let opened = open_in(&istiod("1.31"), documents, "delta", Release::NEWEST);
    assert!(
        opened
            .objects
            .values("gateway.networking.k8s.io", "HTTPRoute")
            .any(|route| { route["spec"]["rules"][0]["matches"][0]["path"]["value"] == "/" })
    );
}
