//! EnvoyFilters that remain after a migration, rewritten by the fixes of `lint` and compared with the originals by the engine.

mod effect;
mod plugins;
mod revived;
mod shape;
mod upgrade;

use self::plugins::plugin_name;
pub(super) use self::revived::Revived;
use self::shape::Shape;
use self::upgrade::{Answer, found, is_written, rules, upgraded, with_code};
use crate::engine::MeshSettings;
use crate::engine::matching;
use crate::lint::Rule;
use crate::load::Loaded;
use crate::migrate::newest::Rewrite;
use crate::migrate::{Accept, After, Report, draft};
use crate::model::release::Release;
use std::collections::{BTreeSet, HashMap};

/// Rewrites the remaining filters of a report, and replaces those whose effect is unchanged.
pub(super) fn rewrite(report: &mut Report, loaded: &Loaded, mesh: &MeshSettings, accept: Accept, revived: &Revived) {
    let rules = rules();
    let release = report.to;
    let wanted = outdated(loaded, release, mesh, &rules);
    let mut known: HashMap<String, Option<Answer>> = HashMap::new();
    for one in &mut report.filters {
        let Some(filter) = loaded.inventory.envoy_filters.get(one.index) else { continue };
        if let Some(known) = revived.rewrites.get(&one.index) {
            let object = match &one.after {
                After::Delete => continue,
                After::Smaller(smaller) => smaller.clone(),
                After::Unchanged => known.object.clone(),
            };
            report.rewrites.push(Rewrite { object, ..known.clone() });
            continue;
        }
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
        let effect = with_code(effect.clone(), &shape, (&before, &object), release, mesh);
        let written = is_written(&effect, accept);
        if let (After::Smaller(smaller), true) = (&mut one.after, written) {
            *smaller = object.clone();
        }
        let (filter, changes) = (filter.full_name(), changes.clone());
        report.rewrites.push(Rewrite { filter, changes, effect, object, written });
    }
}

/// The filters, `namespace/name`, that a fix may change.
fn outdated(loaded: &Loaded, release: Release, mesh: &MeshSettings, rules: &[&'static Rule]) -> BTreeSet<String> {
    let fixable = found(loaded, &[], release, mesh, rules).into_iter().filter(|finding| finding.fix.is_some());
    fixable.map(|finding| finding.filter).collect()
}
