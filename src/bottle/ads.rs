//! The xDS requests of a proxy: one state-of-the-world stream, which every release supports, with one request for each
//! kind of resource.
//!
//! `texts` decodes the bytes of resources to JSON, each once.

use super::fault::Fault;
use super::grpc::{Channel, Stream};
use super::node::Node;
use super::texts::{ENDPOINTS, References, Texts};
use crate::model::resource::ResourceKind;
use crate::proto::schema::Schema;
use prost_types::value::Kind;
use prost_types::{Any, ListValue, Struct, Value};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

/// How long an answer may take.
const ANSWER: Duration = Duration::from_secs(30);

/// The method that proxies call.
const METHOD: &str = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";

/// `envoy.config.core.v3.Node`, the fields that istiod reads.
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

/// Resources as text, ordered by name. Further resources with the same name are named `name#2` and so on. Proxies that
/// get the same resource share its text.
pub type Named = BTreeMap<String, Arc<str>>;

/// Everything that a proxy receives, as JSON with ordered keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    /// Clusters (CDS).
    pub clusters: Named,
    /// Listeners (LDS).
    pub listeners: Named,
    /// Routes (RDS) that the listeners refer to.
    pub routes: Named,
    /// Extension configurations (ECDS) that the listeners refer to.
    pub extensions: Named,
    /// Endpoints (EDS) that the clusters refer to; empty unless requested.
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

/// What to request besides listeners, routes and clusters.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Whether to request endpoints.
    pub endpoints: bool,
    /// Extension configurations to request besides those that the listeners name.
    pub extensions: Vec<String>,
}

/// Requests everything that a proxy would request.
pub(super) async fn ask(
    channel: &Channel,
    schema: Schema,
    texts: &Texts,
    node: &Node,
    wanted: &Wanted,
) -> Result<Configuration, Fault> {
    let mut talk = Talk { stream: channel.call(METHOD).await?, node: Some(message(node)), schema, texts };
    let mut configuration = Configuration::default();
    let mut references = References::default();
    let mut all = References::default();
    let cluster = ResourceKind::Cluster.type_name();
    configuration.clusters = talk.get("clusters", cluster, Vec::new(), &mut references).await?;
    let listener = ResourceKind::Listener.type_name();
    configuration.listeners = talk.get("listeners", listener, Vec::new(), &mut references).await?;
    let routes: Vec<String> = references.routes.into_iter().collect();
    if !routes.is_empty() {
        let route = ResourceKind::Route.type_name();
        configuration.routes = talk.get("routes", route, routes, &mut all).await?;
    }
    let mut extensions = references.extensions;
    extensions.extend(wanted.extensions.iter().cloned());
    if !extensions.is_empty() {
        let extension = ResourceKind::ExtensionConfig.type_name();
        let names = extensions.into_iter().collect();
        configuration.extensions = talk.get("extension configurations", extension, names, &mut all).await?;
    }
    if wanted.endpoints && !references.endpoints.is_empty() {
        let names = references.endpoints.into_iter().collect();
        configuration.endpoints = talk.get("endpoints", ENDPOINTS, names, &mut all).await?;
    }
    Ok(configuration)
}

/// The clusters of a proxy alone.
pub(super) async fn clusters(channel: &Channel, schema: Schema, texts: &Texts, node: &Node) -> Result<Named, Fault> {
    let mut talk = Talk { stream: channel.call(METHOD).await?, node: Some(message(node)), schema, texts };
    talk.get("clusters", ResourceKind::Cluster.type_name(), Vec::new(), &mut References::default()).await
}

/// One stream.
struct Talk<'t> {
    stream: Stream,
    /// Sent with the first request.
    node: Option<NodeMessage>,
    schema: Schema,
    texts: &'t Texts,
}

impl Talk<'_> {
    /// Requests one kind, waits for it, and acknowledges it.
    async fn get(
        &mut self,
        what: &'static str,
        type_name: &'static str,
        names: Vec<String>,
        references: &mut References,
    ) -> Result<Named, Fault> {
        let mut request = Request {
            node: self.node.take(),
            type_url: format!("type.googleapis.com/{type_name}"),
            resource_names: names,
            ..Request::default()
        };
        self.stream.send(&request)?;
        let response = self.stream.next(what, ANSWER, |response: &Response| {
            // After a change, istiod resends kinds that were requested before.
            response.type_url == request.type_url
        });
        let response = response.await?;
        let named = named(self.texts, self.schema, type_name, &response.resources, references)?;
        request.version_info = response.version_info;
        request.response_nonce = response.nonce;
        self.stream.send(&request)?;
        Ok(named)
    }
}

/// Decodes resources, and names them.
fn named(
    texts: &Texts,
    schema: Schema,
    type_name: &'static str,
    resources: &[Any],
    references: &mut References,
) -> Result<Named, Fault> {
    let mut named = Named::new();
    // How often each name was seen.
    let mut seen: HashMap<String, usize> = HashMap::new();
    for resource in resources {
        let read = texts.read(schema, type_name, &resource.value)?;
        references.extend(&read.references);
        let times = seen.entry(read.name.clone()).or_default();
        let key = loop {
            *times += 1;
            let key = if *times == 1 { read.name.clone() } else { format!("{}#{times}", read.name) };
            if !named.contains_key(&key) {
                break key;
            }
        };
        named.insert(key, Arc::clone(&read.text));
    }
    Ok(named)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::release::Release;
    use std::time::Instant;

    /// The names of clusters with these names.
    fn names_of(names: &[&str]) -> Vec<String> {
        let cluster = |name: &&str| {
            let mut value = Vec::new();
            crate::proto::wire::field(1, name.as_bytes(), &mut value);
            Any { type_url: String::new(), value }
        };
        let resources: Vec<Any> = names.iter().map(cluster).collect();
        let (schema, type_name) = (Schema::istiod(Release::NEWEST.minor, 0), ResourceKind::Cluster.type_name());
        let named = named(&Texts::default(), schema, type_name, &resources, &mut References::default());
        named.unwrap().into_keys().collect()
    }

    #[test]
    fn equal_names_are_numbered_in_linear_time() {
        assert_eq!(names_of(&["a", "b", "a", "a#2", "a"]), ["a", "a#2", "a#2#2", "a#3", "b"]);
        let began = Instant::now();
        assert_eq!(names_of(&vec!["same"; 30_000]).len(), 30_000);
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    }
}
