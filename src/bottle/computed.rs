//! What the engine computes for a proxy, as texts that can be compared.

use crate::engine::shared::is_of_other_proxies;
use crate::engine::{self, Options, PatchId, Plan, Trace};
use crate::model::resource::{ProxyConfig, ResourceKind};
use crate::proto::json;
use crate::proto::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};

/// The texts of all resources, by kind and name.
pub(super) type Resources = BTreeMap<(ResourceKind, String), Vec<String>>;

/// What the engine computes for a proxy.
#[derive(Default)]
pub(super) struct Computed {
    pub(super) resources: Resources,
    /// The patches that panic, in words.
    pub(super) panics: Vec<String>,
    /// The kinds whose patching a panic ended.
    pub(super) passes: BTreeSet<ResourceKind>,
    /// The patches that write into objects of other proxies, in words.
    pub(super) shared: BTreeSet<String>,
    /// How many outcomes it cannot know.
    pub(super) unknown: usize,
}

/// Runs the engine for a proxy.
pub(super) fn computed(plan: &Plan<'_>, config: &ProxyConfig<'_>, options: &Options) -> Computed {
    let mut trace = Trace::new(plan.patches.len());
    let patched = engine::run(plan, config, options, &mut trace);
    let unknown = patched.unknown_routes.len() + patched.unknown_services.len();
    let touched: BTreeSet<usize> = patched.resources.iter().filter_map(|one| one.source).collect();
    let mut now = Resources::new();
    for (index, resource) in config.resources.iter().enumerate() {
        if !touched.contains(&index)
            && let Ok(tree) = json::parse(resource.json.read())
        {
            now.entry((resource.kind, resource.name.to_string())).or_default().push(canonical(tree));
        }
    }
    for resource in patched.resources {
        if let Some(tree) = resource.tree {
            now.entry((resource.kind, resource.name)).or_default().push(canonical(tree.into_tree()));
        }
    }
    let causes: BTreeSet<_> = trace.aborts.iter().map(|abort| abort.cause).collect();
    let of = |id| format!("configPatches[{}] of {}", plan.get(id).built.patch.index, plan.filter(id).full_name());
    let passes = trace.aborts.iter().map(|abort| abort.place.kind).collect();
    let writes = |id: &PatchId| {
        let apply_to = plan.get(*id).built.patch.apply_to;
        let mut effects = trace.patches[id.index()].effects.iter();
        effects.any(|(place, effect)| is_of_other_proxies(apply_to, place, effect))
    };
    let shared = plan.ids().filter(writes).map(of).collect();
    Computed { resources: sorted(now), panics: causes.into_iter().map(of).collect(), passes, shared, unknown }
}

/// The same with the texts of each name in one order.
pub(super) fn sorted(mut resources: Resources) -> Resources {
    for ((kind, _), texts) in &mut resources {
        texts.sort();
        // A route that two listeners request is sent once.
        if *kind == ResourceKind::Route {
            texts.dedup();
        }
    }
    resources
}

/// A resource as canonical JSON.
pub(super) fn canonical(mut tree: Tree<'_>) -> String {
    // Resources that patches add have no type next to them.
    tree.remove("@type");
    json::canonical(&tree)
}
