//! EF517: TLS to a service whose certificate nobody verifies.

use crate::declare_rule;
use crate::engine::trace::Place;
use crate::lint::context::PatchRun;
use crate::lint::value::PatchValue;
use crate::lint::value::walk::get;
use crate::lint::{Context, Findings, Knowledge, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, ObjectMatch};
use crate::source::{Node, NodeValue};

declare_rule! {
    /// TLS to a server that accepts any certificate, or any name that an authority has signed.
    ///
    /// # What it finds
    /// An `UpstreamTlsContext`, given in full or merged into a cluster that has no TLS, without a validation context; one with an authority but without names (and
    /// without `auto_sni_san_validation` or pinned hashes).
    ///
    /// # Why it matters
    /// Envoy verifies nothing by default: whoever answers at that address reads the requests, with their tokens. With an
    /// authority alone every holder of a certificate of that authority passes for the server.
    ///
    /// # How to fix
    /// Set `validation_context` with `trusted_ca` and `match_typed_subject_alt_names`; or let a DestinationRule with
    /// `tls: {mode: SIMPLE, caCertificates, subjectAltNames}` do it.
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
            let by_name = has("validation_context_sds_secret_config")
                .or_else(|| combined.and_then(|node| get(node, "validation_context_sds_secret_config")));
            let custom = own.and_then(|own| get(own, "custom_validator_config")).is_some();
            if own.is_none() && by_name.is_none() {
                out.push(
                    value
                        .finding(rule, object.span, "the certificate of the server is not verified")
                        .label("no validation context")
                        .note("without one Envoy accepts every certificate, also one of an attacker in between")
                        .help(HELP),
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
                    .help("match_typed_subject_alt_names:\n- san_type: DNS\n  matcher: {exact: <host>}"),
            );
        }
    }
}

/// The value where it is short; a mapping is shown by the key above.
fn span_of(above: crate::source::Span, node: crate::source::Span) -> crate::source::Span {
    if node.end - node.start > 200 { above } else { node }
}

/// Whether the transport socket of a CLUSTER MERGE takes the place of none, or of one of another kind, so that nothing of
/// istiod's validation is left in it.
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
    // A service outside of the mesh, by its host: istiod sets no TLS for it unless a DestinationRule does.
    let ObjectMatch::Cluster(wanted) = &view.patch.object else { return false };
    let outside = |host: &str| host.contains('.') && host.rsplit('.').next() != Some("local");
    outside(&wanted.service)
        || wanted.name.rsplit('|').next().is_some_and(|host| wanted.name.contains('|') && outside(host))
}

/// Whether the cluster that a patch changed verifies nothing in the end.
fn unverified(run: &PatchRun<'_, '_>, place: &Place) -> bool {
    let Some(context) = run.run.below(place, ["transport_socket", "typed_config"]) else { return false };
    let common = context.get("common_tls_context");
    let has = |key: &str| common.is_some_and(|common| common.get(key).is_some());
    context.type_name().is_some_and(|name| name.ends_with(".UpstreamTlsContext"))
        && !has("combined_validation_context")
        && !has("validation_context_sds_secret_config")
}
