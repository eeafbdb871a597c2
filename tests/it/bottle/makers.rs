//! `explain field --why-here` finds the objects that are known to cause a place.

use super::commands::{plain, shop};
use super::istiod;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

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

/// Runs a question with a cache folder of its own.
fn asked(istiod: &Path, cache: &Path, arguments: &[&str]) -> (i32, String, String) {
    let done = Command::new(env!("CARGO_BIN_EXE_kubectl-envoyfilter"))
        .args(arguments)
        .arg("--istiod")
        .arg(istiod)
        .env("XDG_CACHE_HOME", cache)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (done.status.code().unwrap(), text(done.stdout), text(done.stderr))
}

#[test]
#[ignore = "needs Go: .ci/run"]
fn objects_that_make_a_place_are_found() {
    let (istiod, folder) = (istiod("1.31"), tempfile::tempdir().unwrap());
    let mesh = shop(folder.path());
    fs::write(mesh.join("routes.yaml"), ROUTES).unwrap();
    let mesh = mesh.to_str().unwrap();
    let ask = |field: &str, more: &[&str]| {
        let arguments = [&["explain", "field", field, "-n", "shop", "-f", mesh, "--why-here"][..], more].concat();
        asked(&istiod, folder.path(), &arguments)
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

/// An earlier answer makes the next one faster and never another: an outdated or hostile file is only a wrong guess.
#[test]
#[ignore = "needs Go: .ci/run"]
fn an_earlier_answer_is_confirmed_by_istiod() {
    let (istiod, folder) = (istiod("1.31"), tempfile::tempdir().unwrap());
    let mesh = shop(folder.path());
    fs::write(mesh.join("routes.yaml"), ROUTES).unwrap();
    let cache = folder.path().join("cache");
    let text = mesh.to_str().unwrap();
    let timeout = "cluster/outbound|7070||catalog.shop.svc.cluster.local/connect_timeout";
    let ask = |more: &[&str]| -> (u64, Value) {
        let fixed = ["explain", "field", timeout, "-n", "shop", "-f", text, "--why-here", "-o", "json"];
        let (code, out, err) = asked(&istiod, &cache, &[&fixed[..], more].concat());
        assert_eq!(code, 0, "{out}{err}");
        let answer: Value = serde_json::from_str(&out).unwrap();
        let field = answer["fields"].as_array().unwrap().iter().find(|one| one["name"] == "cart-1").unwrap();
        assert_eq!(field["madeBy"]["complete"], json!(true));
        (field["madeBy"]["runs"].as_u64().unwrap(), field["madeBy"]["objects"].clone())
    };
    // Without the cache nothing is written.
    let (first, objects) = ask(&["--no-cache"]);
    assert_eq!(objects.as_array().unwrap().len(), 2, "{objects:#}");
    assert!(!cache.exists());
    assert_eq!(ask(&[]), (first, objects.clone()));
    let file = cache.join("kubectl-envoyfilter/why-here.json");
    let kept = fs::read_to_string(&file).unwrap();
    assert!(kept.contains("quick") && !kept.contains("444") && !kept.contains("cart-1"), "names only: {kept}");
    let (again, same) = ask(&[]);
    println!("{first} runs of istiod, then {again}");
    assert_eq!(same, objects);
    assert!(again * 2 < first, "{again} runs instead of {first}");
    // Files that name too little, too much, or what no mesh has.
    let mut entries: Value = serde_json::from_str(&kept).unwrap();
    let entries = entries.as_array_mut().unwrap();
    for names in [
        json!([]),
        json!([["Service", "shop", "catalog"]]),
        json!([
            ["Service", "shop", "cart"],
            ["Service", "shop", "catalog"],
            ["DestinationRule", "shop", "quick"],
            ["VirtualService", "shop", "patient"]
        ]),
        json!([["Service", "shop", "\u{1b}[31m"], ["EnvoyFilter", "../..", "x"]]),
    ] {
        for entry in entries.iter_mut() {
            entry["objects"] = names.clone();
        }
        fs::write(&file, json!(entries).to_string()).unwrap();
        let (runs, same) = ask(&[]);
        assert_eq!(same, objects, "{names}");
        assert!(runs <= first + 1, "{names}: {runs}");
    }
    // The mesh changes: the answer is that of the new mesh.
    fs::write(mesh.join("routes.yaml"), ROUTES.replace("444ms", "555ms").replace("name: quick", "name: newer"))
        .unwrap();
    let (_, changed) = ask(&[]);
    assert_eq!(changed[1]["name"], json!("newer"), "{changed:#}");
}
