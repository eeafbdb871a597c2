//! EF348: an added cluster that never has endpoints.

use crate::declare_rule;
use crate::lint::value::PatchValue;
use crate::lint::walk::get;
use crate::lint::{Context, Finding, Findings, PatchView, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, Operation};
use crate::proto::tree::Tree;
use crate::source::Severity;
use crate::source::escape::one_line;

declare_rule! {
    /// A cluster that asks istiod for endpoints by a name that istiod does not know, or that has none.
    ///
    /// # What it finds
    /// A CLUSTER ADD of type EDS with `eds_config: {ads: {}}` whose `service_name`, or else its own name, is not of the form
    /// `outbound|PORT|SUBSET|HOST`; a MERGE with such a `service_name`; an added cluster of type STATIC or STRICT_DNS
    /// without a list of endpoints in its `load_assignment`.
    ///
    /// # Why it matters
    /// istiod answers with an empty list, and other patches do not reach an added cluster. The cluster exists and has no
    /// endpoints: every request gets 503 "no healthy upstream".
    ///
    /// # How to fix
    /// Name the service as istiod's own clusters do, use that cluster directly, or list the hosts in `load_assignment` with
    /// the type STRICT_DNS.
    ///
    /// # References
    /// istiod `EndpointBuilder.BuildClusterLoadAssignment`, `ParseSubsetKey`, releases 1.22 to 1.31.
    "EF348" "endpoints-never-served" Operation Error => check
}

const CLUSTER: &str = "envoy.config.cluster.v3.Cluster";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    out.extend(cx.values().iter().filter_map(|value| without_endpoints(rule, value)));
    for view in cx.patches() {
        out.extend(renamed_service(rule, &view));
        let Some(cluster) = added(&view).filter(|cluster| cluster.str_at("type") == "EDS") else { continue };
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
        out.push(unknown(rule, &view, field, name).snippet(format!(
            "eds_cluster_config:\n  service_name: {}\nor type: STRICT_DNS with the hosts in load_assignment",
            one_line(&meant(name))
        )));
    }
}

/// The cluster that a patch adds, unless its type is an extension's.
fn added<'v>(view: &'v PatchView<'_>) -> Option<&'v Tree<'v>> {
    let built = view.built.filter(|built| built.operation == Operation::Add)?;
    let cluster = built.value.as_ref().filter(|_| view.patch.apply_to == ApplyTo::Cluster)?;
    cluster.get("cluster_type").is_none().then_some(cluster)
}

/// An added cluster without a list of endpoints of its own. Envoy rejects LOGICAL_DNS without an endpoint, and ORIGINAL_DST has none.
fn without_endpoints(rule: &'static RuleInfo, value: &PatchValue<'_>) -> Option<Finding> {
    let view = &value.view;
    let cluster = added(view)?;
    // Other rules report values that are no clusters, and fields that no cluster has.
    let root = value.objects.first().filter(|root| root.members.iter().all(|member| member.field().is_some()))?;
    let kind = match cluster.str_at("type") {
        "" | "STATIC" => "STATIC",
        "STRICT_DNS" => "STRICT_DNS",
        _ => return None,
    };
    let written = root.member("load_assignment").map(|member| &member.entry.value);
    // Who writes an empty list wants none, as for a cluster that only fetches a secret.
    if root.full_name() != CLUSTER || written.is_some_and(|written| get(written, "endpoints").is_some()) {
        return None;
    }
    // Envoy rejects a cluster without a name anyway.
    let name = Some(cluster.name()).filter(|name| !name.is_empty())?;
    let field = if written.is_some() { "load_assignment" } else { "name" };
    let address = if kind == "STATIC" { "<IP address>" } else { "<host>" };
    Some(
        view.finding(rule, view.value_path_span(field), format!("cluster `{name}` has no endpoints"))
            .severity(Severity::Warning)
            .label(format!("no `load_assignment` with endpoints for type {kind}"))
            .note("Envoy accepts it, and requests get 503, no healthy upstream")
            .snippet(format!(
                "load_assignment:\n  cluster_name: {}\n  endpoints:\n  - lb_endpoints:\n    - endpoint:\n        address:\n          socket_address:\n            address: {address}\n            port_value: <port>",
                one_line(name)
            )),
    )
}

/// A MERGE that makes a cluster ask for the endpoints of another name.
fn renamed_service(rule: &'static RuleInfo, view: &PatchView<'_>) -> Option<Finding> {
    const FIELD: [&str; 2] = ["eds_cluster_config", "service_name"];
    let built = view.built.filter(|built| built.operation.is_merge() && view.patch.apply_to == ApplyTo::Cluster)?;
    let cluster = built.value.as_ref()?;
    let name = cluster.path(&FIELD).and_then(Tree::as_str).filter(|name| !name.is_empty() && !of_a_service(name))?;
    // Another source, or another type, has endpoints of its own.
    let own = cluster.path(&["eds_cluster_config", "eds_config"]).is_some_and(|source| source.get("ads").is_none());
    let other_type = !matches!(cluster.str_at("type"), "" | "EDS");
    if own || other_type {
        return None;
    }
    let help = format!("write the name of a cluster of istiod, such as {}", one_line(&meant(name)));
    Some(unknown(rule, view, &FIELD.join("."), name).help(help))
}

/// A finding about a name, in a field, for which istiod has no endpoints.
fn unknown(rule: &'static RuleInfo, view: &PatchView<'_>, field: &str, name: &str) -> Finding {
    view.finding(rule, view.value_path_span(field), format!("istiod has no endpoints for `{name}`"))
        .label("not the name of a service's cluster")
        .note("istiod answers with an empty list: requests get 503, no healthy upstream")
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
