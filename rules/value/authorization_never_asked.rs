//! EF138: an authorization filter that is never used.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo};
use crate::trial::Shows;

declare_rule! {
    /// An authorization filter that allows every request without a check.
    ///
    /// # What it finds
    /// With `lint --run`, standard requests go through a real Envoy with the patched configuration. The rule reports an
    /// `ext_authz` filter that they reach but that never calls its service, and a `jwt_authn` filter without
    /// `allow_missing` that allows every request without a token. Routes that turn the filter off do not count. Without
    /// `--run` the rule is silent.
    ///
    /// # Why it matters
    /// Unchecked callers reach the workload, although the configuration looks as if they could not.
    ///
    /// # How to fix
    /// `ext_authz`: check `filter_enabled` and `filter_enabled_metadata`. `jwt_authn`: add `rules` whose `match` covers
    /// the requests and that have `requires`.
    ///
    /// # References
    /// Envoy documentation, external authorization and JWT authentication; the given Envoy.
    "EF138" "authorization-never-asked" Value Error => check,
    needs: &[Requests], policy: Never("it sends requests through a real Envoy")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for shown in cx.shown() {
        let Shows::NeverAsks { filter, network, requests, token } = shown.shows else { continue };
        let kind = if *network { "network" } else { "HTTP" };
        let all = format!("{kind} filter {filter} allows {requests} of {requests} requests");
        out.push(if *token {
            shown
                .finding(rule, format!("{all} without a token"))
                .label("requires no token")
                .help("add `rules` whose `match` covers these requests, each with `requires`")
        } else {
            shown
                .finding(rule, format!("{all} without calling its authorization service"))
                .label("calls no service")
                .help(if *network {
                    "check that the filter comes before the terminal filter"
                } else {
                    "check `filter_enabled` and `filter_enabled_metadata`"
                })
        });
    }
}
