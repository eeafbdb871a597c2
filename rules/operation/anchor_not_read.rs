//! EF332: an anchor in the match of an operation that ignores it.

use crate::declare_rule;
use crate::engine::program::{Status, names_filter};
use crate::lint::context::PatchRun;
use crate::lint::rule::{Cel, PolicyTarget};
use crate::lint::seen::filter_lists;
use crate::lint::{Context, Findings, Knowledge, PatchView, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, ObjectMatch, Operation};
use crate::proto::tree::Tree;
use crate::source::Severity;

declare_rule! {
    /// INSERT_FIRST with an anchor, which istiod ignores.
    ///
    /// # What it finds
    /// INSERT_FIRST of HTTP_FILTER with `subFilter`, of NETWORK_FILTER with `filter`, of LISTENER_FILTER with
    /// `listenerFilter`; ADD of the last two with the same.
    ///
    /// # Why it matters
    /// INSERT_FIRST puts the value at the front of the list and ADD at its end, regardless of where the named filter is
    /// and whether it exists: ahead of authentication, and in filter chains without the named filter.
    ///
    /// # How to fix
    /// Write INSERT_BEFORE or INSERT_AFTER, which find the named filter; or omit the anchor.
    ///
    /// # References
    /// istiod `listener_patch.go`, releases 1.22 to 1.31; recorded.
    "EF332" "anchor-not-read" Operation Warning => check,
    policy: Cel(policy)
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let Some(built) = view.built.filter(|built| built.status == Status::Ready) else { continue };
        let (apply_to, operation) = (view.patch.apply_to, built.operation);
        let place = match (operation, apply_to) {
            (Operation::InsertFirst, _) => "at the front of the list",
            (Operation::Add, ApplyTo::NetworkFilter | ApplyTo::ListenerFilter) => "at the end of the list",
            _ => continue,
        };
        let (anchor, route): (_, &[&str]) = match apply_to {
            ApplyTo::HttpFilter => ("subFilter", &["match", "listener", "filterChain", "filter", "subFilter"]),
            ApplyTo::NetworkFilter => ("filter", &["match", "listener", "filterChain", "filter"]),
            ApplyTo::ListenerFilter => ("listenerFilter", &["match", "listener", "listenerFilter"]),
            _ => continue,
        };
        if !names_filter(apply_to, &built.object) {
            continue;
        }
        let name = anchor_name(&view.patch.object);
        let other = if operation == Operation::InsertFirst { "INSERT_BEFORE" } else { "INSERT_AFTER" };
        out.push(
            view.finding(rule, view.key_span(route), format!("{operation} ignores `{anchor}`"))
                .label(format!("ignored: the value goes {place}"))
                .related(view.value_span(&["patch", "operation"]), format!("puts the value {place}"))
                .note(format!("this also happens if no filter is named `{name}`"))
                .help(if absent(cx, &view, &name) {
                    format!("omit `{anchor}`: no filter has this name")
                } else {
                    format!("write {other} if the position matters, or omit `{anchor}`")
                }),
        );
    }
}

/// Whether the proxies of the config dumps have no filter with this name in what they are sent.
fn absent(cx: &Context<'_>, view: &PatchView<'_>, name: &str) -> bool {
    let mut runs =
        cx.on_proxies(view.filter_index, view.patch.index).filter(|run| run.run.knowledge == Knowledge::Dump);
    let has = |run: &PatchRun<'_, '_>| {
        let named = |filters: &[Tree<'_>]| filters.iter().any(|filter| filter.name() == name);
        run.run.listeners_after().values().any(|listener| {
            let own = listener.get("listener_filters").map(Tree::items).unwrap_or_default();
            named(own) || filter_lists(listener).iter().any(|list| named(&list.filters))
        })
    };
    let Some(first) = runs.next() else { return false };
    !has(&first) && !runs.any(|run| has(&run))
}

fn anchor_name(object: &ObjectMatch) -> String {
    let ObjectMatch::Listener(listener) = object else { return String::new() };
    let filter = listener.filter_chain.as_ref().and_then(|chain| chain.filter.as_ref());
    let named = filter.map(|filter| filter.sub_filter.clone().unwrap_or_else(|| filter.name.clone()));
    if listener.listener_filter.is_empty() { named.unwrap_or_default() } else { listener.listener_filter.clone() }
}

fn policy(_: &PolicyTarget<'_>) -> Vec<Cel> {
    vec![Cel::patch(
        Severity::Warning,
        r#"@judged && @filters && @named && (@op == "INSERT_FIRST" || (@op == "ADD" && @to != "HTTP_FILTER"))"#,
        "INSERT_FIRST and ADD ignore the filter that the match names",
    )]
}
