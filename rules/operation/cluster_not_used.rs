//! EF336: an added cluster that nothing refers to.

use crate::declare_rule;
use crate::engine::trace::Effect;
use crate::lint::context::PatchRun;
use crate::lint::{Confidence, Context, Findings, Knowledge, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, Operation};
use crate::model::resource::ResourceKind;
use crate::source::{Node, NodeValue, Severity};

declare_rule! {
    /// An added cluster that nothing refers to.
    ///
    /// # What it finds
    /// A CLUSTER ADD whose name is in no other given patch and in no listener or route of the config dumps. Without config dumps it is
    /// an info.
    ///
    /// # Why it matters
    /// No request reaches it. Often the filter that uses it has another spelling of the name, and fails.
    ///
    /// # How to fix
    /// Use the same name in the filter or route, or remove the patch.
    ///
    /// # References
    /// Envoy, cluster manager: clusters are found by name.
    "EF336" "cluster-not-used" Operation Warning => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches().filter(|view| view.patch.apply_to == ApplyTo::Cluster) {
        let Some(built) = view.built.filter(|built| built.operation == Operation::Add) else { continue };
        let Some(name) = built.value.as_ref().map(|value| value.name().to_owned()).filter(|name| !name.is_empty())
        else {
            continue;
        };
        // Clusters of the bootstrap, and what VirtualServices lead to by the names that istiod makes.
        if name.contains('|')
            || matches!(name.as_str(), "xds-grpc" | "sds-grpc" | "agent" | "prometheus_stats" | "zipkin")
        {
            continue;
        }
        let elsewhere = cx.patches().any(|other| {
            let same = (other.filter_index, other.patch.index) == (view.filter_index, view.patch.index);
            let added = other.patch.apply_to == ApplyTo::Cluster
                && other.built.is_some_and(|built| built.value.as_ref().is_some_and(|value| value.name() == name));
            !same
                && !added
                && other
                    .patch
                    .body
                    .as_ref()
                    .and_then(|body| body.value.as_ref())
                    .is_some_and(|value| mentions(value, &name))
        });
        if elsewhere {
            continue;
        }
        let finding = view
            .finding(rule, view.value_path_span("name"), format!("nothing uses the cluster `{name}`"))
            .label("no route, filter or script names it")
            .help("write the same name in the filter or route that is to use it, or remove the patch");
        if cx.attaches_to_dump(view.filter_index) {
            let unused = |run: &PatchRun<'_, '_>| {
                let others = run.run.config.resources.iter().filter(|one| one.kind != ResourceKind::Cluster);
                run.run.knowledge == Knowledge::Dump
                    && run.has(|effect| matches!(effect, Effect::Added))
                    && others.into_iter().all(|one| !one.json.contains(name.as_str()))
            };
            if let Some(seen) = cx.seen(&view, unused) {
                out.push(seen.tell(finding));
            }
        } else {
            out.push(
                finding
                    .severity(Severity::Info)
                    .confidence(Confidence::Likely)
                    .note("likely: no given patch names it, and no config dump was given"),
            );
        }
    }
}

/// Whether a text somewhere in a value holds the name.
fn mentions(node: &Node, name: &str) -> bool {
    match &node.value {
        NodeValue::String(text) => text.contains(name),
        _ => {
            node.items().iter().any(|item| mentions(item, name))
                || node.entries().iter().any(|entry| mentions(&entry.value, name))
        }
    }
}
