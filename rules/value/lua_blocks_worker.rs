//! EF185: inline Lua that stops the thread of the proxy.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// Inline Lua that stops the thread of the proxy.
    ///
    /// # What it finds
    /// `os.execute` and `io.popen` in a function that Envoy calls, and a `while` loop there that waits for `os.time()`
    /// or `os.clock()`.
    ///
    /// # Why it matters
    /// Envoy runs a script on the worker thread that serves the connection: until it ends, no other connection of that
    /// thread gets an answer.
    ///
    /// # How to fix
    /// `httpCall`, which lets other requests pass while it waits; for a delay, a fault filter.
    ///
    /// # References
    /// Envoy, "Lua" HTTP filter ("all scripts are run as coroutines"; blocking operations are not supported).
    "EF185" "lua-blocks-worker" Value Warning => check,
    policy: Never("CEL cannot parse Lua")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for script in cx.loadable_scripts() {
        for one in &script.uses.blocking {
            let (message, label, help) = match one.name {
                "while" => (
                    "this loop waits for the clock and stops a thread of the proxy".to_owned(),
                    "keeps a CPU busy",
                    "for a delay, insert `envoy.filters.http.fault` with a `delay`",
                ),
                call => (
                    format!("`{call}` stops a thread of the proxy until the program ends"),
                    "waits for a program",
                    "call a service with `httpCall`, which lets other requests pass while it waits",
                ),
            };
            out.push(
                script
                    .finding(rule, one, message)
                    .label(label)
                    .note("all connections of this worker thread wait as well")
                    .help(help),
            );
        }
    }
}
