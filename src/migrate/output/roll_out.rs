//! The order in which to apply, verify and delete, and the effects in between.

use super::pods::{PodSettings, whereabouts};
use crate::migrate::After;
use crate::migrate::FilterReport;
use crate::migrate::Report;
use crate::migrate::base::catalog::{self, Pattern};
use crate::migrate::newest::Rewrite;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

/// A step of the rollout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Save the configuration of the proxies, to compare with.
    Save,
    /// Apply new and edited objects.
    Apply(Vec<String>),
    /// Change the mesh settings.
    Mesh(Vec<String>),
    /// Annotate workloads and restart them.
    Pods(Vec<String>),
    /// Restart proxies, which read these settings at start-up.
    Restart(Vec<String>),
    /// Move the workloads to ambient mode.
    Enroll,
    /// Apply the filters that stay in the newest types.
    Rewrite(Vec<String>),
    /// Send requests: ambient mode leaves no sidecar to check.
    Try,
    /// Check the proxies.
    Verify,
    /// Apply the smaller filters.
    Shrink(Vec<String>),
    /// Delete the filters.
    Delete(Vec<String>),
    /// Check the proxies again, now that only the native objects apply.
    VerifyAgain,
    /// Check the proxies: nothing was applied before filters were deleted.
    VerifyOnce,
}

/// The rewritten filters to apply: those that stay with all of their patches.
pub(crate) fn rewritten(report: &Report) -> impl Iterator<Item = &Rewrite> {
    let whole = report.filters.iter().filter(|filter| filter.after == After::Unchanged);
    let whole: BTreeSet<String> = whole.map(|filter| format!("{}/{}", filter.namespace, filter.name)).collect();
    report.rewrites.iter().filter(move |one| one.written && whole.contains(&one.filter))
}

/// The steps, in order.
pub(crate) fn steps(report: &Report) -> Vec<Step> {
    let draft = &report.draft;
    let mut steps = removals(report, When::Ahead);
    if let Some((settings, _)) = &draft.mesh {
        let keys = settings.as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect();
        steps.push(Step::Mesh(keys));
    }
    let mut objects: Vec<String> = draft.made.iter().map(|made| super::draft::title(&made.object)).collect();
    objects.extend(draft.edited.iter().map(|edited| super::draft::title(&edited.after)));
    if !objects.is_empty() {
        steps.push(Step::Apply(objects));
    }
    steps.extend(removals(report, When::AtRestart));
    // New annotations restart their pods.
    if !draft.pods.is_empty() {
        let pods = draft.pods.iter().map(PodSettings::title).collect();
        steps.push(Step::Pods(pods));
    }
    let restarts = restarts(report);
    if !restarts.is_empty() {
        steps.push(Step::Restart(restarts));
    }
    let newer: Vec<String> = rewritten(report).map(|one| one.filter.clone()).collect();
    if !newer.is_empty() {
        steps.push(Step::Rewrite(newer));
    }
    if steps.is_empty() && !report.filters.iter().any(|filter| filter.after != After::Unchanged) {
        return steps;
    }
    let applies = report.ambient || !steps.is_empty();
    steps.insert(0, Step::Save);
    if report.ambient {
        steps.extend([Step::Enroll, Step::Try]);
    } else if applies {
        steps.push(Step::Verify);
    }
    let last = removals(report, When::Last);
    if !last.is_empty() {
        steps.extend(last);
        steps.push(if applies { Step::VerifyAgain } else { Step::VerifyOnce });
    }
    steps
}

/// When a filter is removed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    /// Before what replaces it is applied.
    Ahead,
    /// When the pods restart.
    AtRestart,
    /// After the proxies have been checked.
    Last,
}

impl When {
    /// When this one is.
    pub(crate) fn of(filter: &FilterReport) -> When {
        if filter.ahead {
            When::Ahead
        } else if excludes_native(filter) {
            When::AtRestart
        } else {
            When::Last
        }
    }
}

/// The filters to shrink and to delete at a time.
fn removals(report: &Report, when: When) -> Vec<Step> {
    let named = |wanted: fn(&After) -> bool| -> Vec<String> {
        report
            .filters
            .iter()
            .filter(|filter| wanted(&filter.after) && When::of(filter) == when)
            .map(|filter| format!("{}/{}", filter.namespace, filter.name))
            .collect()
    };
    let smaller = named(|after| matches!(after, After::Smaller(_)));
    let gone = named(|after| *after == After::Delete);
    let steps = [(smaller, Step::Shrink as fn(Vec<String>) -> Step), (gone, Step::Delete)];
    steps.into_iter().filter(|(names, _)| !names.is_empty()).map(|(names, step)| step(names)).collect()
}

/// Whether a proxy that has both the filter and what replaces it serves no connection: a second PROXY header never comes.
fn excludes_native(filter: &FilterReport) -> bool {
    let is = |pattern: &Pattern| pattern.id == catalog::PROXY_PROTOCOL.id;
    filter.patches.iter().any(|patch| patch.written && is(patch.found.pattern))
}

/// Pods that must restart because of new environment variables or mesh defaults, without those that new annotations restart.
fn restarts(report: &Report) -> Vec<String> {
    let draft = &report.draft;
    let other = |any: bool| if any { "other " } else { "" };
    if draft.mesh.as_ref().is_some_and(|(settings, _)| settings.get("defaultConfig").is_some()) {
        return vec![format!("all {}workloads of the mesh", other(!draft.pods.is_empty()))];
    }
    let variables = draft.made.iter().filter(|made| made.object["kind"] == "ProxyConfig");
    let whose = |object: &Json| {
        let own = object["metadata"]["namespace"].as_str().unwrap_or_default();
        let labels: BTreeMap<&str, &str> = object
            .pointer("/spec/selector/matchLabels")
            .and_then(Json::as_object)
            .into_iter()
            .flatten()
            .map(|(key, value)| (key.as_str(), value.as_str().unwrap_or_default()))
            .collect();
        let all = |pods: &&PodSettings| {
            labels.iter().all(|(key, value)| pods.labels.get(*key).is_some_and(|own| own == value))
        };
        // With labels, it is for pods of its own namespace only.
        let namespace = if labels.is_empty() && own == report.root { "" } else { own };
        let meets =
            |pods: &&PodSettings| pods.namespace.is_empty() || namespace.is_empty() || pods.namespace == namespace;
        let near: Vec<&PodSettings> = draft.pods.iter().filter(meets).filter(all).collect();
        let covers = |pods: &&PodSettings| pods.namespace.is_empty() || !namespace.is_empty();
        let same = |pods: &&PodSettings| !pods.gateways && pods.labels.len() == labels.len();
        if near.iter().any(|pods| same(pods) && covers(pods)) {
            return None;
        }
        let some = !near.is_empty();
        let listed: Vec<String> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        Some(if labels.is_empty() {
            format!("every {}workload of {}", other(some), whereabouts(namespace, "namespace "))
        } else {
            format!("{}pods with {} in {}", other(some), listed.join(","), whereabouts(namespace, ""))
        })
    };
    variables.filter_map(|made| whose(&made.object)).collect()
}

/// The effects while both the filter and the native objects exist.
pub(crate) fn meanwhile(filter: &FilterReport) -> Vec<&'static str> {
    if When::of(filter) == When::Ahead {
        return vec![BREAKS];
    }
    let written = || filter.patches.iter().filter(|patch| patch.written);
    if !filter.attaches {
        return Vec::from_iter(written().next().map(|_| IDLE));
    }
    let mut effects = Vec::new();
    let own = written().flat_map(|patch| patch.found.meanwhile.iter().copied());
    // What Istio does by itself exists already.
    let other = written().filter(|patch| {
        let exists = patch.found.is_built_in() && patch.found.pattern.id != catalog::CLUSTER_ADD.id;
        patch.found.meanwhile.is_empty() && !exists
    });
    let patterns: BTreeSet<&str> = other.map(|patch| patch.found.pattern.id).collect();
    let of_patterns = BOTH.iter().filter(|(pattern, _)| patterns.contains(pattern.id)).map(|(_, effect)| *effect);
    for effect in of_patterns.chain(own) {
        if !effects.contains(&effect) {
            effects.push(effect);
        }
    }
    effects
}

const BREAKS: &str = "it changes rules that replace redirects or direct responses into routes without a destination, and Envoy rejects them: remove it first. Until the objects are applied, what it sets is missing";

const IDLE: &str = "the EnvoyFilter does nothing: only what replaces it applies";

/// The same for one patch.
pub(in crate::migrate) const IDLE_PATCH: &str = "the patch does nothing: only what replaces it applies";

/// For a patch with which Envoy rejects a listener.
pub(in crate::migrate) const REJECTED: &str =
    "Envoy rejects the listener as long as the filter is in it: what replaces it applies once the EnvoyFilter is gone";

const TWICE: &str = "the code runs twice for each request: headers that it adds appear twice";

pub(in crate::migrate) const WINS: &str = "the filter's value wins: nothing is applied twice";

/// Effects that happen twice, by pattern.
const BOTH: &[(&Pattern, &str)] = &[
    (&catalog::LUA, TWICE),
    (&catalog::WASM, TWICE),
    (&catalog::ECDS, TWICE),
    (&catalog::ACCESS_LOG, "each request is logged twice"),
    (&catalog::STATS_NULL_VM, "both set the labels of istiod's own istio.stats: requests are counted once"),
    (&catalog::RBAC, "both decide: a request must be allowed by both"),
    (&catalog::JWT, "both check the token: a request must be allowed by both"),
    (&catalog::EXT_AUTHZ, "the service is asked twice for each request"),
    (
        &catalog::PROXY_PROTOCOL,
        "two filters each expect a PROXY header, so connections fail, as they do with none: they fail from the removal of the filter until the pods have restarted. Do both in a single step, at a time when that is acceptable",
    ),
    (&catalog::ROUTE_HEADERS, "added headers appear twice; headers that are set or removed do not"),
    (&catalog::CLUSTER_ADD, "both clusters exist; only the one that routes name is used"),
    (&catalog::TRACING, "the filter's settings override the native ones"),
    (&catalog::DIRECT_RESPONSE, "the filter's route comes first: the same response"),
    (&catalog::HCM_TIMEOUTS, WINS),
    (&catalog::HTTP2_OPTIONS, WINS),
    (&catalog::LISTENER_BUFFER, WINS),
    (&catalog::TRUSTED_HOPS, WINS),
    (&catalog::CLUSTER_POLICY, WINS),
    (&catalog::CLUSTER_HTTP_OPTIONS, WINS),
    (&catalog::ROUTE_TIMEOUT, WINS),
    (&catalog::ROUTE_RETRIES, WINS),
    (&catalog::SERVER_TLS, WINS),
    (&catalog::CORS, "the route's policy overrides the virtual host's: nothing is applied twice"),
    (&catalog::FAULT, WINS),
    (&catalog::PATH_NORMALIZATION, WINS),
    (&catalog::CLIENT_CERT_HEADER, WINS),
    (&catalog::SERVER_HEADER, WINS),
    (&catalog::HEADER_CASE, WINS),
    (&catalog::HTTP10, WINS),
    (&catalog::TCP_IDLE, WINS),
    (&catalog::ROUTE_REWRITE, WINS),
    (&catalog::REDIRECT, "requests are redirected once, to the same place"),
    (&catalog::ROUTE_DESTINATION, "the filter's route comes first: the same service"),
    (&catalog::ROUTE_MIRROR, "requests are mirrored twice"),
    (&catalog::GRPC_WEB, "the first of two gRPC-Web filters translates: nothing is translated twice"),
];
