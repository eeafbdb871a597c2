//! EF348: an added cluster whose endpoints istiod never sends.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, Operation};
use crate::proto::tree::Tree;

declare_rule! {
    /// An added cluster that asks istiod for endpoints by a name that istiod does not know.
    ///
    /// # What it finds
    /// A CLUSTER ADD of type EDS with `eds_config: {ads: {}}` whose `service_name`, or else its own name, is not of the form
    /// `outbound|PORT|SUBSET|HOST`.
    ///
    /// # Why it matters
    /// istiod answers with an empty list. The cluster exists and has no endpoints: every request gets 503 "no healthy
    /// upstream".
    ///
    /// # How to fix
    /// Name the service as istiod's own clusters do, use that cluster directly, or list the hosts in `load_assignment` with
    /// the type STRICT_DNS.
    ///
    /// # References
    /// istiod `EndpointBuilder.BuildClusterLoadAssignment`, `ParseSubsetKey`, releases 1.22 to 1.31.
    "EF348" "endpoints-never-served" Operation Error => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches().filter(|view| view.patch.apply_to == ApplyTo::Cluster) {
        let Some(built) = view.built.filter(|built| built.operation == Operation::Add) else { continue };
        let Some(cluster) = built.value.as_ref().filter(|cluster| cluster.str_at("type") == "EDS") else { continue };
        if cluster.path(&["eds_cluster_config", "eds_config", "ads"]).is_none() {
            continue;
        }
        let service = cluster.path(&["eds_cluster_config", "service_name"]).and_then(Tree::as_str);
        let (name, field) = match service {
            Some(service) if !service.is_empty() => (service, "eds_cluster_config.service_name"),
            _ => (cluster.name(), "name"),
        };
        if of_a_service(name) {
            continue;
        }
        out.push(
            view.finding(rule, view.value_path_span(field), format!("istiod has no endpoints for `{name}`"))
                .label("not the name of a service's cluster")
                .note("istiod answers with an empty list: requests get 503, no healthy upstream")
                .help(format!(
                    "eds_cluster_config:\n  service_name: {}\nor type: STRICT_DNS with the hosts in load_assignment",
                    meant(name)
                )),
        );
    }
}

/// Whether istiod reads a service in a name: `direction|port|subset|host`.
fn of_a_service(name: &str) -> bool {
    let parts: Vec<&str> = name.split('|').collect();
    matches!(parts[..], [_, port, _, host, ..] if !host.is_empty() && port.parse::<u16>().is_ok())
}

/// The name of the cluster of a service that is written as `host` or `host:port`.
fn meant(name: &str) -> String {
    let (host, port) = name.split_once(':').unwrap_or((name, "<port>"));
    let host = if host.contains('.') { host } else { "<host of a service>" };
    format!("outbound|{port}||{host}")
}
