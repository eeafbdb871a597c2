//! EF143: Lua that uses a header or body which may be absent.

use super::lua_syntax_error::{place, scripts};
use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo, lua, lua_use};

declare_rule! {
    /// A header or body that may be absent, used as if it were there.
    ///
    /// # What it finds
    /// Inline Lua that concatenates `headers():get("name")` without a default, or calls a method of `body()` without looking
    /// whether there is a body.
    ///
    /// # Why it matters
    /// For a message without that header or body the value is nil and the script ends there: the request passes without what
    /// the rest of the script would have done, also a denial.
    ///
    /// # How to fix
    /// `(headers:get("name") or "")`; `body(true)`, which is never nil, or `if body then`.
    ///
    /// # References
    /// Envoy, "Lua" HTTP filter (`get` and `body` return nil); tried with Envoy 1.39.3 ("attempt to concatenate a nil value").
    "EF143" "lua-nil-used" Value Warning => check,
    policy: Never("CEL cannot parse Lua")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for script in scripts(value) {
            if lua::parse(script.text).is_err() {
                continue;
            }
            let source = cx.sources.get(script.node.span.file);
            let found = lua_use::read(script.text);
            for one in &found.concatenated {
                out.push(
                    value
                        .finding(
                            rule,
                            place(source, script.node, script.text, one.at),
                            format!("`{}` is nil where the header is absent", one.name),
                        )
                        .label("attempt to concatenate a nil value")
                        .note("Envoy logs the error and lets the request pass without the rest of the script")
                        .help(format!(
                            "({} or \"\")",
                            if one.name.contains('-') { "handle:headers():get(\"…\")" } else { one.name }
                        )),
                );
            }
            for one in &found.bodies {
                out.push(
                    value
                        .finding(rule, place(source, script.node, script.text, one.at), "`body()` is nil where the message has no body")
                        .label("attempt to index a nil value")
                        .note("Envoy logs the error and lets the request pass without the rest of the script")
                        .note("body() waits for the whole body; one above the buffer limit (per_connection_buffer_limit_bytes) is answered with 413")
                        .help("local body = handle:body(true) -- an empty buffer where there is none"),
                );
            }
        }
    }
}
