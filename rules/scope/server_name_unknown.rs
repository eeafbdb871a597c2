//! EF541: an RBAC rule about the server name of connections that have none.

use crate::declare_rule;
use crate::lint::context::{PatchRun, ProxyRun};
use crate::lint::per_run::PerRun;
use crate::lint::seen::{Seen, filter_chains};
use crate::lint::{Context, Findings, Knowledge, RuleInfo};
use crate::model::envoy_filter::ApplyTo;
use crate::proto::tree::{Origin, Tree};
use std::collections::HashMap;

declare_rule! {
    /// An RBAC rule about `requested_server_name` where Envoy does not know the server name.
    ///
    /// # What it finds
    /// With config dumps: `requested_server_name` in the rules of an inserted RBAC filter, if none of its listeners has a TLS inspector and
    /// none of its filter chains has TLS.
    ///
    /// # Why it matters
    /// Envoy learns the server name (SNI) from the TLS inspector or from TLS of its own. Without them it is empty: an ALLOW closes every
    /// connection, a DENY none.
    ///
    /// # How to fix
    /// Match the port of the TLS listener (`portNumber: 8443`), or decide by the host of the request: `header: {name: ":authority"}` in an HTTP
    /// RBAC filter.
    ///
    /// # References
    /// Envoy `config.rbac.v3.Permission.requested_server_name`; the answers of Envoy 1.38.2.
    "EF541" "server-name-unknown" Scope Error => check,
    needs: &[Dump]
}

/// For each filter of a patch, chain by chain: whether the server name is known there.
type Places = HashMap<Origin, Vec<bool>>;

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let known: PerRun<Places> = PerRun::new();
    for value in cx.values() {
        if !matches!(value.view.patch.apply_to, ApplyTo::HttpFilter | ApplyTo::NetworkFilter) {
            continue;
        }
        for object in value.objects.iter().filter(|object| object.full_name() == "envoy.config.rbac.v3.Permission") {
            let Some(name) = object.member("requested_server_name") else { continue };
            let nowhere = |run: &PatchRun<'_, '_>| {
                let places = known.of(run.run, by_patch).get(&run.id.origin()).cloned().unwrap_or_default();
                run.run.knowledge == Knowledge::Dump && !places.is_empty() && !places.contains(&true)
            };
            let Some(seen) = cx.seen_if(&value.view, nowhere).filter(Seen::certain) else { continue };
            let finding = value
                .finding(rule, name.entry.key_span, "connections have no server name here: their listener has no TLS")
                .label("always empty")
                .help("portNumber of the listener with TLS in the match, or a rule about the header `:authority`");
            out.push(seen.tell(finding));
        }
    }
}

fn by_patch(run: &ProxyRun<'_>) -> Places {
    let mut found = Places::new();
    for (_, listener) in run.changed_listeners() {
        let listening = listener.get("listener_filters").map(Tree::readable);
        let listening = listening.as_deref().map(Tree::items).unwrap_or_default();
        let inspected = !listening.iter().all(|filter| matches!(filter.readable().name(), HTTP | DESTINATION));
        for chain in filter_chains(listener) {
            let known = inspected || chain.get("transport_socket").is_some();
            let network = chain.get("filters").map(Tree::items).unwrap_or_default();
            let configs = network.iter().filter_map(|filter| filter.get("typed_config"));
            let http = configs.filter_map(|config| config.get("http_filters")).flat_map(Tree::items);
            for filter in network.iter().chain(http).filter(|filter| filter.origin != Origin::ISTIOD) {
                found.entry(filter.origin).or_default().push(known);
            }
        }
    }
    found
}

/// Listener filters that do not learn a server name.
const HTTP: &str = "envoy.filters.listener.http_inspector";
const DESTINATION: &str = "envoy.filters.listener.original_dst";
