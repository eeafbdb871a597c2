//! EF507: TLS settings that allow old protocols, weak ciphers or unverified peers.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo, walk};

declare_rule! {
    /// A value that allows old TLS versions, weak ciphers or unverified certificates.
    ///
    /// # What it finds
    /// `tls_minimum_protocol_version` or `tls_maximum_protocol_version` TLSv1_0 or TLSv1_1, cipher suites with RC4, 3DES,
    /// NULL, EXPORT or MD5, `trust_chain_verification: ACCEPT_UNTRUSTED`, `allow_expired_certificate: true`.
    ///
    /// # Why it matters
    /// TLS 1.0 and 1.1 are deprecated (RFC 8996); an unverified peer can be anyone.
    ///
    /// # How to fix
    /// Use TLSv1_2 or later and leave verification on. Gateways have `tls.minProtocolVersion`, the mesh
    /// `meshConfig.meshMTLS.minProtocolVersion`.
    ///
    /// # References
    /// Envoy `extensions.transport_sockets.tls.v3`; RFC 8996.
    "EF507" "weakens-tls" Scope Warning => check
}

const WEAK: &[&str] = &["RC4", "3DES", "NULL", "EXPORT", "EXP-", "MD5"];

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let Some(value) = view.patch.body.as_ref().and_then(|body| body.value.as_ref()) else { continue };
        walk::fields(value, &mut |field| {
            let text = field.node.as_str().unwrap_or_default();
            let mut weakest = None;
            let trouble = if field.is("tls_minimum_protocol_version") && matches!(text, "TLSv1_0" | "TLSv1_1") {
                Some((format!("{text} is allowed"), "tls_minimum_protocol_version: TLSv1_2"))
            } else if field.is("tls_maximum_protocol_version") && matches!(text, "TLSv1_0" | "TLSv1_1") {
                Some((format!("nothing better than {text} is allowed"), "tls_maximum_protocol_version: TLSv1_3"))
            } else if field.is("trust_chain_verification") && text == "ACCEPT_UNTRUSTED" {
                Some((
                    "certificates of unknown authorities are accepted".to_owned(),
                    "trust_chain_verification: VERIFY_TRUST_CHAIN",
                ))
            } else if field.is("allow_expired_certificate") && field.is_true() {
                Some(("expired certificates are accepted".to_owned(), "omit allow_expired_certificate"))
            } else if field.is("cipher_suites") {
                let weak = field
                    .node
                    .items()
                    .iter()
                    .filter_map(|item| Some((item, item.as_str()?)))
                    .find(|(_, suite)| WEAK.iter().any(|bad| suite.contains(bad)));
                weak.map(|(item, suite)| {
                    weakest = Some(item.span);
                    (format!("cipher suite `{suite}` is weak"), "omit cipher_suites: the proxy's defaults are good")
                })
            } else {
                None
            };
            if let Some((message, help)) = trouble {
                let span = weakest.unwrap_or_else(|| view.value_route_span(&field.route()));
                out.push(view.finding(rule, span, message).label("weakens TLS").help(help));
            }
        });
    }
}
