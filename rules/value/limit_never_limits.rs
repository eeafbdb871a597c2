//! EF137: a rate limit that limits no request.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo};
use crate::trial::Shows;

declare_rule! {
    /// A rate limit that limits no request.
    ///
    /// # What it finds
    /// With `lint --run`, standard requests go through a real Envoy. The rule reports a local rate limit, HTTP or
    /// network filter, that limits none of more requests than its token bucket holds (up to 100 tokens); a descriptor
    /// of a local rate limit that no action of the route produces; and a global rate limit that requests reach without
    /// a call to the rate limit service. Without `--run` the rule is silent.
    ///
    /// # Why it matters
    /// Envoy accepts such a limit, and nothing shows that it is ineffective. `filter_enabled` and `filter_enforced` of
    /// a local rate limit default to 0 %; a global rate limit applies only if a route has `rate_limits`.
    ///
    /// # How to fix
    /// Local: set `filter_enabled` and `filter_enforced`; give each descriptor the keys and values of an action, in its
    /// order. Global: add `rate_limits` with actions to the virtual host or the routes.
    ///
    /// # References
    /// istio/istio issues 49432, 52088 and 54008; the given Envoy.
    "EF137" "limit-never-limits" Value Warning => check,
    needs: &[Requests], policy: Never("it sends requests through a real Envoy")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for shown in cx.shown() {
        let finding = match shown.shows {
            Shows::NeverLimits { filter, network, descriptor, requests, tokens: Some(tokens) } => {
                let kind = if *network { "network" } else { "HTTP" };
                let what = descriptor
                    .as_ref()
                    .map_or("its bucket".to_owned(), |name| format!("the bucket of descriptor {name}"));
                let message =
                    format!("{kind} filter {filter} limits none of {requests} requests; {what} holds {tokens} tokens");
                let help = if *network {
                    "check `runtime_enabled`, and that the filter comes before the terminal filter"
                } else {
                    "set `filter_enabled` and `filter_enforced`; each defaults to 0 %"
                };
                shown
                    .finding(rule, message)
                    .label("never limits")
                    .note(format!("repeat the request with --repeat {requests}"))
                    .help(help)
            }
            Shows::NeverLimits { filter, network: true, tokens: None, .. } => shown
                .finding(rule, format!("network filter {filter} never calls its rate limit service"))
                .label("never limits")
                .help("check `runtime_enabled`, and that `descriptors` has entries"),
            Shows::NeverLimits { filter, tokens: None, .. } => shown
                .finding(rule, format!("HTTP filter {filter} never calls its rate limit service"))
                .label("never limits")
                .note("a global rate limit applies only to requests whose route or virtual host has `rate_limits`")
                .help("add `rate_limits` with actions to the virtual host or the route"),
            Shows::NoDescriptor { filter, descriptor, written } => {
                let has = if written.is_empty() {
                    "the route has no `rate_limits`".to_owned()
                } else {
                    format!("the route produces {}", written.join("; "))
                };
                shown
                    .finding(rule, format!("no request has descriptor {descriptor} of HTTP filter {filter}"))
                    .label("never limits")
                    .note(has)
                    .help("write the same keys and values, in the same order, into `entries` and the actions of `rate_limits`")
            }
            _ => continue,
        };
        out.push(finding);
    }
}
