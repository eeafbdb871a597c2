//! EF204: a target reference to a Gateway that does not exist.

use crate::declare_rule;
use crate::lint::{Context, Finding, Findings, Knowledge, RuleInfo, names, reach};
use crate::model::resource::ResourceKind;
use crate::source::escape::one_line;
use crate::source::{Severity, Step};
use std::collections::BTreeSet;

declare_rule! {
    /// A targetRefs entry with the name of a Gateway that does not exist in the filter's namespace.
    ///
    /// # What it finds
    /// A reference to a Gateway that appears in no manifest and no config dump of the filter's namespace, if Gateways
    /// are known: a name similar to an existing one, the name of a Gateway in another namespace, or a name that no
    /// proxy has.
    ///
    /// # Why it matters
    /// The EnvoyFilter silently attaches to nothing. A reference never reaches another namespace, not even from the
    /// root namespace.
    ///
    /// # How to fix
    /// Write the Gateway's name, and move the EnvoyFilter to the Gateway's namespace.
    ///
    /// # References
    /// istiod `pilot/pkg/model/policyattachment.go`, releases 1.27 to 1.31; recorded.
    "EF204" "target-ref-unknown-gateway" Matching Error => check,
    explains: super::context_of_other_proxies::ALL,
    later: true
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let dumps = || cx.runs.iter().filter(|run| run.knowledge == Knowledge::Dump).map(|run| &run.config.proxy);
    let mut known: BTreeSet<(&str, &str)> = BTreeSet::new();
    known.extend(cx.inventory.kube_gateways.iter().map(|it| (it.object.namespace.as_str(), it.object.name.as_str())));
    known.extend(dumps().filter_map(|proxy| Some((proxy.namespace.as_str(), proxy.gateway_name()?))));
    for filter in cx.filters.iter().filter(|filter| reach::by_target_refs(cx, filter)) {
        for (index, target) in filter.target_refs.iter().enumerate() {
            let own = &filter.namespace;
            if target.kind != "Gateway"
                || target.group != "gateway.networking.k8s.io"
                || (!target.namespace.is_empty() && target.namespace != *own)
                || known.contains(&(own.as_str(), target.name.as_str()))
            {
                continue;
            }
            let elsewhere: Vec<&str> =
                known.iter().filter(|(_, name)| *name == target.name).map(|(at, _)| *at).collect();
            let here = || known.iter().filter(|(at, _)| at == own).map(|(_, name)| *name);
            let like = names::nearest(&target.name, here());
            // A Gateway of Istio's own API, to which targetRefs cannot refer.
            let mut classic: Vec<_> = cx.inventory.gateways.iter().filter(|it| it.object.name == target.name).collect();
            classic.sort_by_key(|it| (it.object.namespace != *own, &it.object.namespace));
            let classic = classic.first().copied();
            let seen = seen_classic(cx, own, &target.name).filter(|_| classic.is_none());
            // The Deployments of Istio's own gateways, which have no Gateway API Gateway.
            let deployment = reach::CLASSIC_GATEWAYS.contains(&target.name.as_str());
            if elsewhere.is_empty() && like.is_none() && dumps().next().is_none() && classic.is_none() && !deployment {
                continue;
            }
            let route: Vec<Step> = vec!["spec".into(), "targetRefs".into(), index.into(), "name".into()];
            let span = filter.document.at(&route).map_or(filter.document.key_span(&route), |node| node.span);
            let sure = !elsewhere.is_empty() || like.is_some() || classic.is_some() || seen.is_some();
            let severity = match (sure, deployment) {
                (true, _) => Severity::Error,
                (false, true) => Severity::Warning,
                (false, false) => Severity::Info,
            };
            let mut finding =
                Finding::new(rule, span, format!("no Gateway `{}` is known in namespace `{own}`", target.name))
                    .of(filter, None)
                    .severity(severity)
                    .label("attaches to nothing")
                    .ineffective_if(filter.target_refs.len() == 1);
            finding = match here().count() {
                0 => finding.note(format!("no Gateway API gateway or waypoint is known in namespace `{own}`")),
                _ => finding.note(format!("namespace `{own}` has {}", names::listed(here(), 8))),
            };
            if let Some(gateway) = classic {
                let labels: Vec<String> = gateway
                    .selector
                    .iter()
                    .map(|(key, value)| format!("    {}", one_line(&format!("{key}: {value}"))))
                    .collect();
                finding = finding
                    .note(format!(
                        "{}/{} is an Istio Gateway (networking.istio.io), not one of the Gateway API",
                        gateway.object.namespace, target.name
                    ))
                    .snippet(format!(
                        "select the gateway's pods by its labels, in their namespace:\nworkloadSelector:\n  labels:\n{}",
                        labels.join("\n")
                    ));
            } else if let Some(labels) = seen {
                finding = finding
                    .note(format!("{own}/{} is an Istio Gateway (networking.istio.io), not one of the Gateway API: a config dump has its routes", target.name))
                    .snippet(format!(
                        "select the gateway's pods by its labels, in their namespace:\nworkloadSelector:\n  labels:\n    {}",
                        one_line(&labels)
                    ));
            } else if deployment && elsewhere.is_empty() {
                finding = finding
                    .likely("it is the name of a gateway that istioctl installs, which has no Gateway API Gateway")
                    .snippet(format!(
                        "select the gateway's pods by their labels:\nworkloadSelector:\n  labels:\n    istio: {}",
                        one_line(target.name.trim_start_matches("istio-"))
                    ));
            } else if let Some(at) = elsewhere.first() {
                finding = finding.snippet(format!(
                    "the Gateway is in another namespace; move the EnvoyFilter there:\nmetadata:\n  namespace: {}",
                    one_line(at)
                ));
            } else if let Some(like) = like {
                finding = finding.help(format!("name: {like}"));
            }
            out.push(finding);
        }
    }
}

/// A label of the gateway whose config dump has routes of a Gateway of Istio's own API: route configurations of HTTPS
/// servers are named `https.<port>.<port name>.<gateway>.<namespace>`.
fn seen_classic(cx: &Context<'_>, namespace: &str, name: &str) -> Option<String> {
    let tail = format!(".{name}.{namespace}");
    let run = cx.runs.iter().filter(|run| run.knowledge == Knowledge::Dump).find(|run| {
        let mut routes = run.config.generated(ResourceKind::Route);
        routes.any(|(_, routes)| routes.name.starts_with("https.") && routes.name.ends_with(&tail))
    })?;
    let labels = &run.config.proxy.labels;
    let (key, value) = ["istio", "app"].iter().find_map(|key| Some((key, labels.get(*key)?)))?;
    Some(format!("{key}: {value}"))
}
