//! EF157: inline Lua that ends with an error because of a value's type.

use crate::declare_rule;
use crate::lint::lua_use::{Compared, Kind, Misuse};
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// Inline Lua that fails because of the type of a value.
    ///
    /// # What it finds
    /// `<`, `>`, `<=` and `>=` between a header and a number; a table, a boolean or nil as the value of `add` and
    /// `replace`; a table or a boolean as the body of `respond`; `httpCall` without its timeout, or asynchronous and used;
    /// methods that strings do not have, such as `split`; headers used as a table.
    ///
    /// # Why it matters
    /// The script ends there: the request passes without the rest of it, such as the answer that denies it.
    ///
    /// # How to fix
    /// `tonumber(headers:get(":status")) >= 500`; `tostring(…)`; a string as the body.
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
                    format!("`{name}` is a string and cannot be compared with a number"),
                    "attempt to compare string with number".to_owned(),
                    "convert it first: (tonumber(…) or 0) >= 500",
                ),
                Kind::Argument { number, function: "httpCall", got } => (
                    "`httpCall` requires four arguments: cluster, headers, body and timeout".to_owned(),
                    format!("bad argument #{number} to 'httpCall' (number expected, got {got})"),
                    "httpCall(\"<cluster>\", {…}, \"\", 1000) -- milliseconds",
                ),
                Kind::Asynchronous => (
                    "an asynchronous `httpCall` returns nothing".to_owned(),
                    format!("attempt to index local '{name}' (a nil value)"),
                    "remove `true`, so that the script waits for the answer",
                ),
                Kind::NoMethod => (
                    format!("strings have no method `{name}`"),
                    format!("attempt to call method '{name}' (a nil value)"),
                    instead_of(name),
                ),
                Kind::NoTable(misuse) => (
                    match misuse {
                        Misuse::Read => "headers are not a table: this is always nil",
                        _ => "headers are not a table",
                    }
                    .to_owned(),
                    match misuse {
                        Misuse::Read => "not a header",
                        Misuse::Written => "attempt to index a userdata value",
                        Misuse::Measured => "attempt to get length of a userdata value",
                        Misuse::Ipairs => "bad argument #1 to 'ipairs' (table expected, got userdata)",
                    }
                    .to_owned(),
                    match misuse {
                        Misuse::Read => "headers:get(\"<name>\")",
                        Misuse::Written => "headers:replace(\"<name>\", \"<value>\")",
                        Misuse::Measured => "count them in a loop: for name, value in pairs(headers) do … end",
                        Misuse::Ipairs => "for name, value in pairs(headers) do … end",
                    },
                ),
                Kind::Argument { number, function, got } => (
                    format!("`{function}` expects a string, not {}{got}", if got == "nil" { "" } else { "a " }),
                    format!("bad argument #{number} to '{function}' (string expected, got {got})"),
                    match (function, got) {
                        ("respond", _) => "the body is a string: respond({[\":status\"] = \"403\"}, \"denied\")",
                        (_, "nil") => "`remove` removes a header",
                        _ => "write a string in quotes, or tostring(…)",
                    },
                ),
                _ => continue,
            };
            let finding = match one.kind {
                Kind::NoTable(Misuse::Read) => script.finding(rule, &one.named, message),
                _ => script.failure(rule, &one.named, message),
            };
            out.push(finding.label(label).help(help));
        }
    }
}

/// What Lua has for a method of other languages.
fn instead_of(method: &str) -> &'static str {
    match method.to_ascii_lowercase().as_str() {
        "split" => "for part in path:gmatch(\"[^/]+\") do … end",
        "startswith" | "starts_with" | "hasprefix" => "path:sub(1, #prefix) == prefix",
        "endswith" | "ends_with" | "hassuffix" => "path:sub(-#suffix) == suffix",
        "contains" | "includes" | "indexof" => "path:find(\"<text>\", 1, true)",
        "replace" => "path:gsub(\"<pattern>\", \"<text>\")",
        "tolowercase" | "tolower" => "path:lower()",
        "touppercase" | "toupper" => "path:upper()",
        "trim" | "strip" => "path:match(\"^%s*(.-)%s*$\")",
        "length" | "size" => "#path",
        "substring" | "substr" => "path:sub(1, 5)",
        _ => {
            "the methods of strings are the functions of `string`: find, match, gmatch, gsub, sub, lower, upper, len, rep"
        }
    }
}
