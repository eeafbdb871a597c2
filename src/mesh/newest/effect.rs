//! Whether two forms of a filter have the same effect: the engine's results on the reference configurations.

use super::plugins::with_plugins;
use crate::engine::program::{Planned, Program, Status};
use crate::engine::trace::NoOp;
use crate::engine::{self, MeshSettings, Options, PatchedResource};
use crate::load::reference;
use crate::migrate::compare::{Found, Resources, differences, explain};
use crate::migrate::newest::Effect;
use crate::migrate::verdict::{Class, Difference, Kind, class_of};
use crate::migrate::verify;
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::proxy::GATEWAY_NAME_LABEL;
use crate::model::release::Release;
use crate::model::resource::{ProxyConfig, Resource, ResourceKind};
use crate::proto::json::{self, Style};
use crate::proto::schema::Schema;
use crate::study::dump;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

/// Compares the engine's results for both forms on the reference configurations, as proxies that the filter selects. These
/// have no WasmPlugins of their own, so those that the filter names are added.
pub(super) fn effect(
    first: &EnvoyFilter,
    second: &EnvoyFilter,
    plugins: &BTreeSet<String>,
    release: Release,
    mesh: &MeshSettings,
) -> Effect {
    let (mut found, mut seen, mut revived): (Vec<Difference>, usize, usize) = (Vec::new(), 0, 0);
    let programs = [first, second].map(|filter| Program::new(std::slice::from_ref(filter), release));
    let options = Options::default();
    for reference in reference::configs(release) {
        let listener = |one: &Resource<'_>| -> Option<String> {
            if plugins.is_empty() || one.kind != ResourceKind::Listener {
                return None;
            }
            let mut value: Json = serde_json::from_str(one.json.read()).ok()?;
            with_plugins(&mut value, plugins);
            Some(value.to_string())
        };
        let listeners: Vec<Option<String>> = reference.resources.iter().map(listener).collect();
        let mut config = reference.clone();
        if !plugins.is_empty() {
            let changed = reference.resources.iter().zip(&listeners).map(|(one, json)| match json {
                Some(json) => Resource { json: json.into(), opened: None, ..one.clone() },
                None => one.clone(),
            });
            config.resources = changed.collect();
        }
        config.proxy.namespace.clone_from(&first.namespace);
        config.proxy.labels.extend(first.selector.clone().unwrap_or_default());
        if let Some(target) = first.target_refs.first() {
            config.proxy.labels.insert(GATEWAY_NAME_LABEL.to_owned(), target.name.clone());
        }
        let [was, is] = programs.each_ref().map(|program| {
            let plan = program.plan(&config.proxy, mesh);
            // Other proxies' patches do nothing here.
            let idle = |planned: &Planned<'_>| planned.status == Status::NoOp(NoOp::ContextOfOtherProxies);
            let idle = plan.patches.iter().all(idle);
            if idle { Vec::new() } else { engine::run(&plan, &config, &options, &mut ()).resources }
        });
        let schema = programs[0].schema;
        let idle = |changed: &[PatchedResource<'_>]| changed.iter().all(|one| is_unchanged(&config, one));
        match (idle(&was), idle(&is)) {
            (true, true) => {}
            (true, false) => revived += 1,
            _ => {
                seen += 1;
                let (was, is) = differing(was, is);
                if was.is_empty() && is.is_empty() {
                    continue;
                }
                let [was, is] = [was, is].map(|changed| contents(&changed, &config, schema));
                let base = untouched(&config, [&was, &is]);
                let compared = differences(&over(&base, was), &over(&base, is), &BTreeMap::new());
                found.extend(compared.iter().map(between_filters));
            }
        }
    }
    let class = class_of(&found, &[], false);
    if revived > 0 {
        return Effect::Revived(revived);
    }
    match (seen, class) {
        (0, _) => Effect::Unseen,
        (_, Class::Exact | Class::SameBut) => Effect::Same(class, seen),
        _ => {
            let effects = found.into_iter().filter(|one| one.kind == Kind::Behavior).map(|one| one.effect);
            Effect::Other(effects.collect::<BTreeSet<_>>().into_iter().collect())
        }
    }
}

/// A difference between two forms of a filter. What a rule says about behavior is about native objects, and there are none.
fn between_filters(found: &Found) -> Difference {
    let known = explain("reference", found, &[]);
    if known.kind == Kind::Behavior {
        let place = format!("{} {}{} differs", found.resource_kind, found.resource, found.path);
        return Difference::new(Kind::Behavior, place);
    }
    known
}

/// Whether a resource means what it meant before.
fn is_unchanged(config: &ProxyConfig<'_>, one: &PatchedResource<'_>) -> bool {
    let before = one.source.and_then(|index| config.resources.get(index));
    let (Some(before), Some(tree)) = (before, &one.tree) else { return false };
    match before.opened.as_ref().and_then(|opened| opened.of(before.json.read())) {
        Some(before) => tree.same(before),
        None => json::parse(before.json.read()).is_ok_and(|before| tree.same(&before)),
    }
}

/// Without what has the same result in both runs: resources are compared one by one. Listeners refer to discovered
/// extensions, so if these differ, all are compared.
fn differing<'r>(
    one: Vec<PatchedResource<'r>>,
    other: Vec<PatchedResource<'r>>,
) -> (Vec<PatchedResource<'r>>, Vec<PatchedResource<'r>>) {
    let same = |one: &PatchedResource<'r>, other: &PatchedResource<'r>| {
        (one.kind, one.source, &one.name) == (other.kind, other.source, &other.name)
            && match (&one.tree, &other.tree) {
                (Some(one), Some(other)) => one.same(other),
                (one, other) => one.is_none() && other.is_none(),
            }
    };
    let place = |one: &PatchedResource<'r>| (one.kind.as_str(), one.source, one.name.clone());
    let mut others: BTreeMap<_, Vec<PatchedResource<'r>>> = BTreeMap::new();
    for one in other {
        others.entry(place(&one)).or_default().push(one);
    }
    let (mut left, mut kept) = (Vec::new(), Vec::new());
    for one in one {
        let equal = others
            .get_mut(&place(&one))
            .and_then(|list| list.iter().position(|other| same(&one, other)).map(|at| list.remove(at)));
        match equal {
            Some(equal) => kept.push((one, equal)),
            None => left.push(one),
        }
    }
    let mut right: Vec<PatchedResource<'r>> = others.into_values().flatten().collect();
    let discovered = left.iter().chain(&right).any(|one| one.kind == ResourceKind::ExtensionConfig);
    if discovered {
        for (one, equal) in kept {
            left.push(one);
            right.push(equal);
        }
    }
    (left, right)
}

/// What a filter changes, by kind and name; `None` is removed.
type Changed = BTreeMap<(&'static str, String), Option<Json>>;

fn contents(changed: &[PatchedResource<'_>], config: &ProxyConfig<'_>, schema: Schema) -> Changed {
    let name = |one: &PatchedResource<'_>| {
        let source = one.source.and_then(|index| config.resources.get(index));
        source.map_or_else(|| one.name.clone(), |resource| resource.name.to_string())
    };
    let content = |one: &PatchedResource<'_>| {
        let text = dump::resource(schema, config.field_names, one.kind, one.tree.as_ref()?, Style::Compact);
        verify::content(&text)
    };
    changed.iter().map(|one| ((verify::key(one.kind), name(one)), content(one))).collect()
}

/// The generated resources that one of two filters changes, and discovered extensions, to which listeners refer.
fn untouched(config: &ProxyConfig<'_>, changed: [&Changed; 2]) -> Resources {
    let mut all = Resources::new();
    for kind in ResourceKind::ALL {
        let touched = |name: &str| {
            kind == ResourceKind::ExtensionConfig
                || changed.iter().filter(|one| one.contains_key(&(verify::key(kind), name.to_owned()))).count() == 1
        };
        let resources = config.generated(kind).map(|(_, resource)| resource);
        resources.filter(|resource| touched(&resource.name)).for_each(|resource| verify::add(&mut all, resource));
    }
    all
}

/// The resources after a change.
fn over(base: &Resources, changed: Changed) -> Resources {
    let mut all = base.clone();
    for ((word, name), value) in changed {
        let of = all.entry(word.to_owned()).or_default();
        match value {
            Some(value) => drop(of.insert(name, value)),
            None => drop(of.remove(&name)),
        }
    }
    all
}
