//! EF164: an access log in a file that the proxy cannot open.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// An access log in a file of the proxy's file system, which is read-only.
    ///
    /// # What it finds
    /// The `path` of a file access log outside `/dev` and the writable volumes of the proxy, `/etc/istio/proxy` and
    /// `/var/lib/istio/data`.
    ///
    /// # Why it matters
    /// Istio injects the proxy with `readOnlyRootFilesystem: true`. Envoy rejects the whole listener if it cannot open the
    /// file: "unable to open file".
    ///
    /// # How to fix
    /// `/dev/stdout`; or mount a volume there with the annotations `sidecar.istio.io/userVolume` and
    /// `sidecar.istio.io/userVolumeMount`, and suppress this finding.
    ///
    /// # References
    /// istio/istio#55694; Envoy 1.38.2 rejects a configuration with a file in a folder that does not exist.
    "EF164" "log-file-not-writable" Value Warning => check
}

const LOG: &str = "envoy.extensions.access_loggers.file.v3.FileAccessLog";
const WRITABLE: [&str; 3] = ["/dev/", "/etc/istio/proxy/", "/var/lib/istio/data/"];

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for object in value.objects.iter().filter(|object| object.full_name() == LOG) {
            let Some(member) = object.member("path") else { continue };
            let path = member.entry.value.as_str().unwrap_or_default();
            if path.is_empty() || WRITABLE.iter().any(|folder| path.starts_with(folder)) {
                continue;
            }
            out.push(
                value
                    .finding(rule, member.entry.value.span, format!("Envoy cannot open `{path}` for writing"))
                    .label("on a read-only file system")
                    .note("Envoy rejects the whole listener: \"unable to open file\"")
                    .likely("Istio mounts the proxy's file system read-only, unless you mount a volume there")
                    .help("path: /dev/stdout"),
            );
        }
    }
}
