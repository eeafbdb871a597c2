//! Input whose cost exceeds its size if something is quadratic, in sizes from 1 to 16, and the growth of the time.
//!
//! A clock says how long something took: the CPU time of a process that does nothing else, otherwise that of the wall.

use clap::Parser;
use kubectl_envoyfilter::cli::{Cli, Surroundings};
use kubectl_envoyfilter::report::style::Terminal;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

/// The time so far.
pub(crate) type Clock = fn() -> Duration;

/// A kind of input: its name, its text at a size, and the measured function.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) text: fn(usize) -> String,
    pub(crate) arguments: &'static [&'static str],
    /// The base size, chosen so that size 16 takes about a second.
    pub(crate) unit: usize,
}

const HEAD: &str =
    "apiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata: {name: big, namespace: shop}\nspec:\n";
const LINT: &[&str] = &["lint", "case.yaml"];
const LINT_JSON: &[&str] = &["lint", "case.yaml", "-o", "json"];
const LINT_DEMO: &[&str] = &["lint", "case.yaml", "--demo", "-o", "json"];
const AUDIT: &[&str] = &["audit", "-f", "case.yaml", "--from", "1.20", "--to", "1.31"];
const EXPLAIN_DEMO: &[&str] = &["explain", "pod", "cart", "--demo", "-f", "case.yaml"];

/// The patches that are repeated, below the head.
fn filter(number: usize, patch: impl Fn(usize) -> String) -> String {
    let mut text = format!("{HEAD}  workloadSelector: {{labels: {{app: cart}}}}\n  configPatches:\n");
    (0..number).for_each(|index| text.push_str(&patch(index)));
    text
}

pub(crate) const CASES: &[Case] = &[
    Case { name: "safe_regex values", text: regexes, arguments: LINT, unit: 40 },
    Case { name: "INSERT_AFTER chain, -o json", text: chain, arguments: LINT_DEMO, unit: 12 },
    Case { name: "LISTENER ADD", text: listeners, arguments: LINT, unit: 40 },
    Case { name: "CLUSTER MERGE", text: merges, arguments: LINT_DEMO, unit: 20 },
    Case { name: "targetRefs on one line", text: target_refs, arguments: LINT_JSON, unit: 200 },
    Case { name: "duplicate keys on one line", text: duplicates, arguments: LINT_JSON, unit: 200 },
    Case { name: "aliased patches", text: aliases, arguments: LINT, unit: 25 },
    Case { name: "lines with secrets", text: secrets, arguments: LINT, unit: 25 },
    Case { name: "ignore comments", text: comments, arguments: LINT, unit: 60 },
    Case { name: "a JSON List on one line", text: list, arguments: LINT_JSON, unit: 20 },
    Case { name: "a service for each filter", text: services, arguments: LINT, unit: 100 },
    Case { name: "DestinationRules of a host", text: rules, arguments: LINT, unit: 60 },
    Case { name: "INSERT_FIRST into one list", text: insertions, arguments: LINT, unit: 100 },
    Case { name: "routes of many hosts, migrate", text: routes, arguments: &["migrate", "case.yaml"], unit: 100 },
    Case { name: "filters on one cluster, explain", text: same_cluster, arguments: EXPLAIN_DEMO, unit: 100 },
    Case { name: "words of an ignore comment", text: words, arguments: LINT, unit: 2_000 },
    Case { name: "HTTP filters of one name", text: namesakes, arguments: LINT, unit: 60 },
    Case { name: "the same patch", text: copies, arguments: LINT, unit: 100 },
    Case { name: "routes of one virtual host", text: ordered, arguments: LINT_DEMO, unit: 60 },
    Case { name: "removals beside other hosts", text: removals, arguments: LINT_JSON, unit: 80 },
    Case { name: "VIRTUAL_HOST ADD", text: hosts, arguments: LINT_DEMO, unit: 20 },
    Case { name: "FILTER_CHAIN ADD", text: chains, arguments: LINT_DEMO, unit: 20 },
    Case { name: "Lua filters that move", text: scripts, arguments: LINT_JSON, unit: 100 },
    Case { name: "settings that move", text: settings, arguments: LINT, unit: 120 },
    Case { name: "panics of many workloads, migrate", text: panics, arguments: &["migrate", "case.yaml"], unit: 60 },
    Case { name: "merges into inserted filters, migrate", text: types, arguments: &["migrate", "case.yaml"], unit: 60 },
    Case {
        name: "hosts beside waypoints, migrate",
        text: beside_waypoints,
        arguments: &["migrate", "case.yaml"],
        unit: 60,
    },
    Case { name: "panics one after the other", text: panics_everywhere, arguments: LINT, unit: 60 },
    Case { name: "one extension by many owners", text: extensions, arguments: LINT, unit: 60 },
    Case { name: "discovered filters", text: discovered, arguments: LINT, unit: 60 },
    Case { name: "network filters of one list", text: network, arguments: LINT_DEMO, unit: 100 },
    Case { name: "many virtual hosts", text: hosts, arguments: LINT_DEMO, unit: 150 },
    Case { name: "settings of filters on one route", text: keys, arguments: LINT_DEMO, unit: 250 },
    Case { name: "inserted filters, audit", text: insertions, arguments: AUDIT, unit: 60 },
    Case { name: "removed filters, audit", text: old_names, arguments: AUDIT, unit: 60 },
];

fn regexes(number: usize) -> String {
    filter(number, |index| {
        format!(
            "  - applyTo: HTTP_ROUTE\n    match: {{context: SIDECAR_OUTBOUND}}\n    patch:\n      operation: MERGE\n      value:\n        \
             match: {{safe_regex: {{regex: \"^/v{index}/[a-z]+(/.*)?$\"}}}}\n"
        )
    })
}

fn chain(number: usize) -> String {
    filter(number, |index| {
        let anchor = if index == 0 { "envoy.filters.http.router".to_owned() } else { format!("f{}", index - 1) };
        let operation = if index == 0 { "INSERT_BEFORE" } else { "INSERT_AFTER" };
        format!(
            "  - applyTo: HTTP_FILTER\n    match:\n      context: SIDECAR_INBOUND\n      listener: {{filterChain: {{filter: {{name: \
             envoy.filters.network.http_connection_manager, subFilter: {{name: {anchor}}}}}}}}}\n    patch:\n      operation: {operation}\n      \
             value:\n        name: f{index}\n        typed_config: {{\"@type\": type.googleapis.com/envoy.extensions.filters.http.buffer.v3.Buffer, \
             max_request_bytes: 65536}}\n"
        )
    })
}

fn insertions(number: usize) -> String {
    filter(number, |index| {
        format!(
            "  - applyTo: HTTP_FILTER\n    match: {{context: SIDECAR_INBOUND, listener: {{filterChain: {{filter: {{name: \
             envoy.filters.network.http_connection_manager}}}}}}}}\n    patch:\n      operation: INSERT_FIRST\n      value:\n        \
             name: f{index}\n        typed_config: {{\"@type\": type.googleapis.com/envoy.extensions.filters.http.buffer.v3.Buffer, \
             max_request_bytes: 65536}}\n"
        )
    })
}

/// Patches that look for a filter of a WasmPlugin by an old name.
fn old_names(number: usize) -> String {
    filter(number, |index| {
        format!(
            "  - applyTo: HTTP_FILTER\n    match: {{context: SIDECAR_INBOUND, listener: {{filterChain: {{filter: {{name: \
             envoy.filters.network.http_connection_manager, subFilter: {{name: shop.plugin-{index}}}}}}}}}}}\n    patch: {{operation: \
             REMOVE}}\n"
        )
    })
}

/// One comment with the marker any number of times.
fn words(number: usize) -> String {
    format!("{HEAD}  configPatches: [] # {}\n", "envoyfilter:ignore EF301 ".repeat(number))
}

/// Filters under one name, each with a configuration of its own.
fn namesakes(number: usize) -> String {
    filter(number, |index| {
        format!(
            "  - applyTo: HTTP_FILTER\n    match: {{context: SIDECAR_INBOUND, listener: {{filterChain: {{filter: {{name: \
             envoy.filters.network.http_connection_manager, subFilter: {{name: envoy.filters.http.router}}}}}}}}}}\n    patch:\n      \
             operation: INSERT_BEFORE\n      value:\n        name: same\n        typed_config: {{\"@type\": \
             type.googleapis.com/envoy.extensions.filters.http.buffer.v3.Buffer, max_request_bytes: {}}}\n",
            index + 1
        )
    })
}

/// The same patch, any number of times.
fn copies(number: usize) -> String {
    let one = namesakes(1);
    let patch = one.split_once("configPatches:\n").map_or("", |(_, patch)| patch);
    filter(number, |_| patch.to_owned())
}

/// Lua filters, each of which a `TrafficExtension` replaces.
fn scripts(number: usize) -> String {
    filter(number, |_| {
        "  - applyTo: HTTP_FILTER\n    match: {context: SIDECAR_INBOUND, listener: {filterChain: {filter: {name: \
         envoy.filters.network.http_connection_manager, subFilter: {name: envoy.filters.http.router}}}}}\n    patch:\n      operation: \
         INSERT_BEFORE\n      value:\n        name: lua\n        typed_config: {\"@type\": \
         type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua, default_source_code: {inline_string: \"function \
         envoy_on_request(h) h:headers():add('a', 'b') end\"}}\n"
            .to_owned()
    })
}

/// VirtualServices of a gateway, each with an EnvoyFilter that moves there, and as many waypoints that do not read them.
fn beside_waypoints(count: usize) -> String {
    let head = "---\napiVersion: networking.istio.io/v1\nkind: Gateway\nmetadata: {name: gw, namespace: shop}\nspec: {selector: {istio: \
                ingressgateway}, servers: [{port: {number: 80, name: http, protocol: HTTP}, hosts: ['*']}]}\n";
    let one = |index: usize| {
        format!(
            "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {{name: w{index}, namespace: shop}}\nspec: \
             {{gatewayClassName: istio-waypoint, listeners: [{{name: mesh, port: 15008, protocol: HBONE}}]}}\n---\napiVersion: \
             networking.istio.io/v1\nkind: VirtualService\nmetadata: {{name: v{index}, namespace: shop}}\nspec: {{hosts: \
             [h{index}.example.com], gateways: [shop/gw], http: [{{route: [{{destination: {{host: cart}}}}]}}]}}\n---\napiVersion: \
             networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata: {{name: f{index}, namespace: istio-system}}\nspec:\n  \
             workloadSelector: {{labels: {{istio: ingressgateway}}}}\n  configPatches:\n  - applyTo: HTTP_ROUTE\n    match: {{context: \
             GATEWAY, routeConfiguration: {{vhost: {{name: 'h{index}.example.com:80'}}}}}}\n    patch: {{operation: MERGE, value: \
             {{request_headers_to_add: [{{header: {{key: x-a, value: '1'}}}}]}}}}\n"
        )
    };
    std::iter::once(head.to_owned()).chain((0..count).map(one)).collect()
}

/// EnvoyFilters for a workload each, with a patch at which istiod panics and one that moves.
fn panics(count: usize) -> String {
    let manager = "envoy.filters.network.http_connection_manager";
    let patch = |filter: &str, apply_to: &str, value: &str| {
        format!(
            "  - applyTo: {apply_to}\n    match: {{context: SIDECAR_OUTBOUND, listener: {{filterChain: {{filter: {{name: {manager}{filter}}}}}}}}}\n    \
             patch: {{operation: MERGE, value: {{typed_config: {{{value}}}}}}}\n"
        )
    };
    let cause = patch(
        ", subFilter: {name: envoy.filters.http.router}",
        "HTTP_FILTER",
        "\"@type\": type.googleapis.com/udpa.type.v1.TypedStruct, type_url: \
         type.googleapis.com/envoy.extensions.filters.http.router.v3.Router, value: {dynamic_stats: true}",
    );
    let moves = patch(
        "",
        "NETWORK_FILTER",
        "\"@type\": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager, \
         server_name: a",
    );
    let filter = |index: usize| {
        format!(
            "---\napiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata: {{name: f{index}, namespace: shop}}\nspec:\n  \
             workloadSelector: {{labels: {{app: s{index}}}}}\n  configPatches:\n{cause}{moves}"
        )
    };
    (0..count).map(filter).collect()
}

/// Filters for all workloads of the mesh.
fn meshwide(count: usize, patches: impl Fn(usize) -> String) -> String {
    let filter = |index: usize| {
        format!(
            "---\napiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata: {{name: f{index}, namespace: istio-system}}\nspec:\n  \
             configPatches:\n{}",
            patches(index)
        )
    };
    (0..count).map(filter).collect()
}

/// A patch of HTTP filters in the inbound listeners.
fn http_filter(sub_filter: &str, operation: &str, value: &str) -> String {
    format!(
        "  - applyTo: HTTP_FILTER\n    match: {{context: SIDECAR_INBOUND, listener: {{filterChain: {{filter: {{name: \
         envoy.filters.network.http_connection_manager{sub_filter}}}}}}}}}\n    patch: {{operation: {operation}, value: {{{value}}}}}\n"
    )
}

/// What inserts before the router matches.
const ROUTER: &str = ", subFilter: {name: envoy.filters.http.router}";

/// Merges of another type, each of which makes istiod panic once those before it are gone.
fn panics_everywhere(count: usize) -> String {
    let buffer = "typed_config: {\"@type\": type.googleapis.com/envoy.extensions.filters.http.buffer.v3.Buffer}";
    meshwide(count, |_| http_filter(ROUTER, "MERGE", buffer))
}

/// Filters of one extension that is often in a list more than once, under different names.
fn extensions(count: usize) -> String {
    let config = "typed_config: {\"@type\": type.googleapis.com/envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor, \
                  grpc_service: {envoy_grpc: {cluster_name: c}}}";
    meshwide(count, |index| http_filter(ROUTER, "INSERT_BEFORE", &format!("name: x{index}, disabled: true, {config}")))
}

/// Filters whose configuration each filter brings along.
fn discovered(count: usize) -> String {
    meshwide(count, |index| {
        let config = "typed_config: {\"@type\": type.googleapis.com/envoy.extensions.filters.http.buffer.v3.Buffer, \
                      max_request_bytes: 5}";
        let asks = "config_discovery: {config_source: {ads: {}}, type_urls: \
                    [type.googleapis.com/envoy.extensions.filters.http.buffer.v3.Buffer]}";
        format!(
            "  - applyTo: EXTENSION_CONFIG\n    patch: {{operation: ADD, value: {{name: e{index}, {config}}}}}\n{}",
            http_filter(ROUTER, "INSERT_BEFORE", &format!("name: w{index}, {asks}"))
        )
    })
}

/// EnvoyFilters, each of which inserts a filter under a name of its own and merges another type into it.
fn types(count: usize) -> String {
    let patch = |sub_filter: &str, operation: &str, name: &str, config: &str| {
        let value = format!(
            "name: {name}, typed_config: {{\"@type\": type.googleapis.com/envoy.extensions.filters.http.{config}}}"
        );
        http_filter(&format!(", subFilter: {{name: {sub_filter}}}"), operation, &value)
    };
    let filter = |index: usize| {
        let name = format!("f{index}");
        let lua = "lua.v3.Lua, default_source_code: {inline_string: 'function envoy_on_request(h) end'}";
        let inserts = patch("envoy.filters.http.router", "INSERT_BEFORE", &name, lua);
        let merges = patch(&name, "MERGE", &name, "buffer.v3.Buffer, max_request_bytes: 65536");
        format!(
            "---\napiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata: {{name: {name}, namespace: shop}}\nspec:\n  \
             workloadSelector: {{labels: {{app: s{index}}}}}\n  configPatches:\n{inserts}{merges}"
        )
    };
    (0..count).map(filter).collect()
}

/// Settings of the HTTP connection manager, all of which one annotation replaces.
fn settings(number: usize) -> String {
    filter(number, |_| {
        "  - applyTo: NETWORK_FILTER\n    match: {context: SIDECAR_INBOUND, listener: {filterChain: {filter: {name: \
         envoy.filters.network.http_connection_manager}}}}\n    patch:\n      operation: MERGE\n      value: {typed_config: \
         {\"@type\": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager, \
         stream_idle_timeout: 5s}}\n"
            .to_owned()
    })
}

/// Routes in front of those of a virtual host, each to a cluster of its own.
fn ordered(number: usize) -> String {
    filter(number, |index| {
        format!(
            "  - applyTo: HTTP_ROUTE\n    match: {{context: SIDECAR_OUTBOUND}}\n    patch: {{operation: INSERT_FIRST, value: {{name: \
             r{index}, match: {{prefix: /{index}}}, route: {{cluster: c{index}}}}}}}\n"
        )
    })
}

fn routes(number: usize) -> String {
    filter(number, |index| {
        format!(
            "  - applyTo: HTTP_ROUTE\n    match: {{context: SIDECAR_OUTBOUND, routeConfiguration: {{vhost: {{name: \
             'h{index}.shop.svc.cluster.local:80'}}}}}}\n    patch: {{operation: MERGE, value: {{route: {{timeout: {}s}}}}}}\n",
            index + 1
        )
    })
}

/// Filters instead of patches of one.
fn same_cluster(number: usize) -> String {
    let one = |index: usize| {
        format!(
            "---\napiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata: {{name: f{index}, namespace: shop}}\nspec:\n  \
             configPatches:\n  - applyTo: CLUSTER\n    match: {{context: SIDECAR_OUTBOUND}}\n    patch: {{operation: MERGE, value: \
             {{connect_timeout: {}s}}}}\n",
            index + 1
        )
    };
    (0..number).map(one).collect()
}

/// Filters that remove virtual hosts, each beside one that patches another virtual host.
fn removals(number: usize) -> String {
    let mut text = String::new();
    for index in 0..number {
        for (name, patch) in [
            ("gone", "{operation: REMOVE}"),
            ("kept", "{operation: MERGE, value: {include_request_attempt_count: true}}"),
        ] {
            let _ = write!(
                text,
                "---\napiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata: {{name: {name}-{index}, namespace: \
                 shop}}\nspec:\n  configPatches:\n  - applyTo: VIRTUAL_HOST\n    match: {{context: SIDECAR_OUTBOUND, \
                 routeConfiguration: {{vhost: {{name: '{name}-{index}.example.com:80'}}}}}}\n    patch: {patch}\n"
            );
        }
    }
    text
}

fn listeners(number: usize) -> String {
    filter(number, |index| {
        format!(
            "  - applyTo: LISTENER\n    match: {{context: SIDECAR_OUTBOUND}}\n    patch:\n      operation: ADD\n      value:\n        name: l{index}\n        \
             address: {{socket_address: {{address: 127.0.0.1, port_value: {}}}}}\n        filter_chains: [{{filters: [{{name: a}}]}}]\n",
            20_000 + index
        )
    })
}

/// Virtual hosts, each of which goes into every route configuration.
fn hosts(number: usize) -> String {
    filter(number, |index| {
        format!(
            "  - applyTo: VIRTUAL_HOST\n    match: {{context: SIDECAR_OUTBOUND}}\n    patch:\n      operation: ADD\n      value: {{name: h{index}, \
             domains: [h{index}.example.com], routes: []}}\n"
        )
    })
}

/// Network filters in front of the same one.
fn network(number: usize) -> String {
    filter(number, |index| {
        format!(
            "  - applyTo: NETWORK_FILTER\n    match: {{context: SIDECAR_OUTBOUND, listener: {{filterChain: {{filter: {{name: \
             envoy.filters.network.http_connection_manager}}}}}}}}\n    patch:\n      operation: INSERT_BEFORE\n      value:\n        \
             name: n{index}\n        typed_config: {{\"@type\": \
             type.googleapis.com/envoy.extensions.filters.network.connection_limit.v3.ConnectionLimit, stat_prefix: x, max_connections: 5}}\n"
        )
    })
}

/// Settings for routes under names that no filter has.
fn keys(number: usize) -> String {
    let lua = "{\"@type\": type.googleapis.com/envoy.extensions.filters.http.lua.v3.LuaPerRoute, disabled: true}";
    let keys: String = (0..number).map(|index| format!("k{index}: {lua}, ")).collect();
    filter(1, |_| {
        format!(
            "  - applyTo: HTTP_ROUTE\n    match: {{context: SIDECAR_OUTBOUND}}\n    patch: {{operation: MERGE, value: {{typed_per_filter_config: \
             {{{keys}}}}}}}\n"
        )
    })
}

fn chains(number: usize) -> String {
    filter(number, |index| {
        format!(
            "  - applyTo: FILTER_CHAIN\n    match: {{context: SIDECAR_OUTBOUND}}\n    patch:\n      operation: ADD\n      value: {{name: c{index}, \
             filter_chain_match: {{server_names: [c{index}.example.com]}}, filters: []}}\n"
        )
    })
}

fn merges(number: usize) -> String {
    filter(number, |index| {
        format!(
            "  - applyTo: CLUSTER\n    match: {{context: SIDECAR_OUTBOUND}}\n    patch:\n      operation: MERGE\n      value: {{connect_timeout: {}s}}\n",
            index + 1
        )
    })
}

fn target_refs(number: usize) -> String {
    let refs: Vec<String> = (0..number)
        .map(|index| format!("{{group: gateway.networking.k8s.io, kind: Gateway, name: g{index}, sectionName: x}}"))
        .collect();
    format!("{HEAD}  targetRefs: [{}]\n  configPatches: []\n", refs.join(", "))
}

fn duplicates(number: usize) -> String {
    let keys: String = (0..number).map(|index| format!("k{index}: 1, k{index}: 2, ")).collect();
    format!("{HEAD}  configPatches:\n  - {{applyTo: CLUSTER, patch: {{operation: ADD, value: {{{keys}name: a}}}}}}\n")
}

fn aliases(number: usize) -> String {
    let mut text = format!(
        "{HEAD}  configPatches:\n  - &p\n    applyTo: CLUSTER\n    match: {{context: SIDECAR_OUTBOUND, cluster: {{name: nothing}}}}\n    patch: \
         {{operation: MERGE, value: {{no_such_field: 1}}}}\n"
    );
    // The reader accepts a limited number of values from aliases; comments do not count.
    (0..number).for_each(|index| {
        let _ = write!(text, "  - {{applyTo: HTTP_FILTER, x{index}: [1, 2, 3, 4, 5, 6, 7, 8, 9]}}\n  - *p\n");
    });
    text
}

fn secrets(number: usize) -> String {
    filter(number, |index| {
        format!(
            "  - applyTo: VIRTUAL_HOST\n    match: {{context: SIDECAR_OUTBOUND}}\n    patch:\n      operation: MERGE\n      value:\n        \
             request_headers_to_add:\n        - header: {{key: authorization, value: \"Basic dXNlcjpodW50{index:08}\"}}\n"
        )
    })
}

fn comments(number: usize) -> String {
    filter(number, |index| {
        format!(
            "  # envoyfilter:ignore EF304 because of number {index}\n  - applyTo: CLUSTER # envoyfilter:ignore EF301 because\n    match: {{context: \
             SIDECAR_OUTBOUND}}\n    patch: {{operation: REPLACE, value: {{}}}}\n"
        )
    })
}

fn list(number: usize) -> String {
    let items: Vec<String> = (0..number)
        .map(|index| {
            format!(
                "{{\"apiVersion\":\"networking.istio.io/v1alpha3\",\"kind\":\"EnvoyFilter\",\"metadata\":{{\"name\":\"f{index}\",\"namespace\":\"shop\"}},\
                 \"spec\":{{\"workloadSelector\":{{\"labels\":{{\"app\":\"a{index}\"}}}},\"configPatches\":[{{\"applyTo\":\"CLUSTER\",\"patch\":{{\
                 \"operation\":\"REPLACE\",\"value\":{{\"no_such_field\":1}}}}}}]}}}}"
            )
        })
        .collect();
    format!("{{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[{}]}}", items.join(","))
}

/// Filters for a whole namespace, each for a service of its own, with all Services and Deployments.
fn services(number: usize) -> String {
    let one = |index| {
        format!(
            "---\napiVersion: v1\nkind: Service\nmetadata: {{name: s-{index}, namespace: shop}}\nspec: {{selector: {{app: s-{index}}}, ports: [{{name: http, \
             port: 80}}]}}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: s-{index}, namespace: shop}}\nspec: {{selector: {{matchLabels: {{app: \
             s-{index}}}}}, template: {{metadata: {{labels: {{app: s-{index}}}}}, spec: {{containers: [{{name: a, image: x}}]}}}}}}\n---\napiVersion: \
             networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata: {{name: f-{index}, namespace: shop}}\nspec:\n  configPatches:\n  - applyTo: CLUSTER\n    \
             match: {{context: SIDECAR_OUTBOUND, cluster: {{service: s-{index}.shop.svc.cluster.local}}}}\n    patch: {{operation: MERGE, value: {{connect_timeout: \
             3s}}}}\n"
        )
    };
    (0..number).map(one).collect()
}

/// DestinationRules for one host, half of them in the service's namespace and not exported, half in others.
fn rules(number: usize) -> String {
    let mut text = format!(
        "{HEAD}  configPatches: []\n---\napiVersion: v1\nkind: Service\nmetadata: {{name: cart, namespace: shop}}\n"
    );
    let subsets: String = (0..4).map(|index| format!("  - {{name: s{index}}}\n")).collect();
    for index in 0..number {
        let namespace = if index % 2 == 0 { "shop".to_owned() } else { format!("n{index}") };
        let _ = write!(
            text,
            "---\napiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {{name: r{index}, namespace: {namespace}}}\nspec:\n  \
             host: cart.shop.svc.cluster.local\n  exportTo: [\".\"]\n  subsets:\n{subsets}"
        );
    }
    text
}

impl Case {
    /// The time of one run: the shortest of several.
    pub(crate) fn time(&self, clock: Clock, folder: &Path, size: usize) -> Duration {
        let path = folder.join("case.yaml");
        std::fs::write(&path, (self.text)(self.unit * size)).expect("a file");
        let path = path.to_str().expect("a name").to_owned();
        let mut arguments = vec!["kubectl-envoyfilter"];
        arguments.extend(self.arguments.iter().map(|one| if *one == "case.yaml" { path.as_str() } else { one }));
        let around = Surroundings { out: Terminal::default(), err: Terminal::default(), progress: false };
        let one = || {
            let cli = Cli::try_parse_from(&arguments).expect("arguments");
            let (mut out, mut err) = (Vec::new(), Vec::new());
            let start = clock();
            cli.run(around, &mut out, &mut err).expect("a run");
            clock().saturating_sub(start)
        };
        let first = one();
        if first > Duration::from_secs(3) { first } else { first.min(one()).min(one()) }
    }

    /// The exponent of the growth from one size to another: 1 is linear, 2 quadratic. The cost of an empty run is
    /// subtracted.
    pub(crate) fn exponent(&self, clock: Clock, folder: &Path, sizes: &[usize]) -> (f64, Vec<Duration>) {
        let idle = self.time(clock, folder, 0);
        let times: Vec<Duration> = sizes.iter().map(|&size| self.time(clock, folder, size)).collect();
        let points: Vec<(f64, f64)> = sizes
            .iter()
            .zip(&times)
            .map(|(&size, time)| (f64::from(u32::try_from(size).unwrap_or(1)), time.saturating_sub(idle).as_secs_f64()))
            .collect();
        let (Some((small, short)), Some((large, long))) = (points.first(), points.last()) else { return (0.0, times) };
        ((long / short.max(0.0005)).ln() / (large / small).ln(), times)
    }
}
