//! EF158: a change of a response header that Envoy sets after all filters and routes.

use crate::declare_rule;
use crate::lint::context::ProxyRun;
use crate::lint::per_run::PerRun;
use crate::lint::walk::get;
use crate::lint::{Context, Finding, Findings, PatchView, RuleInfo, header_options};
use crate::proto::tree::Tree;
use crate::source::Node;

declare_rule! {
    /// A change of the response header `server` or `date`, which Envoy sets after all filters and routes.
    ///
    /// # What it finds
    /// `server` or `date` among `response_headers_to_remove`, in a `remove` of header_mutation or of Lua; another value
    /// for `server`. It is silent if a given patch or the connection manager of the proxy sets
    /// `server_header_transformation`.
    ///
    /// # Why it matters
    /// The connection manager writes `server` and adds a missing `date` when it sends the response: the header stays.
    ///
    /// # How to fix
    /// `meshConfig.defaultConfig.proxyHeaders.server` (from Istio 1.19), or a NETWORK_FILTER MERGE with
    /// `server_header_transformation: PASS_THROUGH`, after which the header can be removed. `date` always stays.
    ///
    /// # References
    /// Envoy `HttpConnectionManager.server_header_transformation`; tested with Envoy 1.38.2.
    "EF158" "header-set-later" Value Warning => check
}

/// Types with `response_headers_to_add` and `response_headers_to_remove`.
const ROUTES: [&str; 4] = [
    "envoy.config.route.v3.Route",
    "envoy.config.route.v3.RouteConfiguration",
    "envoy.config.route.v3.VirtualHost",
    "envoy.config.route.v3.WeightedCluster.ClusterWeight",
];
const MANAGER: &str = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
const TRANSFORMATION: &str = "server_header_transformation";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let transformed = cx
        .values()
        .iter()
        .flat_map(|value| &value.objects)
        .any(|object| object.full_name() == MANAGER && object.member(TRANSFORMATION).is_some());
    if transformed {
        return;
    }
    let known = PerRun::new();
    for value in cx.values() {
        for object in &value.objects {
            let items = |field: &str| object.member(field).map(|it| it.entry.value.items()).unwrap_or_default();
            let mut found: Vec<(&Node, bool)> = Vec::new();
            if ROUTES.contains(&object.full_name()) {
                found.extend(items("response_headers_to_remove").iter().map(|item| (item, true)));
                found.extend(items("response_headers_to_add").iter().filter_map(|item| Some((key(item)?, false))));
            } else if object.full_name() == header_options::MUTATIONS {
                for item in items("response_mutations") {
                    found.extend(get(item, "remove").map(|name| (name, true)));
                    found.extend(get(item, "append").and_then(key).map(|name| (name, false)));
                }
            }
            for (node, removes) in found {
                let Some(name) = node.as_str() else { continue };
                report(
                    cx,
                    &known,
                    &value.view,
                    name,
                    removes,
                    &mut |message| value.finding(rule, node.span, message),
                    out,
                );
            }
        }
    }
    for script in cx.loadable_scripts() {
        for (one, removes) in &script.uses.answered {
            let view = &script.value.view;
            report(cx, &known, view, one.name, *removes, &mut |message| script.finding(rule, one, message), out);
        }
    }
}

fn report<'a>(
    cx: &Context<'a>,
    known: &PerRun<bool>,
    view: &PatchView<'a>,
    name: &str,
    removes: bool,
    finding: &mut dyn FnMut(String) -> Finding,
    out: &mut Findings,
) {
    let server = name.eq_ignore_ascii_case("server");
    if !(server || (removes && name.eq_ignore_ascii_case("date"))) {
        return;
    }
    if server && cx.seen(view, |run| *known.of(run.run, any_passes)).is_some() {
        return;
    }
    let message = if removes {
        format!("`{name}` stays: Envoy writes it after all filters and routes")
    } else {
        format!("`{name}` keeps Envoy's value, which is written after all filters and routes")
    };
    out.push(
        finding(message)
            .label("without effect")
            .snippet(if server {
                "NETWORK_FILTER MERGE into the connection manager: server_header_transformation: PASS_THROUGH\nor, without an EnvoyFilter, the proxy configuration: proxyHeaders: {server: {disabled: true}}"
            } else {
                "remove this line: responses always have a date"
            }),
    );
}

/// Whether a connection manager of a proxy leaves the header alone.
fn any_passes(run: &ProxyRun<'_>) -> bool {
    run.listeners_after().values().any(|listener| passes(listener))
}

/// The key of a header to add.
fn key(item: &Node) -> Option<&Node> {
    get(get(item, "header")?, "key")
}

/// Whether a connection manager of a listener leaves the header alone.
fn passes(tree: &Tree<'_>) -> bool {
    let tree = tree.readable();
    tree.get(TRANSFORMATION).is_some()
        || tree.items().iter().any(passes)
        || tree.entries().iter().any(|(_, value)| passes(value))
}
