//! EF218: no route configuration has that name or port.

use crate::declare_rule;
use crate::engine::matching::parse_subset_key;
use crate::engine::trace::Condition;
use crate::lint::{Context, Findings, Knowledge, RuleInfo, no_match};
use crate::model::envoy_filter::{ObjectMatch, PatchContext};
use crate::model::resource::ResourceKind;
use crate::source::escape::one_line;
use crate::words::template_in;

declare_rule! {
    /// `routeConfiguration.name` or `portNumber` that no route configuration has.
    ///
    /// # What it finds
    /// A name or port that no route configuration of the selected proxies has in the patch's context. Without config dumps:
    /// names with context SIDECAR_INBOUND that no inbound route configuration can have, and with context SIDECAR_OUTBOUND or GATEWAY
    /// names of another context, of clusters and of virtual hosts.
    ///
    /// # Why it matters
    /// The patch does nothing. Route configurations are named `80` (sidecar, outbound), `inbound|8080||` (inbound, with
    /// the container port), `http.8080` (gateway, with its container port) and `https.443.<port
    /// name>.<gateway>.<namespace>`.
    ///
    /// # How to fix
    /// Write a name or port that exists; `istioctl proxy-config routes` lists them.
    ///
    /// # References
    /// istio/istio#36112; istiod `pilot/pkg/networking/core/envoyfilter/rc_patch.go`.
    "EF218" "route-configuration-not-found" Matching Error => check
}

/// Prefixes of the names of inbound route configurations: on sidecars, and on waypoints.
const INBOUND: [&str; 4] = ["inbound-vip|", "InboundPassthroughCluster", "encap", "default"];

/// Names that no inbound route configuration can have in any mesh.
fn never_inbound(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches().filter(|view| view.patch.context == PatchContext::SidecarInbound) {
        let ObjectMatch::RouteConfiguration(want) = &view.patch.object else { continue };
        let known = want.name.is_empty() || INBOUND.iter().any(|start| want.name.starts_with(start));
        // Of a sidecar: `inbound|<port>||`.
        let parts: Vec<&str> = want.name.split('|').collect();
        let filled_in = || template_in(&want.name).is_some();
        let known =
            known || matches!(&parts[..], ["inbound", port, _, _] if port.parse::<u16>().is_ok()) || filled_in();
        if known || cx.attaches_to_dump(view.filter_index) {
            continue;
        }
        let span = view.value_span(&["match", "routeConfiguration", "name"]);
        let port = want.name.parse::<u16>().map_or("<container port>".to_owned(), |port| port.to_string());
        // The name of a virtual host has the port of the Service, which can be another one.
        let vhost = want.name.starts_with("inbound|http|");
        let help = format!("name: \"inbound|{port}||\"");
        out.push(
            view.finding(rule, span, format!("no inbound route configuration is named `{}`", want.name))
                .label("not a name of the inbound side")
                .ineffective()
                .likely("inbound route configurations are named after the container port, on a waypoint `inbound-vip|<port>|http|<host>`")
                .help(if vhost {
                    format!("{help} # `{}` is the name of a virtual host: vhost.name", one_line(&want.name))
                } else if want.name.starts_with("inbound|") {
                    help
                } else {
                    format!("{help} # or context: SIDECAR_OUTBOUND, for requests that the workload sends")
                }),
        );
    }
}

/// Names that belong to something else in every mesh.
fn never_elsewhere(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches().filter(|view| !cx.attaches_to_dump(view.filter_index)) {
        let ObjectMatch::RouteConfiguration(want) = &view.patch.object else { continue };
        let (name, context) = (want.name.as_str(), view.patch.context);
        let found = match context {
            PatchContext::SidecarOutbound => not_outbound(name),
            PatchContext::Gateway => not_of_a_gateway(name),
            _ => None,
        };
        let Some((why, help)) = found.filter(|_| template_in(name).is_none()) else { continue };
        let span = view.value_span(&["match", "routeConfiguration", "name"]);
        out.push(
            view.finding(
                rule,
                span,
                format!("no route configuration of context {context} is named `{}`", one_line(name)),
            )
            .label(why)
            .ineffective()
            .likely("judged by the names that istiod gives; no config dump was given")
            .snippet(help),
        );
    }
}

/// What a name is if it is that of no route configuration for requests that a workload sends, and what to write.
fn not_outbound(name: &str) -> Option<(&'static str, String)> {
    if let Some(rest) = name.strip_prefix("http.").filter(|rest| rest.parse::<u16>().is_ok()) {
        let help = format!("context: GATEWAY\nor, for requests that workloads send to this port:\nname: \"{rest}\"");
        return Some(("a name of a gateway", help));
    }
    if of_server(name).is_some() {
        return Some(("a name of a gateway", "context: GATEWAY".to_owned()));
    }
    if name.ends_with(".svc.cluster.local") && !name.contains('|') {
        let help = "portNumber: <port>\nvhost:\n  name: <host>:<port>".replace("<host>", &one_line(name));
        return Some(("a host, not a route configuration", help));
    }
    of_cluster(name)
}

/// The same for the routes of a gateway.
fn not_of_a_gateway(name: &str) -> Option<(&'static str, String)> {
    if name.parse::<u16>().is_ok() {
        let help = format!("portNumber: {name} # the port of the Gateway's server\nor name: http.<container port>");
        return Some(("a name of the outbound side of sidecars", help));
    }
    if let Some(segments) = of_server(name)
        && segments < 5
    {
        return Some(("not the whole name", "name: https.<port>.<port name>.<gateway>.<namespace>".to_owned()));
    }
    let of_host = name.rsplit_once(':').filter(|(host, port)| host.contains('.') && port.parse::<u16>().is_ok());
    if of_host.is_some() && !name.starts_with("http") {
        return Some(("a name of a virtual host", format!("vhost:\n  name: {}", one_line(name))));
    }
    of_cluster(name)
}

/// The number of segments of `https.<port>.<port name>.<gateway>.<namespace>`.
fn of_server(name: &str) -> Option<usize> {
    let mut segments = name.split('.');
    (segments.next() == Some("https") && segments.next()?.parse::<u16>().is_ok()).then(|| name.split('.').count())
}

fn of_cluster(name: &str) -> Option<(&'static str, String)> {
    if name.starts_with("inbound|") {
        return Some(("a name of the inbound side", "context: SIDECAR_INBOUND".to_owned()));
    }
    let port = parse_subset_key(name).port;
    (name.starts_with("outbound|") && port != 0).then(|| ("a name of a cluster", format!("portNumber: {port}")))
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    never_inbound(rule, cx, out);
    never_elsewhere(rule, cx, out);
    for one in no_match::at(cx, &[Condition::RouteConfigurationName, Condition::RoutePort]) {
        let ObjectMatch::RouteConfiguration(want) = &one.view.patch.object else { continue };
        let context = one.view.patch.context;
        if one.nearest == Some(Condition::RoutePort) {
            let message = format!("no route configuration of context {context} is for port {}", want.port_number);
            // HTTP servers of a port share one, in which no server is named.
            let shared = format!("http.{}", want.port_number);
            let named = [("gateway", &want.gateway), ("portName", &want.port_name)];
            let named = named.into_iter().filter(|(_, value)| !value.is_empty()).map(|(field, _)| field);
            let named = named.collect::<Vec<_>>().join("` and `");
            if context == PatchContext::Gateway && !named.is_empty() && is_a_route(cx, &shared) {
                out.push(
                    one.finding(cx, rule, "route configuration", format!("{message} and has this `{named}`"))
                        .note(format!("HTTP servers share the route configuration `{shared}`, which has neither portName nor gateway"))
                        .help(format!("omit `{named}`, and match hosts with `vhost.name` (`<host>:<port>`)")),
                );
                continue;
            }
            let finding = one.finding(cx, rule, "route configuration", message);
            out.push(if context == PatchContext::SidecarInbound {
                finding.help("inbound route configurations have the container port, not the Service port")
            } else if context == PatchContext::Gateway && is_a_route(cx, &shared) {
                // Its name has the port of the pod, the match that of the server.
                finding.snippet(format!("portNumber: <port of the Gateway's server>\nor name: {}", one_line(&shared)))
            } else if context == PatchContext::Gateway {
                finding.help("routes of a gateway have the port of the Gateway's server, not that of the pod")
            } else {
                finding
            });
            continue;
        }
        let message = format!("no route configuration of context {context} is named `{}`", want.name);
        let finding = one.finding(cx, rule, "route configuration", message);
        let outbound = parse_subset_key(&want.name);
        out.push(match one.like(&want.name) {
            Some(like) => finding.help(format!("name: \"{like}\"")),
            None if want.name.starts_with("inbound") && context != PatchContext::SidecarInbound => {
                finding.help("`inbound|…` belongs to context SIDECAR_INBOUND")
            }
            None if outbound.port != 0 => finding.snippet(format!(
                "`{}` is the name of a cluster; match the route configuration by port:\nportNumber: {}",
                one_line(&want.name),
                outbound.port
            )),
            None if context == PatchContext::SidecarInbound => finding.help(
                "inbound route configurations are named after the container port: \"inbound|<container port>||\"",
            ),
            None => finding,
        });
    }
}

/// Whether a config dump has this route configuration.
fn is_a_route(cx: &Context<'_>, name: &str) -> bool {
    let mut dumps = cx.runs.iter().filter(|run| run.knowledge == Knowledge::Dump);
    dumps.any(|run| run.config.of_kind(ResourceKind::Route).any(|route| route.name == name))
}
