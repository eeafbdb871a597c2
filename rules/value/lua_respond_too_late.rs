//! EF144: Lua that responds or changes headers when it is too late.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// Lua that acts too late: `respond` in `envoy_on_response`, `respond` or a change of headers after `bodyChunks()`
    /// or `trailers()`.
    ///
    /// # What it finds
    /// Inline Lua that calls `respond` on the handle of `envoy_on_response`, or in `envoy_on_request` after it has read the
    /// body with `bodyChunks()`; also in a function that gets the handle. Inline Lua that adds, replaces or removes headers
    /// after `bodyChunks()` or `trailers()`.
    ///
    /// # Why it matters
    /// The script ends with an error: "respond not currently supported in the response path", and the response is sent
    /// unchanged; or "respond() cannot be called if headers have been continued", and the request has already gone to
    /// the service, because `bodyChunks()` passes on what it has read. A later change of the headers ends the script with
    /// "header map can no longer be modified" whenever the message has a body.
    ///
    /// # How to fix
    /// Decide in `envoy_on_request`, with `body()`, which holds the request back; in a response, change `:status` and
    /// the body (`headers():replace(":status", …)`, `body():setBytes(…)`), or use `local_reply_config` of the connection
    /// manager.
    ///
    /// # References
    /// Envoy, "Lua" HTTP filter; tested with Envoy 1.39.3.
    "EF144" "lua-respond-too-late" Value Error => check,
    policy: Never("CEL cannot parse Lua")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for script in cx.loadable_scripts() {
        for one in &script.uses.responds {
            let direct = one.named.name == "respond";
            let call =
                if direct { "`respond`".to_owned() } else { format!("`{}` calls `respond`, which", one.named.name) };
            let (message, note, help) = if one.chunks {
                (
                    format!("{call} does not work after `bodyChunks()`"),
                    "bodyChunks() lets the request continue to the service while the script reads it: a request with a body is not stopped",
                    "local body = handle:body(true) -- waits for the whole body; then respond",
                )
            } else {
                (
                    format!("{call} does not work in envoy_on_response"),
                    "the service's response is sent unchanged",
                    "respond in envoy_on_request, or change the response: headers():replace(\":status\", \"403\"), body():setBytes(\"…\")",
                )
            };
            let finding = script.finding(rule, &one.named, message);
            out.push(finding.label("ends the script with an error").note(note).help(help));
        }
        let sent = script.uses.sent.iter().map(|one| (one, "bodyChunks()"));
        for (one, after) in sent.chain(script.uses.trailed.iter().map(|one| (one, "trailers()"))) {
            let message = format!("`headers():{}` does not work after `{after}`", one.name);
            out.push(
                script
                    .finding(rule, one, message)
                    .label("header map can no longer be modified")
                    .note(format!("{after} sends the headers on before it waits for the rest of the message"))
                    .note("the script ends here with an error for every message that has a body")
                    .help(if after == "trailers()" {
                        "change the headers first; what the trailers say comes too late for them"
                    } else {
                        "local body = handle:body(true) -- waits for the whole body; then change the headers"
                    }),
            );
        }
    }
}
