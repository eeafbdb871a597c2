//! EF610: an extension that the proxy is built with now and not after the upgrade.

use super::value_refused_after_upgrade::reported_from;
use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::Severity;

declare_rule! {
    /// An extension that the proxy contains now but not after the upgrade.
    ///
    /// # What it finds
    /// A configuration of an extension that Istio's proxy of the release before has and the one after has not, by the
    /// build files of both; also plugins of Istio's that were compiled in. Only `audit` reports it,
    /// since it compares two releases.
    ///
    /// # Why it matters
    /// istiod still knows the type and sends it; the proxy rejects the listener or cluster that holds it.
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
