//! EF136: a script that fails on a request.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo};
use crate::trial::Shows;

declare_rule! {
    /// A Lua script that fails on an ordinary request.
    ///
    /// # What it finds
    /// With `lint --run`, a few standard requests go through a real Envoy with the patched configuration: a plain GET,
    /// a POST with a body, one without the headers that scripts read, one with them. A script that fails on one of them
    /// is reported with Envoy's message and the `try` command for the request. Without `--run` the rule is silent.
    ///
    /// # Why it matters
    /// Envoy accepts a script that parses. If it fails at run time, Envoy logs the error, counts it in `lua.errors`,
    /// and lets the request pass without the rest of the script: headers are missing, checks are skipped.
    ///
    /// # How to fix
    /// Check that a header, a body or a value exists before the script uses it.
    ///
    /// # References
    /// The given Envoy; Envoy documentation, Lua filter.
    "EF136" "script-fails" Value Error => check,
    needs: &[Requests], explains: &["EF143"], policy: Never("it sends requests through a real Envoy")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for shown in cx.shown() {
        let Shows::ScriptFails { filter, line, words, response } = shown.shows else { continue };
        let on = if *response { "the response to an ordinary request" } else { "an ordinary request" };
        out.push(
            shown
                .finding(rule, format!("the script of HTTP filter {filter} fails on {on}: line {line}: {words}"))
                .at_line(cx.script_line(&shown.view, *line))
                .label("fails at run time")
                .note("Envoy logs the error and continues without the rest of the script")
                .help("check that a header, body or value exists before the script uses it"),
        );
    }
}
