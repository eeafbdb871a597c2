//! EF142: Lua that uses a name which nothing defines.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// A name that inline Lua uses and that nothing defines.
    ///
    /// # What it finds
    /// A global that a script indexes or calls and neither the script nor LuaJIT defines (`ngx`, another function's handle), and a
    /// method that the handle of Envoy does not have.
    ///
    /// # Why it matters
    /// The script ends with "attempt to index a nil value": at its top Envoy rejects the listener, in a function the request passes
    /// without the rest of the script.
    ///
    /// # How to fix
    /// Use the name of the function's parameter, and the methods that Envoy documents.
    ///
    /// # References
    /// Envoy, "Lua" HTTP filter, stream handle API; tried with Envoy 1.39.3.
    "EF142" "lua-undefined-name" Value Error => check,
    policy: Never("CEL cannot parse Lua")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for script in cx.loadable_scripts() {
        for one in &script.uses.undefined {
            let help = match one.name {
                "ngx" => "`ngx` belongs to OpenResty; use the methods of Envoy's handle",
                "cjson" | "json" => "there is no JSON library in the proxy: write the text yourself, or call a service",
                _ => "use the name of the function's parameter, or define it in the script",
            };
            out.push(
                script
                    .failure(rule, one, format!("nothing defines `{}`", one.name))
                    .label("nil when the script gets here")
                    .help(help),
            );
        }
        for one in &script.uses.methods {
            out.push(
                script
                    .failure(rule, one, format!("Envoy's handle has no method `{}`", one.name))
                    .label("attempt to call a nil value")
                    .help("see \"Stream handle API\" of Envoy's Lua filter: headers(), body(), httpCall(), respond(), streamInfo(), …"),
            );
        }
    }
}
