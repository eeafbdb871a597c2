//! EF310: a MERGE that makes a list longer instead of replacing it.

use crate::declare_rule;
use crate::engine::trace::Effect;
use crate::lint::constraint::absent;
use crate::lint::context::PatchRun;
use crate::lint::seen::Seen;
use crate::lint::{Context, Finding, Findings, PatchView, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, PatchContext};
use crate::model::resource::ResourceKind;
use crate::proto::merge::ChangeKind;
use crate::proto::tree::Tree;
use crate::source::Severity;
use std::collections::{BTreeMap, BTreeSet};

declare_rule! {
    /// A MERGE that appends to a list instead of replacing it.
    ///
    /// # What it finds
    /// A MERGE whose value has a list where the object already has items. It is a warning for circuit breakers of a
    /// priority that the cluster already has, since only the first of a priority takes effect, and for filter chains in
    /// a LISTENER MERGE, which are added instead of merged into the generated one; an incomplete filter chain is an
    /// error, and so is an upgrade (`websocket`) that the connection manager already has.
    ///
    /// # Why it matters
    /// A proto merge appends: the generated items stay first. Access logs are written twice, headers are added twice,
    /// and a filter that is applied again appends again.
    ///
    /// # How to fix
    /// MERGE_AND_REPLACE_LIST replaces lists (Istio 1.31, not on filters). Otherwise, REPLACE the whole object; for
    /// access logs, use the Telemetry API.
    ///
    /// # References
    /// istiod `pkg/proto/merge`, releases 1.22 to 1.31; recorded.
    "EF310" "merge-appends-to-list" Operation Info => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let mut lists: BTreeMap<String, String> = BTreeMap::new();
        for run in cx.on_proxies(view.filter_index, view.patch.index) {
            for (_, effect) in &run.trace.effects {
                let (Effect::Merged(changes) | Effect::TransportSocketMerged(changes, _)) = effect else { continue };
                for change in changes.iter().filter(|change| change.kind == ChangeKind::Appended) {
                    let Some((list, index)) = change.path.strip_suffix(']').and_then(|path| path.rsplit_once('['))
                    else {
                        continue;
                    };
                    let had: usize = index.parse().unwrap_or_default();
                    // The first place is told, so the items are counted only there.
                    if had == 0 || lists.contains_key(list) {
                        continue;
                    }
                    let added = change.after.as_ref().map_or(0, |added| added.readable().items().len());
                    if added > 0 {
                        lists.insert(list.to_owned(), format!("{had} before, {} after", had + added));
                    }
                }
            }
        }
        for (list, count) in lists {
            if list == THRESHOLDS && dead_thresholds(rule, cx, &view, out) {
                continue;
            }
            let appended = |effect: &Effect| match effect {
                Effect::Merged(changes) | Effect::TransportSocketMerged(changes, _) => {
                    let start = format!("{list}[");
                    changes.iter().any(|change| change.kind == ChangeKind::Appended && change.path.starts_with(&start))
                }
                _ => false,
            };
            let Some(seen) = cx.seen(&view, |run| run.has(appended)) else { continue };
            // A domain that is already there is another rule's error, and no list to replace.
            if list == DOMAINS && view.patch.apply_to == ApplyTo::VirtualHost && repeated(&seen) {
                continue;
            }
            if list == CHAINS {
                out.push(seen.tell(another_chain(rule, cx, &view, &count)));
                continue;
            }
            if list == UPGRADES
                && let Some(kind) = seen.runs.iter().find_map(upgrade_twice)
            {
                let finding = view
                    .finding(rule, view.value_path_span(&list), format!("MERGE adds a second upgrade `{kind}`"))
                    .severity(Severity::Error)
                    .label(count)
                    .rejected("Envoy rejects the listener: \"multiple upgrade configs with the same name\"")
                    .help("leave it out: the generated connection manager has it already");
                out.push(seen.tell(finding));
                continue;
            }
            let finding = view
                .finding(rule, view.value_path_span(&list), format!("MERGE appends to the list `{list}`"))
                .label(count)
                .snippet(if list.ends_with("access_log") {
                    "the Telemetry API sets access logs without doubling them"
                } else {
                    "to replace the list: REPLACE the object, or MERGE_AND_REPLACE_LIST (Istio 1.31, not on filters)"
                });
            out.push(seen.tell(finding));
        }
    }
}

const CHAINS: &str = "filter_chains";

const DOMAINS: &str = "domains";

const UPGRADES: &str = "typed_config.upgrade_configs";

/// An upgrade that a connection manager has twice after the merge; Envoy compares in lowercase.
fn upgrade_twice(run: &PatchRun<'_, '_>) -> Option<String> {
    run.trace.effects.iter().find_map(|(place, _)| {
        let config = run.run.below(place, ["typed_config"])?;
        let mut known = BTreeSet::new();
        let mut kinds = config.get("upgrade_configs")?.items().iter().map(|one| one.str_at("upgrade_type").to_owned());
        kinds.find(|kind| !known.insert(kind.to_ascii_lowercase()))
    })
}

/// Whether a virtual host has a domain twice after the merge.
fn repeated(seen: &Seen<'_, '_>) -> bool {
    let twice = |run: &PatchRun<'_, '_>| {
        run.trace.effects.iter().any(|(place, _)| {
            let vhost = run.run.object(place);
            let domains = vhost.as_ref().and_then(|vhost| vhost.get(DOMAINS)).map(Tree::items).unwrap_or_default();
            let mut known = BTreeSet::new();
            !domains.iter().filter_map(Tree::as_str).all(|domain| known.insert(domain.to_ascii_lowercase()))
        })
    };
    seen.runs.iter().any(twice)
}

/// A filter chain in a LISTENER MERGE: it is added and not merged into the generated one.
fn another_chain(rule: &'static RuleInfo, cx: &Context<'_>, view: &PatchView<'_>, count: &str) -> Finding {
    // One that Envoy would reject by itself was intended to be merged.
    let partial = cx.proxy_values().any(|value| {
        (value.view.filter_index, value.view.patch.index) == (view.filter_index, view.patch.index)
            && value.objects.iter().any(|object| {
                value.is_in_added_chain(object)
                    && object.envoy.is_some_and(|message| !absent(object, message).is_empty())
            })
    });
    let finding = view
        .finding(rule, view.value_path_span(CHAINS), "MERGE adds a filter chain and leaves the generated ones as they are")
        .label(count)
        .severity(if partial { Severity::Error } else { Severity::Warning })
        .note("a merge appends to lists: this filter chain does not change the filters that istiod generates")
        .snippet("to change a generated filter:\napplyTo: NETWORK_FILTER\nmatch:\n  listener:\n    filterChain:\n      filter:\n        name: envoy.filters.network.http_connection_manager\npatch:\n  operation: MERGE");
    if partial { finding.note("the filter chain is incomplete: the proxy rejects the listener") } else { finding }
}

const THRESHOLDS: &str = "circuit_breakers.thresholds";

/// Circuit breakers after istiod's own of the same priority, of which Envoy uses the first. Reported if none of them
/// takes effect.
fn dead_thresholds<'a>(rule: &'static RuleInfo, cx: &Context<'a>, view: &PatchView<'a>, out: &mut Findings) -> bool {
    let behind = |run: &PatchRun<'_, '_>| {
        let mut appended = Appended::default();
        appended.add(run);
        !appended.dead().is_empty()
    };
    let Some(seen) = cx.seen_if(view, behind) else { return false };
    let mut appended = Appended::default();
    seen.runs.iter().for_each(|run| appended.add(run));
    let dead = appended.dead();
    if dead.is_empty() {
        return false;
    }
    let which = match dead.as_slice() {
        [one] if appended.all.len() > 1 => format!("the circuit breakers of priority {one}"),
        _ => "these circuit breakers".to_owned(),
    };
    let message = format!("{which} never take effect: MERGE appends them");
    let finding = view
        .finding(rule, view.value_path_span(THRESHOLDS), message)
        .severity(Severity::Warning)
        .label("after those of istiod with the same priority")
        .note("Envoy uses the first threshold of a priority; istiod generates one for every cluster, practically unlimited")
        .snippet(native_thresholds(view));
    out.push(seen.tell(finding));
    true
}

/// Fields of a threshold, and their place in a connection pool.
const POOL: [(&str, &str, &str); 4] = [
    ("max_connections", "tcp", "maxConnections"),
    ("max_pending_requests", "http", "http1MaxPendingRequests"),
    ("max_requests", "http", "http2MaxRequests"),
    ("max_retries", "http", "maxRetries"),
];

/// What sets the same limits: in a DestinationRule, or for inbound connections in a Sidecar.
fn native_thresholds(view: &PatchView<'_>) -> String {
    let value = view.built.and_then(|built| built.value.as_ref());
    let thresholds = value.and_then(|value| value.path(&["circuit_breakers", "thresholds"])).map(Tree::items);
    let has = |field: &str| thresholds.unwrap_or_default().iter().any(|one| one.get(field).is_some());
    let inbound = view.patch.context == PatchContext::SidecarInbound;
    let (mut text, indent) = if inbound {
        ("a Sidecar sets them for inbound connections:\n".to_owned(), "")
    } else {
        ("a DestinationRule sets them:\ntrafficPolicy:\n".to_owned(), "  ")
    };
    let wanted: Vec<_> = POOL.iter().filter(|(field, ..)| has(field)).collect();
    if !wanted.is_empty() || inbound || !has("retry_budget") {
        text.push_str(indent);
        text.push_str(if inbound { "inboundConnectionPool:" } else { "connectionPool:" });
        let mut group = "";
        for (_, part, field) in if wanted.is_empty() { vec![&POOL[0]] } else { wanted } {
            if group != *part {
                text.push_str(&format!("\n{indent}  {part}:"));
                group = part;
            }
            text.push_str(&format!("\n{indent}    {field}: <number>"));
        }
    } else {
        text.push_str("  retryBudget: # since Istio 1.27\n    percent: <number>\n    minRetryConcurrency: <number>");
    }
    text
}

/// The priorities of the thresholds that a patch appended to the clusters of services.
#[derive(Default)]
struct Appended {
    /// Those that come first in some cluster, and count there.
    alive: BTreeSet<String>,
    /// All of them.
    all: BTreeSet<String>,
}

impl Appended {
    fn add(&mut self, run: &PatchRun<'_, '_>) {
        let clusters = run.trace.effects.iter().filter(|(_, effect)| effect.changes()).map(|(place, _)| place);
        // Those of services: nobody limits the cluster that drops connections.
        for place in clusters.filter(|place| place.kind == ResourceKind::Cluster && place.resource.contains('|')) {
            let Some(cluster) = run.run.after(ResourceKind::Cluster, &place.resource) else { continue };
            let thresholds = cluster.path(&["circuit_breakers", "thresholds"]).map(Tree::items).unwrap_or_default();
            let mut seen = BTreeSet::new();
            for one in thresholds {
                let priority = Some(one.str_at("priority")).filter(|priority| !priority.is_empty());
                let priority = priority.unwrap_or("DEFAULT");
                let first = seen.insert(priority);
                if one.origin == run.id.origin() {
                    self.all.insert(priority.to_owned());
                    if first {
                        self.alive.insert(priority.to_owned());
                    }
                }
            }
        }
    }

    /// The priorities that count nowhere.
    fn dead(&self) -> Vec<&str> {
        self.all.difference(&self.alive).map(String::as_str).collect()
    }
}
