//! EF717: an added cluster for a host that the mesh knows or could know as a service.

use crate::declare_rule;
use crate::lint::better::{self, Candidate, is_mesh_wide};
use crate::lint::manifest::Instead;
use crate::lint::traffic_policy::upstream_tls;
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, Operation, PatchContext};
use crate::model::release::Release;
use serde_json::{Map, Value as Json, json};

declare_rule! {
    /// A cluster added for one DNS name, for which istiod already generates a cluster or would with a ServiceEntry.
    ///
    /// # What it finds
    /// An added cluster with one DNS endpoint, timeouts, HTTP/2 and TLS from files. For a host under `svc.cluster.local`
    /// istiod generates `outbound|PORT||HOST` itself; for any other a ServiceEntry makes it do so.
    ///
    /// # Why it matters
    /// The added cluster knows no endpoints but DNS, gets no mutual TLS from the mesh, no locality, no DestinationRule and
    /// no metrics of Istio's.
    ///
    /// # How to fix
    /// Write the ServiceEntry shown (and the DestinationRule where TLS is needed) and name the generated cluster in the
    /// filter. A gateway that sends clusters only for hosts it routes to needs the annotation
    /// `envoyfilter.istio.io/referenced-services` (since 1.26).
    ///
    /// # References
    /// Istio: ServiceEntry; annotation `envoyfilter.istio.io/referenced-services`; istio/istio#50398.
    "EF717" "cluster-beside-service-entry" Native Info => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for candidate in better::candidates(cx, ApplyTo::Cluster) {
        if let Some(instead) = instead(cx, &candidate) {
            out.push(instead.finding(rule, &candidate.view, &["patch", "value"]));
        }
    }
}

fn instead(cx: &Context<'_>, candidate: &Candidate<'_>) -> Option<Instead> {
    let mut cluster = candidate.parts.clone();
    if candidate.operation != Operation::Add {
        return None;
    }
    let (host, port) = better::endpoint(&cluster.tree)?;
    let kind = cluster.text("type")?;
    if kind != "STRICT_DNS" && kind != "LOGICAL_DNS" {
        return None;
    }
    // A short name is looked up in the search path of the pod: which service it is, is not known here.
    if !better::is_host(&host) {
        return None;
    }
    let full = match host.strip_suffix(".svc") {
        Some(_) => format!("{host}.cluster.local"),
        None if known(cx, &host) => format!("{host}.svc.cluster.local"),
        // `name.namespace` of a service, or a host of two labels: which, is not known here.
        None if host.split('.').count() == 2 => return None,
        None => host.clone(),
    };
    let named = full.ends_with(".svc.cluster.local");
    cluster.skip("name");
    cluster.skip("load_assignment");
    // How a cluster is called, resolved, balanced and given up on: the generated one has its own settings for these.
    for field in ["connect_timeout", "lb_policy", "dns_lookup_family", "alt_stat_name", "dns_refresh_rate"] {
        cluster.skip(field);
    }
    let mut http2 = cluster.take("http2_protocol_options").is_some_and(|options| options.entries().is_empty());
    let options = "typed_extension_protocol_options/envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
    if let Some(mut options) = cluster.typed(options, "envoy.extensions.upstreams.http.v3.HttpProtocolOptions") {
        http2 |= options.take("explicit_http_config/http2_protocol_options").is_some();
        if !options.done() {
            return None;
        }
    }
    let tls = match cluster.sub("transport_socket") {
        None => None,
        Some(socket) => Some(upstream_tls(socket)?),
    };
    if !cluster.done() {
        return None;
    }
    let generated = format!("outbound|{port}||{full}");
    // A sidecar has the clusters of all services that are exported to it.
    let proxy = match candidate.view.patch.context {
        PatchContext::Gateway | PatchContext::Any => Some("gateway"),
        _ => (!candidate.view.filter.target_refs.is_empty()).then_some("waypoint"),
    };
    let annotation = proxy.map(|proxy| {
        format!(
            "on a {proxy}, the annotation `envoyfilter.istio.io/referenced-services: {full}` (since 1.26) makes sure that it is there"
        )
    });
    if named {
        let plain_text = "the added cluster sends plain text where the mesh would use mutual TLS".to_owned();
        return Some(Instead {
            message: format!("istiod generates a cluster for this service: {generated}"),
            since: Release::OLDEST,
            manifests: vec![(
                "the cluster to name in the filter instead of the added one".to_owned(),
                json!({ "cluster": generated }),
            )],
            notes: tls.is_none().then_some(plain_text).into_iter().chain(annotation).collect(),
        });
    }
    let filter = candidate.view.filter;
    let (name, protocol) = if http2 { ("http2", "HTTP2") } else { ("http", "HTTP") };
    let mut spec = Map::from_iter([
        ("hosts".to_owned(), json!([full])),
        ("location".to_owned(), json!("MESH_EXTERNAL")),
        ("resolution".to_owned(), json!("DNS")),
        ("ports".to_owned(), json!([{ "number": port, "name": name, "protocol": protocol }])),
    ]);
    let scoped = !is_mesh_wide(cx, filter);
    if scoped {
        spec.insert("exportTo".to_owned(), json!(["."]));
    }
    let metadata = json!({ "name": filter.name, "namespace": filter.namespace });
    let entry = json!({
        "apiVersion": "networking.istio.io/v1", "kind": "ServiceEntry", "metadata": metadata, "spec": spec,
    });
    let mut manifests = vec![(String::new(), entry)];
    if let Some(tls) = tls {
        let mut spec = Map::from_iter([("host".to_owned(), Json::from(full.as_str()))]);
        if scoped {
            spec.insert("exportTo".to_owned(), json!(["."]));
        }
        spec.insert("trafficPolicy".to_owned(), json!({ "tls": tls }));
        manifests.push((
            String::new(),
            json!({
                "apiVersion": "networking.istio.io/v1", "kind": "DestinationRule", "metadata": metadata, "spec": spec,
            }),
        ));
    }
    Some(Instead {
        message: format!("a ServiceEntry for {full} makes istiod generate this cluster"),
        since: Release::OLDEST,
        manifests,
        notes: std::iter::once(format!("the generated cluster is called `{generated}`: name that in the filter"))
            .chain(annotation)
            .collect(),
    })
}

/// Whether `name.namespace` is a Service that was given.
fn known(cx: &Context<'_>, host: &str) -> bool {
    cx.inventory.services.iter().any(|one| format!("{}.{}", one.object.name, one.object.namespace) == host)
}
