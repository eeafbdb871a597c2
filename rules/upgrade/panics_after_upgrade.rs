//! EF605: a patch that makes istiod panic after the upgrade but not now.

use crate::declare_rule;
use crate::lint::upgrade::{Change, tell};
use crate::lint::{Context, Findings, RuleInfo};
use std::collections::BTreeSet;

declare_rule! {
    /// A patch that makes istiod panic after the upgrade but not now.
    ///
    /// # What it finds
    /// A patch that merges one type into another, or into every listener filter: up to 1.26 istiod reads the bytes of
    /// one type as the other or ignores the patch, since 1.27 it panics. Only `audit` reports it, since it compares two
    /// releases.
    ///
    /// # Why it matters
    /// istiod recovers by dropping this patch and everything else of the same pass: other filters of the listener also
    /// lose their patches.
    ///
    /// # How to fix
    /// Name the intended filter, so that target and value have the same type; this is right for both releases.
    ///
    /// # References
    /// Recordings of istiod 1.26 and 1.28; istio/istio pull requests 56486, 56489.
    "EF605" "panics-after-upgrade" Upgrade Error => check,
    needs: &[Upgrade], changes: &[Change::Panics]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let Some(upgrade) = cx.upgrade.as_deref() else { return };
    for change in upgrade.of(Change::Panics) {
        let Some(view) = tell::view(cx, change) else { continue };
        let victims: BTreeSet<(usize, Option<usize>)> = upgrade
            .of(Change::LostToPanic)
            .filter(|lost| lost.cause == Some((change.filter, view.patch.index)))
            .map(|lost| (lost.filter, lost.patch))
            .collect();
        let message = format!("{} istiod panics at this patch: {}", tell::from_on(upgrade), change.reason);
        let mut finding = tell::finding(rule, cx, upgrade, change, view.key_span(&["patch", "value"]), message)
            .label("a different type than the filter it is merged into")
            .note("istiod continues without this patch and without the rest of the same pass");
        if !victims.is_empty() {
            let count = crate::lint::names::count(victims.len(), "other patch", "other patches");
            finding = finding.note(format!("{count} lost with it on these proxies"));
        }
        for (filter, patch) in victims.into_iter().take(3) {
            let span = match patch.and_then(|patch| cx.patch(filter, patch)) {
                Some(lost) => lost.key_span(&["patch", "operation"]),
                None => cx.filters[filter].name_span(),
            };
            finding = finding.related(span, "lost with it");
        }
        out.push(
            finding
                .help("write the type of the matched object, or match the intended object, so that both types agree"),
        );
    }
}
