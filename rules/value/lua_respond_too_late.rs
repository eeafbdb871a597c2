//! EF144: Lua that responds to a response.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// `respond` in `envoy_on_response`, where Envoy does not support it.
    ///
    /// # What it finds
    /// Inline Lua that calls `respond` on the handle of `envoy_on_response`.
    ///
    /// # Why it matters
    /// The script ends with "respond not currently supported in the response path", and the response goes out as it is.
    ///
    /// # How to fix
    /// Decide in `envoy_on_request`; in a response change `:status` and the body (`headers():replace(":status", …)`,
    /// `body():setBytes(…)`), or use `local_reply_config` of the connection manager.
    ///
    /// # References
    /// Envoy, "Lua" HTTP filter; tried with Envoy 1.39.3.
    "EF144" "lua-respond-too-late" Value Error => check,
    policy: Never("CEL cannot parse Lua")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for script in cx.loadable_scripts() {
        for one in &script.uses.responds {
            out.push(
                script
                    .finding(rule, one, "`respond` does not work in envoy_on_response")
                    .label("ends the script with an error")
                    .note("the response of the service goes out unchanged")
                    .help("respond in envoy_on_request, or change the response: headers():replace(\":status\", \"403\"), body():setBytes(\"…\")"),
            );
        }
    }
}
