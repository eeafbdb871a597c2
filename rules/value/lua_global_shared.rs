//! EF145: a Lua global that requests overwrite for one another.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// A Lua variable outside of the functions that stores data of one request and is read after another request may have overwritten it.
    ///
    /// # What it finds
    /// A global, or a `local` outside of the functions, that `envoy_on_request` or `envoy_on_response` writes and that is read after the script has yielded
    /// (`httpCall`, `body`, `bodyChunks`, `trailers`), or in the other of the two functions.
    ///
    /// # Why it matters
    /// All requests of a worker thread share these variables of a script. While one waits, others run: the value read may
    /// be that of another client, such as its user or token.
    ///
    /// # How to fix
    /// Use `local` within a function; from the request to the response, use `streamInfo():dynamicMetadata():set(…)`.
    ///
    /// # References
    /// Envoy, "Lua" HTTP filter: "All scripts are run as coroutines", one environment for each worker thread.
    "EF145" "lua-global-shared" Value Warning => check,
    policy: Never("CEL cannot parse Lua")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for script in cx.loadable_scripts() {
        let globals = script.uses.shared.iter().map(|one| (one, "the global"));
        for (one, what) in globals.chain(script.uses.shared_locals.iter().map(|one| (one, "the script-wide local"))) {
            out.push(
                script
                    .finding(rule, one, format!("{what} `{}` is shared by all requests of a worker", one.name))
                    .label("another request may overwrite it before it is read")
                    .help("use `local` in a function; from request to response: handle:streamInfo():dynamicMetadata():set(\"<filter>\", \"<key>\", value)"),
            );
        }
    }
}
