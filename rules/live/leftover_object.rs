//! EF805: a filter in a running proxy that neither istiod nor any given EnvoyFilter explains.

use crate::declare_rule;
use crate::lint::facts::held::Held;
use crate::lint::names::{count, listed};
use crate::lint::{Confidence, Context, Finding, Findings, RuleInfo};
use crate::model::release::Release;
use crate::proto::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};

declare_rule! {
    /// A filter in a running proxy that only an EnvoyFilter can have added, although no given EnvoyFilter does.
    ///
    /// # What it finds
    /// HTTP and network filters of types that no release of istiod generates (rate limits, buffers, OAuth, Lua before
    /// 1.30 and others) and that remain in the config dump of a running proxy after everything that the given filters
    /// did is undone.
    ///
    /// # Why it matters
    /// Either the EnvoyFilter behind it was not given, or it was deleted and the proxy still runs with its effect: the
    /// proxy has not accepted an update since, or istiod leaks it.
    ///
    /// # How to fix
    /// Pass all EnvoyFilters of the namespace and of the root namespace. If none inserts it, restart the pod and, if it
    /// comes back, istiod.
    ///
    /// # References
    /// istiod `pilot/pkg/xds/filters` and `pilot/pkg/networking/core`, releases 1.22 to 1.31: what they generate.
    "EF805" "leftover-object" Live Warning => check,
    needs: &[Live]
}

/// Packages of HTTP filters that no release of istiod generates; it generates Lua for a TrafficExtension.
const HTTP: &[&str] = &[
    "local_ratelimit",
    "ratelimit",
    "buffer",
    "bandwidth_limit",
    "adaptive_concurrency",
    "admission_control",
    "header_to_metadata",
    "json_to_metadata",
    "oauth2",
    "csrf",
    "compressor",
    "decompressor",
    "cache",
    "tap",
    "basic_auth",
    "api_key_auth",
    "ip_tagging",
    "geoip",
    "custom_response",
    "lua",
];

/// The same for network filters.
const NETWORK: &[&str] = &["local_ratelimit", "ratelimit", "connection_limit"];

fn never_generated(filter: &Held, release: Release) -> bool {
    let prefix = if filter.http { "envoy.extensions.filters.http." } else { "envoy.extensions.filters.network." };
    let rest = filter.config_type.strip_prefix(prefix);
    let Some(package) = rest.and_then(|rest| rest.split('.').next()) else { return false };
    if filter.http {
        HTTP.contains(&package) && (package != "lua" || release < Release::minor(30))
    } else {
        NETWORK.contains(&package)
    }
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    // Another rule reports a filter that a given patch inserts with another configuration: it is an older version.
    let inserted: BTreeSet<&str> = cx
        .patches()
        .filter_map(|view| view.built?.value.as_ref())
        .map(Tree::name)
        .filter(|it| !it.is_empty())
        .collect();
    let mut found: BTreeMap<String, (BTreeSet<String>, usize, Option<usize>)> = BTreeMap::new();
    for run in cx.running() {
        for filter in run.held_filters().into_iter().filter(|filter| never_generated(filter, cx.release)) {
            if !inserted.contains(filter.name.as_str()) {
                let entry = found.entry(filter.name).or_default();
                entry.0.insert(run.label().to_owned());
                entry.1 += 1;
                entry.2 = entry.2.or(run.plan.order.first().copied());
            }
        }
    }
    for (name, (workloads, places, near)) in found {
        // It is in no document, so the finding points to the first filter of the proxy.
        let Some(filter) = near.or(Some(0)).and_then(|index| cx.filters.get(index)) else { continue };
        let span = filter.name_key_span();
        let proxies = count(workloads.len(), "proxy", "proxies");
        out.push(
            Finding::new(rule, span, format!("`{name}` runs in {proxies}, and no given EnvoyFilter inserts it"))
                .confidence(Confidence::Likely)
                .note(format!(
                    "in {} of {}",
                    count(places, "chain", "chains"),
                    listed(workloads.iter().map(String::as_str), 4)
                ))
                .note("istiod generates no filter of this type: the EnvoyFilter behind it was deleted, or not given")
                .help("pass all EnvoyFilters; if none inserts it, restart the pods, then istiod")
                .workloads(workloads),
        );
    }
}
