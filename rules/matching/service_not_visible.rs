//! EF223: the service that a cluster match names is unknown to the proxy.

use crate::declare_rule;
use crate::engine::trace::Condition;
use crate::lint::{Context, Findings, RuleInfo, clusters, names, no_match, ports};
use crate::model::envoy_filter::{ApplyTo, ObjectMatch, Operation, PatchContext};
use crate::model::inventory::Object;
use crate::source::Severity;
use std::collections::BTreeSet;

declare_rule! {
    /// `cluster.service` that is not a host known to the proxies.
    ///
    /// # What it finds
    /// A service host for which none of the selected proxies has a cluster: not a full host name, unknown, not exported
    /// to the proxy's namespace, or hidden by a Sidecar. With manifests of Services, ServiceEntries and Sidecars, the
    /// finding says which. Without config dumps: short names of Kubernetes Services, such as `cart` or `cart.shop.svc`,
    /// and services whose clusters another patch removes or renames before.
    ///
    /// # Why it matters
    /// The patch does nothing for these proxies.
    ///
    /// # How to fix
    /// Write the full host (`cart.shop.svc.cluster.local`), or make the service visible: `exportTo`, Sidecar egress.
    ///
    /// # References
    /// istiod `pilot/pkg/networking/core/envoyfilter/cluster_patch.go`; Istio's `exportTo` and Sidecar.
    "EF223" "service-not-visible" Matching Error => check
}

/// Short names of Services, which no cluster has in any mesh.
fn short(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches().filter(|view| view.patch.apply_to == ApplyTo::Cluster) {
        let ObjectMatch::Cluster(want) = &view.patch.object else { continue };
        // ADD matches no cluster; a name decides alone; dumps show the existing clusters.
        let adds = view.patch.body.as_ref().is_some_and(|body| body.operation == Operation::Add);
        if adds || !want.name.is_empty() || cx.attaches_to_dump(view.filter_index) {
            continue;
        }
        let Some((full, sure)) = clusters::full_host(cx.inventory, &want.service, &view.filter.namespace) else {
            continue;
        };
        let span = view.value_span(&["match", "cluster", "service"]);
        let finding = view
            .finding(rule, span, format!("`{}` is not the full host of a service", want.service))
            .label("hosts are compared in full")
            .ineffective()
            .likely("clusters of Kubernetes Services have the host `<name>.<namespace>.svc.<cluster domain>`")
            .help(format!("service: {full}"));
        // A ServiceEntry applied later could have this host.
        out.push(if sure { finding } else { finding.severity(Severity::Warning) });
    }
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    short(rule, cx, out);
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
                finding.note("the proxies call this service but do not serve it").help("context: SIDECAR_OUTBOUND");
        } else if let Some(hidden) = hidden(cx, host, &one) {
            finding = finding
                .related(hidden.object.document.key_span(&["metadata".into(), "name".into()]), "the service")
                .note(hidden.reason)
                .help(hidden.help);
        } else if let Some(wildcard) = covering(host, &one.candidates) {
            finding = finding
                .note(format!("its requests go to the cluster of the wildcard host `{wildcard}`"))
                .help(format!("service: \"{wildcard}\""));
        } else if let Some(like) = names::nearest(host, one.candidates.iter().map(String::as_str)) {
            finding = finding.help(format!("service: {like}"));
        } else if one.view.patch.context != PatchContext::SidecarInbound && host.contains('.') {
            finding = finding.help(
                "check the name; if the service exists: its `exportTo`, and the `egress` hosts of the workload's Sidecar",
            );
        }
        out.push(finding);
    }
}

/// The narrowest wildcard host among the candidates that covers a host.
fn covering<'n>(host: &str, candidates: &'n BTreeSet<String>) -> Option<&'n String> {
    let covers = |one: &&String| one.strip_prefix('*').is_some_and(|end| end.len() > 1 && host.ends_with(end));
    candidates.iter().filter(covers).max_by_key(|one| one.len())
}

/// A service that exists but is not visible.
struct Hidden<'c> {
    object: &'c Object,
    reason: String,
    help: String,
}

/// Why an existing service is not visible to the proxies.
fn hidden<'c>(cx: &'c Context<'_>, host: &str, one: &no_match::NoMatch<'_, '_>) -> Option<Hidden<'c>> {
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
        let reason = format!("{what} is exported to `{to}` only, not to namespace `{}`", proxy.namespace);
        return Some(Hidden { object, reason, help: format!("add `{}` to its exportTo", proxy.namespace) });
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
        let hosts = sidecar.egress_hosts.join(", ");
        let reason = format!("{what} is not among the egress hosts of Sidecar {by}: {hosts}");
        Hidden {
            object,
            reason,
            help: format!("add `{}/{host}` to the egress hosts of Sidecar {by}", object.namespace),
        }
    })
}
