//! EnvoyFilters that remain after a migration, rewritten by the fixes of `lint` and compared with the originals by the engine.

use crate::engine::program::Program;
use crate::engine::{self, MeshSettings, Options};
use crate::lint::{self, Finding, Input, Rule, fix};
use crate::load::{self, Loaded, reference, yaml_text};
use crate::migrate::compare::{Resources, differences, explain};
use crate::migrate::newest::{Effect, Rewrite, from_first_api};
use crate::migrate::verdict::{Class, Difference, Kind, class_of};
use crate::migrate::{Accept, After, Report, draft, verify};
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::proxy::GATEWAY_NAME_LABEL;
use crate::model::release::Release;
use crate::model::resource::{ProxyConfig, ResourceKind};
use crate::proto::json::Style;
use crate::proto::schema::Schema;
use crate::rules::ALL;
use crate::study::dump;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

/// One fix can enable the next: a type, then a field of it.
const ROUNDS: usize = 4;

/// Rewrites the remaining filters of a report, and replaces those whose effect is unchanged.
pub(super) fn rewrite(report: &mut Report, loaded: &Loaded, mesh: &MeshSettings, accept: Accept) {
    let rules: Vec<&'static Rule> = ALL.iter().copied().filter(|rule| rule.renews).collect();
    let release = report.to;
    let wanted = outdated(loaded, release, mesh, &rules);
    for one in &mut report.filters {
        let Some(filter) = loaded.inventory.envoy_filters.get(one.index) else { continue };
        let old = wanted.contains(&filter.full_name()) || filter.patches.is_empty();
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
        let first = from_first_api(&before);
        let mut changes = BTreeSet::new();
        if first.is_some() {
            changes.insert("write `configPatches` instead of `filters`".to_owned());
        }
        let start = first.unwrap_or_else(|| before.clone());
        let Some(object) = newest(&start, release, mesh, &rules, &mut changes) else { continue };
        if changes.is_empty() {
            continue;
        }
        let effect = effect(&before, &object, release, mesh);
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

/// What rules find without any proxy.
fn found(loaded: &Loaded, release: Release, mesh: &MeshSettings, rules: &[&'static Rule]) -> Vec<Finding> {
    let input = Input {
        sources: &loaded.sources,
        inventory: &loaded.inventory,
        problems: &loaded.problems,
        dumps: &[],
        references: reference::configs(release),
        release,
        mesh,
    };
    lint::lint(&input, rules)
}

/// The filters, `namespace/name`, that a fix would change.
fn outdated(loaded: &Loaded, release: Release, mesh: &MeshSettings, rules: &[&'static Rule]) -> BTreeSet<String> {
    let fixable = found(loaded, release, mesh, rules).into_iter().filter(|finding| finding.fix.is_some());
    fixable.map(|finding| finding.filter).collect()
}

/// A filter after all fixes; `None` when it cannot be read.
fn newest(
    start: &Json,
    release: Release,
    mesh: &MeshSettings,
    rules: &[&'static Rule],
    changes: &mut BTreeSet<String>,
) -> Option<Json> {
    let mut text = yaml_text::write(start).ok()?;
    for _ in 0..ROUNDS {
        let loaded = load::read_text("rewritten", text.clone(), &load::Options::default());
        let findings = found(&loaded, release, mesh, rules);
        let outcome = fix::apply(&findings, &loaded.sources, true);
        let Some(fixed) = outcome.files.first() else { break };
        let titles = fixed.findings.iter().filter_map(|&at| Some(findings.get(at)?.fix.as_ref()?.title.clone()));
        changes.extend(titles);
        text = fixed.rewrite(&text)?;
    }
    let loaded = load::read_text("rewritten", text, &load::Options::default());
    loaded.inventory.envoy_filters.first().map(|filter| filter.document.to_json())
}

/// Compares the engine's results for both forms on the reference configurations, as proxies that the filter selects.
fn effect(before: &Json, after: &Json, release: Release, mesh: &MeshSettings) -> Effect {
    let read = |object: &Json| {
        let text = yaml_text::write(object).unwrap_or_default();
        load::read_text("compared", text, &load::Options::default())
    };
    let (old, new) = (read(before), read(after));
    let (Some(first), Some(second)) = (old.inventory.envoy_filters.first(), new.inventory.envoy_filters.first()) else {
        return Effect::Unseen;
    };
    let (mut found, mut seen, mut revived): (Vec<Difference>, usize, usize) = (Vec::new(), 0, 0);
    for reference in reference::configs(release) {
        let mut config = reference.clone();
        config.proxy.namespace.clone_from(&first.namespace);
        config.proxy.labels.extend(first.selector.clone().unwrap_or_default());
        if let Some(target) = first.target_refs.first() {
            config.proxy.labels.insert(GATEWAY_NAME_LABEL.to_owned(), target.name.clone());
        }
        let base = verify::resources(&config);
        let was = patched(first, &config, &base, release, mesh);
        let is = patched(second, &config, &base, release, mesh);
        match (was == base, is == base) {
            (true, true) => {}
            (true, false) => revived += 1,
            _ => {
                seen += 1;
                let compared = differences(&was, &is, &BTreeMap::new());
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

/// The resources of a proxy with a filter.
fn patched(
    filter: &EnvoyFilter,
    config: &ProxyConfig<'_>,
    base: &Resources,
    release: Release,
    mesh: &MeshSettings,
) -> Resources {
    let filters = std::slice::from_ref(filter);
    let program = Program::new(filters, release);
    let plan = program.plan(&config.proxy, mesh);
    let options = Options::default();
    let patched = engine::run(&plan, config, &options, &mut ());
    let schema: Schema = program.schema;
    let mut all = base.clone();
    for one in &patched.resources {
        let word = if one.kind == ResourceKind::ExtensionConfig { "ecds" } else { one.kind.as_str() };
        let of = all.entry(word.to_owned()).or_default();
        let source = one.source.and_then(|index| config.resources.get(index)).map(|resource| resource.name.to_string());
        if let Some(name) = &source {
            of.remove(name);
        }
        let Some(tree) = &one.tree else { continue };
        let text = dump::resource(schema, config.field_names, one.kind, tree, Style::Compact);
        let Ok(mut value) = serde_json::from_str::<Json>(&text) else { continue };
        if let Some(map) = value.as_object_mut() {
            map.shift_remove("@type");
        }
        of.insert(source.unwrap_or_else(|| one.name.clone()), value);
    }
    all
}
