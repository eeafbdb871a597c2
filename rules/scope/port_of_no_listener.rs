//! EF539: an RBAC rule about a port that its listeners do not have.

use crate::declare_rule;
use crate::lint::context::{PatchRun, ProxyRun};
use crate::lint::per_run::PerRun;
use crate::lint::seen::{Seen, changed_filter_lists};
use crate::lint::{Context, Findings, Knowledge, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, PatchContext};
use crate::proto::tree::{Origin, Tree};
use crate::source::NodeValue;
use std::collections::{BTreeSet, HashMap};

declare_rule! {
    /// An RBAC rule of a gateway about a port that none of its listeners has.
    ///
    /// # What it finds
    /// With config dumps of gateways: `destination_port` in the rules of an RBAC filter, if no listener that the filter is
    /// inserted into has this port, such as 443 of the Service where the gateway listens on 8443.
    ///
    /// # Why it matters
    /// The port is that of the connection to the proxy, not that of the Service. An ALLOW denies every request, a DENY
    /// none.
    ///
    /// # How to fix
    /// The port of the listener: the `targetPort` of the gateway's Service.
    ///
    /// # References
    /// Envoy `config.rbac.v3.Permission.destination_port`; the answers of Envoy 1.38.2.
    "EF539" "port-of-no-listener" Scope Error => check,
    needs: &[Dump]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let known: PerRun<Ports> = PerRun::new();
    let ports = |run: &PatchRun<'_, '_>| {
        let known = (run.run.knowledge == Knowledge::Dump).then(|| known.of(run.run, by_patch));
        known.and_then(|known| known.get(&run.id.origin()).cloned()).unwrap_or_default()
    };
    for value in cx.values() {
        let inserts = matches!(value.view.patch.apply_to, ApplyTo::HttpFilter | ApplyTo::NetworkFilter);
        if !inserts || value.view.patch.context != PatchContext::Gateway {
            continue;
        }
        for object in value.objects.iter().filter(|object| object.full_name() == "envoy.config.rbac.v3.Permission") {
            let Some(node) = object.member("destination_port").map(|member| &member.entry.value) else { continue };
            let NodeValue::Number(port) = &node.value else { continue };
            let elsewhere = |run: &PatchRun<'_, '_>| {
                let ports = ports(run);
                !ports.is_empty() && !ports.contains(&**port)
            };
            let Some(seen) = cx.seen_if(&value.view, elsewhere).filter(Seen::certain) else { continue };
            let all: BTreeSet<String> = seen.runs.iter().flat_map(ports).collect();
            let finding = value
                .finding(rule, node.span, format!("no listener of this filter has the port {port}"))
                .label("the port of a Service?")
                .note("Envoy compares the port of the connection to the proxy")
                .help(format!("ports of its listeners: {}", all.into_iter().collect::<Vec<_>>().join(", ")));
            out.push(seen.tell(finding));
        }
    }
}

/// The ports of the listeners that have filters of a patch.
type Ports = HashMap<Origin, BTreeSet<String>>;

fn by_patch(run: &ProxyRun<'_>) -> Ports {
    let mut found = Ports::new();
    for (_, listener) in run.changed_listeners() {
        let port = listener.path(&["address", "socket_address", "port_value"]).and_then(Tree::as_u64);
        let Some(port) = port.map(|port| port.to_string()) else { continue };
        for filter in changed_filter_lists(listener).flat_map(|(_, filters)| filters) {
            found.entry(filter.origin).or_default().insert(port.clone());
        }
    }
    found
}
