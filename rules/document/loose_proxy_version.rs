//! EF026: a `proxyVersion` that matches more releases than it names.

use crate::declare_rule;
use crate::engine::go_regexp::{self, GoRegexp};
use crate::engine::program::MAX_PROXY_VERSION;
use crate::lint::document;
use crate::lint::rule::{Cel, PolicyTarget};
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::release::Release;
use crate::source::Severity;
use std::collections::HashMap;

declare_rule! {
    /// A `proxyVersion` that matches more releases than it names.
    ///
    /// # What it finds
    /// An expression that matches a release and ten others that start with the same digits (`^1\.3` matches 1.3 and 1.30 to 1.39), or one without
    /// `^` that finds its text in the middle of a version (`1\.6` is in 1.21.6). Evaluated against a list of versions.
    ///
    /// # Why it matters
    /// The expression is searched for in the version, not compared with it: the patch also applies to proxies it was not
    /// written for.
    ///
    /// # How to fix
    /// Start with `^` and end the minor version with `\.`: `^1\.6\.`.
    ///
    /// # References
    /// istio/istio#43602; istiod `pilot/pkg/model` (release 1.31).
    "EF026" "loose-proxy-version" Document Warning => check,
    policy: Cel(policy)
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    // Few expressions are in many patches, and each is compared with hundreds of versions.
    let mut known = HashMap::new();
    for view in cx.patches() {
        let Some(version) = document::proxy_version(view.patch) else { continue };
        let judged = known.entry(version).or_insert_with(|| judge(version));
        let Some((severity, message, help)) = judged.clone() else { continue };
        let span = view.value_span(&["match", "proxy", "proxyVersion"]);
        out.push(
            view.finding(rule, span, message)
                .severity(severity)
                .note("istiod searches for the expression in the proxy's version; it need not match all of it")
                .help(help),
        );
    }
}

/// The releases that it matches besides the one it names: existing releases first, then future ones.
fn judge(version: &str) -> Option<(Severity, String, String)> {
    if version.len() > MAX_PROXY_VERSION {
        return None;
    }
    let compiled = go_regexp::compile(version);
    let regex = compiled.as_ref().as_ref().ok()?;
    let longer = longer_minor(regex).map(|minor| {
        let (from, to) = (minor * 10, minor * 10 + 9);
        let severity = if from <= Release::NEWEST.minor { Severity::Warning } else { Severity::Info };
        let message = format!("`{version}` matches Istio 1.{minor} and also 1.{from} to 1.{to}");
        let help = format!(r"write '^1\.{minor}\.' for 1.{minor}, '^1\.{minor}\d\.' for 1.{from} to 1.{to}");
        (severity, message, help)
    });
    // What begins with `^`, without an alternative that does not, is found at the start only.
    let anchored = version.starts_with('^') && !version.contains('|');
    let inside = || {
        if anchored {
            return None;
        }
        let message = format!("`{version}` has no `^` and is also found inside versions like {}", found_inside(regex)?);
        // A digit at the end would match longer numbers.
        let start = version.trim_end_matches(".*").replace(r"\.", ".").replace('.', r"\.");
        let end = if start.ends_with(|last: char| last.is_ascii_digit()) { r"\." } else { "" };
        Some((Severity::Warning, message, format!("write '^{start}{end}'")))
    };
    match longer {
        Some((Severity::Warning, ..)) => longer,
        _ => inside().or(longer),
    }
}

/// The greatest one-digit minor release that matches together with all ten that start with its digit.
fn longer_minor(regex: &GoRegexp) -> Option<u16> {
    let matches = |minor: u16| regex.is_match(&format!("1.{minor}.0"));
    // An expression that matches every minor is intended for every release, or for all since some release.
    if (1..=99).all(matches) {
        return None;
    }
    (1..=9).rev().find(|&minor| matches(minor) && (0..=9).all(|digit| matches(minor * 10 + digit)))
}

/// A version that contains the expression, but not at its start.
fn found_inside(regex: &GoRegexp) -> Option<String> {
    let mut versions =
        (0..=Release::NEWEST.minor).flat_map(|minor| (0..=20).map(move |patch| format!("1.{minor}.{patch}")));
    // Nobody runs the oldest releases any more: the newest example is the most useful.
    versions.rfind(|text| regex.is_match(text) && !regex.is_match_at_start(text))
}

fn policy(_: &PolicyTarget<'_>) -> Vec<Cel> {
    vec![
        Cel::patch(
            Severity::Warning,
            r#"@version.matches("^\\^?1(\\\\\\.|\\.)[1-3](\\.\\*)?$")"#,
            "proxyVersion matches more releases than it names: end the minor version with an escaped dot",
        )
        .without("any form other than 1.D with nothing after it"),
    ]
}
