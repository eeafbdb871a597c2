//! EF125: inline Lua that does not compile.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// Inline Lua that does not compile.
    ///
    /// # What it finds
    /// A script of the Lua filter, inline in the value, that LuaJIT cannot compile: a mistake in its syntax, a function
    /// with more than 200 local variables or 60 variables of enclosing functions.
    ///
    /// # Why it matters
    /// istiod does not check it; the proxy rejects the listener or route that contains it.
    ///
    /// # How to fix
    /// Correct the script. LuaJIT reads Lua 5.1 with a few additions: `~=` is "not equal", and `+=` and `continue` do
    /// not exist. Put many values into one table.
    ///
    /// # References
    /// Lua 5.1 reference manual; LuaJIT, "Extensions"; Envoy `envoy.extensions.filters.http.lua.v3.Lua`.
    "EF125" "lua-syntax-error" Value Error => check,
    explains: &["EF711"], policy: Never("CEL cannot parse Lua")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for (value, script) in cx.scripts() {
        let Err(error) = &script.read else { continue };
        let source = cx.sources.get(script.node.span.file);
        let before = script.text.get(..error.at).unwrap_or(script.text);
        let line = before.matches('\n').count() + 1;
        let what = if error.limit { "compile" } else { "parse" };
        let message = format!("the Lua script does not {what}: {}", error.message);
        let finding = value
            .finding(rule, script.place(source, error.at), message)
            .label(format!("line {line} of the script"))
            .rejected("istiod does not check it; the proxy rejects the resource that contains it");
        out.push(if error.limit {
            finding.help("keep the values in one table, or declare them inside `do … end` or a function")
        } else {
            finding
        });
    }
}
