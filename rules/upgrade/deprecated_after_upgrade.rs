//! EF613: a field, a type or an enum value that is deprecated after the upgrade.

use super::value_refused_after_upgrade::reported_as;
use crate::declare_rule;
use crate::envoy::api::istio_of;
use crate::lint::upgrade::tell;
use crate::lint::{Context, Findings, RuleInfo};
use crate::proto::schema::Schema;
use crate::source::{Severity, Span};
use std::collections::BTreeMap;

declare_rule! {
    /// A field, a type or an enum value that is deprecated after the upgrade.
    ///
    /// # What it finds
    /// Fields, types and enum values that the Envoy of the new proxies declares deprecated, with the last known release
    /// that accepts them and their replacement. Only `audit` reports it, since it compares two releases.
    ///
    /// # Why it matters
    /// This upgrade succeeds; a later one will not.
    ///
    /// # How to fix
    /// Use its replacement. If the replacement exists in both releases, switch before the upgrade.
    ///
    /// # References
    /// The protos of Envoy 1.26 to 1.40, release by release.
    "EF613" "deprecated-after-upgrade" Upgrade Warning => check,
    fixes: true, needs: &[Upgrade], meaning: Deprecated
}

/// The newest Envoy whose API is known.
const NEWEST_ENVOY: u16 = 40;

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let Some(upgrade) = cx.upgrade.as_deref() else { return };
    let ends = ends(cx);
    let known = |span: Span, code: &str| {
        upgrade.before.findings.iter().any(|one| one.primary.span == span && one.rule.code == code)
    };
    for found in upgrade.after.findings.iter().filter(|one| matches!(one.rule.code, "EF114" | "EF115" | "EF127")) {
        let mut finding = reported_as(rule, upgrade, found).severity(Severity::Warning);
        finding.message.clone_from(&found.message);
        finding = finding.note(match ends.get(&found.primary.span) {
            Some(last) => {
                format!("Envoy 1.{last} is the last release to accept it (Istio 1.{})", istio_of(*last))
            }
            None => format!("every Envoy up to 1.{NEWEST_ENVOY}, the newest known, still accepts it"),
        });
        if !known(found.primary.span, found.rule.code) {
            let before = tell::short(upgrade.before.proxies);
            finding = finding.note(format!("it is not deprecated in the Envoy of Istio {before}"));
        }
        out.push(finding);
    }
}

/// The last Envoy minor that accepts a deprecated field, by the place of the key; nothing for fields that all accept.
fn ends(cx: &Context<'_>) -> BTreeMap<Span, u16> {
    let mut ends = BTreeMap::new();
    for value in cx.values() {
        for object in &value.objects {
            for member in &object.members {
                let Some(field) = member.envoy.filter(|field| field.deprecated()) else { continue };
                let takes = |minor: u16| {
                    let message = Schema::envoy(minor).and_then(|schema| schema.message(object.full_name()));
                    let field = message.and_then(|message| message.field(field.name()));
                    field.is_some_and(|field| !field.disallowed_by_default())
                };
                let first = (cx.envoy_minor()..=NEWEST_ENVOY).find(|&minor| !takes(minor));
                if let Some(first) = first {
                    ends.insert(member.entry.key_span, first.saturating_sub(1));
                }
            }
        }
    }
    ends
}
