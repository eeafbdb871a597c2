//! EF804: an update that Envoy rejected, and the patch in it.

use crate::declare_rule;
use crate::engine::PatchId;
use crate::lint::live::{refusals, words_of, writers};
use crate::lint::names::count;
use crate::lint::tried::refusal;
use crate::lint::{Confidence, Context, Finding, Findings, Knowledge, ProxyRun, RuleInfo};
use crate::model::resource::ResourceKind;
use crate::study::InEffect;
use std::collections::{BTreeMap, BTreeSet};

declare_rule! {
    /// An update that Envoy rejected, and the patch that caused it.
    ///
    /// # What it finds
    /// `error_state` in config dumps: an update of a listener, cluster or route that Envoy rejected. It is attributed
    /// to the patch that changes the resource and that Envoy's message mentions by a name, a type or a constraint of
    /// its value. If the message mentions none, the finding is only likely, and is reported for every patch that
    /// changes the resource and is not in effect.
    ///
    /// # Why it matters
    /// The proxy keeps the old version of the resource, or has none, and rejects every later change to it, including
    /// Istio's own unrelated changes.
    ///
    /// # How to fix
    /// Fix what Envoy names, or remove the patch.
    ///
    /// # References
    /// Envoy admin API `UpdateFailureState`.
    "EF804" "update-rejected" Live Error => check,
    needs: &[Live]
}

/// The rejections attributed to one patch.
#[derive(Default)]
struct Blame {
    details: String,
    resources: BTreeSet<String>,
    workloads: BTreeSet<String>,
    named: bool,
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let mut blamed: BTreeMap<(usize, usize), Blame> = BTreeMap::new();
    for run in cx.runs.iter().filter(|run| run.knowledge == Knowledge::Dump) {
        for (kind, name, error) in refusals(run) {
            for (id, named) in culprits(run, kind, name, &error.details, error.failed_configuration) {
                let planned = run.plan.get(id);
                let blame = blamed.entry((planned.filter, planned.built.patch.index)).or_default();
                if blame.details.is_empty() || (named && !blame.named) {
                    blame.details = error.details.split_whitespace().collect::<Vec<_>>().join(" ");
                }
                blame.named |= named;
                blame.resources.insert(format!("{} {name}", kind.as_str()));
                blame.workloads.insert(run.label().to_owned());
            }
        }
    }
    for ((filter, patch), blame) in blamed {
        let Some(view) = cx.patch(filter, patch) else { continue };
        let message = refusal("Envoy", &blame.resources);
        out.push(
            Finding::new(rule, view.key_span(&["patch", "value"]), message)
                .of(view.filter, Some(patch))
                .label(if blame.named { "Envoy names this" } else { "changes what Envoy rejects" })
                .note(format!("Envoy says: {}", blame.details))
                .note(format!(
                    "on {}: the previous version stays, and no later update is accepted",
                    count(blame.workloads.len(), "proxy", "proxies")
                ))
                .confidence(if blame.named { Confidence::Certain } else { Confidence::Likely })
                .objects(blame.resources)
                .workloads(blame.workloads),
        );
    }
}

/// The patches that can be behind a rejection, and whether Envoy's message or the rejected resource mentions them.
fn culprits(
    run: &ProxyRun<'_>,
    kind: ResourceKind,
    name: &str,
    details: &str,
    refused: Option<&str>,
) -> Vec<(PatchId, bool)> {
    // A patch that is in effect was accepted before, so it is not the cause.
    let in_effect =
        |id: &PatchId| run.live.as_ref().is_some_and(|live| live.unapplied.in_effect(*id) == Some(InEffect::Yes));
    let all: Vec<PatchId> = writers(run, kind, name).into_iter().filter(|id| !in_effect(id)).collect();
    let speaks = |id: &PatchId| {
        let Some(value) = &run.plan.get(*id).built.value else { return false };
        let own = value.name();
        // Every message contains the name of the resource itself.
        let words = words_of(value).into_iter().filter(|word| word != name);
        let mentioned = words.filter(|word| details.contains(word.as_str())).count() > 0;
        let inside = refused.is_some_and(|text| own.len() > 3 && own != name && text.contains(&format!("\"{own}\"")));
        mentioned || (all.len() == 1 && inside)
    };
    let named: Vec<(PatchId, bool)> = all.iter().filter(|id| speaks(id)).map(|id| (*id, true)).collect();
    if named.is_empty() { all.into_iter().map(|id| (id, false)).collect() } else { named }
}
