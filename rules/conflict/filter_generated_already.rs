//! EF414: a filter that istiod generates already, inserted once more.

use crate::declare_rule;
use crate::engine::{PROXY_PROTOCOL, PatchId, ROUTE_FILTERS};
use crate::lint::context::{PatchRun, ProxyRun};
use crate::lint::per_run::PerRun;
use crate::lint::seen::{changed_filter_lists, config_type};
use crate::lint::value::PatchValue;
use crate::lint::{Context, Findings, RuleInfo, contents};
use crate::model::envoy_filter::ApplyTo;
use crate::proto::tree::{Tree, Value};
use crate::source::Severity;
use crate::source::escape::one_line;
use std::cell::LazyCell;
use std::collections::{BTreeSet, HashSet};

declare_rule! {
    /// A CORS, fault or proxy_protocol filter inserted beside the one that istiod generates.
    ///
    /// # What it finds
    /// An HTTP filter of type `Cors` or `HTTPFault` that a patch inserts into a list in which istiod's own filter of this type
    /// has the same name; and a `Cors` filter of another name for which no route has settings. A `proxy_protocol` listener filter in a
    /// gateway with `gatewayTopology.proxyProtocol`, unless the second one allows connections without the header.
    ///
    /// # Why it matters
    /// istiod generates both filters for every HTTP listener of sidecars and gateways. Two filters of one name read the same settings
    /// of a route: a `fault` of a VirtualService delays twice as long, and aborts more often than it says. A second CORS filter changes
    /// nothing but its counters; without settings under its name it does nothing. The first `proxy_protocol` filter takes the PROXY header,
    /// the second one waits for another: every connection is closed.
    ///
    /// # How to fix
    /// Delete the patch. Where a route needs a CORS policy, write it below `envoy.filters.http.cors` of its
    /// `typed_per_filter_config`, or as `corsPolicy` of the VirtualService. Give a fault filter with faults of its own another name.
    ///
    /// # References
    /// istiod `pilot/pkg/networking/core/listener_builder.go`, releases 1.22 to 1.31; recorded. Tested with Envoy 1.36.4 to 1.40.0: a
    /// delay of 1 s takes 2 s, and `cors.origin_valid` counts each request twice; two `proxy_protocol` filters reset connections.
    "EF414" "filter-generated-already" Conflict Warning => check
}

const CORS: &str = ROUTE_FILTERS[0].1;

/// The type of a filter that istiod generates.
fn generated(of: &str) -> Option<&'static str> {
    ROUTE_FILTERS.iter().chain(&[PROXY_PROTOCOL]).map(|(_, kind)| *kind).find(|kind| *kind == of)
}

/// How a filter of a patch stands to the one that istiod generates.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Beside {
    SameName,
    OtherName,
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let twice: PerRun<HashSet<(PatchId, Beside)>> = PerRun::new();
    let routes: PerRun<BTreeSet<String>> = PerRun::new();
    let given = LazyCell::new(|| given_settings(cx));
    let filters =
        |value: &&PatchValue<'_>| matches!(value.view.patch.apply_to, ApplyTo::HttpFilter | ApplyTo::ListenerFilter);
    for value in cx.values().iter().filter(filters) {
        let Some((name, kind)) = inserted(value) else { continue };
        let stands = |run: &PatchRun<'_, '_>, beside| twice.of(run.run, find).contains(&(run.id, beside));
        let span = value
            .objects
            .first()
            .and_then(|root| root.member("name"))
            .map_or(value.node.span, |it| it.entry.value.span);
        let shown = one_line(name);
        if let Some(seen) = cx.seen_if(&value.view, |run| stands(run, Beside::SameName)) {
            let finding = value
                .view
                .finding(rule, span, format!("istiod generates a filter `{shown}` in the same list: both run"))
                .label("the second of its kind");
            let finding = if kind == PROXY_PROTOCOL.1 {
                finding
                    .severity(Severity::Error)
                    .note("the first one takes the PROXY header, and the second one closes every connection without another")
                    .help("delete this patch: `gatewayTopology.proxyProtocol` of the gateway does it already")
            } else if kind == CORS {
                finding
                    .note("both read the same policy of a route: the second one changes nothing but its counters")
                    .help("delete this patch: a CORS policy of a route acts without it")
            } else {
                finding
                    .note("both inject the fault of a route: a delay of a VirtualService takes twice as long")
                    .help("delete this patch; if it has faults of its own, give it another name")
            };
            out.push(seen.tell(finding));
            continue;
        }
        let unset = |run: &PatchRun<'_, '_>| {
            kind == CORS
                && stands(run, Beside::OtherName)
                && !given.contains(name)
                && !routes.of(run.run, contents::route_settings).contains(name)
        };
        if let Some(seen) = cx.seen_if(&value.view, unset) {
            let finding = value
                .view
                .finding(rule, span, format!("no route has a CORS policy for `{shown}`: this filter does nothing"))
                .label("a second CORS filter")
                .note("istiod generates `envoy.filters.http.cors` in the same list, which acts on the CORS policies of routes")
                .help("delete this patch");
            out.push(seen.tell(finding));
        }
    }
}

/// Name and type of the CORS or fault filter that a patch inserts.
fn inserted<'a>(value: &PatchValue<'a>) -> Option<(&'a str, &'static str)> {
    let slot = value.slots.iter().find(|slot| slot.owner == 0 && slot.field.name() == "typed_config")?;
    let url = slot.content()?;
    let kind = generated(url.name())?;
    let inserts = !value.merges() && !slot.is_off;
    Some((value.objects.first()?.text("name")?, kind)).filter(|_| inserts)
}

/// The names of filters for which the given patches have settings of routes.
fn given_settings<'a>(cx: &Context<'a>) -> HashSet<&'a str> {
    let of_routes = |value: &'_ PatchValue<'a>| {
        let objects = value.objects.iter().filter_map(|object| object.member("typed_per_filter_config"));
        objects.flat_map(|member| member.entry.value.entries()).map(|entry| entry.key.as_str()).collect::<Vec<_>>()
    };
    cx.values().iter().flat_map(of_routes).collect()
}

/// The filters of patches beside one of istiod of the same type.
fn find(run: &ProxyRun<'_>) -> HashSet<(PatchId, Beside)> {
    let mut found = HashSet::new();
    for (_, listener) in run.changed_listeners() {
        found.extend(waiting(listener).map(|id| (id, Beside::SameName)));
        for (_, filters) in changed_filter_lists(listener).filter(|(http, _)| *http) {
            let kinds = filters.iter().filter_map(|filter| Some((filter, generated(&config_type(filter))?)));
            let (istiods, inserted): (Vec<_>, Vec<_>) =
                kinds.partition(|(filter, _)| PatchId::of(filter.origin).is_none());
            let names: HashSet<(&str, &str)> = istiods.iter().map(|(filter, kind)| (*kind, filter.name())).collect();
            let has: HashSet<&str> = istiods.iter().map(|(_, kind)| *kind).collect();
            for (filter, kind) in inserted {
                let Some(id) = PatchId::of(filter.origin) else { continue };
                if names.contains(&(kind, filter.name())) {
                    found.insert((id, Beside::SameName));
                } else if has.contains(kind) {
                    found.insert((id, Beside::OtherName));
                }
            }
        }
    }
    found
}

/// The patch with a `proxy_protocol` filter beside the one of istiod, if the later one needs a second header.
fn waiting(listener: &Tree<'_>) -> Option<PatchId> {
    let filters = listener.get("listener_filters").map(Tree::items).unwrap_or_default();
    let mut readers = filters.iter().filter(|filter| config_type(filter) == PROXY_PROTOCOL.1);
    let (first, second) = (readers.next()?, readers.next()?);
    let config = second.get("typed_config").map(Tree::readable);
    let optional = config.as_ref().and_then(|config| config.get("allow_requests_without_proxy_protocol"));
    let passes = optional.is_some_and(|it| matches!(it.value, Value::Bool(true)));
    let (one, other) = (PatchId::of(first.origin), PatchId::of(second.origin));
    one.xor(other).filter(|_| !passes)
}
