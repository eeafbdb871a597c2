//! EF126: inline Lua that Envoy never calls.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// Inline Lua that defines no function that Envoy calls.
    ///
    /// # What it finds
    /// A script of the Lua filter that names neither `envoy_on_request` nor `envoy_on_response` as a global.
    ///
    /// # Why it matters
    /// Envoy loads the script but calls nothing in it: the filter does nothing.
    ///
    /// # How to fix
    /// Define `function envoy_on_request(request_handle)` or `function envoy_on_response(response_handle)`; `local`
    /// functions and fields of tables are not found.
    ///
    /// # References
    /// Envoy, "Lua" HTTP filter.
    "EF126" "lua-without-entry-point" Value Error => check,
    policy: Never("CEL cannot parse Lua")
}

const ENTRY_POINTS: [&str; 2] = ["envoy_on_request", "envoy_on_response"];
/// Ways in which a script could define a global without naming it.
const INDIRECT: [&str; 7] = ["_G", "setfenv", "getfenv", "load", "loadstring", "dofile", "require"];

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for script in cx.loadable_scripts() {
        let names = |words: &[&str]| words.iter().any(|word| script.chunk.names.contains(word));
        // An empty script is common if routes have their own.
        if script.chunk.names.is_empty() || names(&ENTRY_POINTS) || names(&INDIRECT) {
            continue;
        }
        let what =
            if script.script.main { "the filter does nothing" } else { "routes that choose this script get nothing" };
        out.push(
            script
                .value
                .finding(
                    rule,
                    script.script.node.span,
                    "the Lua script defines neither `envoy_on_request` nor `envoy_on_response`",
                )
                .label("Envoy calls nothing in this script")
                .note(format!("Envoy calls only global functions with these names: {what}"))
                .help("function envoy_on_request(request_handle)\n  …\nend"),
        );
    }
}
