//! TLS from proxies to a service: the settings of a DestinationRule for those of a cluster.

use crate::migrate::base::value::{Fields, left};
use crate::source::ErrorMessage;
use serde_json::{Map, Value as Json, json};

const TLS: &str = "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext";

/// Files with the authorities of the operating system, where the proxy's agent looks for them (`GetOSRootFilePath` in istio
/// `pkg/security`). istiod uses them if no path is given.
const SYSTEM: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/tls/cacert.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/cert.pem",
    "/usr/local/etc/ssl/cert.pem",
    "/etc/ssl/certs/ca-certificates",
];

/// What istiod does for a rule without `sni` (`setAutoSniAndAutoSanValidation`).
const NO_SNI: &str = "istiod sends the `Host` of each request as the server name (SNI), and verifies it in the certificate if the rule names no other; the filter sends none";

/// The settings of a DestinationRule for those of a cluster.
pub(in crate::migrate) struct UpstreamTls {
    /// `trafficPolicy.tls`.
    pub native: Json,
    /// How the certificate of the service is verified, as the end of a sentence.
    pub verified: String,
    /// What else changes.
    pub effects: Vec<String>,
}

/// The settings for a transport socket with certificates from files, or why there are none.
pub(in crate::migrate) fn upstream_tls(mut socket: Fields) -> Result<UpstreamTls, ErrorMessage> {
    socket.skip("name");
    if socket.peek("typed_config").is_none() {
        return Err("the cluster's `transport_socket` has no configuration (`typed_config`)".into());
    }
    let Some(mut context) = socket.typed("typed_config", TLS) else {
        return Err("the cluster's `transport_socket` is not TLS (`UpstreamTlsContext`)".into());
    };
    let mut native = json!({ "mode": "SIMPLE" });
    let mut effects = Vec::new();
    let mut certificates = context.list("common_tls_context/tls_certificates");
    if let Some(mut certificate) = certificates.pop() {
        let files = [certificate.text("certificate_chain/filename"), certificate.text("private_key/filename")];
        let [Some(chain), Some(key)] = files else {
            return Err("a DestinationRule takes the client's certificate and key from files".into());
        };
        native["mode"] = "MUTUAL".into();
        native["clientCertificate"] = chain.into();
        native["privateKey"] = key.into();
        if !certificate.is_empty() || !certificates.is_empty() {
            return Err("a DestinationRule takes one client certificate, with its chain and key".into());
        }
    }
    match context.text("sni") {
        Some(sni) => native["sni"] = sni.into(),
        None => effects.push(NO_SNI.to_owned()),
    }
    let ca = context.text("common_tls_context/validation_context/trusted_ca/filename");
    let mut names = Vec::new();
    for list in ["match_typed_subject_alt_names", "match_subject_alt_names"] {
        for mut one in context.list(&format!("common_tls_context/validation_context/{list}")) {
            if one.text("san_type").is_some() {
                let effect = "a name counts in any form in the service's certificate (DNS, URI, IP address), not only in the filter's `san_type`";
                effects.push(effect.to_owned());
            }
            match one.text("matcher/exact").or_else(|| one.text("exact")) {
                Some(name) if one.is_empty() => names.push(name),
                _ => return Err("a DestinationRule compares whole names of the service's certificate (`exact`)".into()),
            }
        }
    }
    effects.dedup();
    if ca.is_none() && !names.is_empty() {
        // istiod rejects `subjectAltNames` together with `insecureSkipVerify`.
        return Err("the cluster compares names of a certificate that no authority (`trusted_ca`) verifies: Envoy rejects this, and istiod a rule that says the same".into());
    }
    if !names.is_empty() {
        native["subjectAltNames"] = names.into();
    }
    let verified = match ca.as_deref() {
        Some(path) if SYSTEM.contains(&path) => "is verified with the authorities of the operating system".to_owned(),
        Some(path) => {
            native["caCertificates"] = path.into();
            format!("is verified with `{path}`, as the filter does: every client that the rule reaches needs the file")
        }
        None => {
            native["insecureSkipVerify"] = true.into();
            "is not verified, as the filter does not: without `insecureSkipVerify`, istiod verifies it with the authorities of the operating system".to_owned()
        }
    };
    let offered = context.texts("common_tls_context/alpn_protocols");
    if !offered.is_empty() {
        effects.push(format!(
            "the connection offers the protocols that istiod chooses for the port (ALPN) instead of `{}`",
            offered.join(", ")
        ));
    }
    for path in ["common_tls_context/validation_context", "common_tls_context"] {
        if context.peek(path).is_some_and(|inner| inner.as_object().is_some_and(Map::is_empty)) {
            context.skip(path);
        }
    }
    if !context.is_empty() || !socket.is_empty() {
        return Err(left("`tls` of a DestinationRule", [&context, &socket]).into());
    }
    Ok(UpstreamTls { native, verified, effects })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(validation: Json) -> Result<UpstreamTls, ErrorMessage> {
        let url = format!("type.googleapis.com/{TLS}");
        let context =
            json!({ "@type": url, "sni": "a.example", "common_tls_context": { "validation_context": validation } });
        upstream_tls(Fields(json!({ "name": "tls", "typed_config": context })))
    }

    #[test]
    fn a_path_that_ends_like_that_of_the_system_is_kept() {
        for path in ["/etc/custom/cert.pem", "/var/ca-certificates.crt", "/etc/ssl/certs/ca-certificates.crt.old"] {
            let tls = of(json!({ "trusted_ca": { "filename": path } })).unwrap();
            assert_eq!(tls.native["caCertificates"], path);
            assert!(tls.verified.contains(path) && tls.native["insecureSkipVerify"].is_null());
        }
        for path in SYSTEM {
            let tls = of(json!({ "trusted_ca": { "filename": path } })).unwrap();
            assert_eq!(tls.native, json!({ "mode": "SIMPLE", "sni": "a.example" }));
        }
    }

    #[test]
    fn a_certificate_that_nobody_verifies_is_said() {
        let tls = of(json!({})).unwrap();
        assert!(tls.native["insecureSkipVerify"] == true && tls.verified.starts_with("is not verified"));
        let names = json!([{ "san_type": "DNS", "matcher": { "exact": "a.example" } }]);
        assert!(of(json!({ "match_typed_subject_alt_names": names.clone() })).is_err());
        let tls =
            of(json!({ "trusted_ca": { "filename": "/ca.pem" }, "match_typed_subject_alt_names": names })).unwrap();
        assert_eq!((tls.native["subjectAltNames"].clone(), tls.effects.len()), (json!(["a.example"]), 1));
    }
}
