//! EF183: limits of TLS versions that leave none.

use crate::declare_rule;
use crate::lint::context::PatchRun;
use crate::lint::seen::merged;
use crate::lint::value::{Object, PatchValue};
use crate::lint::{Context, Findings, Knowledge, RuleInfo};
use crate::proto::tree::Tree;

declare_rule! {
    /// Limits of TLS versions that leave none.
    ///
    /// # What it finds
    /// `tls_minimum_protocol_version` above `tls_maximum_protocol_version`, also if one of them is Envoy's default:
    /// TLS 1.2 as the minimum, and as the maximum TLS 1.3 for servers but TLS 1.2 for clients. So
    /// `tls_minimum_protocol_version: TLSv1_3` alone leaves a client no version. In a MERGE, what the proxy's own
    /// settings become decides, with a config dump.
    ///
    /// # Why it matters
    /// Envoy accepts the configuration, and every handshake fails: requests are answered with 503.
    ///
    /// # How to fix
    /// Set both limits: `tls_minimum_protocol_version: TLSv1_3` and `tls_maximum_protocol_version: TLSv1_3`.
    ///
    /// # References
    /// Envoy `extensions.transport_sockets.tls.v3.TlsParameters`; tested with Envoy 1.38.2 and 1.40.0.
    "EF183" "no-tls-version-left" Value Error => check
}

const PARAMETERS: &str = "envoy.extensions.transport_sockets.tls.v3.TlsParameters";
const MINIMUM: &str = "tls_minimum_protocol_version";
const MAXIMUM: &str = "tls_maximum_protocol_version";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for object in value.objects.iter().filter(|object| object.full_name() == PARAMETERS) {
            let Some(written) = object.member(MINIMUM).or_else(|| object.member(MAXIMUM)) else { continue };
            let (minimum, maximum) = (object.text(MINIMUM), object.text(MAXIMUM));
            let client = is_client(value, object);
            let mut seen = None;
            let (least, most) = if object.whole || minimum.is_some() && maximum.is_some() {
                (minimum, maximum)
            } else {
                // The other limit is what istiod has set there.
                let none = |params: &Tree<'_>| {
                    let limit = |name: &str| params.get(name).and_then(Tree::as_str);
                    is_empty(limit(MINIMUM), limit(MAXIMUM), client)
                };
                let empty = |run: &PatchRun<'_, '_>| {
                    run.run.knowledge == Knowledge::Dump && merged(run, object).iter().any(none)
                };
                seen = cx.seen(&value.view, empty);
                let Some(run) = seen.as_ref().and_then(|seen| seen.runs.first()) else { continue };
                let Some(params) = merged(run, object).into_iter().find(none) else { continue };
                let of = |name: &str| params.get(name).and_then(Tree::as_str).and_then(known);
                (of(MINIMUM), of(MAXIMUM))
            };
            if !is_empty(least, most, client) {
                continue;
            }
            let (from, to) = (version(least, 2), version(most, default_maximum(client)));
            let side = if client { "a client" } else { "a server" };
            let defaults = match (least.is_some(), most.is_some()) {
                (true, false) => Some(format!("without `{MAXIMUM}`, the maximum of {side} is TLS 1.{to}")),
                (false, true) => Some(format!("without `{MINIMUM}`, the minimum is TLS 1.{from}")),
                _ => None,
            };
            let (low, high) = if from == 3 { (3, 3) } else { (from, 3) };
            let mut finding = value
                .finding(
                    rule,
                    written.entry.value.span,
                    format!("no TLS version is left: the minimum is TLS 1.{from}, the maximum TLS 1.{to}"),
                )
                .label("every handshake fails")
                .snippet(format!("{MINIMUM}: TLSv1_{low}\n{MAXIMUM}: TLSv1_{high}"));
            if let Some(note) = defaults {
                finding = finding.note(note);
            }
            let finding = finding.note("Envoy accepts the configuration and then fails every connection");
            out.push(match &seen {
                Some(seen) => seen.tell(finding),
                None => finding,
            });
        }
    }
}

/// Whether the parameters are those of a client, whose default maximum is lower.
fn is_client(value: &PatchValue<'_>, object: &Object<'_>) -> bool {
    let mut at = object.parent;
    while let Some(owner) = at.and_then(|(index, _)| value.objects.get(index)) {
        match owner.short_name() {
            "UpstreamTlsContext" => return true,
            "DownstreamTlsContext" => return false,
            _ => at = owner.parent,
        }
    }
    false
}

fn is_empty(minimum: Option<&str>, maximum: Option<&str>, client: bool) -> bool {
    version(minimum, 2) > version(maximum, default_maximum(client))
}

fn default_maximum(client: bool) -> u8 {
    if client { 2 } else { 3 }
}

/// The name of a version that is set.
fn known(name: &str) -> Option<&'static str> {
    ["TLSv1_0", "TLSv1_1", "TLSv1_2", "TLSv1_3"].into_iter().find(|one| *one == name)
}

/// The minor version of TLS 1; `TLS_AUTO` and what is unknown stand for the default.
fn version(name: Option<&str>, default: u8) -> u8 {
    match name {
        Some("TLSv1_0") => 0,
        Some("TLSv1_1") => 1,
        Some("TLSv1_2") => 2,
        Some("TLSv1_3") => 3,
        _ => default,
    }
}
