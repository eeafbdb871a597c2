//! Which DestinationRules istiod reads for a host: what others lose, and why a proxy does not have a declared subset.

use crate::lint::facts::context::Context;
use crate::model::destination::full_host;
use crate::model::inventory::{DestinationRule, Labels};
use crate::model::proxy::Proxy;
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// Why a subset that a DestinationRule declares does not exist for a proxy.
pub(crate) struct NoSubset {
    /// The reason: `DestinationRule coral/eel hides that of DestinationRule kelp/ray`.
    pub what: String,
    /// The rule of istiod behind it.
    pub note: String,
    /// What to write instead.
    pub help: String,
}

/// The reason why a proxy has no cluster for a subset. `None` if no given DestinationRule declares the subset, or if the
/// given objects do not explain it.
///
/// istiod takes the rules of a host from one namespace: the client's, else the service's, else the root namespace, and
/// there only those with the most specific host (`destinationRule` in `push_context.go`, releases 1.22 to 1.31).
/// A rule with a `workloadSelector` counts even for proxies that it does not select.
pub(crate) fn no_subset(cx: &Context<'_>, proxy: &Proxy, host: &str, subset: &str) -> Option<NoSubset> {
    let rules = || cx.inventory.destination_rules.iter().map(AsRef::as_ref);
    let own: Vec<&DestinationRule> = rules()
        .filter(|rule| rule.object.namespace == proxy.namespace && rule.is_local(&cx.mesh.root_namespace))
        .collect();
    let own = most_specific(&own, host);
    let declares =
        |rule: &&DestinationRule| rule.subsets.iter().any(|one| one == subset) && rule.specificity(host).is_some();
    if own.iter().any(declares) {
        return None;
    }
    let declared = rules().filter(declares).min_by_key(|rule| (&rule.object.namespace, &rule.object.name))?;
    let theirs = named(declared);
    let Some(hides) = chosen(&own, proxy) else {
        let exported = declared.selector.is_empty() && declared.is_exported_to(&proxy.namespace);
        return (!exported).then(|| {
            let by_selector = !declared.selector.is_empty();
            let why = if by_selector { "has a workloadSelector" } else { "is not exported to it" };
            NoSubset {
                what: format!("{theirs} declares it, but namespace {} does not see it", proxy.namespace),
                note: format!("the DestinationRule {why}"),
                help: if by_selector {
                    format!("write a DestinationRule for {host} with this subset in namespace {}", proxy.namespace)
                } else {
                    format!("add `{}` to `exportTo` of {theirs}", proxy.namespace)
                },
            }
        });
    };
    let ours = named(hides);
    let selects = matches(&hides.selector, proxy);
    let all = if selects { "" } else { ", even from proxies that its workloadSelector does not match" };
    Some(NoSubset {
        what: format!("{ours} hides {theirs}, which declares it"),
        note: format!(
            "istiod reads the DestinationRules of a host from the client's namespace if it has any: {ours} hides those of other namespaces{all}"
        ),
        help: if selects {
            format!("add subset `{subset}` to {ours}")
        } else {
            format!(
                "write a DestinationRule for {host} without `workloadSelector` and with subset `{subset}` in namespace {}",
                proxy.namespace
            )
        },
    })
}

/// A DestinationRule that istiod reads instead of another one for the same host.
pub(crate) struct Hidden<'a> {
    /// The rule that clients get.
    pub rule: &'a DestinationRule,
    /// The rule that they do not get.
    other: &'a DestinationRule,
    /// What only the other rule has.
    pub lost: Vec<String>,
}

impl Hidden<'_> {
    /// The rule that clients get, by kind and name.
    pub(crate) fn ours(&self) -> String {
        named(self.rule)
    }

    /// The other one.
    pub(crate) fn theirs(&self) -> String {
        named(self.other)
    }

    /// The reason.
    pub(crate) fn why(&self, root: &str) -> String {
        let (own, theirs) = (&self.rule.object.namespace, &self.other.object.namespace);
        if own == theirs {
            return "istiod reads a DestinationRule with a matching `workloadSelector` instead of the one without"
                .to_owned();
        }
        let all = if self.rule.selector.is_empty() {
            ""
        } else {
            ", also from those that its `workloadSelector` does not match"
        };
        let whose = if theirs == root { "the root namespace" } else { "the service's namespace" };
        format!(
            "istiod reads a DestinationRule in the client's namespace before that in {whose}: it hides it from all clients in {own}{all}"
        )
    }
}

/// Settings whose loss clients notice.
const SECTIONS: [&str; 2] = ["outlierDetection", "tls"];

/// The DestinationRules that hide settings of others for the same host, in the order of the input.
pub(crate) fn hidden_rules<'a>(cx: &Context<'a>) -> Vec<Hidden<'a>> {
    let mut by_host: BTreeMap<String, Vec<&'a DestinationRule>> = BTreeMap::new();
    for rule in cx.inventory.destination_rules.iter() {
        by_host.entry(full_host(&rule.host, &rule.object.namespace)).or_default().push(rule);
    }
    let mut all = Vec::new();
    for (host, rules) in by_host.iter().filter(|(_, rules)| rules.len() > 1) {
        for rule in rules {
            let other = rules.iter().filter(|other| hides(cx, host, rule, other));
            // Without it, clients would get the rule of the service's namespace before that of the root namespace.
            let Some(other) = other.min_by_key(|other| other.object.namespace == cx.mesh.root_namespace) else {
                continue;
            };
            let lost = lost(rule, other);
            if !lost.is_empty() {
                all.push(Hidden { rule, other, lost });
            }
        }
    }
    all
}

/// Whether some clients get a rule although they would get the other one without it.
fn hides(cx: &Context<'_>, host: &str, rule: &DestinationRule, other: &DestinationRule) -> bool {
    let (own, theirs) = (rule.object.namespace.as_str(), other.object.namespace.as_str());
    if !other.selector.is_empty() {
        return false;
    }
    if own == theirs {
        return !rule.selector.is_empty();
    }
    let root = cx.mesh.root_namespace.as_str();
    let service = cx.inventory.service_of_host(host).map(|service| &service.object);
    let entry = || cx.inventory.service_entries.iter().find(|entry| entry.hosts.iter().any(|one| one == host));
    let defined = service.or_else(|| Some(&entry()?.object)).map(|object| object.namespace.as_str());
    rule.is_local(root) && other.is_exported_to(own) && (theirs == root || defined == Some(theirs))
}

fn lost(rule: &DestinationRule, other: &DestinationRule) -> Vec<String> {
    let (ours, theirs) = (rule.object.document.to_json(), other.object.document.to_json());
    let policy = |document: &Json, section: &str| !document["spec"]["trafficPolicy"][section].is_null();
    let sections = SECTIONS.into_iter().filter(|section| policy(&theirs, section) && !policy(&ours, section));
    let subsets = other.subsets.iter().filter(|subset| !rule.subsets.contains(subset));
    sections.map(|section| format!("`{section}`")).chain(subsets.map(|subset| format!("subset `{subset}`"))).collect()
}

fn named(rule: &DestinationRule) -> String {
    format!("DestinationRule {}/{}", rule.object.namespace, rule.object.name)
}

/// Of the rules of a namespace, those with the most specific host.
fn most_specific<'r>(rules: &[&'r DestinationRule], host: &str) -> Vec<&'r DestinationRule> {
    let best = rules.iter().filter_map(|rule| rule.specificity(host)).max();
    rules.iter().copied().filter(|rule| best.is_some() && rule.specificity(host) == best).collect()
}

/// The rule that istiod uses: the one whose selector matches, else one without.
fn chosen<'r>(rules: &[&'r DestinationRule], proxy: &Proxy) -> Option<&'r DestinationRule> {
    let selected = rules.iter().find(|rule| !rule.selector.is_empty() && matches(&rule.selector, proxy));
    selected.or_else(|| rules.iter().find(|rule| rule.selector.is_empty())).or(rules.first()).copied()
}

fn matches(selector: &Labels, proxy: &Proxy) -> bool {
    selector.iter().all(|(key, value)| proxy.labels.get(key) == Some(value))
}
