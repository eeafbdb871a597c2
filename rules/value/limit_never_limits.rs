//! EF137: a rate limit that limits no request.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo};
use crate::trial::Shows;

declare_rule! {
    /// A rate limit that limits no request.
    ///
    /// # What it finds
    /// With `lint --run`, more requests than its token bucket holds (up to 100 tokens) are sent through a local rate
    /// limit in a real Envoy, HTTP or network filter, and none of them is limited; a descriptor of a local rate limit is
    /// one that no action of the route gives to requests; or requests meet a global rate limit, and the rate limit service
    /// is never asked. Without `--run` the rule is silent.
    ///
    /// # Why it matters
    /// Envoy accepts such a limit, and nothing shows that it protects nobody. `filter_enabled` and `filter_enforced` of
    /// a local rate limit default to 0 %; a global rate limit asks only where a route has `rate_limits`.
    ///
    /// # How to fix
    /// Local: set `filter_enabled` and `filter_enforced`; give each descriptor the keys and values of an action, in its
    /// order. Global: add `rate_limits` with actions to the virtual host or the routes.
    ///
    /// # References
    /// istio/istio issues 49432, 52088 and 54008; the Envoy that was given.
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
                    "check `runtime_enabled`, and that the filter stands before the filter that ends the chain"
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
                .finding(rule, format!("network filter {filter} never asks its rate limit service"))
                .label("never limits")
                .help("check `runtime_enabled`, and that `descriptors` has entries"),
            Shows::NeverLimits { filter, tokens: None, .. } => shown
                .finding(rule, format!("HTTP filter {filter} never asks its rate limit service"))
                .label("never limits")
                .note("a global rate limit asks only for requests whose route or virtual host has `rate_limits`")
                .help("add `rate_limits` with actions to the virtual host or the route"),
            Shows::NoDescriptor { filter, descriptor, written } => {
                let has = if written.is_empty() {
                    "the route has no `rate_limits`".to_owned()
                } else {
                    format!("the route gives {}", written.join("; "))
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
