//! EF210: no listener has that name.

use super::listener_port_not_found::USUAL;
use crate::declare_rule;
use crate::engine::matching::{CONNECT_ORIGINATE, VIRTUAL_INBOUND, VIRTUAL_OUTBOUND};
use crate::engine::trace::Condition;
use crate::lint::no_match::NoMatch;
use crate::lint::{Context, Findings, ProxyRun, RuleInfo, no_match};
use crate::model::envoy_filter::{ApplyTo, ObjectMatch, Operation, PatchContext};
use crate::model::proxy::ProxyKind;
use crate::model::resource::ResourceKind;
use std::net::Ipv4Addr;

declare_rule! {
    /// `match.listener.name` that no listener of the context has.
    ///
    /// # What it finds
    /// A listener name that none of the selected proxies has in the patch's context.
    /// Without config dumps: one that another patch removes, or that it renames at the wrong time, names of sidecars'
    /// listeners on a waypoint that `targetRefs` refer to, names of another context, and addresses with a colon.
    ///
    /// # Why it matters
    /// The patch does nothing. Names of outbound listeners contain addresses (`10.1.0.10_9000`) and change with the
    /// cluster; all inbound traffic of a sidecar goes through `virtualInbound`.
    ///
    /// # How to fix
    /// Omit the name and match by `portNumber`, or write a name that exists in this context.
    ///
    /// # References
    /// istiod `pilot/pkg/networking/core/envoyfilter/listener_patch.go`.
    "EF210" "listener-not-found" Matching Error => check
}

/// Addresses in place of names.
fn addresses(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches().filter(|view| !cx.attaches_to_dump(view.filter_index)) {
        let ObjectMatch::Listener(want) = &view.patch.object else { continue };
        // ADD of a listener compares nothing.
        let adds = view.built.is_some_and(|built| built.operation == Operation::Add);
        let compares = !adds || view.patch.apply_to != ApplyTo::Listener;
        let context = view.patch.context;
        let named = matches!(context, PatchContext::Gateway | PatchContext::SidecarOutbound);
        let Some(help) = with_colon(&want.name).filter(|_| named && compares && view.filter.target_refs.is_empty())
        else {
            continue;
        };
        let span = view.value_span(&["match", "listener", "name"]);
        let message = format!("no listener in context {context} is named `{}`", want.name);
        let finding = view.finding(rule, span, message).label("an address, not a name").ineffective();
        out.push(finding.likely("judged by the names that istiod gives; no config dump was given").help(help));
    }
}

/// The name of a listener that is written as an address: `0.0.0.0:8443`.
fn with_colon(name: &str) -> Option<String> {
    let (address, port) = name.rsplit_once(':')?;
    (address.parse::<Ipv4Addr>().is_ok() && port.parse::<u16>().is_ok()).then(|| format!("name: {address}_{port}"))
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    addresses(rule, cx, out);
    for one in no_match::at(cx, &[Condition::ListenerName]) {
        let ObjectMatch::Listener(want) = &one.view.patch.object else { continue };
        let context = one.view.patch.context;
        let has_it = |run: &&ProxyRun<'_>| {
            run.config.generated(ResourceKind::Listener).any(|(_, listener)| listener.name == CONNECT_ORIGINATE)
        };
        if want.name == CONNECT_ORIGINATE && one.runs.iter().any(has_it) {
            out.push(
                one.finding(cx, rule, "listener", format!("no patch reaches listener `{}`", want.name))
                    .note("istiod adds it to sidecars and gateways after all patches; only waypoints have it patched")
                    .help("delete this patch"),
            );
            continue;
        }
        let mut finding =
            one.finding(cx, rule, "listener", format!("no listener in context {context} is named `{}`", want.name));
        let belongs = match want.name.as_str() {
            VIRTUAL_INBOUND => Some("SIDECAR_INBOUND"),
            VIRTUAL_OUTBOUND => Some("SIDECAR_OUTBOUND"),
            _ => None,
        };
        finding = match (belongs, alike(&one, &want.name)) {
            (Some(belongs), _) if context.name() != belongs && context != PatchContext::Any => {
                finding.help(format!("`{}` belongs to context {belongs}", want.name))
            }
            (_, Some(like)) => finding.help(format!("name: {like}")),
            // The requests of a waypoint arrive at this listener, which has no port.
            _ if !one.runs.is_empty() && one.runs.iter().all(|run| run.config.proxy.kind == ProxyKind::Waypoint) => {
                finding.help("name: main_internal")
            }
            _ => finding.help("omit `name` and match by `portNumber`"),
        };
        out.push(finding);
    }
}

/// The existing name that was most likely meant: for `<address>_<port>`, one with the same port, or on a gateway with the
/// container port of that port of its Service.
fn alike<'n>(one: &'n NoMatch<'_, '_>, name: &str) -> Option<&'n str> {
    let port = name.rsplit_once('_').and_then(|(_, port)| port.parse::<u16>().ok());
    let Some(port) = port.map(u32::from) else { return one.like(name) };
    let gateway = one.view.patch.context == PatchContext::Gateway;
    let target = || USUAL.iter().find(|(of_service, _)| gateway && port == *of_service);
    on_port(one, port).or_else(|| on_port(one, target()?.1))
}

/// The only name with a port: with several of them, the address tells nothing.
fn on_port<'n>(one: &'n NoMatch<'_, '_>, port: u32) -> Option<&'n str> {
    let port = port.to_string();
    let mut same = one.candidates.iter().filter(|other| other.rsplit_once('_').is_some_and(|(_, it)| it == port));
    let first = same.next()?;
    same.next().is_none().then_some(first.as_str())
}
