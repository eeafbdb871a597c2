//! EnvoyFilters that remain after a migration, rewritten by the fixes of `lint` and compared with the originals by the engine.

use crate::engine::matching;
use crate::engine::program::{Planned, Program, Status};
use crate::engine::trace::NoOp;
use crate::engine::{self, MeshSettings, Options, PatchedResource};
use crate::lint::upgrade::forecast::renamed;
use crate::lint::{self, Finding, Input, Rule, fix};
use crate::load::{self, Loaded, reference, yaml_text};
use crate::migrate::compare::{Resources, differences, explain};
use crate::migrate::newest::{Effect, Rewrite, from_first_api};
use crate::migrate::verdict::{Class, Difference, Kind, class_of};
use crate::migrate::{Accept, After, Report, draft, verify};
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::proxy::GATEWAY_NAME_LABEL;
use crate::model::release::Release;
use crate::model::resource::{ProxyConfig, Resource, ResourceKind};
use crate::proto::json::{self, Style};
use crate::proto::schema::Schema;
use crate::rules::ALL;
use crate::study::dump;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// One fix can enable the next: a type, then a field of it.
const ROUNDS: usize = 4;

/// Rewrites the remaining filters of a report, and replaces those whose effect is unchanged.
pub(super) fn rewrite(report: &mut Report, loaded: &Loaded, mesh: &MeshSettings, accept: Accept) {
    let rules: Vec<&'static Rule> = ALL.iter().copied().filter(|rule| rule.renews).collect();
    let release = report.to;
    let wanted = outdated(loaded, release, mesh, &rules);
    // Filters that differ only in their name have one answer.
    let mut known: HashMap<String, Option<(Effect, Json, BTreeSet<String>)>> = HashMap::new();
    for one in &mut report.filters {
        let Some(filter) = loaded.inventory.envoy_filters.get(one.index) else { continue };
        let plugins = filter.patches.iter().any(|patch| {
            [matching::sub_filter_name(&patch.object), matching::network_filter_name(&patch.object)]
                .into_iter()
                .flatten()
                .any(|name| plugin_name(name, release).is_some())
        });
        let old = plugins || wanted.contains(&filter.full_name()) || filter.patches.is_empty();
        if !old {
            continue;
        }
        let read = |object: &Json| {
            let text = yaml_text::write(object).unwrap_or_default();
            load::read_text("rewritten", text, &load::Options::default())
        };
        let (before, smaller) = match &one.after {
            After::Delete => continue,
            After::Smaller(smaller) => (smaller.clone(), Some(read(smaller))),
            After::Unchanged => {
                let mut document = filter.document.to_json();
                draft::clean(&mut document, &filter.namespace);
                (document, None)
            }
        };
        let Some(was) = smaller.as_ref().map_or(Some(filter), |smaller| smaller.inventory.envoy_filters.first()) else {
            continue;
        };
        let first = from_first_api(&before);
        let start = first.as_ref().unwrap_or(&before);
        let found = |references: &[ProxyConfig<'_>]| {
            let mut changes = BTreeSet::new();
            if first.is_some() {
                changes.insert("write `configPatches` instead of `filters`".to_owned());
            }
            let mut loaded = newest(start, references, release, mesh, &rules, &mut changes)?;
            let mut object = loaded.inventory.envoy_filters.first()?.document.to_json();
            let plugins = name_plugins(&mut object, release, &mut changes);
            if changes.is_empty() {
                return None;
            }
            if !plugins.is_empty() {
                loaded = read(&object);
            }
            let is = loaded.inventory.envoy_filters.first()?;
            Some((effect(was, is, &plugins, release, mesh), object, changes))
        };
        // A name that another patch of the filter introduced is not an old one. Only proxies show it, which few filters need.
        let computed = || match found(&[]) {
            Some((Effect::Other(_), ..)) => found(reference::configs(release)),
            found => found,
        };
        let mut unnamed = before.clone();
        unnamed["metadata"]["name"] = Json::Null;
        let answer = known.entry(unnamed.to_string()).or_insert_with(computed);
        let Some((effect, mut object, changes)) = answer.clone() else { continue };
        if let Some(name) = before.pointer("/metadata/name") {
            object["metadata"]["name"] = name.clone();
        }
        let written = match &effect {
            Effect::Same(class, _) => *class <= Class::SameBut && (*class == Class::Exact || accept >= Accept::SameBut),
            Effect::Revived(_) | Effect::Other(_) => accept >= Accept::Differs,
            Effect::Unseen => false,
        };
        if let (After::Smaller(smaller), true) = (&mut one.after, written) {
            *smaller = object.clone();
        }
        report.rewrites.push(Rewrite { filter: filter.full_name(), changes, effect, object, written });
    }
}

/// What rules find on these reference configurations.
fn found(
    loaded: &Loaded,
    references: &[ProxyConfig<'_>],
    release: Release,
    mesh: &MeshSettings,
    rules: &[&'static Rule],
) -> Vec<Finding> {
    let input = Input {
        sources: &loaded.sources,
        inventory: &loaded.inventory,
        problems: &loaded.problems,
        dumps: &[],
        references,
        release,
        mesh,
    };
    lint::lint(&input, rules)
}

/// The filters, `namespace/name`, that a fix may change.
fn outdated(loaded: &Loaded, release: Release, mesh: &MeshSettings, rules: &[&'static Rule]) -> BTreeSet<String> {
    let fixable = found(loaded, &[], release, mesh, rules).into_iter().filter(|finding| finding.fix.is_some());
    fixable.map(|finding| finding.filter).collect()
}

/// A filter after all fixes; `None` when it cannot be read.
fn newest(
    start: &Json,
    references: &[ProxyConfig<'_>],
    release: Release,
    mesh: &MeshSettings,
    rules: &[&'static Rule],
    changes: &mut BTreeSet<String>,
) -> Option<Loaded> {
    let mut text = yaml_text::write(start).ok()?;
    for round in 0.. {
        let loaded = load::read_text("rewritten", text.clone(), &load::Options::default());
        let findings = if round < ROUNDS { found(&loaded, references, release, mesh, rules) } else { Vec::new() };
        let outcome = fix::apply(&findings, &loaded.sources, true);
        let Some(fixed) = outcome.files.first() else { return Some(loaded) };
        let titles = fixed.findings.iter().filter_map(|&at| Some(findings.get(at)?.fix.as_ref()?.title.clone()));
        changes.extend(titles);
        text = fixed.rewrite(&text)?;
    }
    None
}

/// Prefixes of the names of WasmPlugins' filters, by release.
const PLUGINS: [&str; 2] = ["extenstions.istio.io/wasmplugin/", "extensions.istio.io/wasmplugin/"];

/// The name that a release gives the filter of a WasmPlugin, if this is the name of an earlier one.
fn plugin_name(name: &str, release: Release) -> Option<String> {
    PLUGINS.iter().any(|prefix| name.starts_with(prefix)).then(|| {
        // Before 1.22, which is not supported, the name had yet another form.
        renamed("http", name, Release::OLDEST, release).map(|(now, _)| now)
    })?
}

/// Gives anchors that name the filter of a WasmPlugin the name of the release. The new names.
fn name_plugins(object: &mut Json, release: Release, changes: &mut BTreeSet<String>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let patches = object.pointer_mut("/spec/configPatches").and_then(Json::as_array_mut);
    for patch in patches.into_iter().flatten() {
        for path in ["/match/listener/filterChain/filter/subFilter/name", "/match/listener/filterChain/filter/name"] {
            let Some(anchor) = patch.pointer_mut(path) else { continue };
            let now = anchor.as_str().and_then(|name| plugin_name(name, release));
            if let Some(now) = now {
                changes.insert(format!(
                    "name the filter of the WasmPlugin as Istio {}.{} does",
                    release.major, release.minor
                ));
                *anchor = now.as_str().into();
                names.insert(now);
            }
        }
    }
    names
}

/// A value with the filters of these plugins before the router of each HTTP connection manager, and first among network
/// filters.
fn with_plugins(value: &mut Json, names: &BTreeSet<String>) {
    let plugin = |name: &String, kind: &str| {
        json!({ "name": name, "typed_config": { "@type":
            format!("type.googleapis.com/envoy.extensions.filters.{kind}.wasm.v3.Wasm") } })
    };
    match value {
        Json::Object(map) => {
            for (key, inner) in map {
                with_plugins(inner, names);
                let Some(list) = inner.as_array_mut() else { continue };
                match key.as_str() {
                    "http_filters" | "httpFilters" => {
                        let at = list.len().saturating_sub(1);
                        names.iter().rev().for_each(|name| list.insert(at, plugin(name, "http")));
                    }
                    "filters"
                        if list
                            .iter()
                            .any(|one| one.get("typed_config").is_some() || one.get("typedConfig").is_some()) =>
                    {
                        names.iter().rev().for_each(|name| list.insert(0, plugin(name, "network")));
                    }
                    _ => {}
                }
            }
        }
        Json::Array(items) => items.iter_mut().for_each(|item| with_plugins(item, names)),
        _ => {}
    }
}

/// Compares the engine's results for both forms on the reference configurations, as proxies that the filter selects. These
/// have no WasmPlugins of their own, so those that the filter names are added.
fn effect(
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
            _ if are_same(&was, &is) => seen += 1,
            _ => {
                seen += 1;
                let [was, is] = [was, is].map(|changed| contents(&changed, &config, schema));
                let base = untouched(&config, [&was, &is]);
                let compared = differences(&over(&base, was), &over(&base, is), &BTreeMap::new());
                found.extend(compared.iter().map(|one| explain("reference", one, &[])));
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

/// Whether a resource means what it meant before.
fn is_unchanged(config: &ProxyConfig<'_>, one: &PatchedResource<'_>) -> bool {
    let before = one.source.and_then(|index| config.resources.get(index));
    let (Some(before), Some(tree)) = (before, &one.tree) else { return false };
    match before.opened.as_ref().and_then(|opened| opened.of(before.json.read())) {
        Some(before) => tree.same(before),
        None => json::parse(before.json.read()).is_ok_and(|before| tree.same(&before)),
    }
}

/// Whether two runs have the same result.
fn are_same(one: &[PatchedResource<'_>], other: &[PatchedResource<'_>]) -> bool {
    let same = |(one, other): (&PatchedResource<'_>, &PatchedResource<'_>)| {
        let trees = match (&one.tree, &other.tree) {
            (Some(one), Some(other)) => one.same(other),
            (one, other) => one.is_none() && other.is_none(),
        };
        trees && (one.kind, one.source, &one.name) == (other.kind, other.source, &other.name)
    };
    one.len() == other.len() && one.iter().zip(other).all(same)
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
    changed.iter().map(|one| ((verify::word(one.kind), name(one)), content(one))).collect()
}

/// The generated resources that filters change, and discovered extensions, to which listeners refer.
fn untouched(config: &ProxyConfig<'_>, changed: [&Changed; 2]) -> Resources {
    let mut all = Resources::new();
    for kind in ResourceKind::ALL {
        let touched = |name: &str| {
            kind == ResourceKind::ExtensionConfig
                || changed.iter().any(|one| one.contains_key(&(verify::word(kind), name.to_owned())))
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
