//! Objects that istiod creates once and uses in several places: a merge into one changes all of them.
//!
//! Network filters of telemetry come from a cache of the push (`Telemetries.TCPFilters`, by class of listener and, on a
//! waypoint, by service); others and the listener filters are variables of `pilot/pkg/xds/filters`. HTTP filters are copied
//! before they are merged, and other network filters are created for every chain. Recorded: `testdata/reference`, cases
//! `edge-shared-…`.

use super::trace::{Effect, PatchId, Place};
use crate::model::envoy_filter::{ApplyTo, PatchContext};
use crate::proto::json;
use crate::proto::merge::Change;
use crate::proto::tree::{Origin, Tree};

/// The scope in which an object is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// All filter chains of one direction of a proxy (`authz.Builder`).
    Proxy,
    /// All listeners of one class, of all proxies with the same telemetry settings, until these change.
    Telemetry,
    /// Every proxy of this istiod, until it restarts.
    Global,
}

/// Network filters that istiod shares.
const NETWORK_FILTERS: &[(&str, Reach)] = &[
    ("envoy.filters.network.ext_authz", Reach::Proxy),
    ("envoy.filters.network.rbac", Reach::Proxy),
    ("istio.stats", Reach::Telemetry),
    ("istio.metadata_exchange", Reach::Global),
    ("connect_authority", Reach::Global),
    ("upstream_hbone_peer_metadata", Reach::Global),
];

/// Listener filters that istiod shares, unless it sets `filter_disabled`.
const LISTENER_FILTERS: &[&str] = &[
    "envoy.filters.listener.tls_inspector",
    "envoy.filters.listener.http_inspector",
    "envoy.filters.listener.original_dst",
    "envoy.filters.listener.original_src",
    "envoy.filters.listener.proxy_protocol",
];

/// Network filter of a chain for a wildcard host with DYNAMIC_DNS.
const SNI_DYNAMIC: &str = "envoy.extensions.filters.network.sni_dynamic_forward_proxy";

/// The scope in which istiod shares its network filter of this name; `None`: not shared.
pub(crate) fn network_filter(name: &str) -> Option<Reach> {
    NETWORK_FILTERS.iter().find(|(known, _)| *known == name).map(|(_, reach)| *reach)
}

/// Whether istiod shares a generated listener filter between all proxies.
pub(crate) fn listener_filter(filter: &Tree<'_>) -> bool {
    LISTENER_FILTERS.contains(&filter.name()) && filter.get("filter_disabled").is_none()
}

/// Whether a patch writes into an object that istiod also uses for other proxies: a network filter, a listener filter, or
/// its only message for a value.
pub(crate) fn is_of_other_proxies(apply_to: ApplyTo, place: &Place, effect: &Effect) -> bool {
    let Effect::Merged(changes) = effect else { return false };
    let over = |paths: &[&str]| changes.iter().any(|it| paths.contains(&it.path.as_str()) && it.before.is_some());
    effect.changes()
        && match apply_to {
            ApplyTo::NetworkFilter => {
                let reach = place.filter.as_deref().and_then(network_filter);
                reach.is_some_and(|reach| reach != Reach::Proxy)
            }
            ApplyTo::ListenerFilter => {
                place.listener_filter.as_deref().is_some_and(|name| LISTENER_FILTERS.contains(&name))
            }
            ApplyTo::Listener => over(&["bind_to_port"]),
            ApplyTo::RouteConfiguration => over(&["validate_clusters", "max_direct_response_body_size_bytes"]),
            _ => false,
        }
}

/// The position of a filter, which decides the cache of istiod it may come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Class {
    pub(super) context: PatchContext,
    /// The service that the chain is for, if istiod generates its telemetry per service.
    pub(super) service: String,
}

impl Class {
    /// The class of a chain. A waypoint's chain `inbound-vip|<port>|<protocol>|<host>` names the service.
    pub(super) fn of(context: PatchContext, chain: &Tree<'_>) -> Class {
        let service = chain.name().strip_prefix("inbound-vip|").and_then(|rest| rest.rsplit('|').next());
        // Of a sidecar's chains, only those for a wildcard host with DYNAMIC_DNS are made for a service.
        let filters = chain.get("filters").map(Tree::items).unwrap_or_default();
        let dynamic = filters.iter().any(|filter| filter.name() == SNI_DYNAMIC);
        let cluster = || {
            let config = filters.last()?.get("typed_config")?.readable();
            config.get("cluster").and_then(Tree::as_str).map(str::to_owned)
        };
        let service = service.map(str::to_owned).or_else(|| if dynamic { cluster() } else { None });
        Class { context, service: service.unwrap_or_default() }
    }
}

/// A shared object, before and after merges.
pub(super) struct Group<'a> {
    /// Where the object is shared; `None`: everywhere.
    class: Option<Class>,
    /// Every state that it was in, as canonical text, starting with istiod's.
    states: Vec<String>,
    now: Tree<'a>,
    /// The patches that changed it, with their changes.
    pub(super) by: Vec<(PatchId, Vec<Change<'a>>)>,
}

/// The shared objects that merges have changed in this run.
#[derive(Default)]
pub(super) struct Shared<'a> {
    pub(super) groups: Vec<Group<'a>>,
}

impl<'a> Shared<'a> {
    pub(super) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    pub(super) fn place(&self, class: &Class, text: &str) -> Option<usize> {
        let same = |group: &Group<'a>| {
            group.class.as_ref().is_none_or(|of| of == class) && group.states.iter().any(|state| state == text)
        };
        self.groups.iter().position(same)
    }

    /// The object as merges elsewhere have left it; `None`: unchanged.
    pub(super) fn current(&self, class: &Class, filter: &Tree<'a>) -> Option<&Tree<'a>> {
        if self.groups.is_empty() || filter.origin != Origin::ISTIOD {
            return None;
        }
        let text = json::canonical(filter);
        let group = &self.groups[self.place(class, &text)?];
        (group.states.last() != Some(&text)).then_some(&group.now)
    }

    /// The text of an object before merges, if it is a shared one.
    pub(super) fn before(&self, class: &Class, filter: &Tree<'a>, reach: Option<Reach>) -> Option<String> {
        if filter.origin != Origin::ISTIOD || (reach.is_none() && self.groups.is_empty()) {
            return None;
        }
        let text = json::canonical(filter);
        (reach.is_some() || self.place(class, &text).is_some()).then_some(text)
    }

    /// Records the result of merges into an object.
    pub(super) fn changed(
        &mut self,
        class: &Class,
        before: String,
        filter: &Tree<'a>,
        reach: Option<Reach>,
        by: Vec<(PatchId, Vec<Change<'a>>)>,
    ) {
        let text = json::canonical(filter);
        if text == before {
            return;
        }
        let at = self.place(class, &before).unwrap_or_else(|| {
            let class = (reach != Some(Reach::Global)).then(|| class.clone());
            self.groups.push(Group { class, states: vec![before], now: filter.clone(), by: Vec::new() });
            self.groups.len() - 1
        });
        let group = &mut self.groups[at];
        group.states.push(text);
        group.now = filter.clone();
        group.by.extend(by);
    }
}
