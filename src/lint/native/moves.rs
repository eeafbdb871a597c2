//! Findings about patches that an Istio API can replace; only `migrate` knows how a patch moves.

use super::beside;
use crate::lint::facts::context::Context;
use crate::lint::facts::reach;
use crate::lint::facts::view::PatchView;
use crate::lint::finding::{Finding, Findings, Fix, Label};
use crate::lint::rule::RuleInfo;
use crate::migrate::PatchReport;
use crate::migrate::catalog::{self, Pattern};
use crate::migrate::draft::Action;
use crate::migrate::step::Move;
use crate::migrate::verdict::{Class, Concern, Guard, Kind, State};
use crate::model::envoy_filter::PatchContext;
use crate::model::release::Release;
use serde_json::Value as Json;

/// Maximum number of native APIs that a finding names; `migrate` names all.
const MAX_HOMES: usize = 2;

/// Patterns whose API is also named where its object applies to gateways too, unlike a filter without a selector: policies, which
/// have selectors, and settings for the clients of a service.
const POLICIES: [&Pattern; 4] = [&catalog::EXT_AUTHZ, &catalog::JWT, &catalog::RBAC, &catalog::CLUSTER_POLICY];

/// Maximum number of findings of a filter that share a fix, of which each holds all, and that are compared with a further one.
const MAX_SHARED: usize = 16;

/// Adds a finding for each patch of some patterns that moves and passes a test. If only names, order and metadata
/// differ with the new objects, the findings of a filter share one fix.
pub(crate) fn check(
    rule: &'static RuleInfo,
    cx: &Context<'_>,
    out: &mut Findings,
    patterns: &[&'static Pattern],
    message: &str,
    test: fn(&Move) -> bool,
) {
    let (reports, _) = cx.moves();
    let mut found: Vec<(PatchView<'_>, &PatchReport)> = Vec::new();
    for view in cx.patches() {
        let Some(report) = reports.get(view.filter_index).and_then(|one| one.patches.get(view.patch.index)) else {
            continue;
        };
        let whole = report.found.moves && report.found.rest.is_none();
        // An operator expects the setting there, also where the patch names no context and comes to sidecars too.
        let hops = report.found.pattern == &catalog::TRUSTED_HOPS && view.patch.context == PatchContext::Any;
        let hidden = reaches_further(&report.found, may_select(cx, &view, report)) && !hops;
        if whole && patterns.contains(&report.found.pattern) && !hidden && test(&report.found) {
            found.push((view, report));
        }
    }
    for of_filter in found.chunk_by(|(one, _), (other, _)| one.filter_index == other.filter_index) {
        let written: Vec<&PatchReport> =
            of_filter.iter().map(|(_, report)| *report).filter(|report| report.written).collect();
        let fix = of_filter.first().and_then(|(view, _)| beside::fix(cx, view.filter, &written));
        // What one object replaces is one finding, and so are settings of the proxies for the same reason.
        let mut reported: Vec<Reported<'_>> = Vec::new();
        for (view, report) in of_filter {
            let span = view.key_span(&["patch", "value"]);
            let unselective = may_select(cx, view, report);
            let note = note(&report.found, report.class, unselective);
            let shares =
                |first: &PatchReport| report.found.with == Some(first.index) || first.found.with == Some(report.index);
            let recent = reported.len().saturating_sub(MAX_SHARED);
            let same = reported[recent..].iter_mut().find(|Reported { first, finding, .. }| {
                let one_object = same_objects(&first.found.actions, &report.found.actions);
                let refused = unselective && report.found.is_refused() && first.found.pattern == report.found.pattern;
                shares(first)
                    || refused && finding.notes.first() == Some(&note)
                    || one_object && (is_object(&report.found.actions) || finding.notes.first() == Some(&note))
            });
            if let Some(Reported { first, finding, fixed }) = same {
                // The one with the objects says how to get them; else the one that needs more.
                let shared = shares(first);
                if first.found.with == Some(report.index) || !shared && effort(report) > effort(first) {
                    finding.help = Some(help(report, unselective).to_owned());
                    *fixed = report.written;
                }
                if !shared && !finding.notes.contains(&note) {
                    finding.notes.push(note);
                }
                finding.related.push(Label { span, message: "moves with it".to_owned() });
            } else {
                let finding = view.finding(rule, span, message).note(note).help(help(report, unselective));
                reported.push(Reported { first: report, finding, fixed: report.written });
            }
        }
        let together = reported.iter().filter(|one| one.fixed).count();
        let fix = fix.filter(|_| together <= MAX_SHARED).map(|fix| Fix { together, ..fix });
        for Reported { mut finding, fixed, .. } in reported {
            finding.fix = fix.clone().filter(|_| fixed);
            out.push(finding);
        }
    }
}

/// A finding about one patch, or about several that move together.
struct Reported<'r> {
    /// The first patch.
    first: &'r PatchReport,
    finding: Finding,
    /// Whether the fix of the filter does it.
    fixed: bool,
}

/// Whether two patches move to the same objects: those of a host, an edited one, or settings of the proxies.
fn same_objects(one: &[Action], other: &[Action]) -> bool {
    let host = |object: &Json| [&object["kind"], &object["spec"]["host"]].map(Json::to_string);
    let same = |pair: (&Action, &Action)| match pair {
        (Action::Edit { object: one, .. }, Action::Edit { object: other, .. }) => one == other,
        (Action::Proxy { .. }, Action::Proxy { .. }) | (Action::Mesh(_), Action::Mesh(_)) => true,
        (one, other) => match (one.object(), other.object()) {
            (Some(one), Some(other)) => !one["spec"]["host"].is_null() && host(one) == host(other),
            _ => false,
        },
    };
    !one.is_empty() && one.len() == other.len() && one.iter().zip(other).all(same)
}

/// Whether these are objects, not settings of all proxies, which have little in common.
fn is_object(actions: &[Action]) -> bool {
    actions.iter().all(|action| action.object().is_some() || matches!(action, Action::Edit { .. }))
}

/// What it takes to get the object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Effort {
    /// `migrate` writes it.
    Written,
    /// `migrate` writes it if differences are accepted.
    Accepted,
    /// `migrate` writes it, and it must be reviewed.
    Reviewed,
    /// `migrate` edits an object that is not in the input.
    Missing,
    /// Nothing writes it.
    ByHand,
}

fn effort(report: &PatchReport) -> Effort {
    let found = &report.found;
    if found.is_refused() {
        Effort::ByHand
    } else if found.lacks_object() {
        Effort::Missing
    } else if report.written || found.actions.is_empty() {
        Effort::Written
    } else if found.needs_review() {
        Effort::Reviewed
    } else {
        Effort::Accepted
    }
}

/// How to get the object; what would reach more than the patch is for the reader to write.
fn help(report: &PatchReport, unselective: bool) -> &'static str {
    match effort(report) {
        Effort::ByHand if unselective && report.found.pattern == &catalog::CLUSTER_POLICY => {
            "write it by hand if gateways may have the setting too, then delete the patch"
        }
        Effort::ByHand if unselective && beyond(&report.found).is_some() => {
            "write it by hand with a selector for the workloads that the patch is for, then delete the patch"
        }
        Effort::ByHand => "write it by hand, then delete the patch",
        Effort::Missing => "add the object to the input and run `kubectl envoyfilter migrate`, which edits it",
        Effort::Written => "run `kubectl envoyfilter migrate`: it writes the object and lists what differs",
        Effort::Reviewed => {
            "run `kubectl envoyfilter migrate --accept reviewed`: it writes the object and lists what to review"
        }
        Effort::Accepted => {
            "run `kubectl envoyfilter migrate --accept differs`: it writes the object and lists what differs"
        }
    }
}

/// Whether a selector would limit the object to the workloads that the patch is for.
fn may_select(cx: &Context<'_>, view: &PatchView<'_>, report: &PatchReport) -> bool {
    let sidecars = matches!(view.patch.context, PatchContext::SidecarInbound | PatchContext::SidecarOutbound);
    sidecars && POLICIES.contains(&report.found.pattern) && reach::unselective(cx, view.filter)
}

/// Why the object applies, or may apply, to more workloads than the filter.
fn beyond(found: &Move) -> Option<&Guard> {
    let open = |guard: &&Guard| matches!(guard.state, State::Broken | State::Undecided);
    found.guards.iter().filter(open).find(|guard| guard.concern == Concern::Selector)
}

/// Whether the native object would reach more than the filter: then nothing is proposed. What the user can still limit
/// does not count: an object for this host alone, rules for ports in the APIs that have them, and a selector where the filter
/// has none.
fn reaches_further(found: &Move, unselective: bool) -> bool {
    let ports = found.homes.iter().any(|home| matches!(home.kind, "VirtualService" | "AuthorizationPolicy"));
    let reach = |concern| match concern {
        Concern::Namespace | Concern::Direction | Concern::Patch => true,
        Concern::Selector => !unselective,
        Concern::Ports => !ports,
        _ => false,
    };
    let perhaps = |concern| concern == Concern::Selector && !unselective;
    found.guards.iter().any(|guard| match guard.state {
        State::Broken => reach(guard.concern),
        State::Undecided => perhaps(guard.concern),
        _ => false,
    })
}

/// The native API, its release, and what matters most: why it is refused, what is missing, or what differs.
fn note(found: &Move, class: Class, unselective: bool) -> String {
    let mut homes: Vec<String> =
        found.homes.iter().take(MAX_HOMES).map(|home| format!("{} `{}`", home.kind, home.field)).collect();
    if found.homes.len() > MAX_HOMES {
        homes.push(format!("{} more", found.homes.len() - MAX_HOMES));
    }
    let since = found.since().filter(|since| *since > Release::OLDEST);
    let since = since.map_or_else(String::new, |since| format!(" since Istio {}.{}", since.major, since.minor));
    let instead =
        found.instead.as_ref().map_or_else(String::new, |home| format!(", or {} `{}`", home.kind, home.field));
    let beyond = beyond(found).filter(|_| unselective);
    let refused = found.guards.iter().find(|guard| guard.state == State::Broken);
    let undecided = found.guards.iter().find(|guard| guard.state == State::Undecided);
    let differs = found.differences.iter().find(|one| one.kind == Kind::Behavior);
    let what = match (beyond.or(refused), differs, undecided) {
        (Some(guard), ..) if guard.state == State::Undecided => format!("{class}: {}", guard.reason),
        (Some(guard), ..) => format!("not as it stands: {}", guard.reason),
        (None, _, Some(guard)) if found.lacks_object() => format!("{class}: {}", guard.reason),
        (None, Some(one), _) => format!("{class}: {}", one.effect),
        (None, None, Some(guard)) => format!("{class}: {}", guard.reason),
        (None, None, None) => format!("{class}: {}", class.meaning()),
    };
    format!("{}{since}{instead}; {what}", homes.join(" and "))
}
