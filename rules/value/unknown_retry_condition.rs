//! EF160: a retry condition that Envoy does not know.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::alike;

declare_rule! {
    /// A condition in `retry_on` that Envoy does not know.
    ///
    /// # What it finds
    /// Words of `retry_on` in a route's or virtual host's retry policy other than Envoy's retry conditions, such as `503`.
    ///
    /// # Why it matters
    /// Envoy ignores them without an error: there are no such retries. VirtualService accepts status codes, because istiod
    /// translates them.
    ///
    /// # How to fix
    /// For status codes, `retry_on: retriable-status-codes` with `retriable_status_codes: [503]`, or a VirtualService with
    /// `retries.retryOn`.
    ///
    /// # References
    /// Envoy, "Router", `x-envoy-retry-on` and `x-envoy-retry-grpc-on`; tested with Envoy 1.38.2.
    "EF160" "unknown-retry-condition" Value Error => check
}

const CONDITIONS: [&str; 16] = [
    "5xx",
    "cancelled",
    "connect-failure",
    "deadline-exceeded",
    "envoy-ratelimited",
    "gateway-error",
    "http3-post-connect-failure",
    "internal",
    "refused-stream",
    "reset",
    "reset-before-request",
    "resource-exhausted",
    "retriable-4xx",
    "retriable-headers",
    "retriable-status-codes",
    "unavailable",
];

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for object in value.objects.iter().filter(|object| object.full_name() == "envoy.config.route.v3.RetryPolicy") {
            let Some(member) = object.member("retry_on") else { continue };
            let written = member.entry.value.as_str().unwrap_or_default();
            let words = written.split(',').map(str::trim).filter(|word| !word.is_empty());
            for word in words.filter(|word| !CONDITIONS.contains(word)) {
                let help = if word.len() == 3 && word.bytes().all(|byte| byte.is_ascii_digit()) {
                    format!("retry_on: retriable-status-codes\nretriable_status_codes: [{word}]")
                } else {
                    match alike::keyword(word, CONDITIONS) {
                        Some(nearest) => format!("write `{}`", nearest.name),
                        None => format!("one of: {}", CONDITIONS.join(", ")),
                    }
                };
                out.push(
                    value
                        .finding(rule, member.entry.value.span, format!("no retry condition is named `{word}`"))
                        .label("ignored by Envoy")
                        .snippet(help),
                );
            }
        }
    }
}
