//! EF157: inline Lua that ends with an error because of a value's type.

use crate::declare_rule;
use crate::lint::lua_use::{Compared, Kind};
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// Inline Lua that fails because of the type of a value.
    ///
    /// # What it finds
    /// `<`, `>`, `<=` and `>=` between a header and a number; a table, a boolean or nil as the value of `add` and
    /// `replace`; a table or a boolean as the body of `respond`.
    ///
    /// # Why it matters
    /// The script ends there: the request passes without the rest of it, such as the answer that denies it.
    ///
    /// # How to fix
    /// `tonumber(headers:get(":status")) >= 500`; `tostring(…)`; a text as the body.
    ///
    /// # References
    /// Lua 5.1 reference manual, 2.5.2; tested with Envoy 1.38.2 ("attempt to compare string with number", "bad argument
    /// #2 to 'add' (string expected, got boolean)").
    "EF157" "lua-wrong-type" Value Error => check,
    explains: &["EF136"], policy: Never("CEL cannot parse Lua")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for script in cx.loadable_scripts() {
        for one in &script.uses.mistakes {
            let name = one.named.name;
            let (message, label, help) = match one.kind {
                Kind::TextAndNumber(Compared::Ordered) => (
                    format!("`{name}` is a text and cannot be ordered with a number"),
                    "attempt to compare string with number".to_owned(),
                    "convert it first: (tonumber(…) or 0) >= 500",
                ),
                Kind::Argument { number, function, got } => (
                    format!("`{function}` takes a text, not {}{got}", if got == "nil" { "" } else { "a " }),
                    format!("bad argument #{number} to '{function}' (string expected, got {got})"),
                    match (function, got) {
                        ("respond", _) => "the body is a text: respond({[\":status\"] = \"403\"}, \"denied\")",
                        (_, "nil") => "`remove` removes a header",
                        _ => "write a text in quotes, or tostring(…)",
                    },
                ),
                _ => continue,
            };
            out.push(script.failure(rule, &one.named, message).label(label).help(help));
        }
    }
}
