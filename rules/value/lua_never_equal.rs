//! EF155: a comparison in inline Lua whose result never changes.

use crate::declare_rule;
use crate::lint::lua_use::{Compared, Kind};
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// A comparison in inline Lua that never depends on the request.
    ///
    /// # What it finds
    /// `==` and `~=` between a header and a number; between a header's name from `pairs(headers())` and a string with
    /// uppercase letters; between `downstreamRemoteAddress()` and an IP address without a port; `not a == b`.
    ///
    /// # Why it matters
    /// Lua converts nothing for `==`: `"200" == 200` is false. Envoy keeps the names of headers in lowercase, and
    /// addresses with their port. The condition is false for every request, or true for every request.
    ///
    /// # How to fix
    /// Compare with a string: `get(":status") == "200"`; write the name in lowercase; `a ~= b` for `not a == b`; remove the port:
    /// `address:match("^%[?(.-)%]?:%d+$")`.
    ///
    /// # References
    /// Lua 5.1 reference manual, 2.5.2; Envoy, "Lua" HTTP filter; tested with Envoy 1.38.2.
    "EF155" "lua-never-equal" Value Error => check,
    policy: Never("CEL cannot parse Lua")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for script in cx.loadable_scripts() {
        for one in &script.uses.mistakes {
            let (message, compared, help) = match one.kind {
                Kind::TextAndNumber(compared @ (Compared::Equal | Compared::Different)) => (
                    format!("`{}` is a string, and no string equals a number", one.named.name),
                    compared,
                    "compare with a string (== \"200\"), or convert the value: tonumber(…)".to_owned(),
                ),
                Kind::Capitals(text, compared) => (
                    format!("no header is named `{text}`: Envoy's names are in lowercase"),
                    compared,
                    format!("{} == {:?}", one.named.name, text.to_ascii_lowercase()),
                ),
                Kind::NoPort(text, compared) => (
                    format!("no address equals `{text}`: addresses have a port, such as `{}`", with_port(text)),
                    compared,
                    "local ip = address:match(\"^%[?(.-)%]?:%d+$\")".to_owned(),
                ),
                Kind::NotFirst(compared) => (
                    format!("`not` comes first: this compares `not {}`, a boolean", one.named.name),
                    compared,
                    "write ~= in place of not … ==".to_owned(),
                ),
                _ => continue,
            };
            out.push(
                script
                    .finding(rule, &one.named, message)
                    .label(if compared == Compared::Different { "always different" } else { "never equal" })
                    .help(help),
            );
        }
    }
}

fn with_port(address: &str) -> String {
    if address.contains(':') { format!("[{address}]:50312") } else { format!("{address}:50312") }
}
