//! EF362: a merge that encrypts connections that carry TLS already.

use crate::declare_rule;
use crate::engine::matching::parse_subset_key;
use crate::lint::callers::{called, clusters_of};
use crate::lint::context::{PatchRun, PatchView, ProxyRun};
use crate::lint::per_run::PerRun;
use crate::lint::seen::filter_chains;
use crate::lint::{Context, Finding, Findings, Knowledge, RuleInfo};
use crate::model::destination::full_host;
use crate::model::envoy_filter::{ApplyTo, ObjectMatch, Operation, PatchContext};
use crate::model::inventory::{Labels, Object, ServicePort, TargetPort, VirtualService};
use crate::model::resource::ResourceKind;
use crate::proto::tree::Tree;
use crate::source::{Node, Severity};
use std::collections::HashMap;

declare_rule! {
    /// A merge that adds TLS to a cluster whose connections carry the TLS of their clients.
    ///
    /// # What it finds
    /// A CLUSTER MERGE of an UpstreamTlsContext into a cluster without TLS that only TCP proxies use. With a config dump that shows that
    /// these read connections by their server name it is certain; otherwise the Service or ServiceEntry says that the port is HTTPS or TLS.
    /// It is silent where an HTTP route, a filter or a VirtualService sends requests to the cluster.
    ///
    /// # Why it matters
    /// Envoy passes such connections on as bytes, so the server gets TLS inside TLS: it answers 400 or closes the connection.
    ///
    /// # How to fix
    /// Remove the transport socket. To let the proxy start TLS, the application must send plain HTTP: to a port of the ServiceEntry with
    /// `protocol: HTTP` and `targetPort: 443`, with a DestinationRule `tls: {mode: SIMPLE}` for that port.
    ///
    /// # References
    /// Istio, "Common problems: double TLS"; recorded from istiod, tested with Envoy 1.40.0.
    "EF362" "tls-inside-tls" Operation Error => check
}

/// What to do for a cluster of another service, and for one of the workload itself.
const HELP: [&str; 2] = [
    "remove the transport socket; for TLS by the proxy, the application calls a port with protocol HTTP",
    "remove the transport socket; for TLS by the proxy, give the port of the Service the protocol HTTP (appProtocol: http)",
];

/// Messages that send requests to the cluster in one of their fields.
const CALLERS: [(&str, &str); 3] = [
    ("envoy.config.core.v3.GrpcService.EnvoyGrpc", "cluster_name"),
    ("envoy.config.core.v3.HttpUri", "cluster"),
    ("envoy.config.route.v3.RouteAction", "cluster"),
];

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let users = PerRun::new();
    let mut callers = None;
    for value in cx.values().iter().filter(|value| value.view.patch.apply_to == ApplyTo::Cluster && value.merges()) {
        let Some(tls) = value.objects.iter().find(|object| object.short_name() == "UpstreamTlsContext") else {
            continue;
        };
        let view = &value.view;
        let callers = callers.get_or_insert_with(|| called(cx, &CALLERS));
        let finding = |name: &str| {
            value
                .finding(rule, tls.span, format!("`{name}` passes on the TLS of its clients: this puts it into TLS"))
                .label("encrypts what is encrypted")
                .note("the server gets TLS inside TLS, and answers 400 or closes the connection")
                .help(HELP[usize::from(name.starts_with("inbound"))])
        };
        let doubled = |run: &PatchRun<'_, '_>, by: Proof| {
            let of_run =
                |name: &String| !callers.contains_key(name.as_str()) && proof(cx, run, name, &users) >= Some(by);
            encrypted(run).into_iter().find(of_run)
        };
        let dumped = |run: &PatchRun<'_, '_>| run.run.knowledge == Knowledge::Dump;
        if cx.attaches_to_dump(view.filter_index) {
            for by in [Proof::ServerName, Proof::Port] {
                let Some(seen) = cx.seen(view, |run| dumped(run) && doubled(run, by).is_some()) else { continue };
                let Some(name) = seen.runs.iter().find_map(|run| doubled(run, by)) else { continue };
                let finding = seen.tell(finding(&name).objects([name.clone()]));
                out.push(if by == Proof::Port { by_port(finding) } else { finding });
                break;
            }
        } else if let Some(name) = meant(cx, view).filter(|name| !callers.contains_key(name.as_str())) {
            out.push(by_port(finding(&name)));
        }
    }
}

/// What the protocol of a port says is not what clients send.
fn by_port(finding: Finding) -> Finding {
    finding.severity(Severity::Warning).likely("the port's protocol is HTTPS or TLS")
}

/// What shows that the connections of a cluster carry TLS.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Proof {
    /// The protocol of the service's port.
    Port,
    /// Filter chains that read the server name and do not decrypt.
    ServerName,
}

/// How the listeners of a proxy use a cluster.
#[derive(Clone, Copy, Default)]
struct Use {
    /// HTTP routes or filters send requests to it.
    requests: bool,
    /// TCP proxies pass on connections of which only the bytes are known.
    bytes: bool,
    /// TCP proxies pass on connections with TLS.
    tls: bool,
}

type Users = HashMap<String, Use>;

/// The clusters without TLS to which a patch adds it on a proxy.
fn encrypted(run: &PatchRun<'_, '_>) -> Vec<String> {
    let changed =
        run.trace.effects.iter().filter(|(place, effect)| place.kind == ResourceKind::Cluster && effect.changes());
    let plain = |cluster: &Tree<'_>| {
        ["transport_socket", "transport_socket_matches"].iter().all(|key| cluster.get(key).is_none())
    };
    let starts =
        |tree: &Tree<'_>| tree.type_name().is_some_and(|name| name.ends_with(".UpstreamTlsContext")).then_some(());
    changed
        .filter(|(place, _)| run.run.with_below(place, &["transport_socket", "typed_config"], starts).is_some())
        .filter(|(place, _)| {
            run.run.before(ResourceKind::Cluster, &place.resource).is_some_and(|cluster| plain(&cluster))
        })
        .map(|(place, _)| place.resource.to_string())
        .collect()
}

fn proof(cx: &Context<'_>, run: &PatchRun<'_, '_>, name: &str, users: &PerRun<Users>) -> Option<Proof> {
    let used = users.of(run.run, users_of).get(name).copied()?;
    if used.requests || !(used.bytes || used.tls) {
        return None;
    }
    if !used.bytes {
        return Some(Proof::ServerName);
    }
    let key = parse_subset_key(name);
    let proxy = &run.run.config.proxy;
    let says = match key.direction {
        "inbound" => workload_speaks_tls(cx, &proxy.namespace, &proxy.labels, key.port),
        _ => service_speaks_tls(cx, key.host, key.port),
    };
    says.then_some(Proof::Port)
}

fn users_of(run: &ProxyRun<'_>) -> Users {
    let mut found = Users::new();
    run.traffic_after(|kind, _, tree| {
        if kind == ResourceKind::Route {
            return requests(tree, &mut found);
        }
        for chain in filter_chains(tree) {
            let wanted = chain.get("filter_chain_match");
            let named = wanted.is_some_and(|wanted| {
                wanted.str_at("transport_protocol") == "tls"
                    || wanted.get("server_names").is_some_and(|names| !names.items().is_empty())
            });
            let encrypted = named && chain.get("transport_socket").is_none();
            for filter in chain.get("filters").map(Tree::items).unwrap_or_default() {
                let Some(config) = filter.get("typed_config").map(Tree::readable) else { continue };
                if !config.type_name().is_some_and(|name| name.ends_with(".TcpProxy")) {
                    requests(&config, &mut found);
                    continue;
                }
                for cluster in clusters_of(&config) {
                    let of = found.entry(cluster.to_owned()).or_default();
                    of.tls |= encrypted;
                    of.bytes |= !encrypted;
                }
            }
        }
    });
    found
}

/// Notes every cluster that a tree names.
fn requests(tree: &Tree<'_>, found: &mut Users) {
    let tree = tree.readable();
    for name in clusters_of(&tree).chain(Some(tree.str_at("cluster_name")).filter(|name| !name.is_empty())) {
        found.entry(name.to_owned()).or_default().requests = true;
    }
    tree.items().iter().for_each(|item| requests(item, found));
    tree.entries().iter().for_each(|(_, value)| requests(value, found));
}

/// The cluster that a patch matches where no config dump shows it, if objects say that it carries TLS.
fn meant(cx: &Context<'_>, view: &PatchView<'_>) -> Option<String> {
    let ObjectMatch::Cluster(wanted) = &view.patch.object else { return None };
    view.built.filter(|built| built.operation == Operation::Merge)?;
    let key = parse_subset_key(&wanted.name);
    if key.direction == "inbound" {
        let labels = view.filter.selector.as_ref()?;
        let says = workload_speaks_tls(cx, &view.filter.namespace, labels, key.port);
        return says.then(|| wanted.name.clone());
    }
    let outbound = matches!(view.patch.context, PatchContext::SidecarOutbound | PatchContext::Any);
    let nameless = wanted.name.is_empty();
    let (host, port) = if nameless { (wanted.service.as_str(), wanted.port_number) } else { (key.host, key.port) };
    // Clusters of services in the mesh have the mesh's own TLS.
    let outside = |entry: &str| {
        cx.inventory
            .service_entries
            .iter()
            .any(|one| one.location != "MESH_INTERNAL" && one.hosts.iter().any(|own| own == entry))
    };
    let says = outbound && outside(host) && service_speaks_tls(cx, host, port) && !routed(cx, host);
    says.then(|| if nameless { format!("outbound|{port}||{host}") } else { wanted.name.clone() })
}

/// Whether a VirtualService sends HTTP requests to a host.
fn routed(cx: &Context<'_>, host: &str) -> bool {
    let to = |action: &Node| action.under(&["destination", "host"]).and_then(Node::as_str) == Some(host);
    let routes = |service: &VirtualService| {
        let http = service.object.document.under(&["spec", "http"]).map_or(&[][..], Node::items);
        http.iter().any(|route| route.get("route").map_or(&[][..], Node::items).iter().any(to))
    };
    cx.inventory.virtual_services.iter().any(|service| routes(service))
}

/// Whether the port of a host is for TLS, according to all that describe it.
fn service_speaks_tls(cx: &Context<'_>, host: &str, port: u32) -> bool {
    let is_meant = |object: &Object| full_host(&object.name, &object.namespace) == host;
    let services = cx.inventory.services.iter().filter(|one| is_meant(&one.object));
    let entries = cx.inventory.service_entries.iter().filter(|one| one.hosts.iter().any(|own| own == host));
    let of_services = services.flat_map(|one| &one.ports).filter(|one| one.number == port).map(of_service);
    let of_entries = entries.flat_map(|one| &one.ports).filter(|one| one.number == port).map(of_entry);
    let mut all = of_services.chain(of_entries).peekable();
    all.peek().is_some() && all.all(|tls| tls)
}

/// Whether the Services of workloads say that a port of theirs is for TLS.
fn workload_speaks_tls(cx: &Context<'_>, namespace: &str, labels: &Labels, port: u32) -> bool {
    let services = cx.inventory.services.iter().filter(|one| {
        one.object.namespace == namespace
            && !one.selector.is_empty()
            && one.selector.iter().all(|(key, wanted)| labels.get(key) == Some(wanted))
    });
    let ports = services.flat_map(|one| &one.ports).filter(|one| one.target == TargetPort::Number(port));
    let mut all = ports.map(of_service).peekable();
    all.peek().is_some() && all.all(|tls| tls)
}

fn of_service(port: &ServicePort) -> bool {
    let name = port.name.split('-').next().unwrap_or_default();
    is_tls(port.app_protocol.as_deref().unwrap_or(name))
}

fn of_entry(port: &ServicePort) -> bool {
    is_tls(&port.protocol)
}

fn is_tls(protocol: &str) -> bool {
    ["https", "tls"].iter().any(|name| protocol.eq_ignore_ascii_case(name))
}
