//! EF211: no listener or inbound filter chain has that port.

use crate::declare_rule;
use crate::engine::matching::{INBOUND_CAPTURE, parse_subset_key};
use crate::engine::trace::Condition;
use crate::lint::context::{PatchRun, PatchView};
use crate::lint::{Context, Edit, Findings, RuleInfo, no_match, ports};
use crate::model::envoy_filter::{ApplyTo, ObjectMatch, Operation, PatchContext};
use crate::model::proxy::ProxyKind;
use crate::model::resource::ResourceKind;
use crate::proto::tree::Tree;
use crate::source::escape::one_line;
use std::collections::BTreeSet;

declare_rule! {
    /// `match.listener.portNumber` that no listener and no inbound filter chain has.
    ///
    /// # What it finds
    /// A port that none of the selected proxies listens on in the patch's context, typically the port of a Service
    /// where the container port (`targetPort`) is compared.
    /// Without config dumps: one whose listener another patch removes, ports of services in patches that apply to
    /// waypoints only, and other ports than 15006 in LISTENER patches of sidecars' inbound listeners.
    ///
    /// # Why it matters
    /// The patch does nothing. Inbound traffic of a sidecar is matched by the container port; listeners of a gateway
    /// also have the container port of the gateway (8080 behind a Service's 80). Only outbound listeners have the
    /// Service's port. A sidecar has one inbound listener, `virtualInbound` on port 15006, with filter chains for the
    /// ports of the containers: LISTENER patches compare `portNumber` with 15006, other patches with the filter chains.
    ///
    /// # How to fix
    /// Write the target port.
    ///
    /// # References
    /// istio/istio#30191, istio/istio.io#13169; istiod `pilot/pkg/networking/core/envoyfilter/listener_patch.go`.
    "EF211" "listener-port-not-found" Matching Error => check,
    fixes: true
}

/// Ports of the Services of Istio's own gateways, and their container ports.
pub(super) const USUAL: [(u32, u32); 2] = [(80, 8080), (443, 8443)];

/// The only port that a listener of a waypoint has: HBONE.
const HBONE: u32 = 15008;

/// Words for a patch that matches a service of a waypoint by port.
const OF_WAYPOINT: &str =
    "no port selects a service of a waypoint: they are all filter chains of `main_internal`, which has no port";

/// Why a LISTENER patch finds no port of a workload.
const OF_SIDECAR: &str = "the inbound traffic of all ports goes through one listener, `virtualInbound` on port 15006, and LISTENER \
                          patches compare `portNumber` with that port";

/// What to write instead of a container's port in a LISTENER patch.
const BY_KIND: &str = "omit `portNumber` to patch this listener for all ports; for one port, patch FILTER_CHAIN, NETWORK_FILTER or \
                       HTTP_FILTER, which compare `portNumber` with the filter chains";

/// A container's port in a LISTENER patch for inbound listeners of sidecars.
fn of_container(view: &PatchView<'_>) -> Option<u32> {
    let ObjectMatch::Listener(want) = &view.patch.object else { return None };
    let adds = view.built.is_none_or(|built| built.operation == Operation::Add);
    let inbound = view.patch.apply_to == ApplyTo::Listener && view.patch.context == PatchContext::SidecarInbound;
    (inbound && !adds && !matches!(want.port_number, 0 | INBOUND_CAPTURE)).then_some(want.port_number)
}

/// Ports of containers in LISTENER patches of sidecars without a dump.
fn only_sidecars(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches().filter(|view| !cx.attaches_to_dump(view.filter_index)) {
        let Some(port) = of_container(&view) else { continue };
        let mut runs = cx.on_proxies(view.filter_index, view.patch.index).filter(PatchRun::runs).peekable();
        if runs.peek().is_none() || !runs.all(|run| run.run.config.proxy.kind == ProxyKind::Sidecar) {
            continue;
        }
        // Without capture, each of them is a listener.
        if cx.inventory.sidecars.iter().any(|sidecar| sidecar.ingress_ports.contains(&port)) {
            continue;
        }
        let message = format!("no inbound listener of a sidecar has port {port}");
        out.push(
            view.finding(rule, view.value_span(&["match", "listener", "portNumber"]), message)
                .label("the match fails here")
                .ineffective()
                .likely("only a sidecar that captures no traffic (`interceptionMode: NONE`) listens on the ports of its containers")
                .note(OF_SIDECAR)
                .help(BY_KIND),
        );
    }
}

/// Ports in patches that apply to waypoints only.
fn only_waypoints(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches().filter(|view| !cx.attaches_to_dump(view.filter_index)) {
        let ObjectMatch::Listener(want) = &view.patch.object else { continue };
        let adds = view.built.is_some_and(|built| built.operation == Operation::Add);
        if matches!(want.port_number, 0 | HBONE) || (view.patch.apply_to == ApplyTo::Listener && adds) {
            continue;
        }
        let runs = || cx.on_proxies(view.filter_index, view.patch.index).filter(PatchRun::runs);
        if runs().next().is_none() || !runs().all(|run| run.run.config.proxy.kind == ProxyKind::Waypoint) {
            continue;
        }
        let message = format!("no listener of a waypoint has port {}", want.port_number);
        let name = format!("inbound-vip|{}|http|<host of the service>", want.port_number);
        out.push(
            view.finding(rule, view.value_span(&["match", "listener", "portNumber"]), message)
                .label("the match fails here")
                .ineffective()
                .note(OF_WAYPOINT)
                .snippet(by_chain(&name)),
        );
    }
}

/// What to write instead of a port.
fn by_chain(name: &str) -> String {
    format!("match the service's filter chain instead of `portNumber`:\nfilterChain:\n  name: \"{}\"", one_line(name))
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    only_waypoints(rule, cx, out);
    only_sidecars(rule, cx, out);
    for mut one in no_match::at(cx, &[Condition::ListenerPort, Condition::ChainPort]) {
        let ObjectMatch::Listener(want) = &one.view.patch.object else { continue };
        let context = one.view.patch.context;
        let what = match (one.nearest, context) {
            (Some(Condition::ChainPort), PatchContext::SidecarInbound) if one.candidates.len() <= one.objects => {
                "inbound filter chain"
            }
            // Listeners and filter chains were compared: the finding names what they have in common.
            (Some(Condition::ChainPort), _) => {
                one.objects = one.candidates.len();
                "port"
            }
            _ => "listener",
        };
        let mut finding =
            one.finding(cx, rule, what, format!("nothing listens on port {} in context {context}", want.port_number));
        if one.runs.iter().all(|run| run.config.proxy.kind == ProxyKind::Waypoint) {
            let chain = chain_of_port(&one, want.port_number);
            let name = chain.unwrap_or_else(|| format!("inbound-vip|{}|http|<host of the service>", want.port_number));
            out.push(finding.note(OF_WAYPOINT).snippet(by_chain(&name)));
            continue;
        }
        let mut pairs: BTreeSet<ports::PortPair> = BTreeSet::new();
        if context != PatchContext::SidecarOutbound {
            let of_runs = one.runs.iter().flat_map(|run| ports::of_workload(cx, run));
            pairs.extend(of_runs.filter(|pair| pair.port == want.port_number && pair.target != pair.port));
            pairs.retain(|pair| one.candidates.contains(&pair.target.to_string()));
        }
        if let Some(port) = of_sidecar(&one, want.port_number).filter(|_| context == PatchContext::SidecarInbound) {
            out.push(
                finding
                    .note(format!(
                        "{} is where the Sidecar's listener on {port} forwards to; without capture, that listener's own port is matched",
                        want.port_number
                    ))
                    .help(format!("portNumber: {port}")),
            );
            continue;
        }
        let alone = one.candidates.len() == 1 && one.candidates.contains(&INBOUND_CAPTURE.to_string());
        if alone && of_container(&one.view).is_some() {
            out.push(finding.note(OF_SIDECAR).help(BY_KIND));
            continue;
        }
        let usual = USUAL.iter().find(|(port, target)| {
            pairs.is_empty() && *port == want.port_number && one.candidates.contains(&target.to_string())
        });
        if let Some((port, target)) = usual.filter(|_| context == PatchContext::Gateway) {
            finding = finding
                .note(format!("this match compares the container port: Istio's gateways listen on {target} for port {port} of their Service"))
                .help(format!("portNumber: {target}"));
        }
        let targets: BTreeSet<u32> = pairs.iter().map(|pair| pair.target).collect();
        if let Some(pair) = pairs.first() {
            let service =
                if pair.service.is_empty() { "the service".to_owned() } else { format!("service {}", pair.service) };
            finding = finding.note(format!(
                "{} is a port of {service}; this match compares the container port, which is {}",
                want.port_number, pair.target
            ));
            finding = finding.help(format!("portNumber: {}", pair.target));
        }
        if targets.len() == 1 {
            let text = targets.first().map(ToString::to_string).unwrap_or_default();
            finding = finding.fix("write the target port", true, vec![Edit { span: one.span(), text }]);
        }
        out.push(finding);
    }
}

/// The port of a Sidecar's own inbound listener that forwards to a port of the application.
fn of_sidecar(one: &no_match::NoMatch<'_, '_>, port: u32) -> Option<u32> {
    one.runs.iter().find_map(|run| {
        let names: Vec<&str> = run.config.generated(ResourceKind::Cluster).map(|(_, cluster)| &*cluster.name).collect();
        names.into_iter().find_map(|name| {
            let key = parse_subset_key(name);
            if key.direction != "inbound" || key.port == port || !one.candidates.contains(&key.port.to_string()) {
                return None;
            }
            let cluster = run.before(ResourceKind::Cluster, name)?;
            let endpoints = cluster.path(&["load_assignment", "endpoints"])?.items().iter();
            let endpoints = endpoints.filter_map(|locality| locality.get("lb_endpoints")).flat_map(Tree::items);
            let to = endpoints.filter_map(|one| one.path(&["endpoint", "address", "socket_address", "port_value"]));
            to.into_iter().any(|to| to.as_str() == Some(port.to_string().as_str())).then_some(key.port)
        })
    })
}

/// The filter chain of a waypoint for a port of a service.
fn chain_of_port(one: &no_match::NoMatch<'_, '_>, port: u32) -> Option<String> {
    let start = format!("inbound-vip|{port}|");
    one.runs.iter().find_map(|run| {
        let listeners = run.listeners_after();
        let chains =
            listeners.values().flat_map(|listener| listener.get("filter_chains").map(Tree::items).unwrap_or_default());
        let mut names = chains.map(Tree::name).filter(|name| name.starts_with(&start));
        names.next().map(str::to_owned)
    })
}
