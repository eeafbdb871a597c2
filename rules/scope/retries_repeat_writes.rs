//! EF519: retries that repeat requests that the service may have processed.

use crate::declare_rule;
use crate::lint::walk::number;
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::Node;

declare_rule! {
    /// A retry policy that repeats every kind of request even if the service may have processed it.
    ///
    /// # What it finds
    /// `retry_on` with `5xx`, `gateway-error`, `reset`, `internal`, `deadline-exceeded` or, with a status of 500 and above other
    /// than 503, `retriable-status-codes` in a patch's value, without `retriable_request_headers` and in no route that matches a
    /// method.
    ///
    /// # Why it matters
    /// After these failures the service may have processed the request: a POST that places an order or a payment
    /// happens again, up to `num_retries` times, and again on each hop of a call chain.
    ///
    /// # How to fix
    /// Retry on `connect-failure,refused-stream,unavailable`, or only requests that are safe to repeat:
    /// `retriable_request_headers` with `:method` GET. A VirtualService has `retries`.
    ///
    /// # References
    /// Envoy, "Router": `x-envoy-retry-on`.
    "EF519" "retries-repeat-writes" Scope Warning => check
}

const RISKY: [&str; 5] = ["5xx", "gateway-error", "reset", "internal", "deadline-exceeded"];
/// Retries on the statuses in a list next to it.
const BY_STATUS: &str = "retriable-status-codes";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for object in value.objects.iter().filter(|object| object.full_name() == "envoy.config.route.v3.RetryPolicy") {
            let Some(on) = object.member("retry_on").map(|member| &member.entry.value) else { continue };
            let text = on.as_str().unwrap_or_default();
            // istiod itself retries on 503, which usually means that no host accepted the request.
            let statuses = object.member("retriable_status_codes").is_some_and(|list| {
                let risky = |code: &Node| number(code).is_some_and(|code| (500..600).contains(&code) && code != 503);
                list.entry.value.items().iter().any(risky)
            });
            let risky = |one: &&str| RISKY.contains(one) || (*one == BY_STATUS && statuses);
            let risky: Vec<&str> = text.split(',').map(str::trim).filter(risky).collect();
            let by_method = object.member("retriable_request_headers").is_some()
                || value.objects.iter().any(|other| {
                    let above =
                        object.route.starts_with(&other.route) && other.full_name() == "envoy.config.route.v3.Route";
                    above && other.member("match").is_some_and(|it| names_method(&it.entry.value))
                });
            let times = object.member("num_retries").and_then(|it| number(&it.entry.value)).unwrap_or(1);
            if risky.is_empty() || by_method || times == 0 {
                continue;
            }
            out.push(
                value
                    .finding(rule, on.span, format!("retries on {} also repeat requests that write", risky.join(", ")))
                    .label(format!("up to {times} more {}", if times == 1 { "time" } else { "times" }))
                    .note("the service may have processed the request before it failed")
                    .snippet("retry_on: connect-failure,refused-stream,unavailable\nor: retriable_request_headers:\n- name: :method\n  string_match: {exact: GET}"),
            );
        }
    }
}

fn names_method(wanted: &Node) -> bool {
    let headers = wanted.get("headers").map(Node::items).unwrap_or_default();
    headers.iter().any(|header| header.get("name").and_then(Node::as_str) == Some(":method"))
}
