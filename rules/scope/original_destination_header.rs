//! EF542: a cluster whose address a header chooses, which no filter writes, or which the cluster does not read.

use crate::declare_rule;
use crate::lint::value::{Object, PatchValue};
use crate::lint::walk;
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::PatchContext;
use crate::source::{Node, NodeValue};

declare_rule! {
    /// A cluster whose address is taken from a header that only clients send, or that the cluster does not read.
    ///
    /// # What it finds
    /// A cluster of type ORIGINAL_DST with `use_http_header: true`, added to gateways or the inbound side, if no given
    /// EnvoyFilter names the header (`http_header_name`, otherwise `x-envoy-original-dst-host`) and none inserts a
    /// filter that could write it (external authorization, external processing, Wasm); and one without
    /// `use_http_header` in an EnvoyFilter that writes that header.
    ///
    /// # Why it matters
    /// Envoy does not remove the header from requests of clients, also at the edge: every client that sends it reaches
    /// any address and port that the proxy can reach, such as other pods, the metadata service of the cloud or an
    /// admin interface. Requests without it are answered with 503. A cluster that does not read the header sends
    /// requests to the address that the client connected to: the proxy itself.
    ///
    /// # How to fix
    /// Overwrite the header where the address is decided: `request_headers_to_add` of the route with
    /// `append_action: OVERWRITE_IF_EXISTS_OR_ADD`, or `headers():replace(…)` in Lua.
    ///
    /// # References
    /// Envoy, "Original destination"; tested with Envoy 1.38.2.
    "EF542" "original-destination-header" Scope Warning => check
}

/// The header that Envoy reads unless another one is named.
const DEFAULT: &str = "x-envoy-original-dst-host";
/// Types of filters that may write any header.
const WRITERS: &[&str] = &["ExtAuthz", "ExternalProcessor", "Wasm", "DynamicModuleFilter"];

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for object in value.objects.iter().filter(|object| object.full_name() == "envoy.config.cluster.v3.Cluster") {
            if !object.whole || object.text("type") != Some("ORIGINAL_DST") {
                continue;
            }
            let settings = object.member("original_dst_lb_config").map(|member| &member.entry.value);
            let of = |key: &str| settings.and_then(|settings| walk::get(settings, key));
            let reads = of("use_http_header").is_some_and(|node| node.value == NodeValue::Bool(true));
            let header =
                of("http_header_name").and_then(Node::as_str).filter(|name| !name.is_empty()).unwrap_or(DEFAULT);
            let others = || cx.values().iter().flat_map(|other| &other.objects);
            if reads {
                let served = matches!(value.view.patch.context, PatchContext::Gateway | PatchContext::SidecarInbound);
                let written = cx.values().iter().any(|other| names(other, header, object))
                    || others().any(|other| WRITERS.contains(&other.short_name()));
                let named = of("use_http_header").map_or(object.span, |node| node.span);
                if served && !written {
                    out.push(
                        value
                            .finding(rule, named, format!("clients choose the address: nothing here writes `{header}`"))
                            .label("from a header that any client can send")
                            .note("Envoy keeps the client's header, also at the edge: whoever sends it reaches every address that the proxy can reach")
                            .note("requests without the header are answered with 503")
                            .help(format!(
                                "overwrite it in the route that uses the cluster:\nrequest_headers_to_add:\n- header: {{key: {header}, value: '<address>:<port>'}}\n  append_action: OVERWRITE_IF_EXISTS_OR_ADD"
                            )),
                    );
                }
            } else if of("use_http_header").is_none()
                && let Some(writer) = cx
                    .values()
                    .iter()
                    .find(|other| other.view.filter_index == value.view.filter_index && names(other, DEFAULT, object))
            {
                out.push(
                    value
                        .finding(rule, object.span, format!("this cluster does not read `{DEFAULT}`"))
                        .label("no `use_http_header`")
                        .note(format!("configPatches[{}] writes the header", writer.view.patch.index))
                        .note("without it, requests go to the address that the client connected to")
                        .help("original_dst_lb_config:\n  use_http_header: true"),
                );
            }
        }
    }
}

/// Whether a value mentions a header, in a list of headers or in a script; not in the cluster itself.
fn names(value: &PatchValue<'_>, header: &str, cluster: &Object<'_>) -> bool {
    let mut found = false;
    if !std::ptr::eq(value.node, cluster.node) {
        walk::fields(value.node, &mut |field| {
            found |= field.node.as_str().is_some_and(|text| text.to_ascii_lowercase().contains(header));
        });
    }
    found
}
