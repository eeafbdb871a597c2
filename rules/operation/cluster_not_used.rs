//! EF336: an added cluster that nothing refers to.

use crate::declare_rule;
use crate::engine::trace::Effect;
use crate::lint::context::PatchRun;
use crate::lint::names::is_cluster_of_any_mesh;
use crate::lint::{Context, Findings, Knowledge, RuleInfo, walk};
use crate::model::envoy_filter::{ApplyTo, Operation};
use crate::model::resource::ResourceKind;
use crate::proto::tree::Tree;
use crate::source::{Node, NodeValue, Severity, alike};
use std::collections::HashSet;

declare_rule! {
    /// An added cluster that nothing refers to.
    ///
    /// # What it finds
    /// A CLUSTER ADD whose name appears in no other given patch or TrafficExtension and in no listener or route of the config dumps.
    /// Without config dumps it is an info, unless a patch names a cluster that differs only in separators.
    ///
    /// # Why it matters
    /// No request reaches it. Often the filter that should use it misspells the name, and fails.
    ///
    /// # How to fix
    /// Use the same name in the filter or route, or remove the patch.
    ///
    /// # References
    /// Envoy, cluster manager: clusters are found by name.
    "EF336" "cluster-not-used" Operation Warning => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let mut used: Option<HashSet<&str>> = None;
    let mut asked: Option<HashSet<&str>> = None;
    let mut added: Option<HashSet<String>> = None;
    for view in cx.patches().filter(|view| view.patch.apply_to == ApplyTo::Cluster) {
        let Some(built) = view.built.filter(|built| built.operation == Operation::Add) else { continue };
        let Some(name) = built.value.as_ref().map(|value| value.name().to_owned()).filter(|name| !name.is_empty())
        else {
            continue;
        };
        // Clusters of the bootstrap, and clusters that istiod's own listeners and VirtualServices refer to by generated
        // names.
        if name.contains('|') || is_cluster_of_any_mesh(&name) {
            continue;
        }
        if used.get_or_insert_with(|| mentioned(cx)).contains(name.as_str()) {
            continue;
        }
        let asked = asked.get_or_insert_with(|| named_clusters(cx));
        let added = added.get_or_insert_with(|| added_clusters(cx));
        let finding = view
            .finding(rule, view.value_path_span("name"), format!("nothing uses the cluster `{name}`"))
            .label("no route, filter or script names it")
            .help("write the same name in the filter or route that should use it, or remove the patch");
        if cx.attaches_to_dump(view.filter_index) {
            let unused = |run: &PatchRun<'_, '_>| {
                let others = run.run.config.resources.iter().filter(|one| one.kind != ResourceKind::Cluster);
                run.run.knowledge == Knowledge::Dump
                    && run.has(|effect| matches!(effect, Effect::Added))
                    && others.into_iter().all(|one| !one.json.search().contains(name.as_str()))
                    // A misspelling of it is one mistake, and found where it is.
                    && !asked.iter().any(|asked| {
                        *asked != name && run.run.cluster_like(asked).as_deref() == Some(name.as_str())
                    })
            };
            if let Some(seen) = cx.seen(&view, unused) {
                out.push(seen.tell(finding));
            }
        } else {
            let finding = finding.likely("no given patch names it, and no config dump was given");
            // A name in a value that is a misspelling of this one.
            let near = |asked: &str| {
                let foreign = !asked.contains('|') && !is_cluster_of_any_mesh(asked) && !added.contains(asked);
                alike::keyword(asked, [name.as_str()]).filter(|_| foreign).map(|near| !near.same_letters)
            };
            out.push(match asked.iter().filter_map(|asked| Some((near(asked)?, *asked))).min() {
                Some((differs, asked)) => finding
                    .severity(if differs { Severity::Info } else { Severity::Warning })
                    .help(format!("write `{name}` instead of `{asked}` in the value that should use it")),
                None => finding.severity(Severity::Info),
            });
        }
    }
}

/// The names of all added clusters.
fn added_clusters(cx: &Context<'_>) -> HashSet<String> {
    let adds = cx.patches().filter(|view| view.patch.apply_to == ApplyTo::Cluster);
    adds.filter_map(|view| view.built?.value.as_ref().map(|value| value.name().to_owned())).collect()
}

/// Every text in the values of all patches, and the names in them, such as those in a script, except the names of the
/// added clusters themselves.
fn mentioned<'a>(cx: &Context<'a>) -> HashSet<&'a str> {
    let mut texts = HashSet::new();
    for view in cx.patches() {
        let Some(value) = view.patch.body.as_ref().and_then(|body| body.value.as_ref()) else { continue };
        let adds = view.patch.apply_to == ApplyTo::Cluster;
        let own = adds.then(|| view.built?.value.as_ref().map(Tree::name)).flatten().unwrap_or_default();
        collect(value, own, &mut texts);
    }
    // The script of a TrafficExtension calls clusters as that of a patch does.
    let extensions = cx.inventory.policies.iter().filter(|one| one.kind == "TrafficExtension");
    extensions.for_each(|one| collect(&one.document, "", &mut texts));
    texts
}

/// The clusters that the values of all patches and their scripts refer to.
fn named_clusters<'a>(cx: &Context<'a>) -> HashSet<&'a str> {
    let mut names = HashSet::new();
    for view in cx.patches() {
        let Some(value) = view.patch.body.as_ref().and_then(|body| body.value.as_ref()) else { continue };
        walk::fields(value, &mut |field| {
            // The name in a cluster's own endpoints refers to nothing.
            let weighted = field.is("name") && field.inside("weighted_clusters");
            if weighted || (field.is("cluster") || field.is("cluster_name")) && !field.inside("load_assignment") {
                names.extend(field.node.as_str());
            }
        });
    }
    names.extend(cx.loadable_scripts().flat_map(|script| script.uses.calls.iter().map(|one| one.name)));
    names
}

fn collect<'n>(node: &'n Node, own: &str, texts: &mut HashSet<&'n str>) {
    if let NodeValue::String(text) = &node.value {
        // Every character of every value is asked: a search among bytes takes less than one in a `str`.
        let part = |letter: char| {
            letter.is_whitespace() || u8::try_from(letter).is_ok_and(|byte| b"\"'`(),;={}[]<>%/@".contains(&byte))
        };
        texts.extend(std::iter::once(text.as_str()).chain(text.split(part)).filter(|text| *text != own));
    }
    node.items().iter().for_each(|item| collect(item, own, texts));
    node.entries().iter().for_each(|entry| collect(&entry.value, own, texts));
}
