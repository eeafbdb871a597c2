//! EF601: a patch that has an effect now but none after the upgrade.

use super::anchor_renamed::{added_names, renamed};
use crate::declare_rule;
use crate::lint::upgrade::{Change, tell};
use crate::lint::{Context, Findings, RuleInfo, names};

declare_rule! {
    /// A patch that has an effect now but none after the upgrade.
    ///
    /// # What it finds
    /// A patch that changes something on a proxy before the upgrade but matches nothing, or ignores what it matches,
    /// after it. Computed by running the engine as both releases. Only `audit` reports it, since it compares two
    /// releases.
    ///
    /// # Why it matters
    /// istiod reports nothing: the filter is accepted, and its effect is gone after the rollout.
    ///
    /// # How to fix
    /// Match what the new release generates; the finding says what exists. For names that istiod changed, see
    /// anchor-renamed.
    ///
    /// # References
    /// Recordings of istiod 1.22 to 1.31.
    "EF601" "stops-matching" Upgrade Error => check,
    needs: &[Upgrade], changes: &[Change::Stops]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let Some(upgrade) = cx.upgrade.as_deref() else { return };
    let added = added_names(cx);
    for change in upgrade.of(Change::Stops) {
        let Some(view) = tell::view(cx, change) else { continue };
        // The rule about renamed anchors explains it better.
        if !renamed(cx, upgrade, &view, &added).is_empty() {
            continue;
        }
        let span = match change.condition {
            Some(condition) => {
                let mut route = vec!["match"];
                route.extend(condition.route());
                view.value_span(&route)
            }
            None => view.key_span(&["patch", "operation"]),
        };
        let message = format!("{} this patch has no effect: {}", tell::from_on(upgrade), change.reason);
        let mut finding = tell::finding(rule, cx, upgrade, change, span, message)
            .label("matches now, but not after the upgrade")
            .note(format!("it changes now: {}", tell::places(&change.places.0, change.counts.0)));
        if change.condition.is_some() && !change.candidates.is_empty() {
            let there = names::listed(change.candidates.iter().map(String::as_str), 6);
            finding = finding.note(format!("exists after the upgrade: {there}"));
        }
        out.push(finding);
    }
}
