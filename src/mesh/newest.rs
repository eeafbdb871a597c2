//! EnvoyFilters that remain after a migration, rewritten by the fixes of `lint` and compared with the originals by the engine.

mod effect;
mod plugins;
mod shape;

use self::effect::effect;
use self::plugins::{name_plugins, plugin_name};
use self::shape::Shape;
use crate::engine::MeshSettings;
use crate::engine::matching;
use crate::lint::{self, Finding, Input, Rule, fix};
use crate::load::{self, Loaded, reference, yaml_text};
use crate::migrate::newest::{Effect, Rewrite, from_first_api};
use crate::migrate::verdict::Class;
use crate::migrate::{Accept, After, Report, draft};
use crate::model::release::Release;
use crate::model::resource::ProxyConfig;
use crate::rules::ALL;
use serde_json::Value as Json;
use std::collections::{BTreeSet, HashMap};

/// One fix can enable the next: a type, then a field of it.
const ROUNDS: usize = 4;

/// Rewrites the remaining filters of a report, and replaces those whose effect is unchanged.
pub(super) fn rewrite(report: &mut Report, loaded: &Loaded, mesh: &MeshSettings, accept: Accept) {
    let rules: Vec<&'static Rule> = ALL.iter().copied().filter(|rule| rule.renews).collect();
    let release = report.to;
    let wanted = outdated(loaded, release, mesh, &rules);
    let mut known: HashMap<String, Option<Answer>> = HashMap::new();
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
        let before = match &one.after {
            After::Delete => continue,
            After::Smaller(smaller) => smaller.clone(),
            After::Unchanged => {
                let mut document = filter.document.to_json();
                draft::clean(&mut document, &filter.namespace);
                document
            }
        };
        let shape = Shape::of(&before, &mesh.root_namespace);
        let answer = known.entry(shape.document.to_string());
        let answer = answer.or_insert_with(|| upgraded(&shape.document, release, mesh, &rules));
        let Some(Answer { effect, object, changes }) = answer else { continue };
        let object = shape.filled(object, &before);
        let written = match effect {
            Effect::Same(class, _) => *class <= Class::SameBut && (*class == Class::Exact || accept >= Accept::SameBut),
            Effect::Revived(_) | Effect::Other(_) => accept >= Accept::Differs,
            Effect::Unseen => false,
        };
        if let (After::Smaller(smaller), true) = (&mut one.after, written) {
            *smaller = object.clone();
        }
        let (changes, effect) = (changes.clone(), effect.clone());
        report.rewrites.push(Rewrite { filter: filter.full_name(), changes, effect, object, written });
    }
}

/// A filter in the newest types.
struct Answer {
    effect: Effect,
    object: Json,
    changes: BTreeSet<String>,
}

fn read(object: &Json) -> Loaded {
    let text = yaml_text::write(object).unwrap_or_default();
    load::read_text("rewritten", text, &load::Options::default())
}

/// Rewrites a filter; `None` if it has the newest types already, or cannot be read.
fn upgraded(before: &Json, release: Release, mesh: &MeshSettings, rules: &[&'static Rule]) -> Option<Answer> {
    let original = read(before);
    let was = original.inventory.envoy_filters.first()?;
    let first = from_first_api(before);
    let start = first.as_ref().unwrap_or(before);
    let found = |references: &[ProxyConfig<'_>]| {
        let mut changes = BTreeSet::new();
        if first.is_some() {
            changes.insert("write `configPatches` instead of `filters`".to_owned());
        }
        let mut loaded = newest(start, references, release, mesh, rules, &mut changes)?;
        let mut object = loaded.inventory.envoy_filters.first()?.document.to_json();
        let plugins = name_plugins(&mut object, release, &mut changes);
        if changes.is_empty() {
            return None;
        }
        if !plugins.is_empty() {
            loaded = read(&object);
        }
        let is = loaded.inventory.envoy_filters.first()?;
        Some(Answer { effect: effect(was, is, &plugins, release, mesh), object, changes })
    };
    // A name that another patch of the filter introduced is not an old one. Only proxies show it, which few filters need.
    match found(&[]) {
        Some(Answer { effect: Effect::Other(_), .. }) => found(reference::configs(release)),
        found => found,
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
