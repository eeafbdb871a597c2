//! Resources as JSON. istiod sends most resources to all proxies, byte for byte, so they are decoded once.
//!
//! `proto::wire` converts the bytes to JSON. It has the types of every istiod release and is exact about what Go
//! writes; prost-reflect would first have to link a pool of all descriptors for each release.

use super::fault::Fault;
use crate::proto::json;
use crate::proto::schema::Schema;
use crate::proto::tree::{Tree, Value};
use crate::proto::wire;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

/// Type of endpoints, which are not a `ResourceKind`: no EnvoyFilter reaches them.
pub(super) const ENDPOINTS: &str = "envoy.config.endpoint.v3.ClusterLoadAssignment";

/// Maximum size of the cache, istiod's bytes and the texts together; beyond it, the cache is cleared.
const MOST: usize = 256 << 20;

/// A decoded resource.
#[derive(Debug)]
pub(super) struct Resource {
    /// Its name.
    pub(super) name: String,
    /// Its JSON, with ordered keys.
    pub(super) text: Arc<str>,
    /// The names that it refers to.
    pub(super) references: References,
}

/// Names that resources refer to.
#[derive(Debug, Default)]
pub(super) struct References {
    pub(super) routes: BTreeSet<String>,
    pub(super) extensions: BTreeSet<String>,
    pub(super) endpoints: BTreeSet<String>,
}

impl References {
    /// Adds those of another resource.
    pub(super) fn extend(&mut self, other: &References) {
        for (own, others) in [
            (&mut self.routes, &other.routes),
            (&mut self.extensions, &other.extensions),
            (&mut self.endpoints, &other.endpoints),
        ] {
            own.extend(others.iter().cloned());
        }
    }

    fn cluster(&mut self, tree: &Tree<'_>) {
        if tree.str_at("type") != "EDS" {
            return;
        }
        let named = tree.path(&["eds_cluster_config", "service_name"]).and_then(Tree::as_str);
        self.endpoints.insert(named.unwrap_or_else(|| tree.name()).to_owned());
    }

    /// Collects `rds` and `config_discovery` everywhere: in filter chains, default filter chains and nested filters.
    fn listener(&mut self, tree: &Tree<'_>) {
        match &tree.value {
            Value::Map(entries) => {
                for (key, value) in entries {
                    // In a TypedStruct, fields may have their JSON names.
                    if key == "rds" {
                        let name = value.get_either("route_config_name", "routeConfigName").and_then(Tree::as_str);
                        self.routes.extend(name.filter(|name| !name.is_empty()).map(str::to_owned));
                    }
                    if key == "config_discovery" || key == "configDiscovery" {
                        self.extensions.insert(tree.name().to_owned());
                    }
                    self.listener(value);
                }
            }
            Value::List(items) => items.iter().for_each(|item| self.listener(item)),
            _ => {}
        }
    }
}

/// The decoded resources of one istiod, which all have the same types.
#[derive(Debug, Default)]
pub(super) struct Texts {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    /// By type and bytes.
    resources: HashMap<&'static str, HashMap<Box<[u8]>, Arc<Resource>>>,
    size: usize,
}

impl Texts {
    /// The resource for these bytes.
    pub(super) fn read(&self, schema: Schema, type_name: &'static str, bytes: &[u8]) -> Result<Arc<Resource>, Fault> {
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept().resources.get(type_name).and_then(|of| of.get(bytes)) {
            return Ok(Arc::clone(known));
        }
        // Unlocked, since decoding takes time; two concurrent readers get the same result.
        let read = Arc::new(decoded(schema, type_name, bytes)?);
        let mut kept = kept();
        if kept.size > MOST {
            *kept = Kept::default();
        }
        kept.size += bytes.len() + read.text.len();
        kept.resources.entry(type_name).or_default().insert(bytes.into(), Arc::clone(&read));
        Ok(read)
    }
}

fn decoded(schema: Schema, type_name: &str, bytes: &[u8]) -> Result<Resource, Fault> {
    let Some(tree) = wire::message(schema, type_name, bytes) else {
        return Err(Fault::Undecodable(type_name.to_owned(), first_text(bytes)));
    };
    let mut references = References::default();
    match type_name {
        "envoy.config.cluster.v3.Cluster" => references.cluster(&tree),
        "envoy.config.listener.v3.Listener" => references.listener(&tree),
        _ => {}
    }
    let name = if type_name == ENDPOINTS { tree.str_at("cluster_name") } else { tree.name() }.to_owned();
    let mut typed = Tree::empty();
    typed.set("@type", Tree::new(Value::String(format!("type.googleapis.com/{type_name}").into())));
    if let (Some(entries), Value::Map(fields)) = (typed.entries_mut(), tree.value) {
        entries.extend(fields);
    }
    Ok(Resource { name, text: json::canonical(&typed).into(), references })
}

/// The first text in a message, which for all these types is its name.
fn first_text(bytes: &[u8]) -> String {
    let (Some(10), Some(&length)) = (bytes.first(), bytes.get(1)) else { return "no name".to_owned() };
    String::from_utf8_lossy(bytes.get(2..2 + usize::from(length)).unwrap_or_default()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::release::Release;
    use crate::model::resource::ResourceKind;

    #[test]
    fn equal_bytes_are_read_once_and_other_types_apart() {
        let schema = Schema::istiod(Release::NEWEST.minor, 0);
        let (texts, bytes) = (Texts::default(), b"\x0a\x04name");
        let cluster = texts.read(schema, ResourceKind::Cluster.type_name(), bytes).unwrap();
        let second = texts.read(schema, ResourceKind::Cluster.type_name(), bytes).unwrap();
        assert!(Arc::ptr_eq(&cluster, &second));
        let route = texts.read(schema, ResourceKind::Route.type_name(), bytes).unwrap();
        assert_eq!((cluster.name.as_str(), route.name.as_str()), ("name", "name"));
        assert!(cluster.text.contains("cluster.v3.Cluster") && route.text.contains("RouteConfiguration"));
        assert!(matches!(texts.read(schema, "no.Such", bytes), Err(Fault::Undecodable(..))));
    }
}
