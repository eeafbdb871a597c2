//! Checks that the HTTP filter next to which a filter is inserted exists in the filter chains: without it, the patch
//! does nothing.

use crate::migrate::base::filters::{EVERYWHERE, EXT_AUTHZ, INBOUND, JWT, OUTBOUND, RBAC};
use crate::migrate::base::names::Adder;
use crate::migrate::base::reach;
use crate::migrate::base::step::{Cx, Move, Part};
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::output::roll_out::{IDLE_PATCH, REJECTED};
use crate::model::envoy_filter::{ListenerMatch, Operation, PatchContext};
use crate::model::inventory::Object;
use serde_json::Value as Json;
use std::collections::BTreeSet;

enum Presence {
    Present,
    Absent,
    Unknown,
}

/// Adds the consequences if the anchor of an inserted filter is absent or not known to exist.
pub(in crate::migrate) fn check(cx: &Cx<'_>, part: &Part<'_>, found: &mut Move) {
    let Some(anchor) = reach::anchor(&part.built.object).filter(|name| !name.is_empty()) else { return };
    if part.operation() == Operation::InsertAfter && anchor == "envoy.filters.http.router" {
        found.difference(
            Kind::Behavior,
            "the filter comes after the router, where no request reaches it and Envoy rejects the chain; the native object runs",
        );
        found.meanwhile = vec![REJECTED];
        return;
    }
    if !matches!(part.operation(), Operation::InsertBefore | Operation::InsertAfter) {
        return;
    }
    let user = User {
        filter: cx.index,
        patch: part.built.patch.index,
        context: part.built.patch.context,
        part: &reach::part_of_listeners(&part.built.object),
    };
    match presence(cx, part.reach.context, &user, anchor, &mut BTreeSet::new()) {
        Presence::Present => {}
        Presence::Absent => {
            found.difference(
                Kind::Behavior,
                format!("no HTTP filter `{anchor}` exists in these chains: the filter does nothing today, the native object runs"),
            );
            found.meanwhile = vec![IDLE_PATCH];
        }
        Presence::Unknown => {
            found.guard(
                Concern::Patch,
                State::Undecided,
                format!(
                    "it is unknown whether an HTTP filter `{anchor}` exists in these chains: without it the filter does nothing today, and the native object runs"
                ),
            );
        }
    }
}

/// How many filters that are inserted next to one another are followed.
const LONGEST: usize = 32;

/// The patch that looks for an HTTP filter.
struct User<'a> {
    filter: usize,
    patch: usize,
    context: PatchContext,
    part: &'a ListenerMatch,
}

impl User<'_> {
    /// Whether a patch certainly runs before this one on all proxies of the filter, in all of its filter chains.
    fn follows(&self, cx: &Cx<'_>, adder: &Adder) -> bool {
        let first = if adder.filter == self.filter {
            adder.patch < self.patch
        } else {
            let place = cx.names.place(adder.filter);
            place.before(cx.names.place(self.filter)) == Some(true) && place.covers(cx.names.place(cx.index))
        };
        let context = adder.context == PatchContext::Any || adder.context == self.context;
        let part = adder.part.as_ref().is_some_and(|part| *part == ListenerMatch::default() || part == self.part);
        first && context && part
    }
}

/// Whether a patch finds an HTTP filter. `seen` has the patches that are known not to insert one for certain.
fn presence(
    cx: &Cx<'_>,
    context: PatchContext,
    user: &User<'_>,
    anchor: &str,
    seen: &mut BTreeSet<(usize, usize)>,
) -> Presence {
    if EVERYWHERE.contains(&anchor) {
        return Presence::Present;
    }
    // Filters of other proxies insert nothing here.
    if let Some((_, adders)) = cx.names.adders(anchor)
        && adders.iter().any(|adder| cx.names.meet(adder.filter, cx.index))
    {
        // Another filter may be for other proxies, or run later, or find no place for what it inserts.
        let certain = adders.iter().any(|adder| {
            let Some(part) = adder.part.as_ref().filter(|_| user.follows(cx, adder)) else { return false };
            let beside = !matches!(adder.operation, Operation::Add | Operation::InsertFirst);
            let Some(anchor) = adder.anchor.as_deref().filter(|_| beside) else { return true };
            let own = User { filter: adder.filter, patch: adder.patch, context: adder.context, part };
            seen.len() < LONGEST
                && seen.insert((adder.filter, adder.patch))
                && matches!(presence(cx, context, &own, anchor, seen), Presence::Present)
        });
        if certain {
            return Presence::Present;
        }
        let generated = INBOUND.contains(&anchor) || anchor == OUTBOUND || anchor == "istio.stats";
        if !generated {
            return Presence::Unknown;
        }
    }
    if anchor == OUTBOUND {
        return match context {
            PatchContext::SidecarInbound | PatchContext::Waypoint => Presence::Absent,
            PatchContext::SidecarOutbound | PatchContext::Gateway => Presence::Present,
            PatchContext::Any => Presence::Unknown,
        };
    }
    if INBOUND.contains(&anchor) && context == PatchContext::SidecarOutbound {
        return Presence::Absent;
    }
    match anchor {
        JWT => of_policies(cx, "RequestAuthentication", |_| true),
        RBAC => of_policies(cx, "AuthorizationPolicy", |_| true),
        EXT_AUTHZ => of_policies(cx, "AuthorizationPolicy", |spec| spec["action"] == "CUSTOM"),
        "istio.stats" => metrics(cx),
        _ => Presence::Unknown,
    }
}

/// Whether a policy exists for all proxies of the filter.
fn of_policies(cx: &Cx<'_>, kind: &str, test: impl Fn(&Json) -> bool) -> Presence {
    let mut perhaps = false;
    for object in cx.mesh.policies(kind, cx.filter) {
        let document = object.document.to_json();
        if !test(&document["spec"]) {
            continue;
        }
        if covers(cx, object, &document["spec"]) {
            return Presence::Present;
        }
        perhaps = true;
    }
    if perhaps || !cx.mesh.described() { Presence::Unknown } else { Presence::Absent }
}

/// Whether an object applies to every proxy that the filter selects.
fn covers(cx: &Cx<'_>, object: &Object, spec: &Json) -> bool {
    if let Some(refs) = spec["targetRefs"].as_array().filter(|refs| !refs.is_empty()) {
        let own = &cx.filter.target_refs;
        return !own.is_empty()
            && object.namespace == cx.filter.namespace
            && own.iter().all(|target| {
                refs.iter().any(|one| one["name"] == target.name.as_str() && one["kind"] == target.kind.as_str())
            });
    }
    let everywhere = object.namespace == cx.mesh.root || object.namespace == cx.filter.namespace;
    let labels = spec.pointer("/selector/matchLabels").and_then(Json::as_object);
    match labels.filter(|labels| !labels.is_empty()) {
        None => everywhere,
        Some(labels) => {
            let own = cx.filter.selector.as_ref();
            let by_selector = everywhere
                && labels
                    .iter()
                    .all(|(key, value)| own.and_then(|own| own.get(key)).map(String::as_str) == value.as_str());
            let mut workloads = cx.mesh.workloads(cx.filter).peekable();
            let by_workload = workloads.peek().is_some()
                && workloads.all(|workload| {
                    (object.namespace == cx.mesh.root || object.namespace == workload.object.namespace)
                        && labels
                            .iter()
                            .all(|(key, value)| workload.labels.get(key).map(String::as_str) == value.as_str())
                });
            by_selector || by_workload
        }
    }
}

/// Whether istiod generates `istio.stats`: only if the mesh or a Telemetry names a metrics provider.
fn metrics(cx: &Cx<'_>) -> Presence {
    let Some(mesh) = cx.mesh.mesh_config() else { return Presence::Unknown };
    let of_mesh =
        mesh.pointer("/defaultProviders/metrics").and_then(Json::as_array).is_some_and(|list| !list.is_empty());
    if of_mesh {
        return Presence::Present;
    }
    let some = cx
        .mesh
        .policies("Telemetry", cx.filter)
        .iter()
        .any(|object| object.document.to_json().pointer("/spec/metrics").is_some());
    if some { Presence::Unknown } else { Presence::Absent }
}
