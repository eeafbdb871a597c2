//! `explain field --why-here` finds the objects that are known to cause a place.

use super::commands::{plain, run, shop};
use super::istiod;
use serde_json::{Value, json};
use std::fs;

const ROUTES: &str = r"
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: patient, namespace: shop}
spec:
  hosts: [cart.shop.svc.cluster.local]
  http:
  - {name: patient, timeout: 7s, route: [{destination: {host: cart.shop.svc.cluster.local, port: {number: 80}}}]}
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: quick, namespace: shop}
spec:
  host: catalog.shop.svc.cluster.local
  trafficPolicy: {connectionPool: {tcp: {connectTimeout: 444ms}}}
";

#[test]
#[ignore = "needs Go: .ci/run"]
fn objects_that_make_a_place_are_found() {
    let (istiod, folder) = (istiod("1.31"), tempfile::tempdir().unwrap());
    let mesh = shop(folder.path());
    fs::write(mesh.join("routes.yaml"), ROUTES).unwrap();
    let mesh = mesh.to_str().unwrap();
    let ask = |field: &str, more: &[&str]| {
        let arguments = [&["explain", "field", field, "-n", "shop", "-f", mesh, "--why-here"][..], more].concat();
        run(&istiod, &arguments)
    };
    // Irreplaceable objects, and replaceable ones.
    let makers = |field: &str, pod: &str| -> (Vec<String>, Vec<String>) {
        let (code, out, err) = ask(field, &["-o", "json"]);
        assert_eq!(code, 0, "{out}{err}");
        let answer: Value = serde_json::from_str(&out).unwrap();
        let field = answer["fields"].as_array().unwrap().iter().find(|one| one["name"] == pod).unwrap().clone();
        let made = &field["madeBy"];
        assert_eq!(made["complete"], json!(true), "{made:#}");
        println!("{}: {} runs", field["path"], made["runs"]);
        let text = |one: &Value, key: &str| one[key].as_str().unwrap().to_owned();
        let name = |one: &Value| format!("{} {}/{}", text(one, "kind"), text(one, "namespace"), text(one, "name"));
        let (replaced, alone): (Vec<&Value>, Vec<&Value>) =
            made["objects"].as_array().unwrap().iter().partition(|one| one["replaced"] == true);
        (alone.into_iter().map(name).collect(), replaced.into_iter().map(name).collect())
    };
    let is = |(alone, replaced): (Vec<String>, Vec<String>), want: &[&str], others: &[&str]| {
        assert_eq!(
            (alone, replaced),
            (want.iter().map(|one| (*one).to_owned()).collect(), others.iter().map(|one| (*one).to_owned()).collect())
        );
    };
    // A route timeout comes from the VirtualService. That port 80 has routes comes from any of several services.
    let route = "route/80/virtual_hosts[cart.shop.svc.cluster.local:80]/routes[patient]/route/timeout";
    is(makers(route, "catalog-1"), &["VirtualService shop/patient"], &["Service shop/cart"]);
    let timeout = "cluster/outbound|7070||catalog.shop.svc.cluster.local/connect_timeout";
    is(makers(timeout, "cart-1"), &["Service shop/catalog", "DestinationRule shop/quick"], &[]);
    // Nothing causes what every mesh has.
    is(makers("cluster/BlackHoleCluster/type", "catalog-1"), &[], &[]);

    let (code, out, err) = ask(timeout, &[]);
    assert_eq!(code, 0, "{out}{err}");
    for words in [
        "made by     Service shop/catalog; without it: not there",
        "DestinationRule shop/quick; without it: 10s",
        "found by taking objects away, in",
    ] {
        assert!(out.contains(words), "{words}: {out}");
    }
    // It cannot be known without an istiod.
    let (code, _, err) = plain(&["explain", "field", timeout, "--demo", "--why-here"]);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("--why-here needs an istiod"), "{err}");
}
