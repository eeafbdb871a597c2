//! Which patches, filters and routes the requests of a test file reached.

use crate::behaviour::sandbox::{Exchange, Sandbox};
use crate::engine::PatchId;
use std::collections::{BTreeMap, BTreeSet};

/// What was reached, and what was not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Coverage {
    /// Patches that changed something in the loaded configuration.
    pub patches: Vec<Met>,
    /// Patches that changed nothing loaded: they did not match, or belong to a part that no request can reach.
    pub elsewhere: Vec<String>,
    /// HTTP filters that patches added or changed.
    pub filters: Vec<Met>,
    /// Routes.
    pub routes: Vec<Met>,
}

/// Something that requests can reach.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Met {
    /// Its name.
    pub name: String,
    /// Whether a request reached it.
    pub met: bool,
}

impl Coverage {
    /// The reached part in percent; 100 if there is nothing to reach.
    pub(crate) fn percent(&self) -> u8 {
        let all = self.patches.iter().chain(&self.filters).chain(&self.routes);
        let (met, count) = all.fold((0usize, 0usize), |(met, count), one| (met + usize::from(one.met), count + 1));
        (met * 100).checked_div(count).and_then(|percent| u8::try_from(percent).ok()).unwrap_or(100)
    }

    /// Adds what another file reached.
    pub(crate) fn add(&mut self, other: Coverage) {
        let merge = |mine: &mut Vec<Met>, theirs: Vec<Met>| {
            for one in theirs {
                match mine.iter_mut().find(|it| it.name == one.name) {
                    Some(old) => old.met |= one.met,
                    None => mine.push(one),
                }
            }
        };
        merge(&mut self.patches, other.patches);
        merge(&mut self.filters, other.filters);
        merge(&mut self.routes, other.routes);
        for name in other.elsewhere {
            if !self.elsewhere.contains(&name) {
                self.elsewhere.push(name);
            }
        }
        let found: BTreeSet<String> = self.patches.iter().map(|one| one.name.clone()).collect();
        self.elsewhere.retain(|name| !found.contains(name));
    }
}

/// What was reached so far.
#[derive(Default)]
pub(super) struct Meter {
    chains: BTreeSet<usize>,
    filters: BTreeSet<(usize, usize)>,
    routes: BTreeSet<(String, String, usize)>,
    clusters: BTreeSet<String>,
}

impl Meter {
    pub(super) fn add(&mut self, exchange: &Exchange) {
        for path in &exchange.paths {
            self.chains.extend(path.chain);
            self.routes.extend(path.route_index.map(|index| (path.route_config.clone(), path.vhost.clone(), index)));
            self.clusters.insert(path.cluster.clone());
        }
        self.clusters.extend(exchange.calls.iter().map(|call| call.cluster.clone()));
        self.filters.extend(
            exchange.steps.iter().filter(|step| step.reached || step.returned).map(|step| (step.chain, step.filter)),
        );
    }

    pub(super) fn coverage(&self, sandbox: &Sandbox<'_>, patches: &[String]) -> Coverage {
        let mut written: BTreeMap<PatchId, bool> = BTreeMap::new();
        let mut note = |writers: &[PatchId], met: bool| {
            for id in writers {
                *written.entry(*id).or_default() |= met;
            }
        };
        let mut filters: BTreeMap<String, bool> = BTreeMap::new();
        for (number, chain) in sandbox.chains.iter().enumerate() {
            note(&chain.writers, self.chains.contains(&number));
            for (index, filter) in chain.http.iter().enumerate() {
                let met = self.filters.contains(&(number, index));
                note(&filter.writers, met);
                if !filter.writers.is_empty() {
                    *filters.entry(filter.name.clone()).or_default() |= met;
                }
            }
        }
        let mut routes: BTreeMap<String, bool> = BTreeMap::new();
        for route in &sandbox.routes {
            let met = self.routes.contains(&(route.config.clone(), route.vhost.clone(), route.index));
            note(&route.writers, met);
            let name = if route.name.is_empty() {
                route.index.to_string()
            } else {
                format!("{} ({})", route.index, route.name)
            };
            *routes.entry(format!("{} › {} › {name}", route.config, route.vhost)).or_default() |= met;
        }
        for (cluster, writers) in &sandbox.written_clusters {
            note(writers, self.clusters.contains(cluster));
        }
        let name = |id: &PatchId| patches.get(id.index()).cloned();
        let of = |map: BTreeMap<String, bool>| map.into_iter().map(|(name, met)| Met { name, met }).collect::<Vec<_>>();
        let found: BTreeSet<String> = written.keys().filter_map(name).collect();
        Coverage {
            patches: written.iter().filter_map(|(id, met)| Some(Met { name: name(id)?, met: *met })).collect(),
            elsewhere: patches.iter().filter(|name| !found.contains(*name)).cloned().collect(),
            filters: of(filters),
            routes: of(routes),
        }
    }
}
