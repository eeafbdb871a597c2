//! EF509: external authorization that lets requests through when the service does not answer.

use crate::declare_rule;
use crate::lint::rule::{Cel, DEEPER_VALUES, PolicyTarget};
use crate::lint::{Context, Findings, RuleInfo, walk};
use crate::source::Severity;

declare_rule! {
    /// `failure_mode_allow: true` on external authorization.
    ///
    /// # What it finds
    /// An `ext_authz` filter (HTTP or network) with `failure_mode_allow: true`, in an Any or a TypedStruct.
    ///
    /// # Why it matters
    /// When the authorization service is down, slow or unknown to the proxy, every request passes. A cluster name that is
    /// misspelled opens everything.
    ///
    /// # How to fix
    /// Leave it out (requests are then rejected), and give the service more replicas and a timeout that fits.
    ///
    /// # References
    /// Envoy `extensions.filters.http.ext_authz.v3.ExtAuthz`.
    "EF509" "authorization-fails-open" Scope Warning => check,
    policy: Cel(policy)
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let Some(value) = view.patch.body.as_ref().and_then(|body| body.value.as_ref()) else { continue };
        walk::fields(value, &mut |field| {
            if field.is("failure_mode_allow") && field.is_true() && field.message.ends_with(".ExtAuthz") {
                out.push(
                    view.finding(rule, view.value_route_span(&field.route()), "requests pass when the authorization service fails")
                        .label("fails open")
                        .note("a timeout, a service that is down and a cluster that the proxy does not have all count as failures")
                        .help(format!("{}: false", field.key)),
                );
            }
        });
    }
}

fn policy(_: &PolicyTarget<'_>) -> Vec<Cel> {
    vec![Cel::patch(
        Severity::Warning,
        r#"@url.endsWith(".ExtAuthz") && ((has(@t.failure_mode_allow) && @t.failure_mode_allow == true) || (has(@t.failureModeAllow) && @t.failureModeAllow == true))"#,
        "requests pass when the authorization service fails",
    )
        .without(DEEPER_VALUES)]
}
