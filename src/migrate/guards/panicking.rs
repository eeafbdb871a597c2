//! At which patches istiod panics: the engine decides, on the reference configurations.

use crate::engine::matching::{self, HTTP_CONNECTION_MANAGER};
use crate::engine::program::{BuiltPatch, Program, Status};
use crate::engine::trace::{Panic, Trace};
use crate::engine::{self, MeshSettings, Options};
use crate::load::reference;
use crate::model::envoy_filter::{
    ApplyTo, EnvoyFilter, FilterChainMatch, FilterMatch, ListenerMatch, ObjectMatch, Operation, Patch, PatchContext,
    TargetRef,
};
use crate::model::proxy::GATEWAY_NAME_LABEL;
use crate::model::release::Release;
use crate::model::resource::{ProxyConfig, ResourceKind};
use crate::proto::tree::Tree;
use crate::source::{Node, NodeValue};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::OnceLock;

/// The names of the sample EnvoyFilter, its namespace and its gateway.
const SAMPLE: &str = "sample";

/// What decides whether istiod panics at a patch: patches of one shape share an answer. A port or a name that only the user's
/// mesh has does not.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Shape {
    apply_to: ApplyTo,
    context: PatchContext,
    operation: Operation,
    object: ObjectMatch,
    has_value: bool,
    /// The type of the configuration or of the transport socket; empty if there is none.
    config: String,
    /// Whether `targetRefs` attach it.
    referred: bool,
    /// The types under its filter's name that patches insert.
    inserted: Vec<String>,
}

/// The answers.
pub(super) struct Panicking<'p, 'f> {
    program: &'p Program<'f>,
    release: Release,
    known: HashMap<Shape, Option<Panic>>,
    /// The filters that patches insert, by what they are and their name: a patch of each type.
    inserted: HashMap<(ApplyTo, String), BTreeMap<String, (usize, usize)>>,
    /// The names of filters in the reference configurations.
    names: OnceLock<HashSet<String>>,
}

/// The type of a filter's or socket's configuration; empty if there is none.
fn config_type(tree: &Tree<'_>) -> String {
    tree.get("typed_config").and_then(Tree::type_name).unwrap_or_default().into_owned()
}

/// The name of the filter that a patch is for.
fn named<'b>(built: &'b BuiltPatch<'_>) -> Option<&'b str> {
    match built.patch.apply_to {
        ApplyTo::HttpFilter => matching::sub_filter_name(&built.object),
        ApplyTo::NetworkFilter => matching::network_filter_name(&built.object),
        ApplyTo::ListenerFilter => matching::listener_match(&built.object).map(|it| it.listener_filter.as_str()),
        _ => None,
    }
    .filter(|name| !name.is_empty())
}

impl<'p, 'f> Panicking<'p, 'f> {
    pub(super) fn of(program: &'p Program<'f>, filters: usize) -> Panicking<'p, 'f> {
        let mut inserted: HashMap<(ApplyTo, String), BTreeMap<String, (usize, usize)>> = HashMap::new();
        for filter in 0..filters {
            for (at, built) in program.patches(filter).iter().enumerate() {
                let lists = matches!(
                    built.patch.apply_to,
                    ApplyTo::HttpFilter | ApplyTo::NetworkFilter | ApplyTo::ListenerFilter
                );
                let adds = !built.operation.is_merge() && built.operation != Operation::Remove;
                let Some(value) = built.value.as_ref().filter(|_| lists && adds && built.status == Status::Ready)
                else {
                    continue;
                };
                let of_name = inserted.entry((built.patch.apply_to, value.name().to_owned())).or_default();
                of_name.entry(config_type(value)).or_insert((filter, at));
            }
        }
        Panicking { program, release: program.compat.release, known: HashMap::new(), inserted, names: OnceLock::new() }
    }

    /// Why istiod panics at a patch of a filter, if it does so where the patch matches.
    pub(super) fn at(&mut self, filter: usize, built: &BuiltPatch<'_>) -> Option<Panic> {
        let config = config(built)?;
        let apply_to = built.patch.apply_to;
        let mut object = of_filters(&built.object);
        let mut inserted = &BTreeMap::new();
        if let Some(name) = named(built) {
            inserted = self.inserted.get(&(apply_to, name.to_owned())).unwrap_or(inserted);
            if !self.names().contains(name) {
                if inserted.is_empty() {
                    return None;
                }
                object = ObjectMatch::None;
            }
        }
        let shape = Shape {
            apply_to,
            context: built.patch.context,
            operation: built.operation,
            object,
            has_value: built.value.is_some(),
            config,
            referred: !self.program.filters[filter].target_refs.is_empty(),
            inserted: inserted.keys().cloned().collect(),
        };
        if let Some(known) = self.known.get(&shape) {
            return known.clone();
        }
        let panic = self.ask(built, shape.referred, inserted.values());
        self.known.insert(shape, panic.clone());
        panic
    }

    fn names(&self) -> &HashSet<String> {
        self.names.get_or_init(|| {
            let mut names = HashSet::new();
            for config in reference::configs(self.release) {
                for (_, resource) in config.generated(ResourceKind::Listener) {
                    let tree = resource.opened.as_ref().and_then(|opened| opened.of(resource.json.read()));
                    tree.into_iter().for_each(|tree| add_names(tree, &mut names));
                }
            }
            names
        })
    }

    /// Runs a patch, behind those that insert its filter, as one that is for every proxy.
    fn ask<'i>(
        &self,
        built: &BuiltPatch<'_>,
        referred: bool,
        inserted: impl Iterator<Item = &'i (usize, usize)>,
    ) -> Option<Panic> {
        let inserted =
            inserted.map(|(filter, at)| first(self.program.patches(*filter)[*at].patch, built.patch.context));
        let own = Patch { object: of_filters(&built.object), proxy: None, ..built.patch.clone() };
        let mut patches: Vec<Patch> = inserted.chain([own]).collect();
        patches.iter_mut().enumerate().for_each(|(index, patch)| patch.index = index);
        let sample = sample(patches, referred);
        let program = Program::new(std::slice::from_ref(&sample), self.release);
        reference::configs(self.release).iter().find_map(|config| panic(&program, config, referred))
    }
}

/// The type of the configuration or transport socket that a patch merges; `None` for a patch at which istiod never panics.
fn config(built: &BuiltPatch<'_>) -> Option<String> {
    if built.status != Status::Ready || built.operation == Operation::Remove {
        return None;
    }
    let Some(value) = &built.value else { return Some(String::new()) };
    match built.patch.apply_to {
        _ if built.operation != Operation::Merge => None,
        ApplyTo::NetworkFilter | ApplyTo::HttpFilter | ApplyTo::ListenerFilter => Some(config_type(value)),
        ApplyTo::FilterChain | ApplyTo::Cluster => value.get("transport_socket").map(config_type),
        _ => None,
    }
}

/// A match without what only the user's mesh has.
fn of_filters(object: &ObjectMatch) -> ObjectMatch {
    let Some(listener) = matching::listener_match(object) else { return ObjectMatch::None };
    let filter = listener.filter_chain.as_ref().and_then(|chain| chain.filter.clone());
    let filter_chain = filter.map(|filter| FilterChainMatch { filter: Some(filter), ..FilterChainMatch::default() });
    let listener_filter = listener.listener_filter.clone();
    ObjectMatch::Listener(ListenerMatch { listener_filter, filter_chain, ..ListenerMatch::default() })
}

/// A patch that inserts a filter, as one that does so in front of all others wherever patches of a context run.
fn first(patch: &Patch, context: PatchContext) -> Patch {
    let manager = FilterMatch { name: HTTP_CONNECTION_MANAGER.to_owned(), sub_filter: None };
    let filter = (patch.apply_to == ApplyTo::HttpFilter).then_some(manager);
    let chain = FilterChainMatch { filter, ..FilterChainMatch::default() };
    let object = ObjectMatch::Listener(ListenerMatch { filter_chain: Some(chain), ..ListenerMatch::default() });
    let mut patch = Patch { object, context, proxy: None, ..patch.clone() };
    if let Some(body) = &mut patch.body {
        body.operation = Operation::InsertFirst;
    }
    patch
}

fn sample(patches: Vec<Patch>, referred: bool) -> EnvoyFilter {
    let target = TargetRef {
        group: "gateway.networking.k8s.io".to_owned(),
        kind: "Gateway".to_owned(),
        name: SAMPLE.to_owned(),
        namespace: String::new(),
    };
    let span = patches[0].span;
    EnvoyFilter {
        name: SAMPLE.to_owned(),
        namespace: SAMPLE.to_owned(),
        created: None,
        annotations: BTreeMap::new(),
        labels: BTreeMap::new(),
        priority: 0,
        selector: None,
        target_refs: Vec::from_iter(referred.then_some(target)),
        patches,
        document: Node { span, value: NodeValue::Null },
        misspelt: Vec::new(),
        secrets: OnceLock::new(),
    }
}

/// The panic that a sample causes for a proxy.
fn panic(program: &Program<'_>, config: &ProxyConfig<'_>, referred: bool) -> Option<Panic> {
    let mut proxy = config.proxy.clone();
    SAMPLE.clone_into(&mut proxy.namespace);
    if referred {
        proxy.labels.insert(GATEWAY_NAME_LABEL.to_owned(), SAMPLE.to_owned());
    }
    let plan = program.plan(&proxy, &MeshSettings::default());
    if plan.patches.iter().all(|planned| planned.status != Status::Ready) {
        return None;
    }
    let (options, mut trace) = (Options::default(), Trace::new(plan.patches.len()));
    engine::run(&plan, config, &options, &mut trace);
    trace.aborts.into_iter().next().map(|abort| abort.panic)
}

fn add_names(tree: &Tree<'_>, into: &mut HashSet<String>) {
    for (key, value) in tree.entries() {
        if let Some(name) = value.as_str().filter(|name| key == "name" && !into.contains(*name)) {
            into.insert(name.to_owned());
        }
        add_names(value, into);
    }
    tree.items().iter().for_each(|item| add_names(item, into));
}
