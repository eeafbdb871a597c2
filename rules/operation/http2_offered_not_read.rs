//! EF356: a connection manager that does not read the protocol that TLS offers.

use crate::declare_rule;
use crate::engine::trace::Place;
use crate::lint::context::PatchRun;
use crate::lint::{Context, Findings, RuleInfo, names};
use crate::model::envoy_filter::ApplyTo;
use crate::source::Severity;
use std::collections::BTreeSet;

declare_rule! {
    /// `codec_type: HTTP1` behind TLS that offers HTTP/2.
    ///
    /// # What it finds
    /// A NETWORK_FILTER MERGE of `codec_type: HTTP1` into the connection manager of a filter chain whose `alpn_protocols`
    /// contain `h2`.
    ///
    /// # Why it matters
    /// The client and the proxy agree on HTTP/2 while TLS is set up, and then the connection manager reads HTTP/1.1 only:
    /// it closes the connection. Browsers and most clients choose `h2` if it is offered.
    ///
    /// # How to fix
    /// Remove `codec_type`: AUTO reads what was agreed on. For a gateway without HTTP/2, offer only `http/1.1`, with a
    /// FILTER_CHAIN patch of the transport socket.
    ///
    /// # References
    /// Envoy `HttpConnectionManager.codec_type`; requests through Envoy 1.39.3.
    "EF356" "http2-offered-not-read" Operation Error => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values().iter().filter(|value| value.view.patch.apply_to == ApplyTo::NetworkFilter) {
        let managers = value.objects.iter().filter(|object| object.short_name() == "HttpConnectionManager");
        for codec in managers.filter_map(|manager| manager.member("codec_type")) {
            if codec.entry.value.as_str() != Some("HTTP1") {
                continue;
            }
            let Some(seen) = cx.seen(&value.view, |run| !offering(run).is_empty()) else { continue };
            let listeners: BTreeSet<String> = seen.runs.iter().flat_map(offering).collect();
            let finding = value
                .finding(
                    rule,
                    codec.entry.value.span,
                    "TLS offers `h2` to clients, but the connection manager reads HTTP/1.1 only",
                )
                .label("not what is offered")
                .note("connections of clients that choose HTTP/2 are closed: browsers at a gateway, gRPC clients at a sidecar")
                .help("remove `codec_type`: AUTO reads HTTP/1.1 and HTTP/2");
            let finding = if seen.certain() {
                finding.note(format!("listeners: {}", names::listed(listeners.iter().map(String::as_str), 6)))
            } else {
                finding.severity(Severity::Warning)
            };
            out.push(seen.tell(finding));
        }
    }
}

/// The listeners that a patch changed in a chain that offers HTTP/2.
fn offering(run: &PatchRun<'_, '_>) -> BTreeSet<String> {
    let changed = run.trace.effects.iter().filter(|(place, effect)| place.filter.is_some() && effect.changes());
    let offers = |place: &&Place| {
        let chain = place.with(|names| (names.filter, names.sub_filter, names.inline_route) = (None, None, None));
        let offers = run.run.with_object(&chain, |chain| {
            let config = chain.path(&["transport_socket", "typed_config"])?.readable();
            let offered = config.path(&["common_tls_context", "alpn_protocols"])?;
            Some(offered.items().iter().any(|protocol| protocol.as_str() == Some("h2")))
        });
        offers == Some(true)
    };
    changed.map(|(place, _)| place).filter(offers).map(|place| place.resource.to_string()).collect()
}
