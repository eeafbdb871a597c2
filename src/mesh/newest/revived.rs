//! EnvoyFilters that istiod cannot read as they are written, upgraded before the migration, so that one run moves them to native
//! objects.

use super::upgrade::{Answer, Upgrades, is_written};
use crate::engine::MeshSettings;
use crate::engine::program::Program;
use crate::load::{self, Loaded, yaml_text};
use crate::migrate::newest::{Effect, Rewrite};
use crate::migrate::{Accept, Today};
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::release::Release;
use crate::proto::decode::What;
use std::collections::{BTreeMap, BTreeSet};

/// Filters that were replaced by their upgraded form.
#[derive(Default)]
pub(in crate::mesh) struct Revived {
    /// The upgraded forms, by the index of the filter.
    pub(super) rewrites: BTreeMap<usize, Rewrite>,
    /// What they replace.
    originals: Vec<(usize, EnvoyFilter)>,
    /// The patches that no release reads as they were: `namespace/name` of the filter and the index, and what its filter does today.
    pub(in crate::mesh) patches: BTreeMap<(String, usize), Today>,
}

impl Revived {
    /// Replaces filters of the first API and filters with types that istiod cannot read, if the user accepts that the
    /// upgraded form takes effect.
    pub(in crate::mesh) fn replace(
        loaded: &mut Loaded,
        release: Release,
        mesh: &MeshSettings,
        accept: Accept,
    ) -> Revived {
        let mut all = Revived::default();
        let known = (Release::OLDEST.minor..=Release::NEWEST.minor).contains(&release.minor);
        if accept < Accept::Differs || !known {
            return all;
        }
        let mut upgrades = Upgrades::new(release, mesh);
        for (index, idle) in idle(&loaded.inventory.envoy_filters, release) {
            let filter = &loaded.inventory.envoy_filters[index];
            let mut document = filter.document.to_json();
            crate::migrate::draft::clean(&mut document, &filter.namespace);
            let Some(Answer { effect, object, changes }) = upgrades.of(&document) else { continue };
            let today = match effect {
                Effect::Revived(_) => Today::Nothing,
                Effect::Other(_) => Today::Parts,
                _ => continue,
            };
            let name = filter.full_name();
            let Some(new) = read(loaded, &name, &object) else { continue };
            all.patches.extend(
                new.patches
                    .iter()
                    .map(|patch| patch.index)
                    .filter(|at| idle.as_ref().is_none_or(|idle| idle.contains(at)))
                    .map(|at| ((name.clone(), at), today)),
            );
            let written = is_written(&effect, accept);
            all.rewrites.insert(index, Rewrite { filter: name, changes, effect, object, written });
            all.originals.push((index, std::mem::replace(&mut loaded.inventory.envoy_filters[index], new)));
        }
        all
    }

    /// Puts the filters back as they were read.
    pub(in crate::mesh) fn restore(self, loaded: &mut Loaded) {
        for (index, original) in self.originals {
            loaded.inventory.envoy_filters[index] = original;
        }
    }
}

/// The filters with something that no supported release reads: all of it (`None`), or these patches.
fn idle(filters: &[EnvoyFilter], release: Release) -> Vec<(usize, Option<BTreeSet<usize>>)> {
    let program = Program::new(filters, release);
    let of = |(index, filter): (usize, &EnvoyFilter)| {
        if filter.patches.is_empty() {
            return filter.document.under(&["spec", "filters"]).map(|_| (index, None));
        }
        let unread = program
            .patches(index)
            .iter()
            .filter(|built| built.notices.iter().any(|notice| notice.what != What::DefaultDropped));
        let patches: BTreeSet<usize> = unread.map(|built| built.patch.index).collect();
        (!patches.is_empty()).then_some((index, Some(patches)))
    };
    filters.iter().enumerate().filter_map(of).collect()
}

/// Reads an upgraded filter as another text of the input.
fn read(loaded: &mut Loaded, name: &str, object: &serde_json::Value) -> Option<EnvoyFilter> {
    let text = yaml_text::write(object).ok()?;
    let (filters, problems) = (loaded.inventory.envoy_filters.len(), loaded.problems.len());
    loaded.add_text(&format!("{name} in the newest types"), text, &load::Options::default());
    loaded.problems.truncate(problems);
    let new = loaded.inventory.envoy_filters.drain(filters..).next()?;
    Some(new)
}
