//! Which DestinationRules istiod reads for a host: what others lose, and why a proxy does not have a declared subset.

use crate::lint::facts::context::Context;
use crate::model::destination::full_host;
use crate::model::inventory::{DestinationRule, Labels};
use crate::model::proxy::Proxy;
use std::collections::{BTreeMap, BTreeSet};

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
    // istiod merges the rules of a host that have the same selector.
    let used = chosen(&own, proxy);
    let read = |rule: &&&DestinationRule| used.is_some_and(|used| used.selector == rule.selector);
    if own.iter().filter(read).copied().any(|rule| declares(&rule)) {
        return None;
    }
    let declared = rules().filter(declares).min_by_key(|rule| (&rule.object.namespace, &rule.object.name))?;
    let theirs = named(declared);
    let Some(hides) = used else {
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
    if declared.object.namespace == hides.object.namespace {
        return Some(NoSubset {
            what: format!("{ours} hides {theirs}, which declares it"),
            note: SELECTED_FIRST.to_owned(),
            help: format!("add subset `{subset}` to {ours}"),
        });
    }
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

/// The rule of istiod within a namespace.
const SELECTED_FIRST: &str =
    "istiod reads a DestinationRule with a matching `workloadSelector` instead of the one without";

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

    /// The clients that get it instead of the other one: `clients with app=cart`.
    pub(crate) fn clients(&self) -> String {
        let selector = &self.rule.selector;
        if selector.is_empty() || self.rule.object.namespace != self.other.object.namespace {
            return "clients".to_owned();
        }
        let labels: Vec<String> = selector.iter().map(|(key, value)| format!("{key}={value}")).collect();
        format!("clients with {}", labels.join(","))
    }

    /// The reason.
    pub(crate) fn why(&self, root: &str) -> String {
        let (own, theirs) = (&self.rule.object.namespace, &self.other.object.namespace);
        if own == theirs {
            return SELECTED_FIRST.to_owned();
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

/// Maximum number of lost subsets that are named.
const MAX_NAMED: usize = 3;

/// How many rules of a namespace are considered as the hidden one: istiod merges those that clients get.
const MAX_OTHERS: usize = 16;

/// A rule with what it sets.
struct Sets<'a> {
    rule: &'a DestinationRule,
    sections: [bool; SECTIONS.len()],
    subsets: BTreeSet<&'a str>,
}

impl<'a> Sets<'a> {
    fn of(rule: &'a DestinationRule) -> Sets<'a> {
        let document = rule.object.document.to_json();
        let policy = &document["spec"]["trafficPolicy"];
        let sections = SECTIONS.map(|section| !policy[section].is_null());
        Sets { rule, sections, subsets: rule.subsets.iter().map(String::as_str).collect() }
    }

    fn namespace(&self) -> &'a str {
        &self.rule.object.namespace
    }
}

/// The rules for one host.
struct OfHost<'a> {
    rules: Vec<Sets<'a>>,
    /// The positions of rules without a `workloadSelector`, by namespace.
    shared: BTreeMap<&'a str, Vec<usize>>,
    /// What istiod merges, which may hold what one rule lacks: the rules of a namespace with the same selector.
    merged: BTreeMap<(&'a str, &'a Labels), Vec<usize>>,
}

impl<'a> OfHost<'a> {
    fn new(rules: Vec<&'a DestinationRule>) -> OfHost<'a> {
        let rules: Vec<Sets<'a>> = rules.into_iter().map(Sets::of).collect();
        let (mut shared, mut merged) = (BTreeMap::new(), BTreeMap::new());
        for (at, one) in rules.iter().enumerate() {
            if one.rule.selector.is_empty() {
                shared.entry(one.namespace()).or_insert_with(Vec::new).push(at);
            }
            merged.entry((one.namespace(), &one.rule.selector)).or_insert_with(Vec::new).push(at);
        }
        OfHost { rules, shared, merged }
    }

    /// The rule that clients would get without this one: another one of its namespace, that of the service's namespace, or
    /// that of the root namespace.
    fn hidden_by(&self, one: &Sets<'a>, defined: Option<&str>, root: &str) -> Option<&Sets<'a>> {
        let own = one.namespace();
        let first = |namespace: &str| {
            let others = self.shared.get(namespace)?.iter().take(MAX_OTHERS).map(|&at| &self.rules[at]);
            others.into_iter().find(|other| namespace == own || other.rule.is_exported_to(own))
        };
        if !one.rule.selector.is_empty()
            && let Some(other) = first(own)
        {
            return Some(other);
        }
        let elsewhere = defined.into_iter().chain([root]).filter(|namespace| *namespace != own);
        elsewhere.filter(|_| one.rule.is_local(root)).find_map(first)
    }

    /// What clients lose with a rule, and with those that istiod merges with it.
    fn lost(&self, one: &Sets<'a>, other: &Sets<'a>) -> Vec<String> {
        let merged = self.merged.get(&(one.namespace(), &one.rule.selector)).into_iter().flatten();
        let ours: Vec<&Sets<'a>> = merged.take(MAX_OTHERS).map(|&at| &self.rules[at]).chain([one]).collect();
        let sections = SECTIONS.iter().enumerate();
        let sections = sections.filter(|(at, _)| other.sections[*at] && !ours.iter().any(|one| one.sections[*at]));
        let mut lost: Vec<String> = sections.map(|(_, section)| format!("`{section}`")).collect();
        let missing = |subset: &&&str| !ours.iter().any(|one| one.subsets.contains(**subset));
        for (number, subset) in other.subsets.iter().filter(missing).take(MAX_NAMED + 1).enumerate() {
            lost.push(if number < MAX_NAMED { format!("subset `{subset}`") } else { "other subsets".to_owned() });
        }
        lost
    }
}

/// The DestinationRules that hide settings of others for the same host, in the order of hosts and of the input.
pub(crate) fn hidden_rules<'a>(cx: &Context<'a>) -> Vec<Hidden<'a>> {
    let mut by_host: BTreeMap<String, Vec<&'a DestinationRule>> = BTreeMap::new();
    for rule in cx.inventory.destination_rules.iter() {
        by_host.entry(full_host(&rule.host, &rule.object.namespace)).or_default().push(rule);
    }
    by_host.retain(|_, rules| rules.len() > 1);
    let mut entries: BTreeMap<&str, &str> = BTreeMap::new();
    for entry in cx.inventory.service_entries.iter().filter(|_| !by_host.is_empty()) {
        for host in &entry.hosts {
            entries.entry(host).or_insert(&entry.object.namespace);
        }
    }
    let mut all = Vec::new();
    for (host, rules) in by_host {
        let service = cx.inventory.service_of_host(&host).map(|service| service.object.namespace.as_str());
        let defined = service.or_else(|| entries.get(host.as_str()).copied());
        let rules = OfHost::new(rules);
        for one in &rules.rules {
            let Some(other) = rules.hidden_by(one, defined, &cx.mesh.root_namespace) else { continue };
            let lost = rules.lost(one, other);
            if !lost.is_empty() {
                all.push(Hidden { rule: one.rule, other: other.rule, lost });
            }
        }
    }
    all
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
