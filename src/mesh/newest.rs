//! EnvoyFilters that remain after a migration, rewritten by the fixes of `lint` and compared with the originals by the engine.

mod effect;
mod plugins;
mod revived;
mod shape;
mod upgrade;

use self::plugins::plugin_name;
pub(super) use self::revived::Revived;
use self::upgrade::{Answer, Upgrades, is_written};
use crate::engine::MeshSettings;
use crate::engine::matching;
use crate::load::Loaded;
use crate::migrate::newest::Rewrite;
use crate::migrate::{Accept, After, Report, draft};

/// Rewrites the remaining filters of a report, and replaces those whose effect is unchanged.
pub(super) fn rewrite(report: &mut Report, loaded: &Loaded, mesh: &MeshSettings, accept: Accept, revived: &Revived) {
    let release = report.to;
    let mut upgrades = Upgrades::new(release, mesh);
    let wanted = upgrades.outdated(loaded);
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
        let Some(Answer { effect, object, changes }) = upgrades.of(&before) else { continue };
        let written = is_written(&effect, accept);
        if let (After::Smaller(smaller), true) = (&mut one.after, written) {
            *smaller = object.clone();
        }
        report.rewrites.push(Rewrite { filter: filter.full_name(), changes, effect, object, written });
    }
}
