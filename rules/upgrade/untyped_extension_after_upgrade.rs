//! EF612: an extension without a type, which no release since 1.19 looks up by name.

use super::value_refused_after_upgrade::reported_from;
use crate::declare_rule;
use crate::lint::facts::document;
use crate::lint::upgrade::tell;
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::release::Release;
use crate::source::Severity;

declare_rule! {
    /// An extension without a type, which releases since Istio 1.19 do not look up by name.
    ///
    /// # What it finds
    /// An extension without `typed_config` in a filter that crosses Istio 1.19 (Envoy 1.27). Only `audit` compares two
    /// releases: `lint` never reports it.
    ///
    /// # Why it matters
    /// Up to then, the proxy finds some extensions by name alone; afterwards it rejects resources that contain one.
    ///
    /// # How to fix
    /// Add `typed_config` with the type of the extension; it is right for both releases.
    ///
    /// # References
    /// Istio 1.19 release notes; measured with Envoy 1.36 and 1.40.
    "EF612" "untyped-extension-after-upgrade" Upgrade Error => check,
    needs: &[Upgrade], meaning: Rejected
}

/// The first release whose proxies look up no extension by name.
const SINCE: Release = Release::minor(19);

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let Some(upgrade) = cx.upgrade.as_deref() else { return };
    if !upgrade.proxies_cross(SINCE) {
        return;
    }
    for found in upgrade.after.findings.iter().filter(|one| one.rule.code == "EF112") {
        let mut finding = reported_from(rule, upgrade, found).severity(Severity::Error);
        // It also has no configuration before the upgrade; the change is that its name is no longer enough.
        if let Some(name) = document::text_at(cx, found.primary.span).filter(|name| !name.is_empty()) {
            finding.message = format!("{} `{name}` is no longer found by its name alone", tell::from_on(upgrade));
        }
        out.push(finding);
    }
}
