//! EF126: inline Lua that Envoy never calls.

use crate::declare_rule;
use crate::lint::lua_use::Named;
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// Inline Lua that defines no function that Envoy calls.
    ///
    /// # What it finds
    /// A script of the Lua filter that names neither `envoy_on_request` nor `envoy_on_response` as a global; beside one
    /// of them, a function such as `envoy_on_responses` that nothing calls; one of them that is defined twice.
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
        if names(&ENTRY_POINTS) && !names(&INDIRECT) {
            for name in script.chunk.names.iter().filter(|name| never_called(name, script.script.text)) {
                let at = script.script.text.find(*name).unwrap_or_default();
                let one = Named { name, at, at_load: true };
                out.push(
                    script
                        .finding(rule, &one, format!("nothing calls `{name}`"))
                        .label("not a name that Envoy knows")
                        .note("Envoy calls only envoy_on_request and envoy_on_response")
                        .help(nearest(name)),
                );
            }
        }
        for one in &script.uses.replaced {
            let message = format!("a later `{}` replaces this one", one.name);
            let finding = script.finding(rule, one, message).label("never called");
            out.push(
                finding
                    .note("a script has one function of a name: the last definition counts")
                    .help("write what both do into one function, or into two Lua filters"),
            );
        }
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
                .snippet("function envoy_on_request(request_handle)\n  …\nend"),
        );
    }
}

/// Whether a name looks like an entry point, is none, and stands in the script only once.
fn never_called(name: &str, text: &str) -> bool {
    let name_of_entry = name.to_ascii_lowercase().replace('_', "");
    let alike = ["envoyonrequest", "envoyonresponse"].iter().any(|entry| name_of_entry.starts_with(entry));
    alike && !ENTRY_POINTS.contains(&name) && text.matches(name).count() == 1
}

/// The entry point that a name was meant to be.
fn nearest(name: &str) -> &'static str {
    if name.to_ascii_lowercase().contains("resp") { ENTRY_POINTS[1] } else { ENTRY_POINTS[0] }
}
