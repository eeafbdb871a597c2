//! The part of its proxies' traffic that a patch reaches, in terms of native APIs.

use super::filters;
use crate::engine::go_regexp;
use crate::engine::matching::{self, HTTP_CONNECTION_MANAGER};
use crate::engine::program::BuiltPatch;
use crate::migrate::objects::mesh::{Mesh, Proxies};
use crate::model::envoy_filter::{EnvoyFilter, FilterChainMatch, ListenerMatch, ObjectMatch, PatchContext};
use crate::model::release::Release;

/// Part of the traffic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reach {
    /// The context as written.
    pub context: PatchContext,
    /// The proxies.
    pub proxies: Proxies,
    /// The only port, on the pod, that the patch is for.
    pub port: Option<u32>,
    /// What else narrows the match, as text: a server name, a filter chain's name.
    pub narrowed: Option<String>,
}

impl Reach {
    /// The reach of a patch of a listener (or its filter chains and filters).
    pub(crate) fn of_listener(mesh: &Mesh<'_>, filter: &EnvoyFilter, built: &BuiltPatch<'_>) -> Reach {
        let patch = built.patch;
        let mut reach =
            Reach { context: patch.context, proxies: mesh.proxies(filter, patch), port: None, narrowed: None };
        if let ObjectMatch::Listener(listener) = &built.object {
            reach.narrow(listener);
        }
        // Next to a filter that only one direction has, the patch is for that direction.
        if reach.context == PatchContext::Any
            && reach.proxies == Proxies::Sidecar
            && let Some(anchor) = anchor(&built.object)
        {
            if filters::INBOUND.contains(&anchor) {
                reach.context = PatchContext::SidecarInbound;
            } else if anchor == filters::OUTBOUND {
                reach.context = PatchContext::SidecarOutbound;
            }
        }
        reach
    }

    fn narrow(&mut self, listener: &ListenerMatch) {
        let inbound = listener.name == matching::VIRTUAL_INBOUND && self.context == PatchContext::SidecarInbound;
        if !(listener.name.is_empty() || inbound) {
            // `0.0.0.0_8080` is the listener of a port, under a name that may change.
            match listener.name.strip_prefix("0.0.0.0_").and_then(|port| port.parse().ok()) {
                Some(port) => self.port = Some(port),
                None => self.narrowed = Some(format!("listener name {}", listener.name)),
            }
        }
        if listener.port_number != 0 {
            self.port = Some(listener.port_number);
        }
        if !listener.listener_filter.is_empty() {
            self.narrowed = Some(format!("listener filter {}", listener.listener_filter));
        }
        let Some(chain) = &listener.filter_chain else { return };
        for (what, text) in [
            ("server name", &chain.sni),
            ("filter chain name", &chain.name),
            ("transport protocol", &chain.transport_protocol),
            ("transport socket", &chain.transport_socket),
            ("application protocols", &chain.application_protocols),
        ] {
            if !text.is_empty() {
                self.narrowed = Some(format!("{what} {text}"));
            }
        }
        if chain.destination_port != 0 {
            self.port = Some(chain.destination_port);
        }
    }

    /// Whether the patch is for all traffic of its direction and proxies.
    pub(crate) const fn is_whole(&self) -> bool {
        self.port.is_none() && self.narrowed.is_none()
    }
}

/// The listeners and filter chains that a match names, without the filters in them.
pub(in crate::migrate) fn part_of_listeners(object: &ObjectMatch) -> ListenerMatch {
    let ObjectMatch::Listener(listener) = object else { return ListenerMatch::default() };
    let chain = listener.filter_chain.as_ref().map(|chain| FilterChainMatch { filter: None, ..chain.clone() });
    ListenerMatch { filter_chain: chain.filter(|chain| *chain != FilterChainMatch::default()), ..listener.clone() }
}

/// Whether a patch selects proxies by their node metadata.
pub(in crate::migrate) fn matches_metadata(built: &BuiltPatch<'_>) -> bool {
    built.patch.proxy.as_ref().is_some_and(|proxy| !proxy.metadata.is_empty())
}

/// A control plane also serves proxies of the two releases before it.
const SERVED: std::ops::RangeInclusive<u16> = 1..=2;

/// Why a patch does not apply to proxies of the target release; `None` if it does. With it, whether it applies to older
/// proxies that the control plane of that release may serve.
pub(in crate::migrate) fn pinned(built: &BuiltPatch<'_>, release: Release) -> Option<(String, bool)> {
    let version = &built.patch.proxy.as_ref().filter(|proxy| !proxy.version.is_empty())?.version;
    // istiod ignores an expression that Go does not compile.
    let compiled = go_regexp::compile(version);
    let regex = compiled.as_ref().as_ref().ok()?;
    let fits = |minor: u16| regex.is_match(&Release::minor(minor).to_string());
    if fits(release.minor) {
        return None;
    }
    let served = SERVED.filter_map(|back| release.minor.checked_sub(back)).any(fits);
    Some((format!("it is for proxies of version {version}, not for Istio {}.{}", release.major, release.minor), served))
}

/// Why a patch that applies to proxies of the target release does not apply to all that its control plane may serve.
pub(in crate::migrate) fn narrower(built: &BuiltPatch<'_>, release: Release) -> Option<String> {
    let version = &built.patch.proxy.as_ref().filter(|proxy| !proxy.version.is_empty())?.version;
    let compiled = go_regexp::compile(version);
    let regex = compiled.as_ref().as_ref().ok()?;
    let fits = |minor: u16| regex.is_match(&Release::minor(minor).to_string());
    let older = SERVED.filter_map(|back| release.minor.checked_sub(back)).filter(|_| fits(release.minor));
    let missed: Vec<String> =
        older.filter(|minor| !fits(*minor)).map(|minor| format!("{}.{minor}", release.major)).collect();
    (!missed.is_empty()).then(|| {
        format!(
            "the patch is only for proxies of version {version}; the native object also reaches those of Istio {}",
            missed.join(" and ")
        )
    })
}

/// The HTTP filter next to which a filter is inserted; `None` if the match names none.
pub(in crate::migrate) fn anchor(object: &ObjectMatch) -> Option<&str> {
    matching::sub_filter_name(object)
}

/// The network filter that a match names.
pub(in crate::migrate) fn names_filter(object: &ObjectMatch) -> Option<&str> {
    matching::network_filter_name(object).filter(|name| !name.is_empty())
}

/// Whether a match names the HTTP connection manager.
pub(in crate::migrate) fn names_manager(object: &ObjectMatch) -> bool {
    names_filter(object) == Some(HTTP_CONNECTION_MANAGER)
}
