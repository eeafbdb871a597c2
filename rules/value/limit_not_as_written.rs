//! EF172: a rate limit that does not do what is written.

use crate::declare_rule;
use crate::lint::contents::LOCAL;
use crate::lint::value::{Object, PatchValue};
use crate::lint::walk::{get, number};
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::{Node, NodeValue};

declare_rule! {
    /// A rate limit whose setting is overruled by another one or by Envoy itself.
    ///
    /// # What it finds
    /// Descriptors of a local rate limit whose bucket is larger and is filled faster than the bucket of the filter, which the same requests
    /// empty; a bucket of many tokens without `tokens_per_fill`, which gets one token per interval of 10 s or more; `status` or
    /// `rate_limited_status` below 400; `apply_on_stream_done` if no given rate limit applies to requests; a bandwidth
    /// limit that is on and has no `limit_kbps`, here or in a given patch of routes.
    ///
    /// # Why it matters
    /// Each of these limits less, or more, than it seems to: requests with the descriptor are refused by the smaller bucket, 1000 tokens per
    /// minute are 1000 once and one per minute from then on, clients get 429
    /// instead of a redirect, what is counted after the response refuses nothing, and without `limit_kbps` no body arrives.
    ///
    /// # How to fix
    /// `always_consume_default_token_bucket: false`; `tokens_per_fill` as large as `max_tokens`; a status from 400 on; `apply_on_stream_done` only beside a rate limit without it.
    ///
    /// # References
    /// Envoy `LocalRateLimit.always_consume_default_token_bucket` and `status`, `RateLimit.apply_on_stream_done`; tested with Envoy
    /// 1.38.2.
    "EF172" "limit-not-as-written" Value Warning => check
}

const BUCKET: &str = "envoy.type.v3.TokenBucket";
const GLOBAL: &str = "envoy.extensions.filters.http.ratelimit.v3.RateLimit";
const ACTIONS: &str = "envoy.config.route.v3.RateLimit";
const BANDWIDTH: &str = "envoy.extensions.filters.http.bandwidth_limit.v3.BandwidthLimit";
const DONE: &str = "apply_on_stream_done";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let limits = || cx.values().iter().flat_map(|value| value.objects.iter().map(move |object| (value, object)));
    let (mut asked, mut somewhere): (Option<bool>, Option<bool>) = (None, None);
    for (value, object) in limits() {
        match object.full_name() {
            LOCAL => {
                status(rule, value, object, "status", out);
                larger(rule, value, object, out);
            }
            BUCKET => filled_by_one(rule, value, object, out),
            GLOBAL => status(rule, value, object, "rate_limited_status", out),
            BANDWIDTH => {
                let mode =
                    object.member("enable_mode").filter(|_| object.whole && object.member("limit_kbps").is_none());
                let Some(mode) = mode.filter(|mode| mode.entry.value.as_str() != Some("DISABLED")) else { continue };
                let limited = || {
                    limits().any(|(_, other)| other.full_name() == BANDWIDTH && other.member("limit_kbps").is_some())
                };
                if *somewhere.get_or_insert_with(limited) {
                    continue;
                }
                out.push(
                    value
                        .finding(
                            rule,
                            mode.entry.key_span,
                            "no body arrives: without `limit_kbps` the limit is 0 KiB/s",
                        )
                        .label("0 KiB/s")
                        .help("limit_kbps: 1024"),
                );
            }
            ACTIONS => {
                let Some(done) = object.member(DONE).filter(|_| is_done(object)) else { continue };
                let at_once = || limits().any(|(_, other)| other.full_name() == ACTIONS && !is_done(other));
                if *asked.get_or_insert_with(at_once) {
                    continue;
                }
                out.push(
                    value
                        .finding(
                            rule,
                            done.entry.key_span,
                            "this rate limit refuses no request: it is counted after the response",
                        )
                        .label("only counts")
                        .help("remove it, or add a rate limit with the same actions that applies to requests"),
                );
            }
            _ => {}
        }
    }
}

fn is_done(object: &Object<'_>) -> bool {
    object.member(DONE).is_some_and(|member| matches!(member.entry.value.value, NodeValue::Bool(true)))
}

/// A status that Envoy replaces.
fn status(rule: &'static RuleInfo, value: &PatchValue<'_>, object: &Object<'_>, field: &str, out: &mut Findings) {
    let code = object.member(field).and_then(|member| get(&member.entry.value, "code"));
    let written = code.and_then(|code| Some((code, number(code).or_else(|| redirect(code.as_str()?))?)));
    if let Some((code, written)) = written.filter(|(_, code)| (100.0..400.0).contains(code)) {
        out.push(
            value
                .finding(rule, code.span, format!("Envoy answers 429 instead of {written}"))
                .label("below 400")
                .help(format!("{field}: {{code: 429}}, or another code from 400 on")),
        );
    }
}

/// The codes of the names below 400 that are likely to be written.
fn redirect(name: &str) -> Option<f64> {
    match name {
        "OK" => Some(200.0),
        "MovedPermanently" => Some(301.0),
        "Found" => Some(302.0),
        "SeeOther" => Some(303.0),
        "TemporaryRedirect" => Some(307.0),
        "PermanentRedirect" => Some(308.0),
        _ => None,
    }
}

/// A descriptor whose limit the bucket of the filter never lets requests reach.
fn larger(rule: &'static RuleInfo, value: &PatchValue<'_>, object: &Object<'_>, out: &mut Findings) {
    let always = object.member("always_consume_default_token_bucket");
    if always.is_some_and(|member| matches!(member.entry.value.value, NodeValue::Bool(false))) {
        return;
    }
    let Some(default) = object.member("token_bucket").and_then(|member| bucket(&member.entry.value)) else { return };
    let descriptors = object.member("descriptors").map(|member| member.entry.value.items()).unwrap_or_default();
    let found = descriptors.iter().find_map(|descriptor| {
        let node = get(descriptor, "token_bucket")?;
        let (most, rate) = bucket(node)?;
        (most > default.0 && rate > default.1).then_some((node, most))
    });
    if let Some((node, most)) = found {
        let (least, _) = default;
        let place = get(node, "max_tokens").map_or(node.span, |tokens| tokens.span);
        out.push(
            value
                .finding(
                    rule,
                    place,
                    format!("these requests also empty the filter's bucket of {least} tokens: they never get {most}"),
                )
                .label("larger than the bucket of all requests")
                .help("always_consume_default_token_bucket: false"),
        );
    }
}

/// A bucket of many tokens that gets one of them per long interval, because that is the default.
fn filled_by_one(rule: &'static RuleInfo, value: &PatchValue<'_>, object: &Object<'_>, out: &mut Findings) {
    /// Fewest tokens, and the shortest interval in seconds, for which a rate of one token per interval is not intended.
    const MANY: f64 = 10.0;
    const LONG: f64 = 10.0;
    if !object.whole || object.member("tokens_per_fill").is_some() {
        return;
    }
    let Some((most, rate)) = bucket(object.node).filter(|(most, rate)| *most >= MANY && *rate <= 1.0 / LONG) else {
        return;
    };
    let place = object.member("max_tokens").map_or(object.span, |member| member.entry.value.span);
    out.push(
        value
            .finding(
                rule,
                place,
                format!("after the first {most} requests, this limit allows one per {:.0} s", 1.0 / rate),
            )
            .label("`tokens_per_fill` is 1 by default")
            .help(format!("tokens_per_fill: {most}")),
    );
}

/// The size of a bucket, and the tokens per second that fill it.
fn bucket(node: &Node) -> Option<(f64, f64)> {
    let seconds = get(node, "fill_interval")?.as_str()?.strip_suffix('s')?.parse::<f64>().ok()?;
    let most = number(get(node, "max_tokens")?)?;
    let fill = match get(node, "tokens_per_fill") {
        Some(fill) => number(fill)?,
        None => 1.0,
    };
    (seconds > 0.0).then(|| (most, fill / seconds))
}
