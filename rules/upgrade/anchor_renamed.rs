//! EF608: a match by a name that istiod changes or no longer generates after the upgrade.

use crate::declare_rule;
use crate::engine::trace::Condition;
use crate::envoy::api::istio_of;
use crate::explain::canonical_name;
use crate::lint::context::PatchView;
use crate::lint::names::{Known, known};
use crate::lint::upgrade::forecast;
use crate::lint::upgrade::{Upgrade, tell};
use crate::lint::{Context, Edit, Findings, RuleInfo, names};
use crate::model::envoy_filter::Operation;
use crate::model::release::Release;
use crate::proto::tree::Tree;
use crate::source::{Severity, Span};
use std::collections::HashSet;

declare_rule! {
    /// A match by a name that istiod changes or no longer generates after the upgrade.
    ///
    /// # What it finds
    /// A match on a cluster, an HTTP filter or a network filter by a name that istiod generates in the earlier release
    /// but not in the later one: WasmPlugin filters (renamed in 1.21, 1.26 and 1.30), `InboundPassthroughClusterIpv4`
    /// (1.23), `istio_authn` (1.24), and the old filter names that 1.19 stopped comparing. Only `audit` compares two
    /// releases: `lint` never reports it.
    ///
    /// # Why it matters
    /// The patch silently matches nothing after the upgrade.
    ///
    /// # How to fix
    /// Write the patch twice, once for each name: one matches before the upgrade and the other after it. Remove the old
    /// one afterwards.
    ///
    /// # References
    /// istiod 1.20 to 1.31, `pilot/pkg/model/extensions.go`, `pilot/pkg/networking/util/util.go`; Istio release notes
    /// 1.19 and 1.21.
    "EF608" "anchor-renamed" Upgrade Error => check,
    fixes: true, needs: &[Upgrade], changes: &[Change::Stops]
}

/// A name in a match, and its successor.
pub(super) struct Anchor {
    name: String,
    span: Span,
    /// The new name; `None` if nothing replaces it.
    new: Option<String>,
    /// The names that later releases along the way give it, each with the release.
    later: Vec<(String, Release)>,
    since: Release,
    /// Whether the new name is right for both releases.
    both: bool,
    /// Whether it looks like the name of a WasmPlugin's filter.
    plugin: bool,
}

/// The places of names in a match, and their kinds.
const PLACES: [(&[&str], &str, Condition); 5] = [
    (&["match", "listener", "filterChain", "filter", "name"], "network", Condition::Filter),
    (&["match", "listener", "filterChain", "filter", "subFilter", "name"], "http", Condition::SubFilter),
    (&["match", "listener", "listenerFilter"], "listener", Condition::ListenerFilter),
    (&["match", "cluster", "name"], "cluster", Condition::ClusterName),
    (&["match", "routeConfiguration", "name"], "route", Condition::RouteConfigurationName),
];

/// The names in a patch's match that the upgrade changes; `added` are those of [`added_names`].
pub(super) fn renamed(cx: &Context<'_>, upgrade: &Upgrade, view: &PatchView<'_>, added: &HashSet<&str>) -> Vec<Anchor> {
    let (from, to) = (upgrade.before.release, upgrade.after.release);
    let found = PLACES.iter().filter_map(|&(place, kind, condition)| {
        let node = view.node(place)?;
        let name = node.as_str()?;
        let anchor = |new, since, both| {
            Some(Anchor { name: name.to_owned(), span: node.span, new, since, both, plugin: false, later: Vec::new() })
        };
        // istiod does not generate what a filter adds.
        if matches!(kind, "http" | "network" | "cluster") && added.contains(name) {
            return None;
        }
        if let Some((new, since)) = forecast::renamed(kind, name, from, to) {
            let later = forecast::names(kind, &new, to, upgrade.target);
            return anchor(Some(new), since, false).map(|anchor| Anchor { later, ..anchor });
        }
        if let Some((new, since)) = plugin(cx, view, kind, name, (from, to)) {
            let later = forecast::names(kind, &new, to, upgrade.target);
            return anchor(Some(new), since, false).map(|anchor| Anchor { plugin: true, later, ..anchor });
        }
        if from < names::LEGACY_NAMES_UNTIL
            && names::LEGACY_NAMES_UNTIL <= to
            && let Some(new) = canonical_name(name, condition)
        {
            return anchor(Some(new.to_owned()), names::LEGACY_NAMES_UNTIL, true);
        }
        match (known(kind, name, from), known(kind, name, to)) {
            (Known::Now, Known::Other(_, Some(until))) => anchor(None, until, false),
            _ => None,
        }
    });
    found.collect()
}

/// The first release that adds a prefix to the names of WasmPlugins' filters (`pilot/pkg/model/extensions.go`, 1.20 and
/// 1.21).
const PLUGIN_PREFIX: (Release, &str) = (Release::minor(21), "extenstions.istio.io/wasmplugin/");

/// The later name of a WasmPlugin's filter. Up to 1.20 the name is its namespace and name, a prefix that no other
/// generated name has; it attaches from the workload's namespace or the root namespace.
fn plugin(
    cx: &Context<'_>,
    view: &PatchView<'_>,
    kind: &str,
    name: &str,
    (from, to): (Release, Release),
) -> Option<(String, Release)> {
    let (since, prefix) = PLUGIN_PREFIX;
    let (namespace, rest) = name.split_once('.').filter(|_| matches!(kind, "http" | "network"))?;
    let near = [view.filter.namespace.as_str(), cx.mesh.root_namespace.as_str()].contains(&namespace);
    if !near || rest.is_empty() || from >= since || to < since || known(kind, name, from) != Known::Never {
        return None;
    }
    let first = format!("{prefix}{name}");
    Some(forecast::renamed(kind, &first, since, to).unwrap_or((first, since)))
}

/// The names of the objects that patches add.
pub(super) fn added_names<'a>(cx: &Context<'a>) -> HashSet<&'a str> {
    let adding = cx.patches().filter_map(|view| view.built).filter(|built| !built.operation.is_merge());
    adding.filter_map(|built| built.value.as_ref()).map(Tree::name).collect()
}

/// The names in the matches of all patches.
fn matched_names<'a>(cx: &Context<'a>) -> HashSet<&'a str> {
    let names = |view: PatchView<'a>| PLACES.iter().filter_map(move |(place, ..)| view.node(place)?.as_str());
    cx.patches().flat_map(names).collect()
}

/// Whether a patch of the same filter does the same for the new names; `matched` are those of [`matched_names`].
fn has_twin<'a>(cx: &Context<'a>, view: &PatchView<'a>, anchors: &[Anchor], matched: &HashSet<&str>) -> bool {
    let exists = |anchor: &Anchor| anchor.new.as_deref().is_some_and(|new| matched.contains(new));
    anchors.iter().all(exists) && twin(cx, view, anchors).is_some()
}

/// The patch of the same filter that does the same for the new names.
fn twin<'a>(cx: &Context<'a>, view: &PatchView<'a>, anchors: &[Anchor]) -> Option<PatchView<'a>> {
    let alike = |other: &PatchView<'a>| {
        let operation = |view: &PatchView<'a>| view.patch.body.as_ref().map(|body| body.operation);
        other.filter_index == view.filter_index
            && other.patch.index != view.patch.index
            && other.patch.apply_to == view.patch.apply_to
            && other.patch.context == view.patch.context
            && operation(other) == operation(view)
    };
    let named = |other: &PatchView<'a>| {
        anchors.iter().all(|anchor| {
            PLACES.iter().any(|(place, ..)| other.node(place).and_then(|node| node.as_str()) == anchor.new.as_deref())
        })
    };
    cx.patches().find(|other| alike(other) && named(other))
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let Some(upgrade) = cx.upgrade.as_deref() else { return };
    let (added, matched) = (added_names(cx), matched_names(cx));
    for view in cx.patches() {
        // A patch pinned to older proxies also does nothing before the upgrade.
        let newest = cx.envoy_minor_of(&view).map(istio_of);
        if newest.is_none_or(|newest| newest < upgrade.before.proxies.minor) {
            continue;
        }
        let anchors = renamed(cx, upgrade, &view, &added);
        let Some(first) = anchors.first() else { continue };
        let since = tell::short(first.since);
        let message = match &first.new {
            Some(new) if first.both => format!("Istio {since} no longer treats `{}` as `{new}`", first.name),
            Some(new) => format!("Istio {since} renames `{}` to `{new}`", first.name),
            None => format!("Istio {since} no longer generates `{}`", first.name),
        };
        let mut finding = view.finding(rule, first.span, message).label("matches nothing after the upgrade");
        if first.plugin {
            finding = finding.likely("the name looks like the filter of a WasmPlugin: NAMESPACE.NAME");
        }
        for other in &anchors[1..] {
            finding = finding.related(
                other.span,
                match &other.new {
                    Some(new) => format!("this name too: it becomes `{new}`"),
                    None => "this name too: nothing replaces it".to_owned(),
                },
            );
        }
        let all = anchors.iter().all(|anchor| anchor.new.is_some());
        if all && anchors.iter().all(|anchor| anchor.both) {
            let edits = anchors
                .iter()
                .filter_map(|anchor| Some(Edit { span: anchor.span, text: anchor.new.clone()? }))
                .collect();
            finding = finding.help("the canonical name is right before and after the upgrade").fix(
                "write the canonical name",
                true,
                edits,
            );
        } else if all && has_twin(cx, &view, &anchors, &matched) {
            finding = finding
                .severity(Severity::Info)
                .note("another patch of this EnvoyFilter already has the new name and replaces this one")
                .help("delete this one after the upgrade");
        } else if all {
            let most = anchors.iter().map(|anchor| anchor.later.len()).max().unwrap_or_default();
            let name = |anchor: &Anchor, number: usize| {
                let later = number.min(anchor.later.len()).checked_sub(1).and_then(|at| anchor.later.get(at));
                later.map(|(name, _)| name.clone()).or_else(|| anchor.new.clone())
            };
            let of = |number: usize| -> Vec<(Span, String)> {
                anchors.iter().filter_map(|anchor| Some((anchor.span, name(anchor, number)?))).collect()
            };
            let replaced: Vec<Vec<(Span, String)>> = (0..=most).map(of).collect();
            for (name, since) in &first.later {
                finding = finding.note(format!("and Istio {} to `{name}`", tell::short(*since)));
            }
            let times = if most == 0 { "twice" } else { "again" };
            finding = finding.help(format!("write the patch {times}, once for each name, until the upgrade is done"));
            if let Some(edit) = tell::twins(cx, &view, &replaced) {
                let title = if most == 0 {
                    "add the patch with the new name below it"
                } else {
                    "add the patch with each new name below it"
                };
                finding = finding.fix(title, true, vec![edit]);
            }
        } else if view.patch.body.as_ref().is_some_and(|body| body.operation == Operation::Remove) {
            finding =
                finding.severity(Severity::Info).help("delete this patch after the upgrade: it removes nothing then");
        } else {
            finding = finding.help("use another anchor: nothing replaces it");
        }
        out.push(finding);
    }
}
