//! The mesh at one moment: the watched objects, and what decides about a proxy.

use super::state::Pod;
use crate::admission::snapshot::{Snapshot, Whole, kind_label};
use crate::cluster::elsewhere;
use crate::cluster::facts::is_istiod;
use crate::cluster::kinds;
use crate::cluster::targets::{Target, targets};
use crate::load::Loaded;
use crate::mesh::planes::{Homes, unknown_revision};
use crate::mesh::single::Now;
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::redact::Keeper;
use crate::source::Problem;
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The mesh at one moment.
pub(super) struct Moment {
    /// All objects.
    pub(super) whole: Whole,
    /// Whether pods could be listed.
    pub(super) pods_known: bool,
    /// Pods with proxies.
    pub(super) targets: BTreeMap<Pod, Target>,
    /// Where each control plane has proxies.
    pub(super) homes: Homes,
    /// Proxies that are judged by the settings of a control plane that may not be theirs.
    pub(super) strangers: Option<Problem>,
    /// For each EnvoyFilter, in the order of the inventory.
    digests: Vec<u64>,
    /// Of everything that proxies are judged by.
    pub(super) digest: u64,
}

/// A digest that is valid in this process.
pub(super) fn digest(of: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

impl Moment {
    /// The parts of a snapshot that proxies are judged by. Its secrets are kept out of output.
    pub(super) fn of(snapshot: &Snapshot, secrets: &Keeper) -> Moment {
        let mut whole = snapshot.whole();
        let facts = &whole.facts;
        whole.inventory.envoy_filters.retain(|filter| unknown_revision(facts, filter).is_none());
        let text = |file| whole.sources.get(file).text.as_str();
        let digests: Vec<u64> = whole
            .inventory
            .envoy_filters
            .iter()
            .map(|filter| digest(&(filter.full_name(), text(filter.document.span.file))))
            .collect();
        let targets: BTreeMap<Pod, Target> = targets(&whole.inventory)
            .into_iter()
            .map(|target| ((target.namespace.clone(), target.pod.clone()), target))
            .collect();
        let planes: Vec<String> = whole.planes.iter().map(|plane| format!("{plane:?}")).collect();
        let loaded = Loaded { inventory: whole.inventory.clone(), ..Loaded::default() };
        secrets.with(|secrets| loaded.secrets(secrets));
        let homes = Homes::of(&whole.planes, facts, targets.values());
        let strangers = elsewhere::problem(&elsewhere::unknown(&whole.inventory, facts), facts);
        let pods_known = !snapshot.missing().any(|kind| kind == kind_label(kinds::POD));
        Moment { pods_known, strangers, digest: digest(&(&digests, planes, &homes)), digests, targets, homes, whole }
    }

    /// For questions about proxies.
    pub(super) fn now(&self) -> Now<'_> {
        Now {
            sources: &self.whole.sources,
            inventory: &self.whole.inventory,
            planes: &self.whole.planes,
            facts: &self.whole.facts,
            homes: &self.homes,
        }
    }

    /// A digest of the filters that attach to a proxy, and of its control plane.
    pub(super) fn filters_of(&self, target: &Target) -> u64 {
        let now = self.now();
        let plane = self.whole.planes.get(now.plane_of(target)).map(|plane| format!("{plane:?}"));
        let filters = self.whole.inventory.envoy_filters.iter().zip(&self.digests);
        let attached: Vec<u64> =
            filters.filter(|(filter, _)| now.reaches(filter, target)).map(|(_, digest)| *digest).collect();
        digest(&(plane, attached))
    }

    /// The number of EnvoyFilters in a namespace or on its proxies; of all without one.
    pub(super) fn filters_for(&self, namespace: Option<&str>) -> usize {
        let filters = &self.whole.inventory.envoy_filters;
        let Some(namespace) = namespace else { return filters.len() };
        let now = self.now();
        let there = || self.targets.values().filter(|target| target.namespace == namespace);
        let counts =
            |filter: &&EnvoyFilter| filter.namespace == namespace || there().any(|target| now.reaches(filter, target));
        filters.iter().filter(counts).count()
    }

    /// `metadata.uid` of an EnvoyFilter, `namespace/name`.
    pub(super) fn uid(&self, filter: &str) -> Option<String> {
        let filter = self.whole.inventory.envoy_filters.iter().find(|one| one.full_name() == filter)?;
        filter.document.under(&["metadata", "uid"]).and_then(|uid| uid.as_str()).map(str::to_owned)
    }

    /// Namespaces and names of istiod's pods.
    pub(super) fn istiods(&self) -> Vec<(String, String)> {
        let pods = self.whole.inventory.workloads.iter().filter(|workload| is_istiod(workload));
        pods.map(|pod| (pod.object.namespace.clone(), pod.object.name.clone())).collect()
    }

    /// The place of each proxy among the replicas of its template.
    pub(super) fn ranks(&self) -> HashMap<&Pod, usize> {
        let mut seen: HashMap<&str, usize> = HashMap::new();
        let mut ranks = HashMap::new();
        for (pod, target) in &self.targets {
            let next = seen.entry(target.template()).or_insert(0);
            ranks.insert(pod, *next);
            *next += 1;
        }
        ranks
    }
}
