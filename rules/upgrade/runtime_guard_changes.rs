//! EF617: a runtime guard that Envoy has only before or only after the upgrade.

use crate::declare_rule;
use crate::envoy;
use crate::lint::guards::{self, Named};
use crate::lint::upgrade::{Upgrade, tell};
use crate::lint::value::PatchValue;
use crate::lint::{Context, Finding, Findings, RuleInfo};
use crate::source::Severity;

declare_rule! {
    /// A runtime guard that Envoy has only before or only after the upgrade.
    ///
    /// # What it finds
    /// A key of a runtime layer or a `runtime_key` that names a runtime guard that the Envoy of the proxies has only
    /// before or only after the upgrade. A guard that is set to its default value and then removed only needs cleaning
    /// up. The guards of Envoy 1.34 and 1.35 (Istio 1.26 and 1.27) are only partly known, and the finding says so. Only
    /// `audit` reports it, since it compares two releases.
    ///
    /// # Why it matters
    /// The old behavior disappears with the guard: what the filter switches off takes effect with the upgrade, reported
    /// only by a line in Envoy's log.
    ///
    /// # How to fix
    /// Before the upgrade, test the new behavior: remove the key while the guard still exists.
    ///
    /// # References
    /// `source/common/runtime/runtime_features.cc` of Envoy 1.26 to 1.39, the binary of 1.40.
    "EF617" "runtime-guard-changes" Upgrade Warning => check,
    needs: &[Upgrade]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let Some(upgrade) = cx.upgrade.as_deref() else { return };
    for value in cx.proxy_values() {
        let Some((before, after)) = envoys(cx, upgrade, value) else { continue };
        for named in guards::named(value) {
            let here = (envoy::has_guard(&named.name, before), envoy::has_guard(&named.name, after));
            let finding = match here {
                (before, after) if before == after => continue,
                (had, Some(false)) => gone(rule, cx, value, &named, had, (before, after)),
                (had, Some(true)) => comes(rule, cx, value, &named, had.is_none()),
                (had, None) => not_known(rule, cx, value, &named, had, after),
            };
            // Nothing reads the patch, before or after.
            let read = !guards::unread(value, upgrade.before.release);
            out.push(if read { finding } else { finding.severity(Severity::Info).note(UNREAD) });
        }
    }
}

const UNREAD: &str =
    "istiod does not apply the patch, now or then: this concerns a bootstrap override with the same key";

/// Envoy minors of the proxies that a patch is for, now and after the upgrade; `None` if the tables do not cover them.
fn envoys(cx: &Context<'_>, upgrade: &Upgrade, value: &PatchValue<'_>) -> Option<(u16, u16)> {
    let [(oldest, _), (_, newest)] = envoy::GUARDS_KNOWN;
    let version = value.view.patch.proxy.as_ref().map_or("", |proxy| proxy.version.as_str());
    let minor = |proxies: u16| {
        let pinned = (!version.is_empty()).then(|| cx.newest_fitting(version, proxies));
        let minor = envoy::api::envoy_of(pinned.unwrap_or(Some(proxies))?);
        (oldest..=newest).contains(&minor).then_some(minor)
    };
    minor(upgrade.before.proxies.minor).zip(minor(cx.proxies.minor))
}

fn gone(
    rule: &'static RuleInfo,
    cx: &Context<'_>,
    value: &PatchValue<'_>,
    named: &Named<'_>,
    had: Option<bool>,
    (before, after): (u16, u16),
) -> Finding {
    let name = &named.name;
    let message =
        format!("{} Envoy has no runtime guard `{name}`: what it controls can no longer be changed", since(cx));
    let last = envoy::runtime_guard(name).and_then(envoy::RuntimeGuard::minors).map_or(before, |(_, last)| last);
    let default = envoy::runtime_guard(name).and_then(|guard| guard.defaults().last()).map(|(_, default)| default);
    let finding = value.finding(rule, named.span, message).label(match had {
        Some(_) => format!("Envoy 1.{last} is the last release that has it: Istio 1.{}", envoy::api::istio_of(last)),
        None => format!("not in Envoy 1.{after}; whether in 1.{before} is not known"),
    });
    match default {
        Some(default) if named.sets(default) => finding
            .severity(Severity::Info)
            .note(format!("before its removal it defaulted to `{default}`, the value set here: nothing changes"))
            .help("remove the key when the upgrade is done"),
        Some(default) if named.set.is_some() => finding
            .note(format!("before its removal it defaulted to `{default}`: Envoy now always uses that behavior"))
            .help("remove the key before the upgrade, and check that everything still works"),
        Some(_) => finding.note("the default value next to it applies then, unless a runtime layer sets this key"),
        None => finding
            .note("its default is unknown, and so is the behavior that remains")
            .help("look it up in Envoy's changelog, and try it before the upgrade"),
    }
}

fn comes(
    rule: &'static RuleInfo,
    cx: &Context<'_>,
    value: &PatchValue<'_>,
    named: &Named<'_>,
    unknown: bool,
) -> Finding {
    let name = &named.name;
    let message = format!("{} Envoy has the runtime guard `{name}`: what is set here takes effect", since(cx));
    let finding = value.finding(rule, named.span, message);
    let finding = match guards::life(name) {
        Some(life) => finding.label(life),
        None => finding,
    };
    let guard = envoy::runtime_guard(name);
    match guard.and_then(|guard| guard.defaults().last()) {
        _ if unknown => finding.note("whether it exists before the upgrade is unknown"),
        Some((_, default)) if named.sets(default) => {
            finding.severity(Severity::Info).note(format!("it is `{default}` by default: nothing changes"))
        }
        _ => finding,
    }
}

fn not_known(
    rule: &'static RuleInfo,
    cx: &Context<'_>,
    value: &PatchValue<'_>,
    named: &Named<'_>,
    had: Option<bool>,
    after: u16,
) -> Finding {
    let name = &named.name;
    let (now, then) = if had == Some(true) { ("exists", "gone") } else { ("does not exist", "present") };
    let message = format!("{} the runtime guard `{name}` may be {then}", since(cx));
    let finding = value.finding(rule, named.span, message).label(guards::life(name).unwrap_or_default());
    finding
        .note(format!("it {now} now; the guards of Envoy 1.{after} are not all known"))
        .help(format!("look it up in the changelog of Envoy 1.{after}"))
}

/// `since Istio 1.23`, for the proxies.
fn since(cx: &Context<'_>) -> String {
    format!("with proxies of Istio {}", tell::short(cx.proxies))
}
