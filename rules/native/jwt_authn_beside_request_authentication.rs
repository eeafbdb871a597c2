//! EF708: an inserted JWT filter that RequestAuthentication can replace.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo, moves};
use crate::migrate::catalog::JWT;

declare_rule! {
    /// A JWT filter inserted by hand, which a RequestAuthentication can replace.
    ///
    /// # What it finds
    /// An inserted `jwt_authn` filter whose providers a RequestAuthentication can describe and whose rules require one
    /// provider for the paths under a prefix.
    ///
    /// # Why it matters
    /// istiod's own JWT filter fetches and rotates keys, comes before RBAC, and fills the principals and claims that
    /// AuthorizationPolicy reads; a second filter fills other metadata, which no policy reads.
    ///
    /// # How to fix
    /// Review the two objects that `kubectl envoyfilter migrate` writes: the RequestAuthentication rejects bad tokens,
    /// the AuthorizationPolicy missing ones.
    ///
    /// # References
    /// Istio: RequestAuthentication (`security.istio.io/v1`).
    "EF708" "jwt-authn-beside-request-authentication" Native Info => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    moves::check(
        rule,
        cx,
        out,
        &[&JWT],
        "RequestAuthentication and AuthorizationPolicy can check these tokens",
        |_| true,
    );
}
