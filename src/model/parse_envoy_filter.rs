//! Parses an EnvoyFilter document to [`EnvoyFilter`], as istiod gets it: through the API server's schema, then as proto JSON.
//!
//! The schema is the one of Istio 1.31, plus `filterChain.transportSocket` of the release after it. It is the newest API; the
//! engine handles what older releases do not know.

use super::envoy_filter::{
    ApplyTo, ClusterMatch, EnvoyFilter, FilterChainMatch, FilterMatch, ListenerMatch, ObjectMatch, Operation, Patch,
    PatchBody, PatchContext, ProxyMatch, RouteAction, RouteConfigurationMatch, RouteMatch, TargetRef, VirtualHostMatch,
    WaypointMatch,
};
use super::fields::{Message, Reader};
use crate::proto::time;
use crate::source::alike;
use crate::source::{Code, Node, NodeValue, Problem, Severity};
use std::sync::OnceLock;

/// The only API version of EnvoyFilter in every release.
pub(crate) const API_VERSION: &str = "networking.istio.io/v1alpha3";

const UINT32: &str = "from 0 to 4294967295";
const INT32: &str = "from -2147483648 to 2147483647";

/// Every mapping of the API with its fields, outermost first.
pub(super) const FIELDS: &[(&str, &[&str])] = &[
    ("an EnvoyFilter", &["apiVersion", "kind", "metadata", "spec", "status"]),
    (
        "metadata",
        &[
            "name",
            "namespace",
            "labels",
            "annotations",
            "creationTimestamp",
            "generateName",
            "uid",
            "resourceVersion",
            "generation",
            "managedFields",
            "ownerReferences",
            "finalizers",
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
            "selfLink",
        ],
    ),
    ("spec", &["workloadSelector", "targetRefs", "configPatches", "priority"]),
    ("workloadSelector", &["labels"]),
    ("targetRefs", &["group", "kind", "name", "namespace"]),
    ("configPatches", &["applyTo", "match", "patch"]),
    ("match", &["context", "proxy", "listener", "routeConfiguration", "cluster", "waypoint"]),
    ("patch", &["operation", "value", "filterClass"]),
    ("proxy", &["proxyVersion", "metadata"]),
    ("listener", &["portNumber", "portName", "filterChain", "listenerFilter", "name"]),
    (
        "filterChain",
        &["name", "sni", "transportProtocol", "transportSocket", "applicationProtocols", "filter", "destinationPort"],
    ),
    ("filter", &["name", "subFilter"]),
    ("subFilter", &["name"]),
    ("routeConfiguration", &["portNumber", "portName", "gateway", "vhost", "name"]),
    ("vhost", &["name", "domainName", "route"]),
    ("route", &["name", "action"]),
    ("cluster", &["portNumber", "service", "subset", "name"]),
    ("waypoint", &["portNumber", "route", "filter"]),
];

/// Keys that many mappings have, so they do not show where they belong.
const COMMON: &[&str] =
    &["name", "kind", "namespace", "labels", "metadata", "portNumber", "portName", "group", "cluster"];

/// Reads one document of kind EnvoyFilter. `None` when the API server or istiod rejects it as a whole; the problems say why. A
/// document with smaller faults (wrong `apiVersion`, no name, old API, unknown fields) is read as far as possible.
pub fn parse(document: Node, default_namespace: &str) -> (Option<EnvoyFilter>, Vec<Problem>) {
    let mut reader = Reader::default();
    let filter = read(&mut reader, &document, default_namespace);
    let filter = filter.filter(|_| !reader.refused).map(|filter| {
        let misspelt = std::mem::take(&mut reader.misspelt);
        EnvoyFilter { document, misspelt, ..filter }
    });
    (filter, reader.problems)
}

fn read(reader: &mut Reader, document: &Node, default_namespace: &str) -> Option<EnvoyFilter> {
    let root = reader.message("an EnvoyFilter", document)?;
    check(reader, root);
    check_api_version(reader, root);
    let meta = reader.child(root, "metadata");
    let mut filter = EnvoyFilter {
        name: String::new(),
        namespace: default_namespace.to_owned(),
        created: None,
        annotations: std::collections::BTreeMap::new(),
        labels: std::collections::BTreeMap::new(),
        priority: 0,
        selector: None,
        target_refs: Vec::new(),
        patches: Vec::new(),
        // This and the next are set by `parse`: no copy, and complete.
        document: Node { span: document.span, value: NodeValue::Null },
        misspelt: Vec::new(),
        secrets: OnceLock::new(),
    };
    if let Some(meta) = meta {
        check(reader, meta);
        metadata(reader, meta, &mut filter);
    }
    // A name of another type is a problem of its own.
    let has = |key: &str| meta.and_then(|meta| meta.node.get(key));
    let mistyped = has("name").is_some_and(|name| !name.is_null() && name.as_str().is_none());
    if filter.name.is_empty() && has("generateName").is_none() && !mistyped {
        let span = document.entry("metadata").map_or(document.span, |entry| entry.key_span);
        let message = "metadata.name is missing".to_owned();
        let problem =
            Problem { code: Code::MissingName, severity: Severity::Error, span: Some(span), message, help: None };
        reader.problems.push(problem);
    }
    let Some(spec) = reader.child(root, "spec") else { return Some(filter) };
    check(reader, spec);
    filter.priority = reader.number(spec, "priority", INT32);
    if let Some(selector) = reader.child(spec, "workloadSelector") {
        check(reader, selector);
        filter.selector = reader.texts(selector, "labels");
    }
    for item in reader.list(spec, "targetRefs") {
        if let Some(target) = reader.message("targetRefs", item) {
            check(reader, target);
            filter.target_refs.push(TargetRef {
                group: reader.text(target, "group"),
                kind: reader.text(target, "kind"),
                name: reader.text(target, "name"),
                namespace: reader.text(target, "namespace"),
            });
        }
    }
    let patches = reader.list(spec, "configPatches");
    filter.patches.reserve_exact(patches.len());
    for (index, item) in patches.iter().enumerate() {
        if let Some(patch) = reader.message("configPatches", item) {
            filter.patches.push(config_patch(reader, patch, index));
        }
    }
    Some(filter)
}

fn check_api_version(reader: &mut Reader, root: Message<'_>) {
    let found = root.node.entry("apiVersion");
    if found.and_then(|entry| entry.value.as_str()) == Some(API_VERSION) {
        return;
    }
    let span = found.map_or(root.node.span, |entry| entry.value.span);
    let message = match found.and_then(|entry| entry.value.as_str()) {
        Some(version) => format!("no release of Istio has EnvoyFilter in {version}: the API server refuses this"),
        None => "apiVersion is missing".to_owned(),
    };
    let help = Some(format!("write apiVersion: {API_VERSION}"));
    let problem = Problem { code: Code::WrongApiVersion, severity: Severity::Error, span: Some(span), message, help };
    reader.problems.push(problem);
}

fn metadata(reader: &mut Reader, meta: Message<'_>, filter: &mut EnvoyFilter) {
    // Kubernetes' own metadata may contain nulls: Go programs print `creationTimestamp: null`.
    let there = |name: &str| meta.node.get(name).is_some_and(|node| !node.is_null());
    if there("name") {
        filter.name = reader.text(meta, "name");
    }
    if there("namespace") {
        let namespace = reader.text(meta, "namespace");
        if !namespace.is_empty() {
            filter.namespace = namespace;
        }
    }
    if there("labels") {
        filter.labels = reader.texts(meta, "labels").unwrap_or_default();
    }
    if there("annotations") {
        filter.annotations = reader.texts(meta, "annotations").unwrap_or_default();
    }
    if there("creationTimestamp") {
        let text = reader.text(meta, "creationTimestamp");
        filter.created = time::read(&text);
        if filter.created.is_none()
            && let Some(node) = meta.node.get("creationTimestamp")
        {
            let message = format!("creationTimestamp `{text}` is not an RFC 3339 time, like 2026-01-15T00:00:30Z");
            reader.warn(Code::BadTimestamp, node.span, message, None);
        }
    }
}

fn config_patch(reader: &mut Reader, item: Message<'_>, index: usize) -> Patch {
    check(reader, item);
    let apply_to = reader.choice(item, "applyTo", &names(ApplyTo::ALL, ApplyTo::name)).unwrap_or(ApplyTo::Invalid);
    let found = reader.child(item, "match");
    let mut patch = Patch {
        index,
        span: item.node.span,
        apply_to,
        context: PatchContext::Any,
        proxy: None,
        object: ObjectMatch::None,
        has_match: found.is_some(),
        body: None,
    };
    if let Some(found) = found {
        check(reader, found);
        let contexts = names(PatchContext::ALL, PatchContext::name);
        patch.context = reader.choice(found, "context", &contexts).unwrap_or(PatchContext::Any);
        patch.proxy = reader.child(found, "proxy").map(|proxy| {
            check(reader, proxy);
            let version = reader.text(proxy, "proxyVersion");
            ProxyMatch { version, metadata: reader.texts(proxy, "metadata").unwrap_or_default() }
        });
        patch.object = object(reader, found, apply_to);
    }
    if let Some(body) = reader.child(item, "patch") {
        check(reader, body);
        patch.body = Some(patch_body(reader, body));
    }
    patch
}

fn patch_body(reader: &mut Reader, body: Message<'_>) -> PatchBody {
    let operations = names(Operation::ALL, Operation::name);
    let classes = ["UNSPECIFIED", "AUTHN", "AUTHZ", "STATS"].map(|name| (name, name));
    PatchBody {
        operation: reader.choice(body, "operation", &operations).unwrap_or(Operation::Invalid),
        filter_class: reader.choice(body, "filterClass", &classes).map(str::to_owned),
        value: reader.child(body, "value").map(|value| value.node.clone()),
    }
}

/// The one of the four that is set. The API server rejects a second one. The problem is reported on the one that does not fit
/// `applyTo` or, if neither fits, on the second.
fn object(reader: &mut Reader, found: Message<'_>, apply_to: ApplyTo) -> ObjectMatch {
    let mut object = ObjectMatch::None;
    let mut first = None;
    for name in ["listener", "routeConfiguration", "cluster", "waypoint"] {
        let Some(message) = reader.child(found, name) else { continue };
        check(reader, message);
        let place = first.filter(|_| apply_to.matched_by() == Some(name)).unwrap_or(name);
        if let (Some(first), Some(entry)) = (first, found.node.entry(place)) {
            let text = format!("`match` holds both `{first}` and `{name}`: it may hold one of them");
            reader.refuse(Code::SeveralMatchObjects, entry.key_span, text, None);
        }
        first = Some(name);
        object = match name {
            "listener" => ObjectMatch::Listener(listener(reader, message)),
            "routeConfiguration" => ObjectMatch::RouteConfiguration(route_configuration(reader, message)),
            "cluster" => ObjectMatch::Cluster(ClusterMatch {
                name: reader.text(message, "name"),
                service: reader.text(message, "service"),
                subset: reader.text(message, "subset"),
                port_number: reader.number(message, "portNumber", UINT32),
            }),
            _ => ObjectMatch::Waypoint(WaypointMatch {
                port_number: reader.number(message, "portNumber", UINT32),
                filter: reader.child(message, "filter").map(|filter| filter_match(reader, filter)),
                route: reader.child(message, "route").map(|route| route_match(reader, route)),
            }),
        };
    }
    object
}

fn listener(reader: &mut Reader, message: Message<'_>) -> ListenerMatch {
    ListenerMatch {
        name: reader.text(message, "name"),
        port_number: reader.number(message, "portNumber", UINT32),
        port_name: reader.text(message, "portName"),
        listener_filter: reader.text(message, "listenerFilter"),
        filter_chain: reader.child(message, "filterChain").map(|chain| {
            check(reader, chain);
            FilterChainMatch {
                name: reader.text(chain, "name"),
                sni: reader.text(chain, "sni"),
                transport_protocol: reader.text(chain, "transportProtocol"),
                transport_socket: reader.text(chain, "transportSocket"),
                application_protocols: reader.text(chain, "applicationProtocols"),
                destination_port: reader.number(chain, "destinationPort", UINT32),
                filter: reader.child(chain, "filter").map(|filter| filter_match(reader, filter)),
            }
        }),
    }
}

fn filter_match(reader: &mut Reader, filter: Message<'_>) -> FilterMatch {
    check(reader, filter);
    FilterMatch {
        name: reader.text(filter, "name"),
        sub_filter: reader.child(filter, "subFilter").map(|sub_filter| {
            check(reader, sub_filter);
            reader.text(sub_filter, "name")
        }),
    }
}

fn route_configuration(reader: &mut Reader, message: Message<'_>) -> RouteConfigurationMatch {
    RouteConfigurationMatch {
        name: reader.text(message, "name"),
        port_number: reader.number(message, "portNumber", UINT32),
        port_name: reader.text(message, "portName"),
        gateway: reader.text(message, "gateway"),
        vhost: reader.child(message, "vhost").map(|vhost| {
            check(reader, vhost);
            VirtualHostMatch {
                name: reader.text(vhost, "name"),
                domain_name: reader.text(vhost, "domainName"),
                route: reader.child(vhost, "route").map(|route| route_match(reader, route)),
            }
        }),
    }
}

fn route_match(reader: &mut Reader, route: Message<'_>) -> RouteMatch {
    check(reader, route);
    let actions = [
        ("ANY", RouteAction::Any),
        ("ROUTE", RouteAction::Route),
        ("REDIRECT", RouteAction::Redirect),
        ("DIRECT_RESPONSE", RouteAction::DirectResponse),
    ];
    RouteMatch {
        name: reader.text(route, "name"),
        action: reader.choice(route, "action", &actions).unwrap_or_default(),
    }
}

fn names<T: Copy>(all: &[T], name: fn(T) -> &'static str) -> Vec<(&'static str, T)> {
    all.iter().map(|value| (name(*value), *value)).collect()
}

/// Reports keys that are not fields of a mapping.
fn check(reader: &mut Reader, message: Message<'_>) {
    let known = FIELDS.iter().find(|(name, _)| *name == message.name).map_or(&[][..], |(_, fields)| *fields);
    if message.name != "spec" {
        reader.unknown_fields(message, known, known_mistake);
        return;
    }
    // The API of Istio 1.2 and earlier.
    let legacy = |key: &str| matches!(key, "filters" | "workloadLabels");
    for entry in message.node.entries().iter().filter(|entry| legacy(&entry.key)) {
        let text = format!("`{}` is the EnvoyFilter API of Istio 1.2: the API server drops it", entry.key);
        let help = if entry.key == "filters" { "rewrite it as configPatches" } else { "use workloadSelector.labels" };
        reader.warn(Code::LegacyApi, entry.key_span, text, Some(help.to_owned()));
    }
    let mut known = known.to_vec();
    known.extend(["filters", "workloadLabels"]);
    reader.unknown_fields(message, &known, known_mistake);
}

/// Common mistakes from habits with other APIs: mapping, key, correction.
const HABITS: &[(&str, &str, &str)] = &[
    ("spec", "selector", "write `workloadSelector`, with `labels` below it"),
    ("spec", "matchLabels", "write `workloadSelector`, with `labels` below it"),
    ("spec", "labels", "write `workloadSelector`, with `labels` below it"),
    ("spec", "targetRef", "write `targetRefs`, a list"),
    ("spec", "patches", "write `configPatches`"),
    ("workloadSelector", "matchLabels", "write `labels`"),
    (
        "workloadSelector",
        "namespaces",
        "a filter selects in its own namespace only, or everywhere from the root namespace",
    ),
    ("match", "filter", "write it below `filterChain`, which is a field of listener"),
    ("match", "subFilter", "write it below `filter`, which is below listener and filterChain"),
    ("match", "virtualHost", "write `vhost` below routeConfiguration"),
    ("match", "name", "a name is matched below listener, routeConfiguration or cluster"),
    ("match", "portNumber", "a port is matched below listener, routeConfiguration or cluster"),
    ("listener", "filter", "write it below `filterChain`"),
    ("listener", "port", "write `portNumber`"),
    ("routeConfiguration", "port", "write `portNumber`"),
    ("routeConfiguration", "route", "write it below `vhost`"),
    ("routeConfiguration", "virtualHost", "write `vhost`"),
    ("cluster", "port", "write `portNumber`"),
    ("cluster", "host", "write `service`"),
];

/// The code and help for a known mistake in a key.
fn known_mistake(message: Message<'_>, key: &str) -> Option<(Code, String)> {
    let mapping = message.name;
    if let Some((_, _, help)) = HABITS.iter().find(|(of, word, _)| *of == mapping && *word == key) {
        return Some((Code::UnknownField, (*help).to_owned()));
    }
    if mapping == "workloadSelector" && alike::keyword(key, ["labels"]).is_none() {
        return Some((Code::MisplacedField, "labels go one level deeper, below `labels`".to_owned()));
    }
    elsewhere(message, key).map(|help| (Code::MisplacedField, help))
}

/// Where a misplaced key belongs.
fn elsewhere(message: Message<'_>, key: &str) -> Option<String> {
    if COMMON.contains(&key) {
        return None;
    }
    let mut owners = FIELDS.iter().filter(|(_, fields)| fields.contains(&key)).map(|(owner, _)| *owner);
    match (owners.next(), owners.next()) {
        (Some(owner), None) if message.node.get(owner).is_some_and(|it| it.entry(key).is_some()) => {
            Some(format!("delete it: it is a field of {owner}, where it is set as well"))
        }
        (Some(owner), None) => Some(format!("it is a field of {owner}: look at the indentation")),
        _ => None,
    }
}
