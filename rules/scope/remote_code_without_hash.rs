//! EF516: code fetched over the network without a checksum.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo, walk};
use crate::model::envoy_filter::ApplyTo;
use crate::source::{Node, Severity};

declare_rule! {
    /// Wasm code fetched over HTTP without `sha256`.
    ///
    /// # What it finds
    /// A `remote` source of code (`http_uri`) whose `sha256` is missing or empty.
    ///
    /// # Why it matters
    /// Anyone who controls the server or the network path can run code inside the proxy, with access to its keys and
    /// all traffic. Envoy itself rejects a remote source without `sha256`.
    ///
    /// # How to fix
    /// Write the `sha256` of the module, or use WasmPlugin with an image digest (`oci://…@sha256:…`).
    ///
    /// # References
    /// Envoy `config.core.v3.RemoteDataSource`; Istio WasmPlugin.
    "EF516" "remote-code-without-hash" Scope Warning => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let Some(value) = view.patch.body.as_ref().and_then(|body| body.value.as_ref()) else { continue };
        walk::fields(value, &mut |field| {
            if !field.is("remote") || !field.inside("code") {
                return;
            }
            // What is inside an unknown field or type never gets to the proxy.
            let route = field.route();
            let above = route.split_last().map_or(&[][..], |(_, above)| above);
            if cx.value_of(&view).is_some_and(|value| value.object_at(above).is_none()) {
                return;
            }
            let Some(uri) = walk::get(field.node, "http_uri") else { return };
            let hash = walk::get(field.node, "sha256").and_then(Node::as_str).unwrap_or_default();
            let by_agent = view.patch.apply_to == ApplyTo::ExtensionConfig;
            let address = walk::get(uri, "uri").and_then(Node::as_str).unwrap_or_default();
            // The agent reads `nil` as no checksum, and fetches an image by its digest.
            let is_pinned = by_agent && address.starts_with("oci://") && address.contains("@sha256:");
            if is_pinned || !(hash.is_empty() || by_agent && hash == "nil") {
                return;
            }
            let finding = view
                .finding(rule, view.value_route_span(&field.route()), "code is fetched without a checksum")
                .label("no sha256")
                .help("sha256: <checksum of the module>");
            // The agent also fetches code for an extension configuration without a checksum.
            let finding = if by_agent {
                finding
            } else {
                finding
                    .severity(Severity::Error)
                    .rejected("Envoy requires `sha256`: istiod sends it unchecked, and the proxy rejects the resource that contains it")
            };
            out.push(if address.starts_with("http://") {
                finding.note("the address is plain HTTP: anyone on the network path can replace the code")
            } else {
                finding.note("whoever controls the server can run code inside the proxy")
            });
        });
    }
}
