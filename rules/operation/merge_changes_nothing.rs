//! EF329: a MERGE that sets nothing, or what is already set.

use crate::declare_rule;
use crate::engine::PatchId;
use crate::engine::trace::{Effect, Place};
use crate::lint::context::PatchRun;
use crate::lint::{Context, Findings, RuleInfo};
use crate::proto::merge::ChangeKind;

declare_rule! {
    /// A MERGE that sets nothing, or what is already set.
    ///
    /// # What it finds
    /// A MERGE that matched but sets no field, or only fields that already have that value on all proxies.
    ///
    /// # Why it matters
    /// It does nothing today: istiod generates this value, or another filter writes it. The patch only makes upgrades
    /// harder.
    ///
    /// # How to fix
    /// Remove the patch.
    ///
    /// # References
    /// istiod `pilot/pkg/networking/core/envoyfilter`, releases 1.22 to 1.31; recorded.
    "EF329" "merge-changes-nothing" Operation Warning => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let idle = |effect: &Effect| match effect {
            Effect::Merged(changes) | Effect::TransportSocketMerged(changes, _) => {
                changes.iter().all(|change| change.kind == ChangeKind::Same)
            }
            _ => false,
        };
        if cx
            .on_proxies(view.filter_index, view.patch.index)
            .any(|run| run.changes() || run.has(|effect| matches!(effect, Effect::Panicked(_))))
        {
            continue;
        }
        let Some(seen) = cx.seen(&view, |run| run.has(idle)) else { continue };
        let changes = seen.runs.iter().flat_map(|run| {
            run.trace.effects.iter().filter_map(move |(_, effect)| match effect {
                Effect::Merged(changes) | Effect::TransportSocketMerged(changes, _) => Some((run, changes)),
                _ => None,
            })
        });
        let all: Vec<_> = changes.flat_map(|(run, changes)| changes.iter().map(move |change| (run, change))).collect();
        let beside = all.is_empty() && seen.runs.iter().all(into_plaintext_beside_tls);
        let message = if beside {
            "this MERGE changes nothing: istiod merges it into the plaintext socket beside the one with TLS"
        } else if all.is_empty() {
            "this MERGE changes nothing: 0, false and empty values set no field"
        } else {
            "MERGE sets only what is already set"
        };
        let mut finding =
            view.finding(rule, view.key_span(&["patch", "value"]), message).label("changes nothing").help(if beside {
                "remove the patch; to send plaintext, set `trafficPolicy.tls.mode: DISABLE` in a DestinationRule"
            } else {
                "remove the patch"
            });
        let mut writers: Vec<(usize, usize)> = Vec::new();
        for (run, change) in all {
            for id in change.before_origins.iter().copied().filter_map(PatchId::of) {
                let planned = run.run.plan.get(id);
                let key = (planned.filter, planned.built.patch.index);
                if writers.contains(&key) {
                    continue;
                }
                writers.push(key);
                if let Some(other) = cx.view(run.run, id) {
                    finding = finding.related(other.value_path_span(&change.path), "this patch wrote it earlier");
                }
            }
        }
        let finding = seen.tell(finding);
        out.push(finding.ineffective());
    }
}

/// Whether a MERGE goes into the plaintext socket that clusters with automatic mutual TLS have beside the one with TLS.
fn into_plaintext_beside_tls(run: &PatchRun<'_, '_>) -> bool {
    let wanted = run.planned.built.value.as_ref().and_then(|value| value.get("transport_socket"));
    let has_both =
        |place: &Place| run.run.object(place).is_some_and(|cluster| cluster.get("transport_socket_matches").is_some());
    wanted.is_some_and(|socket| socket.name().ends_with("raw_buffer"))
        && run.trace.effects.iter().all(|(place, _)| has_both(place))
}
