//! Filters nested as deeply as a real API server stores them are answered, and do not break the view of others.

use super::cluster::{cluster, configure, good, namespace, own, trusted};
use http::Request;
use std::time::Duration;

/// Sends a filter with this many levels below a value, as text: nothing here writes JSON that deep.
fn send(namespace: &str, name: &str, levels: usize, query: &str) -> (u16, String) {
    let mut filter = good(name);
    filter["spec"]["configPatches"][0]["patch"]["value"]["metadata"]["filter_metadata"]["a"]["b"] = "DEEP".into();
    let deep = format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    let text = filter.to_string().replace("\"DEEP\"", &deep);
    let path = format!("/apis/networking.istio.io/v1alpha3/namespaces/{namespace}/envoyfilters{query}");
    let request =
        Request::post(path).header("content-type", "application/json").body(text.into_bytes().into()).unwrap();
    cluster().runtime.block_on(async {
        let answer = cluster().client.send(request).await.unwrap();
        let status = answer.status().as_u16();
        let body = answer.into_body().collect_bytes().await.unwrap();
        (status, String::from_utf8_lossy(&body).into_owned())
    })
}

#[test]
#[ignore = "needs Go: .ci/run"]
fn deep_filters_are_answered_and_do_not_affect_others() {
    namespace("deep");
    // Stored while no server is running.
    for (name, levels) in [("stored-a", 150), ("stored-b", 3_000)] {
        let (status, body) = send("deep", name, levels, "");
        println!("{levels} levels: {status}");
        assert!(status == 201 || levels > 1_000, "{levels}: {status} {body}");
    }
    let server = own("deep", "deep", &[]);
    configure("deep", "deep", server.address, "Fail", "");
    trusted("deep");
    for (levels, want) in [(20, 201), (118, 201), (300, 201), (900, 201), (3_000, 403)] {
        let (status, body) = send("deep", "new", levels, "?dryRun=All");
        assert_eq!(status, want, "{levels}: {}", body.chars().take(300).collect::<String>());
        assert_eq!(body.contains("EF904"), want == 403, "{levels}");
    }
    // The watch of a running server also survives one.
    let (status, body) = send("deep", "new", 500, "");
    assert_eq!(status, 201, "{}", body.chars().take(300).collect::<String>());
    std::thread::sleep(Duration::from_secs(2));
    trusted("deep");
    assert!(server.metric("envoyfilter_admission_watch_breaks{kind=\"EnvoyFilter\"}") < 0.5);
}
