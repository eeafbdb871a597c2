//! Published EnvoyFilters, each in a small mesh made for it: the workload that it selects, a service that it calls, and
//! for a gateway the servers that it names.

use crate::linting::{Proxies, expect, read, yaml_files};
use crate::migrate::{input, migrated};
use crate::migrate_result::{left_to_do, tables};
use crate::support::{Share, testdata};
use kubectl_envoyfilter::migrate::verdict::{Class, Kind, State};
use kubectl_envoyfilter::migrate::{Accept, FilterReport};
use kubectl_envoyfilter::model::envoy_filter::{EnvoyFilter, ObjectMatch, PatchContext};
use kubectl_envoyfilter::model::release::Release;
use kubectl_envoyfilter::report::migrate::unwritten;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

const ROOT: &str = "istio-system";

/// Ports, ports of virtual hosts, and hosts that the patches of a filter name.
fn named(filter: &EnvoyFilter) -> (BTreeSet<u32>, BTreeSet<u32>, BTreeSet<String>) {
    let (mut ports, mut of_hosts, mut hosts) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for patch in &filter.patches {
        match &patch.object {
            ObjectMatch::Listener(listener) => {
                ports.insert(listener.port_number);
                ports.extend(listener.name.strip_prefix("0.0.0.0_").and_then(|port| port.parse::<u32>().ok()));
            }
            ObjectMatch::RouteConfiguration(route) => {
                ports.insert(route.port_number);
                let host = route.vhost.as_ref().and_then(|vhost| vhost.name.rsplit_once(':'));
                of_hosts.extend(host.and_then(|(_, port)| port.parse::<u32>().ok()));
                hosts.extend(host.filter(|(host, _)| host.contains('.')).map(|(host, _)| host.to_owned()));
            }
            _ => {}
        }
    }
    ports.remove(&0);
    (ports, of_hosts, hosts)
}

/// The services of the mesh that a filter calls to check requests, with their ports: an istiod that does not know them
/// rejects every request.
fn asked(filter: &EnvoyFilter) -> BTreeMap<(String, String), u32> {
    let text = filter.document.to_json().to_string();
    if !text.contains("filters.http.ext_authz.v3.ExtAuthz") {
        return BTreeMap::new();
    }
    let number = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok();
    let port_value = text.split("\"port_value\":").nth(1).and_then(number);
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || "-.|".contains(c)));
    let of = |word: &str| {
        let (before, host) = word.rsplit_once('|').unwrap_or(("", word));
        let mut parts = host.strip_suffix(".svc.cluster.local")?.split('.');
        let (name, namespace) = (parts.next()?, parts.next()?);
        let port = before.split('|').nth(1).and_then(|port| port.parse().ok()).or(port_value)?;
        (!name.is_empty() && parts.next().is_none()).then(|| ((name.to_owned(), namespace.to_owned()), port))
    };
    words.filter_map(of).collect()
}

fn deployment(name: &str, namespace: &str, labels: &Json, gateway: bool) -> Json {
    let annotations = if gateway { json!({ "inject.istio.io/templates": "gateway" }) } else { json!({}) };
    let mut labels = labels.clone();
    labels["sidecar.istio.io/inject"] = "true".into();
    json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": name, "namespace": namespace },
        "spec": { "selector": { "matchLabels": labels }, "template": { "metadata": { "labels": labels, "annotations": annotations },
            "spec": { "containers": [{ "name": "app", "image": "app" }] } } } })
}

fn service(name: &str, namespace: &str, labels: &Json, ports: &[(String, u32, u32)]) -> Json {
    let ports: Vec<Json> = ports
        .iter()
        .map(|(name, port, target)| json!({ "name": name, "port": port, "targetPort": target, "protocol": "TCP" }))
        .collect();
    json!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": name, "namespace": namespace },
        "spec": { "selector": labels, "ports": ports } })
}

/// The objects of the mesh made for a filter.
fn mesh_of(filter: &EnvoyFilter) -> Vec<Json> {
    let has = |wanted: &[PatchContext]| filter.patches.iter().any(|patch| wanted.contains(&patch.context));
    let selector = filter.selector.clone().unwrap_or_default();
    let like_gateway = selector.iter().any(|(key, value)| key == "istio" || value.contains("gateway"))
        || filter.target_refs.iter().any(|target| target.kind == "Gateway");
    let gateway = has(&[PatchContext::Gateway]) || like_gateway;
    let sidecar = has(&[PatchContext::SidecarInbound, PatchContext::SidecarOutbound]) || !gateway;
    let place = filter.namespace.as_str();
    let apps = if place == ROOT { "apps" } else { place };
    let (ports, of_hosts, hosts) = named(filter);
    let backend = json!({ "app": "made-up-backend" });
    let namespaces: BTreeSet<&str> = [place, apps].into();
    let mut objects: Vec<Json> = namespaces
        .into_iter()
        .map(|name| json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name, "labels": { "istio-injection": "enabled" } } }))
        .collect();
    objects.push(deployment("made-up-backend", apps, &backend, false));
    objects.push(service(
        "made-up-backend",
        apps,
        &backend,
        &[("http".to_owned(), 8080, 8080), ("tcp-db".to_owned(), 9000, 9000)],
    ));
    let labels = |default: &str| if selector.is_empty() { json!({ "app": default }) } else { json!(selector) };
    if sidecar {
        let labels = labels("made-up-workload");
        let mut all = vec![("http-main".to_owned(), 8080, 8080), ("tcp-other".to_owned(), 9000, 9000)];
        all.extend(
            ports
                .iter()
                .filter(|port| ![8080, 9000].contains(*port))
                .map(|port| (format!("http-{port}"), *port, *port)),
        );
        objects.push(deployment("made-up-workload", apps, &labels, false));
        objects.push(service("made-up-workload", apps, &labels, &all));
    }
    if let Some(target) = filter.target_refs.iter().find(|target| target.kind == "Gateway") {
        let listeners = [
            json!({ "name": "http", "port": 80, "protocol": "HTTP", "allowedRoutes": { "namespaces": { "from": "All" } } }),
        ];
        objects.push(json!({ "apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
            "metadata": { "name": target.name, "namespace": place },
            "spec": { "gatewayClassName": "istio", "listeners": listeners } }));
        objects.push(json!({ "apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute",
            "metadata": { "name": "made-up-route", "namespace": place },
            "spec": { "parentRefs": [{ "name": target.name }], "rules": [{ "backendRefs": [{ "name": "made-up-backend", "port": 8080 }] }] } }));
    } else if gateway {
        let labels = labels("made-up-gateway");
        let mut servers = vec![
            (80, if ports.contains(&80) || of_hosts.contains(&8080) { 80 } else { 8080 }),
            (443, if ports.contains(&443) { 443 } else { 8443 }),
        ];
        servers.extend(of_hosts.iter().filter(|port| ![80, 443].contains(*port)).map(|port| (*port, *port)));
        let ports: BTreeSet<u32> = ports.difference(&of_hosts).copied().collect();
        servers.extend(ports.iter().filter(|port| ![80, 443, 8080, 8443].contains(*port)).map(|port| (*port, *port)));
        let all: Vec<_> = servers.iter().map(|(port, target)| (format!("http-{port}"), *port, *target)).collect();
        let mut known: Vec<String> = hosts.iter().cloned().collect();
        if known.is_empty() {
            known.push("*".to_owned());
        }
        let list: Vec<Json> = servers
            .iter()
            .map(|(port, _)| {
                let secure = port % 1000 == 443;
                let protocol = if secure { "HTTPS" } else { "HTTP" };
                let mut server = json!({ "port": { "number": port, "name": format!("p{port}"), "protocol": protocol }, "hosts": known });
                if secure {
                    server["tls"] = json!({ "mode": "SIMPLE", "credentialName": "made-up-cert" });
                }
                server
            })
            .collect();
        objects.push(deployment("made-up-gateway", place, &labels, true));
        objects.push(service("made-up-gateway", place, &labels, &all));
        objects.push(json!({ "apiVersion": "networking.istio.io/v1", "kind": "Gateway",
            "metadata": { "name": "made-up-gateway", "namespace": place }, "spec": { "selector": labels, "servers": list } }));
        objects.push(json!({ "apiVersion": "networking.istio.io/v1", "kind": "VirtualService",
            "metadata": { "name": "made-up-route", "namespace": place },
            "spec": { "hosts": known, "gateways": ["made-up-gateway"], "http": [{ "name": "main",
                "route": [{ "destination": { "host": format!("made-up-backend.{apps}.svc.cluster.local"), "port": { "number": 8080 } } }] }] } }));
    }
    for ((name, namespace), port) in asked(filter) {
        let labels = json!({ "app": name });
        objects.push(service(&name, &namespace, &labels, &[(format!("http-{port}"), port, port)]));
    }
    objects.push(json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "istio", "namespace": ROOT }, "data": { "mesh": "{}" } }));
    objects
}

/// Each published filter as a case: its text, and the objects made for it.
pub(crate) fn cases() -> Vec<Json> {
    let mut cases = Vec::new();
    for path in yaml_files(&testdata("corpus")) {
        let loaded = read(&path);
        for filter in &loaded.inventory.envoy_filters {
            if filter.patches.is_empty() {
                continue;
            }
            let objects: Vec<String> = mesh_of(filter).iter().map(Json::to_string).collect();
            let id = format!("{} {}", path.file_stem().unwrap().to_str().unwrap(), filter.full_name());
            let mut document = filter.document.to_json();
            document["metadata"]["namespace"] = filter.namespace.clone().into();
            cases.push(json!({ "id": id, "objects": objects.join("\n---\n"), "filters": document.to_string() }));
        }
    }
    cases
}

/// Whether a case of the corpus moves by default: exact, or same-but.
pub(crate) fn moves(case: &Json) -> bool {
    let report = migrated(&input(case), Release::NEWEST, Accept::SameBut);
    report.filters.iter().flat_map(|filter| &filter.patches).any(|patch| patch.written)
}

/// Whether a case of the corpus moves only after a review although its class is `exact` or `same-but`: mainly
/// authorization.
pub(crate) fn moves_when_reviewed(case: &Json) -> bool {
    let loaded = input(case);
    let written = |accept: Accept| {
        let report = migrated(&loaded, Release::NEWEST, accept);
        let patches = report.filters.into_iter().flat_map(|filter| filter.patches);
        patches.filter(|patch| patch.written && patch.class <= Class::SameBut).count()
    };
    written(Accept::Reviewed) > written(Accept::SameBut)
}

/// What a reviewer reads about a move that is not exact: each difference in behavior, and each guard that does not
/// hold.
fn reasons_of(filter: &FilterReport) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for patch in filter.patches.iter().filter(|patch| patch.class == Class::Differs) {
        let found = &patch.found;
        let behavior = found.differences.iter().filter(|one| one.kind == Kind::Behavior).map(|one| one.effect.clone());
        let guards = found.guards.iter().filter(|one| one.state != State::Held).map(|one| one.reason.clone());
        let reasons: Vec<String> = behavior.chain(guards).collect();
        assert!(!reasons.is_empty(), "{}/{}: differs without a reason", filter.namespace, filter.name);
        assert!(patch.written || unwritten(patch).is_some());
        all.extend(reasons.into_iter().map(|reason| format!("{}: {reason}", found.pattern.id)));
    }
    all
}

/// Each published filter has its class in its own mesh; the written objects load, have no more lint findings than the
/// filter, and leave nothing to migrate.
fn published_filters_in_a_mesh_by(share: Share) {
    let share = share.or_whole_to_update();
    let proxies = Proxies::new(&[], Release::NEWEST);
    let mut classes: BTreeMap<Class, usize> = BTreeMap::new();
    let mut patches: BTreeMap<&str, BTreeMap<Class, usize>> = BTreeMap::new();
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    let (mut written, mut all) = (0, 0);
    for case in share.of(cases()) {
        let id = case["id"].as_str().unwrap();
        let before = input(&case);
        assert_eq!(before.inventory.envoy_filters.len(), 1, "{id}");
        let filter = migrated(&before, Release::NEWEST, Accept::Exact).filters.remove(0);
        all += 1;
        *classes.entry(filter.class).or_default() += 1;
        for patch in &filter.patches {
            *patches.entry(patch.found.pattern.id).or_default().entry(patch.class).or_default() += 1;
        }
        for reason in reasons_of(&filter) {
            *reasons.entry(reason).or_default() += 1;
        }
        for accept in [Accept::SameBut, Accept::Reviewed] {
            let report = migrated(&before, Release::NEWEST, accept);
            if !report.filters.iter().flat_map(|filter| &filter.patches).any(|patch| patch.written) {
                continue;
            }
            written += 1;
            left_to_do(&case, &before, &report, accept, &proxies);
        }
    }
    if share == Share::Part {
        return assert!(written > 3, "{written}");
    }
    let mut out = format!("{all} EnvoyFilters, each migrated to the newest release in a mesh made up for it\n");
    out += &tables(&classes, &patches);
    writeln!(out, "\nwhat differs, and in how many filters").unwrap();
    for (reason, number) in &reasons {
        writeln!(out, "{number:>4}  {reason}").unwrap();
    }
    expect(&testdata("corpus/migrate-mesh.txt"), &out);
    assert!(written > 60, "{written}");
}

in_part_and_in_full!(published_filters_in_a_mesh, published_filters_in_a_mesh_in_full, published_filters_in_a_mesh_by);

/// The workflow on a live mesh: captures before and after, in which each proxy is compared.
#[test]
fn verify_takes_captures() {
    let folder = tempfile::tempdir().unwrap();
    let (before, after) = (folder.path().join("before"), folder.path().join("after"));
    crate::attack::capture(&before, &[]);
    crate::attack::capture(&after, &[]);
    let text = |path: &std::path::Path| path.to_str().unwrap().to_owned();
    let verify = |after: &std::path::Path| {
        crate::behaviour::said(&["migrate", "verify", "--before", &text(&before), "--after", &text(after)])
    };
    let same = verify(&after);
    assert_eq!(same.code, 0, "{}{}", same.out, same.err);
    assert!(same.out.contains("1 proxy compared: istiod generates the same configuration"), "{}", same.out);
    // A second, different replica, in an archive.
    let dump = std::fs::read_to_string(after.join("dumps/shop/cart-1.json")).unwrap();
    assert!(dump.contains("\"connect_timeout\":\"10s\""), "the demo has clusters");
    let other = dump.replace("\"connect_timeout\":\"10s\"", "\"connect_timeout\":\"3s\"");
    std::fs::write(after.join("dumps/shop/cart-2.json"), other).unwrap();
    let changed = verify(&after);
    assert_eq!(changed.code, 1, "{}{}", changed.out, changed.err);
    assert!(changed.out.contains("differs"), "{}", changed.out);
}

/// Published filters, each alone: the number in each class. None is written if it would allow or reach more.
#[test]
fn published_filters_by_class() {
    let mut filters: BTreeMap<Class, usize> = BTreeMap::new();
    let mut patches: BTreeMap<&str, BTreeMap<Class, usize>> = BTreeMap::new();
    let mut refused = 0;
    for path in yaml_files(&testdata("corpus")) {
        let report = migrated(&read(&path), Release::NEWEST, Accept::Reviewed);
        for filter in &report.filters {
            *filters.entry(filter.class).or_default() += 1;
            for patch in &filter.patches {
                *patches.entry(patch.found.pattern.id).or_default().entry(patch.class).or_default() += 1;
                let broken = patch.found.guards.iter().any(|guard| guard.state == State::Broken);
                refused += usize::from(broken);
                assert!(!(broken && patch.written), "{}: written though refused", path.display());
                let behavior = patch.found.worst() == Some(Kind::Behavior);
                assert!(!(behavior && patch.class < Class::Differs), "{}: {patch:#?}", path.display());
            }
        }
    }
    let mut out = String::from("EnvoyFilters, each migrated alone to the newest release\n");
    out += &tables(&filters, &patches);
    writeln!(out, "\nrefused, since the native object would reach further or open something: {refused} patches")
        .unwrap();
    expect(&testdata("corpus/migrate.txt"), &out);
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/src/migrate.md");
    let text = fs::read_to_string(&page).unwrap();
    let start = "| Class | EnvoyFilters |\n|---|---|\n";
    let (before, rest) = text.split_once(start).unwrap();
    let after = &rest[rest.find("\n\n").unwrap() + 1..];
    let rows: String = filters.iter().map(|(class, number)| format!("| `{class}` | {number} |\n")).collect();
    expect(&page, &format!("{before}{start}{rows}{after}"));
}
