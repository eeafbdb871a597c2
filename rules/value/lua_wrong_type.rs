//! EF157: inline Lua that ends with an error because of a value's type.

use crate::declare_rule;
use crate::lint::lua_use::{Compared, Kind, Mistake, Misuse, Owner, Used};
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// Inline Lua that fails because of the type of a value.
    ///
    /// # What it finds
    /// `<`, `>`, `<=` and `>=` between a header and a number; a table, a boolean or nil as the value of `add` and
    /// `replace`; a comparison or a table joined with `..`; a text added with `+`; a table as the body of `httpCall`; a table or
    /// a boolean as the body of `respond`; `httpCall` without its timeout, or asynchronous and used; methods that
    /// strings do not have, such as `split`; headers used as a table; a body or headers used as a string; `getBytes`
    /// without its numbers or from byte 1; methods of the table that `httpCall` returns; `respond` with a string in
    /// place of its headers; a table as the fifth argument of `httpCall`.
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
            let Some((message, label, help)) = operands(one).or_else(|| said(one)) else { continue };
            let finding = match one.kind {
                Kind::NoTable(Misuse::Read) | Kind::Shown(_) => script.finding(rule, &one.named, message),
                _ => script.failure(rule, &one.named, message),
            };
            out.push(finding.label(label).snippet(help));
        }
    }
}

/// What a mistake is, what Lua says about it, and what to write instead; `None` for those of other rules.
fn operands(one: &Mistake<'_>) -> Option<(String, String, &'static str)> {
    Some(match one.kind {
        Kind::Plus => (
            "`+` adds numbers; strings are concatenated with `..`".to_owned(),
            "attempt to perform arithmetic on a string value".to_owned(),
            "\"…\" .. value",
        ),
        Kind::JoinedBoolean => (
            "a boolean cannot be concatenated with a string".to_owned(),
            "attempt to concatenate a boolean value".to_owned(),
            "\"…\" .. tostring(…)",
        ),
        Kind::JoinedTable => (
            format!("`{}` is a table and cannot be concatenated with a string", one.named.name),
            "attempt to concatenate a table value".to_owned(),
            "table.concat(list, \",\"), or one entry: list[1], answer[\":status\"]",
        ),
        Kind::Argument { number: 3, function: "httpCall", got } => (
            format!("the body of `httpCall` is a string, not a {got}"),
            format!("bad argument #3 to 'httpCall' (string expected, got {got})"),
            "write the text of the body; the proxy has no JSON library",
        ),
        _ => return None,
    })
}

/// The same for the other mistakes.
fn said(one: &Mistake<'_>) -> Option<(String, String, &'static str)> {
    let name = one.named.name;
    Some(match one.kind {
        Kind::TextAndNumber(Compared::Ordered) => (
            format!("`{name}` is a string and cannot be compared with a number"),
            "attempt to compare string with number".to_owned(),
            "convert it first: (tonumber(…) or 0) >= 500",
        ),
        Kind::Argument { number: 5, .. } => (
            "the fifth argument of `httpCall` is true or false: options take the place of the timeout".to_owned(),
            "http call asynchronous flag must be 'true', 'false', or empty".to_owned(),
            "httpCall(\"<cluster>\", {…}, \"\", {[\"timeout_ms\"] = 1000, [\"asynchronous\"] = true})",
        ),
        Kind::Argument { number, function: "httpCall", got } => (
            "`httpCall` requires four arguments: cluster, headers, body and timeout".to_owned(),
            format!("bad argument #{number} to 'httpCall' (number expected, got {got})"),
            "httpCall(\"<cluster>\", {…}, \"\", 1000) -- milliseconds",
        ),
        Kind::Argument { number, function: "getBytes", got } => (
            "`getBytes` requires the first byte and the length".to_owned(),
            format!("bad argument #{number} to 'getBytes' (number expected, got {got})"),
            "body:getBytes(0, body:length())",
        ),
        Kind::Argument { number: 1, got, .. } => (
            "the first argument of `respond` is a table of headers".to_owned(),
            format!("bad argument #1 to 'respond' (table expected, got {got})"),
            "respond({[\":status\"] = \"403\"}, \"denied\")",
        ),
        Kind::FromOne => (
            "the bytes of a body are numbered from 0".to_owned(),
            "index/length must be >= 0 and (index + length) must be <= buffer size".to_owned(),
            "body:getBytes(0, body:length())",
        ),
        Kind::AnswerMethod => (
            "`httpCall` returns the headers as a table, which has no methods".to_owned(),
            format!("attempt to call method '{name}' (a nil value)"),
            "headers[\"<name>\"], in lowercase",
        ),
        Kind::Shown(owner) => (
            format!("{} is an object: `tostring` returns its address, not its content", owner.as_str()),
            "such as `userdata: 0x7f1c`".to_owned(),
            content_of(owner),
        ),
        Kind::Userdata(owner, used) => (
            format!("{} is an object, not a string", owner.as_str()),
            match used {
                Used::Concatenated => "attempt to concatenate a userdata value".to_owned(),
                Used::Measured => "attempt to get length of a userdata value".to_owned(),
                Used::Calculated => "attempt to perform arithmetic on a userdata value".to_owned(),
                Used::Passed(function @ ("pairs" | "ipairs")) => {
                    format!("bad argument #1 to '{function}' (table expected, got userdata)")
                }
                Used::Passed(function) => {
                    format!("bad argument to '{function}' (string expected, got userdata)")
                }
                Used::Compared | Used::Indexed => "attempt to compare userdata".to_owned(),
            },
            content_of(owner),
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
        _ => return None,
    })
}

/// How to get the content of an object.
fn content_of(owner: Owner) -> &'static str {
    if owner == Owner::Body {
        "local body = handle:body(true)\nlocal text = body:getBytes(0, body:length())"
    } else {
        "headers():get(\"<name>\"); all of them: for name, value in pairs(headers) do … end"
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
