//! EF168: a digest of Wasm code that no code has.

use crate::declare_rule;
use crate::lint::walk::get;
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// A `sha256` of Wasm code that is not a SHA-256 digest.
    ///
    /// # What it finds
    /// `remote.sha256` of a `VmConfig` that is not 64 lowercase hexadecimal digits: a shortened digest, one with the prefix
    /// `sha256:`, one in capitals. `nil`, which Istio's agent reads as none, is not reported.
    ///
    /// # Why it matters
    /// Envoy and Istio's agent compare the text with the digest of what they fetch. They never agree, and the module is
    /// never loaded.
    ///
    /// # How to fix
    /// `sha256sum plugin.wasm`, and only its 64 digits.
    ///
    /// # References
    /// Envoy `source/common/config/remote_data_fetcher.cc`; Istio `pkg/wasm/cache.go`, which compare the lowercase text.
    "EF168" "wasm-digest-malformed" Value Error => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for object in value.objects.iter().filter(|object| object.short_name() == "VmConfig") {
            let code = object.member("code").map(|member| &member.entry.value);
            let Some(digest) = code.and_then(|code| get(get(code, "remote")?, "sha256")) else { continue };
            let written = digest.as_str().unwrap_or_default();
            let hexadecimal = |text: &str| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
            if matches!(written, "" | "nil") || hexadecimal(written) && written == written.to_ascii_lowercase() {
                continue;
            }
            let bare = written.strip_prefix("sha256:").unwrap_or(written).to_ascii_lowercase();
            let (label, help) = if hexadecimal(&bare) {
                ("not only lowercase hexadecimal digits", format!("sha256: {bare}"))
            } else {
                ("not 64 hexadecimal digits", "sha256: <the 64 digits that `sha256sum plugin.wasm` prints>".to_owned())
            };
            out.push(
                value
                    .finding(rule, digest.span, "no module has this digest: the module is never loaded")
                    .label(label)
                    .help(help),
            );
        }
    }
}
