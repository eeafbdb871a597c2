//! EF184: a file that Istio's proxy image does not contain, or a folder in its place.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::Severity;

declare_rule! {
    /// A file that Istio's proxy image does not contain, or a folder in the place of a file.
    ///
    /// # What it finds
    /// `filename` of a certificate authority, certificate, key, script or module that is a folder; that has the place
    /// of the certificate authorities in Red Hat, SUSE or Alpine; that Istio before 1.5 had in `/etc/certs`; or that
    /// is below `/etc/istio/extensions` (Wasm modules of Istio before 1.20).
    ///
    /// # Why it matters
    /// Envoy reads the file when it gets the configuration, and rejects the listener or cluster if it cannot ("Invalid path").
    /// It reads a folder as an empty file.
    ///
    /// # How to fix
    /// `/etc/ssl/certs/ca-certificates.crt` is in every proxy image of Istio. Mount other files with the annotation
    /// `sidecar.istio.io/userVolume` and its `userVolumeMount`.
    ///
    /// # References
    /// Envoy `config.core.v3.DataSource`; tested with Envoy 1.38.2 ("file … is empty", "Invalid path").
    "EF184" "file-not-in-proxy" Value Warning => check
}

/// The certificate authorities of the proxy image.
const AUTHORITIES: &str = "/etc/ssl/certs/ca-certificates.crt";

/// Folders that are written in place of a file.
const FOLDERS: &[&str] = &[
    "/etc/ssl",
    "/etc/ssl/certs",
    "/etc/pki/tls/certs",
    "/usr/local/share/ca-certificates",
    "/usr/share/ca-certificates",
    "/var/run/secrets/istio",
    "/var/run/secrets/kubernetes.io/serviceaccount",
];

/// Files and folders of other images, and of Istio releases that are gone.
const ELSEWHERE: &[(&str, &str)] = &[
    ("/etc/pki/tls/certs/ca-bundle.crt", "the certificate authorities of Red Hat images"),
    ("/etc/pki/ca-trust/", "the certificate authorities of Red Hat images"),
    ("/etc/ssl/ca-bundle.pem", "the certificate authorities of SUSE images"),
    ("/etc/ssl/cert.pem", "the certificate authorities of Alpine images"),
    ("/etc/certs/cert-chain.pem", "where Istio before 1.5 mounted certificates"),
    ("/etc/certs/key.pem", "where Istio before 1.5 mounted certificates"),
    ("/etc/certs/root-cert.pem", "where Istio before 1.5 mounted certificates"),
    ("/etc/istio/extensions/", "Wasm modules of Istio before 1.20"),
];

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for object in value.objects.iter().filter(|object| object.full_name() == "envoy.config.core.v3.DataSource") {
            let Some((written, path)) =
                object.member("filename").and_then(|member| Some((&member.entry.value, member.entry.value.as_str()?)))
            else {
                continue;
            };
            let owner = object.parent.map(|(_, field)| field.name()).unwrap_or_default();
            let authority = owner == "trusted_ca";
            if path.ends_with('/') || FOLDERS.contains(&path) {
                let help =
                    if authority { format!("filename: {AUTHORITIES}") } else { "name the file in it".to_owned() };
                out.push(
                    value
                        .finding(rule, written.span, format!("`{path}` is a folder, and `filename` names one file"))
                        .severity(Severity::Error)
                        .label("read as an empty file")
                        .help(help),
                );
                continue;
            }
            let Some((_, what)) = ELSEWHERE.iter().find(|(known, _)| path.starts_with(known)) else { continue };
            out.push(
                value
                    .finding(rule, written.span, format!("Istio's proxy image does not contain `{path}`"))
                    .label(*what)
                    .note("unless a volume mounts it, Envoy rejects the resource with this value: \"Invalid path\"")
                    .help(if authority {
                        format!("filename: {AUTHORITIES}")
                    } else {
                        "mount it with the annotations sidecar.istio.io/userVolume and userVolumeMount, and use that path".to_owned()
                    }),
            );
        }
    }
}
