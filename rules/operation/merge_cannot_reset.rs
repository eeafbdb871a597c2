//! EF309: a MERGE of `false`, 0 or an empty string over a value that is set, which does not change it.

use crate::declare_rule;
use crate::engine::program::Status;
use crate::engine::trace::Effect;
use crate::lint::context::PatchRun;
use crate::lint::{Context, Findings, PatchView, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, Operation, PatchContext};
use crate::proto::decode::What;
use crate::proto::merge::ChangeKind;
use crate::source::Step;

declare_rule! {
    /// A MERGE of `false`, 0 or an empty string over a value that is set, which does not change it.
    ///
    /// # What it finds
    /// A MERGE whose value has a scalar at its default (`false`, 0, `""`), or a wrapper of one, where the object has
    /// another value.
    ///
    /// # Why it matters
    /// proto3 cannot distinguish a default from an absent field, and a merge takes only set fields: the old value
    /// stays.
    ///
    /// # How to fix
    /// REPLACE the filter with the whole configuration, or REMOVE it and insert it again; for a list or message use
    /// an API that writes the field.
    ///
    /// # References
    /// istiod `pkg/proto/merge`, releases 1.22 to 1.31; recorded.
    "EF309" "merge-cannot-reset" Operation Warning => check,
    explains: &["EF329", "EF343"]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let Some(built) = view.built.filter(|built| built.operation.is_merge() && built.status == Status::Ready) else {
            continue;
        };
        let lists = built.operation == Operation::MergeAndReplaceList;
        let mut places: Vec<(String, crate::source::Span)> = Vec::new();
        for run in cx.on_proxies(view.filter_index, view.patch.index) {
            for (_, effect) in &run.trace.effects {
                let (Effect::Merged(changes) | Effect::TransportSocketMerged(changes, _)) = effect else { continue };
                for change in changes.iter().filter(|change| change.kind == ChangeKind::CannotReset) {
                    places.push((change.path.clone(), view.value_path_span(&change.path)));
                }
            }
        }
        for notice in built.notices.iter().filter(|notice| notice.what == What::DefaultDropped) {
            // Items of lists and entries of maps are new, so they have nothing to reset.
            let keys: Option<Vec<&str>> = notice
                .route
                .iter()
                .map(|step| match step {
                    Step::Key(key) => Some(key.as_str()),
                    Step::Item(_) => None,
                })
                .collect();
            if let Some(keys) = keys {
                places.push((keys.join("."), view.value_route_span(&notice.route)));
            }
        }
        places.sort_by(|left, right| left.0.cmp(&right.0));
        places.dedup_by(|left, right| left.1 == right.1);
        for (path, span) in places {
            let keys: Vec<&str> = path.split('.').collect();
            let Some(seen) = cx.seen(&view, |run| before(run, &keys).is_some()) else { continue };
            let Some(old) = seen.runs.first().and_then(|run| before(run, &keys)) else { continue };
            let finding = view
                .finding(rule, span, format!("MERGE cannot reset `{path}`: it stays {old}"))
                .label("a default value counts as not set, so there is nothing to merge")
                .help(instead(&view, lists));
            let finding = seen.tell(finding);
            out.push(finding.ineffective());
        }
    }
}

/// What writes the value: REPLACE exists for filters, virtual hosts and a few more.
fn instead(view: &PatchView<'_>, lists: bool) -> &'static str {
    match view.patch.apply_to {
        ApplyTo::NetworkFilter | ApplyTo::HttpFilter | ApplyTo::ListenerFilter if lists => {
            "write the object with REPLACE, or remove it and add it again"
        }
        ApplyTo::NetworkFilter | ApplyTo::HttpFilter | ApplyTo::ListenerFilter => {
            "REPLACE the filter with its whole configuration; a merge only adds and overwrites"
        }
        ApplyTo::VirtualHost => {
            "REPLACE the virtual host with its whole configuration; a merge only adds and overwrites"
        }
        ApplyTo::HttpRoute => "INSERT_FIRST a route with the whole configuration; a merge only adds and overwrites",
        ApplyTo::FilterChain | ApplyTo::Listener if view.patch.context == PatchContext::Gateway => {
            "a merge only adds and overwrites: set it where the Gateway sets it, or REMOVE the object and ADD it with its whole configuration"
        }
        _ => {
            "a merge only adds and overwrites: set it in the Istio object that generates it, or REMOVE the object and ADD it with its whole configuration"
        }
    }
}

/// The value at a path of an object that the patch was merged into, after all patches.
fn before(run: &PatchRun<'_, '_>, keys: &[&str]) -> Option<String> {
    run.trace.effects.iter().find_map(|(place, effect)| {
        if !matches!(effect, Effect::Merged(_) | Effect::TransportSocketMerged(..)) {
            return None;
        }
        let tree = run.run.below(place, keys.iter().copied())?;
        let text = crate::proto::json::write(&tree, crate::proto::json::Style::Compact);
        (!matches!(text.as_str(), "false" | "0" | "\"\"" | "\"0\"" | "{}" | "[]")).then_some(text)
    })
}
