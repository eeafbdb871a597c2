//! EF141: a Lua module that the proxy does not have.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::Severity;

declare_rule! {
    /// `require` of a Lua module that the proxy does not have.
    ///
    /// # What it finds
    /// Inline Lua that requires a module that is not part of LuaJIT (`cjson`, `socket.http`, `resty.jwt`), outside
    /// `pcall`. An info if the script sets `package.path`: the module may be mounted there. Nothing if the script
    /// defines the module itself in `package.preload`.
    ///
    /// # Why it matters
    /// Istio's proxy image contains no Lua modules. At the top of a script, Envoy rejects the listener; in a function,
    /// the script ends there, and the request passes without it.
    ///
    /// # How to fix
    /// Write the code in the script itself, call your own service (`httpCall`, ext_authz, ext_proc), build a proxy
    /// image with the module, or mount it in every pod that the filter reaches (annotations
    /// `sidecar.istio.io/userVolume` and `sidecar.istio.io/userVolumeMount`).
    ///
    /// # References
    /// Envoy, "Lua" HTTP filter; tested with Envoy 1.39.3 ("module 'cjson' not found").
    "EF141" "lua-module-missing" Value Error => check,
    policy: Never("CEL cannot parse Lua")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for script in cx.loadable_scripts() {
        let defined = |name: &str| script.uses.preloaded.contains(&name);
        for one in script.uses.modules.iter().filter(|one| !defined(one.name)) {
            let found = script.failure(rule, one, format!("no Lua module `{}` exists in the proxy", one.name));
            out.push(if script.uses.finds_modules {
                found
                    .label("must be mounted where `package.path` points")
                    .likely("the script sets where modules are found; no pod's volumes are read")
                    .help("mount it in every pod that the filter reaches, or write the code in the script")
                    .severity(Severity::Info)
            } else {
                found
                    .label("only the libraries of LuaJIT exist")
                    .help("write the code in the script, or call your own service")
            });
        }
    }
}
