//! EF606: a patch that is lost after the upgrade because another patch makes istiod panic.

use crate::declare_rule;
use crate::lint::upgrade::{Change, tell};
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// A patch that is lost after the upgrade because another patch makes istiod panic.
    ///
    /// # What it finds
    /// A patch that has an effect now but that istiod does not reach after the upgrade, because another patch of the
    /// same pass makes it panic. Only `audit` reports it, since it compares two releases.
    ///
    /// # Why it matters
    /// The filter is correct but lost anyway. istiod logs the panic, but not what is lost.
    ///
    /// # How to fix
    /// Fix or remove the patch that panics before the upgrade.
    ///
    /// # References
    /// Recordings of istiod 1.28.
    "EF606" "lost-to-panic-after-upgrade" Upgrade Error => check,
    needs: &[Upgrade], changes: &[Change::LostToPanic]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let Some(upgrade) = cx.upgrade.as_deref() else { return };
    for change in upgrade.of(Change::LostToPanic) {
        let Some(view) = tell::view(cx, change) else { continue };
        let message = format!("{} this patch is {}", tell::from_on(upgrade), change.reason);
        let mut finding = tell::finding(rule, cx, upgrade, change, view.key_span(&["patch", "operation"]), message)
            .label("not applied after the upgrade")
            .note(format!("it changes now: {}", tell::places(&change.places.0, change.counts.0)));
        if let Some(cause) = change.cause.and_then(|(filter, patch)| cx.patch(filter, patch)) {
            finding = finding.related(cause.key_span(&["patch", "value"]), "istiod panics at this");
        }
        out.push(finding);
    }
}
