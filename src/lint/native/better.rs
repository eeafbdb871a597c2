//! What the rules of "better ways" share: a patch's value taken apart field by field, and where the patch reaches.
//!
//! A first-class API is proposed only when every field of the value has a place in it: a rule takes the fields it can
//! express out of [`Parts`], and what is left decides.

use crate::engine::go_regexp;
use crate::engine::matching::{self, HTTP_CONNECTION_MANAGER};
use crate::engine::program::Status;
use crate::lint::facts::context::{Context, PatchView};
use crate::lint::facts::seen::config_type;
use crate::model::envoy_filter::{ApplyTo, EnvoyFilter, ObjectMatch, Operation, PatchContext};
use crate::proto::decode::{What, decode};
use crate::proto::schema::Schema;
use crate::proto::tree::{TYPE_KEY, Tree, Value, type_name};
use serde_json::Value as Json;

/// Message name of the HTTP connection manager.
pub const HCM: &str = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";

/// A patch that runs, its value read without trouble.
pub struct Candidate<'a> {
    /// The patch.
    pub view: PatchView<'a>,
    /// Its value.
    pub parts: Parts<'a>,
    /// The operation as settled.
    pub operation: Operation,
    /// Where it reaches.
    pub reach: Reach,
}

/// Which part of a workload's traffic a patch reaches, as far as first-class APIs can say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// The context.
    pub context: PatchContext,
    /// The listener's port.
    pub port: Option<u32>,
}

/// Every patch of an `applyTo` that runs, was read without trouble, is not pinned to other proxies than the control
/// plane's own release, and whose listener match says no more than a port.
pub fn candidates<'c, 'a>(cx: &'c Context<'a>, apply_to: ApplyTo) -> impl Iterator<Item = Candidate<'a>> + 'c {
    candidates_with(cx, apply_to, |_| true)
}

/// The same, of values that pass this test: a candidate is a copy, so most are told apart before.
fn candidates_with<'c, 'a>(
    cx: &'c Context<'a>,
    apply_to: ApplyTo,
    wanted: impl Fn(&Tree<'a>) -> bool + 'c,
) -> impl Iterator<Item = Candidate<'a>> + 'c {
    cx.patches().filter_map(move |view| {
        let built = view.built?;
        if view.patch.apply_to != apply_to || built.status != Status::Ready {
            return None;
        }
        let tree = built.value.as_ref().filter(|tree| wanted(tree))?;
        // A field that no one knows was meant to do something; what, is not known here.
        if built.notices.iter().any(|notice| notice.what != What::DefaultDropped) {
            return None;
        }
        if let Some(proxy) = &view.patch.proxy {
            let pinned = !proxy.version.is_empty()
                && !go_regexp::compile(&proxy.version)
                    .as_ref()
                    .as_ref()
                    .is_ok_and(|regex| regex.is_match(&cx.release.to_string()));
            if pinned || !proxy.metadata.is_empty() {
                return None;
            }
        }
        let reach = reach(&built.object, view.patch.context)?;
        Some(Candidate { view, parts: Parts::new(tree.clone(), cx.program.schema), operation: built.operation, reach })
    })
}

/// Candidates that insert an HTTP filter of one type, with its configuration.
pub fn inserted<'c, 'a>(
    cx: &'c Context<'a>,
    message: &'static str,
) -> impl Iterator<Item = (Candidate<'a>, Parts<'a>)> + 'c {
    inserted_among(cx, ApplyTo::HttpFilter, message)
}

/// Candidates that insert a network filter of one type, with its configuration.
pub fn inserted_network<'c, 'a>(
    cx: &'c Context<'a>,
    message: &'static str,
) -> impl Iterator<Item = (Candidate<'a>, Parts<'a>)> + 'c {
    inserted_among(cx, ApplyTo::NetworkFilter, message)
}

fn inserted_among<'c, 'a>(
    cx: &'c Context<'a>,
    apply_to: ApplyTo,
    message: &'static str,
) -> impl Iterator<Item = (Candidate<'a>, Parts<'a>)> + 'c {
    candidates_with(cx, apply_to, move |tree| config_type(tree) == message).filter_map(move |mut candidate| {
        let inserts = matches!(
            candidate.operation,
            Operation::Add | Operation::InsertBefore | Operation::InsertAfter | Operation::InsertFirst
        );
        candidate.parts.skip("name");
        let config = candidate.parts.typed("typed_config", message)?;
        (inserts && candidate.parts.done()).then_some((candidate, config))
    })
}

/// Candidates that merge into HTTP connection managers, with the configuration.
pub fn managers<'c, 'a>(cx: &'c Context<'a>) -> impl Iterator<Item = (Candidate<'a>, Parts<'a>)> + 'c {
    candidates_with(cx, ApplyTo::NetworkFilter, |tree| config_type(tree) == HCM).filter_map(|mut candidate| {
        candidate.parts.skip("name");
        let config = candidate.parts.typed("typed_config", HCM)?;
        let named = filter_name(&candidate.view.built?.object) == Some(HTTP_CONNECTION_MANAGER);
        (named && candidate.operation == Operation::Merge && candidate.parts.done()).then_some((candidate, config))
    })
}

/// The network filter's name in a match.
pub fn filter_name(object: &ObjectMatch) -> Option<&str> {
    matching::listener_match(object)?.filter_chain.as_ref()?.filter.as_ref().map(|filter| filter.name.as_str())
}

fn reach(object: &ObjectMatch, context: PatchContext) -> Option<Reach> {
    let mut port = None;
    if let ObjectMatch::Listener(listener) = object {
        let inbound = listener.name == matching::VIRTUAL_INBOUND && context == PatchContext::SidecarInbound;
        if !(listener.name.is_empty() || inbound) {
            return None;
        }
        port = (listener.port_number != 0).then_some(listener.port_number);
        if let Some(chain) = &listener.filter_chain {
            let texts = [&chain.name, &chain.sni, &chain.transport_protocol, &chain.application_protocols];
            if texts.iter().any(|text| !text.is_empty()) {
                return None;
            }
            if chain.destination_port != 0 {
                port = Some(chain.destination_port);
            }
        }
    }
    Some(Reach { context, port })
}

impl Reach {
    /// `SERVER`, `CLIENT` or nothing for both, as Telemetry and extensions name the direction; `None` where the API has
    /// no word for it: gateways are told apart by a selector only.
    pub fn mode(self, filter: &EnvoyFilter) -> Option<Option<&'static str>> {
        match self.context {
            PatchContext::Any => Some(None),
            PatchContext::SidecarInbound => Some(Some("SERVER")),
            PatchContext::SidecarOutbound => Some(Some("CLIENT")),
            PatchContext::Gateway => is_narrow(filter).then_some(None),
            PatchContext::Waypoint => None,
        }
    }
}

/// Whether a filter picks workloads.
pub fn is_narrow(filter: &EnvoyFilter) -> bool {
    !filter.target_refs.is_empty() || filter.selector.as_ref().is_some_and(|labels| !labels.is_empty())
}

/// Whether an AuthorizationPolicy is asked where a filter is put: it is about what comes in, on sidecars' inbound side and
/// on gateways.
pub fn authorization_reaches(candidate: &Candidate<'_>) -> bool {
    match candidate.reach.context {
        PatchContext::SidecarInbound => true,
        PatchContext::Gateway => is_narrow(candidate.view.filter),
        _ => false,
    }
}

/// Whether a filter is for every workload of the mesh.
pub fn is_mesh_wide(cx: &Context<'_>, filter: &EnvoyFilter) -> bool {
    filter.namespace == cx.mesh.root_namespace && !is_narrow(filter)
}

/// Host and port of a service: from the name of a cluster that istiod generates (`outbound|PORT||HOST`), or from the
/// only endpoint of a cluster that some filter adds under that name.
pub fn service_of_cluster(cx: &Context<'_>, cluster: &str) -> Option<(String, u32)> {
    if cluster.contains('|') {
        let key = matching::parse_subset_key(cluster);
        return (key.direction == "outbound" && key.subset.is_empty() && key.port != 0 && is_host(key.host))
            .then(|| (key.host.to_owned(), key.port));
    }
    candidates_with(cx, ApplyTo::Cluster, |tree| tree.name() == cluster).find_map(|candidate| {
        let (host, port) = (candidate.operation == Operation::Add).then(|| endpoint(&candidate.parts.tree))??;
        is_host(&host).then_some((host, port))
    })
}

/// Whether a text is the full name of a host: neither an address nor a name from a pod's search path, and nothing that is filled in later.
pub fn is_host(text: &str) -> bool {
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '.');
    plain && text.contains('.') && text.parse::<core::net::IpAddr>().is_err()
}

/// Address and port of the only endpoint of a cluster.
pub fn endpoint(cluster: &Tree<'_>) -> Option<(String, u32)> {
    let [locality] = cluster.path(&["load_assignment", "endpoints"])?.items() else { return None };
    let [one] = locality.get("lb_endpoints")?.items() else { return None };
    let address = one.path(&["endpoint", "address", "socket_address"])?;
    let port = u32::try_from(address.get("port_value")?.as_u64()?).ok()?;
    Some((address.get("address")?.as_str()?.to_owned(), port))
}

/// A message of which fields are taken one by one.
#[derive(Clone, Debug)]
pub struct Parts<'a> {
    /// What is left.
    pub tree: Tree<'a>,
    schema: Schema,
}

impl<'a> Parts<'a> {
    /// All of a message.
    pub fn new(tree: Tree<'a>, schema: Schema) -> Parts<'a> {
        Parts { tree, schema }
    }

    /// Whether every field was taken.
    pub fn done(&self) -> bool {
        self.tree.entries().is_empty()
    }

    /// Takes the value at a path of fields written `a/b/c`; what becomes empty above it goes too.
    pub fn take(&mut self, path: &str) -> Option<Tree<'a>> {
        fn remove<'a>(tree: &mut Tree<'a>, path: &str) -> Option<Tree<'a>> {
            let Some((head, rest)) = path.split_once('/') else { return tree.remove(path) };
            let child = tree.get_mut(head)?;
            let taken = remove(child, rest)?;
            if child.entries().is_empty() {
                tree.remove(head);
            }
            Some(taken)
        }
        remove(&mut self.tree, path)
    }

    /// Takes a value and forgets it.
    pub fn skip(&mut self, path: &str) {
        self.take(path);
    }

    /// Takes a text, enum name or duration.
    pub fn text(&mut self, path: &str) -> Option<String> {
        let taken = self.take(path)?;
        match taken.value {
            Value::String(text) => Some(text.into_owned()),
            _ => None,
        }
    }

    /// Takes a scalar as JSON; the default of a wrapper included.
    pub fn json(&mut self, path: &str) -> Option<Json> {
        self.take(path).map(|taken| to_json(&taken))
    }

    /// Takes a whole number, also when it stands in a string.
    pub fn number(&mut self, path: &str) -> Option<u64> {
        self.take(path)?.as_u64()
    }

    /// Takes a boolean.
    pub fn flag(&mut self, path: &str) -> Option<bool> {
        match self.take(path)?.value {
            Value::Bool(flag) => Some(flag),
            _ => None,
        }
    }

    /// Takes a message as parts of its own.
    pub fn sub(&mut self, path: &str) -> Option<Parts<'a>> {
        let schema = self.schema;
        self.take(path).map(|tree| Parts { tree, schema })
    }

    /// Takes the items of a list.
    pub fn list(&mut self, path: &str) -> Vec<Parts<'a>> {
        let schema = self.schema;
        match self.take(path).map(|taken| taken.value) {
            Some(Value::List(items)) => items.into_iter().map(|tree| Parts { tree, schema }).collect(),
            _ => Vec::new(),
        }
    }

    /// Takes an `Any` if it holds that message, also inside a TypedStruct whose content reads without trouble.
    pub fn typed(&mut self, path: &str, message: &str) -> Option<Parts<'a>> {
        let schema = self.schema;
        let mut any = self.take(path)?;
        let of = any.type_name()?;
        if of == message {
            any.remove(TYPE_KEY);
            return Some(Parts { tree: any, schema });
        }
        if of != "udpa.type.v1.TypedStruct" && of != "xds.type.v3.TypedStruct" {
            return None;
        }
        if type_name(any.str_at("type_url")) != message {
            return None;
        }
        let value = any.remove("value").unwrap_or(Tree::new(Value::Map(Vec::new())));
        let decoded = decode(schema, schema.message(message)?, value);
        let clean = decoded.notices.iter().all(|notice| notice.what == What::DefaultDropped);
        clean.then_some(Parts { tree: decoded.tree, schema })
    }
}

/// A tree as JSON.
pub fn to_json(tree: &Tree<'_>) -> Json {
    match &tree.value {
        Value::Null | Value::Raw(_) => Json::Null,
        Value::Bool(flag) => (*flag).into(),
        Value::Number(text) => serde_json::from_str(text).unwrap_or(Json::Null),
        Value::String(text) => text.as_ref().into(),
        Value::List(items) => items.iter().map(to_json).collect(),
        Value::EmptyList => Json::Array(Vec::new()),
        Value::Map(entries) => entries.iter().map(|(key, value)| (key.to_string(), to_json(value))).collect(),
    }
}

/// Puts a value under a chain of keys, making the maps on the way.
pub fn put(into: &mut serde_json::Map<String, Json>, path: &str, value: impl Into<Json>) {
    let Some((head, rest)) = path.split_once('/') else {
        into.insert(path.to_owned(), value.into());
        return;
    };
    let child = into.entry(head).or_insert_with(|| Json::Object(serde_json::Map::new()));
    if let Json::Object(map) = child {
        put(map, rest, value);
    }
}
