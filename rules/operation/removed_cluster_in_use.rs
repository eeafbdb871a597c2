//! EF345: a removed cluster that routes or filters still use.

use crate::declare_rule;
use crate::engine::trace::Effect;
use crate::lint::context::PatchRun;
use crate::lint::seen::Seen;
use crate::lint::{Context, Findings, RuleInfo, names};
use crate::model::envoy_filter::{ApplyTo, Operation};
use crate::model::resource::ResourceKind;
use crate::proto::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};

declare_rule! {
    /// A CLUSTER REMOVE of a cluster that routes or TCP proxies of the same proxy still use.
    ///
    /// # What it finds
    /// After all patches, a route or a TCP proxy that names a cluster which this patch removed. Needs config dumps.
    ///
    /// # Why it matters
    /// REMOVE takes the cluster only. Requests still match the route: Envoy answers 503 with the flag NC, and closes TCP
    /// connections.
    ///
    /// # How to fix
    /// To hide services from a workload, use the `egress` hosts of a Sidecar, which removes their routes as well; to
    /// block them, an AuthorizationPolicy of the service.
    ///
    /// # References
    /// Envoy response flag NC ("upstream cluster not found"); tested with Envoy 1.38.2.
    "EF345" "removed-cluster-in-use" Operation Warning => check,
    needs: &[Dump]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches().filter(|view| view.patch.apply_to == ApplyTo::Cluster) {
        if view.built.is_none_or(|built| built.operation != Operation::Remove) {
            continue;
        }
        let Some(seen) = cx.seen(&view, |run| !used(run).is_empty()).filter(Seen::certain) else { continue };
        let mut users: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (cluster, places) in seen.runs.iter().flat_map(used) {
            users.entry(cluster).or_default().extend(places);
        }
        let message = match users.keys().next() {
            Some(only) if users.len() == 1 => format!("`{only}` is removed but still used"),
            _ => format!("{} removed clusters are still used", users.len()),
        };
        let places: BTreeSet<&str> = users.values().flatten().map(String::as_str).collect();
        let mut finding = view
            .finding(rule, view.value_span(&["patch", "operation"]), message)
            .label("removes the cluster only")
            .note(format!("used by: {}", places.into_iter().take(6).collect::<Vec<_>>().join(", ")))
            .note("Envoy answers these requests with 503 (flag NC) and closes these connections")
            .help("to hide services from a workload, list the others in the egress hosts of a Sidecar");
        if users.len() > 1 {
            finding = finding.note(format!("clusters: {}", names::listed(users.keys().map(String::as_str), 6)));
        }
        out.push(seen.tell(finding).objects(users.into_keys()));
    }
}

/// The clusters that a patch removed and that are still used, each with the route configurations and listeners that do.
fn used(run: &PatchRun<'_, '_>) -> BTreeMap<String, BTreeSet<String>> {
    let gone = run.trace.effects.iter().filter(|(_, effect)| matches!(effect, Effect::Removed));
    let gone: BTreeSet<&str> = gone
        .map(|(place, _)| place.resource.as_str())
        .filter(|name| run.run.after(ResourceKind::Cluster, name).is_none())
        .collect();
    let mut found = BTreeMap::new();
    if gone.is_empty() {
        return found;
    }
    let routes: BTreeSet<&str> =
        run.run.config.generated(ResourceKind::Route).map(|(_, resource)| &*resource.name).collect();
    for name in routes {
        if let Some(tree) = run.run.after(ResourceKind::Route, name) {
            look(&tree, &gone, &format!("route configuration `{name}`"), &mut found);
        }
    }
    for (name, tree) in run.run.listeners_after() {
        look(&tree, &gone, &format!("listener `{name}`"), &mut found);
    }
    found
}

fn look(tree: &Tree<'_>, gone: &BTreeSet<&str>, user: &str, found: &mut BTreeMap<String, BTreeSet<String>>) {
    let tree = tree.readable();
    let weighted = tree.path(&["weighted_clusters", "clusters"]).map(Tree::items).unwrap_or_default();
    for name in weighted.iter().map(Tree::name).chain([tree.str_at("cluster")]).filter(|name| gone.contains(name)) {
        found.entry(name.to_owned()).or_default().insert(user.to_owned());
    }
    tree.items().iter().for_each(|item| look(item, gone, user, found));
    tree.entries().iter().for_each(|(_, value)| look(value, gone, user, found));
}
