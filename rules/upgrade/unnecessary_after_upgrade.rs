//! EF616: a filter that is not needed after the upgrade.

use crate::declare_rule;
use crate::lint::rule::Family;
use crate::lint::upgrade::{Change, tell};
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::Severity;

declare_rule! {
    /// An EnvoyFilter that is not needed after the upgrade.
    ///
    /// # What it finds
    /// A filter for which the new release has an API of its own that says the same, and the release before has not: the
    /// TrafficExtension of 1.30, `connectionSettings` of 1.31, fields of DestinationRule. And a patch that removes what the
    /// new release does not generate. Only `audit` reports it, since it compares two releases.
    ///
    /// # Why it matters
    /// What an API says survives upgrades; the filter must be audited at each.
    ///
    /// # How to fix
    /// Create the object shown once the upgrade is done, test it, then delete the EnvoyFilter. It is not valid for the
    /// release before. A patch that has nothing to remove any more can be deleted when the upgrade is done.
    ///
    /// # References
    /// The rules EF7xx, each with its source.
    "EF616" "unnecessary-after-upgrade" Upgrade Info => check,
    needs: &[Upgrade], changes: &[Change::Needless]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let Some(upgrade) = cx.upgrade.as_deref() else { return };
    let better: Vec<&str> = upgrade
        .after
        .findings
        .iter()
        .map(|one| one.rule)
        .filter(|rule| rule.family == Family::Native && rule.code != "EF704")
        .map(|rule| rule.code)
        .collect();
    for found in upgrade.newly(&better) {
        let mut finding =
            super::value_refused_after_upgrade::reported_as(rule, upgrade, found).severity(Severity::Info);
        // What replaces the filter does not exist before: nothing to apply yet.
        finding.fix = None;
        out.push(finding.note(format!("see {} {}", found.rule.code, found.rule.name)));
    }
    for change in upgrade.of(Change::Needless) {
        let Some(view) = tell::view(cx, change) else { continue };
        let message =
            format!("{} there is nothing to remove here: istiod no longer generates it", tell::from_on(upgrade));
        let finding = tell::finding(rule, cx, upgrade, change, view.key_span(&["patch", "operation"]), message)
            .label("not needed after the upgrade")
            .note(format!("it removes now: {}", tell::places(&change.places.0, change.counts.0)))
            .help("delete this patch after the upgrade");
        out.push(finding);
    }
}
