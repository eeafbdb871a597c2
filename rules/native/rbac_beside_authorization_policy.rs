//! EF709: an inserted RBAC filter that AuthorizationPolicy can replace.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo, moves};
use crate::migrate::catalog::RBAC;

declare_rule! {
    /// An RBAC filter inserted by hand, which an AuthorizationPolicy can replace.
    ///
    /// # What it finds
    /// An inserted `envoy.filters.http.rbac` or `envoy.filters.network.rbac` whose permissions and principals an
    /// AuthorizationPolicy can all express.
    ///
    /// # Why it matters
    /// istiod puts its own RBAC filters after authentication on every kind of proxy, validates the policies when they
    /// are applied, and shows them in `istioctl x authz check`. An inserted filter depends on anchors that change with
    /// releases; where it is not inserted, everything is allowed.
    ///
    /// # How to fix
    /// Review the AuthorizationPolicy that `kubectl envoyfilter migrate` writes, apply it, and delete the patch.
    ///
    /// # References
    /// Istio: AuthorizationPolicy (`security.istio.io/v1`). Envoy: `config.rbac.v3.RBAC`.
    "EF709" "rbac-beside-authorization-policy" Native Info => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    moves::check(rule, cx, out, &[&RBAC], "an AuthorizationPolicy can express these rules", |_| true);
}
