//! EF141: a Lua module that the proxy does not have.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// `require` of a Lua module that the proxy does not have.
    ///
    /// # What it finds
    /// Inline Lua that requires a module that is not part of LuaJIT (`cjson`, `socket.http`, `resty.jwt`), outside
    /// `pcall`.
    ///
    /// # Why it matters
    /// Istio's proxy image contains no Lua modules. At the top of a script, Envoy rejects the listener; in a function,
    /// the script ends there, and the request passes without it.
    ///
    /// # How to fix
    /// Write the code in the script itself, call your own service (`httpCall`, ext_authz, ext_proc), or build a proxy
    /// image with the module.
    ///
    /// # References
    /// Envoy, "Lua" HTTP filter; tested with Envoy 1.39.3 ("module 'cjson' not found").
    "EF141" "lua-module-missing" Value Error => check,
    policy: Never("CEL cannot parse Lua")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for script in cx.loadable_scripts() {
        for one in &script.uses.modules {
            out.push(
                script
                    .failure(rule, one, format!("no Lua module `{}` exists in the proxy", one.name))
                    .label("only the libraries of LuaJIT exist")
                    .help("write the code in the script, or call your own service"),
            );
        }
    }
}
