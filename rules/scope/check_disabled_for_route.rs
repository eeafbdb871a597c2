//! EF510: a route or virtual host for which authentication or authorization is switched off.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo, walk};

declare_rule! {
    /// Authentication or authorization switched off for a route or virtual host.
    ///
    /// # What it finds
    /// `typed_per_filter_config` of the RBAC, JWT or external authorization filter with `disabled: true`.
    ///
    /// # Why it matters
    /// Requests on these routes pass unchecked, and no policy object shows it. If the match has no `vhost`, this
    /// applies to every route.
    ///
    /// # How to fix
    /// Put the exception in the AuthorizationPolicy (`notPaths`), and keep the match narrow.
    ///
    /// # References
    /// Envoy: per-route configuration of `ext_authz`, `jwt_authn`, `rbac`.
    "EF510" "check-disabled-for-route" Scope Info => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let Some(value) = view.patch.body.as_ref().and_then(|body| body.value.as_ref()) else { continue };
        walk::fields(value, &mut |field| {
            if !field.is("disabled") || !field.is_true() || !field.inside("typed_per_filter_config") {
                return;
            }
            let checks = ["rbac", "jwt_authn", "ext_authz"];
            let Some(check) =
                checks.iter().find(|check| field.route().iter().any(|step| step.to_string().ends_with(**check)))
            else {
                return;
            };
            out.push(
                view.finding(
                    rule,
                    view.value_route_span(&field.route()),
                    format!("`{check}` is switched off for everything that this patch matches"),
                )
                .label("not checked")
                .help("put the exception in the AuthorizationPolicy or RequestAuthentication"),
            );
        });
    }
}
