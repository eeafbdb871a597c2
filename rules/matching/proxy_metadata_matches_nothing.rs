//! EF226: node metadata that no proxy has.

use crate::declare_rule;
use crate::engine::program::ProxyMiss;
use crate::lint::{Context, Findings, Knowledge, RuleInfo, names};
use std::collections::BTreeSet;

declare_rule! {
    /// `match.proxy.metadata` that none of the selected proxies has.
    ///
    /// # What it finds
    /// A key or value of node metadata that no selected proxy has. Needs config dumps.
    ///
    /// # Why it matters
    /// The patch does nothing. Only strings are compared, literally: numbers, lists and objects never match.
    ///
    /// # How to fix
    /// Check `metadata` of the proxy's node in its bootstrap (`istioctl proxy-config bootstrap`).
    ///
    /// # References
    /// istiod `pilot/pkg/networking/core/envoyfilter`; Istio API, EnvoyFilter.ProxyMatch.
    "EF226" "proxy-metadata-matches-nothing" Matching Error => check,
    needs: &[Dump]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        if view.patch.proxy.as_ref().is_none_or(|proxy| proxy.metadata.is_empty()) {
            continue;
        }
        let met: Vec<_> = cx
            .on_proxies(view.filter_index, view.patch.index)
            .filter(|met| met.run.knowledge == Knowledge::Dump)
            .collect();
        let misses: Vec<_> = met
            .iter()
            .filter_map(|met| match &met.planned.proxy_miss {
                Some(ProxyMiss::Metadata { key, want, have }) => Some((key, want, have)),
                _ => None,
            })
            .collect();
        let Some((key, want, _)) = misses.first().filter(|_| misses.len() == met.len()) else { continue };
        let have: BTreeSet<&str> =
            misses.iter().filter(|(other, ..)| other == key).filter_map(|(.., have)| have.as_deref()).collect();
        let keys = met.iter().flat_map(|met| met.run.config.proxy.metadata.keys().map(String::as_str));
        let route = ["match", "proxy", "metadata", key];
        // If no proxy has the key, another value does not help.
        let span = if have.is_empty() { view.key_span(&route) } else { view.value_span(&route) };
        let finding = view
            .finding(rule, span, format!("none of the selected proxies has node metadata `{key}: {want}`"))
            .label("matches no proxy")
            .ineffective()
            .workloads(met.iter().map(|met| met.run.label().to_owned()));
        out.push(match (have.is_empty(), names::nearest(key, keys)) {
            (false, _) => finding.note(format!("they have {}, as JSON", names::listed(have, 8))),
            (true, Some(like)) => finding.note("no proxy has this key").help(format!("{like}: {want}")),
            (true, None) => finding.note("no proxy has this key"),
        });
    }
}
