//! EF310: a MERGE that makes a list longer instead of replacing it.

use crate::declare_rule;
use crate::engine::trace::Effect;
use crate::lint::{Context, Findings, RuleInfo};
use crate::proto::merge::ChangeKind;
use std::collections::BTreeMap;

declare_rule! {
    /// A MERGE that appends to a list instead of replacing it.
    ///
    /// # What it finds
    /// A MERGE whose value has a list where the object already has items.
    ///
    /// # Why it matters
    /// A proto merge appends: what istiod generated stays in front. Access logs are written twice, headers are
    /// added twice, and a filter that is applied again appends again.
    ///
    /// # How to fix
    /// MERGE_AND_REPLACE_LIST replaces lists (Istio 1.31, not on filters). Else REPLACE the whole object; for
    /// access logs use the Telemetry API.
    ///
    /// # References
    /// istiod `pkg/proto/merge`, releases 1.22 to 1.31; recorded.
    "EF310" "merge-appends-to-list" Operation Info => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let mut lists: BTreeMap<String, String> = BTreeMap::new();
        for run in cx.on_proxies(view.filter_index, view.patch.index) {
            for (_, effect) in &run.trace.effects {
                let (Effect::Merged(changes) | Effect::TransportSocketMerged(changes, _)) = effect else { continue };
                for change in changes.iter().filter(|change| change.kind == ChangeKind::Appended) {
                    let added = change.after.as_deref().map_or(0, items);
                    let Some((list, index)) = change.path.strip_suffix(']').and_then(|path| path.rsplit_once('['))
                    else {
                        continue;
                    };
                    let had: usize = index.parse().unwrap_or_default();
                    if added > 0 && had > 0 {
                        let total = had + added;
                        let count = format!("{had} before, {total} after");
                        lists.entry(list.to_owned()).or_insert(count);
                    }
                }
            }
        }
        for (list, count) in lists {
            let appended = |effect: &Effect| match effect {
                Effect::Merged(changes) | Effect::TransportSocketMerged(changes, _) => {
                    let start = format!("{list}[");
                    changes.iter().any(|change| change.kind == ChangeKind::Appended && change.path.starts_with(&start))
                }
                _ => false,
            };
            let Some(seen) = cx.seen(&view, |run| run.has(appended)) else { continue };
            let finding = view.finding(rule, view.value_path_span(&list), format!("MERGE appends to the list `{list}`"))
                .label(count)
                .help(if list.ends_with("access_log") {
                    "the Telemetry API sets access logs without doubling them"
                } else {
                    "if the list is to be replaced: REPLACE the object, or MERGE_AND_REPLACE_LIST (Istio 1.31, not on filters)"
                });
            out.push(seen.tell(finding));
        }
    }
}

/// How many items a JSON list has.
fn items(json: &str) -> usize {
    serde_json::from_str::<Vec<serde_json::Value>>(json).map_or(0, |items| items.len())
}
