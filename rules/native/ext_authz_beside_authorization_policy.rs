//! EF707: an inserted external authorization filter that AuthorizationPolicy CUSTOM can replace.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo, moves};
use crate::migrate::catalog::EXT_AUTHZ;

declare_rule! {
    /// An external authorization filter inserted by hand, which an AuthorizationPolicy with action CUSTOM can replace.
    ///
    /// # What it finds
    /// An inserted `ext_authz` filter whose fields all exist in an extension provider of the mesh and whose server is a
    /// known service of the mesh.
    ///
    /// # Why it matters
    /// istiod puts its own `ext_authz` before JWT and RBAC in the right position for every kind of proxy, including
    /// waypoints. An inserted one depends on anchors that change with releases, and where it is not inserted, nothing
    /// is checked.
    ///
    /// # How to fix
    /// Run `kubectl envoyfilter migrate`: it writes the extension provider and the AuthorizationPolicy.
    ///
    /// # References
    /// Istio: External authorization task; MeshConfig `extensionProviders.envoyExtAuthzGrpc` and `envoyExtAuthzHttp`.
    "EF707" "ext-authz-beside-authorization-policy" Native Info => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    moves::check(
        rule,
        cx,
        out,
        &[&EXT_AUTHZ],
        "an AuthorizationPolicy with an extension provider can call this service",
        |_| true,
    );
}
