//! EF611: a value that passes Envoy's validation now but not after the upgrade.

use super::value_refused_after_upgrade::reported_from;
use crate::declare_rule;
use crate::lint::{Context, Finding, Findings, RuleInfo};
use crate::source::Severity;

declare_rule! {
    /// A value that passes Envoy's validation now but not after the upgrade.
    ///
    /// # What it finds
    /// A value that breaks a validation rule, or omits a required field, only in the new proxies' Envoy, not in the
    /// earlier one; or that only the newer extension rejects. Only `audit` reports it, since it compares two releases.
    ///
    /// # Why it matters
    /// istiod does not validate: the proxy rejects the listener, cluster or route that contains it.
    ///
    /// # How to fix
    /// Write a value that both accept.
    ///
    /// # References
    /// The validation rules in the protos of Envoy 1.26 to 1.40.
    "EF611" "validation-fails-after-upgrade" Upgrade Error => check,
    needs: &[Upgrade], meaning: Rejected
}

const REFUSALS: [&str; 3] = ["EF118", "EF119", "EF134"];

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let Some(upgrade) = cx.upgrade.as_deref() else { return };
    for found in upgrade.newly(&REFUSALS) {
        // The API's rules may reject it before the upgrade and the extension's code after it.
        let known = |one: &Finding| REFUSALS.contains(&one.rule.code) && one.primary.span == found.primary.span;
        if upgrade.before.findings.iter().any(known) {
            continue;
        }
        out.push(reported_from(rule, upgrade, found).severity(Severity::Error));
    }
}
