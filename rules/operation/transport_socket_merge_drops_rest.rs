//! EF315: a MERGE with a transport socket, which drops everything else.

use crate::declare_rule;
use crate::engine::trace::Effect;
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// A MERGE with a transport socket and other fields, which are dropped.
    ///
    /// # What it finds
    /// A MERGE of CLUSTER with `transport_socket` and other fields; the same for FILTER_CHAIN if the filter chain has a
    /// transport socket of that name.
    ///
    /// # Why it matters
    /// istiod then merges only the transport socket. The other fields of the patch are discarded.
    ///
    /// # How to fix
    /// Write two patches: one with the transport socket, one with the rest.
    ///
    /// # References
    /// istiod `cluster_patch.go`, `listener_patch.go`, releases 1.22 to 1.31; recorded.
    "EF315" "transport-socket-merge-drops-rest" Operation Error => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let dropped = |effect: &Effect| match effect {
            Effect::TransportSocketMerged(_, dropped) => {
                dropped.iter().filter(|name| *name != "name").cloned().collect::<Vec<_>>()
            }
            _ => Vec::new(),
        };
        let Some(seen) = cx.seen_if(&view, |run| run.has(|effect| !dropped(effect).is_empty())) else { continue };
        let names =
            seen.runs[0].trace.effects.iter().map(|(_, effect)| dropped(effect)).find(|names| !names.is_empty());
        let Some(names) = names else { continue };
        let first = names.first().map(String::as_str).unwrap_or_default();
        let finding = view
            .finding(
                rule,
                view.value_path_span(first),
                format!("MERGE with a transport socket drops everything else: {}", names.join(", ")),
            )
            .label("dropped")
            .related(view.value_path_span("transport_socket"), "only this is merged")
            .help("write two patches: one with the transport socket, one with the rest");
        out.push(seen.tell(finding));
    }
}
