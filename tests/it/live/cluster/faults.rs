//! Faults between the tool and a real API server.

use super::super::mock::{Fault, Mock, World};
use super::super::run;
use super::{cluster, json};
use std::sync::Arc;

/// A proxy for the real API server that forwards requests, except those that should fail.
fn front(faults: &[(&str, Fault, usize)]) -> Mock {
    let cluster = cluster();
    let client = Arc::new(cluster.client.clone());
    let mut world = World::in_front_of(move |path| {
        let request = http::Request::builder().uri(path).header("accept", "application/json").body(Vec::new()).unwrap();
        match cluster.runtime.block_on(client.request_text(request)) {
            Ok(text) => (200, text),
            Err(kube::Error::Api(status)) => {
                (status.code, json!({"kind": "Status", "message": status.message}).to_string())
            }
            Err(error) => panic!("{path}: {error}"),
        }
    });
    for (path, fault, times) in faults {
        world = world.fault(path, fault.clone(), *times);
    }
    world.start()
}

const FILTERS: &str = "/apis/networking.istio.io/v1alpha3/namespaces/faulty/envoyfilters";
const PODS: &str = "/api/v1/namespaces/faulty/pods";

/// Transient faults are retried silently; permanent ones are reported, and the rest is answered.
#[test]
#[ignore = "needs Go: .ci/run"]
fn faults_of_the_api_server_are_retried_or_reported() {
    let cluster = cluster();
    cluster.shop("faulty", 2);
    let ask = |mock: &Mock, arguments: &[&str]| run(&mock.kubeconfig("faulty"), arguments);
    let names = ["get", "-o", "name"];
    let straight = run(&cluster.kubeconfig("admin", "faulty"), &names);
    assert_eq!((straight.code, straight.err.as_str()), (0, ""));
    assert!(straight.out.lines().count() > 1, "{}", straight.out);

    let passing = [
        (FILTERS, Fault::Status(500, "etcdserver: leader changed"), 2),
        (PODS, Fault::Reset, 1),
        ("/version", Fault::Later(429, 1), 1),
        ("/api/v1/namespaces/istio-system/configmaps", Fault::Status(503, "apiserver is shutting down"), 1),
    ];
    let mock = front(&passing);
    let said = ask(&mock, &names);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    assert_eq!(said.out, straight.out);
    let tries = mock.requests().iter().filter(|request| request.path.starts_with(FILTERS)).count();
    assert_eq!(tries, 3);

    let said = ask(&front(&[(PODS, Fault::Status(403, "pods is forbidden"), 99)]), &names);
    assert_eq!((said.code, &said.out), (3, &straight.out), "{}", said.err);
    assert!(said.err.contains("not allowed to list pods in namespace faulty"), "{}", said.err);
    assert!(said.err.contains("rbac get"), "{}", said.err);

    let hangs = front(&[(PODS, Fault::Hang, 99)]);
    let said = ask(&hangs, &["get", "-o", "name", "--request-timeout", "500ms"]);
    assert_eq!((said.code, &said.out), (3, &straight.out), "{}", said.err);
    assert!(said.err.contains("no answer within 0.5 s"), "{}", said.err);

    let said = ask(&front(&[("/", Fault::Status(401, "Unauthorized"), 99)]), &names);
    assert_eq!((said.code, said.out.as_str()), (3, ""), "{}", said.err);
    assert!(said.err.contains("does not accept the credentials"), "{}", said.err);

    // The token of the second page expires meanwhile.
    let filter = |number: usize| {
        json!({"apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
            "metadata": {"name": format!("f{number}"), "namespace": "faulty"}, "spec": {"configPatches": []}})
    };
    cluster.create(&(0..600).map(filter).collect::<Vec<_>>());
    let second = format!("{FILTERS}?limit=500&continue=");
    let mock = front(&[(&second, Fault::Status(410, "the continue token is too old"), 1)]);
    let said = ask(&mock, &names);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    assert_eq!(said.out, run(&cluster.kubeconfig("admin", "faulty"), &names).out);
    assert!(said.out.lines().count() > 600);
    assert_eq!(mock.requests().iter().filter(|request| request.path.starts_with(&second)).count(), 2);
}
