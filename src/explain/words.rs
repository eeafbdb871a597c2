//! Reasons in plain words, each with what to write instead.

use crate::engine::program::{Discard, ProxyMiss};
use crate::engine::select::{Selection, TargetMiss};
use crate::engine::trace::{NoOp, Panic};
use crate::model::envoy_filter::{ApplyTo, EnvoyFilter, Patch, PatchContext};
use crate::model::proxy::{Proxy, ProxyKind};
use crate::proto::decode::What;
use crate::proto::tree::type_name;

/// A code, a sentence, and what to do.
pub(super) type Words = (&'static str, String, Option<String>);

/// Why a filter does not attach; `None` when it does.
pub(super) fn selection(selection: &Selection, filter: &EnvoyFilter, proxy: &Proxy, root: &str) -> Option<Words> {
    let kind = proxy.kind.word();
    Some(match selection {
        Selection::Selected => return None,
        Selection::OtherRevision { want, have } => (
            "other-revision",
            format!("it is labelled for the control plane of revision {want}, this {kind} gets its configuration from {have}"),
            Some("remove the label istio.io/rev, or write a copy for each revision".to_owned()),
        ),
        Selection::OtherNamespace => (
            "other-namespace",
            format!("it is in namespace {}, the {kind} in {}", filter.namespace, proxy.namespace),
            Some(format!("put it in {}, or in the root namespace {root} for every namespace", proxy.namespace)),
        ),
        Selection::Label { key, want, have } => (
            "label",
            match have {
                Some(have) => format!("workloadSelector wants {key}: {want}, the workload has {key}: {have}"),
                None => format!("workloadSelector wants {key}: {want}, the workload has no label {key}"),
            },
            None,
        ),
        Selection::TargetRefsNeedGateway => {
            let services = filter.target_refs.iter().any(|it| matches!(it.kind.as_str(), "Service" | "ServiceEntry"));
            let message = if services {
                "targetRefs to a Service or ServiceEntry attach to no proxy in any release"
            } else {
                "targetRefs attach to Gateway API gateways and waypoints only, and this is neither"
            };
            ("target-refs", message.to_owned(), Some("write workloadSelector.labels instead of targetRefs".to_owned()))
        }
        Selection::WaypointNeedsTargetRefs => (
            "waypoint-needs-target-refs",
            "a waypoint takes only filters with targetRefs".to_owned(),
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
            "istiod takes only filters with targetRefs for Gateway API gateways (ENABLE_SELECTOR_BASED_K8S_GATEWAY_POLICY=false)"
                .to_owned(),
            Some("write targetRefs with kind Gateway and the gateway's name".to_owned()),
        ),
        Selection::NoTargetRef(misses) => {
            let words: Vec<String> = misses
                .iter()
                .zip(&filter.target_refs)
                .map(|(miss, target)| format!("{} {}: {}", target.kind, target.name, target_miss(*miss, proxy)))
                .collect();
            ("target-refs", format!("no targetRef fits: {}", words.join("; ")), None)
        }
        Selection::Unreadable(why) => (
            "unknown-to-release",
            format!("the API server of this release refuses the whole filter: {why}"),
            None,
        ),
    })
}

fn target_miss(miss: TargetMiss, proxy: &Proxy) -> String {
    match miss {
        TargetMiss::ServiceNeverAttaches => "Service and ServiceEntry attach in no release".to_owned(),
        TargetMiss::OtherKind => "only kind Gateway of group gateway.networking.k8s.io attaches".to_owned(),
        TargetMiss::OtherGateway => format!("this gateway is {}", proxy.gateway_name().unwrap_or("another one")),
        TargetMiss::OtherNamespace => format!("the filter must be in the gateway's namespace {}", proxy.namespace),
        TargetMiss::ReferenceToOtherNamespace => format!("its namespace is not {}", proxy.namespace),
        TargetMiss::GatewayClassNotYet => "a GatewayClass attaches nothing before Istio 1.27.4".to_owned(),
        TargetMiss::GatewayClass => {
            "GatewayClass works only from the root namespace, for waypoints, with the name istio-waypoint".to_owned()
        }
    }
}

/// Why a patch of an attached filter is not for a proxy.
pub(super) fn proxy_miss(miss: &ProxyMiss, patch: &Patch) -> Words {
    match miss {
        ProxyMiss::Version(have) => {
            let want = patch.proxy.as_ref().map(|proxy| proxy.version.as_str()).unwrap_or_default();
            let message = if have.is_empty() {
                format!("proxyVersion is `{want}`, and the proxy does not tell its version")
            } else {
                format!("proxyVersion is `{want}`, the proxy is {have}")
            };
            ("proxy-version", message, None)
        }
        ProxyMiss::VersionTooLong => (
            "proxy-version-too-long",
            "proxyVersion is over 1024 bytes, which matches no proxy from Istio 1.31 on".to_owned(),
            Some("write a shorter expression".to_owned()),
        ),
        ProxyMiss::Metadata { key, want, have } => (
            "proxy-metadata",
            match have {
                Some(have) => format!("match.proxy.metadata wants {key}: {want}, the proxy has {have}"),
                None => format!("match.proxy.metadata wants {key}: {want}, the proxy has no {key}"),
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
            ("operation-ignored", format!("istiod does nothing for {operation} on {apply_to}"), Some(operations(patch.apply_to)))
        }
        NoOp::ReplaceListOnFilters => (
            "replace-list-on-filters",
            format!("MERGE_AND_REPLACE_LIST does nothing on {apply_to}, not even what MERGE does"),
            Some("use MERGE, or REPLACE with the whole filter"),
        ),
        NoOp::ListenerFilterMergeBefore127 => (
            "listener-filter-merge",
            "LISTENER_FILTER MERGE does nothing before Istio 1.27".to_owned(),
            Some("use REPLACE with the whole filter"),
        ),
        NoOp::NeedsFilterMatch => (
            "needs-filter-match",
            format!("{operation} does nothing without a match that says which filter is meant"),
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
            "context WAYPOINT is accepted and applied by no release".to_owned(),
            Some("on waypoints use SIDECAR_INBOUND, SIDECAR_OUTBOUND or ANY"),
        ),
        NoOp::ContextOfOtherProxies => (
            "context-of-other-proxies",
            match patch.context {
                PatchContext::Gateway => format!("context GATEWAY is for gateways, and this is a {}", proxy.kind.word()),
                other => format!("context {} is for sidecars, and this is a {}", other.name(), proxy.kind.word()),
            },
            Some(match proxy.kind {
                ProxyKind::Gateway => "write context: GATEWAY if this gateway is meant",
                _ => "write context: SIDECAR_INBOUND or SIDECAR_OUTBOUND if this proxy is meant",
            }),
        ),
        NoOp::NoApplyTo => ("no-apply-to", "applyTo is missing".to_owned(), Some("say what the patch applies to")),
        NoOp::TargetUntyped => (
            "target-untyped",
            "the filter has no typed_config to merge into (it gets its configuration by discovery)".to_owned(),
            Some("patch applyTo EXTENSION_CONFIG, or REPLACE the filter"),
        ),
        NoOp::TypeUnknown => (
            "type-unknown",
            "istiod does not know the type of the filter or of the value, so it merges nothing".to_owned(),
            Some("use REPLACE with the whole filter"),
        ),
        NoOp::TransportSocketNotFound => (
            "transport-socket-not-found",
            "the cluster has transport_socket_matches, and no socket in them has the name given: all of the patch is dropped"
                .to_owned(),
            Some("name the inner socket, envoy.transport_sockets.tls, not tlsMode-istio"),
        ),
        NoOp::TransportSocketUntyped => (
            "transport-socket-untyped",
            "the transport socket has the same name, but only one of the two has a typed_config".to_owned(),
            Some("give the transport socket of the patch a typed_config"),
        ),
        NoOp::AddNotForContext => (
            "add-not-for-context",
            format!("istiod does not add here for context {}", patch.context.name()),
            Some("name the context: SIDECAR_INBOUND, SIDECAR_OUTBOUND or GATEWAY"),
        ),
        NoOp::ExtensionNotAsked => (
            "extension-not-asked",
            "no filter of the proxy asks for an extension configuration of this name".to_owned(),
            Some("also insert a filter with config_discovery and this name"),
        ),
        NoOp::NothingChanged => (
            "nothing-changed",
            "everything it sets is there already, or cannot be reset by a merge".to_owned(),
            None,
        ),
        NoOp::DuplicateName => (
            "duplicate-name",
            "a cluster of this name is there already, and the first one stays".to_owned(),
            Some("give the cluster another name, or MERGE into the one that is there"),
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

/// Why istiod threw a patch away.
pub(super) fn discard(reason: Discard, patch: &Patch) -> Words {
    match reason {
        Discard::NoPatch => (
            "no-patch",
            "there is no `patch`, so istiod drops it".to_owned(),
            Some("write patch.operation and patch.value".to_owned()),
        ),
        Discard::ValueRefused => (
            "value-refused",
            format!(
                "the value is no {}, so istiod drops this patch and logs it",
                patch.apply_to.message().unwrap_or("message").rsplit('.').next().unwrap_or_default()
            ),
            None,
        ),
        Discard::NoApplyTo => (
            "no-apply-to",
            "applyTo is missing, so the value has no type and istiod drops the patch".to_owned(),
            Some("say what the patch applies to".to_owned()),
        ),
    }
}

/// Why istiod panics.
pub(super) fn panic(panic: &Panic) -> String {
    match panic {
        Panic::MissingValue => "the patch has no value where one is needed".to_owned(),
        Panic::TypeMismatch { target, patch } => {
            format!("it merges {} into {}", short(patch), short(target))
        }
    }
}

/// The last part of a message's name.
fn short(name: &str) -> &str {
    type_name(name).rsplit('.').next().unwrap_or(name)
}

/// What the decoder noticed: the sentence and the help.
pub(super) fn notice(what: &What, message: &str, key: &str) -> String {
    let short = short(message);
    match what {
        What::UnknownField => format!("{short} has no field `{key}`: istiod drops it without a word"),
        What::WrongType { expected } => format!("`{key}` must be {expected}"),
        What::UnknownEnumValue { enumeration } => {
            format!("`{key}`: no such value of {}", enumeration.rsplit('.').next().unwrap_or(enumeration))
        }
        What::BadDuration => format!("`{key}` is no duration: write 2s, 500ms or 1m30s"),
        What::MissingType => format!("`{key}` has no \"@type\""),
        What::UnknownType { url } => format!("this istiod knows no type {}", type_name(url)),
        What::MissingValue => format!("`{key}`: a type like this one needs `value` beside \"@type\""),
        What::OneofTwice { lost, kept } => format!("only one of `{lost}` and `{kept}` can be set: `{lost}` is lost"),
        What::NameTwice => format!("`{key}` is given twice, under its proto and its JSON name: the JSON name wins"),
        What::DefaultDropped => format!("`{key}` is at its default, which a merge cannot tell from absent"),
    }
}
