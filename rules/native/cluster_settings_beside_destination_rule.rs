//! EF705: settings of a service's clusters that a DestinationRule has.

use crate::declare_rule;
use crate::engine::matching;
use crate::lint::better::{self, Candidate, is_mesh_wide, put};
use crate::lint::manifest::Instead;
use crate::lint::traffic_policy;
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, ObjectMatch, Operation, PatchContext};
use serde_json::{Map, Value as Json, json};

declare_rule! {
    /// Connection settings merged into the clusters of one service, which its DestinationRule would set.
    ///
    /// # What it finds
    /// A MERGE into outbound clusters of a named service whose every field has a place in a DestinationRule.
    ///
    /// # Why it matters
    /// MERGE appends to `circuit_breakers.thresholds`, and Envoy takes the first threshold of a priority, which is
    /// istiod's: the patch seems to work and does not. Entries of `typed_extension_protocol_options` are replaced whole. A
    /// DestinationRule is merged by istiod before anything is generated, and it reports conflicts.
    ///
    /// # How to fix
    /// Write the DestinationRule shown, or add its `trafficPolicy` to the one that the service has.
    ///
    /// # References
    /// Istio: DestinationRule (`retryBudget` since 1.27, `http2KeepAlive` since 1.31).
    "EF705" "cluster-settings-beside-destination-rule" Native Info => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for candidate in better::candidates(cx, ApplyTo::Cluster) {
        if let Some((instead, existing)) = instead(cx, &candidate) {
            let mut finding = instead.finding(rule, &candidate.view, &["patch", "value"]);
            if let Some((span, name)) = existing {
                finding = finding.related(span, format!("DestinationRule {name} is for this host: put it there"));
            }
            out.push(finding);
        }
    }
}

type Existing = Option<(crate::source::Span, String)>;

fn instead(cx: &Context<'_>, candidate: &Candidate<'_>) -> Option<(Instead, Existing)> {
    let filter = candidate.view.filter;
    let outbound = matches!(candidate.reach.context, PatchContext::SidecarOutbound | PatchContext::Gateway);
    let ObjectMatch::Cluster(cluster) = &candidate.view.patch.object else { return None };
    if candidate.operation != Operation::Merge || !outbound || !filter.target_refs.is_empty() {
        return None;
    }
    let (host, port) = if cluster.name.is_empty() {
        (cluster.service.clone(), cluster.port_number)
    } else {
        let key = matching::parse_subset_key(&cluster.name);
        if key.direction != "outbound" || !key.subset.is_empty() {
            return None;
        }
        (key.host.to_owned(), key.port)
    };
    if host.is_empty() || !cluster.subset.is_empty() {
        return None;
    }
    let policy = traffic_policy::from_cluster(candidate)?;
    if cx.release < policy.since {
        return None;
    }
    let mut spec = Map::from_iter([("host".to_owned(), Json::from(host.as_str()))]);
    if port == 0 {
        spec.insert("trafficPolicy".to_owned(), policy.policy);
    } else {
        let mut settings = Map::from_iter([("port".to_owned(), json!({ "number": port }))]);
        if let Json::Object(policy) = policy.policy {
            // These two exist for a whole host only.
            if policy.contains_key("retryBudget") {
                return None;
            }
            settings.extend(policy);
        }
        put(&mut spec, "trafficPolicy/portLevelSettings", json!([settings]));
    }
    if !is_mesh_wide(cx, filter) {
        spec.insert("exportTo".to_owned(), json!(["."]));
    }
    let mut notes = policy.notes;
    if let Some(labels) = filter.selector.as_ref().filter(|labels| !labels.is_empty()) {
        spec.insert("workloadSelector".to_owned(), json!({ "matchLabels": labels }));
        if filter.namespace == cx.mesh.root_namespace {
            notes.push(format!(
                "a DestinationRule with a selector is for workloads of namespace {} only",
                filter.namespace
            ));
        }
    }
    let existing = cx.inventory.destination_rules.iter().find(|rule| rule.host == host).map(|rule| {
        let span = rule.object.document.key_span(&["spec".into(), "host".into()]);
        (span, format!("{}/{}", rule.object.namespace, rule.object.name))
    });
    let manifest = json!({
        "apiVersion": "networking.istio.io/v1",
        "kind": "DestinationRule",
        "metadata": { "name": filter.name, "namespace": filter.namespace },
        "spec": spec,
    });
    let instead = Instead {
        message: format!("a DestinationRule for {host} can set this"),
        since: policy.since,
        manifests: vec![(String::new(), manifest)],
        notes,
    };
    Some((instead, existing))
}
