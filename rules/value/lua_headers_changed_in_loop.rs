//! EF152: Lua that changes headers while it iterates over them.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// Inline Lua that changes headers in a loop over them.
    ///
    /// # What it finds
    /// `add`, `replace` or `remove` of the headers inside of `for … in pairs(handle:headers()) do`.
    ///
    /// # Why it matters
    /// Envoy ends the script with "header map cannot be modified while iterating": the request passes without the rest
    /// of the script, with the headers that it was to remove.
    ///
    /// # How to fix
    /// Collect the names in a table first, and change the headers after the loop.
    ///
    /// # References
    /// Envoy, "Lua" HTTP filter, header object API; tested with Envoy 1.39.3.
    "EF152" "lua-headers-changed-in-loop" Value Error => check,
    explains: &["EF136"], policy: Never("CEL cannot parse Lua")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for script in cx.loadable_scripts() {
        for one in &script.uses.looped {
            out.push(
                script
                    .failure(rule, one, format!("`{}` changes the headers in a loop over them", one.name))
                    .label("header map cannot be modified while iterating")
                    .snippet("local names = {}\nfor name in pairs(handle:headers()) do names[#names + 1] = name end\nfor _, name in ipairs(names) do … end"),
            );
        }
    }
}
