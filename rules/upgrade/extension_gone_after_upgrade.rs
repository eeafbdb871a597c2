//! EF610: an extension that the proxy contains now but not after the upgrade.

use super::value_refused_after_upgrade::reported_from;
use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::Severity;

declare_rule! {
    /// An extension that the proxy contains now but not after the upgrade.
    ///
    /// # What it finds
    /// A configuration of an extension that the earlier release of Istio's proxy has but the later one does not,
    /// according to the build files of both; also built-in plugins of Istio. Only `audit` reports it, since it compares
    /// two releases.
    ///
    /// # Why it matters
    /// istiod still knows the type and sends it; the proxy rejects the listener or cluster that contains it.
    ///
    /// # How to fix
    /// Use its replacement, before the upgrade.
    ///
    /// # References
    /// Build files of istio/proxy 1.18 to 1.31; changelogs of Envoy.
    "EF610" "extension-gone-after-upgrade" Upgrade Error => check,
    needs: &[Upgrade], meaning: Rejected
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let Some(upgrade) = cx.upgrade.as_deref() else { return };
    for found in upgrade.newly(&["EF121", "EF130"]) {
        out.push(reported_from(rule, upgrade, found).severity(Severity::Error));
    }
}
