//! EF609: a value that istiod or the proxy accepts now but rejects after the upgrade.

use crate::declare_rule;
use crate::lint::upgrade::tell;
use crate::lint::{Context, Finding, Findings, RuleInfo};
use crate::model::release::Release;
use crate::source::Severity;

declare_rule! {
    /// A value that istiod or the proxy accepts now but rejects after the upgrade.
    ///
    /// # What it finds
    /// A type, a field or an enum value that istiod or the proxy knows now but not after the upgrade, or that the
    /// proxy's Envoy rejects by default: types of the v2 API (Istio 1.19), types removed from Envoy, disallowed values.
    /// Only `audit` reports it, since it compares two releases.
    ///
    /// # Why it matters
    /// istiod then drops the patch, or the proxy rejects the listener or cluster that contains the value and keeps the
    /// old one: a new pod has none.
    ///
    /// # How to fix
    /// Use its replacement. A fix that the finding offers is right for both releases unless it says otherwise.
    ///
    /// # References
    /// The types of Envoy 1.26 to 1.40 and istiod 1.18 to 1.31, from the modules they are built with.
    "EF609" "value-refused-after-upgrade" Upgrade Error => check,
    fixes: true, needs: &[Upgrade], changes: &[Change::Discarded], meaning: Rejected
}

/// Rules whose findings report a rejected value.
const REFUSED: &[&str] = &["EF105", "EF109", "EF113", "EF116"];

/// The first release of istiod without the v2 API.
const V2_UNTIL: Release = Release::minor(19);

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let Some(upgrade) = cx.upgrade.as_deref() else { return };
    let mut reported = std::collections::BTreeSet::new();
    for found in upgrade.newly(REFUSED) {
        reported.extend(found.patch.map(|patch| (found.filter.clone(), patch)));
        let finding = reported_from(rule, upgrade, found);
        out.push(finding.severity(Severity::Error));
    }
    // The tables contain no v2 package, not even for releases that had one.
    if upgrade.crosses(V2_UNTIL) {
        for found in upgrade.after.findings.iter().filter(|one| one.rule.code == "EF110") {
            reported.extend(found.patch.map(|patch| (found.filter.clone(), patch)));
            let mut finding = reported_from(rule, upgrade, found).severity(Severity::Error);
            finding.message = format!("since Istio 1.19 istiod accepts no type of the v2 API: {}", found.message);
            out.push(finding);
        }
    }
    for (filter, patch) in upgrade.after.discarded.difference(&upgrade.before.discarded) {
        let Some(view) = cx.patches().find(|one| (one.filter_index, one.patch.index) == (*filter, *patch)) else {
            continue;
        };
        if reported.contains(&(view.filter.full_name(), *patch)) {
            continue;
        }
        let notice = view.built.and_then(|built| built.notices.iter().find(|notice| notice.what.fatal()));
        let span =
            notice.map_or_else(|| view.key_span(&["patch", "value"]), |notice| view.value_route_span(&notice.route));
        let release = tell::short(upgrade.after.release);
        out.push(
            Finding::new(rule, span, format!("Istio {release} drops this patch: it cannot read its value"))
                .label("unknown after the upgrade")
                .note("the webhook rejects a new EnvoyFilter like this; an existing one stays, without effect")
                .of(view.filter, Some(*patch)),
        );
    }
}

/// Another rule's finding, expressed as an effect of the upgrade, with the name of that rule.
pub(super) fn reported_from(
    rule: &'static RuleInfo,
    upgrade: &crate::lint::upgrade::Upgrade,
    found: &Finding,
) -> Finding {
    let before = tell::short(upgrade.before.release);
    reported_as(rule, upgrade, found)
        .note(format!("works with Istio {before}; see {} {}", found.rule.code, found.rule.name))
}

/// Another rule's finding, expressed as an effect of the upgrade.
pub(super) fn reported_as(
    rule: &'static RuleInfo,
    upgrade: &crate::lint::upgrade::Upgrade,
    found: &Finding,
) -> Finding {
    Finding {
        rule,
        message: format!("{} {}", tell::from_on(upgrade), found.message),
        fix: found.fix.clone(),
        ..found.clone()
    }
}
