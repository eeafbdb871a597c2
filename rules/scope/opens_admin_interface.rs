//! EF512: a cluster that reaches the proxy's admin interface.

use crate::declare_rule;
use crate::lint::value::{Object, PatchValue};
use crate::lint::{Context, Findings, RuleInfo, walk};
use crate::source::{Node, NodeValue};

declare_rule! {
    /// A cluster that reaches the proxy's admin interface.
    ///
    /// # What it finds
    /// A socket address with port 15000 on the loopback interface in a value: a cluster, and thus a route, to Envoy's
    /// admin interface. A route or TCP proxy to the cluster of that interface in every proxy, `prometheus_stats`, or to that of
    /// Istio's agent, `agent`, by which clients reach more than metrics or the state of the proxy.
    ///
    /// # Why it matters
    /// The admin interface has no authentication: `/config_dump` shows the whole configuration, `/quitquitquit` stops
    /// the proxy, and so does `/quitquitquit` of the agent, which trusts connections from the pod.
    ///
    /// # How to fix
    /// Use `istioctl proxy-config` or the metrics port 15090 (15020 merged).
    ///
    /// # References
    /// Envoy: administration interface; Istio: ports used by sidecars, `envoy_bootstrap.json`, `handleQuit` of pilot-agent.
    "EF512" "opens-admin-interface" Scope Warning => check
}

/// Clusters of every proxy behind which more than metrics is served: what it is, and paths that no client may reach.
const BEHIND: [(&str, &str, &[&str]); 2] = [
    (
        "prometheus_stats",
        "the proxy's admin interface",
        &[
            "/certs",
            "/clusters",
            "/config_dump",
            "/drain_listeners",
            "/healthcheck/fail",
            "/init_dump",
            "/listeners",
            "/logging",
            "/quitquitquit",
            "/reset_counters",
            "/runtime_modify",
            "/tap",
        ],
    ),
    ("agent", "Istio's agent", &["/debug/", "/drain", "/quitquitquit"]),
];

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    addresses(rule, cx, out);
    for value in cx.values() {
        for object in &value.objects {
            if let Some(Opened { cluster, name, matched }) = opened(value, object) {
                let finding = value
                    .finding(rule, cluster.span, format!("clients reach {name} by this cluster"))
                    .label("no authentication")
                    .note("`/quitquitquit` there stops the proxy")
                    .help("match only the path of the metrics (`path: /stats/prometheus`), or scrape them from port 15090 or 15020");
                out.push(if matched { finding } else { finding.likely("the route keeps the match that it has") });
            }
        }
    }
}

/// A route or TCP proxy by which clients reach an interface.
struct Opened<'v> {
    cluster: &'v Node,
    /// Of the interface.
    name: &'static str,
    /// Whether the patch says which requests take it.
    matched: bool,
}

fn opened<'v>(value: &PatchValue<'v>, object: &Object<'v>) -> Option<Opened<'v>> {
    let cluster = &object.member("cluster")?.entry.value;
    let (_, name, paths) = BEHIND.iter().find(|(known, ..)| cluster.as_str() == Some(known))?;
    let mut matched = true;
    let reaches = match object.short_name() {
        "TcpProxy" => true,
        "RouteAction" => {
            let above = object.parent.and_then(|(at, _)| value.objects.get(at));
            let wanted = above.and_then(|route| route.member("match")).map(|member| &member.entry.value);
            matched = wanted.is_some();
            let rewrite = object.member("prefix_rewrite").and_then(|member| member.entry.value.as_str());
            // Of other rewrites, the result is unknown.
            let unknown =
                ["regex_rewrite", "path_rewrite_policy", "path_rewrite"].iter().any(|key| object.member(key).is_some());
            !unknown && reaches(wanted, rewrite, paths)
        }
        _ => false,
    };
    reaches.then_some(Opened { cluster, name, matched })
}

/// Whether requests that a route matches can have one of the paths, after its rewrite.
fn reaches(wanted: Option<&Node>, rewrite: Option<&str>, paths: &[&str]) -> bool {
    let of = |key: &str| wanted.and_then(|wanted| walk::get(wanted, key)).and_then(Node::as_str);
    let prefix = of("prefix").or_else(|| of("path_separated_prefix"));
    let exact = of("path");
    // A merge into a route keeps the match of that, mostly of all paths.
    let any = if wanted.is_none() { Some("/") } else { None };
    if let Some(path) = exact {
        let path = rewrite.unwrap_or(path);
        return paths.iter().any(|one| path.starts_with(one));
    }
    let Some(prefix) = prefix.or(any) else { return false };
    let prefix = rewrite.unwrap_or(prefix);
    paths.iter().any(|one| one.starts_with(prefix) || prefix.starts_with(one))
}

/// Addresses of the admin interface.
fn addresses(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let Some(value) = view.patch.body.as_ref().and_then(|body| body.value.as_ref()) else { continue };
        walk::fields(value, &mut |field| {
            if !field.is("socket_address") {
                return;
            }
            let port = walk::get(field.node, "port_value").is_some_and(|node| match &node.value {
                NodeValue::Number(text) | NodeValue::String(text) => text == "15000",
                _ => false,
            });
            let address = walk::get(field.node, "address").and_then(Node::as_str).unwrap_or_default();
            if port && ["127.0.0.1", "localhost", "::1"].contains(&address) {
                out.push(
                    view.finding(
                        rule,
                        view.value_route_span(&field.route()),
                        "this address is the proxy's admin interface",
                    )
                    .label("no authentication")
                    .note("a route to it shows the whole configuration and lets callers stop the proxy")
                    .help("scrape metrics from port 15090, or 15020 to include those of the application"),
                );
            }
        });
    }
}
