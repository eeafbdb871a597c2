//! EF212: a filterChain match that matches no filter chain.

use crate::declare_rule;
use crate::engine::trace::Condition;
use crate::lint::{Context, Findings, RuleInfo, names, no_match};
use crate::model::envoy_filter::{ObjectMatch, PatchContext};

declare_rule! {
    /// A `filterChain` match (name, sni, protocols, port) that matches no filter chain.
    ///
    /// # What it finds
    /// `filterChain.name`, `sni`, `transportProtocol`, `applicationProtocols` or `destinationPort` that no filter chain
    /// of the matched listeners has. Without config dumps: one that another patch removes, or that it renames at the
    /// wrong time.
    ///
    /// # Why it matters
    /// The patch does nothing. `sni` must be literally one of a filter chain's server names (`*.example.com` is a name
    /// like any other); filter chains of plain HTTP servers have none; a filter chain without a filter_chain_match
    /// matches only by `name`.
    ///
    /// # How to fix
    /// Write values that the filter chains have, or omit the part.
    ///
    /// # References
    /// istio/istio#32862, istio/istio#47004, istio/istio#33694, istio/istio#36172; istiod
    /// `pilot/pkg/networking/core/envoyfilter/listener_patch.go`.
    "EF212" "filter-chain-not-found" Matching Error => check
}

const CONDITIONS: &[Condition] = &[
    Condition::ChainName,
    Condition::Sni,
    Condition::TransportProtocol,
    Condition::ApplicationProtocols,
    Condition::DestinationPort,
];

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for one in no_match::at(cx, CONDITIONS) {
        let (ObjectMatch::Listener(want), Some(condition)) = (&one.view.patch.object, one.nearest) else { continue };
        let Some(chain) = &want.filter_chain else { continue };
        let (field, value) = match condition {
            Condition::ChainName => ("name", chain.name.clone()),
            Condition::Sni => ("sni", chain.sni.clone()),
            Condition::TransportProtocol => ("transportProtocol", chain.transport_protocol.clone()),
            Condition::ApplicationProtocols => ("applicationProtocols", chain.application_protocols.clone()),
            _ => ("destinationPort", chain.destination_port.to_string()),
        };
        let mut finding = one.finding(cx, rule, "filter chain", format!("no filter chain has {field} `{value}`"));
        let nothing = one.candidates.iter().all(String::is_empty);
        let about_port = one.help_about_port();
        finding = match condition {
            _ if about_port.is_some() => finding.help(about_port.unwrap_or_default()),
            Condition::Sni if nothing => finding.help("these filter chains have no server names (plain HTTP, or TLS without SNI): omit `sni` and match by `portNumber`"),
            Condition::ApplicationProtocols => {
                let missing: Vec<&str> = chain.application_protocols.split(',').filter(|part| !one.candidates.contains(*part)).collect();
                match missing.iter().find(|part| part.trim() != **part) {
                    Some(part) => finding.help(format!("write the list without spaces: {:?} is compared as it is", *part)),
                    None if nothing => finding.help("these filter chains have no application protocols: omit `applicationProtocols`"),
                    None => finding.help("one filter chain must have every protocol of the list"),
                }
            }
            Condition::DestinationPort if one.view.patch.context == PatchContext::SidecarInbound => {
                finding.help("inbound filter chains have the container port, not the Service port")
            }
            _ => match names::nearest(&value, one.candidates.iter().map(String::as_str)) {
                Some(like) => finding.help(format!("{field}: {like}")),
                None => finding.help(format!("omit `{field}`, or write one that exists")),
            },
        };
        out.push(finding);
    }
}
