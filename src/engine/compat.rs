//! Differences between Istio releases, as data keyed by the release that introduced them.
//!
//! Each line is proven by a recording of that release (testdata/reference) or read in the source of its tags.

use crate::model::release::Release;

/// A behavior that only some releases have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Behaviour {
    /// `filterChain.applicationProtocols` is compared; before, it is ignored (`listener_patch.go`, 1.20 and 1.21).
    ApplicationProtocols,
    /// `priority` orders the filters of the root namespace and of the workload's namespace together; before, it applied only
    /// within each of the two, and the root namespace came first (`PushContext.EnvoyFilters`, istiod 1.18 to 1.21).
    PriorityAcrossNamespaces,
    /// Chains without filters and listeners without a name are always dropped; before, only if a patch of the same listener or
    /// pass removed one.
    DropEmptyAlways,
    /// A merged Duration changes only its target; before, it leaked into mesh settings that istiod shares.
    DurationStaysLocal,
    /// `vhost.domainName` is read.
    DomainName,
    /// Outbound clusters are no longer de-duplicated with the others.
    OutboundClustersKeepDuplicates,
    /// The annotation `envoyfilter.istio.io/referenced-services` is read.
    ReferencedServices,
    /// `targetRefs` are read; waypoints stop seeing filters without them.
    TargetRefs,
    /// A GatewayClass in `targetRefs` attaches, from the root namespace; before, istiod compares the namespace with an empty
    /// string (`getMatchedEnvoyFilters`, 1.27.3 and 1.27.4).
    GatewayClassTargets,
    /// A merge of another type panics; before, the bytes were read as the target's type.
    TypeMismatchPanics,
    /// LISTENER_FILTER MERGE has an effect.
    ListenerFilterMerge,
    /// CLUSTER REMOVE runs in order with the merges; before, it ran ahead of all of them.
    ClusterRemoveInOrder,
    /// Context WAYPOINT and `match.waypoint` are part of the API, but never applied.
    WaypointContext,
    /// Operation MERGE_AND_REPLACE_LIST exists.
    MergeAndReplaceList,
    /// A `proxyVersion` longer than 1024 bytes matches no proxy.
    LongProxyVersionMatchesNothing,
}

/// Behavior, the first release that has it, and what a user should know about it.
pub(crate) const TABLE: &[(Behaviour, Release, &str)] = &[
    (Behaviour::ApplicationProtocols, Release::minor(21), "`filterChain.applicationProtocols` is compared"),
    (
        Behaviour::PriorityAcrossNamespaces,
        Release::minor(22),
        "`priority` counts between the root namespace and the workload's own",
    ),
    (Behaviour::DropEmptyAlways, Release::minor(23), "chains without filters and listeners without a name are dropped"),
    (Behaviour::DurationStaysLocal, Release::patch(24, 1), "a merged Duration changes only its target"),
    (Behaviour::DomainName, Release::minor(26), "`vhost.domainName` is read"),
    (
        Behaviour::OutboundClustersKeepDuplicates,
        Release::minor(26),
        "an added cluster with the name of a generated outbound cluster is sent beside it",
    ),
    (Behaviour::ReferencedServices, Release::minor(26), "`envoyfilter.istio.io/referenced-services` is read"),
    (Behaviour::TargetRefs, Release::minor(27), "`targetRefs` are read, and waypoints ignore filters without them"),
    (
        Behaviour::GatewayClassTargets,
        Release::patch(27, 4),
        "a GatewayClass in `targetRefs` attaches, from the root namespace",
    ),
    (Behaviour::TypeMismatchPanics, Release::minor(27), "a MERGE of another type panics and ends the pass"),
    (Behaviour::ListenerFilterMerge, Release::minor(27), "LISTENER_FILTER MERGE changes listener filters"),
    (Behaviour::ClusterRemoveInOrder, Release::minor(27), "CLUSTER REMOVE runs in order with MERGE"),
    (Behaviour::WaypointContext, Release::minor(29), "context WAYPOINT is accepted, and applied by nothing"),
    (Behaviour::MergeAndReplaceList, Release::minor(31), "operation MERGE_AND_REPLACE_LIST exists"),
    (Behaviour::LongProxyVersionMatchesNothing, Release::minor(31), "`proxyVersion` over 1024 bytes matches nothing"),
];

/// First release with a behavior.
pub(crate) fn since(behaviour: Behaviour) -> Release {
    TABLE.iter().find(|(known, ..)| *known == behaviour).map_or(Release::NEWEST, |(_, since, _)| *since)
}

/// The behaviors of one release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compat {
    /// The release.
    pub release: Release,
}

impl Compat {
    /// Whether this release has a behavior.
    pub(crate) fn has(self, behaviour: Behaviour) -> bool {
        // The fix of the Duration leak reached the 1.23 line in 1.23.4, before 1.24.1.
        if behaviour == Behaviour::DurationStaysLocal && self.release.minor == 23 {
            return self.release.patch >= 4;
        }
        self.release >= since(behaviour)
    }
}
