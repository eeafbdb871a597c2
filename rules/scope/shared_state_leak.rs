//! EF514: a merge into an object that istiod uses in several places.

use crate::declare_rule;
use crate::engine::matching::VIRTUAL_OUTBOUND;
use crate::engine::program::Status;
use crate::engine::shared::{self, Reach};
use crate::engine::trace::{Effect, Place};
use crate::lint::context::PatchRun;
use crate::lint::names::listed_or;
use crate::lint::{Confidence, Context, Finding, Findings, Knowledge, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, ObjectMatch, Operation, Patch, PatchContext};
use crate::model::proxy::ProxyKind;
use crate::model::release::Release;
use crate::proto::merge::{Change, ChangeKind};
use crate::proto::tree::{Tree, Value};
use std::collections::BTreeSet;

declare_rule! {
    /// A merge that istiod writes into an object that several listeners or all proxies share.
    ///
    /// # What it finds
    /// LISTENER merges of `bind_to_port: true`; ROUTE_CONFIGURATION merges of `validate_clusters: true` or
    /// `max_direct_response_body_size_bytes`; LISTENER_FILTER merges; NETWORK_FILTER merges into `istio.stats` or
    /// `istio.metadata_exchange`; FILTER_CHAIN merges with MERGE_AND_REPLACE_LIST that replace
    /// `filter_chain_match.application_protocols` of inbound filter chains; CLUSTER merges into a transport socket that
    /// another patch added.
    ///
    /// # Why it matters
    /// istiod's generators reuse the same message, and a merge changes it in place. Listeners and proxies that the
    /// filter does not match also change, even in other namespaces. Most of them keep the change after the filter is
    /// deleted, until istiod restarts; `istio.stats` keeps it until the telemetry settings change.
    ///
    /// # How to fix
    /// Do not merge these fields; replace a filter with REPLACE, or with REMOVE and ADD. After deleting such a filter,
    /// restart istiod.
    ///
    /// # References
    /// Recorded from the control plane of the 1.31 line (testdata/reference, cases with `leaked` or `others`).
    "EF514" "shared-state-leak" Scope Error => check
}

/// The shared object that a patch writes into: the path in the patch's value, and who shares it.
#[derive(Clone)]
struct Shared {
    keys: &'static [&'static str],
    what: String,
    who: &'static str,
    stays: &'static str,
}

const RESTART: &str = "until istiod restarts";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let Some(built) = view.built.filter(|built| built.status == Status::Ready && built.operation.is_merge()) else {
            continue;
        };
        let Some(value) = &built.value else { continue };
        let met: Vec<_> = cx.on_proxies(view.filter_index, view.patch.index).collect();
        let real = met.iter().any(|met| met.run.knowledge == Knowledge::Dump);
        let hit: Vec<_> = met
            .iter()
            .filter(|met| !real || met.run.knowledge == Knowledge::Dump)
            .filter_map(|met| {
                let found = shared(view.patch.apply_to, built.operation, value, met);
                Some((met, found.or_else(|| body_size(cx.release, view.patch.apply_to, value, met))?))
            })
            .collect();
        // The reference configurations are of a mesh without telemetry.
        let named = || if real { None } else { telemetry(view.patch) };
        let Some(shared) = hit.first().map(|(_, shared)| shared).cloned().or_else(named) else { continue };
        let keys: Vec<&str> = ["patch", "value"].iter().chain(shared.keys).copied().collect();
        let message = format!("istiod merges this into {}, which {} share", shared.what, shared.who);
        let mut finding = Finding::new(rule, view.key_span(&keys), message)
            .of(view.filter, Some(view.patch.index))
            .label("changes more than the match says")
            .note(format!(
                "proxies and listeners that this patch does not match change too, and stay changed after the filter is deleted, {}",
                shared.stays
            ))
            .help(match view.patch.apply_to {
                ApplyTo::Cluster => "write one transport_socket in one patch",
                ApplyTo::NetworkFilter | ApplyTo::ListenerFilter => {
                    "use REPLACE, or REMOVE and ADD, instead of MERGE; restart istiod after deleting the filter"
                }
                _ => "omit this field; restart istiod after deleting the filter",
            });
        let spread: BTreeSet<&str> =
            hit.iter().flat_map(|(met, _)| &met.trace.spread).map(|at| &*at.resource).collect();
        let own: BTreeSet<&str> =
            hit.iter().flat_map(|(met, _)| &met.trace.effects).map(|(at, _)| &*at.resource).collect();
        let (inside, other): (BTreeSet<&str>, BTreeSet<&str>) = spread.into_iter().partition(|name| own.contains(name));
        if !other.is_empty() {
            finding = finding.note(format!("also changes {}", listed_or(other, 5, "")));
        }
        if !inside.is_empty() {
            finding = finding.note(format!("also changes other parts of {}", listed_or(inside, 5, "")));
        }
        out.push(if real {
            finding.workloads(hit.iter().map(|(met, _)| met.run.label().to_owned()))
        } else {
            finding.confidence(Confidence::Likely)
        });
    }
}

/// Istio 1.30 sets the size of direct responses on waypoints, as the recordings of 1.30.3 show; its reference
/// configuration is an older one, without it.
fn body_size(release: Release, apply_to: ApplyTo, value: &Tree<'_>, met: &PatchRun<'_, '_>) -> Option<Shared> {
    let key = "max_direct_response_body_size_bytes";
    let of_reference = met.run.knowledge == Knowledge::Reference && met.run.config.proxy.kind == ProxyKind::Waypoint;
    let reached = met.trace.effects.iter().any(|(_, effect)| effect.changes());
    let found = release >= Release::minor(30) && apply_to == ApplyTo::RouteConfiguration && of_reference && reached;
    (found && sets(value, key)).then(|| Shared {
        keys: &["max_direct_response_body_size_bytes"],
        what: "its only message for the default size".to_owned(),
        who: "all proxies",
        stays: RESTART,
    })
}

fn of_telemetry(what: String) -> Shared {
    Shared {
        keys: &[],
        what,
        who: "all listeners of this direction on all proxies with the same telemetry settings",
        stays: "until the telemetry settings change or istiod restarts",
    }
}

/// The filter of telemetry that a merge into a network filter names.
fn telemetry(patch: &Patch) -> Option<Shared> {
    let ObjectMatch::Listener(listener) = &patch.object else { return None };
    let name = listener.filter_chain.as_ref()?.filter.as_ref()?.name.as_str();
    let shared = patch.apply_to == ApplyTo::NetworkFilter && shared::network_filter(name) == Some(Reach::Telemetry);
    shared.then(|| of_telemetry(format!("its only `{name}`")))
}

/// Whether a field is set to something that is not its default.
fn sets(value: &Tree<'_>, key: &str) -> bool {
    match value.get(key).map(|field| &field.value) {
        Some(Value::Bool(on)) => *on,
        Some(Value::Number(text)) => text != "0",
        Some(_) => true,
        None => false,
    }
}

/// The shared object that a patch changes on a proxy.
fn shared(apply_to: ApplyTo, operation: Operation, value: &Tree<'_>, met: &PatchRun<'_, '_>) -> Option<Shared> {
    let everywhere = |keys, what: &str| Shared { keys, what: what.to_owned(), who: "all proxies", stays: RESTART };
    let changed = || met.trace.effects.iter().filter(|(_, effect)| effect.changes());
    let merged = || {
        changed().filter_map(|(place, effect)| match effect {
            Effect::Merged(changes) => Some((place, changes)),
            _ => None,
        })
    };
    // A field that istiod did not set is newly allocated.
    let over = |key: &str| {
        sets(value, key) && merged().any(|(_, changes)| changes.iter().any(|it| it.path == key && it.before.is_some()))
    };
    match apply_to {
        ApplyTo::Listener => {
            over("bind_to_port").then(|| everywhere(&["bind_to_port"], "its only message for `false`"))
        }
        ApplyTo::RouteConfiguration => {
            if over("validate_clusters") {
                return Some(everywhere(&["validate_clusters"], "its only message for `false`"));
            }
            over("max_direct_response_body_size_bytes")
                .then(|| everywhere(&["max_direct_response_body_size_bytes"], "its only message for the default size"))
        }
        ApplyTo::FilterChain => {
            // Replacing a list overwrites the array of the old one.
            let inbound = |place: &Place| !matches!(&*place.resource, VIRTUAL_OUTBOUND);
            let path = "filter_chain_match.application_protocols";
            let written = operation == Operation::MergeAndReplaceList
                && met.run.config.proxy.kind == ProxyKind::Sidecar
                && merged().any(|(place, changes)| {
                    inbound(place) && changes.iter().any(|it| it.path == path && it.kind == ChangeKind::ListReplaced)
                })
                && met.planned.built.patch.context != PatchContext::SidecarOutbound;
            written.then(|| everywhere(&["filter_chain_match"], "the list of ALPN names of its inbound chains"))
        }
        ApplyTo::ListenerFilter => {
            let (place, _) = changed().next()?;
            let name = place.listener_filter.as_deref().unwrap_or_default();
            Some(everywhere(&["typed_config"], &format!("its only `{name}`")))
        }
        ApplyTo::NetworkFilter => {
            let (name, reach) = merged().find_map(|(place, _)| {
                let name = place.filter.as_deref()?;
                Some((name, shared::network_filter(name).filter(|reach| *reach != Reach::Proxy)?))
            })?;
            let what = format!("its only `{name}`");
            Some(match reach {
                Reach::Global => everywhere(&[], &what),
                Reach::Telemetry | Reach::Proxy => of_telemetry(what),
            })
        }
        ApplyTo::Cluster => {
            let over = |changes: &[Change]| changes.iter().any(|it| it.path.starts_with("transport_socket."));
            let mine: BTreeSet<&Place> = changed()
                .filter(|(_, effect)| matches!(effect, Effect::TransportSocketMerged(changes, _) if over(changes)))
                .map(|(place, _)| place)
                .collect();
            if mine.is_empty() {
                return None;
            }
            let set = |changes: &[Change]| changes.iter().any(|it| it.path == "transport_socket");
            let mut others = met.run.plan.ids().filter(|id| *id != met.id);
            let by_other = others.any(|id| {
                let effects = &met.run.judged.trace.patches[id.index()].effects;
                effects.iter().any(|(at, effect)| {
                    matches!(effect, Effect::TransportSocketMerged(changes, _) if set(changes)) && mine.contains(at)
                })
            });
            if !by_other {
                return None;
            }
            Some(Shared {
                keys: &["transport_socket"],
                what: "the transport socket of another patch".to_owned(),
                who: "all clusters that patch added it to",
                stays: "until that patch changes",
            })
        }
        _ => None,
    }
}
