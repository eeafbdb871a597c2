//! EF225: a proxyVersion that matches no proxy.

use crate::declare_rule;
use crate::engine::program::{MAX_PROXY_VERSION, ProxyMiss};
use crate::lint::{Context, Findings, Knowledge, PatchView, RuleInfo, names, versions};
use crate::model::envoy_filter::Patch;
use crate::model::release::Release;
use crate::source::Severity;
use std::collections::BTreeSet;

declare_rule! {
    /// `match.proxy.proxyVersion` that matches no proxy.
    ///
    /// # What it finds
    /// An expression that matches no proxy of the config dumps or, if the filter reaches no dump, no release from 1.22
    /// to the control plane's: a leftover of an upgrade, for example the `stats-filter-1.x` and `metadata-exchange-1.x`
    /// filters of Istio before 1.21.
    ///
    /// # Why it matters
    /// The patch silently does nothing.
    ///
    /// # How to fix
    /// Delete leftovers; otherwise write the versions in use, anchored: `^1\.30\.`.
    ///
    /// # References
    /// istio/istio#51028, istio/istio#48126, istio/istio#50350, istio/istio#43602.
    "EF225" "proxy-version-matches-nothing" Matching Warning => check,
    explains: &["EF230"]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let Some(wanted) = view.patch.proxy.as_ref().map(|proxy| &proxy.version).filter(|text| !text.is_empty()) else {
            continue;
        };
        let met: Vec<_> = cx
            .on_proxies(view.filter_index, view.patch.index)
            .filter(|met| met.run.knowledge == Knowledge::Dump)
            .collect();
        let missed = |miss: &Option<ProxyMiss>| matches!(miss, Some(ProxyMiss::Version(_) | ProxyMiss::VersionTooLong));
        let span = view.value_span(&["match", "proxy", "proxyVersion"]);
        let shown: String = wanted.chars().take(60).collect();
        if !met.is_empty() {
            if met.iter().all(|met| met.planned.proxy_miss.is_some())
                && met.iter().any(|met| missed(&met.planned.proxy_miss))
            {
                let versions: BTreeSet<&str> =
                    met.iter().map(|met| met.run.config.proxy.istio_version.as_str()).collect();
                let proxies = names::count(met.len(), "proxy", "proxies");
                let twin = prepared(cx, &view);
                let mut finding = view
                    .finding(rule, span, format!("proxyVersion `{shown}` matches none of the selected proxies"))
                    .severity(if twin { Severity::Info } else { Severity::Error })
                    .label("matches no proxy")
                    .ineffective()
                    .note(format!("the filter selects {proxies}, of version {}", names::listed(versions, 8)))
                    .workloads(met.iter().map(|met| met.run.label().to_owned()));
                if let Some(pattern) = pattern_for(wanted) {
                    finding = finding.label("a regular expression: `x` stands for itself").help(pattern);
                }
                if twin {
                    finding = finding.note("the same filter has this patch for the version of these proxies too");
                }
                if wanted.len() > MAX_PROXY_VERSION {
                    finding = finding.note(format!(
                        "an expression of more than {MAX_PROXY_VERSION} bytes matches nothing since 1.31"
                    ));
                }
                out.push(finding);
            }
            continue;
        }
        let newest = cx.release.minor.max(Release::NEWEST.minor);
        // Another rule reports filters that Istio itself left behind.
        if cx.newest_fitting(wanted, newest).is_some()
            || crate::rules::native::leftover_telemetry_filter::of_istio(view.filter)
        {
            continue;
        }
        let oldest = Release::OLDEST;
        let message = format!("proxyVersion `{shown}` matches no supported release of Istio");
        if let Some(pattern) = pattern_for(wanted) {
            out.push(
                view.finding(rule, span, message)
                    .likely("no config dump was given; compared with the supported releases")
                    .label("a regular expression: `x` stands for itself")
                    .ineffective()
                    .help(pattern),
            );
            continue;
        }
        out.push(
            view.finding(rule, span, message)
                .likely("no config dump was given")
                .label("left over")
                .ineffective()
                .note(format!(
                    "compared with every release from {}.{} to {}.{}",
                    oldest.major, oldest.minor, cx.release.major, cx.release.minor
                ))
                .help("delete the patch if no proxy of that version runs any more"),
        );
    }
}

/// What to write instead of an `x` in place of a number.
fn pattern_for(wanted: &str) -> Option<String> {
    let before = versions::before_trailing_x(wanted)?.replace(['^', '\\'], "");
    Some(format!("proxyVersion: '^{}'", before.replace('.', "\\.")))
}

/// Whether the filter has the same patch for the version of the selected proxies, as before an upgrade; the value may differ.
fn prepared(cx: &Context<'_>, view: &PatchView<'_>) -> bool {
    let kind = |patch: &Patch| (patch.apply_to, patch.context, patch.object.clone());
    let own = kind(view.patch);
    view.filter.patches.iter().filter(|other| other.index != view.patch.index && kind(other) == own).any(|other| {
        let pinned = other.proxy.as_ref().is_some_and(|proxy| !proxy.version.is_empty());
        let mut met = cx.on_proxies(view.filter_index, other.index).filter(|met| met.run.knowledge == Knowledge::Dump);
        pinned && met.any(|met| met.planned.proxy_miss.is_none())
    })
}
