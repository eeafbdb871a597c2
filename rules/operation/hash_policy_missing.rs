//! EF335: consistent hashing without anything to hash.

use crate::declare_rule;
use crate::lint::callers::clusters_of;
use crate::lint::context::{PatchRun, ProxyRun};
use crate::lint::per_run::PerRun;
use crate::lint::seen::Seen;
use crate::lint::{Context, Findings, RuleInfo, names, walk};
use crate::model::envoy_filter::ApplyTo;
use crate::proto::tree::Tree;
use crate::source::{Node, Severity};
use std::collections::BTreeSet;

declare_rule! {
    /// A cluster with RING_HASH or MAGLEV whose routes have no hash policy.
    ///
    /// # What it finds
    /// A CLUSTER patch with `lb_policy: RING_HASH` or `MAGLEV`, or the corresponding load balancing extension, for
    /// clusters to which no route has a `hash_policy`. Without config dumps: if no given patch has one.
    ///
    /// # Why it matters
    /// Without a hash policy, Envoy selects a random host for each request: no client sticks to its host.
    ///
    /// # How to fix
    /// Use DestinationRule `trafficPolicy.loadBalancer.consistentHash`, which configures both sides; or an HTTP_ROUTE
    /// patch with `route: {hash_policy: […]}`.
    ///
    /// # References
    /// Envoy `config.cluster.v3.Cluster.LbPolicy`, `config.route.v3.RouteAction.hash_policy`.
    "EF335" "hash-policy-missing" Operation Warning => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let known = PerRun::new();
    let mut given: Option<bool> = None;
    for view in cx.patches().filter(|view| view.patch.apply_to == ApplyTo::Cluster) {
        let Some(value) = view.patch.body.as_ref().and_then(|body| body.value.as_ref()) else { continue };
        let Some((path, name)) = hashes(value) else { continue };
        let any = *given.get_or_insert_with(|| {
            cx.patches().any(|view| has_policy(view.patch.body.as_ref().and_then(|body| body.value.as_ref())))
        });
        let finding = view
            .finding(rule, view.value_path_span(path), format!("{name} has nothing to hash: no route to the cluster has a `hash_policy`"))
            .label("selects a random host for each request")
            .snippet("kind: DestinationRule\nspec:\n  host: <service>\n  trafficPolicy:\n    loadBalancer:\n      consistentHash:\n        httpHeaderName: <header>");
        if cx.attaches_to_dump(view.filter_index) {
            let Some(seen) = cx.seen(&view, |run| !unhashed(run, &known).is_empty()).filter(Seen::certain) else {
                continue;
            };
            let clusters: BTreeSet<String> = seen.runs.iter().flat_map(|run| unhashed(run, &known)).collect();
            let note = format!("clusters: {}", names::listed(clusters.iter().map(String::as_str), 6));
            // Other ports and subsets of a service whose requests are hashed may be meant to be left alone.
            let some = seen.runs.iter().any(|run| unhashed(run, &known).len() < changed(run).len());
            let finding = if some {
                finding
                    .severity(Severity::Info)
                    .note("requests to the other clusters of this patch are hashed")
                    .help("match only those: cluster.portNumber, cluster.subset or cluster.name")
            } else {
                finding
            };
            out.push(seen.tell(finding.note(note).objects(clusters)));
        } else if !any {
            out.push(finding.likely(
                "no given patch sets a hash policy, and istiod only does for a DestinationRule with consistentHash",
            ));
        }
    }
}

/// The place of a hashing policy in a cluster's value, and its name.
fn hashes(value: &Node) -> Option<(&'static str, String)> {
    if let Some(name) =
        walk::get(value, "lb_policy").and_then(Node::as_str).filter(|name| matches!(*name, "RING_HASH" | "MAGLEV"))
    {
        return Some(("lb_policy", name.to_owned()));
    }
    let policies = walk::get(value, "load_balancing_policy").and_then(|node| walk::get(node, "policies"))?;
    let kinds = policies.items().iter().filter_map(|item| {
        let config = walk::get(item, "typed_extension_config").and_then(|node| walk::get(node, "typed_config"))?;
        let kind = config.get("@type").and_then(Node::as_str)?.rsplit('.').next()?;
        // A cluster with its own hash policy needs none on a route.
        let own = walk::get(config, "consistent_hashing_lb_config")
            .is_some_and(|node| walk::get(node, "hash_policy").is_some());
        (matches!(kind, "RingHash" | "Maglev") && !own).then(|| kind.to_owned())
    });
    kinds.into_iter().next().map(|kind| ("load_balancing_policy", kind))
}

fn has_policy(value: Option<&Node>) -> bool {
    let mut found = false;
    if let Some(value) = value {
        walk::fields(value, &mut |field| found |= field.is("hash_policy"));
    }
    found
}

/// The clusters that the patch changed.
fn changed(run: &PatchRun<'_, '_>) -> BTreeSet<String> {
    let changed = run.trace.effects.iter().filter(|(_, effect)| effect.changes());
    changed.map(|(place, _)| place.resource.to_string()).collect()
}

/// Those that no route hashes for.
fn unhashed(run: &PatchRun<'_, '_>, known: &PerRun<BTreeSet<String>>) -> Vec<String> {
    let changed = changed(run);
    if changed.is_empty() {
        return Vec::new();
    }
    let hashed = known.of(run.run, hashed);
    changed.into_iter().filter(|name| !hashed.contains(name)).collect()
}

/// Clusters that a route or TCP proxy with a hash policy refers to.
fn hashed(run: &ProxyRun<'_>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    run.traffic_after(|_, _, tree| look(tree, &mut found));
    found
}

fn look(tree: &Tree<'_>, found: &mut BTreeSet<String>) {
    let tree = tree.readable();
    if tree.get("hash_policy").is_some_and(|policy| !policy.items().is_empty()) {
        found.extend(clusters_of(&tree).map(str::to_owned));
    }
    tree.items().iter().for_each(|item| look(item, found));
    tree.entries().iter().for_each(|(_, value)| look(value, found));
}
