//! EF223: the service that a cluster match names is unknown to the proxy.

use crate::declare_rule;
use crate::engine::trace::Condition;
use crate::lint::{Context, Findings, RuleInfo, names, no_match, ports};
use crate::model::envoy_filter::{ObjectMatch, PatchContext};
use crate::model::inventory::Object;

declare_rule! {
    /// `cluster.service` that is not a host known to the proxies.
    ///
    /// # What it finds
    /// A service host for which none of the selected proxies has a cluster: not a full host name, unknown, not exported to
    /// the proxy's namespace, or hidden by a Sidecar. Needs config dumps; with manifests of Services, ServiceEntries and
    /// Sidecars it says which.
    ///
    /// # Why it matters
    /// The patch does nothing for these proxies.
    ///
    /// # How to fix
    /// Write the full host (`cart.shop.svc.cluster.local`), or make the service visible: `exportTo`, Sidecar egress.
    ///
    /// # References
    /// istiod `pilot/pkg/networking/core/envoyfilter/cluster_patch.go`; Istio's `exportTo` and Sidecar.
    "EF223" "service-not-visible" Matching Error => check,
    needs: &[Dump]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for one in no_match::at(cx, &[Condition::Service]) {
        let ObjectMatch::Cluster(want) = &one.view.patch.object else { continue };
        let host = want.service.as_str();
        let mut finding =
            one.finding(cx, rule, "cluster", format!("the selected proxies have no cluster for service `{host}`"));
        let full = one
            .candidates
            .iter()
            .find(|it| it.split('.').next() == Some(host) || it.strip_suffix(".svc.cluster.local") == Some(host));
        let elsewhere = || one.runs.iter().any(|run| ports::outbound_hosts(run).contains(host));
        if let Some(full) = full {
            finding = finding.note("hosts are compared in full").help(format!("service: {full}"));
        } else if one.view.patch.context == PatchContext::SidecarInbound && elsewhere() {
            finding =
                finding.note("the proxies call this service, they do not serve it").help("context: SIDECAR_OUTBOUND");
        } else if let Some((object, reason)) = hidden(cx, host, &one) {
            finding = finding
                .related(object.document.key_span(&["metadata".into(), "name".into()]), "the service")
                .note(reason);
        } else if let Some(like) = names::nearest(host, one.candidates.iter().map(String::as_str)) {
            finding = finding.help(format!("service: {like}"));
        }
        out.push(finding);
    }
}

/// Why a service that exists is not visible to the proxies.
fn hidden<'c>(cx: &'c Context<'_>, host: &str, one: &no_match::NoMatch<'_, '_>) -> Option<(&'c Object, String)> {
    let of_service = |object: &Object| format!("{}.{}.svc.cluster.local", object.name, object.namespace) == host;
    let services =
        cx.inventory.services.iter().filter(|it| of_service(&it.object)).map(|it| (&it.object, &it.export_to));
    let entries = cx
        .inventory
        .service_entries
        .iter()
        .filter(|it| it.hosts.iter().any(|it| it == host))
        .map(|it| (&it.object, &it.export_to));
    let (object, export_to) = services.chain(entries).next()?;
    let proxy = &one.runs.first()?.config.proxy;
    let exported = export_to.is_empty()
        || export_to
            .iter()
            .any(|to| to == "*" || *to == proxy.namespace || (to == "." && object.namespace == proxy.namespace));
    let what = format!("{} {}/{}", object.kind, object.namespace, object.name);
    if !exported {
        let to = export_to.join(", ");
        return Some((object, format!("{what} is exported to `{to}` only, not to namespace `{}`", proxy.namespace)));
    }
    let own = |labels: &crate::model::inventory::Labels| {
        labels.iter().all(|(key, value)| proxy.labels.get(key) == Some(value))
    };
    let mut sidecars =
        cx.inventory.sidecars.iter().filter(|it| it.object.namespace == proxy.namespace && own(&it.selector));
    let sidecar = sidecars.find(|it| !it.egress_hosts.is_empty())?;
    let allows = |pattern: &String| {
        let (namespace, name) = pattern.split_once('/').unwrap_or(("*", pattern));
        (namespace == "*" || namespace == object.namespace || (namespace == "." && object.namespace == proxy.namespace))
            && (name == "*" || name == host || name.strip_prefix('*').is_some_and(|suffix| host.ends_with(suffix)))
    };
    (!sidecar.egress_hosts.iter().any(allows)).then(|| {
        let by = format!("{}/{}", sidecar.object.namespace, sidecar.object.name);
        (object, format!("{what} is not among the egress hosts of Sidecar {by}: {}", sidecar.egress_hosts.join(", ")))
    })
}
