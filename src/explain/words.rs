//! Reasons in plain words, each with what to write instead.

use crate::engine::REFERENCED_SERVICES;
use crate::engine::outcome::Hidden;
use crate::engine::program::{Discard, ProxyMiss};
use crate::engine::select::{Selection, TargetMiss};
use crate::engine::trace::NoOp;
use crate::explain::Lenders;
use crate::model::envoy_filter::{ApplyTo, EnvoyFilter, Patch, PatchContext};
use crate::model::proxy::{Proxy, ProxyKind};
use crate::proto::decode::What;
use crate::proto::expected::Expected;
use crate::proto::tree::type_name;

/// A code, a sentence, and a help text.
pub(super) type Words = (&'static str, String, Option<String>);

/// Why the effect of a patch is unknown: it could match something that no config dump contains.
pub(super) fn hidden(hidden: Hidden<'_>, lenders: Lenders) -> Words {
    match hidden {
        Hidden::Clusters(host) => (
            "clusters-not-in-dump",
            format!(
                "{REFERENCED_SERVICES} adds outbound clusters for {host}, which no config dump here contains: whether it \
                 matches one of them is unknown"
            ),
            lenders.advice().map(str::to_owned),
        ),
        Hidden::Routes(name) => (
            "routes-not-in-dump",
            format!(
                "a patched listener requests route configuration {name}, which the config dump does not contain: whether it \
                 matches there is unknown"
            ),
            None,
        ),
    }
}

/// Why a filter does not attach; `None` when it does.
pub(super) fn selection(selection: &Selection, filter: &EnvoyFilter, proxy: &Proxy, root: &str) -> Option<Words> {
    let kind = proxy.kind.as_str();
    Some(match selection {
        Selection::Selected => return None,
        Selection::OtherRevision { want, have } => (
            "other-revision",
            format!("it is labeled for revision {want}; this {kind} is configured by revision {have}"),
            Some("remove the label istio.io/rev, or create a copy for each revision".to_owned()),
        ),
        Selection::OtherNamespace => (
            "other-namespace",
            format!("it is in namespace {}; the {kind} is in {}", filter.namespace, proxy.namespace),
            Some(format!("move it to {}, or to the root namespace {root} to cover all namespaces", proxy.namespace)),
        ),
        Selection::Label { key, want, have } => (
            "label",
            match have {
                Some(have) => format!("workloadSelector requires {key}: {want}; the workload has {key}: {have}"),
                None => format!("workloadSelector requires {key}: {want}; the workload has no label {key}"),
            },
            None,
        ),
        Selection::TargetRefsNeedGateway => {
            let services = filter.target_refs.iter().any(|it| matches!(it.kind.as_str(), "Service" | "ServiceEntry"));
            let (message, help) = if services {
                ("no release of Istio attaches an EnvoyFilter to a Service or ServiceEntry", crate::words::NO_TARGET_SERVICE)
            } else {
                (
                    "targetRefs attach only to Gateway API gateways and waypoints; this is neither",
                    "use workloadSelector.labels instead of targetRefs",
                )
            };
            ("target-refs", message.to_owned(), Some(help.to_owned()))
        }
        Selection::WaypointNeedsTargetRefs => (
            "waypoint-needs-target-refs",
            "a waypoint accepts only EnvoyFilters with targetRefs".to_owned(),
            Some(match proxy.gateway_name() {
                Some(name) => format!(
                    "write targetRefs: [{{group: gateway.networking.k8s.io, kind: Gateway, name: {name}}}] in namespace {}",
                    proxy.namespace
                ),
                None => "write targetRefs with kind Gateway and the waypoint's name".to_owned(),
            }),
        ),
        Selection::GatewayNeedsTargetRefs => (
            "gateway-needs-target-refs",
            "istiod accepts only EnvoyFilters with targetRefs for Gateway API gateways (ENABLE_SELECTOR_BASED_K8S_GATEWAY_POLICY=false)"
                .to_owned(),
            Some("write targetRefs with kind Gateway and the gateway's name".to_owned()),
        ),
        Selection::NoTargetRef(misses) => {
            let words: Vec<String> = misses
                .iter()
                .zip(&filter.target_refs)
                .map(|(miss, target)| format!("{} {}: {}", target.kind, target.name, target_miss(*miss, proxy)))
                .collect();
            ("target-refs", format!("no targetRef matches: {}", words.join("; ")), None)
        }
        Selection::Unreadable(why) => (
            "unknown-to-release",
            format!("istiod of this release cannot read the EnvoyFilter: {why}"),
            Some(
                "delete it: where a newer CustomResourceDefinition accepts it, this istiod reads no EnvoyFilter while it \
                 exists, and keeps what it read before"
                    .to_owned(),
            ),
        ),
    })
}

fn target_miss(miss: TargetMiss, proxy: &Proxy) -> String {
    match miss {
        TargetMiss::ServiceNeverAttaches => "Service and ServiceEntry do not attach in any release".to_owned(),
        TargetMiss::OtherKind => "only kind Gateway in group gateway.networking.k8s.io attaches".to_owned(),
        TargetMiss::OtherGateway => format!("this gateway is {}", proxy.gateway_name().unwrap_or("another one")),
        TargetMiss::OtherNamespace => format!("the EnvoyFilter must be in the gateway's namespace {}", proxy.namespace),
        TargetMiss::ReferenceToOtherNamespace => format!("its namespace is not {}", proxy.namespace),
        TargetMiss::GatewayClassNotYet => "a GatewayClass does not attach before Istio 1.27.4".to_owned(),
        TargetMiss::GatewayClass => {
            "GatewayClass works only from the root namespace, for waypoints, with the name istio-waypoint".to_owned()
        }
    }
}

/// Why a patch of an attached filter does not apply to a proxy.
pub(super) fn proxy_miss(miss: &ProxyMiss, patch: &Patch) -> Words {
    match miss {
        ProxyMiss::Version(have) => {
            let want = patch.proxy.as_ref().map(|proxy| proxy.version.as_str()).unwrap_or_default();
            let message = if have.is_empty() {
                format!("proxyVersion is `{want}`; the proxy does not report its version")
            } else {
                format!("proxyVersion is `{want}`; the proxy is {have}")
            };
            ("proxy-version", message, None)
        }
        ProxyMiss::VersionTooLong => (
            "proxy-version-too-long",
            "proxyVersion is longer than 1024 bytes, which matches no proxy since Istio 1.31".to_owned(),
            Some("write a shorter expression".to_owned()),
        ),
        ProxyMiss::Metadata { key, want, have } => (
            "proxy-metadata",
            match have {
                Some(have) => format!("match.proxy.metadata requires {key}: {want}; the proxy has {have}"),
                None => format!("match.proxy.metadata requires {key}: {want}; the proxy has no {key}"),
            },
            None,
        ),
    }
}

/// Why a patch that could run has no effect.
pub(super) fn no_op(reason: NoOp, patch: &Patch, proxy: &Proxy) -> Words {
    let operation = patch.body.as_ref().map_or("no operation", |body| body.operation.name());
    let apply_to = patch.apply_to.name();
    let (code, message, help): (_, String, Option<&str>) = match reason {
        NoOp::OperationIgnored => {
            ("operation-ignored", format!("istiod ignores {operation} on {apply_to}"), Some(operations(patch.apply_to)))
        }
        NoOp::ReplaceListOnFilters => (
            "replace-list-on-filters",
            format!("MERGE_AND_REPLACE_LIST has no effect on {apply_to}, not even that of MERGE"),
            Some("use MERGE, or REPLACE with the whole filter"),
        ),
        NoOp::ListenerFilterMergeBefore127 => (
            "listener-filter-merge",
            "LISTENER_FILTER MERGE has no effect before Istio 1.27".to_owned(),
            Some("use REPLACE with the whole filter"),
        ),
        NoOp::NeedsFilterMatch => (
            "needs-filter-match",
            format!("{operation} has no effect without a match that names the filter"),
            Some(match patch.apply_to {
                ApplyTo::HttpFilter => "add match.listener.filterChain.filter.subFilter.name",
                ApplyTo::ListenerFilter => "add match.listener.listenerFilter",
                _ => "add match.listener.filterChain.filter.name",
            }),
        ),
        NoOp::Bootstrap => (
            "bootstrap",
            "no supported release applies BOOTSTRAP patches".to_owned(),
            Some("use the bootstrap annotations of the proxy (proxy.istio.io/config, sidecar.istio.io/bootstrapOverride)"),
        ),
        NoOp::WaypointContext => (
            "waypoint-context",
            "context WAYPOINT is accepted, but no release applies it".to_owned(),
            Some("on waypoints use SIDECAR_INBOUND, SIDECAR_OUTBOUND or ANY"),
        ),
        NoOp::ContextOfOtherProxies => (
            "context-of-other-proxies",
            match patch.context {
                PatchContext::Gateway => format!("context GATEWAY applies to gateways; this is a {}", proxy.kind.as_str()),
                other => format!("context {} applies to sidecars; this is a {}", other.name(), proxy.kind.as_str()),
            },
            Some(match proxy.kind {
                ProxyKind::Gateway => "use context: GATEWAY to patch this gateway",
                _ => "use context: SIDECAR_INBOUND or SIDECAR_OUTBOUND to patch this proxy",
            }),
        ),
        NoOp::NoApplyTo => ("no-apply-to", "applyTo is missing".to_owned(), Some("set applyTo")),
        NoOp::TargetUntyped => (
            "target-untyped",
            "the filter has no typed_config to merge into (its configuration comes from discovery)".to_owned(),
            Some("patch applyTo EXTENSION_CONFIG, or REPLACE the filter"),
        ),
        NoOp::TypeUnknown => (
            "type-unknown",
            "istiod does not know the type of the filter or of the value and merges nothing".to_owned(),
            Some("use REPLACE with the whole filter"),
        ),
        NoOp::TransportSocketNotFound => (
            "transport-socket-not-found",
            "the cluster has transport_socket_matches, none of which has a socket with this name; the whole patch is dropped"
                .to_owned(),
            Some("use the name of the inner socket, envoy.transport_sockets.tls, not tlsMode-istio"),
        ),
        NoOp::TransportSocketUntyped => (
            "transport-socket-untyped",
            "the transport sockets have the same name, but only one has a typed_config".to_owned(),
            Some("give the transport socket of the patch a typed_config"),
        ),
        NoOp::AddNotForContext => (
            "add-not-for-context",
            format!("istiod does not apply ADD here in context {}", patch.context.name()),
            Some("name the context: SIDECAR_INBOUND, SIDECAR_OUTBOUND or GATEWAY"),
        ),
        NoOp::ExtensionNotAsked => (
            "extension-not-asked",
            "no filter of the proxy requests an extension configuration with this name".to_owned(),
            Some("also insert a filter with config_discovery and this name"),
        ),
        NoOp::NothingChanged => (
            "nothing-changed",
            "everything it sets already has that value, or a merge cannot reset it".to_owned(),
            None,
        ),
        NoOp::DuplicateName => (
            "duplicate-name",
            "a cluster with this name already exists, and istiod keeps the first".to_owned(),
            Some("use another name for the cluster, or MERGE into the existing one"),
        ),
        NoOp::AddedEmpty => (
            "added-empty",
            "istiod drops an added listener without a name, or a filter chain without filters".to_owned(),
            Some("give it a name and filters"),
        ),
        NoOp::NoHttpConnectionManager => (
            "no-http-connection-manager",
            "the HTTP connection manager has no typed_config to look into".to_owned(),
            None,
        ),
    };
    (code, message, help.map(str::to_owned))
}

fn operations(apply_to: ApplyTo) -> &'static str {
    match apply_to {
        ApplyTo::Listener | ApplyTo::FilterChain | ApplyTo::Cluster => {
            "use ADD, REMOVE, MERGE or MERGE_AND_REPLACE_LIST"
        }
        ApplyTo::RouteConfiguration => "use MERGE or MERGE_AND_REPLACE_LIST",
        ApplyTo::HttpRoute => "use REMOVE and ADD, or MERGE",
        ApplyTo::ExtensionConfig => "use ADD",
        _ => "name an operation",
    }
}

/// Why istiod dropped a patch.
pub(super) fn discard(reason: Discard, patch: &Patch) -> Words {
    match reason {
        Discard::NoPatch => (
            "no-patch",
            "`patch` is missing, so istiod drops it".to_owned(),
            Some("write patch.operation and patch.value".to_owned()),
        ),
        Discard::ValueRefused => (
            "value-refused",
            format!(
                "the value is not a valid {}, so istiod drops this patch and logs it",
                patch.apply_to.message().unwrap_or("message").rsplit('.').next().unwrap_or_default()
            ),
            None,
        ),
        Discard::NoApplyTo => (
            "no-apply-to",
            "applyTo is missing, so the value has no type, and istiod drops the patch".to_owned(),
            Some("set applyTo".to_owned()),
        ),
    }
}

/// The last part of a message's name.
fn short(name: &str) -> &str {
    type_name(name).rsplit('.').next().unwrap_or(name)
}

/// The message and help for a notice of the decoder.
pub(super) fn notice(what: &What, message: &str, key: &str) -> String {
    let short = short(message);
    match what {
        What::UnknownField => format!("{short} has no field `{key}`; istiod silently drops it"),
        What::WrongType { expected: Expected::QuotedText } => format!("`{key}` must be a string: put it in quotes"),
        What::WrongType { expected } => format!("`{key}` must be {expected}"),
        What::UnknownEnumValue { enumeration } => {
            format!("`{key}`: not a value of {}", enumeration.rsplit('.').next().unwrap_or(enumeration))
        }
        What::BadDuration => format!("`{key}` is not a duration; write 2s, 500ms or 1m30s"),
        What::MissingType => format!("`{key}` has no \"@type\""),
        What::UnknownType { url } => format!("this istiod does not know the type {}", type_name(url)),
        What::MissingValue => format!("`{key}`: this type requires `value` next to \"@type\""),
        What::OneofTwice { lost, kept } => format!("only one of `{lost}` and `{kept}` can be set; `{lost}` is lost"),
        What::NameTwice => format!("`{key}` is given under both its proto and its JSON name; the JSON name wins"),
        What::DefaultDropped => format!("`{key}` is at its default, which a merge cannot distinguish from absent"),
    }
}
