//! EF186: `httpCall` of inline Lua that waits without a limit.

use crate::declare_rule;
use crate::lint::lua_use::Kind;
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// `httpCall` of inline Lua with a timeout of 0, which waits without a limit.
    ///
    /// # What it finds
    /// `httpCall` with `0` as its fourth argument, unless it is asynchronous.
    ///
    /// # Why it matters
    /// For Envoy, 0 is no timeout: if the service does not answer, the request waits for it as long as the client does,
    /// and requests pile up in the proxy.
    ///
    /// # How to fix
    /// Write the milliseconds that a request may wait. To ignore the answer, call asynchronously: `true` as the fifth argument.
    ///
    /// # References
    /// Envoy, "Lua" HTTP filter, `httpCall()`; run with Envoy 1.39.3.
    "EF186" "lua-call-without-limit" Value Warning => check,
    policy: Never("CEL cannot parse Lua")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for script in cx.loadable_scripts() {
        for one in script.uses.mistakes.iter().filter(|one| one.kind == Kind::NoLimit) {
            let message = "a timeout of 0 is none: `httpCall` waits as long as the service takes";
            out.push(
                script
                    .finding(rule, &one.named, message)
                    .label("no limit")
                    .note("a service that does not answer holds every request that calls it")
                    .help("a number of milliseconds, such as 500"),
            );
        }
    }
}
