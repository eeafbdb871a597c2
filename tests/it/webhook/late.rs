//! Reviews that take too long.

use super::cluster::{call, cluster, data, direct, good, namespace, own};
use http::Request;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A review that exceeds its deadline is answered in time, according to the settings.
#[test]
#[ignore = "needs Go: .ci/run"]
fn slow_reviews_are_answered_in_time() {
    namespace("hurried");
    let patch = |number: usize| {
        json!({"applyTo": "HTTP_FILTER",
            "match": {"listener": {"filterChain": {"filter": {
                "name": "envoy.filters.network.http_connection_manager", "subFilter": {"name": "envoy.filters.http.router"}}}}},
            "patch": {"operation": "INSERT_BEFORE", "value": {"name": format!("shop.{number}"), "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua", "inline_code": "x = 1"}}}})
    };
    // Within the limits of size, which are checked before anything is judged, and inserted everywhere.
    let mut large = good("large");
    large["metadata"]["namespace"] = "hurried".into();
    large["spec"]["configPatches"] = (0..580).map(patch).collect();
    for (name, choice, mode) in
        [("allows", "allow", "enforce"), ("denies", "deny", "enforce"), ("warns", "deny", "warn")]
    {
        let arguments = ["--deadline", "50ms", "--on-deadline", choice, "--mode", mode, "--at-once", "1"];
        let name = format!("hurried-{name}");
        let server = own(&name, "hurried", &arguments);
        let secret = call("GET", &format!("/api/v1/namespaces/hurried/secrets/{name}"), &Value::Null).2;
        let client = direct(server.address, &data(&secret, "ca.crt"));
        let review = |uid: &str, namespace: &str| {
            let mut filter = large.clone();
            filter["metadata"]["namespace"] = namespace.into();
            let mut review = super::review("CREATE", None, Some(&filter));
            review["request"]["uid"] = uid.into();
            let request = Request::post("/validate?timeout=10s").body(review.to_string().into_bytes().into()).unwrap();
            let client = client.clone();
            async move {
                let began = Instant::now();
                let answer = client.send(request).await.unwrap().into_body().collect_bytes().await.unwrap();
                (began.elapsed(), serde_json::from_slice::<Value>(&answer).unwrap())
            }
        };
        // Four at once while one is judged at a time: the others wait just as long, and no longer.
        let all = ["hurried", "others", "another", "hurried"].iter().enumerate();
        let all = all.map(|(number, namespace)| review(&number.to_string(), namespace));
        let answers = cluster().runtime.block_on(futures::future::join_all(all));
        // One of the two of the same namespace waits for the other, even if it gets a turn in the end: the choice is not for
        // those.
        let (own, late): (Vec<_>, Vec<_>) =
            answers.iter().partition(|(_, answer)| answer.to_string().contains("EF904"));
        assert_eq!((own.len(), late.len()), (1, 3), "{answers:?}");
        for (took, answer) in late {
            let response = &answer["response"];
            println!("{name}: {took:?} {}", if response["allowed"] == true { "allowed" } else { "denied" });
            assert!(*took < Duration::from_secs(2), "{took:?}");
            assert_eq!(response["allowed"], name != "hurried-denies", "{answer}");
            assert!(answer.to_string().contains("not judged: "), "{answer}");
            assert_eq!(response["auditAnnotations"]["verdict"], "late", "{answer}");
        }
        for (took, answer) in own {
            assert!(*took < Duration::from_secs(2), "{took:?}");
            assert_eq!(answer["response"]["allowed"], mode == "warn", "{answer}");
            assert!(["0", "3"].contains(&answer["response"]["uid"].as_str().unwrap()), "{answer}");
        }
        // A change that is not judged needs no time: a label, at the same moment.
        let mut labelled = super::review("UPDATE", Some(&large), Some(&large));
        labelled["request"]["object"]["metadata"]["labels"] = json!({"a": "b"});
        let request = Request::post("/validate").body(labelled.to_string().into_bytes().into()).unwrap();
        let passed = cluster().runtime.block_on(async {
            let answer = client.send(request).await.unwrap().into_body().collect_bytes().await.unwrap();
            serde_json::from_slice::<Value>(&answer).unwrap()
        });
        assert_eq!(passed["response"]["auditAnnotations"]["verdict"], "passed", "{passed}");
        assert!(server.metric("envoyfilter_admission_reviews_total{operation=\"CREATE\",verdict=\"late\"") > 2.5);
    }
}
