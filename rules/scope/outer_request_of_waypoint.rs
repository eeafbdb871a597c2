//! EF524: an HTTP filter of a waypoint that also sees the CONNECT requests around those of the application.

use crate::declare_rule;
use crate::engine::matching::{CONNECT_TERMINATE, MAIN_INTERNAL};
use crate::engine::trace::Effect;
use crate::lint::context::PatchRun;
use crate::lint::seen::config_type;
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::ApplyTo;
use crate::model::proxy::ProxyKind;
use crate::proto::tree::Tree;
use crate::source::Step;

declare_rule! {
    /// An HTTP filter of a waypoint that also runs on the CONNECT requests of the tunnel.
    ///
    /// # What it finds
    /// An HTTP filter that decides on requests or changes them (authentication, authorization, rate limits, Lua, Wasm)
    /// and is inserted both into `connect_terminate`, the listener of a waypoint that accepts tunnels, and into
    /// `main_internal`, which gets the requests inside. `stream_idle_timeout` and `max_stream_duration` that a MERGE writes into the
    /// connection managers of both.
    ///
    /// # Why it matters
    /// Every connection to a waypoint is a CONNECT request of ztunnel, without the path, the headers and the token of the
    /// requests in it. A filter that refuses it closes the tunnel with all requests; others count or change each request
    /// twice, and a buffer waits for the end of a tunnel that does not end. A time limit for requests ends the tunnel, with all
    /// requests and TCP connections in it.
    ///
    /// # How to fix
    /// `listener: {name: main_internal}`, or the filter chain of one service.
    ///
    /// # References
    /// istiod `pilot/pkg/networking/core/listener_waypoint.go`, releases 1.22 to 1.31; recorded. Limits of tunnels: tested with Envoy
    /// 1.36.4 and 1.40.0.
    "EF524" "outer-request-of-waypoint" Scope Warning => check,
    policy: Never("it needs the listeners of the waypoint")
}

/// Packages below `envoy.extensions.filters.http` that refuse, count or change requests.
const ACTS: &[&str] = &[
    "api_key_auth",
    "basic_auth",
    "bandwidth_limit",
    "buffer",
    "csrf",
    "ext_authz",
    "ext_proc",
    "fault",
    "jwt_authn",
    "local_ratelimit",
    "lua",
    "oauth2",
    "rate_limit_quota",
    "ratelimit",
    "rbac",
    "wasm",
];

/// The listener that accepts tunnels, and that of the requests inside.
const LISTENERS: [&str; 2] = [CONNECT_TERMINATE, MAIN_INTERNAL];

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    limits(rule, cx, out);
    for view in cx.patches().filter(|view| view.patch.apply_to == ApplyTo::HttpFilter) {
        if !view.built.and_then(|built| built.value.as_ref()).is_some_and(acts) {
            continue;
        }
        let twice = |run: &PatchRun<'_, '_>| in_both(run, |effect| matches!(effect, Effect::Inserted { .. }));
        let Some(seen) = cx.seen(&view, twice) else { continue };
        let finding = view
            .finding(
                rule,
                view.value_path_span("name"),
                "this filter also runs on the CONNECT requests of `connect_terminate`, around those of the application",
            )
            .label("inserted into both listeners")
            .note("ztunnel sends a CONNECT request without their path, headers and tokens: what refuses it closes the tunnel")
            .snippet("match:\n  listener:\n    name: main_internal");
        out.push(seen.tell(finding));
    }
}

/// Whether a waypoint has an effect in both listeners.
fn in_both(run: &PatchRun<'_, '_>, is: impl Fn(&Effect) -> bool) -> bool {
    let changed =
        |listener: &str| run.trace.effects.iter().any(|(place, effect)| is(effect) && *place.resource == *listener);
    run.run.config.proxy.kind == ProxyKind::Waypoint && LISTENERS.into_iter().all(changed)
}

/// Limits of a stream, by their paths in a connection manager.
const STREAM_LIMITS: [&[&str]; 2] =
    [&["stream_idle_timeout"], &["common_http_protocol_options", "max_stream_duration"]];

/// Time limits that a MERGE writes into both connection managers.
fn limits(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches().filter(|view| view.patch.apply_to == ApplyTo::NetworkFilter) {
        let Some(config) = view.built.and_then(|built| built.value.as_ref()?.get("typed_config")) else { continue };
        let config = config.readable();
        let limited = |path: &&&[&str]| config.path(path).and_then(Tree::as_str).is_some_and(|limit| limit != "0s");
        let Some(path) = STREAM_LIMITS.iter().find(limited) else { continue };
        let merged = |run: &PatchRun<'_, '_>| in_both(run, |effect| matches!(effect, Effect::Merged(_)));
        let Some(seen) = cx.seen(&view, merged) else { continue };
        let route: Vec<Step> = [&["typed_config"], *path].concat().into_iter().map(Step::from).collect();
        let name = path.last().copied().unwrap_or_default();
        let finding = view
            .finding(
                rule,
                view.value_place(&route),
                format!("`{name}` also applies to the tunnels of `connect_terminate`"),
            )
            .label("merged into both listeners")
            .note("a tunnel is one request for Envoy: the limit ends it with all requests and TCP connections in it")
            .snippet("match:\n  listener:\n    name: main_internal");
        out.push(seen.tell(finding));
    }
}

fn acts(filter: &Tree<'_>) -> bool {
    let kind = config_type(filter);
    let package = kind.strip_prefix("envoy.extensions.filters.http.").and_then(|rest| rest.split('.').next());
    package.is_some_and(|package| ACTS.contains(&package))
}
