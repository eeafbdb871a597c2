//! EF610: an extension that the proxy is built with now and not after the upgrade.

use super::value_refused_after_upgrade::again;
use crate::declare_rule;
use crate::lint::{Context, Findings, Rule};
use crate::source::Severity;

declare_rule! {
    /// An extension that the proxy is built with now and not after the upgrade.
    ///
    /// # What it finds
    /// A configuration of an extension that Istio's proxy of the release before has and the one after has not, by the
    /// build files of both; also plugins of Istio's that were compiled in. Only `audit` looks at two releases: `lint`
    /// never reports it.
    ///
    /// # Why it matters
    /// istiod still knows the type and sends it; the proxy rejects the listener or cluster that holds it.
    ///
    /// # How to fix
    /// Use what stands in for it, before the upgrade.
    ///
    /// # References
    /// Build files of istio/proxy 1.18 to 1.31; changelogs of Envoy.
    "EF610" "extension-gone-after-upgrade" Error => check
}

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
    let Some(upgrade) = cx.upgrade.as_deref() else { return };
    for found in upgrade.newly(&["EF121", "EF130"]) {
        out.push(again(rule, upgrade, found).severity(Severity::Error));
    }
}
