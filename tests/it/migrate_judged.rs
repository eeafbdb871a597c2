//! Filters among objects that already say something about the same, and several filters that set the same: none of them has
//! a better class than istiod computes, and what is written is what the filters did.

use crate::linting::Proxies;
use crate::migrate::{all_recorded, input, judged, migrated, migrated_as, request};
use crate::migrate_result::{in_its_folder, left_to_do};
use crate::support::Share;
use kubectl_envoyfilter::load::{self, Loaded};
use kubectl_envoyfilter::migrate::verdict::{Class, State};
use kubectl_envoyfilter::migrate::{self, Accept, Report, Request};
use kubectl_envoyfilter::model::release::Release;
use kubectl_envoyfilter::report::migrate::{self as output, unwritten};
use serde_json::{Value as Json, json};

/// The class of each filter, and that of what is written for it.
fn classes(wanted: &serde_json::Map<String, Json>) -> Vec<String> {
    let line = |(name, one): (&String, &Json)| {
        let written = if one["written"] == true { "written by default" } else { "not written by default" };
        let computed = one["computed"].as_str().map(|class| format!("; computed: {class} by istiod 1.31"));
        format!("{name}: {}, {written}{}", one["class"].as_str().unwrap(), computed.unwrap_or_default())
    };
    wanted.iter().map(line).collect()
}

/// Each filter has its class, and is written by default only if it is listed; what is written leaves nothing to do.
fn other_objects_and_filters_are_respected_by(share: Share) {
    let proxies = Proxies::new(&[], Release::NEWEST);
    let mut refused = 0;
    for case in share.of(judged()) {
        let id = case["id"].as_str().unwrap();
        let loaded = input(&case);
        let report = migrated_as(&case, &loaded, Accept::SameBut);
        let wanted = case["filters_judged"].as_object().unwrap();
        assert_eq!(report.filters.len(), wanted.len(), "{id}");
        in_its_folder("among", &case, &report, &classes(wanted));
        for filter in &report.filters {
            let name = format!("{}/{}", filter.namespace, filter.name);
            let one = &wanted[&name];
            let written = filter.patches.iter().any(|patch| patch.written);
            assert_eq!(
                (json!(filter.class.name()), json!(written)),
                (one["class"].clone(), one["written"].clone()),
                "{id} {name}: {:#?}",
                filter.patches
            );
            if let Some(computed) = one["computed"].as_str().filter(|_| written) {
                let computed = Class::ALL.into_iter().find(|class| class.name() == computed).unwrap();
                assert!(filter.class >= computed, "{id} {name}: istiod computes {computed}");
            }
            for patch in &filter.patches {
                let open = patch.found.guards.iter().any(|guard| guard.state != State::Held);
                assert!(!(patch.written && open && patch.class <= Class::SameBut && patch.found.is_refused()), "{id}");
                refused += usize::from(open);
            }
        }
        if report.filters.iter().flat_map(|filter| &filter.patches).any(|patch| patch.written) {
            left_to_do(&case, &loaded, &report, Accept::SameBut, &proxies);
        }
    }
    assert!(refused > share.least(25), "{refused}");
}

in_part_and_in_full!(
    other_objects_and_filters_are_respected,
    other_objects_and_filters_are_respected_in_full,
    other_objects_and_filters_are_respected_by
);

/// A redirect has no settings for routes, a patch for another action matches none, and a Telemetry object must not turn a
/// tracer off: whatever the user accepts.
#[test]
fn what_has_no_place_in_the_object_is_never_written() {
    let refused = |id: &str| {
        let (made, report) = made(id, Accept::Reviewed);
        assert!(made.is_empty() && report.draft.edited.is_empty(), "{id}: {report:#?}");
        assert!(report.filters.iter().all(|filter| filter.patches.iter().all(|patch| !patch.written)), "{id}");
    };
    for id in [
        "own-mesh-setting-behind-an-annotation",
        "route-redirect",
        "route-redirect-kube",
        "tracing-own-tracer",
        "own-gateway-shared-tls",
        "own-gateway-shared-routes",
    ] {
        refused(id);
    }
    // Objects for a wildcard or beside rules for every host would reach more than the filter, and what some proxies have today
    // would be lost.
    for id in [
        "own-routes-beside-rules-for-every-host",
        "own-cluster-of-a-wildcard",
        "own-cluster-of-a-wildcard-entry",
        "own-routes-of-a-wildcard-entry",
        "own-route-with-two-conditions-on-a-header",
        "own-deny-for-node-metadata",
        "own-deny-for-older-proxies",
        "own-rbac-beside-a-removal-of-istiods",
        "own-rbac-beside-a-removal-by-another",
        "own-cors-beside-a-removal-of-istiods",
    ] {
        refused(id);
    }
    // Policies that would let callers in that the filters keep out.
    for id in [
        "own-allow-identity-of-other-trust-domain",
        "own-allow-identity-with-alias",
        "own-deny-on-a-port-without-service",
        "own-jwt-nested-issuers",
    ] {
        refused(id);
    }
    for id in ["own-allow-identity-at-gateway", "own-jwt-apart-issuers"] {
        assert!(!made(id, Accept::Reviewed).0.is_empty(), "{id}");
    }
    for id in ["route-beside-redirect", "route-beside-redirect-kube"] {
        let (_, report) = made(id, Accept::Differs);
        assert_eq!(report.draft.edited.len(), 1, "{id}: {report:#?}");
    }
}

fn made(id: &str, accept: Accept) -> (Vec<Json>, Report) {
    let case = judged().into_iter().find(|case| case["id"] == id).unwrap_or_else(|| panic!("no case {id}"));
    let report = migrated(&input(&case), Release::NEWEST, accept);
    (report.draft.made.iter().map(|made| made.object.clone()).collect(), report)
}

/// A filter that was not requested stays, and would change the route of a rule, but not the one that a patch inserts.
#[test]
fn a_filter_that_was_not_requested_stays() {
    let filter = |name: &str, operation: &str, value: Json| {
        let host = json!({ "context": "GATEWAY", "routeConfiguration": { "vhost": { "name": "pay.example.com:80" } } });
        let patch = json!({ "operation": operation, "value": value });
        let patches = json!([{ "applyTo": "HTTP_ROUTE", "match": host, "patch": patch }]);
        let labels = json!({ "labels": { "istio": "ingressgateway" } });
        json!({ "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
                "metadata": { "name": name, "namespace": "istio-system" },
                "spec": { "workloadSelector": labels, "configPatches": patches } })
    };
    let direct = json!({ "name": "direct", "match": { "path": "/x" }, "direct_response": { "status": 403 } });
    let header = json!({ "request_headers_to_add": [{ "header": { "key": "x-a", "value": "1" } }] });
    let filters = format!("{}\n---\n{}", filter("a", "INSERT_FIRST", direct), filter("b", "MERGE", header));
    let loaded = input(&json!({ "topology": "shop", "filters": filters }));
    let asked = Some(["istio-system/a".to_owned()].into());
    let report = migrate::migrate(&Request { asked, ..request(&loaded) });
    let report = report.unwrap();
    let patch = &report.filters[0].patches[0];
    assert!(!patch.written, "{patch:#?}");
    assert!(patch.kept.as_ref().unwrap().contains("of istio-system/b stays"), "{patch:#?}");
}

/// What stays beside another filter although its class is accepted names that filter, not a class to accept.
#[test]
fn what_stays_beside_another_filter_names_it() {
    let (_, report) = made("own-retries-of-two-filters", Accept::Differs);
    for (filter, other) in report.filters.iter().zip(["codes", "conditions"]) {
        let why = unwritten(&filter.patches[0]).unwrap_or_default();
        assert!(
            why.starts_with(&format!("not written: configPatches[0] of web/{other} also sets `retry_on`")),
            "{why}"
        );
    }
}

/// What `--accept differs` makes of a filter of the pods `app: cart` that merges into their HTTP connection managers.
fn of_managers(settings: Json) -> (Loaded, Report) {
    of_managers_in("shop", &json!({ "app": "cart" }), settings)
}

/// The same for a filter of a namespace and pods with labels.
fn of_managers_in(namespace: &str, labels: &Json, settings: Json) -> (Loaded, Report) {
    let mut config = settings;
    config["@type"] =
        "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager".into();
    let manager = json!({ "name": "envoy.filters.network.http_connection_manager" });
    let filter = json!({
        "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
        "metadata": { "name": "many", "namespace": namespace },
        "spec": { "workloadSelector": { "labels": labels }, "configPatches": [{
            "applyTo": "NETWORK_FILTER",
            "match": { "listener": { "filterChain": { "filter": manager } } },
            "patch": { "operation": "MERGE", "value": { "typed_config": config } },
        }] },
    });
    let mut loaded = Loaded::default();
    loaded.add_text("filter.yaml", filter.to_string(), &load::Options::default());
    let report = migrated(&loaded, Release::NEWEST, Accept::Differs);
    (loaded, report)
}

/// The title of a patch names everything that it sets.
#[test]
fn the_title_names_all_settings() {
    let title = |settings: Json| of_managers(settings).1.filters[0].patches[0].found.title().into_owned();
    let idle = json!({ "stream_idle_timeout": "30s", "request_timeout": "9s" });
    assert_eq!(title(idle), "timeouts and header checks of the HTTP connection manager");
    let many =
        json!({ "server_header_transformation": "PASS_THROUGH", "generate_request_id": false, "merge_slashes": true });
    assert_eq!(title(many), "server header, request ID header, path normalization");
    let homeless = json!({ "max_request_headers_kb": 96, "skip_xff_append": true });
    assert_eq!(title(homeless), "size of request headers, x-forwarded-for header");
}

/// A diff that removes a setting from a filter says what replaces it, also where that is no object.
#[test]
fn a_diff_says_what_pods_need() {
    let (loaded, report) = of_managers(json!({ "stream_idle_timeout": "30s" }));
    let mut out = Vec::new();
    output::diff(&mut out, &report, &loaded.inventory.envoy_filters).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.starts_with("# Pod annotation proxy.istio.io/config for pods with app=cart in shop"), "{text}");
    assert!(text.contains("#     httpStreamIdleTimeout: 30s\n"), "{text}");
    assert!(text.contains("+++ /dev/null\n"), "{text}");
}

fn as_markdown(report: &Report) -> String {
    let mut out = Vec::new();
    output::markdown(&mut out, report).unwrap();
    String::from_utf8(out).unwrap()
}

/// A filter that would turn the redirect of a native rule into a route without a destination is deleted before the rule exists.
#[test]
fn what_breaks_a_native_rule_goes_first() {
    let (_, report) = made("own-timeout-off-beside-a-redirect", Accept::SameBut);
    let text = as_markdown(&report);
    let at = |step: &str| text.find(step).unwrap_or_else(|| panic!("{step}: {text}"));
    assert!(at("Delete EnvoyFilter web/f.") < at("Apply HTTPRoute"), "{text}");
    assert!(at("Apply HTTPRoute") < at("Delete EnvoyFilter web/r."), "{text}");
    assert!(text.contains("Envoy rejects them: remove it first"), "{text}");
}

/// An EnvoyFilter for a Service attaches to nothing, so nothing happens twice.
#[test]
fn a_filter_that_never_attaches_does_nothing_twice() {
    let cases = all_recorded();
    let case = cases.iter().find(|case| case["id"] == "lua/waypoint-service").unwrap();
    let text = as_markdown(&migrated_as(case, &input(case), Accept::Differs));
    assert_eq!(text.matches("while both exist").count(), 1, "{text}");
    assert!(text.contains("while both exist: the EnvoyFilter does nothing"), "{text}");
}

/// Nothing is compared before the first change.
#[test]
fn what_is_only_deleted_is_checked_once() {
    let text = as_markdown(&made("timeout-off-of-an-httproute-without", Accept::SameBut).1);
    assert_eq!(text.matches(". Check the proxies").count(), 1, "{text}");
}

/// Pods whose annotation changes restart: they are not restarted again for an environment variable.
#[test]
fn pods_restart_once() {
    let old =
        json!({ "server_header_transformation": "PASS_THROUGH", "http_protocol_options": { "accept_http_10": true } });
    let text = as_markdown(&of_managers(old).1);
    assert!(text.contains("ProxyConfig") && text.contains("proxyHeaders"), "{text}");
    assert!(text.contains("restart them") && !text.contains("Restart "), "{text}");
}

/// A filter of the root namespace is for pods of every namespace.
#[test]
fn pods_of_the_root_namespaces_filters_may_be_anywhere() {
    let markdown = |namespace: &str, labels: Json| {
        as_markdown(&of_managers_in(namespace, &labels, json!({ "stream_idle_timeout": "30s" })).1)
    };
    for (namespace, labels, pods) in [
        ("shop", json!({ "app": "cart" }), "pods with app=cart in shop"),
        ("istio-system", json!({ "app": "cart" }), "pods with app=cart in the mesh"),
        ("shop", json!({}), "every workload of namespace shop"),
        ("istio-system", json!({}), "all workloads of the mesh"),
    ] {
        let text = markdown(namespace, labels);
        assert!(text.contains(pods), "{pods}: {text}");
    }
}

/// What stays as a whole is not said to become smaller.
#[test]
fn only_what_moves_leaves_a_rest() {
    let (_, mut report) = of_managers(json!({ "server_name": "x", "max_request_headers_kb": 96 }));
    let rest = "the rest of the value stays in a smaller EnvoyFilter";
    assert!(as_markdown(&report).contains(rest));
    report.filters[0].patches[0].written = false;
    assert!(!as_markdown(&report).contains(rest), "{}", as_markdown(&report));
}

/// Where two filters that move set the same field, the one that istiod applies later wins, in whatever order they are read.
#[test]
fn the_filter_that_applies_later_wins() {
    let (_, report) = made("prio-two", Accept::SameBut);
    let [pods] = report.draft.pods.as_slice() else { panic!("{:#?}", report.draft.pods) };
    assert_eq!(pods.config, json!({ "connectionSettings": { "httpStreamIdleTimeout": "30s" } }));
    let (made, _) = made("dr-prio", Accept::SameBut);
    let [rule] = made.as_slice() else { panic!("{made:#?}") };
    assert_eq!(rule.pointer("/spec/trafficPolicy/connectionPool/tcp/connectTimeout"), Some(&json!("3s")));
}

/// Both halves of consistent hashing become one rule, which is written only if asked for: istiod's default retries differ with it.
#[test]
fn two_halves_of_hashing_are_one_rule() {
    let policy = |id: &str| -> Vec<Json> {
        let (made, _) = made(id, Accept::Differs);
        made.iter().map(|one| one["spec"]["trafficPolicy"]["loadBalancer"].clone()).collect()
    };
    let hash = |one: Json| vec![json!({ "consistentHash": one })];
    let table = json!({ "minimumRingSize": 2048 });
    assert_eq!(policy("hash-two-halves"), hash(json!({ "httpHeaderName": "x-customer", "ringHash": table })));
    let cookie = json!({ "name": "basket", "path": "/", "ttl": "3600s" });
    let table = json!({ "tableSize": 65537 });
    assert_eq!(policy("hash-all-routes"), hash(json!({ "httpCookie": cookie, "maglev": table })));
    assert_eq!(policy("hash-at-gateway"), hash(json!({ "httpQueryParameterName": "u", "ringHash": {} })));
    // The rule would hide another one from clients that it does not select.
    assert_eq!(policy("hash-routes-only"), Vec::<Json>::new());
}

/// Each path requires a token of the issuer that the filter requires there: that of the first rule that matches.
#[test]
fn a_token_of_another_issuer_opens_nothing() {
    let policy = |id: &str| -> Json {
        let (made, _) = made(id, Accept::Reviewed);
        made.into_iter().find(|one| one["kind"] == "AuthorizationPolicy").unwrap()["spec"]["rules"].clone()
    };
    let from = |issuer: &str| json!([{ "source": { "notRequestPrincipals": [format!("{issuer}/*")] } }]);
    assert_eq!(
        policy("jwt-two-prov"),
        json!([
            { "from": from("https://one"), "to": [{ "operation": { "paths": ["/admin*"], "ports": ["8080"] } }] },
            { "from": from("https://two"), "to": [{ "operation": { "notPaths": ["/admin*"], "ports": ["8080"] } }] },
        ])
    );
    assert_eq!(
        policy("jwt-existing"),
        json!([{ "from": from("https://one"), "to": [{ "operation": { "ports": ["8080"] } }] }])
    );
}

/// A provider has a name that istiod accepts and that no other service has.
#[test]
fn every_provider_has_a_name_of_its_own() {
    for id in ["prov-exists", "prov-two"] {
        let (made, report) = made(id, Accept::Reviewed);
        let (settings, _) = report.draft.mesh.as_ref().unwrap();
        let names: Vec<&str> = settings["extensionProviders"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["name"].as_str().unwrap())
            .collect();
        let used: Vec<&str> =
            made.iter().filter_map(|one| one.pointer("/spec/provider/name").and_then(Json::as_str)).collect();
        assert_eq!(names.len(), used.len(), "{id}: {names:?}");
        for name in &used {
            assert!(names.contains(name) && *name != "authz-istio-system", "{id}: {names:?} {used:?}");
            let accepted = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(name.len() <= 63 && name.chars().all(accepted), "{name}");
        }
    }
}

/// The pods of a Gateway API gateway get their settings from its `infrastructure`.
#[test]
fn a_gateway_of_the_gateway_api_is_edited() {
    let (_, report) = made("gwapi-idle", Accept::SameBut);
    let [edited] = report.draft.edited.as_slice() else { panic!("{:#?}", report.draft.edited) };
    let annotation = "connectionSettings:\n  httpStreamIdleTimeout: 30s\n";
    assert_eq!(edited.after["spec"]["infrastructure"]["annotations"]["proxy.istio.io/config"], annotation);
    assert_eq!(edited.from.iter().collect::<Vec<_>>(), ["web/h"]);
}

/// A deny rule for gateways names the ports of all their pods, for which Services may map a server's port differently: where one is
/// missing, requests that are denied today pass.
#[test]
fn a_deny_rule_names_the_ports_of_every_pod() {
    let (objects, report) = made("deny-on-gateways-with-other-ports", Accept::Reviewed);
    let [policy] = &*objects else { panic!("{report:#?}") };
    let ports = &policy["spec"]["rules"][0]["to"][0]["operation"]["ports"];
    assert_eq!(*ports, json!(["80", "443", "8080", "8443"]), "{policy:#}");
}

/// A provider is for every workload with a policy that names it: what was not read may use it too.
#[test]
fn a_provider_is_changed_only_if_its_policies_are_known() {
    let case = judged().into_iter().find(|case| case["id"] == "provider-body").unwrap();
    let loaded = input(&case);
    let unread = [("AuthorizationPolicy", "AuthorizationPolicy objects could not all be read".to_owned())].into();
    let request = Request { unread, ..request(&loaded) };
    let patch = &migrate::migrate(&request).unwrap().filters[0].patches[0];
    assert!(patch.found.is_refused() && !patch.written, "{patch:#?}");
    // The settings of a policy's provider are unknown without the ConfigMap.
    let mut loaded = Loaded::default();
    for (name, text) in crate::migrate::input_texts(&case).into_iter().filter(|(name, _)| *name != "mesh") {
        loaded.add_text(name, text, &load::Options::default());
    }
    let report = migrated(&loaded, Release::NEWEST, Accept::Reviewed);
    assert!(!report.filters[0].patches[0].written && report.draft.mesh.is_none(), "{report:#?}");
}
