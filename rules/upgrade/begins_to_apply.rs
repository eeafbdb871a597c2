//! EF602: a patch that has no effect now but has one after the upgrade.

use crate::declare_rule;
use crate::engine::REFERENCED_SERVICES;
use crate::lint::upgrade::{Change, tell};
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::{Severity, Step};

declare_rule! {
    /// A patch that has no effect now but has one after the upgrade.
    ///
    /// # What it finds
    /// A patch that changes nothing on a proxy before the upgrade but something after it: `targetRefs` that istiod
    /// starts to read, LISTENER_FILTER MERGE, a pinned version that starts to match, an annotation. Only `audit`
    /// compares two releases: `lint` never reports it.
    ///
    /// # Why it matters
    /// Nobody has tested its effect there, and the upgrade switches it on everywhere at once.
    ///
    /// # How to fix
    /// If it is intended, test it on one workload of the new revision. If not, delete the EnvoyFilter before the
    /// upgrade.
    ///
    /// # References
    /// Recordings of istiod 1.22 to 1.31; istio/istio pull requests 56417, 56486.
    "EF602" "begins-to-apply" Upgrade Warning => check,
    needs: &[Upgrade], changes: &[Change::Begins]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let Some(upgrade) = cx.upgrade.as_deref() else { return };
    for change in upgrade.of(Change::Begins) {
        let span = match tell::view(cx, change) {
            Some(view) if change.pinned => view.value_span(&["match", "proxy", "proxyVersion"]),
            Some(view) => view.key_span(&["patch", "operation"]),
            // Without a patch, it is the annotation that istiod starts to read.
            None => {
                let route = ["metadata", "annotations", REFERENCED_SERVICES];
                cx.filters[change.filter].document.key_span(&route.map(Step::from))
            }
        };
        // The twin of a pinned patch is intended to start where the other ends.
        let takes_over = tell::view(cx, change)
            .is_some_and(|view| super::version_pin_lost::hands_over(cx, upgrade, &view).is_some());
        let what = if change.patch.is_some() { "patch" } else { "filter" };
        let mut finding = tell::finding(
            rule,
            cx,
            upgrade,
            change,
            span,
            format!("{} this {what} begins to have an effect", tell::from_on(upgrade)),
        )
        .label("does nothing now");
        if !change.reason.is_empty() {
            finding = finding.note(format!("now: {}", change.reason));
        }
        if !change.places.1.is_empty() {
            let places = tell::places(&change.places.1, change.counts.1);
            finding = finding.note(format!("it changes after the upgrade: {places}"));
        }
        if takes_over {
            finding = finding
                .severity(Severity::Info)
                .note("it replaces a patch that is pinned to the earlier version, as intended");
        }
        out.push(finding);
    }
}
