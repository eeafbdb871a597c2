//! EF355: subsets of a cluster that none of its endpoints is in.

use crate::declare_rule;
use crate::lint::context::PatchRun;
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::ApplyTo;
use crate::proto::tree::Tree;
use crate::source::Severity;

declare_rule! {
    /// Subsets for the load balancer of a cluster whose endpoints are in none of them.
    ///
    /// # What it finds
    /// A CLUSTER MERGE of `lb_subset_config` with `subset_selectors`, unless the same value brings endpoints with
    /// `load_assignment`, or the default subset is that of all endpoints.
    ///
    /// # Why it matters
    /// Envoy forms subsets from the metadata `envoy.lb` of endpoints. istiod gives its endpoints none, whatever labels their
    /// pods have: no subset has an endpoint. With NO_FALLBACK, which is the default, every request gets 503; with
    /// ANY_ENDPOINT nothing changes.
    ///
    /// # How to fix
    /// Write the subsets in a DestinationRule: istiod makes a cluster of each.
    ///
    /// # References
    /// istiod `pilot/pkg/networking/util`, `AppendLbEndpointMetadata` (release 1.31); requests through Envoy 1.39.3.
    "EF355" "subset-without-endpoints" Operation Error => check
}

const CONFIG: &str = "lb_subset_config";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches().filter(|view| view.patch.apply_to == ApplyTo::Cluster) {
        let Some(built) = view.built.filter(|built| built.operation.is_merge()) else { continue };
        let Some(value) = built.value.as_ref().filter(|value| value.get("load_assignment").is_none()) else { continue };
        let Some(config) = value.get(CONFIG) else { continue };
        if config.get("subset_selectors").is_none_or(|selectors| selectors.items().is_empty()) {
            continue;
        }
        let message = "no endpoint is in a subset: istiod's endpoints have no metadata of `envoy.lb`";
        let finding = view.finding(rule, view.value_path_span(CONFIG), message).label("forms no subset");
        let finding = match config.str_at("fallback_policy") {
            "ANY_ENDPOINT" => finding
                .severity(Severity::Warning)
                .note("with ANY_ENDPOINT every request goes to any endpoint, as before"),
            "DEFAULT_SUBSET" if config.get("default_subset").is_none_or(|all| all.entries().is_empty()) => continue,
            "DEFAULT_SUBSET" => finding.note("the default subset is empty, too: every request gets 503"),
            _ => finding.note("`fallback_policy` is NO_FALLBACK: every request to the cluster gets 503"),
        };
        let finding =
            finding.help("write the subsets in a DestinationRule, and select them in a VirtualService with `subset`");
        let seen = cx.seen(&view, PatchRun::changes);
        if seen.as_ref().is_some_and(|seen| seen.runs.iter().all(has_metadata)) {
            continue;
        }
        out.push(seen.map_or(finding.clone(), |seen| seen.tell(finding)));
    }
}

/// Whether the endpoints of the clusters come from another patch that gives them metadata.
fn has_metadata(run: &PatchRun<'_, '_>) -> bool {
    let mut changed = run.trace.effects.iter().filter(|(_, effect)| effect.changes());
    let metadata = |cluster: &Tree<'_>| {
        let localities = cluster.path(&["load_assignment", "endpoints"]).map(Tree::items).unwrap_or_default();
        let mut all = localities.iter().filter_map(|it| it.get("lb_endpoints")).flat_map(Tree::items);
        all.any(|endpoint| endpoint.path(&["metadata", "filter_metadata", "envoy.lb"]).is_some())
    };
    changed.all(|(place, _)| run.run.with_object(place, |cluster| Some(metadata(cluster))) == Some(true))
}
