//! What Envoy's code rejects in TLS settings: names of algorithms, certificates, and checks without a CA.
//!
//! The algorithms are those that BoringSSL took in Envoy 1.36.4, 1.38.2 or 1.40.0.

use super::core::items;
use super::filters::inline;
use super::object::{Refusal, child, has, holder, is, is_set, is_true, refusal, span, text};
use crate::lint::value::{Object, PatchValue};
use crate::source::Node;

/// Cipher suites up to TLS 1.2.
const CIPHERS: &str = "AES128-GCM-SHA256 AES128-SHA AES256-GCM-SHA384 AES256-SHA DES-CBC3-SHA ECDHE-ECDSA-AES128-GCM-SHA256 \
ECDHE-ECDSA-AES128-SHA ECDHE-ECDSA-AES128-SHA256 ECDHE-ECDSA-AES256-GCM-SHA384 ECDHE-ECDSA-AES256-SHA \
ECDHE-ECDSA-CHACHA20-POLY1305 ECDHE-PSK-AES128-CBC-SHA ECDHE-PSK-AES256-CBC-SHA ECDHE-PSK-CHACHA20-POLY1305 \
ECDHE-RSA-AES128-GCM-SHA256 ECDHE-RSA-AES128-SHA ECDHE-RSA-AES128-SHA256 ECDHE-RSA-AES256-GCM-SHA384 ECDHE-RSA-AES256-SHA \
ECDHE-RSA-CHACHA20-POLY1305 PSK-AES128-CBC-SHA PSK-AES256-CBC-SHA TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA \
TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256 TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA \
TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256 TLS_ECDHE_PSK_WITH_AES_128_CBC_SHA \
TLS_ECDHE_PSK_WITH_AES_256_CBC_SHA TLS_ECDHE_PSK_WITH_CHACHA20_POLY1305_SHA256 TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA \
TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256 TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA \
TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384 TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256 TLS_PSK_WITH_AES_128_CBC_SHA \
TLS_PSK_WITH_AES_256_CBC_SHA TLS_RSA_WITH_3DES_EDE_CBC_SHA TLS_RSA_WITH_AES_128_CBC_SHA TLS_RSA_WITH_AES_128_GCM_SHA256 \
TLS_RSA_WITH_AES_256_CBC_SHA TLS_RSA_WITH_AES_256_GCM_SHA384";

/// Cipher suites of TLS 1.3, which are always on.
const ALWAYS: [&str; 3] = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"];

const CURVES: &str = "MLKEM1024 P-224 P-256 P-384 P-521 X25519 X25519Kyber768Draft00 X25519MLKEM768 prime256v1 secp224r1 \
secp384r1 secp521r1 x25519";

const SIGNATURES: &str = "ecdsa_secp256r1_sha256 ecdsa_secp384r1_sha384 ecdsa_secp521r1_sha512 ecdsa_sha1 ed25519 \
rsa_pkcs1_sha1 rsa_pkcs1_sha256 rsa_pkcs1_sha256_legacy rsa_pkcs1_sha384 rsa_pkcs1_sha512 rsa_pss_rsae_sha256 \
rsa_pss_rsae_sha384 rsa_pss_rsae_sha512";

/// Curves that only some Envoys have, with the first and the last minor version (run with Envoy 1.36.4 to 1.40.0; what is
/// older than these is not known).
const SOMETIMES: [(&str, u16, u16); 4] =
    [("MLKEM1024", 38, u16::MAX), ("P-224", 0, 37), ("X25519Kyber768Draft00", 0, 38), ("secp224r1", 0, 37)];

/// A curve that the proxy's Envoy does not have, and another one has.
fn curve_of_another_release(minor: Option<u16>, params: &Object<'_>) -> Option<Refusal> {
    let minor = minor?;
    items(params, "ecdh_curves").iter().find_map(|node| {
        let (name, first, last) = SOMETIMES.iter().find(|(name, ..)| node.as_str() == Some(name))?;
        let when = if minor < *first {
            format!("has the curve `{name}` from 1.{first} on")
        } else if minor > *last {
            format!("no longer has the curve `{name}` since 1.{}", last + 1)
        } else {
            return None;
        };
        let help = "write `X25519MLKEM768`, `X25519`, `P-256`, `P-384` or `P-521`";
        Some(refusal(node.span, format!("Envoy {when}"), help))
    })
}

/// Names of algorithms that BoringSSL does not have.
pub(super) fn algorithms(value: &PatchValue<'_>, params: &Object<'_>) -> Option<Refusal> {
    if let Some(found) = curve_of_another_release(value.envoy_minor, params) {
        return Some(found);
    }
    let unknown = |list: &'static str, known: &'static str, plain: fn(&str) -> bool| {
        items(params, list).iter().find_map(move |node| {
            let wrong = |name: &&str| plain(name) && !known.split(' ').any(|one| one == *name);
            Some((list, node, node.as_str()?.trim_matches(['[', ']']).split('|').find(wrong)?))
        })
    };
    // A word such as `ECDHE`, and a rule such as `-ALL`, stand for several suites.
    let suite = |name: &str| name.contains(['-', '_']) && name.starts_with(|c: char| c.is_ascii_alphanumeric());
    let single = |name: &str| !name.is_empty() && !name.contains(['+', ':']);
    let (list, node, name) = unknown("cipher_suites", CIPHERS, suite)
        .or_else(|| unknown("ecdh_curves", CURVES, single))
        .or_else(|| unknown("signature_algorithms", SIGNATURES, single))?;
    if ALWAYS.contains(&name) {
        let help =
            "delete it: suites of TLS 1.3 are always on, and `tls_minimum_protocol_version: TLSv1_3` leaves only them";
        return Some(refusal(node.span, format!("`{name}` cannot be configured"), help));
    }
    let help = match list {
        "cipher_suites" => "write a suite that BoringSSL has, such as `ECDHE-ECDSA-AES256-GCM-SHA384`",
        "ecdh_curves" => "write `X25519`, `P-256`, `P-384` or `P-521`",
        _ => "write an algorithm that BoringSSL has, such as `ecdsa_secp256r1_sha256`",
    };
    Some(refusal(node.span, format!("BoringSSL, Envoy's TLS library, does not support `{name}` in `{list}`"), help))
}

/// A certificate is proven with a key.
pub(super) fn private_key(_: &PatchValue<'_>, certificate: &Object<'_>) -> Option<Refusal> {
    let keyed = ["private_key", "private_key_provider", "pkcs12"].iter().any(|name| has(certificate, name));
    (has(certificate, "certificate_chain") && !keyed).then(|| {
        let message = "`certificate_chain` needs a `private_key`";
        refusal(span(certificate, "certificate_chain"), message, "add `private_key`")
    })
}

/// Checks that mean nothing unless somebody trusted has signed the certificate: names, and its validity.
pub(super) fn without_ca(value: &PatchValue<'_>, context: &Object<'_>) -> Option<Refusal> {
    holder(value, context, "envoy.extensions.transport_sockets.tls.v3.CommonTlsContext")
        .filter(|(_, field)| *field == "validation_context")?;
    let trusted = ["trusted_ca", "ca_certificate_provider_instance", "custom_validator_config", "system_root_certs"];
    if trusted.iter().any(|name| has(context, name)) {
        return None;
    }
    let checks = ["match_typed_subject_alt_names", "match_subject_alt_names", "crl", "allow_expired_certificate"];
    let check = checks.into_iter().find(|name| is_set(context, name))?;
    Some(refusal(span(context, check), format!("`{check}` needs a `trusted_ca`"), "add `trusted_ca`"))
}

/// Digests of certificates and keys.
pub(super) fn digests(_: &PatchValue<'_>, context: &Object<'_>) -> Option<Refusal> {
    let hex = |text: &str| text.replace(':', "").bytes().all(|byte| byte.is_ascii_hexdigit());
    let wrong = |node: &&Node| node.as_str().is_some_and(|text| !hex(text));
    let node = items(context, "verify_certificate_hash").iter().find(wrong)?;
    let help = "openssl x509 -in CERT -outform DER | openssl dgst -sha256";
    Some(refusal(node.span, "an item of `verify_certificate_hash` is not a hexadecimal SHA-256", help))
}

/// Certificates and keys inside the document are PEM.
pub(super) fn pem(value: &PatchValue<'_>, source: &Object<'_>) -> Option<Refusal> {
    let (owner, field) = source.parent.and_then(|(at, field)| Some((value.objects.get(at)?, field.name())))?;
    let begins = match (owner.short_name(), field) {
        ("CertificateValidationContext", "trusted_ca") | ("TlsCertificate", "certificate_chain") => {
            "-----BEGIN CERTIFICATE"
        }
        ("TlsCertificate", "private_key") => "-----BEGIN ",
        _ => return None,
    };
    let trusted = ["-----BEGIN TRUSTED CERTIFICATE", "-----BEGIN X509 CERTIFICATE"];
    let (written, place) = inline(source)?;
    // Encrypted or not, Envoy finds no certificate in anything else.
    (!written.contains(begins) && !trusted.iter().any(|begin| written.contains(begin))).then(|| {
        let help = format!("write the PEM text with its lines, from `{begins}…`; or give a `filename`, or a secret");
        refusal(place, format!("`{field}` is not PEM"), help)
    })
}

/// A name of another kind says which.
pub(super) fn other_name(_: &PatchValue<'_>, matcher: &Object<'_>) -> Option<Refusal> {
    matcher.envoy?.field("oid")?;
    (is(matcher, "san_type", "OTHER_NAME") && text(matcher, "oid").is_none())
        .then(|| refusal(span(matcher, "san_type"), "`san_type: OTHER_NAME` needs an `oid`", "add `oid`"))
}

/// A secret without a source is looked up in the bootstrap, where istiod puts none.
pub(super) fn secret(value: &PatchValue<'_>, secret: &Object<'_>) -> Option<Refusal> {
    let (owner, field) = secret.parent.and_then(|(at, field)| Some((value.objects.get(at)?, field.name())))?;
    // An injector of credentials does not even say so: Envoy 1.38.2 and 1.39.3 end with signal 11.
    let contexts = ["CommonTlsContext", "CombinedCertificateValidationContext", "Generic"];
    let name = text(secret, "name").filter(|_| contexts.contains(&owner.short_name()) && !has(secret, "sds_config"))?;
    let message = format!(
        "`{field}` needs `sds_config`: without it Envoy looks for the secret `{name}` in the bootstrap, where istiod puts none"
    );
    Some(refusal(span(secret, "name"), message, "sds_config: {ads: {}, resource_api_version: V3}"))
}

/// A server's name can only be compared with a certificate that is checked.
pub(super) fn checked_names(value: &PatchValue<'_>, client: &Object<'_>) -> Option<Refusal> {
    if !is_true(client, "auto_sni_san_validation") {
        return None;
    }
    let common = child(value, client, "common_tls_context");
    let contexts = ["validation_context", "validation_context_sds_secret_config", "combined_validation_context"];
    let checks = common.is_some_and(|common| contexts.iter().any(|name| has(common, name)));
    (!checks).then(|| {
        let message = "`auto_sni_san_validation` needs a `validation_context`";
        refusal(span(client, "auto_sni_san_validation"), message, "add `validation_context` with a `trusted_ca`")
    })
}
