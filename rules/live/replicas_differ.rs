//! EF803: only some replicas of a workload show a patch.

use crate::declare_rule;
use crate::lint::live::{self, Standing};
use crate::lint::names::listed;
use crate::lint::{Confidence, Context, Findings, RuleInfo};

declare_rule! {
    /// Only some replicas of a workload show the effect of a patch.
    ///
    /// # What it finds
    /// Config dumps of two or more pods of one owner (workload and `version` label) of which only some show the patch
    /// in effect.
    ///
    /// # Why it matters
    /// The same request is treated differently depending on the pod it reaches. One replica has not received the push:
    /// it is connected to another istiod, rejects an update, or was dumped at another time.
    ///
    /// # How to fix
    /// Compare `istioctl proxy-status` for the named pods; dump all replicas again at the same time.
    ///
    /// # References
    /// Envoy admin API `config_dump`.
    "EF803" "replicas-differ" Live Warning => check,
    needs: &[Live]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for (view, standing) in live::standings(cx) {
        for (owner, (without, with)) in live::split(&standing) {
            let name = |one: &&Standing<'_, '_>| one.run.label().to_owned();
            let sure = without.iter().all(|one| one.confidence() == Confidence::Certain);
            let all = without.len() + with.len();
            let message = format!("in effect on {} of {all} replicas of {owner}", with.len());
            let lacking: Vec<String> = without.iter().map(name).collect();
            let mut finding = view
                .finding(rule, view.key_span(&["patch"]), message)
                .label("not everywhere")
                .note(format!("not on {}", listed(lacking.iter().map(String::as_str), 4)))
                .confidence(if sure { Confidence::Certain } else { Confidence::Likely })
                .workloads(lacking.clone());
            let times = |of: &[&Standing<'_, '_>]| of.iter().filter_map(|one| one.updated()).max();
            if let (Some((_, have)), Some((_, lack))) = (times(&with), times(&without)) {
                finding = finding.note(format!("last updated there at {lack}, on the others at {have}"));
            }
            if without.iter().any(|one| one.refused()) {
                finding = finding.note("one of them rejects an update of what the patch changes");
            }
            out.push(finding);
        }
    }
}
