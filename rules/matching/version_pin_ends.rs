//! EF230: a `proxyVersion` that does not match the next release of the proxies.

use crate::declare_rule;
use crate::engine::go_regexp::{self, GoRegexp};
use crate::engine::program::MAX_PROXY_VERSION;
use crate::lint::versions::of_vendor;
use crate::lint::{Context, Findings, Knowledge, PatchView, RuleInfo, names};
use crate::model::release::Release;
use crate::source::Severity;
use std::collections::BTreeSet;

declare_rule! {
    /// A `proxyVersion` that matches the current proxies but not those of the next release.
    ///
    /// # What it finds
    /// An expression that matches the selected proxies (without config dumps: a release up to the control plane's) but
    /// not the next release, if no other patch is pinned to that release and takes over. A warning if the control plane
    /// is newer than the proxies: then the patch ends when the pods restart.
    ///
    /// # Why it matters
    /// Nothing reports the end of a pin: after the upgrade the proxies run without the patch.
    ///
    /// # How to fix
    /// Remove `proxyVersion` if the patch is right for every release; otherwise add the patch for the next release
    /// before the upgrade. `audit` shows what an upgrade changes.
    ///
    /// # References
    /// istio/istio#43602, istio/istio#51028; istiod `pilot/pkg/model` (`proxyVersion` is searched for in the version).
    "EF230" "version-pin-ends" Matching Info => check
}

/// Number of patch releases of a minor release that are tried; none has had more.
const MAX_PATCH: u16 = 30;

/// Number of patch releases of the next minor release of which one must match.
const SOON: u16 = 9;

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let Some(wanted) = view.patch.proxy.as_ref().map(|proxy| proxy.version.as_str()) else { continue };
        if wanted.is_empty()
            || wanted.len() > MAX_PROXY_VERSION
            || of_vendor(wanted)
            || crate::rules::native::leftover_telemetry_filter::of_istio(view.filter)
        {
            continue;
        }
        let compiled = go_regexp::compile(wanted);
        let Ok(regex) = compiled.as_ref() else { continue };
        let in_use = in_use(cx, &view);
        let Some(last) = in_use.iter().next_back().copied().or_else(|| newest(cx, wanted)) else { continue };
        // If the control plane is newer, its release arrives with the next restart.
        let own = (0..=MAX_PATCH).any(|patch| regex.is_match(&Release::patch(cx.release.minor, patch).to_string()));
        let pending = !in_use.is_empty() && cx.release.minor > last.minor && !own;
        let next = if pending { Some(Release::minor(cx.release.minor)) } else { end(regex, last, in_use.is_empty()) };
        let Some(next) = next else { continue };
        if cx.patches().any(|other| takes_over(&view, &other, next)) {
            continue;
        }
        let shown: String = wanted.chars().take(60).collect();
        let word = short(next, last);
        let note = if in_use.is_empty() {
            format!("the newest release that it matches is Istio {}.{}", last.major, last.minor)
        } else {
            let versions: BTreeSet<String> = in_use.iter().map(Release::to_string).collect();
            format!("the selected proxies are of version {}", names::listed(versions.iter().map(String::as_str), 8))
        };
        let mut finding = view
            .finding(
                rule,
                view.value_span(&["match", "proxy", "proxyVersion"]),
                format!("proxyVersion `{shown}` does not match the proxies of Istio {word}"),
            )
            .label(if pending { "ends with the next restart" } else { "ends with the next upgrade" })
            .note(note)
            .help("remove proxyVersion if the patch is right for every release, or add a patch for the next one");
        if pending {
            finding = finding.severity(Severity::Warning).note(format!(
                "the control plane is Istio {}.{}: pods that restart get a proxy of that release, without the patch",
                cx.release.major, cx.release.minor
            ));
        }
        out.push(finding);
    }
}

/// Versions of the proxies that the filter selects and the expression matches.
fn in_use(cx: &Context<'_>, view: &PatchView<'_>) -> BTreeSet<Release> {
    cx.on_proxies(view.filter_index, view.patch.index)
        .filter(|met| met.run.knowledge == Knowledge::Dump && met.planned.proxy_miss.is_none())
        .filter_map(|met| met.run.config.proxy.istio_version.parse().ok())
        .collect()
}

/// The newest release, up to the control plane's, that an expression was written for; `None` for one that names no
/// release.
fn newest(cx: &Context<'_>, wanted: &str) -> Option<Release> {
    cx.newest_fitting(wanted, cx.release.minor).map(Release::newest_of)
}

/// The first later release that an expression does not match: the next patch release, or the next minor.
fn end(regex: &GoRegexp, last: Release, any_patch: bool) -> Option<Release> {
    let matches = |minor: u16, patches: std::ops::RangeInclusive<u16>| {
        patches.into_iter().any(|patch| regex.is_match(&Release::patch(minor, patch).to_string()))
    };
    if !matches(last.minor, last.patch..=MAX_PATCH) && !any_patch {
        return None;
    }
    if !any_patch && !matches(last.minor, last.patch + 1..=MAX_PATCH) {
        return Some(Release::patch(last.minor, last.patch + 1));
    }
    // `1.30.*` without a start also matches 1.31.30, which is far away.
    (!matches(last.minor + 1, 0..=SOON)).then(|| Release::minor(last.minor + 1))
}

/// Whether another patch of the same kind is pinned to a release.
fn takes_over(view: &PatchView<'_>, other: &PatchView<'_>, next: Release) -> bool {
    let same = (view.filter_index, view.patch.index) == (other.filter_index, other.patch.index);
    let version = other.patch.proxy.as_ref().map(|proxy| proxy.version.as_str()).unwrap_or_default();
    if same
        || version.is_empty()
        || other.patch.apply_to != view.patch.apply_to
        || other.patch.context != view.patch.context
        || other.filter.namespace != view.filter.namespace
    {
        return false;
    }
    let compiled = go_regexp::compile(version);
    let Ok(regex) = compiled.as_ref() else { return false };
    regex.is_match(&next.to_string())
}

/// `1.31` for the first release of a minor, `1.30.4` for a patch release.
fn short(next: Release, last: Release) -> String {
    if next.minor == last.minor { next.to_string() } else { format!("{}.{}", next.major, next.minor) }
}
