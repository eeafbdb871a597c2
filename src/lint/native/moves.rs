//! Findings about patches for which Istio has an API of its own: how a patch moves is known to `migrate` alone.

use crate::lint::facts::context::Context;
use crate::lint::finding::Findings;
use crate::lint::rule::RuleInfo;
use crate::migrate::catalog::Pattern;
use crate::migrate::step::Move;
use crate::migrate::verdict::{Class, Concern, Kind, State};
use crate::model::release::Release;

/// Most homes that a finding names; `migrate` names all.
const MAX_HOMES: usize = 2;

/// Adds a finding for each patch of some patterns that moves and passes a test.
pub fn check(
    rule: &'static RuleInfo,
    cx: &Context<'_>,
    out: &mut Findings,
    patterns: &[&'static Pattern],
    message: &str,
    test: fn(&Move) -> bool,
) {
    let reports = cx.moves();
    for view in cx.patches() {
        let Some(report) = reports.get(view.filter_index).and_then(|one| one.patches.get(view.patch.index)) else {
            continue;
        };
        let found = &report.found;
        let whole = found.moves && found.rest.is_none();
        if !whole || !patterns.contains(&found.pattern) || reaches_further(found) || !test(found) {
            continue;
        }
        let mut finding =
            view.finding(rule, view.key_span(&["patch", "value"]), message).note(note(found, report.class));
        finding = finding.help("run `kubectl envoyfilter migrate`: it writes the object and lists what differs");
        out.push(finding);
    }
}

/// Whether the native object would reach what the filter leaves alone: then there is nothing to propose.
fn reaches_further(found: &Move) -> bool {
    let reach = |concern| {
        matches!(
            concern,
            Concern::Namespace
                | Concern::Selector
                | Concern::Ports
                | Concern::Direction
                | Concern::Routes
                | Concern::Patch
        )
    };
    let perhaps = |concern| concern == Concern::Selector;
    found.guards.iter().any(|guard| match guard.state {
        State::Broken => reach(guard.concern),
        State::Undecided => perhaps(guard.concern),
        _ => false,
    })
}

/// The home, its release, and the most important thing that is not the same.
fn note(found: &Move, class: Class) -> String {
    let mut homes: Vec<String> =
        found.homes.iter().take(MAX_HOMES).map(|home| format!("{} `{}`", home.kind, home.field)).collect();
    if found.homes.len() > MAX_HOMES {
        homes.push(format!("{} more", found.homes.len() - MAX_HOMES));
    }
    let since = found.since().filter(|since| *since > Release::OLDEST);
    let since = since.map_or_else(String::new, |since| format!(" since Istio {}.{}", since.major, since.minor));
    let refused = found.guards.iter().find(|guard| guard.state == State::Broken);
    let undecided = found.guards.iter().find(|guard| guard.state == State::Undecided);
    let differs = found.differences.iter().find(|one| one.kind == Kind::Behavior);
    let what = match (refused, differs, undecided) {
        (Some(guard), ..) => format!("not as it stands: {}", guard.reason),
        (None, Some(one), _) => format!("{class}: {}", one.effect),
        (None, None, Some(guard)) => format!("{class}: {}", guard.reason),
        (None, None, None) => format!("{class}: {}", class.meaning()),
    };
    format!("{}{since}; {what}", homes.join(" and "))
}
