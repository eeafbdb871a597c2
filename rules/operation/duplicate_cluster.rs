//! EF319: a cluster with a name that the proxy has already.

use crate::declare_rule;
use crate::engine::PatchId;
use crate::engine::trace::{Effect, NoOp, Place};
use crate::lint::context::PatchRun;
use crate::lint::{Context, Finding, Findings, PatchView, RuleInfo};
use crate::model::envoy_filter::ApplyTo;
use crate::model::resource::ResourceKind;
use crate::proto::tree::Tree;
use crate::source::Severity;

declare_rule! {
    /// A cluster with a name that the proxy already has.
    ///
    /// # What it finds
    /// A CLUSTER ADD, or a MERGE that renames, with the name of another cluster of the proxy; an info if both are added with the same
    /// settings.
    ///
    /// # Why it matters
    /// Since Istio 1.26, a cluster with the name of a generated outbound cluster is sent in addition to it, and Envoy
    /// rejects the update of all clusters. Other duplicates are dropped: the first cluster of a name stays.
    ///
    /// # How to fix
    /// MERGE into the generated cluster, or choose a name of your own.
    ///
    /// # References
    /// istiod `cluster_builder.go`, releases 1.22 to 1.31; recorded. Envoy: `duplicate cluster … found`.
    "EF319" "duplicate-cluster" Operation Error => check,
    explains: &["EF402", "EF404"]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let dropped = |run: &PatchRun<'_, '_>| run.has(|effect| matches!(effect, Effect::NoOp(NoOp::DuplicateName)));
        let index = view.patch.index;
        // Without a name in its value, a patch neither adds nor renames a cluster.
        if view.patch.apply_to != ApplyTo::Cluster || view.node(&["patch", "value", "name"]).is_none() {
            continue;
        }
        let finding = if let Some(seen) = cx.seen(&view, |run| twice(run).is_some()) {
            let name = seen.runs.first().and_then(twice).unwrap_or_default();
            let finding = Finding::new(rule, view.value_path_span("name"), format!("two clusters are named `{name}`"))
                .label("a generated cluster has this name")
                .note("Envoy rejects the whole update of clusters")
                .help("MERGE into the generated cluster, or choose a name of your own");
            seen.tell(finding)
        } else if let Some(seen) = cx.seen(&view, dropped) {
            let finding = Finding::new(
                rule,
                view.value_path_span("name"),
                "the name of this cluster is taken, so istiod drops the cluster",
            )
            .label("the first cluster of a name stays");
            let first = seen.runs.first().and_then(|run| cx.view(run.run, first(run)?));
            // Two files with the same object are never applied together.
            if first.as_ref().is_some_and(|first| cx.same_object(first.filter_index, view.filter_index)) {
                continue;
            }
            let same =
                |first: &PatchView<'_>| value_of(first).zip(value_of(&view)).is_some_and(|(one, two)| one.same(two));
            let finding = seen.tell(match first {
                Some(first) if same(&first) => finding
                    .severity(Severity::Info)
                    .related(first.value_path_span("name"), "the first one")
                    .beside(first.filter)
                    .note("both add the same cluster, so nothing is lost")
                    .help("delete one of the two patches, unless each must work without the other"),
                Some(first) => finding
                    .related(first.value_path_span("name"), "the first one")
                    .beside(first.filter)
                    .help("give one of the two another name"),
                None => finding.help("choose a name of your own"),
            });
            finding.ineffective()
        } else {
            continue;
        };
        out.push(finding.of(view.filter, Some(index)));
    }
}

/// The value of a patch as istiod reads it.
fn value_of<'a>(view: &PatchView<'a>) -> Option<&'a Tree<'a>> {
    view.built?.value.as_ref()
}

/// The patch that added the cluster whose name this one reuses.
fn first(run: &PatchRun<'_, '_>) -> Option<PatchId> {
    let dropped = |(_, effect): &&(Place, Effect)| matches!(effect, Effect::NoOp(NoOp::DuplicateName));
    let (place, _) = run.trace.effects.iter().find(dropped)?;
    let added = |id: &PatchId| {
        let effects = &run.run.judged.trace.patches[id.index()].effects;
        effects.iter().any(|(at, effect)| at == place && matches!(effect, Effect::Added))
    };
    run.run.plan.ids().filter(|id| *id != run.id).find(added)
}

/// The name of a cluster this patch added or renamed that the proxy now has twice.
fn twice(run: &PatchRun<'_, '_>) -> Option<String> {
    let sent = &run.run.judged.patched.resources;
    let written = sent.iter().filter(|one| {
        one.kind == ResourceKind::Cluster
            && one.tree.as_ref().and_then(|tree| tree.get("name")).is_some_and(|name| name.origin == run.id.origin())
    });
    let untouched = |name: &str| {
        run.run
            .config
            .generated(ResourceKind::Cluster)
            .any(|(index, resource)| resource.name == name && !sent.iter().any(|one| one.source == Some(index)))
    };
    let mut written = written.map(|one| one.name.as_str());
    let count = |name: &str| {
        sent.iter().filter(|one| one.kind == ResourceKind::Cluster && one.tree.is_some() && one.name == name).count()
    };
    written.find(|name| untouched(name) || count(name) > 1).map(str::to_owned)
}
