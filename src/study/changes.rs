//! Compares two sets of filters on one proxy: what istiod sends with each, when the configuration may already contain the
//! first.

use super::{Settings, Study};
use crate::engine::unapply::{self, Texts};
use crate::engine::{self, Patched, Plan, Program};
use crate::model::resource::{ProxyConfig, Resource, ResourceKind, ResourceState};
use crate::proto::json::{self, Style};
use crate::proto::packed::Kept;
use crate::proto::tree::{TYPE_KEY, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// A resource that differs between the two sets of filters, with its texts under each: several where several resources share
/// the name, none where it does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Its kind.
    pub kind: ResourceKind,
    /// The name istiod generates it under; for an added one, its patched name.
    pub name: String,
    /// As indented JSON with the first set of filters.
    pub before: String,
    /// The same with the second set.
    pub after: String,
}

/// Two sets of filters on one proxy, compared.
pub struct Changes<'a> {
    /// The configuration without the first set, which the second runs over.
    pub base: &'a ProxyConfig<'a>,
    /// The second set.
    pub plan: &'a Plan<'a>,
    /// The resources that differ, by kind and name.
    pub resources: Vec<Changed>,
    /// Hosts whose clusters an annotation adds but no input contains.
    pub unknown_services: Vec<String>,
}

/// Compares two sets of filters on a proxy whose configuration may already contain the effects of the first.
pub fn changes<T>(
    before: &Program<'_>,
    after: &Program<'_>,
    dump: &ProxyConfig<'_>,
    settings: &Settings,
    look: impl FnOnce(&Changes<'_>) -> T,
) -> T {
    let (old, new) = (before.plan(&dump.proxy, &settings.mesh), after.plan(&dump.proxy, &settings.mesh));
    let options = &settings.options;
    // A live dump contains what the current filters wrote. What they overwrote keeps its present value on both sides.
    let kept = engine::unapply(&old, dump, options).kept_texts();
    let base = unapply::without(dump, &kept);
    let first = engine::run(&old, &base, options, &mut ());
    let second = engine::run(&new, &base, options, &mut ());
    let mut keys: BTreeMap<(ResourceKind, String), [String; 2]> = BTreeMap::new();
    for one in first.resources.iter().chain(&second.resources) {
        let name = one.source.and_then(|index| base.resources.get(index)).map_or(one.name.as_str(), |it| &it.name);
        keys.entry((one.kind, name.to_owned())).or_default();
    }
    for ((kind, name), [before, after]) in &mut keys {
        *before = texts(&base, &first, *kind, name, &old);
        *after = texts(&base, &second, *kind, name, &new);
    }
    let changed = keys.into_iter().filter(|(_, [before, after])| before != after);
    let resources =
        changed.map(|((kind, name), [before, after])| Changed { kind, name, before, after }).collect::<Vec<_>>();
    look(&Changes { base: &base, plan: &new, resources, unknown_services: second.unknown_services })
}

/// Compares what istiod sends to a proxy in two meshes, which may differ in filters and in configuration.
pub fn between(before: &Study<'_>, after: &Study<'_>) -> Vec<Changed> {
    let (first, second) = (Sent::of(before), Sent::of(after));
    let keys: BTreeSet<&(ResourceKind, String)> = first.keys().chain(second.keys()).collect();
    let differ = keys.into_iter().filter_map(|key| {
        let (kind, name) = key;
        // Most resources have the same text on both sides and are not touched by any filter.
        if first.untouched(key).is_some_and(|texts| second.untouched(key) == Some(texts)) {
            return None;
        }
        let text = |study: &Study<'_>| texts(study.config, &study.judged.patched, *kind, name, study.plan);
        let (before, after) = (text(before), text(after));
        (before != after).then(|| Changed { kind: *kind, name: name.clone(), before, after })
    });
    differ.collect()
}

/// The resources of one side, by kind and name: those istiod generated, and those that filters touch.
struct Sent<'s> {
    generated: BTreeMap<(ResourceKind, String), Vec<&'s str>>,
    touched: BTreeSet<(ResourceKind, String)>,
}

impl<'s> Sent<'s> {
    fn of(study: &Study<'s>) -> Sent<'s> {
        let config: &'s ProxyConfig<'s> = study.config;
        let mut generated: BTreeMap<(ResourceKind, String), Vec<&str>> = BTreeMap::new();
        for kind in ResourceKind::ALL {
            for (_, resource) in config.generated(kind) {
                generated.entry((kind, resource.name.to_string())).or_default().push(resource.json.read());
            }
        }
        let name = |one: &engine::PatchedResource<'_>| {
            let source = one.source.and_then(|index| config.resources.get(index));
            source.map_or(one.name.clone(), |it| it.name.to_string())
        };
        let touched = study.judged.patched.resources.iter().map(|one| (one.kind, name(one))).collect();
        Sent { generated, touched }
    }

    fn keys(&self) -> impl Iterator<Item = &(ResourceKind, String)> {
        self.generated.keys().chain(&self.touched)
    }

    fn untouched(&self, key: &(ResourceKind, String)) -> Option<&[&'s str]> {
        if self.touched.contains(key) { None } else { self.generated.get(key).map(Vec::as_slice) }
    }
}

/// Runs filters over a configuration that is written out again. Resources keep their places; the effects of the current filters
/// are undone first. `look` gets the plan, the start of the run, what was undone, and the result.
pub fn render<T>(
    now: Option<&Program<'_>>,
    program: &Program<'_>,
    dump: &ProxyConfig<'_>,
    settings: &Settings,
    look: impl FnOnce(&Plan<'_>, &ProxyConfig<'_>, &Texts, &Patched<'_>) -> T,
) -> T {
    let plan = program.plan(&dump.proxy, &settings.mesh);
    let undone = match now {
        Some(now) => engine::unapply(&now.plan(&dump.proxy, &settings.mesh), dump, &settings.options).kept_texts(),
        None => Texts::new(),
    };
    let base = in_place(dump, &undone);
    let patched = engine::run(&plan, &base, &settings.options, &mut ());
    look(&plan, &base, &undone, &patched)
}

/// The configuration with new texts, every resource in its place; resources that a filter added are left alone.
fn in_place<'a>(config: &ProxyConfig<'a>, texts: &'a Texts) -> ProxyConfig<'a> {
    let resources = config.resources.iter().enumerate().map(|(index, resource)| match texts.get(&index) {
        None => resource.clone(),
        Some(None) => Resource { state: ResourceState::Static, ..resource.clone() },
        Some(Some(json)) => Resource { json: json.into(), ..resource.clone() },
    });
    ProxyConfig { resources: resources.collect(), ..config.clone() }
}

/// The texts of all resources of one name after a run.
fn texts(config: &ProxyConfig<'_>, patched: &Patched<'_>, kind: ResourceKind, name: &str, plan: &Plan<'_>) -> String {
    let write = |mut tree: Tree<'_>| {
        tree.remove(TYPE_KEY);
        tree.open_all();
        let mut text = json::write(&tree, Style::Indented(2));
        text.push('\n');
        text
    };
    let mut texts = String::new();
    for (index, _) in config.generated(kind).filter(|(_, resource)| resource.name == name) {
        texts.extend(match patched.resources.iter().find(|one| one.source == Some(index)) {
            Some(one) => one.tree.clone().map(Kept::into_tree).map(write),
            None => engine::open(config, index, plan).map(write),
        });
    }
    let added = patched.resources.iter().filter(|one| one.source.is_none() && one.kind == kind && one.name == name);
    texts.extend(added.filter_map(|one| one.tree.clone()).map(Kept::into_tree).map(write));
    texts
}
