//! EF150: Wasm code that is something else.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo, walk};
use crate::model::envoy_filter::ApplyTo;
use crate::source::Node;

declare_rule! {
    /// The code of a Wasm filter that is not a Wasm module: a script, or the address of a web page.
    ///
    /// # What it finds
    /// `inline_string` or `inline_bytes` that does not begin with the bytes of a Wasm module, for a runtime other than
    /// `envoy.wasm.runtime.null`; a remote address that is a page of GitHub or GitLab, or ends in `.html`; an `oci://`
    /// address outside of EXTENSION_CONFIG.
    ///
    /// # Why it matters
    /// The proxy cannot load it: it rejects the listener, or fails every request. Only Istio's agent fetches OCI images,
    /// and only for extension configurations; Envoy itself sends an HTTP request.
    ///
    /// # How to fix
    /// Compile the code to Wasm, put the module in a registry or on a server, and use the address of the file itself.
    ///
    /// # References
    /// WebAssembly core specification, binary format (`\0asm`); tested with Envoy 1.39.3.
    "EF150" "wasm-code-not-wasm" Value Error => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for object in value.objects.iter().filter(|object| object.short_name() == "VmConfig") {
            let runtime = object.text("runtime").unwrap_or_default();
            let Some(code) = object.member("code").map(|member| &member.entry.value) else { continue };
            if runtime == "envoy.wasm.runtime.null" {
                continue;
            }
            let at = |keys: &[&str]| keys.iter().try_fold(code, |node, key| walk::get(node, key));
            let inline = at(&["local", "inline_string"])
                .filter(|node| !node.as_str().is_some_and(|text| text.starts_with("\0asm")));
            let bytes = at(&["local", "inline_bytes"]).filter(|node| !node.as_str().is_some_and(is_module));
            if let Some(node) = inline.or(bytes) {
                out.push(
                    value
                        .finding(
                            rule,
                            node.span,
                            format!("the code of this Wasm filter is {}, not a Wasm module", what(node)),
                        )
                        .label("a Wasm module begins with the bytes 00 61 73 6d")
                        .rejected("Envoy cannot create the plugin and rejects the resource that contains it")
                        .help("compile the code to Wasm and use `remote` with `sha256`, or write a Lua filter"),
                );
                continue;
            }
            let Some(address) = at(&["remote", "http_uri", "uri"]) else { continue };
            let text = address.as_str().unwrap_or_default();
            let by_agent = value.view.patch.apply_to == ApplyTo::ExtensionConfig;
            if text.starts_with("oci://") && !by_agent {
                out.push(
                    value
                        .finding(rule, address.span, "Envoy cannot fetch an OCI image")
                        .label("an image, for an HTTP request")
                        .note("Istio's agent fetches images for EXTENSION_CONFIG and WasmPlugin only")
                        .help("use a WasmPlugin with this url, or the HTTP address of a module"),
                );
            } else if is_page(text) {
                out.push(
                    value
                        .finding(rule, address.span, "this address is a web page, not a Wasm module")
                        .label("answers with HTML")
                        .note("the proxy fetches the page and cannot load it as a module")
                        .help("use the address of the file itself, such as that of a release's asset, or an OCI image"),
                );
            }
        }
    }
}

/// Whether base64 text encodes a Wasm module.
fn is_module(text: &str) -> bool {
    text.trim_start().starts_with("AGFzb")
}

fn what(node: &Node) -> &'static str {
    let text = node.as_str().unwrap_or_default();
    let any = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if text.trim_start().starts_with("(module") {
        "the text format of WebAssembly"
    } else if any(&["function envoy_on_", "local "]) {
        "a Lua script"
    } else if any(&["function ", "=>", "const ", "export ", "var "]) {
        "JavaScript"
    } else if any(&["<html", "<!DOCTYPE", "PGh0bWw", "PCFET0NUWVBF"]) {
        "an HTML page"
    } else {
        "other text"
    }
}

fn is_page(address: &str) -> bool {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let path = path.split(['?', '#']).next().unwrap_or_default().to_lowercase();
    let raw = address.contains("raw=true") || address.contains("raw=1");
    let view =
        (host == "github.com" && path.contains("/blob/")) || (host.contains("gitlab") && path.contains("/-/blob/"));
    (view && !raw) || matches!(path.rsplit_once('.'), Some((_, "html" | "htm")))
}
