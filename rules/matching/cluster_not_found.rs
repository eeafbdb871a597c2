//! EF222: no cluster has that name, subset or port.

use crate::declare_rule;
use crate::engine::matching::parse_subset_key;
use crate::engine::trace::Condition;
use crate::lint::facts::destination::{NoSubset, no_subset};
use crate::lint::no_match::NoMatch;
use crate::lint::{Context, Finding, Findings, RuleInfo, no_match};
use crate::model::envoy_filter::{ApplyTo, ClusterMatch, ObjectMatch, PatchContext};
use crate::model::inventory::{Service, ServicePort, TargetPort};
use std::cell::LazyCell;
use std::sync::Arc;

declare_rule! {
    /// `cluster.name`, `subset` or `portNumber` that no cluster has.
    ///
    /// # What it finds
    /// A cluster that none of the selected proxies has in the patch's context. With DestinationRules in the input, it
    /// names the one that hides the subset. Without config dumps: one that another patch removes, or renames at the
    /// wrong time.
    ///
    /// # Why it matters
    /// The patch does nothing. Clusters are named `outbound|<port>|<subset>|<host>` and `inbound|<container port>||`; a
    /// subset exists only with a DestinationRule that the proxy sees.
    ///
    /// # How to fix
    /// Write an existing value; `istioctl proxy-config clusters` lists them.
    ///
    /// # References
    /// istiod `pilot/pkg/networking/core/envoyfilter/cluster_patch.go`.
    "EF222" "cluster-not-found" Matching Error => check
}

/// Where clusters of the other direction belong.
const OF_OUTBOUND: &str = "`outbound|…` belongs to context SIDECAR_OUTBOUND (GATEWAY on a gateway)";
const OF_INBOUND: &str = "`inbound|…` belongs to context SIDECAR_INBOUND";

/// What an inbound cluster is called.
const OF_PORT: &str = "an inbound cluster is named by the container port alone: `inbound|<target port>||`";

/// Names that no cluster of the context has in any mesh: those that old releases gave inbound clusters, and those of the
/// other direction.
fn never(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let added = LazyCell::new(|| no_match::added(cx, ApplyTo::Cluster));
    for view in cx.patches().filter(|view| !cx.attaches_to_dump(view.filter_index)) {
        let ObjectMatch::Cluster(want) = &view.patch.object else { continue };
        let key = parse_subset_key(&want.name);
        let inbound = view.patch.context == PatchContext::SidecarInbound;
        let (label, help) = match key.direction {
            "outbound" if inbound => ("not a name of the inbound side", OF_OUTBOUND),
            "inbound" if !inbound && view.patch.context != PatchContext::Any => {
                ("not a name of this context", OF_INBOUND)
            }
            "inbound" if (key.host, key.subset) != ("", "") => ("a name of old releases of Istio", OF_PORT),
            _ => continue,
        };
        if added.contains(want.name.as_str()) {
            continue;
        }
        let span = view.value_span(&["match", "cluster", "name"]);
        let message = format!("no cluster in context {} is named `{}`", view.patch.context, want.name);
        let likely = "no config dump was given; judged by the names that istiod gives";
        out.push(view.finding(rule, span, message).label(label).ineffective().likely(likely).snippet(help));
    }
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    never(rule, cx, out);
    for one in no_match::at(cx, &[Condition::ClusterName, Condition::Subset, Condition::ClusterPort]) {
        let ObjectMatch::Cluster(want) = &one.view.patch.object else { continue };
        let context = one.view.patch.context;
        let (field, value) = match one.nearest {
            Some(Condition::Subset) => ("subset", want.subset.clone()),
            Some(Condition::ClusterPort) => ("portNumber", want.port_number.to_string()),
            _ => ("name", want.name.clone()),
        };
        let of =
            if want.service.is_empty() || field == "name" { String::new() } else { format!(" of `{}`", want.service) };
        let finding =
            one.finding(cx, rule, "cluster", format!("no cluster{of} in context {context} has {field} `{value}`"));
        if let Some(reason) = hidden(cx, &one, want).filter(|_| finding.cause.is_none()) {
            let message = format!("{}: {}", finding.message, reason.what);
            out.push(Finding { message, ..finding }.note(reason.note).snippet(reason.help));
            continue;
        }
        let key = parse_subset_key(&want.name);
        let inbound = context == PatchContext::SidecarInbound;
        out.push(match one.like(&value) {
            _ if field == "name" && inbound && key.direction == "outbound" => finding.help(OF_OUTBOUND),
            _ if field == "name" && key.direction == "inbound" && (key.host, key.subset) != ("", "") => {
                finding.help(OF_PORT)
            }
            Some(like) if field != "portNumber" => finding.help(format!("{field}: \"{like}\"")),
            _ if field == "portNumber" && inbound => {
                finding.help("inbound clusters have the container port, not the Service port")
            }
            _ if field == "portNumber" => match service_port(cx, want) {
                Some(port) => {
                    finding.note("outbound clusters have the port of the Service").help(format!("portNumber: {port}"))
                }
                None => finding,
            },
            _ => finding,
        });
    }
}

/// The port of the Service whose container port a match names.
fn service_port(cx: &Context<'_>, want: &ClusterMatch) -> Option<u32> {
    let of = |service: &&Arc<Service>| {
        let own = format!("{}.{}.svc.", service.object.name, service.object.namespace);
        want.service.starts_with(&own)
    };
    let service = cx.inventory.services.iter().find(of)?;
    let target = |port: &&ServicePort| port.target == TargetPort::Number(want.port_number);
    service.ports.iter().find(target).map(|port| port.number)
}

/// The DestinationRule that hides the subset from the proxies.
fn hidden(cx: &Context<'_>, one: &NoMatch<'_, '_>, want: &ClusterMatch) -> Option<NoSubset> {
    let key = parse_subset_key(&want.name);
    let (subset, host) = match one.nearest? {
        Condition::Subset => (want.subset.as_str(), want.service.as_str()),
        Condition::ClusterName => (key.subset, key.host),
        _ => return None,
    };
    if subset.is_empty() || host.is_empty() {
        return None;
    }
    one.runs.iter().find_map(|run| no_subset(cx, &run.config.proxy, host, subset))
}
