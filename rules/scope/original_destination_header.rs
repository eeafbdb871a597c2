//! EF542: a cluster whose address a header chooses, which no filter writes, or which the cluster does not read.

use crate::declare_rule;
use crate::lint::value::{Object, PatchValue};
use crate::lint::walk;
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::PatchContext;
use crate::source::{Node, NodeValue, Span};
use std::collections::{BTreeMap, HashMap, HashSet};

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
    let clusters: Vec<Destination<'_>> = cx.values().iter().flat_map(Destination::in_value).collect();
    if clusters.is_empty() {
        return;
    }
    let writers = Writers::of(cx, &clusters);
    for one in &clusters {
        let (value, header) = (one.value, one.header.as_str());
        if let Some(span) = one.reads {
            let served = matches!(value.view.patch.context, PatchContext::Gateway | PatchContext::SidecarInbound);
            if served && !writers.any && !writers.named.contains_key(header) {
                out.push(
                    value
                        .finding(rule, span, format!("clients choose the address: nothing here writes `{header}`"))
                        .label("from a header that any client can send")
                        .note("Envoy keeps the client's header, also at the edge: whoever sends it reaches every address that the proxy can reach")
                        .note("requests without the header are answered with 503")
                        .snippet(format!(
                            "overwrite it in the route that uses the cluster:\nrequest_headers_to_add:\n- header: {{key: {header}, value: '<address>:<port>'}}\n  append_action: OVERWRITE_IF_EXISTS_OR_ADD"
                        )),
                );
            }
        } else if let Some(patch) = writers.named.get(DEFAULT).and_then(|by| by.get(&value.view.filter_index)) {
            out.push(
                value
                    .finding(rule, one.object.span, format!("this cluster does not read `{DEFAULT}`"))
                    .label("no `use_http_header`")
                    .note(format!("configPatches[{patch}] writes the header"))
                    .note("without it, requests go to the address that the client connected to")
                    .snippet("original_dst_lb_config:\n  use_http_header: true"),
            );
        }
    }
}

/// A cluster that sends requests to the address that they were for, or that a header names.
struct Destination<'v> {
    value: &'v PatchValue<'v>,
    object: &'v Object<'v>,
    /// Where it says that it reads a header; `None` if it says nothing about headers.
    reads: Option<Span>,
    /// The header, in lowercase.
    header: String,
}

impl<'v> Destination<'v> {
    fn in_value(value: &'v PatchValue<'v>) -> impl Iterator<Item = Destination<'v>> {
        value.objects.iter().filter_map(move |object| {
            let is = object.full_name() == "envoy.config.cluster.v3.Cluster" && object.whole;
            if !is || object.text("type") != Some("ORIGINAL_DST") {
                return None;
            }
            let settings = object.member("original_dst_lb_config").map(|member| &member.entry.value);
            let of = |key: &str| settings.and_then(|settings| walk::get(settings, key));
            let reads = match of("use_http_header") {
                Some(node) if node.value == NodeValue::Bool(true) => Some(node.span),
                // It says that it reads none.
                Some(_) => return None,
                None => None,
            };
            let name = of("http_header_name").and_then(Node::as_str).filter(|name| !name.is_empty());
            Some(Destination { value, object, reads, header: name.unwrap_or(DEFAULT).to_ascii_lowercase() })
        })
    }
}

/// What may write the headers.
struct Writers {
    /// Whether there is a filter that may write any header.
    any: bool,
    /// By header: the filters whose values mention it in a list of headers or in a script, each with a patch.
    named: HashMap<String, BTreeMap<usize, usize>>,
}

impl Writers {
    /// Every text is looked at once, however many clusters there are.
    fn of(cx: &Context<'_>, clusters: &[Destination<'_>]) -> Writers {
        let mut wanted: HashSet<&str> = clusters.iter().map(|one| one.header.as_str()).collect();
        wanted.insert(DEFAULT);
        let own: HashSet<*const Node> = clusters.iter().map(|one| std::ptr::from_ref(one.value.node)).collect();
        let mut named: HashMap<String, BTreeMap<usize, usize>> = HashMap::new();
        let others = cx.values().iter().filter(|value| !own.contains(&std::ptr::from_ref(value.node)));
        for value in others {
            walk::fields(value.node, &mut |field| {
                let text = field.node.as_str().unwrap_or_default().to_ascii_lowercase();
                for word in text.split(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c)) {
                    if wanted.contains(word) {
                        let by = named.entry(word.to_owned()).or_default();
                        by.entry(value.view.filter_index).or_insert(value.view.patch.index);
                    }
                }
            });
        }
        let mut objects = cx.values().iter().flat_map(|value| &value.objects);
        Writers { any: objects.any(|object| WRITERS.contains(&object.short_name())), named }
    }
}
