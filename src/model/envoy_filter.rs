//! An EnvoyFilter as istiod reads it, with the document it came from.
//!
//! Field meanings: Istio's API reference, networking.istio.io/v1alpha3 EnvoyFilter (release 1.31).

use crate::model::redact::Secrets;
use crate::source::{Node, Span, Step};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// One EnvoyFilter.
#[derive(Clone, Debug)]
pub struct EnvoyFilter {
    /// `metadata.name`.
    pub name: String,
    /// `metadata.namespace`; `default` when neither the document nor the caller names one.
    pub namespace: String,
    /// `metadata.creationTimestamp`: seconds since 1970 and nanoseconds; `None` (Go's zero time) sorts first.
    pub created: Option<(i64, u32)>,
    /// `metadata.annotations`.
    pub annotations: BTreeMap<String, String>,
    /// `metadata.labels`.
    pub labels: BTreeMap<String, String>,
    /// `spec.priority`, 0 when absent.
    pub priority: i32,
    /// `spec.workloadSelector.labels`; `None` when there is no workloadSelector or it has no `labels`.
    pub selector: Option<BTreeMap<String, String>>,
    /// `spec.targetRefs`.
    pub target_refs: Vec<TargetRef>,
    /// `spec.configPatches`.
    pub patches: Vec<Patch>,
    /// The whole document.
    pub document: Node,
    /// Keys that are fields but for their case or separators, each with the name of the field.
    pub misspelt: Vec<(Span, &'static str)>,
    /// See [`EnvoyFilter::secrets`].
    pub(crate) secrets: OnceLock<Secrets>,
}

/// One of `spec.targetRefs`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetRef {
    /// `group`; empty is the core group.
    pub group: String,
    /// `kind`.
    pub kind: String,
    /// `name`.
    pub name: String,
    /// `namespace`; empty when absent.
    pub namespace: String,
}

/// One of `spec.configPatches`.
#[derive(Clone, Debug)]
pub struct Patch {
    /// Its place in the list, from 0.
    pub index: usize,
    /// Its place in the text.
    pub span: Span,
    /// `applyTo`.
    pub apply_to: ApplyTo,
    /// `match.context`, `Any` when absent.
    pub context: PatchContext,
    /// `match.proxy`.
    pub proxy: Option<ProxyMatch>,
    /// The one of `match.listener`, `match.routeConfiguration`, `match.cluster`, `match.waypoint` that is set.
    pub object: ObjectMatch,
    /// Whether `match` is present.
    pub has_match: bool,
    /// `patch`; `None` when absent: istiod drops such a patch.
    pub body: Option<PatchBody>,
}

/// `patch` of a config patch.
#[derive(Clone, Debug)]
pub struct PatchBody {
    /// `operation`, `Invalid` when absent.
    pub operation: Operation,
    /// `filterClass` as written; istiod never reads it.
    pub filter_class: Option<String>,
    /// `value`; `None` when absent or null.
    pub value: Option<Node>,
}

/// `match.proxy`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProxyMatch {
    /// `proxyVersion`, an unanchored RE2 expression; empty when absent.
    pub version: String,
    /// `metadata`.
    pub metadata: BTreeMap<String, String>,
}

/// The object part of a match.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ObjectMatch {
    /// None of the four is given.
    None,
    /// `match.listener`.
    Listener(ListenerMatch),
    /// `match.routeConfiguration`.
    RouteConfiguration(RouteConfigurationMatch),
    /// `match.cluster`.
    Cluster(ClusterMatch),
    /// `match.waypoint` (API since 1.29; no release applies it).
    Waypoint(WaypointMatch),
}

/// `match.listener`; an empty text or 0 means absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ListenerMatch {
    /// `name`.
    pub name: String,
    /// `portNumber`.
    pub port_number: u32,
    /// `portName`: never read.
    pub port_name: String,
    /// `listenerFilter`.
    pub listener_filter: String,
    /// `filterChain`.
    pub filter_chain: Option<FilterChainMatch>,
}

/// `match.listener.filterChain`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FilterChainMatch {
    /// `name`.
    pub name: String,
    /// `sni`.
    pub sni: String,
    /// `transportProtocol`.
    pub transport_protocol: String,
    /// `transportSocket` (API after 1.31).
    pub transport_socket: String,
    /// `applicationProtocols`, comma-separated.
    pub application_protocols: String,
    /// `destinationPort`.
    pub destination_port: u32,
    /// `filter`.
    pub filter: Option<FilterMatch>,
}

/// `match.listener.filterChain.filter`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct FilterMatch {
    /// `name`.
    pub name: String,
    /// `subFilter`: its name.
    pub sub_filter: Option<String>,
}

/// `match.routeConfiguration`; an empty text or 0 means absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RouteConfigurationMatch {
    /// `name`.
    pub name: String,
    /// `portNumber`.
    pub port_number: u32,
    /// `portName`.
    pub port_name: String,
    /// `gateway`, as `namespace/name`.
    pub gateway: String,
    /// `vhost`.
    pub vhost: Option<VirtualHostMatch>,
}

/// `match.routeConfiguration.vhost`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct VirtualHostMatch {
    /// `name`.
    pub name: String,
    /// `domainName` (read since 1.26).
    pub domain_name: String,
    /// `route`.
    pub route: Option<RouteMatch>,
}

/// `match.routeConfiguration.vhost.route`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RouteMatch {
    /// `name`.
    pub name: String,
    /// `action`.
    pub action: RouteAction,
}

/// `match.routeConfiguration.vhost.route.action`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RouteAction {
    /// Any action.
    #[default]
    Any,
    /// Routes to a cluster.
    Route,
    /// Redirects.
    Redirect,
    /// Answers directly.
    DirectResponse,
}

/// `match.cluster`; an empty text or 0 means absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ClusterMatch {
    /// `name`: when set, the other fields are ignored.
    pub name: String,
    /// `service`.
    pub service: String,
    /// `subset`.
    pub subset: String,
    /// `portNumber`.
    pub port_number: u32,
}

/// `match.waypoint`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct WaypointMatch {
    /// `portNumber`.
    pub port_number: u32,
    /// `filter`.
    pub filter: Option<FilterMatch>,
    /// `route`; the API has only its name.
    pub route: Option<RouteMatch>,
}

/// Declares an enum of the API with its names.
macro_rules! api_enum {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$vmeta])* $variant),+ }

        impl $name {
            /// Every value, in the order of the API's numbers.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// The name the API uses.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str(self.name())
            }
        }
    };
}

api_enum! {
    /// What a patch is applied to.
    ApplyTo {
        /// Not given.
        Invalid = "INVALID",
        /// A listener.
        Listener = "LISTENER",
        /// A filter chain of a listener.
        FilterChain = "FILTER_CHAIN",
        /// A network filter of a filter chain.
        NetworkFilter = "NETWORK_FILTER",
        /// An HTTP filter of an HTTP connection manager.
        HttpFilter = "HTTP_FILTER",
        /// A route configuration.
        RouteConfiguration = "ROUTE_CONFIGURATION",
        /// A virtual host of a route configuration.
        VirtualHost = "VIRTUAL_HOST",
        /// A route of a virtual host.
        HttpRoute = "HTTP_ROUTE",
        /// A cluster.
        Cluster = "CLUSTER",
        /// An extension configuration sent by ECDS.
        ExtensionConfig = "EXTENSION_CONFIG",
        /// The bootstrap configuration; no supported release applies it.
        Bootstrap = "BOOTSTRAP",
        /// A listener filter of a listener.
        ListenerFilter = "LISTENER_FILTER",
    }
}

api_enum! {
    /// Where in a mesh a patch applies.
    PatchContext {
        /// Sidecars (both directions), gateways.
        Any = "ANY",
        /// Inbound side of a sidecar.
        SidecarInbound = "SIDECAR_INBOUND",
        /// Outbound side of a sidecar.
        SidecarOutbound = "SIDECAR_OUTBOUND",
        /// A gateway.
        Gateway = "GATEWAY",
        /// A waypoint: accepted since 1.29, applied by no release.
        Waypoint = "WAYPOINT",
    }
}

impl PatchContext {
    /// Whether one object may be patched by patches of both contexts.
    pub(crate) fn meets(self, other: PatchContext) -> bool {
        self == other || self == PatchContext::Any || other == PatchContext::Any
    }
}

api_enum! {
    /// What a patch does.
    Operation {
        /// Not given.
        Invalid = "INVALID",
        /// Merges the value into the object.
        Merge = "MERGE",
        /// Adds the value.
        Add = "ADD",
        /// Removes the object.
        Remove = "REMOVE",
        /// Inserts the value before the object.
        InsertBefore = "INSERT_BEFORE",
        /// Inserts the value after the object.
        InsertAfter = "INSERT_AFTER",
        /// Inserts the value as the first of its list.
        InsertFirst = "INSERT_FIRST",
        /// Replaces the object with the value.
        Replace = "REPLACE",
        /// Merges the value, replacing lists instead of appending to them (since 1.31).
        MergeAndReplaceList = "MERGE_AND_REPLACE_LIST",
    }
}

impl Operation {
    /// MERGE or MERGE_AND_REPLACE_LIST.
    pub(crate) const fn is_merge(self) -> bool {
        matches!(self, Operation::Merge | Operation::MergeAndReplaceList)
    }
}

impl ApplyTo {
    /// Full name of the Envoy message that the patch value is read as (istiod `pkg/config/xds`, release 1.31).
    pub const fn message(self) -> Option<&'static str> {
        Some(match self {
            ApplyTo::Invalid => return None,
            ApplyTo::Listener => "envoy.config.listener.v3.Listener",
            ApplyTo::FilterChain => "envoy.config.listener.v3.FilterChain",
            ApplyTo::NetworkFilter => "envoy.config.listener.v3.Filter",
            ApplyTo::ListenerFilter => "envoy.config.listener.v3.ListenerFilter",
            ApplyTo::HttpFilter => "envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter",
            ApplyTo::RouteConfiguration => "envoy.config.route.v3.RouteConfiguration",
            ApplyTo::VirtualHost => "envoy.config.route.v3.VirtualHost",
            ApplyTo::HttpRoute => "envoy.config.route.v3.Route",
            ApplyTo::Cluster => "envoy.config.cluster.v3.Cluster",
            ApplyTo::ExtensionConfig => "envoy.config.core.v3.TypedExtensionConfig",
            ApplyTo::Bootstrap => "envoy.config.bootstrap.v3.Bootstrap",
        })
    }

    /// The key of `match` that selects its objects; `None` if there is no such key.
    pub(crate) const fn matched_by(self) -> Option<&'static str> {
        match self {
            ApplyTo::Listener
            | ApplyTo::FilterChain
            | ApplyTo::NetworkFilter
            | ApplyTo::HttpFilter
            | ApplyTo::ListenerFilter => Some("listener"),
            ApplyTo::RouteConfiguration | ApplyTo::VirtualHost | ApplyTo::HttpRoute => Some("routeConfiguration"),
            ApplyTo::Cluster => Some("cluster"),
            ApplyTo::ExtensionConfig | ApplyTo::Invalid | ApplyTo::Bootstrap => None,
        }
    }
}

impl EnvoyFilter {
    /// `namespace/name`.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }

    /// The place of its name; of the nearest key without one.
    pub(crate) fn name_span(&self) -> Span {
        self.document.under(&["metadata", "name"]).map_or_else(|| self.name_key_span(), |name| name.span)
    }

    /// The place of the key `name`.
    pub(crate) fn name_key_span(&self) -> Span {
        self.document.key_span(&["metadata".into(), "name".into()])
    }

    /// The secrets in the document, searched on first use: neither what is printed nor a finding repeats them.
    pub(crate) fn secrets(&self) -> &Secrets {
        self.secrets.get_or_init(|| {
            let mut secrets = Secrets::default();
            secrets.add_document(&self.document);
            secrets
        })
    }

    /// The first label of `workloadSelector`, by name, that is not among these, with the value it requires.
    pub(crate) fn missing_label(&self, labels: &BTreeMap<String, String>) -> Option<(&String, &String)> {
        self.selector.iter().flatten().find(|(key, want)| labels.get(*key) != Some(want))
    }

    /// The route of keys from the document's root to a config patch.
    pub(crate) fn patch_route(&self, index: usize) -> Vec<Step> {
        vec!["spec".into(), "configPatches".into(), index.into()]
    }

    /// The document's node of a config patch.
    pub fn patch_node(&self, index: usize) -> Option<&Node> {
        self.document.under(&["spec", "configPatches"])?.items().get(index)
    }
}

/// Finds the EnvoyFilter at a place: one text may contain many.
pub(crate) struct Documents(Vec<(Span, usize)>);

impl Documents {
    /// Those of these EnvoyFilters.
    pub(crate) fn of(filters: &[EnvoyFilter]) -> Documents {
        let mut all: Vec<(Span, usize)> =
            filters.iter().enumerate().map(|(index, filter)| (filter.document.span, index)).collect();
        all.sort_unstable();
        Documents(all)
    }

    /// The index of the EnvoyFilter whose document contains a place.
    pub(crate) fn at(&self, span: Span) -> Option<usize> {
        let before = |(document, _): &(Span, usize)| (document.file, document.start) <= (span.file, span.start);
        let last = self.0.partition_point(before).checked_sub(1)?;
        let (document, index) = self.0.get(last)?;
        (document.file == span.file && span.end <= document.end).then_some(*index)
    }
}
