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
    /// A filter that an API of the new release can replace, but none of the earlier release: the TrafficExtension of
    /// 1.30, `connectionSettings` of 1.31, fields of DestinationRule. Also a patch that removes something that the new
    /// release does not generate. Only `audit` reports it, since it compares two releases.
    ///
    /// # Why it matters
    /// A native API survives upgrades; the filter must be audited at each.
    ///
    /// # How to fix
    /// Create the object shown after the upgrade, test it, then delete the EnvoyFilter. The object is not valid for the
    /// earlier release. A patch that has nothing left to remove can be deleted after the upgrade.
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
        // The replacement does not exist before the upgrade, so it cannot be applied yet.
        finding.fix = None;
        out.push(finding.note(format!("see {} {}", found.rule.code, found.rule.name)));
    }
    for change in upgrade.of(Change::Needless) {
        let Some(view) = tell::view(cx, change) else { continue };
        let message =
            format!("{} this patch has nothing to remove: istiod no longer generates it", tell::from_on(upgrade));
        let finding = tell::finding(rule, cx, upgrade, change, view.key_span(&["patch", "operation"]), message)
            .label("not needed after the upgrade")
            .note(format!("it removes now: {}", tell::places(&change.places.0, change.counts.0)))
            .help("delete this patch after the upgrade");
        out.push(finding);
    }
}
