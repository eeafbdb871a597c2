//! EF807: a filter that is rewritten constantly.

use crate::declare_rule;
use crate::lint::live::last_edit;
use crate::lint::{Context, Finding, Findings, RuleInfo};
use crate::source::{NodeValue, Step};

declare_rule! {
    /// An EnvoyFilter that is rewritten constantly.
    ///
    /// # What it finds
    /// Filters whose `metadata.generation` has grown by more than twelve per hour, on average from their creation to
    /// their last write, and by at least sixty.
    ///
    /// # Why it matters
    /// Every change of the spec makes istiod build and push the configuration of every workload that the filter
    /// attaches to. A changed listener drains its connections, and a rewrite that temporarily drops a value drops it in
    /// the proxies. Two controllers that undo each other's changes look like this.
    ///
    /// # How to fix
    /// Find the writer (`kubectl get envoyfilter NAME -o yaml --show-managed-fields`) and make it write only actual
    /// changes.
    ///
    /// # References
    /// Kubernetes `metadata.generation` and `metadata.managedFields`; Envoy documentation, "Draining"; kuadrant-operator issue
    /// 2046.
    "EF807" "rewritten-often" Live Warning => check
}

/// Minimum number of rewrites for a meaningful average.
const FEWEST: i64 = 60;

/// Rewrites per hour that nobody makes by hand.
const AN_HOUR: i64 = 12;

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for (index, filter) in cx.filters.iter().enumerate() {
        let route = [Step::from("metadata"), Step::from("generation")];
        let generation = filter.document.at(&route).and_then(|node| match &node.value {
            NodeValue::Number(text) => text.parse::<i64>().ok(),
            _ => None,
        });
        let (Some(generation), Some((created, _))) = (generation, filter.created) else { continue };
        let Some(edit) = last_edit(filter).filter(|edit| edit.manager.is_some()) else { continue };
        let (rewrites, seconds) = (generation.saturating_sub(1), (edit.time.0 - created).max(1));
        if rewrites < FEWEST || rewrites.saturating_mul(3600) < seconds.saturating_mul(AN_HOUR) {
            continue;
        }
        let span = if seconds < 7200 {
            format!("{} minutes", (seconds + 59) / 60)
        } else {
            format!("{} hours", seconds / 3600)
        };
        let manager = edit.manager.as_deref().unwrap_or_default();
        let proxies = cx.attached.get(index).into_iter().flatten().filter_map(|&run| cx.runs.get(run));
        let hit = proxies.filter(|run| run.knowledge == crate::lint::Knowledge::Dump).count();
        let finding = Finding::new(
            rule,
            filter.document.key_span(&route),
            format!("its spec was rewritten {rewrites} times in {span}"),
        )
        .label(format!("{} times an hour", rewrites.saturating_mul(3600) / seconds))
        .note(format!("{}; each time istiod pushes to every workload it attaches to", edit.words()))
        .help(format!("find out why `{manager}` writes: it should write only when something changes"))
        .of(filter, None);
        out.push(if hit > 0 { finding.note(format!("it attaches to {hit} of the given proxies")) } else { finding });
    }
}
