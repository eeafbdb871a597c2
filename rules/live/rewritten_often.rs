//! EF807: a filter that something writes again and again.

use crate::declare_rule;
use crate::lint::live::last_edit;
use crate::lint::{Context, Finding, Findings, RuleInfo};
use crate::source::{NodeValue, Step};

declare_rule! {
    /// An EnvoyFilter that something rewrites again and again.
    ///
    /// # What it finds
    /// Filters whose `metadata.generation` has grown by more than twelve an hour, on average from their creation to their last
    /// write, and by sixty at least.
    ///
    /// # Why it matters
    /// Every change of the spec makes istiod build and push the configuration of every workload that the filter attaches to; a
    /// listener that changes drains its connections, and a rewrite that drops a value for a moment drops it in the proxies.
    /// Two controllers that undo each other's work look like this.
    ///
    /// # How to fix
    /// Find whoever writes it (`kubectl get envoyfilter NAME -o yaml --show-managed-fields`) and let it write only what changes.
    ///
    /// # References
    /// Kubernetes `metadata.generation` and `metadata.managedFields`; Envoy documentation, "Draining"; kuadrant-operator issue
    /// 2046.
    "EF807" "rewritten-often" Live Warning => check
}

/// Rewrites from which on an average says something.
const FEWEST: i64 = 60;

/// Rewrites an hour that no one makes by hand.
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
        .help(format!("look for what makes `{manager}` write: it should write only when something changes"))
        .of(filter, None);
        out.push(if hit > 0 { finding.note(format!("of the given proxies it attaches to {hit}")) } else { finding });
    }
}
