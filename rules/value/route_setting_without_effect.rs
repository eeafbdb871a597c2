//! EF139: a setting of a route that has no effect on requests that take the route.

use crate::declare_rule;
use crate::lint::names::listed;
use crate::lint::{Context, Findings, RuleInfo};
use crate::trial::Shows;

declare_rule! {
    /// A route's setting for an HTTP filter that has no effect on requests that take the route.
    ///
    /// # What it finds
    /// With `lint --run`, standard requests go through a real Envoy with the patched configuration and take a route
    /// with a key in `typed_per_filter_config` that a patch wrote. The rule reports a key if the filter chain of the
    /// requests has no HTTP filter of that name, or if a setting closer to the route replaces it. A setting that has an
    /// effect on any of the requests is not reported. Without `--run` the rule is silent.
    ///
    /// # Why it matters
    /// Envoy ignores the setting: the limits of the route do not apply, and checks are not turned off or on.
    ///
    /// # How to fix
    /// Use the name that the HTTP filter has in that filter chain, or write the setting where the one that replaces it
    /// is.
    ///
    /// # References
    /// envoyproxy/envoy issue 29461; the given Envoy.
    "EF139" "route-setting-without-effect" Value Warning => check,
    needs: &[Requests], policy: Never("it sends requests through a real Envoy")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for shown in cx.shown() {
        out.push(match shown.shows {
            Shows::NoFilter { key, filters } => shown
                .finding(rule, format!("the setting for {key} has no effect: the filter chain of the request has no HTTP filter of that name"))
                .label("no HTTP filter reads it")
                .note(format!("HTTP filters of the filter chain: {}", listed(filters.iter().map(String::as_str), 12)))
                .help("use the name that the HTTP filter has"),
            Shows::Overridden { key, by } => shown
                .finding(rule, format!("the setting for {key} has no effect: {by} has its own"))
                .label("replaced by a setting closer to the route")
                .help("write the setting where the one that replaces it is"),
            _ => continue,
        });
    }
}
