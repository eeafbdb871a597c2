//! EF137: a rate limit that limits no request.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo};
use crate::trial::Shows;

declare_rule! {
    /// A rate limit that limits no request.
    ///
    /// # What it finds
    /// With `lint --run`, more requests than its token bucket holds (up to 100 tokens) are sent through a local rate
    /// limit in a real Envoy, and none of them is limited; or requests meet a global rate limit, and the rate limit
    /// service is never asked. Without `--run` the rule is silent.
    ///
    /// # Why it matters
    /// Envoy accepts such a limit, and nothing shows that it protects nobody. `filter_enabled` and `filter_enforced` of
    /// a local rate limit default to 0 %; a global rate limit asks only where a route has `rate_limits`.
    ///
    /// # How to fix
    /// Local: set `filter_enabled` and `filter_enforced`. Global: add `rate_limits` with actions to the virtual host or
    /// the routes.
    ///
    /// # References
    /// istio/istio issues 49432, 52088 and 54008; the Envoy that was given.
    "EF137" "limit-never-limits" Value Warning => check,
    needs: &[Requests], policy: Never("it sends requests through a real Envoy")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for shown in cx.shown() {
        let Shows::NeverLimits { filter, requests, tokens } = shown.shows else { continue };
        out.push(match tokens {
            Some(tokens) => {
                let repeat = format!("repeat the request with --repeat {requests}");
                shown
                    .finding(
                        rule,
                        format!(
                            "HTTP filter {filter} limits none of {requests} requests; its bucket holds {tokens} tokens"
                        ),
                    )
                    .label("never limits")
                    .note(repeat)
                    .help("set `filter_enabled` and `filter_enforced`; each defaults to 0 %")
            }
            None => shown
                .finding(rule, format!("HTTP filter {filter} never asks its rate limit service"))
                .label("never limits")
                .note("a global rate limit asks only for requests whose route or virtual host has `rate_limits`")
                .help("add `rate_limits` with actions to the virtual host or the route"),
        });
    }
}
