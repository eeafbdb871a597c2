//! EF133: a patch that a real Envoy rejects.

use crate::declare_rule;
use crate::engine::matching;
use crate::lint::names::count;
use crate::lint::tried::refusal;
use crate::lint::{Confidence, Context, Finding, Findings, Knowledge, RuleInfo};
use crate::model::resource::ResourceKind;
use crate::trial::blame::{Proof, Refusal};
use std::collections::{BTreeMap, BTreeSet};

declare_rule! {
    /// A patch that a real Envoy rejects.
    ///
    /// # What it finds
    /// With `--envoy PATH`, every listener, cluster, route configuration and extension configuration that a patch
    /// changes is sent to that Envoy the way istiod sends it, as an update of a running process. A rejection is
    /// reported with Envoy's own message. The patch is found by sending the resource with that patch alone, and without
    /// it. Without `--envoy` the rule is silent. In an `audit` the Envoy is that of the target release.
    ///
    /// # Why it matters
    /// istiod does not ask Envoy. A proxy that rejects an update keeps the old version of the resource, or has none,
    /// and rejects every later change to it, including Istio's own unrelated changes.
    ///
    /// # How to fix
    /// Fix what Envoy names. Other rules often explain how.
    ///
    /// # References
    /// The given Envoy.
    "EF133" "refused-by-envoy" Value Error => check,
    needs: &[Envoy], meaning: Rejected, policy: Never("it asks a real Envoy")
}

/// The evidence against one patch.
struct Blame {
    words: String,
    proof: Proof,
    knowledge: Knowledge,
    resources: BTreeSet<String>,
    workloads: BTreeSet<String>,
}

/// Whether a patch means the resource of a reference configuration. There it changes every cluster, whichever service it
/// names; those of istiod that belong to no service accept less than that of a service.
fn is_meant(cx: &Context<'_>, filter: usize, patch: usize, refusal: &Refusal) -> bool {
    refusal.kind != ResourceKind::Cluster
        || !matching::parse_subset_key(&refusal.resource).host.is_empty()
        || cx.patch(filter, patch).is_none_or(|view| view.as_written)
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let Some(trials) = &cx.trials else { return };
    let mut blamed: BTreeMap<(usize, usize), Blame> = BTreeMap::new();
    for (tried, run) in trials.runs.iter().zip(&cx.runs) {
        for refusal in &tried.refusals {
            if run.doubtful(refusal.patch) {
                continue;
            }
            let planned = run.plan.get(refusal.patch);
            if run.knowledge == Knowledge::Reference
                && !is_meant(cx, planned.filter, planned.built.patch.index, refusal)
            {
                continue;
            }
            let blame = blamed.entry((planned.filter, planned.built.patch.index)).or_insert_with(|| Blame {
                words: refusal.words.clone(),
                proof: refusal.proof,
                knowledge: run.knowledge,
                resources: BTreeSet::new(),
                workloads: BTreeSet::new(),
            });
            // The strongest evidence is reported.
            if (refusal.proof, run.knowledge == Knowledge::Reference)
                < (blame.proof, blame.knowledge == Knowledge::Reference)
            {
                (blame.words, blame.proof, blame.knowledge) = (refusal.words.clone(), refusal.proof, run.knowledge);
            }
            blame.resources.insert(format!("{} {}", refusal.kind.as_str(), refusal.resource));
            if run.knowledge == Knowledge::Dump {
                blame.workloads.insert(run.label().to_owned());
            }
        }
    }
    for ((filter, patch), blame) in blamed {
        let Some(view) = cx.patch(filter, patch) else { continue };
        let message = refusal(&trials.envoy, &blame.resources);
        let (label, sure) = match blame.proof {
            Proof::Alone => ("rejected with this patch alone", true),
            Proof::Together => ("accepted without this patch", true),
            Proof::Among => ("one of the patches in the rejected resource", false),
        };
        let certain = sure && blame.knowledge == Knowledge::Dump;
        let mut finding = Finding::new(rule, view.key_span(&["patch", "value"]), message)
            .of(view.filter, Some(patch))
            .label(label)
            .note(format!("Envoy says: {}", blame.words))
            .confidence(if certain { Confidence::Certain } else { Confidence::Likely })
            .objects(blame.resources);
        if !blame.workloads.is_empty() {
            let proxies = count(blame.workloads.len(), "proxy", "proxies");
            finding =
                finding.note(format!("on {proxies}: no update of this resource is accepted, whatever its source"));
        }
        out.push(finding.workloads(blame.workloads));
    }
}
