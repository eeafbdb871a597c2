//! EF153: a setting that its own switch turns off.

use crate::declare_rule;
use crate::lint::value::switch::{never, none, off};
use crate::lint::value::{Member, Object, PatchValue};
use crate::lint::walk::{self, get};
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::{Node, NodeValue, Severity, Step};
use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};

declare_rule! {
    /// A filter or setting that its own switch turns off.
    ///
    /// # What it finds
    /// A fraction of 0 % or a flag that is `false`, without a runtime key that could raise it, in: `ext_authz`, `csrf`,
    /// `cors` and global rate limit filters, admission control, adaptive concurrency, compressors, connection and bandwidth
    /// limits, network rate limits, mirrors, and matches of routes. And a fault without `percentage` or a bandwidth
    /// limit without `enable_mode`, which default to 0 % and `DISABLED`. An `ext_proc` filter that skips headers, bodies and
    /// trailers of both directions, an RBAC filter that has no rules or denies by none, and an HTTP filter with
    /// `disabled: true`, unless a given patch configures routes for them. A fault filter with `max_active_faults: 0`, outlier detection with
    /// `consecutive_5xx` and `enforcing_consecutive_5xx: 0`.
    /// For information, a `runtime_filter` of an access log without `percent_sampled`.
    ///
    /// # Why it matters
    /// Envoy accepts it, and nothing shows that it does nothing: an authorization service that is never called allows
    /// every request.
    ///
    /// # How to fix
    /// Remove the switch, whose absence means always, or set it to 100 % or `true`; for a fault add `percentage`. A
    /// `runtime_key` makes it a switch that can be turned on.
    ///
    /// # References
    /// Envoy `RuntimeFractionalPercent`, `RuntimeFeatureFlag` and the protos of the filters; Envoy 1.39.3, run.
    "EF153" "switched-off" Value Warning => check,
    explains: &["EF137", "EF138"]
}

/// How a switch is written, and whether its absence means off.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `RuntimeFractionalPercent`; absent means always.
    Fraction,
    /// `RuntimeFeatureFlag`; absent means on.
    Flag,
    /// `FractionalPercent`; absent means never.
    Percent,
    /// The mode of a bandwidth limit; absent means `DISABLED`.
    Mode,
}

/// A switch of a message.
struct Switch {
    message: &'static str,
    field: &'static str,
    kind: Kind,
    /// What does not happen.
    effect: &'static str,
    /// A field with which the switch means something else.
    unless: &'static str,
}

macro_rules! switches {
    ($($message:literal $field:literal $kind:ident, $effect:literal, $unless:literal;)+) => {
        &[$(Switch { message: $message, field: $field, kind: Kind::$kind, effect: $effect, unless: $unless }),+]
    };
}

const SWITCHES: &[Switch] = switches! {
    "envoy.extensions.filters.http.ext_authz.v3.ExtAuthz" "filter_enabled" Fraction,
        "this filter authorizes no request: all of them pass", "deny_at_disable";
    "envoy.extensions.filters.http.csrf.v3.CsrfPolicy" "filter_enabled" Fraction,
        "this filter checks no request: all of them pass", "shadow_enabled";
    "envoy.extensions.filters.http.cors.v3.CorsPolicy" "filter_enabled" Fraction,
        "this policy applies to no request", "shadow_enabled";
    "envoy.config.route.v3.CorsPolicy" "filter_enabled" Fraction, "this policy applies to no request", "shadow_enabled";
    "envoy.extensions.filters.http.ratelimit.v3.RateLimit" "filter_enabled" Fraction,
        "this rate limit never calls its service", "";
    "envoy.extensions.filters.http.ratelimit.v3.RateLimit" "filter_enforced" Fraction, "this rate limit only counts", "";
    "envoy.extensions.filters.http.admission_control.v3.AdmissionControl" "enabled" Flag,
        "this filter rejects no request", "";
    "envoy.extensions.filters.http.adaptive_concurrency.v3.AdaptiveConcurrency" "enabled" Flag,
        "this filter limits nothing", "";
    "envoy.extensions.filters.http.compressor.v3.Compressor.CommonDirectionConfig" "enabled" Flag,
        "nothing is compressed in this direction", "";
    "envoy.extensions.filters.http.bandwidth_limit.v3.BandwidthLimit" "runtime_enabled" Flag, "this filter limits nothing", "";
    "envoy.extensions.filters.http.bandwidth_limit.v3.BandwidthLimit" "enable_mode" Mode, "this filter limits nothing", "";
    "envoy.extensions.filters.network.connection_limit.v3.ConnectionLimit" "runtime_enabled" Flag,
        "this filter limits nothing", "";
    "envoy.extensions.filters.network.local_ratelimit.v3.LocalRateLimit" "runtime_enabled" Flag,
        "this rate limit limits nothing", "";
    "envoy.extensions.filters.listener.local_ratelimit.v3.LocalRateLimit" "runtime_enabled" Flag,
        "this rate limit limits nothing", "";
    "envoy.config.route.v3.RouteAction.RequestMirrorPolicy" "runtime_fraction" Fraction, "no request is mirrored", "";
    "envoy.config.route.v3.RouteMatch" "runtime_fraction" Fraction, "no request takes this route", "";
    "envoy.extensions.filters.http.fault.v3.FaultAbort" "percentage" Percent, "this fault aborts no request", "";
    "envoy.extensions.filters.common.fault.v3.FaultDelay" "percentage" Percent, "this fault delays no request", "";
    "envoy.extensions.filters.common.fault.v3.FaultRateLimit" "percentage" Percent, "this fault limits no response", "";
};

/// Runtime keys of a fault filter beside its percentages.
const FAULT_KEYS: [&str; 3] = ["abort_percent_runtime", "delay_percent_runtime", "response_rate_limit_percent_runtime"];

/// What a filter without effect does not do, what changes that, and how sure it is that nobody wants this.
type Idle = (&'static str, &'static str, Severity);

type Find = fn(&Object<'_>) -> Option<Idle>;

/// Filters that may do nothing as they are, with the message that changes that for a route.
const IDLE: [(&str, Find, &str); 4] = [
    ("envoy.extensions.filters.http.fault.v3.HTTPFault", without_faults, "fault.v3.HTTPFault"),
    ("envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter", disabled, "route.v3.FilterConfig"),
    ("envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor", skips_all, "ext_proc.v3.ExtProcPerRoute"),
    ("envoy.extensions.filters.http.rbac.v3.RBAC", without_rules, "rbac.v3.RBACPerRoute"),
];

/// An `ext_proc` filter that sends nothing to its service.
fn skips_all(filter: &Object<'_>) -> Option<Idle> {
    let mode = &filter.member("processing_mode")?.entry.value;
    let is = |field: &str| get(mode, field).and_then(Node::as_str);
    let headers = ["request_header_mode", "response_header_mode"].iter().all(|field| is(field) == Some("SKIP"));
    let bodies =
        ["request_body_mode", "response_body_mode"].iter().all(|field| matches!(is(field), None | Some("NONE")));
    let trailers = ["request_trailer_mode", "response_trailer_mode"];
    let idle = headers && bodies && trailers.iter().all(|field| is(field) != Some("SEND"));
    let help = "processing_mode:\n  request_header_mode: SEND";
    idle.then_some(("this filter sends nothing to its service", help, Severity::Warning))
}

/// An RBAC filter that allows every request.
fn without_rules(filter: &Object<'_>) -> Option<Idle> {
    let other = ["matcher", "shadow_rules", "shadow_matcher"].iter().any(|field| filter.member(field).is_some());
    let Some(rules) = filter.member("rules").map(|member| &member.entry.value) else {
        return (!other).then_some((
            "this filter checks no request: it has no `rules`",
            "rules:\n  action: ALLOW\n  policies: {…}",
            Severity::Warning,
        ));
    };
    let none = get(rules, "policies").is_none_or(|policies| policies.entries().is_empty());
    let denies = get(rules, "action").and_then(Node::as_str) == Some("DENY");
    (none && denies && !other).then_some((
        "this filter denies no request: it has no `policies`",
        "policies:\n  <name>:\n    permissions: […]\n    principals: […]",
        Severity::Warning,
    ))
}

/// A fault filter that allows no fault at a time.
fn without_faults(filter: &Object<'_>) -> Option<Idle> {
    let most = &filter.member("max_active_faults")?.entry.value.value;
    let none = matches!(most, NodeValue::Number(text) if text == "0");
    let message = "this filter injects no fault: `max_active_faults` is 0";
    none.then_some((message, "remove `max_active_faults`", Severity::Warning))
}

/// An HTTP filter that only routes can enable.
fn disabled(filter: &Object<'_>) -> Option<Idle> {
    let disabled = &filter.member("disabled")?.entry.value.value;
    matches!(disabled, NodeValue::Bool(true)).then_some((
        "this filter is disabled, and no given patch enables it for a route",
        "remove `disabled`, or enable it where it is needed with applyTo: HTTP_ROUTE or VIRTUAL_HOST:\ntyped_per_filter_config:\n  <name of the filter>:\n    \"@type\": type.googleapis.com/envoy.config.route.v3.FilterConfig\n    config: {}",
        // Another filter, or an operator, may enable it.
        Severity::Info,
    ))
}

/// A sample of 0 % of an access log or local reply; its runtime key may exist in the runtime of a proxy.
fn sampled(rule: &'static RuleInfo, value: &PatchValue<'_>, out: &mut Findings) {
    for object in value.objects.iter().filter(|it| it.full_name() == "envoy.config.accesslog.v3.RuntimeFilter") {
        let percent = object.member("percent_sampled");
        if percent.is_some_and(|member| !none(&member.entry.value)) {
            continue;
        }
        let key = object.text("runtime_key").unwrap_or_default();
        out.push(
            value
                .finding(
                    rule,
                    span(object, percent),
                    format!("nothing matches unless the runtime of the proxy sets `{key}`"),
                )
                .severity(Severity::Info)
                .label(if percent.is_some() { "0 %" } else { "`percent_sampled` is missing, which means 0 %" })
                .snippet("percent_sampled:\n  numerator: 100\n  denominator: HUNDRED"),
        );
    }
}

/// A number of errors after which no endpoint is ejected.
fn outliers(rule: &'static RuleInfo, value: &PatchValue<'_>, out: &mut Findings) {
    for object in value.objects.iter().filter(|it| it.full_name() == "envoy.config.cluster.v3.OutlierDetection") {
        let Some(enforced) = object.member("enforcing_consecutive_5xx") else { continue };
        let zero = matches!(&enforced.entry.value.value, NodeValue::Number(text) if text == "0");
        if zero && object.member("consecutive_5xx").is_some() {
            out.push(
                value
                    .finding(
                        rule,
                        enforced.entry.key_span,
                        "`consecutive_5xx` ejects nothing: `enforcing_consecutive_5xx` is 0 %",
                    )
                    .label("turned off")
                    .help("remove `enforcing_consecutive_5xx`, which defaults to 100"),
            );
        }
    }
}

/// The name of the filter that these settings of a route are for.
fn set_for<'o>(settings: &'o Object<'_>) -> Option<&'o str> {
    settings.route.windows(2).find_map(|pair| match pair {
        [Step::Key(key), Step::Key(name)] if walk::same(key, "typed_per_filter_config") => Some(&**name),
        _ => None,
    })
}

/// Filters that do nothing because of all that they do not do.
fn idle(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let all = || cx.values().iter().flat_map(|value| &value.objects);
    // Settings of a route enable a disabled filter there, whatever their type.
    let enabled = LazyCell::new(|| all().filter_map(set_for).collect::<HashSet<&str>>());
    let is_enabled = |filter: &Object<'_>| {
        filter.member("disabled").and(filter.text("name")).is_some_and(|name| enabled.contains(name))
    };
    let mut configured: HashMap<&str, usize> = HashMap::new();
    for value in cx.values() {
        for object in value.objects.iter().filter(|object| object.whole && !object.is_off) {
            let Some((_, find, routes)) = IDLE.iter().find(|(message, ..)| *message == object.full_name()) else {
                continue;
            };
            let Some((message, help, severity)) = find(object) else { continue };
            let settings = || all().filter(|it| it.full_name().ends_with(routes)).count();
            // A fault filter and its settings for routes have one type.
            let own = usize::from(object.full_name().ends_with(routes));
            if is_enabled(object) {
                continue;
            }
            if *configured.entry(*routes).or_insert_with(settings) == own {
                let fields = ["processing_mode", "rules", "max_active_faults", "disabled"];
                let member = fields.iter().find_map(|field| object.member(field));
                let finding = value.finding(rule, span(object, member), message).severity(severity);
                out.push(finding.label("without effect").snippet(help));
            }
        }
    }
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    idle(rule, cx, out);
    for value in cx.values() {
        outliers(rule, value, out);
        sampled(rule, value, out);
        for object in value.objects.iter().filter(|object| object.whole && !object.is_off) {
            for switch in SWITCHES.iter().filter(|switch| switch.message == object.full_name()) {
                let written = object.member(switch.field);
                let is_off = match (switch.kind, written) {
                    (Kind::Fraction, Some(member)) => never(&member.entry.value),
                    (Kind::Flag, Some(member)) => off(&member.entry.value),
                    (Kind::Percent, Some(member)) => none(&member.entry.value),
                    (Kind::Percent, None) => true,
                    (Kind::Mode, None) => object.member("limit_kbps").is_some(),
                    (Kind::Mode, Some(member)) => member.entry.value.as_str() == Some("DISABLED"),
                    (Kind::Fraction | Kind::Flag, None) => false,
                };
                let parent = object.parent.and_then(|(at, _)| value.objects.get(at));
                let by_key = |parent: &Object<'_>| FAULT_KEYS.iter().any(|key| parent.member(key).is_some());
                if !is_off || object.member(switch.unless).is_some() || parent.is_some_and(by_key) {
                    continue;
                }
                out.push(
                    value
                        .finding(rule, span(object, written), message(switch, written.is_some()))
                        .label("turned off")
                        .snippet(help(switch, written.is_some())),
                );
            }
        }
    }
}

fn span(object: &Object<'_>, written: Option<&Member<'_>>) -> crate::source::Span {
    written.map_or(object.span, |member| member.entry.key_span)
}

fn message(switch: &Switch, written: bool) -> String {
    let Switch { effect, field, kind, .. } = switch;
    match (kind, written) {
        (Kind::Mode, true) => format!("{effect}: `{field}` is DISABLED"),
        (Kind::Mode, false) => format!("{effect}: `{field}` is missing, which means DISABLED"),
        (Kind::Flag, _) => format!("{effect}: `{field}` is false"),
        (_, true) => format!("{effect}: `{field}` is 0 %"),
        (_, false) => format!("{effect}: `{field}` is missing, which means 0 %"),
    }
}

fn help(switch: &Switch, written: bool) -> String {
    let field = switch.field;
    match switch.kind {
        Kind::Percent if written => "numerator: 100".to_owned(),
        Kind::Percent => format!("{field}:\n  numerator: 100\n  denominator: HUNDRED"),
        Kind::Mode => format!("{field}: REQUEST_AND_RESPONSE"),
        // The API requires it there.
        Kind::Fraction if switch.message.ends_with(".CsrfPolicy") => {
            format!("{field}:\n  default_value:\n    numerator: 100\n    denominator: HUNDRED")
        }
        Kind::Fraction => {
            format!("remove `{field}`, or\n{field}:\n  default_value:\n    numerator: 100\n    denominator: HUNDRED")
        }
        Kind::Flag => format!("remove `{field}`, or\n{field}:\n  default_value: true"),
    }
}
