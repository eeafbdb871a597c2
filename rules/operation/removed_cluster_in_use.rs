//! EF345: a removed or renamed cluster that routes or filters still use.

use crate::declare_rule;
use crate::engine::trace::Effect;
use crate::lint::callers::clusters_of;
use crate::lint::context::{PatchRun, ProxyRun};
use crate::lint::per_run::PerRun;
use crate::lint::seen::Seen;
use crate::lint::{Context, Findings, RuleInfo, names};
use crate::model::envoy_filter::{ApplyTo, Operation};
use crate::model::resource::ResourceKind;
use crate::proto::tree::Tree;
use crate::rules::operation::route_configuration_renamed::new_name;
use std::collections::{BTreeMap, BTreeSet};

declare_rule! {
    /// A CLUSTER REMOVE or renaming MERGE of a cluster that routes or TCP proxies of the same proxy still use.
    ///
    /// # What it finds
    /// After all patches, a route or a TCP proxy that names a cluster which this patch removed, or gave another name. Needs
    /// config dumps.
    ///
    /// # Why it matters
    /// The patch changes only the cluster. Requests still match the route: Envoy answers 503 with the flag NC, and closes
    /// TCP connections.
    ///
    /// # How to fix
    /// To hide services from a workload, use the `egress` hosts of a Sidecar, which removes their routes as well; to
    /// block them, an AuthorizationPolicy of the service. A MERGE needs no `name`.
    ///
    /// # References
    /// Envoy response flag NC ("upstream cluster not found"); tested with Envoy 1.38.2.
    "EF345" "removed-cluster-in-use" Operation Warning => check,
    needs: &[Dump]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let known = PerRun::new();
    for view in cx.patches().filter(|view| view.patch.apply_to == ApplyTo::Cluster) {
        let removes = view.built.is_some_and(|built| built.operation == Operation::Remove);
        if !removes && view.node(&["patch", "value", "name"]).is_none() {
            continue;
        }
        let Some(seen) = cx.seen(&view, |run| !used(run, &known).is_empty()).filter(Seen::certain) else { continue };
        let mut users = Users::new();
        for (cluster, places) in seen.runs.iter().flat_map(|run| used(run, &known)) {
            users.entry(cluster).or_default().extend(places);
        }
        let done = if removes { "removed" } else { "renamed" };
        let message = match users.keys().next() {
            Some(only) if users.len() == 1 => format!("`{only}` is {done} but still used"),
            _ => format!("{} {done} clusters are still used", users.len()),
        };
        let places: BTreeSet<&str> = users.values().flatten().map(String::as_str).collect();
        let (span, label, help) = if removes {
            let help = "to hide services from a workload, list the others in the egress hosts of a Sidecar";
            (view.value_span(&["patch", "operation"]), "removes only the cluster", help)
        } else {
            let help = "delete `name`: the match selects the cluster";
            (view.value_path_span("name"), "renames only the cluster", help)
        };
        let mut finding = view
            .finding(rule, span, message)
            .label(label)
            .note(format!("used by: {}", places.into_iter().take(6).collect::<Vec<_>>().join(", ")))
            .note("Envoy answers these requests with 503 (flag NC) and closes these connections")
            .help(help);
        if users.len() > 1 {
            finding = finding.note(format!("clusters: {}", names::listed(users.keys().map(String::as_str), 6)));
        }
        out.push(seen.tell(finding).objects(users.into_keys()));
    }
}

/// Route configurations and listeners by the clusters that they use.
type Users = BTreeMap<String, BTreeSet<String>>;

fn users(run: &ProxyRun<'_>) -> Users {
    let mut found = BTreeMap::new();
    run.traffic_after(|kind, name, tree| {
        let kind = if kind == ResourceKind::Route { "route configuration" } else { "listener" };
        look(tree, &format!("{kind} `{name}`"), &mut found);
    });
    found
}

fn look(tree: &Tree<'_>, user: &str, found: &mut Users) {
    let tree = tree.readable();
    for name in clusters_of(&tree) {
        found.entry(name.to_owned()).or_default().insert(user.to_owned());
    }
    tree.items().iter().for_each(|item| look(item, user, found));
    tree.entries().iter().for_each(|(_, value)| look(value, user, found));
}

/// The clusters that a patch removed or renamed and that are still used, each with the route configurations and listeners that do.
fn used(run: &PatchRun<'_, '_>, known: &PerRun<Users>) -> Users {
    let goes = |effect: &Effect| matches!(effect, Effect::Removed) || new_name(effect).is_some();
    let gone = run.trace.effects.iter().filter(|(_, effect)| goes(effect));
    let mut gone = gone.map(|(place, _)| &*place.resource).peekable();
    if gone.peek().is_none() {
        return Users::new();
    }
    let users = known.of(run.run, users);
    gone.filter(|name| run.run.after(ResourceKind::Cluster, name).is_none())
        .filter_map(|name| Some((name.to_owned(), users.get(name)?.clone())))
        .collect()
}
