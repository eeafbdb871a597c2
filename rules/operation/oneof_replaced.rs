//! EF330: a MERGE that sets one member of a oneof and thereby removes the one that istiod had set.

use crate::declare_rule;
use crate::engine::matching::parse_subset_key;
use crate::engine::trace::{Effect, Place};
use crate::lint::context::PatchRun;
use crate::lint::seen::exact;
use crate::lint::{Context, Findings, PatchView, RuleInfo, names};
use crate::model::envoy_filter::{ApplyTo, ObjectMatch};
use crate::proto::merge::{Change, ChangeKind};
use crate::proto::tree::{Origin, Tree};
use crate::source::Severity;
use std::collections::BTreeSet;

declare_rule! {
    /// A MERGE that removes what istiod had set, because only one of the two fields can be set.
    ///
    /// # What it finds
    /// A MERGE of one member of a oneof if istiod had set another one: `route_config` over `rds`, `route` over
    /// `redirect` or `direct_response`, `weighted_clusters` over `cluster`, `validation_context` over
    /// `combined_validation_context`.
    ///
    /// # Why it matters
    /// A proto merge sets the new member and clears the old one with all its content: all routes of a listener, the
    /// certificate authority that validates clients, the redirect of a VirtualService.
    ///
    /// # How to fix
    /// Patch the generated objects (VIRTUAL_HOST, HTTP_ROUTE, the member that is set), or narrow the match to objects
    /// that have the member of the patch: `route: {action: ROUTE}`.
    ///
    /// # References
    /// Protocol Buffers, "Oneof"; istiod `pkg/proto/merge`, releases 1.22 to 1.31; recorded.
    "EF330" "oneof-replaced" Operation Warning => check
}

/// What a merge cleared, and what it set instead.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Lost {
    /// Path of the new member.
    path: String,
    new: String,
    old: BTreeSet<String>,
    was: String,
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches().filter(|view| view.built.is_some_and(|built| built.operation.is_merge())) {
        let lost = |effect: &Effect| -> Vec<Lost> {
            let mut all = lost(effect);
            all.retain(|one| !keeps_cluster(&view, one) && !is_said_of_match(&view, one));
            all
        };
        let loses = |run: &PatchRun<'_, '_>| run.trace.effects.iter().any(|(_, effect)| !lost(effect).is_empty());
        let Some(seen) = cx.seen_if(&view, loses) else { continue };
        // The redirecting routes of a mesh are unknown: without a dump, only a match that includes all of them is
        // reported.
        let guessed = !seen.certain() && !seen.runs.iter().any(|run| exact(run.run, &view));
        let all = || seen.runs.iter().flat_map(|run| &run.trace.effects);
        let mut kinds: Vec<Lost> = Vec::new();
        for one in all().flat_map(|(_, effect)| lost(effect)) {
            match kinds.iter_mut().find(|known| known.new == one.new) {
                None => kinds.push(one),
                Some(known) => known.old.extend(one.old),
            }
        }
        for one in kinds.into_iter().filter(|one| !goes_with_policy(&view, &one.new)) {
            let same = |effect: &Effect| lost(effect).iter().any(|it| it.new == one.new);
            let places: Vec<&Place> = all().filter(|(_, effect)| same(effect)).map(|(place, _)| place).collect();
            let objects: BTreeSet<String> = places.iter().map(|place| place.resource.to_string()).collect();
            let (severity, note, help) = advice(&one, &view);
            let refused = one.new == "route" && seen.runs.iter().any(|run| leads_nowhere(run, same));
            if guessed && view.patch.apply_to == ApplyTo::HttpRoute {
                continue;
            }
            // istiod sets one for services of the mesh, and for others only if a DestinationRule says so.
            if !seen.certain() && one.new == "validation_context" && is_outside(&view) {
                continue;
            }
            let severity = if seen.certain() { severity } else { Severity::Warning };
            let mut finding = view
                .finding(
                    rule,
                    view.value_path_span(&one.path),
                    format!(
                        "MERGE of `{}` removes {}, which istiod had set",
                        one.new,
                        one.old.iter().map(|old| format!("`{old}`")).collect::<Vec<_>>().join(" or "),
                    ),
                )
                .severity(severity)
                .label("only one of the two can be set")
                .rejected_if(refused, note)
                .blamed_if(one.new == "validation_context", "peer certificates")
                .snippet(help);
            if one.new == "route" {
                for other in followers(cx, &seen.runs, &places) {
                    finding =
                        finding.related(other.value_span(&["patch", "value"]), "expects a route that forwards, too");
                }
            }
            if seen.certain() {
                if let Some(first) = places.first() {
                    let more = places.len() - 1;
                    let others = if more == 0 {
                        String::new()
                    } else {
                        format!(" and {}", names::count(more, "other place", "other places"))
                    };
                    finding = finding.note(format!("in {first}{others}"));
                }
                if !one.was.is_empty() {
                    finding = finding.note(format!("removed: {}", one.was));
                }
                finding = finding.objects(objects);
            }
            out.push(seen.tell(finding));
        }
    }
}

/// Whether the match names clusters of a host outside Kubernetes.
fn is_outside(view: &PatchView<'_>) -> bool {
    let ObjectMatch::Cluster(wanted) = &view.patch.object else { return false };
    let host = if wanted.name.is_empty() { wanted.service.as_str() } else { parse_subset_key(&wanted.name).host };
    host.contains('.') && host.split('.').all(|part| part != "svc")
}

/// Whether the settings of a load balancing policy come with the policy that they are for.
fn goes_with_policy(view: &PatchView<'_>, new: &str) -> bool {
    let Some(policy) = new.strip_suffix("_lb_config") else { return false };
    let value = view.built.and_then(|built| built.value.as_ref());
    value.is_some_and(|value| value.str_at("lb_policy").eq_ignore_ascii_case(policy))
}

/// Whether the cluster that the route had is one of the weighted clusters that replace it, as for a canary.
fn keeps_cluster(view: &PatchView<'_>, lost: &Lost) -> bool {
    let value = view.built.and_then(|built| built.value.as_ref());
    let weighted = value.and_then(|value| value.path(&["route", "weighted_clusters", "clusters"]));
    let mut names = weighted.map(Tree::items).unwrap_or_default().iter().map(Tree::name);
    lost.new == "weighted_clusters" && names.any(|name| lost.was == format!("`cluster: {name}`"))
}

/// Whether it is the condition of routes that the patch selects without a name: EF344 says that the patch changes it.
fn is_said_of_match(view: &PatchView<'_>, lost: &Lost) -> bool {
    view.patch.apply_to == ApplyTo::HttpRoute && lost.path.starts_with("match.") && !names_route(view)
}

fn lost(effect: &Effect) -> Vec<Lost> {
    let (Effect::Merged(changes) | Effect::TransportSocketMerged(changes, _)) = effect else { return Vec::new() };
    let one = |(at, change): (usize, &Change)| {
        let ours = change.before_origins.iter().all(|origin| *origin == Origin::ISTIOD);
        if change.kind != ChangeKind::Cleared || !ours {
            return None;
        }
        let parent = change.path.rfind('.').map_or(0, |dot| dot + 1);
        let (above, old) = change.path.split_at(parent);
        // The new member is set right after the old ones are cleared.
        let set =
            changes[at + 1..].iter().find(|next| next.kind != ChangeKind::Cleared && next.path.starts_with(above))?;
        let new = set.path[parent..].split(['.', '[']).next()?;
        Some(Lost {
            path: format!("{above}{new}"),
            new: new.to_owned(),
            old: BTreeSet::from([old.to_owned()]),
            was: was(change),
        })
    };
    changes.iter().enumerate().filter_map(one).collect()
}

/// The old value, if it is short: the name of a route configuration, a cluster, a path.
fn was(change: &Change) -> String {
    let value: Option<serde_json::Value> = change.before.as_ref().and_then(|text| serde_json::from_str(text).ok());
    let Some(value) = value else { return String::new() };
    let name = value.get("route_config_name").unwrap_or(&value);
    let text = name.as_str().map_or_else(|| name.to_string(), str::to_owned);
    if text.len() <= 80 {
        format!("`{}: {text}`", change.path.rsplit('.').next().unwrap_or_default())
    } else {
        String::new()
    }
}

/// Maximum number of other patches that are named.
const MAX_FOLLOWERS: usize = 3;

/// Whether a route with such a change has no destination afterwards, which Envoy rejects.
fn leads_nowhere(run: &PatchRun<'_, '_>, changed: impl Fn(&Effect) -> bool) -> bool {
    const DESTINATIONS: [&str; 5] = [
        "cluster",
        "cluster_header",
        "weighted_clusters",
        "cluster_specifier_plugin",
        "inline_cluster_specifier_plugin",
    ];
    let nowhere = |place: &Place| {
        let none = |route: &Tree<'_>| DESTINATIONS.iter().all(|name| route.get(name).is_none());
        run.run.with_below(place, &["route"], |route| Some(none(route))).unwrap_or_default()
    };
    run.trace.effects.iter().any(|(place, effect)| changed(effect) && nowhere(place))
}

/// Later patches that also merge a `route` into one of these routes.
fn followers<'a>(cx: &Context<'a>, runs: &[PatchRun<'_, '_>], places: &[&Place]) -> Vec<PatchView<'a>> {
    let mut found: Vec<PatchView<'a>> = Vec::new();
    for run in runs {
        for id in run.run.plan.ids().filter(|&id| id > run.id) {
            let forwards = |effect: &Effect| matches!(effect, Effect::Merged(changes) if changes.iter().any(|change| change.path.starts_with("route.")));
            let effects = &run.run.judged.trace.patches[id.index()].effects;
            if !effects.iter().any(|(place, effect)| places.contains(&place) && forwards(effect)) {
                continue;
            }
            let Some(view) = cx.view(run.run, id) else { continue };
            let key = |view: &PatchView<'_>| (view.filter_index, view.patch.index);
            if found.len() < MAX_FOLLOWERS && !found.iter().any(|one| key(one) == key(&view)) {
                found.push(view);
            }
        }
    }
    found
}

/// Whether the match names a route.
fn names_route(view: &PatchView<'_>) -> bool {
    let ObjectMatch::RouteConfiguration(routes) = &view.patch.object else { return false };
    routes.vhost.as_ref().and_then(|vhost| vhost.route.as_ref()).is_some_and(|route| !route.name.is_empty())
}

/// The severity, the consequence and what to write instead.
fn advice(lost: &Lost, view: &PatchView<'_>) -> (Severity, &'static str, &'static str) {
    match (lost.new.as_str(), lost.old.first().map_or("", String::as_str)) {
        ("route_config" | "scoped_routes", "rds") => (
            Severity::Error,
            "the listener no longer requests the routes that istiod generates: VirtualServices and Services have no effect on it",
            "patch the generated routes with applyTo: VIRTUAL_HOST, HTTP_ROUTE or ROUTE_CONFIGURATION",
        ),
        ("route", "redirect" | "direct_response") => (
            Severity::Error,
            "the redirect or direct response is gone; without a cluster Envoy rejects the whole route configuration",
            if names_route(view) {
                "the route that the match names does not forward: name one that does, or remove the patch"
            } else {
                "match only routes that forward:\nvhost:\n  route:\n    action: ROUTE"
            },
        ),
        ("redirect" | "direct_response", "route") => (
            Severity::Warning,
            "requests no longer reach the service behind the route",
            if names_route(view) {
                "if that is not intended, INSERT_FIRST a new route with the paths it is for"
            } else {
                "name the intended route (vhost.route.name), or INSERT_FIRST a new route"
            },
        ),
        ("validation_context", _) => (
            Severity::Error,
            "the certificate authority that istiod set with it is gone: peers are checked against the new context alone",
            "merge into the member that is set, for example\ncombined_validation_context:\n  default_validation_context: …",
        ),
        ("cluster" | "cluster_header" | "weighted_clusters", _) => (
            Severity::Warning,
            "the route loses the destination from its VirtualService or Service",
            "set the destination in a VirtualService, which istiod keeps consistent with the clusters",
        ),
        _ => (
            Severity::Warning,
            "a merge sets one member of a oneof and clears the others with all their content",
            "merge into the member that is set, or write a complete value to replace it",
        ),
    }
}
