//! EF390: virtual hosts that two route configurations share, and that istiod patches twice.

use crate::declare_rule;
use crate::engine::trace::{Effect, Place};
use crate::lint::context::{PatchRun, ProxyRun};
use crate::lint::{Confidence, Context, Finding, Findings, Knowledge, PatchView, RuleInfo};
use crate::model::envoy_filter::ApplyTo;
use crate::model::proxy::ProxyKind;
use crate::model::resource::ResourceKind;
use crate::proto::merge::ChangeKind;
use crate::proto::tree::{Tree, Value};
use std::collections::{BTreeMap, BTreeSet};

declare_rule! {
    /// A patch of virtual hosts that istiod puts into two route configurations, and may patch twice.
    ///
    /// # What it finds
    /// On a sidecar, a VIRTUAL_HOST or HTTP_ROUTE patch that inserts or appends something in the route configuration of
    /// a port (`8090`) for a host that also has its own route configuration (`tug.quay.svc.cluster.local:8090`),
    /// because a service on that port has no named protocol.
    ///
    /// # Why it matters
    /// istiod builds the virtual hosts of a port once per request. If the proxy requests the port before the host, the
    /// host gets virtual hosts that are already patched, and they are patched again: routes and header rules occur
    /// twice, and a patch for the port alone reaches the host too. The order varies from push to push.
    ///
    /// # How to fix
    /// Name the protocol of the service's port (`name: http-…` or `appProtocol`), so that the host does not get its own
    /// route configuration.
    ///
    /// # References
    /// istiod `pilot/pkg/networking/core/httproute.go` (`vHostCache`), releases 1.22 to 1.31; recorded
    /// (testdata/reference/harbor, `edge-sniffed-…`).
    "EF390" "sniffed-route-patched-twice" Operation Warning => check,
    needs: &[Dump]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let patches_hosts = |view: &PatchView<'_>| matches!(view.patch.apply_to, ApplyTo::VirtualHost | ApplyTo::HttpRoute);
    if !cx.patches().any(|view| patches_hosts(&view)) {
        return;
    }
    let sniffed: Vec<Sniffed> = cx.runs.iter().map(of_run).collect();
    if sniffed.iter().all(BTreeMap::is_empty) {
        return;
    }
    for view in cx.patches() {
        if !patches_hosts(&view) {
            continue;
        }
        let met = cx.on_proxies(view.filter_index, view.patch.index);
        let hit: Vec<(PatchRun<'_, '_>, &Place, &str)> = met
            .filter_map(|met| {
                let number = cx.runs.iter().position(|run| std::ptr::eq(run, met.run))?;
                let (place, name) = met.trace.effects.iter().find_map(|(place, effect)| {
                    let hosts = sniffed[number].get(&*place.resource).filter(|_| repeats(effect))?;
                    let vhost = place.vhost.as_deref()?;
                    Some((place, hosts.iter().find(|(_, vhosts)| vhosts.contains(vhost))?.0.as_str()))
                })?;
                Some((met, place, name))
            })
            .collect();
        let Some((_, place, name)) = hit.first() else { continue };
        let vhost = place.vhost.as_deref().unwrap_or_default();
        let message = format!(
            "istiod may apply this twice to virtual host {vhost}: route configurations {} and {name} share it",
            place.resource
        );
        let real = hit.iter().any(|(met, ..)| met.run.knowledge == Knowledge::Dump);
        let finding = Finding::new(rule, view.value_span(&["applyTo"]), message)
            .of(view.filter, Some(view.patch.index))
            .label("patches a shared virtual host")
            .note(format!(
                "if the proxy requests {} before {name}, the second gets virtual hosts that are already patched; the order varies from push to push",
                place.resource
            ))
            .help("name the protocol of the service's port (`http-…` or `appProtocol`), so that istiod does not sniff it");
        out.push(if real {
            finding.workloads(hit.iter().map(|(met, ..)| met.run.label().to_owned()))
        } else {
            finding.confidence(Confidence::Likely)
        });
    }
}

/// Whether applying it twice gives a different result than applying it once.
fn repeats(effect: &Effect) -> bool {
    match effect {
        Effect::Inserted { .. } => true,
        Effect::Merged(changes) => changes.iter().any(|change| {
            matches!(change.kind, ChangeKind::Appended)
                || (change.kind == ChangeKind::Set && change.after.as_ref().is_some_and(is_list))
        }),
        _ => false,
    }
}

fn is_list(value: &Tree<'_>) -> bool {
    matches!(value.readable().value, Value::List(_) | Value::EmptyList)
}

/// By the route configuration of a port: those of individual hosts on that port, each with its virtual hosts.
type Sniffed = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

fn of_run(run: &ProxyRun<'_>) -> Sniffed {
    let mut found = Sniffed::new();
    if run.config.proxy.kind != ProxyKind::Sidecar {
        return found;
    }
    for (_, resource) in run.config.generated(ResourceKind::Route) {
        let Some((host, port)) = resource.name.rsplit_once(':') else { continue };
        if host.is_empty() || resource.name.starts_with("unix:") || port.parse::<u16>().is_err() {
            continue;
        }
        let Some(routes) = run.before(ResourceKind::Route, &resource.name) else { continue };
        let vhosts = routes.get("virtual_hosts").map(Tree::items).unwrap_or_default();
        let vhosts = vhosts.iter().map(|vhost| vhost.name().to_owned()).collect();
        found.entry(port.to_owned()).or_default().insert(resource.name.to_string(), vhosts);
    }
    found
}
