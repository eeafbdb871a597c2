//! EF507: TLS settings that allow old protocols, weak ciphers or unverified peers.

use crate::declare_rule;
use crate::lint::context::PatchRun;
use crate::lint::seen::merged;
use crate::lint::{Context, Findings, Knowledge, RuleInfo, walk};
use crate::proto::tree::Tree;
use crate::source::{NodeValue, Severity};

declare_rule! {
    /// A value that allows old TLS versions, weak ciphers or unverified certificates.
    ///
    /// # What it finds
    /// `tls_minimum_protocol_version` or `tls_maximum_protocol_version` TLSv1_0 or TLSv1_1, cipher suites with RC4, 3DES,
    /// NULL, EXPORT or MD5, `trust_chain_verification: ACCEPT_UNTRUSTED`, `allow_expired_certificate: true`, and
    /// `require_client_certificate: true` of a server without a validation context (for a MERGE, with a config dump).
    ///
    /// # Why it matters
    /// TLS 1.0 and 1.1 are deprecated (RFC 8996); an unverified peer can be anyone. Without a validation context,
    /// Envoy asks no client for a certificate, whatever `require_client_certificate` says.
    ///
    /// # How to fix
    /// Use TLSv1_2 or later and leave verification on. Gateways have `tls.minProtocolVersion`, the mesh
    /// `meshConfig.meshMTLS.minProtocolVersion`.
    ///
    /// # References
    /// Envoy `extensions.transport_sockets.tls.v3`; RFC 8996; client certificates tested with Envoy 1.38.2 and 1.40.0.
    "EF507" "weakens-tls" Scope Warning => check
}

const WEAK: &[&str] = &["RC4", "3DES", "NULL", "EXPORT", "EXP-", "MD5"];

/// What a server verifies client certificates with.
const VERIFIES: &[&str] =
    &["combined_validation_context", "validation_context", "validation_context_sds_secret_config"];

/// Servers that require a certificate of clients and have nothing to verify it with.
fn clients(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    const REQUIRED: &str = "require_client_certificate";
    for value in cx.values() {
        for object in value.objects.iter().filter(|object| object.short_name() == "DownstreamTlsContext") {
            let Some(required) = object.member(REQUIRED).filter(|it| it.entry.value.value == NodeValue::Bool(true))
            else {
                continue;
            };
            let common = object.member("common_tls_context").map(|member| &member.entry.value);
            if VERIFIES.iter().any(|name| common.is_some_and(|common| walk::get(common, name).is_some())) {
                continue;
            }
            let verifies =
                |context: &Tree<'_>| VERIFIES.iter().any(|name| context.path(&["common_tls_context", name]).is_some());
            let open = |run: &PatchRun<'_, '_>| {
                run.run.knowledge == Knowledge::Dump && merged(run, object).iter().any(|context| !verifies(context))
            };
            let seen = if object.whole { None } else { cx.seen(&value.view, open) };
            if !object.whole && seen.is_none() {
                continue;
            }
            let finding = value
                .finding(rule, required.entry.key_span, "no client has to show a certificate: nothing verifies it")
                .severity(Severity::Error)
                .label("without effect")
                .note("without a validation context, Envoy does not ask for a certificate")
                .snippet("common_tls_context:\n  validation_context:\n    trusted_ca: {filename: <file with the client CA>}\nor, for a Gateway, tls: {mode: MUTUAL, credentialName: <secret with ca.crt>}");
            out.push(match &seen {
                Some(seen) => seen.tell(finding),
                None => finding,
            });
        }
    }
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    clients(rule, cx, out);
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
