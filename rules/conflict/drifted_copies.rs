//! EF407: two copies of a filter that have drifted apart.

use crate::declare_rule;
use crate::lint::context::PatchView;
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::Patch;
use crate::proto::json;
use crate::source::{Node, NodeValue};
use serde_json::Value;
use std::collections::BTreeMap;

declare_rule! {
    /// Two EnvoyFilters with almost the same patch.
    ///
    /// # What it finds
    /// Two patches of different filters with the same `applyTo`, operation and match, whose values have many fields and
    /// differ in only one or two of them.
    ///
    /// # Why it matters
    /// Copies of one filter for several workloads drift apart: one gets the fix, the other does not.
    ///
    /// # How to fix
    /// Make them equal, or use one filter with a common label as selector.
    ///
    /// # References
    /// istio/istio issue 50619.
    "EF407" "drifted-copies" Conflict Info => check
}

/// A patch and its value, field by field.
type Copied<'a> = (PatchView<'a>, BTreeMap<String, String>);

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    const ENOUGH: usize = 8;
    const SMALL: usize = 2;
    let mut groups: BTreeMap<String, Vec<Copied<'_>>> = BTreeMap::new();
    for view in cx.patches() {
        let written = view.patch.body.as_ref().and_then(|body| body.value.as_ref());
        let Some(value) = view.built.and_then(|built| built.value.as_ref()) else { continue };
        if written.is_none_or(|written| scalars(written) < ENOUGH) {
            continue;
        }
        let Ok(json) = serde_json::from_str::<Value>(&json::canonical(value)) else { continue };
        let mut leaves = BTreeMap::new();
        collect(&json, String::new(), &mut leaves);
        if leaves.len() >= ENOUGH {
            groups.entry(format!("{}{}", shape(view.patch), value.name())).or_default().push((view, leaves));
        }
    }
    for group in groups.values() {
        for (at, (view, leaves)) in group.iter().enumerate().skip(1) {
            let differing = |other: &BTreeMap<String, String>| -> Vec<String> {
                let keys: std::collections::BTreeSet<&String> = leaves.keys().chain(other.keys()).collect();
                keys.into_iter().filter(|key| leaves.get(*key) != other.get(*key)).cloned().collect()
            };
            // The nearest neighbor is enough: a group of copies stays linear.
            let (other, fields) = (&group[at - 1].0, differing(&group[at - 1].1));
            let same = other.filter_index == view.filter_index || cx.same_object(other.filter_index, view.filter_index);
            if same || fields.is_empty() || fields.len() > SMALL {
                continue;
            }
            let path = fields[0].trim_start_matches('.');
            out.push(
                view.finding(
                    rule,
                    view.value_path_span(path),
                    format!(
                        "almost identical to a patch of {}: {} of {} fields differ",
                        other.filter.full_name(),
                        fields.len(),
                        leaves.len()
                    ),
                )
                .label("differs here")
                .related(other.value_path_span(path), "other copy")
                .help("make both equal, or use one EnvoyFilter with a label that both workloads have"),
            );
        }
    }
}

/// The number of scalar values: a message has at most as many fields.
fn scalars(node: &Node) -> usize {
    match &node.value {
        NodeValue::List(items) => items.iter().map(scalars).sum(),
        NodeValue::Map(entries) => entries.iter().map(|entry| scalars(&entry.value)).sum(),
        _ => 1,
    }
}

fn shape(patch: &Patch) -> String {
    let operation = patch.body.as_ref().map(|body| body.operation);
    format!("{:?} {:?} {:?} {:?} {operation:?}", patch.apply_to, patch.context, patch.proxy, patch.object)
}

fn collect(value: &Value, path: String, leaves: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| collect(value, format!("{path}.{key}"), leaves)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, value)| collect(value, format!("{path}[{at}]"), leaves));
        }
        leaf => {
            leaves.insert(path, leaf.to_string());
        }
    }
}
