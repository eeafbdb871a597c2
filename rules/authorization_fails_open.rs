//! EF509: external authorization that lets requests through when the service does not answer.

use crate::declare_rule;
use crate::lint::{Context, Finding, Findings, Rule, walk};

declare_rule! {
    /// `failure_mode_allow: true` on external authorization.
    ///
    /// # What it finds
    /// An `ext_authz` filter (HTTP or network) with `failure_mode_allow: true`, in an Any or a TypedStruct.
    ///
    /// # Why it matters
    /// When the authorization service is down, slow or unknown to the proxy, every request passes. A cluster name that is
    /// misspelt opens everything.
    ///
    /// # How to fix
    /// Leave it out (requests are then refused), and give the service more replicas and a timeout that fits.
    ///
    /// # References
    /// Envoy `extensions.filters.http.ext_authz.v3.ExtAuthz`.
    "EF509" "authorization-fails-open" Warning => check
}

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let Some(value) = view.patch.body.as_ref().and_then(|body| body.value.as_ref()) else { continue };
        walk::fields(value, &mut |field| {
            if field.is("failure_mode_allow") && field.is_true() && field.message.ends_with(".ExtAuthz") {
                out.push(
                    Finding::new(rule, view.value_route_span(&field.route()), "requests pass when the authorization service fails")
                        .of(view.filter, Some(view.patch.index))
                        .label("fails open")
                        .note("a timeout, a service that is down and a cluster that the proxy does not have all count as failures")
                        .help(format!("{}: false", field.key)),
                );
            }
        });
    }
}
