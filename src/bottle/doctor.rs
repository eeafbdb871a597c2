//! Compares istiod and the engine on a user's mesh: both apply the filters, and the results must be equal.

use super::ads::{Configuration, Wanted};
use super::computed::{Computed, Resources, canonical, computed, sorted};
use super::dump;
use super::fault::Fault;
use super::node::Node;
use super::run::Bottle;
use super::{panicked, shared_hosts};
use crate::engine::{MeshSettings, Options, Program};
use crate::load::dump::{Dump, Identity};
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::release::Release;
use crate::model::resource::ResourceKind;
use crate::proto::json;
use crate::words::count;
use serde_json::Value;
use std::collections::BTreeSet;

/// Maximum number of places that are reported for one resource.
const PLACES: usize = 5;

/// A difference between istiod and the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Kind of the resource.
    pub kind: ResourceKind,
    /// Its name.
    pub name: String,
    /// The difference.
    pub how: How,
}

/// How two results of one resource differ. Values are left out, since they may be secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    /// Only istiod sends it.
    OnlyIstiod,
    /// Only the engine computes it.
    OnlyEngine,
    /// These fields differ; the first few.
    Fields(Vec<String>),
}

/// The result for one proxy.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The proxy.
    pub node: Node,
    /// How many resources were compared.
    pub resources: usize,
    /// How many of them the filters change, add or remove.
    pub changed: usize,
    /// The differences; empty if both agree.
    pub differences: Vec<Difference>,
    /// Route configurations whose virtual hosts istiod took, already patched, from that of their port, and patched again. It
    /// depends on the order of requests, which varies; the engine patches them once.
    pub patched_again: Vec<String>,
    /// Patches that make istiod panic, each as `configPatches[0] of namespace/name`.
    pub panics: Vec<String>,
    /// Resources that istiod patched before such a panic in one order of its work and the engine in another; the order varies.
    pub panicked: Vec<(ResourceKind, String)>,
    /// Patches that write into an object that istiod also uses for other proxies, named like panics: what those get then depends
    /// on the order of requests.
    pub shared: BTreeSet<String>,
    /// Outcomes that the engine cannot know from a dump alone (routes that filters request, services that annotations
    /// add).
    pub unknown: usize,
}

/// The input of a comparison: the filters and the settings.
#[derive(Debug)]
pub struct Filters<'f> {
    /// As the engine reads them.
    pub parsed: &'f [EnvoyFilter],
    /// As istiod reads them.
    pub documents: &'f [Value],
    /// The release of istiod.
    pub release: Release,
    /// Settings of the mesh.
    pub mesh: &'f MeshSettings,
}

/// Requests all proxies from istiod without and with the filters, and compares the engine's result for the first with
/// the second. In the order of the nodes.
pub fn compare(
    bottle: &mut Bottle,
    nodes: &[Node],
    filters: &Filters<'_>,
    wanted: &Wanted,
) -> Result<Vec<Result<Comparison, Fault>>, Fault> {
    bottle.set_filters(Vec::new())?;
    let before = bottle.ask_all(nodes, wanted);
    bottle.set_filters(filters.documents.to_vec())?;
    let after = bottle.ask_all(nodes, wanted);
    let program = Program::new(filters.parsed, filters.release);
    let judged =
        nodes.iter().zip(before.into_iter().zip(after)).map(|(node, (before, after))| -> Result<Comparison, Fault> {
            let (before, after) = (before?, after?);
            Ok(one(&program, filters.mesh, node, &before, &after, wanted))
        });
    Ok(judged.collect())
}

fn one(
    program: &Program<'_>,
    mesh: &MeshSettings,
    node: &Node,
    before: &Configuration,
    after: &Configuration,
    wanted: &Wanted,
) -> Comparison {
    let istiod = of_configuration(after);
    let base = of_configuration(before);
    let (dump, _) = Dump::from_text(node.full_name(), dump::text(node, before));
    let config = dump.as_ref().and_then(|dump| dump.config(&Identity::default()).ok());
    let extension_names = (!wanted.extensions.is_empty()).then(|| wanted.extensions.clone());
    let options = Options { extension_names, ..Options::default() };
    let plan = config.as_ref().map(|config| program.plan(&config.proxy, mesh));
    let both = || Some((plan.as_ref()?, config.as_ref()?));
    let Computed { resources: engine, panics, passes, shared, unknown } =
        both().map(|(plan, config)| computed(plan, config, &options)).unwrap_or_default();
    let keys: BTreeSet<_> = istiod.keys().chain(engine.keys()).collect();
    let changed = keys.iter().filter(|key| istiod.get(**key) != base.get(**key)).count()
        + base.keys().filter(|key| !istiod.contains_key(*key) && !engine.contains_key(*key)).count();
    // What istiod sends for a route configuration if it took the virtual hosts of that of the port, already patched.
    let again = |name: &str| {
        let ((plan, config), (_, port)) = (both()?, name.rsplit_once(':')?);
        let [port] = engine.get(&(ResourceKind::Route, port.to_owned()))?.as_slice() else { return None };
        shared_hosts::patched_again(plan, config, &options, name, port)
    };
    let by_panic = |key, theirs| {
        !passes.is_empty()
            && both()
                .is_some_and(|(plan, config)| panicked::may_send((plan, config, &options), &passes, &base, key, theirs))
    };
    let (mut patched_again, mut panicked) = (Vec::new(), Vec::new());
    let differences = keys.iter().filter_map(|key| {
        let (theirs, ours) = (istiod.get(*key), engine.get(*key));
        let how = match (theirs, ours) {
            (Some(theirs), Some(ours)) if theirs == ours => return None,
            (Some(theirs), Some(_))
                if key.0 == ResourceKind::Route && again(&key.1).is_some_and(|again| *theirs == [again]) =>
            {
                patched_again.push(key.1.clone());
                return None;
            }
            (theirs, _) if by_panic(*key, theirs) => {
                panicked.push((*key).clone());
                return None;
            }
            (Some(theirs), Some(ours)) => How::Fields(places(theirs, ours)),
            (Some(_), None) => How::OnlyIstiod,
            (None, _) => How::OnlyEngine,
        };
        Some(Difference { kind: key.0, name: key.1.clone(), how })
    });
    let differences = differences.collect();
    let resources = keys.len();
    Comparison { node: node.clone(), resources, changed, differences, patched_again, panics, panicked, shared, unknown }
}

fn of_configuration(configuration: &Configuration) -> Resources {
    let mut all = Resources::new();
    for kind in [ResourceKind::Listener, ResourceKind::Cluster, ResourceKind::Route, ResourceKind::ExtensionConfig] {
        let named = configuration.of(kind);
        for (name, text) in named {
            let name = name
                .rsplit_once('#')
                .filter(|(first, _)| named.contains_key(*first))
                .map_or(name.as_str(), |(name, _)| name);
            if let Ok(tree) = json::parse(text) {
                all.entry((kind, name.to_owned())).or_default().push(canonical(tree));
            }
        }
    }
    sorted(all)
}

/// The first fields that differ, in the first texts that differ.
fn places(theirs: &[String], ours: &[String]) -> Vec<String> {
    let mut places = Vec::new();
    if theirs.len() != ours.len() {
        places.push(format!("istiod sends {}, the engine computes {}", theirs.len(), ours.len()));
    }
    for (theirs, ours) in theirs.iter().zip(ours) {
        let (Ok(theirs), Ok(ours)) = (serde_json::from_str::<Value>(theirs), serde_json::from_str::<Value>(ours))
        else {
            continue;
        };
        differing(&theirs, &ours, String::new(), &mut places);
    }
    places.truncate(PLACES);
    places
}

fn differing(left: &Value, right: &Value, path: String, places: &mut Vec<String>) {
    if places.len() > PLACES || left == right {
        return;
    }
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            let keys: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
            for key in keys {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                match (left.get(key), right.get(key)) {
                    (Some(left), Some(right)) => differing(left, right, path, places),
                    (Some(_), None) => places.push(format!("{path} (only istiod)")),
                    (None, _) => places.push(format!("{path} (only the engine)")),
                }
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (at, (left, right)) in left.iter().zip(right).enumerate() {
                differing(left, right, format!("{path}[{at}]"), places);
            }
        }
        (Value::Array(left), Value::Array(right)) => {
            let theirs = count(left.len(), "item", "items");
            places.push(format!("{path} ({theirs} from istiod, {} from the engine)", right.len()));
        }
        _ => places.push(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_tell_where_and_not_what() {
        let theirs = r#"{"a":{"b":[1,2]},"only":"hunter2","same":1}"#.to_owned();
        let ours = r#"{"a":{"b":[1,3]},"same":1}"#.to_owned();
        assert_eq!(places(&[theirs], &[ours]), ["a.b[1]", "only (only istiod)"]);
    }
}
