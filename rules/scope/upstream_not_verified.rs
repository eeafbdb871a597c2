//! EF517: TLS to a service whose certificate is not verified.

use crate::declare_rule;
use crate::engine::trace::Place;
use crate::lint::context::PatchRun;
use crate::lint::value::PatchValue;
use crate::lint::value::walk::get;
use crate::lint::{Context, Findings, Knowledge, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, ObjectMatch};
use crate::source::{Node, NodeValue};

declare_rule! {
    /// TLS to a server without verifying its certificate, or without verifying the name in it.
    ///
    /// # What it finds
    /// An `UpstreamTlsContext`, given in full or merged into a cluster without TLS, that has no validation context; or
    /// one with a certificate authority but without names (and without `auto_sni_san_validation` or pinned hashes).
    ///
    /// # Why it matters
    /// Envoy verifies nothing by default: anyone who answers at that address can read the requests, including their
    /// tokens. With only a certificate authority, every holder of a certificate from that authority can pose as the
    /// server.
    ///
    /// # How to fix
    /// Set `validation_context` with `trusted_ca` and `match_typed_subject_alt_names`, or use a DestinationRule with
    /// `tls: {mode: SIMPLE, caCertificates, subjectAltNames}`.
    ///
    /// # References
    /// Envoy `extensions.transport_sockets.tls.v3.CertificateValidationContext`: without it "no verification is performed".
    "EF517" "upstream-not-verified" Scope Warning => check
}

const HELP: &str = "common_tls_context:\n  validation_context:\n    trusted_ca: {filename: /etc/ssl/certs/ca-certificates.crt}\n    match_typed_subject_alt_names:\n    - san_type: DNS\n      matcher: {exact: <host>}";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for object in value.objects.iter().filter(|object| object.short_name() == "UpstreamTlsContext") {
            let judged = object.whole || (value.merges() && replaces(cx, value));
            if !judged {
                continue;
            }
            let common = object.member("common_tls_context").map(|member| &member.entry.value);
            let has = |key: &str| common.and_then(|common| get(common, key));
            let combined = has("combined_validation_context");
            let default = combined.and_then(|node| get(node, "default_validation_context"));
            let own = has("validation_context").or(default);
            // The rule about weak TLS reports that nothing is verified.
            if own.and_then(|own| get(own, "trust_chain_verification")).and_then(Node::as_str)
                == Some("ACCEPT_UNTRUSTED")
            {
                continue;
            }
            let by_name = has("validation_context_sds_secret_config")
                .or_else(|| combined.and_then(|node| get(node, "validation_context_sds_secret_config")));
            let custom = own.and_then(|own| get(own, "custom_validator_config")).is_some();
            if own.is_none() && by_name.is_none() {
                out.push(
                    value
                        .finding(rule, object.span, "the certificate of the server is not verified")
                        .label("no validation context")
                        .note("without one, Envoy accepts every certificate, including an attacker's")
                        .snippet(HELP),
                );
                continue;
            }
            let set = |key: &str| own.and_then(|own| get(own, key)).is_some();
            let names = [
                "match_typed_subject_alt_names",
                "match_subject_alt_names",
                "verify_certificate_hash",
                "verify_certificate_spki",
            ];
            let authority = set("trusted_ca")
                || by_name.is_some()
                || set("ca_certificate_provider_instance")
                || set("system_root_certs");
            let automatic = object
                .member("auto_sni_san_validation")
                .is_some_and(|it| matches!(it.entry.value.value, NodeValue::Bool(true)));
            if custom || automatic || names.iter().any(|name| set(name)) {
                continue;
            }
            let span = own.or(by_name).map_or(object.span, |node: &Node| node.span);
            let message = if authority {
                "the name in the server's certificate is not verified"
            } else {
                "the certificate of the server is not verified: no authority and no names"
            };
            out.push(
                value
                    .finding(rule, span_of(object.span, span), message)
                    .label(if authority {
                        "any certificate of the authority passes"
                    } else {
                        "accepts any certificate"
                    })
                    .snippet("match_typed_subject_alt_names:\n- san_type: DNS\n  matcher: {exact: <host>}"),
            );
        }
    }
}

/// The value if it is short; for a mapping, its key is shown.
fn span_of(above: crate::source::Span, node: crate::source::Span) -> crate::source::Span {
    if node.end - node.start > 200 { above } else { node }
}

/// Whether the transport socket of a CLUSTER MERGE replaces none, or one of another kind, so that nothing of istiod's
/// validation remains.
fn replaces(cx: &Context<'_>, value: &PatchValue<'_>) -> bool {
    let view = &value.view;
    if view.patch.apply_to != ApplyTo::Cluster {
        return false;
    }
    let mut runs = cx
        .on_proxies(view.filter_index, view.patch.index)
        .filter(|run| run.run.knowledge == Knowledge::Dump && run.changes())
        .peekable();
    if runs.peek().is_some() {
        return runs.any(|run| {
            run.trace.effects.iter().filter(|(_, effect)| effect.changes()).any(|(place, _)| unverified(&run, place))
        });
    }
    // A service outside the mesh, by its host: istiod sets no TLS for it unless a DestinationRule does.
    let ObjectMatch::Cluster(wanted) = &view.patch.object else { return false };
    let outside = |host: &str| host.contains('.') && host.rsplit('.').next() != Some("local");
    outside(&wanted.service)
        || wanted.name.rsplit('|').next().is_some_and(|host| wanted.name.contains('|') && outside(host))
}

/// Whether the cluster that a patch changed ends up without verification.
fn unverified(run: &PatchRun<'_, '_>, place: &Place) -> bool {
    let Some(context) = run.run.below(place, ["transport_socket", "typed_config"]) else { return false };
    let common = context.get("common_tls_context");
    let has = |key: &str| common.is_some_and(|common| common.get(key).is_some());
    context.type_name().is_some_and(|name| name.ends_with(".UpstreamTlsContext"))
        && !has("combined_validation_context")
        && !has("validation_context_sds_secret_config")
}
