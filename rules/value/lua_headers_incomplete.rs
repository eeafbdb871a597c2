//! EF151: Lua that calls a service or responds without the headers that Envoy requires.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// `httpCall` or `respond` of inline Lua without the pseudo headers that Envoy requires.
    ///
    /// # What it finds
    /// `httpCall` with a table that does not have all of `:method`, `:path` and `:authority`, and `respond` with a
    /// table without `:status`, if the table is written in the call.
    ///
    /// # Why it matters
    /// The script ends with an error: the request passes without the call or the denial.
    ///
    /// # How to fix
    /// Add the headers; their values are strings (`[":status"] = "403"`).
    ///
    /// # References
    /// Envoy, "Lua" HTTP filter; Envoy 1.38.2: "http call headers must include ':path', ':method', and ':authority'",
    /// ":status must be between 200-599".
    "EF151" "lua-headers-incomplete" Value Error => check,
    explains: &["EF136"], policy: Never("CEL cannot parse Lua")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for script in cx.loadable_scripts() {
        for one in &script.uses.incomplete {
            let method = one.named.name;
            let lacks: Vec<String> = one.lacks.iter().map(|header| format!("`{header}`")).collect();
            let line = |header: &&str| format!("[\"{header}\"] = \"{}\",", example(header));
            let lines: Vec<String> = one.lacks.iter().map(line).collect();
            out.push(
                script
                    .failure(rule, &one.named, format!("`{method}` is called without {}", lacks.join(" and ")))
                    .label("ends the script with an error")
                    .snippet(format!("add to the table:\n{}", lines.join("\n"))),
            );
        }
    }
}

fn example(header: &str) -> &'static str {
    match header {
        ":method" => "GET",
        ":path" => "/",
        ":status" => "403",
        _ => "<host>",
    }
}
