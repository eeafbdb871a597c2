//! EF148: a local rate limit that its defaults switch off.

use crate::declare_rule;
use crate::lint::value::switch::never;
use crate::lint::walk::same;
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::{Severity, Step};

declare_rule! {
    /// A local rate limit without `filter_enabled` or `filter_enforced`, which limits nothing.
    ///
    /// # What it finds
    /// An HTTP `LocalRateLimit` with a token bucket, for the filter or for a route, without `filter_enabled` or
    /// `filter_enforced`; a warning if one is 0 % for the filter and no runtime key can raise it.
    ///
    /// # Why it matters
    /// Both default to 0 % of the requests. Without `filter_enabled`, no request takes a token; without
    /// `filter_enforced`, requests above the limit are counted but pass.
    ///
    /// # How to fix
    /// Set both to `default_value: {numerator: 100, denominator: HUNDRED}`.
    ///
    /// # References
    /// Envoy `extensions.filters.http.local_ratelimit.v3.LocalRateLimit`.
    "EF148" "rate-limit-off" Value Error => check,
    explains: &["EF137"]
}

const LIMIT: &str = "envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for object in value.objects.iter().filter(|object| object.whole && object.full_name() == LIMIT) {
            let has = |name: &str| object.member(name).is_some();
            // A route may be exempt from the filter's limit.
            let of_route =
                object.route.iter().any(|step| matches!(step, Step::Key(key) if same(key, "typed_per_filter_config")));
            let Some(bucket) = object.member("token_bucket").or_else(|| object.member("descriptors")) else { continue };
            if let Some((key, zero)) = ["filter_enabled", "filter_enforced"].iter().find_map(|key| {
                let member = object.member(key).filter(|_| !of_route)?;
                never(&member.entry.value).then_some((*key, member.entry.key_span))
            }) {
                let what = if key == "filter_enabled" { "limits nothing" } else { "only counts" };
                out.push(
                    value
                        .finding(rule, zero, format!("this rate limit {what}: `{key}` is 0 %"))
                        .severity(Severity::Warning)
                        .label("takes no effect on requests")
                        .snippet(format!("{key}:\n  default_value:\n    numerator: 100\n    denominator: HUNDRED")),
                );
                continue;
            }
            let (message, note, severity) = if !has("filter_enabled") {
                (
                    "this rate limit limits nothing: `filter_enabled` is missing",
                    "`filter_enabled` defaults to 0 % of the requests",
                    Severity::Error,
                )
            } else if !has("filter_enforced") {
                (
                    "this rate limit only counts: `filter_enforced` is missing",
                    "`filter_enforced` defaults to 0 % of the requests: those above the limit pass",
                    Severity::Warning,
                )
            } else {
                continue;
            };
            let missing = ["filter_enabled", "filter_enforced"].into_iter().filter(|key| !has(key));
            let full =
                missing.map(|key| format!("{key}:\n  default_value:\n    numerator: 100\n    denominator: HUNDRED"));
            out.push(
                value
                    .finding(rule, bucket.entry.key_span, message)
                    .severity(severity)
                    .label("takes no effect on requests")
                    .note(note)
                    .snippet(full.collect::<Vec<_>>().join("\n")),
            );
        }
    }
}
