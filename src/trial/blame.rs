//! Finds the patch that Envoy refuses by sending the resource with one patch alone, and without it.

use super::{Trial, Trouble, Verdict};
use crate::engine::trace::Trace;
use crate::engine::{self, Options, PatchId, Patched, PatchedResource, Plan};
use crate::model::resource::{ProxyConfig, ResourceKind};
use crate::proto::packed::Kept;
use crate::proto::tree::{Tree, Value};
use std::collections::BTreeSet;

/// A run of the engine that Envoy is asked about.
pub struct Subject<'s, 'a> {
    /// The plan.
    pub plan: &'s Plan<'a>,
    /// The configuration before the patches.
    pub config: &'a ProxyConfig<'a>,
    /// Settings of the run.
    pub options: &'a Options,
    /// The result.
    pub patched: &'s Patched<'a>,
    /// What each patch did.
    pub trace: &'s Trace<'a>,
    /// Whether the configuration contains every cluster of the proxy. In one made up for a filter, the user's own clusters are
    /// assumed to exist.
    pub complete: bool,
}

/// A patch whose result Envoy refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The patch.
    pub patch: PatchId,
    /// Kind of the resource with the patch in it.
    pub kind: ResourceKind,
    /// Its name.
    pub resource: String,
    /// Envoy's reason.
    pub words: String,
    /// How the patch was found.
    pub proof: Proof,
}

/// How certain it is that a patch causes a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Proof {
    /// Envoy refuses the resource with this patch and no other.
    Alone,
    /// Envoy takes the resource without this patch.
    Together,
    /// It is one of several, and none of them is sufficient or necessary.
    Among,
}

/// What Envoy says about a run.
#[derive(Clone, Debug, Default)]
pub struct Tried {
    /// Refusals caused by a patch.
    pub refusals: Vec<Refusal>,
    /// Resources that Envoy refuses even without patches, with its words: the effect of patches there is unknown.
    pub before: Vec<(ResourceKind, String, String)>,
    /// Types that only Istio's own build has, with the patch that uses them.
    pub foreign: BTreeSet<(String, PatchId)>,
    /// Resources that Envoy could not be asked about, with the reason.
    pub unasked: Vec<(ResourceKind, String, &'static str)>,
}

/// Asks Envoy about every resource that patches changed. Fails when Envoy gives no answer.
pub fn ask(trial: &Trial, subject: &Subject<'_, '_>) -> Result<Tried, Trouble> {
    let mut tried = Tried::default();
    let clusters = clusters(subject);
    for one in &subject.patched.resources {
        let Some(tree) = &one.tree else { continue };
        let writers = writers(subject, one, tree);
        if writers.is_empty() {
            continue;
        }
        let asked = Asked { trial, subject, one, clusters: &clusters };
        let verdict = asked.send(tree)?;
        let brought = verdict.foreign.iter().filter_map(|(name, by)| Some((name.clone(), (*by)?)));
        tried.foreign.extend(brought);
        if let Some(why) = verdict.unasked {
            tried.unasked.push((one.kind, one.name.clone(), why));
        }
        if let Some(words) = verdict.refused {
            asked.blame(&writers, &words, &mut tried)?;
        }
    }
    Ok(tried)
}

/// A resource that Envoy is asked about.
struct Asked<'q, 'a> {
    trial: &'q Trial,
    subject: &'q Subject<'q, 'a>,
    one: &'q PatchedResource<'a>,
    clusters: &'q BTreeSet<String>,
}

impl Asked<'_, '_> {
    fn send(&self, tree: &Tree<'_>) -> Result<Verdict, Trouble> {
        let plan = self.subject.plan;
        let mut clusters = self.clusters.clone();
        if !self.subject.complete && self.one.kind != ResourceKind::Cluster {
            named_clusters(tree, "", &mut clusters);
        }
        self.trial.send(plan.schema, plan.compat.release.minor, self.one.kind, tree, &clusters)
    }

    /// Envoy's reason for refusing the resource with these patches off; `None` when it accepts it.
    fn without(&self, off: &[PatchId]) -> Result<Option<String>, Trouble> {
        let Subject { plan, config, options, .. } = *self.subject;
        let plan = plan.without(off);
        let patched = engine::run(&plan, config, options, &mut ());
        let same = |other: &&PatchedResource<'_>| match self.one.source {
            Some(index) => other.source == Some(index),
            None => other.source.is_none() && other.kind == self.one.kind && other.name == self.one.name,
        };
        let tree = match (patched.resources.iter().find(same), self.one.source) {
            (Some(other), _) => other.tree.clone().map(Kept::into_tree),
            (None, Some(index)) => engine::open(config, index, &plan),
            (None, None) => None,
        };
        tree.map_or(Ok(None), |tree| Ok(self.send(&tree)?.refused))
    }

    fn blame(&self, writers: &[PatchId], words: &str, tried: &mut Tried) -> Result<(), Trouble> {
        // Without one patch another may take effect, so all are turned off.
        let all: Vec<PatchId> = self.subject.plan.ids().collect();
        let others = |id: PatchId| -> Vec<PatchId> { all.iter().copied().filter(|&other| other != id).collect() };
        if let Some(words) = self.without(&all)? {
            tried.before.push((self.one.kind, self.one.name.clone(), words));
            return Ok(());
        }
        let refusal = |patch, words: &str, proof| Refusal {
            patch,
            kind: self.one.kind,
            resource: self.one.name.clone(),
            words: words.to_owned(),
            proof,
        };
        let mut found = Vec::new();
        for &id in writers {
            if let Some(words) = self.without(&others(id))? {
                found.push(refusal(id, &words, Proof::Alone));
            }
        }
        if found.is_empty() {
            for &id in writers {
                if self.without(&[id])?.is_none() {
                    found.push(refusal(id, words, Proof::Together));
                }
            }
        }
        if found.is_empty() {
            found.extend(writers.iter().map(|&id| refusal(id, words, Proof::Among)));
        }
        tried.refusals.append(&mut found);
        Ok(())
    }
}

/// The patches that changed a resource: those that wrote something in it and those that removed something.
fn writers(subject: &Subject<'_, '_>, one: &PatchedResource<'_>, tree: &Tree<'_>) -> Vec<PatchId> {
    let mut writers: BTreeSet<PatchId> = tree.origins().into_iter().filter_map(PatchId::of).collect();
    let before = one.source.and_then(|index| subject.config.resources.get(index)).map(|resource| &*resource.name);
    for id in subject.plan.ids() {
        let effects = subject.trace.patches.get(id.index()).map(|trace| trace.effects.as_slice()).unwrap_or_default();
        let here = effects.iter().any(|(place, effect)| {
            effect.changes()
                && place.kind == one.kind
                && (*place.resource == *one.name || before.is_some_and(|before| *before == *place.resource))
        });
        if here {
            writers.insert(id);
        }
    }
    writers.into_iter().filter(|id| id.index() < subject.plan.patches.len()).collect()
}

/// The names of all clusters that the proxy ends up with.
fn clusters(subject: &Subject<'_, '_>) -> BTreeSet<String> {
    let of = subject.config.of_kind(ResourceKind::Cluster).map(|one| one.name.to_string());
    let mut names: BTreeSet<String> = of.collect();
    for one in subject.patched.resources.iter().filter(|one| one.kind == ResourceKind::Cluster) {
        let before = one.source.and_then(|index| subject.config.resources.get(index));
        if let Some(before) = before {
            names.remove(&*before.name);
        }
        if one.tree.is_some() {
            names.insert(one.name.clone());
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// The names of clusters that a resource refers to: the values of `cluster`, `cluster_name`, `collector_cluster` …
fn named_clusters(tree: &Tree<'_>, key: &str, into: &mut BTreeSet<String>) {
    match &tree.value {
        Value::Raw(_) => named_clusters(&tree.readable(), key, into),
        Value::Map(entries) => entries.iter().for_each(|(key, value)| named_clusters(value, key, into)),
        Value::List(items) => items.iter().for_each(|item| named_clusters(item, key, into)),
        Value::String(name) if !name.is_empty() => {
            let key = key.to_ascii_lowercase();
            if key.ends_with("cluster") || key.ends_with("cluster_name") || key.ends_with("clustername") {
                into.insert(name.to_string());
            }
        }
        _ => {}
    }
}
