//! EF191: connections from the client's address, for which the proxy has no right.

use crate::declare_rule;
use crate::lint::context::PatchRun;
use crate::lint::{Context, Findings, Knowledge, RuleInfo};
use crate::model::inventory::Workload;
use crate::model::proxy::{Proxy, ProxyKind};

declare_rule! {
    /// A filter that connects with the client's address, in a proxy without the right to do so.
    ///
    /// # What it finds
    /// An `original_src` listener or HTTP filter inserted into a proxy that does not intercept with TPROXY, by its node metadata
    /// `INTERCEPTION_MODE` or, without a config dump, by the annotation `sidecar.istio.io/interceptionMode` of the given workloads,
    /// and to whose container `istio-proxy` no given workload adds NET_ADMIN or NET_RAW, or only for a user other than root.
    ///
    /// # Why it matters
    /// Binding to the address of another host needs the capability NET_ADMIN. Istio gives it to a sidecar only with TPROXY; the proxies
    /// of other sidecars, gateways and waypoints drop all capabilities. A capability that a pod adds is not effective for the user
    /// 1337, as which proxies run. Every connection to the workload is then closed.
    ///
    /// # How to fix
    /// Annotate the pods with `sidecar.istio.io/interceptionMode: TPROXY`: istiod then generates the filter itself. A container with
    /// the capability also needs `runAsUser: 0` and `runAsNonRoot: false`. Behind a gateway, read X-Forwarded-For.
    ///
    /// # References
    /// Istio's injection template (`securityContext`); Envoy 1.36.4 and 1.40.0, run with and without the capability, as root and as user 1337.
    "EF191" "source-address-not-permitted" Value Warning => check
}

/// The filters, by their types.
const FILTERS: [&str; 2] = [
    "envoy.extensions.filters.listener.original_src.v3.OriginalSrc",
    "envoy.extensions.filters.http.original_src.v3.OriginalSrc",
];

/// How a sidecar with the capability intercepts.
const TRANSPARENT: &str = "TPROXY";

/// What to do for a sidecar.
const TRANSPARENTLY: &str =
    "annotate the pods: `sidecar.istio.io/interceptionMode: TPROXY`; istiod then generates this filter itself";

/// The same for other proxies, which are always addressed themselves.
const BY_HEADER: &str = "remove the patch: applications get the client's address in X-Forwarded-For";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let annotated = |key: &str| {
        let modes = cx.inventory.workloads.iter().filter_map(|workload| workload.annotations.get(key));
        modes.into_iter().any(|mode| mode == TRANSPARENT)
    };
    let transparent = annotated("sidecar.istio.io/interceptionMode");
    let all = cx.inventory.workloads.iter().map(AsRef::as_ref);
    let (capable, powerless): (Vec<&Workload>, Vec<&Workload>) =
        all.filter(|workload| has_capability(workload)).partition(|workload| may_use_it(workload));
    for value in cx.values() {
        let filter = value.objects.iter().find(|object| FILTERS.contains(&object.full_name()) && !object.is_off);
        let Some(filter) = filter else { continue };
        let forbidden = |run: &PatchRun<'_, '_>| {
            let mode = run.run.config.proxy.metadata.get("INTERCEPTION_MODE").and_then(serde_json::Value::as_str);
            let permitted = match run.run.knowledge {
                Knowledge::Dump => {
                    mode == Some(TRANSPARENT) || capable.iter().any(|one| runs(one, &run.run.config.proxy))
                }
                Knowledge::Reference => transparent || !capable.is_empty(),
            };
            run.changes() && !permitted
        };
        let Some(seen) = cx.seen(&value.view, forbidden) else { continue };
        let finding = value
            .finding(rule, filter.span, "the proxy may not connect with the client's address")
            .label("needs the capability NET_ADMIN")
            .note("without it every connection that passes this filter is closed")
            .note("Istio adds the capability to a sidecar only with interceptionMode TPROXY")
            .likely("a template of your own may add the capability");
        let proxy = seen.runs.first().map(|run| &run.run.config.proxy);
        let sidecar = proxy.is_none_or(|proxy| proxy.kind == ProxyKind::Sidecar);
        let added = powerless.iter().find(|one| !seen.certain() || proxy.is_some_and(|proxy| runs(one, proxy)));
        let finding = match added.and_then(|one| Some((one, one.injection.proxy_user?))) {
            Some((one, user)) => finding
                .note(format!(
                    "{} adds it, but the container runs as user {user}, and only root can use it",
                    named(one)
                ))
                .help("securityContext of the container istio-proxy: runAsUser: 0, runAsNonRoot: false"),
            None => finding.help(if sidecar { TRANSPARENTLY } else { BY_HEADER }),
        };
        out.push(seen.tell(finding));
    }
}

/// Whether the container of a workload's proxy gets a right to bind to addresses of others.
fn has_capability(workload: &Workload) -> bool {
    let added = &workload.injection.proxy_capabilities;
    added.iter().any(|name| matches!(name.as_str(), "NET_ADMIN" | "NET_RAW" | "ALL"))
}

/// Whether the proxy's user can use a capability that was added: container runtimes make it effective for root alone. Of a
/// container with an image of its own, the user may be unknown.
fn may_use_it(workload: &Workload) -> bool {
    workload.injection.proxy_user.is_none_or(|user| user == 0)
}

/// Whether a proxy belongs to the pods of a workload: it has their labels, and those that are added to every pod.
fn runs(workload: &Workload, proxy: &Proxy) -> bool {
    let labels = &workload.labels;
    let has = |(key, value): (&String, &String)| proxy.labels.get(key) == Some(value);
    workload.object.namespace == proxy.namespace && !labels.is_empty() && labels.iter().all(has)
}

fn named(workload: &Workload) -> String {
    let object = &workload.object;
    format!("{} {}/{}", object.kind, object.namespace, object.name)
}
