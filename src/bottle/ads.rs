//! What a proxy asks of istiod: one stream, the state of the world (every release speaks it), each kind of resource once.
//!
//! The bytes of resources become JSON by `proto::wire`, which has the types of every release of istiod and is exact about
//! what Go writes; prost-reflect would first have to link a pool of all descriptors for each release.

use super::fault::Fault;
use super::grpc::{Channel, Stream};
use super::node::Node;
use crate::model::resource::ResourceKind;
use crate::proto::json;
use crate::proto::schema::Schema;
use crate::proto::tree::{Tree, Value as TreeValue};
use crate::proto::wire;
use prost_types::value::Kind;
use prost_types::{Any, ListValue, Struct, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How long an answer may take.
const ANSWER: Duration = Duration::from_secs(30);

/// The call that proxies make.
const METHOD: &str = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";

/// Type of endpoints, which are no `ResourceKind`: no EnvoyFilter reaches them.
pub(super) const ENDPOINTS: &str = "envoy.config.endpoint.v3.ClusterLoadAssignment";

/// `envoy.config.core.v3.Node`, as far as istiod reads it.
#[derive(Clone, PartialEq, prost::Message)]
struct NodeMessage {
    #[prost(string, tag = "1")]
    id: String,
    #[prost(string, tag = "2")]
    cluster: String,
    #[prost(message, optional, tag = "3")]
    metadata: Option<Struct>,
}

/// `envoy.service.discovery.v3.DiscoveryRequest`.
#[derive(Clone, PartialEq, prost::Message)]
struct Request {
    #[prost(string, tag = "1")]
    version_info: String,
    #[prost(message, optional, tag = "2")]
    node: Option<NodeMessage>,
    #[prost(string, repeated, tag = "3")]
    resource_names: Vec<String>,
    #[prost(string, tag = "4")]
    type_url: String,
    #[prost(string, tag = "5")]
    response_nonce: String,
}

/// `envoy.service.discovery.v3.DiscoveryResponse`.
#[derive(Clone, PartialEq, prost::Message)]
struct Response {
    #[prost(string, tag = "1")]
    version_info: String,
    #[prost(message, repeated, tag = "2")]
    resources: Vec<Any>,
    #[prost(string, tag = "4")]
    type_url: String,
    #[prost(string, tag = "5")]
    nonce: String,
}

/// Texts of resources by their names, in the order of the names. Of several with the same name, later ones are called
/// `name#2` and so on.
pub type Named = BTreeMap<String, String>;

/// Everything that a proxy gets, as JSON with keys in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    /// Clusters (CDS).
    pub clusters: Named,
    /// Listeners (LDS).
    pub listeners: Named,
    /// Routes (RDS) that the listeners ask for.
    pub routes: Named,
    /// Configurations of extensions (ECDS) that the listeners ask for.
    pub extensions: Named,
    /// Endpoints (EDS) that the clusters ask for; empty unless wanted.
    pub endpoints: Named,
}

impl Configuration {
    /// The resources of a kind.
    pub fn of(&self, kind: ResourceKind) -> &Named {
        match kind {
            ResourceKind::Listener => &self.listeners,
            ResourceKind::Cluster => &self.clusters,
            ResourceKind::Route => &self.routes,
            ResourceKind::ExtensionConfig => &self.extensions,
        }
    }

    /// How many resources there are.
    pub fn len(&self) -> usize {
        let kinds = [&self.clusters, &self.listeners, &self.routes, &self.extensions, &self.endpoints];
        kinds.iter().map(|kind| kind.len()).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What is wanted beside listeners, routes and clusters.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Endpoints too.
    pub endpoints: bool,
    /// Extension configurations to ask for beside those that the listeners name.
    pub extensions: Vec<String>,
}

/// Asks for everything that a proxy would ask for.
pub(super) async fn ask(
    channel: &Channel,
    schema: Schema,
    node: &Node,
    wanted: &Wanted,
) -> Result<Configuration, Fault> {
    let mut talk = Talk { stream: channel.call(METHOD).await?, node: Some(message(node)), schema };
    let mut configuration = Configuration::default();
    let mut references = References::default();
    let cluster = ResourceKind::Cluster.type_name();
    configuration.clusters = talk.get("clusters", cluster, Vec::new(), &mut |tree| references.cluster(tree)).await?;
    let listener = ResourceKind::Listener.type_name();
    configuration.listeners =
        talk.get("listeners", listener, Vec::new(), &mut |tree| references.listener(tree)).await?;
    let routes: Vec<String> = references.routes.into_iter().collect();
    if !routes.is_empty() {
        let route = ResourceKind::Route.type_name();
        configuration.routes = talk.get("routes", route, routes, &mut |_| {}).await?;
    }
    let mut extensions = references.extensions;
    extensions.extend(wanted.extensions.iter().cloned());
    if !extensions.is_empty() {
        let extension = ResourceKind::ExtensionConfig.type_name();
        let names = extensions.into_iter().collect();
        configuration.extensions = talk.get("extension configurations", extension, names, &mut |_| {}).await?;
    }
    if wanted.endpoints && !references.endpoints.is_empty() {
        let names = references.endpoints.into_iter().collect();
        configuration.endpoints = talk.get("endpoints", ENDPOINTS, names, &mut |_| {}).await?;
    }
    Ok(configuration)
}

/// The clusters of a proxy alone.
pub(super) async fn clusters(channel: &Channel, schema: Schema, node: &Node) -> Result<Named, Fault> {
    let mut talk = Talk { stream: channel.call(METHOD).await?, node: Some(message(node)), schema };
    talk.get("clusters", ResourceKind::Cluster.type_name(), Vec::new(), &mut |_| {}).await
}

/// Names that resources ask for.
#[derive(Default)]
struct References {
    routes: BTreeSet<String>,
    extensions: BTreeSet<String>,
    endpoints: BTreeSet<String>,
}

impl References {
    fn cluster(&mut self, tree: &Tree<'_>) {
        if tree.str_at("type") != "EDS" {
            return;
        }
        let named = tree.path(&["eds_cluster_config", "service_name"]).and_then(Tree::as_str);
        self.endpoints.insert(named.unwrap_or_else(|| tree.name()).to_owned());
    }

    /// Finds `rds` and `config_discovery` wherever they are: in chains, default chains and filters inside filters.
    fn listener(&mut self, tree: &Tree<'_>) {
        match &tree.value {
            TreeValue::Map(entries) => {
                for (key, value) in entries {
                    if key == "rds" {
                        self.routes.insert(value.str_at("route_config_name").to_owned());
                    }
                    if key == "config_discovery" {
                        self.extensions.insert(tree.name().to_owned());
                    }
                    self.listener(value);
                }
            }
            TreeValue::List(items) => items.iter().for_each(|item| self.listener(item)),
            _ => {}
        }
    }
}

/// One stream.
struct Talk {
    stream: Stream,
    /// Sent with the first request.
    node: Option<NodeMessage>,
    schema: Schema,
}

impl Talk {
    /// Asks for one kind, waits for it, and says that it was taken.
    async fn get(
        &mut self,
        what: &'static str,
        type_name: &str,
        names: Vec<String>,
        look: &mut (dyn FnMut(&Tree<'_>) + Send),
    ) -> Result<Named, Fault> {
        let mut request = Request {
            node: self.node.take(),
            type_url: format!("type.googleapis.com/{type_name}"),
            resource_names: names,
            ..Request::default()
        };
        self.stream.send(&request)?;
        let response = loop {
            // A change in istiod sends kinds again that were asked for before.
            let response: Response = self.stream.next(what, ANSWER).await?;
            if response.type_url == request.type_url {
                break response;
            }
        };
        let mut named = Named::new();
        for resource in &response.resources {
            let (name, text) = self.read(type_name, &resource.value, look)?;
            let mut key = name.clone();
            for number in 2.. {
                if !named.contains_key(&key) {
                    break;
                }
                key = format!("{name}#{number}");
            }
            named.insert(key, text);
        }
        request.version_info = response.version_info;
        request.response_nonce = response.nonce;
        self.stream.send(&request)?;
        Ok(named)
    }

    fn read(
        &self,
        type_name: &str,
        bytes: &[u8],
        look: &mut (dyn FnMut(&Tree<'_>) + Send),
    ) -> Result<(String, String), Fault> {
        let Some(tree) = wire::message(self.schema, type_name, bytes) else {
            return Err(Fault::Undecodable(type_name.to_owned(), first_text(bytes)));
        };
        look(&tree);
        let name = if type_name == ENDPOINTS { tree.str_at("cluster_name") } else { tree.name() };
        let mut typed = Tree::new(TreeValue::Map(Vec::new()));
        typed.set("@type", Tree::new(TreeValue::String(format!("type.googleapis.com/{type_name}").into())));
        if let (Some(entries), TreeValue::Map(fields)) = (typed.entries_mut(), &tree.value) {
            entries.extend(fields.iter().cloned());
        }
        Ok((name.to_owned(), json::canonical(&typed)))
    }
}

/// The first text in a message: of all these types, its name.
fn first_text(bytes: &[u8]) -> String {
    let (Some(10), Some(&length)) = (bytes.first(), bytes.get(1)) else { return "no name".to_owned() };
    String::from_utf8_lossy(bytes.get(2..2 + usize::from(length)).unwrap_or_default()).into_owned()
}

fn message(node: &Node) -> NodeMessage {
    let fields = node.metadata.iter().map(|(key, value)| (key.clone(), proto(value))).collect();
    NodeMessage { id: node.id(), cluster: node.cluster(), metadata: Some(Struct { fields }) }
}

fn proto(value: &serde_json::Value) -> Value {
    let kind = match value {
        serde_json::Value::Null => Kind::NullValue(0),
        serde_json::Value::Bool(value) => Kind::BoolValue(*value),
        serde_json::Value::Number(number) => Kind::NumberValue(number.as_f64().unwrap_or_default()),
        serde_json::Value::String(text) => Kind::StringValue(text.clone()),
        serde_json::Value::Array(items) => Kind::ListValue(ListValue { values: items.iter().map(proto).collect() }),
        serde_json::Value::Object(fields) => Kind::StructValue(Struct {
            fields: fields.iter().map(|(key, value)| (key.clone(), proto(value))).collect(),
        }),
    };
    Value { kind: Some(kind) }
}
