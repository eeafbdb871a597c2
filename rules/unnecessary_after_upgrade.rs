//! EF616: a filter that a first-class API makes unnecessary after the upgrade.

use crate::declare_rule;
use crate::lint::{Context, Findings, Rule};
use crate::source::Severity;

declare_rule! {
    /// A filter that a first-class API makes unnecessary after the upgrade.
    ///
    /// # What it finds
    /// A filter for which the new release has an API of its own that says the same, and the release before has not: the
    /// TrafficExtension of 1.30, `connectionSettings` of 1.31, fields of DestinationRule. Only `audit` looks at two
    /// releases: `lint` never reports it.
    ///
    /// # Why it matters
    /// What an API says survives upgrades; the filter has to be audited at each.
    ///
    /// # How to fix
    /// Create the object shown once the upgrade is done, test it, then delete the filter. It is not valid for the
    /// release before.
    ///
    /// # References
    /// The rules EF7xx, each with its source.
    "EF616" "unnecessary-after-upgrade" Info => check
}

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
    let Some(upgrade) = cx.upgrade.as_deref() else { return };
    let better: Vec<&str> = upgrade
        .after
        .findings
        .iter()
        .map(|one| one.rule)
        .filter(|rule| rule.theme() == "better ways" && rule.code != "EF704")
        .map(|rule| rule.code)
        .collect();
    for found in upgrade.newly(&better) {
        let mut finding = super::value_refused_after_upgrade::again(rule, upgrade, found).severity(Severity::Info);
        finding.notes.pop();
        // What replaces the filter does not exist before: nothing to apply yet.
        finding.fix = None;
        out.push(finding.note(format!("see {} {}", found.rule.code, found.rule.name)));
    }
}
