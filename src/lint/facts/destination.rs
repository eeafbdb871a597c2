//! Which DestinationRules istiod reads for a host: why a proxy does not have a subset that some rule declares.

use crate::lint::facts::context::Context;
use crate::model::inventory::{DestinationRule, Labels};
use crate::model::proxy::Proxy;

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
