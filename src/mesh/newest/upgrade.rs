//! An EnvoyFilter in the newest types, names and fields, by the fixes of `lint`, and what that changes.

use super::effect::effect;
use super::plugins::name_plugins;
use super::shape::Shape;
use crate::engine::MeshSettings;
use crate::lint::rule::Family;
use crate::lint::{self, Finding, Input, Rule, fix};
use crate::load::{self, Loaded, reference, yaml_text};
use crate::migrate::Accept;
use crate::migrate::newest::{Effect, from_first_api};
use crate::migrate::verdict::Class;
use crate::model::release::Release;
use crate::model::resource::ProxyConfig;
use crate::rules::ALL;
use crate::source::Severity;
use serde_json::Value as Json;
use std::collections::{BTreeSet, HashMap};

/// One fix can enable the next: a type, then a field of it.
const ROUNDS: usize = 4;

/// The rules whose fixes upgrade a filter.
fn rules() -> Vec<&'static Rule> {
    ALL.iter().copied().filter(|rule| rule.renews).collect()
}

/// Whether an upgraded filter is written.
pub(super) fn is_written(effect: &Effect, accept: Accept) -> bool {
    match effect {
        Effect::Same(class, _) => *class <= Class::SameBut && (*class == Class::Exact || accept >= Accept::SameBut),
        Effect::Revived(_) | Effect::Other(_) => accept >= Accept::Differs,
        Effect::Unseen | Effect::Faulty(_) => false,
    }
}

/// Whether the filter would take another effect than today.
fn is_new(effect: &Effect) -> bool {
    matches!(effect, Effect::Revived(_) | Effect::Other(_))
}

/// The effect, unless the filter would take another one than today and these rules find an error that the original does not have;
/// in the values of a filter that did nothing, any error: only now would proxies get them.
fn without_errors(
    effect: Effect,
    original: &Loaded,
    loaded: &Loaded,
    release: Release,
    mesh: &MeshSettings,
    rules: &[&'static Rule],
) -> Effect {
    if !is_new(&effect) {
        return effect;
    }
    let revived = matches!(effect, Effect::Revived(_));
    let errors = |loaded: &Loaded| -> Vec<Finding> {
        let findings = found(loaded, &[], release, mesh, rules);
        findings.into_iter().filter(|finding| finding.severity == Severity::Error).collect()
    };
    let errors_after = errors(loaded);
    if errors_after.is_empty() {
        return effect;
    }
    let known: BTreeSet<&str> = errors(original).into_iter().map(|finding| finding.rule.code).collect();
    let counts =
        |finding: &Finding| !known.contains(finding.rule.code) || revived && finding.rule.family == Family::Value;
    match errors_after.into_iter().find(counts) {
        None => effect,
        Some(Finding { message, rejected: true, .. }) => {
            Effect::Faulty(format!("{message} (proxies would reject what contains it)"))
        }
        Some(Finding { message, .. }) => Effect::Faulty(message),
    }
}

/// The upgrades of filters to a release; each shape is upgraded once.
pub(super) struct Upgrades<'m> {
    release: Release,
    mesh: &'m MeshSettings,
    /// Those whose fixes upgrade.
    rules: Vec<&'static Rule>,
    known: HashMap<String, Known>,
}

/// The answer for a shape.
struct Known {
    answer: Option<Answer>,
    /// The effects of filters with code, by their code.
    with_code: HashMap<Vec<String>, Effect>,
}

impl<'m> Upgrades<'m> {
    pub(super) fn new(release: Release, mesh: &'m MeshSettings) -> Upgrades<'m> {
        Upgrades { release, mesh, rules: rules(), known: HashMap::new() }
    }

    /// A filter in the newest types; `None` if it has them already, or cannot be read.
    pub(super) fn of(&mut self, filter: &Json) -> Option<Answer> {
        let (release, mesh) = (self.release, self.mesh);
        // Whatever it selects, the reference configurations stand for it.
        let shape = Shape::of(filter, &mesh.root_namespace);
        let known = self.known.entry(shape.document.to_string()).or_insert_with(|| Known {
            answer: upgraded(&shape.document, release, mesh, &self.rules),
            with_code: HashMap::new(),
        });
        let Answer { effect, object, changes } = known.answer.as_ref()?;
        let object = shape.filled(object, filter);
        let effect = if shape.code.is_empty() || !is_new(effect) {
            effect.clone()
        } else {
            let of_code = known.with_code.entry(shape.code);
            of_code.or_insert_with(|| with_code(effect.clone(), (filter, &object), release, mesh)).clone()
        };
        Some(Answer { effect, object, changes: changes.clone() })
    }

    /// The filters, `namespace/name`, that a fix may change.
    pub(super) fn outdated(&self, loaded: &Loaded) -> BTreeSet<String> {
        let findings = found(loaded, &[], self.release, self.mesh, &self.rules);
        findings.into_iter().filter(|finding| finding.fix.is_some()).map(|finding| finding.filter).collect()
    }
}

/// The effect of a filter with its code, which only rules about values read.
fn with_code(effect: Effect, (before, after): (&Json, &Json), release: Release, mesh: &MeshSettings) -> Effect {
    let rules: Vec<&'static Rule> = ALL.iter().copied().filter(|rule| rule.family == Family::Value).collect();
    without_errors(effect, &read(before), &read(after), release, mesh, &rules)
}

/// A filter in the newest types.
pub(super) struct Answer {
    /// Its effect.
    pub(super) effect: Effect,
    /// The filter.
    pub(super) object: Json,
    /// What was rewritten.
    pub(super) changes: BTreeSet<String>,
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
        let effect = effect(was, is, &plugins, release, mesh);
        let effect = without_errors(effect, &original, &loaded, release, mesh, ALL);
        Some(Answer { effect, object, changes })
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
        // Their effect is reported for the whole filter.
        let titles = fixed.findings.iter().filter_map(|&at| Some(findings.get(at)?.fix.as_ref()?.title.clone()));
        changes.extend(titles);
        text = fixed.rewrite(&text)?;
    }
    None
}
