//! EF511: a client may send the header that carries client identities.

use crate::declare_rule;
use crate::lint::rule::{Cel, DEEPER_VALUES, PolicyTarget};
use crate::lint::{Context, Findings, RuleInfo, walk};
use crate::source::Severity;

declare_rule! {
    /// `forward_client_cert_details: ALWAYS_FORWARD_ONLY`, which lets a client claim any identity.
    ///
    /// # What it finds
    /// An HTTP connection manager patched to forward the header `x-forwarded-client-cert` as the client sent it.
    ///
    /// # Why it matters
    /// Applications trust that header as a verified identity, but anyone can write it.
    ///
    /// # How to fix
    /// Use `SANITIZE_SET` or `APPEND_FORWARD`; on a gateway, `proxy.istio.io/config` with
    /// `gatewayTopology.forwardClientCertDetails`, and only behind a load balancer that sets the header itself.
    ///
    /// # References
    /// Envoy HTTP connection manager, `forward_client_cert_details`; Istio gateway network topology.
    "EF511" "client-cert-header-trusted" Scope Warning => check,
    policy: Cel(policy)
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let Some(value) = view.patch.body.as_ref().and_then(|body| body.value.as_ref()) else { continue };
        walk::fields(value, &mut |field| {
            if field.is("forward_client_cert_details") && field.node.as_str() == Some("ALWAYS_FORWARD_ONLY") {
                out.push(
                    view.finding(
                        rule,
                        view.value_route_span(&field.route()),
                        "a client's own x-forwarded-client-cert header is forwarded",
                    )
                    .label("not sanitized")
                    .note("anyone who can reach the listener can claim any identity to the application")
                    .help("forward_client_cert_details: SANITIZE_SET"),
                );
            }
        });
    }
}

fn policy(_: &PolicyTarget<'_>) -> Vec<Cel> {
    vec![Cel::patch(
        Severity::Warning,
        r#"@typed && ((has(@t.forward_client_cert_details) && @t.forward_client_cert_details == "ALWAYS_FORWARD_ONLY") || (has(@t.forwardClientCertDetails) && @t.forwardClientCertDetails == "ALWAYS_FORWARD_ONLY"))"#,
        "a client's own x-forwarded-client-cert is forwarded",
    )
        .without(DEEPER_VALUES)]
}
