//! istioctl's messages about EnvoyFilters (IST0151 to IST0155), and their assessment.

use crate::linting::Proxies;
use kubectl_envoyfilter::lint::istioctl::{self, Judgement};
use kubectl_envoyfilter::lint::{self, suppress};
use kubectl_envoyfilter::load::{self, Loaded};
use kubectl_envoyfilter::model::release::Release;
use kubectl_envoyfilter::rules;
use std::fmt::Write as _;

const HEAD: &str = "apiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata:\n  namespace: shop\n";
const HCM: &str = "listener: {filterChain: {filter: {name: envoy.filters.network.http_connection_manager, subFilter: {name: ANCHOR}}}}";
const LUA: &str = "value: {name: envoy.filters.http.lua, typed_config: {'@type': type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua, default_source_code: {inline_string: 'function envoy_on_request(h) end'}}}";

/// A filter with patches, each `applyTo | match | operation | value`.
fn filter(name: &str, more: &str, patches: &[(&str, &str, &str, &str)]) -> String {
    let mut text = format!("{HEAD}  name: {name}\n{more}spec:\n  configPatches:\n");
    for (apply_to, matching, operation, value) in patches {
        write!(
            text,
            "  - applyTo: {apply_to}\n    match: {{{matching}}}\n    patch:\n      operation: {operation}\n      {value}\n"
        )
        .unwrap();
    }
    text
}

fn inbound(anchor: &str) -> String {
    format!("context: SIDECAR_INBOUND, {}", HCM.replace("ANCHOR", anchor))
}

fn loaded(filters: &[String]) -> Loaded {
    load::read_text("filters.yaml", filters.join("---\n"), &load::Options::default())
}

fn said(filters: &[String], release: Release) -> Vec<(&'static str, Judgement)> {
    let proxies = Proxies::new(&["shop".to_owned()], release);
    let verdicts = proxies.inspect(&loaded(filters), istioctl::verdicts);
    verdicts.into_iter().map(|verdict| (verdict.code, verdict.right)).collect()
}

#[test]
fn each_message_is_judged() {
    use Judgement::{OtherReason, Right, Wrong};
    let router = inbound("envoy.filters.http.router");
    let router = router.as_str();
    let route = "context: SIDECAR_OUTBOUND";
    let one = |apply_to, matching, operation, value| vec![filter("a", "", &[(apply_to, matching, operation, value)])];
    let added = inbound("shop.first");
    let first = LUA.replace("envoy.filters.http.lua,", "shop.first,");
    let newest = Release::NEWEST;
    for (what, filters, release, want) in [
        (
            "istiod generates the anchor",
            one("HTTP_FILTER", router, "INSERT_BEFORE", LUA),
            newest,
            vec![("IST0151", Wrong)],
        ),
        ("ADD is not judged", one("HTTP_FILTER", router, "INSERT_FIRST", LUA), newest, vec![]),
        (
            "nobody adds the anchor",
            one("HTTP_FILTER", &inbound("nobody"), "INSERT_AFTER", LUA),
            newest,
            vec![("IST0151", OtherReason)],
        ),
        (
            "another filter adds the anchor, before",
            vec![
                filter("a", "", &[("HTTP_FILTER", router, "INSERT_FIRST", &first)]),
                filter("b", "", &[("HTTP_FILTER", &added, "INSERT_AFTER", LUA)]),
            ],
            newest,
            vec![("IST0151", Right)],
        ),
        (
            "another filter adds the anchor, too late",
            vec![
                filter("b", "", &[("HTTP_FILTER", router, "INSERT_FIRST", &first)]),
                filter("a", "", &[("HTTP_FILTER", &added, "INSERT_AFTER", LUA)]),
            ],
            newest,
            vec![("IST0151", Right)],
        ),
        (
            "REPLACE of clusters",
            one("CLUSTER", route, "REPLACE", "value: {connect_timeout: 1s}"),
            newest,
            vec![("IST0152", Right)],
        ),
        (
            "REPLACE of virtual hosts, an old istioctl",
            one("VIRTUAL_HOST", route, "REPLACE", "value: {name: a, domains: [a]}"),
            Release::patch(28, 10),
            vec![("IST0152", Wrong)],
        ),
        (
            "REPLACE of virtual hosts",
            one("VIRTUAL_HOST", route, "REPLACE", "value: {name: a, domains: [a]}"),
            newest,
            vec![("IST0151", Wrong)],
        ),
        (
            "REPLACE of listener filters without a match",
            one("LISTENER_FILTER", route, "REPLACE", "value: {name: a}"),
            newest,
            vec![("IST0152", OtherReason)],
        ),
        (
            "ADD of routes",
            one("HTTP_ROUTE", route, "ADD", "value: {name: a, match: {prefix: /}}"),
            newest,
            vec![("IST0153", Wrong)],
        ),
        (
            "ADD of route configurations",
            one("ROUTE_CONFIGURATION", route, "ADD", "value: {name: a}"),
            newest,
            vec![("IST0153", Right)],
        ),
        ("REMOVE of routes", one("HTTP_ROUTE", route, "REMOVE", ""), newest, vec![("IST0154", Wrong)]),
        (
            "REMOVE of route configurations",
            one("ROUTE_CONFIGURATION", route, "REMOVE", ""),
            newest,
            vec![("IST0154", Right)],
        ),
        (
            "the same name with a proxyVersion before",
            vec![
                filter(
                    "a",
                    "",
                    &[("HTTP_FILTER", &format!("proxy: {{proxyVersion: '^1\\.31'}}, {router}"), "INSERT_BEFORE", LUA)],
                ),
                filter("b", "", &[("HTTP_FILTER", router, "INSERT_BEFORE", LUA)]),
            ],
            newest,
            vec![("IST0151", OtherReason), ("IST0155", Wrong)],
        ),
        (
            "a priority silences it",
            vec![
                filter("a", "", &[("HTTP_FILTER", router, "INSERT_BEFORE", LUA)])
                    .replace("spec:\n", "spec:\n  priority: 1\n"),
            ],
            newest,
            vec![],
        ),
        (
            "its own annotation silences it",
            vec![filter(
                "a",
                "  annotations: {galley.istio.io/analyze-suppress: 'IST0151'}\n",
                &[("HTTP_FILTER", router, "INSERT_BEFORE", LUA)],
            )],
            newest,
            vec![],
        ),
    ] {
        assert_eq!(said(&filters, release), want, "{what}");
    }
}

#[test]
fn its_codes_stand_for_rules_that_exist() {
    let codes: Vec<&str> = istioctl::RULES.iter().map(|(code, _)| *code).collect();
    assert_eq!(codes, ["IST0151", "IST0152", "IST0153", "IST0154", "IST0155"]);
    for (code, names) in istioctl::RULES {
        assert!(!names.is_empty(), "{code}");
        for name in *names {
            assert!(rules::ALL.iter().any(|rule| rule.name == *name), "{code}: no rule is called {name}");
        }
    }
}

#[test]
fn its_annotation_suppresses_what_its_codes_are_about() {
    let replace = |annotation: &str| {
        let annotation = format!("  annotations: {{galley.istio.io/analyze-suppress: \"{annotation}\"}}\n");
        loaded(&[filter(
            "a",
            &annotation,
            &[("CLUSTER", "context: SIDECAR_OUTBOUND", "REPLACE", "value: {connect_timeout: 1s}")],
        )])
    };
    let shop = Proxies::new(&["shop".to_owned()], Release::NEWEST);
    for (annotation, left) in [("IST0152", 0), ("IST0102,IST0154", 0), ("*", 0), ("IST0151", 1), ("IST0133", 1)] {
        let loaded = replace(annotation);
        let found = shop.lint(&loaded);
        assert!(found.iter().any(|one| one.rule.code == "EF301"), "{annotation}");
        let suppressions = suppress::read(&loaded.sources, &loaded.inventory.envoy_filters);
        assert_eq!(suppressions.len(), 1, "{annotation}");
        let kept: Vec<lint::Finding> = suppress::apply(found, &suppressions).kept;
        assert_eq!(kept.iter().filter(|one| one.rule.code == "EF301").count(), left, "{annotation}");
        if annotation == "*" {
            assert!(kept.is_empty());
        }
    }
}
