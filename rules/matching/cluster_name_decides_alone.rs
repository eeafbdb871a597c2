//! EF224: with cluster.name, the other fields of the match are ignored.

use crate::declare_rule;
use crate::lint::rule::{Cel, PolicyTarget};
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::ObjectMatch;
use crate::source::Severity;

declare_rule! {
    /// `cluster.name` together with other fields, which are then ignored.
    ///
    /// # What it finds
    /// A cluster match with `name` and any of `service`, `subset`, `portNumber`.
    ///
    /// # Why it matters
    /// If `name` is set, it alone decides; the other fields look like conditions but are ignored.
    ///
    /// # How to fix
    /// Keep `name`, or keep the others.
    ///
    /// # References
    /// Istio API, EnvoyFilter.ClusterMatch; istiod `pilot/pkg/networking/core/envoyfilter/cluster_patch.go`.
    "EF224" "cluster-name-decides-alone" Matching Warning => check,
    policy: Cel(policy)
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let ObjectMatch::Cluster(want) = &view.patch.object else { continue };
        let others = [
            ("service", !want.service.is_empty()),
            ("subset", !want.subset.is_empty()),
            ("portNumber", want.port_number != 0),
        ];
        let ignored: Vec<&str> = others.iter().filter(|(_, set)| *set).map(|(field, _)| *field).collect();
        let Some(first) = ignored.first().filter(|_| !want.name.is_empty()) else { continue };
        out.push(
            view.finding(
                rule,
                view.key_span(&["match", "cluster", first]),
                format!(
                    "{} ignored, because the match has a cluster name",
                    ignored.join(" and ") + if ignored.len() == 1 { " is" } else { " are" }
                ),
            )
            .label("not compared")
            .related(view.key_span(&["match", "cluster", "name"]), "decides alone")
            .help("keep `name`, or drop it and keep the others"),
        );
    }
}

fn policy(_: &PolicyTarget<'_>) -> Vec<Cel> {
    vec![Cel::patch(
        Severity::Warning,
        r#"@cluster && has(p.match.cluster.name) && p.match.cluster.name != "" && ((has(p.match.cluster.service) && p.match.cluster.service != "") || (has(p.match.cluster.subset) && p.match.cluster.subset != "") || (has(p.match.cluster.portNumber) && p.match.cluster.portNumber != 0))"#,
        "cluster.name decides alone: the other fields of the match are ignored",
    )]
}
