//! EF141: a Lua module that the proxy does not have.

use super::lua_syntax_error::{place, scripts};
use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo, lua, lua_use};

declare_rule! {
    /// `require` of a Lua module that the proxy does not have.
    ///
    /// # What it finds
    /// Inline Lua that requires a module which is no part of LuaJIT (`cjson`, `socket.http`, `resty.jwt`), outside `pcall`.
    ///
    /// # Why it matters
    /// Istio's proxy image contains no Lua modules. At the top of a script Envoy rejects the listener; in a function the script ends
    /// there, and the request passes without it.
    ///
    /// # How to fix
    /// Write what is needed in the script itself; let a service of your own do it (`httpCall`, ext_authz, ext_proc); or build a
    /// proxy image with the module.
    ///
    /// # References
    /// Envoy, "Lua" HTTP filter; tried with Envoy 1.39.3 ("module 'cjson' not found").
    "EF141" "lua-module-missing" Value Error => check,
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
            for one in found.modules {
                let note = if one.at_load {
                    "Envoy rejects the listener or route that contains the script"
                } else {
                    "Envoy logs the error and lets the request pass without the rest of the script"
                };
                out.push(
                    value
                        .finding(
                            rule,
                            place(source, script.node, script.text, one.at),
                            format!("no Lua module `{}` exists in the proxy", one.name),
                        )
                        .label("only the libraries of LuaJIT are there")
                        .note(note)
                        .help("write the code into the script, or call a service of your own"),
                );
            }
        }
    }
}
