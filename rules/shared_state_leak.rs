//! EF514: a merge into an object that istiod shares between all proxies.

use crate::declare_rule;
use crate::engine::matching::VIRTUAL_INBOUND;
use crate::engine::program::Status;
use crate::engine::trace::Effect;
use crate::lint::context::PatchRun;
use crate::lint::{Confidence, Context, Finding, Findings, Knowledge, Rule};
use crate::model::envoy_filter::ApplyTo;
use crate::proto::tree::{Tree, Value};

declare_rule! {
    /// A merge that istiod writes into an object shared by all proxies: it leaks, and stays.
    ///
    /// # What it finds
    /// ROUTE_CONFIGURATION merges of `validate_clusters: true` or `max_direct_response_body_size_bytes`, FILTER_CHAIN merges of
    /// `filter_chain_match` into the chains of `virtualInbound`, and LISTENER_FILTER merges.
    ///
    /// # Why it matters
    /// istiod's generators hand out the same message to every proxy, and a merge changes it in place. Proxies that the filter
    /// never selected get the change, in other namespaces too, and keep it after the filter is deleted, until istiod
    /// restarts.
    ///
    /// # How to fix
    /// Do without these fields; for a listener filter use REMOVE and ADD. After deleting such a filter restart istiod.
    ///
    /// # References
    /// Recorded from the control plane of the 1.31 line (testdata/reference, cases with `leaked`).
    "EF514" "shared-state-leak" Error => check
}

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let Some(built) = view.built.filter(|built| built.status == Status::Ready && built.operation.is_merge()) else {
            continue;
        };
        let Some(value) = &built.value else { continue };
        let field = match view.patch.apply_to {
            ApplyTo::RouteConfiguration => {
                ["validate_clusters", "max_direct_response_body_size_bytes"].into_iter().find(|key| sets(value, key))
            }
            ApplyTo::FilterChain => value.get("filter_chain_match").is_some().then_some("filter_chain_match"),
            ApplyTo::ListenerFilter => Some("typed_config"),
            _ => None,
        };
        let Some(field) = field else { continue };
        let met: Vec<_> = cx.on_proxies(view.filter_index, view.patch.index).collect();
        let real = met.iter().any(|met| met.run.knowledge == Knowledge::Dump);
        let hit: Vec<_> = met
            .iter()
            .filter(|met| !real || met.run.knowledge == Knowledge::Dump)
            .filter(|met| leaks(view.patch.apply_to, field, met))
            .collect();
        if hit.is_empty() {
            continue;
        }
        let keys = ["patch", "value", field];
        let finding = Finding::new(rule, view.key_span(&keys), format!("istiod writes `{field}` into an object that all proxies share"))
            .of(view.filter, Some(view.patch.index))
            .label("leaks to other proxies")
            .note("proxies that this filter does not select get it too, and keep it after the filter is deleted, until istiod restarts")
            .help("do without it, and restart istiod after deleting the filter");
        out.push(if real {
            finding.workloads(hit.iter().map(|met| met.run.label().to_owned()))
        } else {
            finding.confidence(Confidence::Likely)
        });
    }
}

/// Whether a field is set to something that is not its default.
fn sets(value: &Tree<'_>, key: &str) -> bool {
    match value.get(key).map(|field| &field.value) {
        Some(Value::Bool(on)) => *on,
        Some(Value::Number(text)) => text != "0",
        Some(_) => true,
        None => false,
    }
}

/// Whether the patch changed a shared object on a proxy.
fn leaks(apply_to: ApplyTo, field: &str, met: &PatchRun<'_, '_>) -> bool {
    met.trace.effects.iter().any(|(place, effect)| {
        let Effect::Merged(changes) = effect else { return false };
        match apply_to {
            ApplyTo::FilterChain => {
                place.resource == VIRTUAL_INBOUND
                    && changes.iter().any(|change| change.path.starts_with(field))
                    && effect.changes()
            }
            _ => effect.changes(),
        }
    })
}
