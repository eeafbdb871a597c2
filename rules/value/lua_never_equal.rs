//! EF155: a comparison in inline Lua whose result never changes.

use crate::declare_rule;
use crate::lint::lua_use::{Compared, Kind};
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::Severity;
use crate::source::escape::one_line;

declare_rule! {
    /// A comparison in inline Lua that never depends on the request, or that a query gets around.
    ///
    /// # What it finds
    /// `==` and `~=` between a header and a number; between a header's name from `pairs(headers())` and a string with
    /// uppercase letters; between `downstreamRemoteAddress()` and an IP address without a port; `not a == b`;
    /// `a ~= "x" or a ~= "y"`; `a == "x" or "y"`; `sub(1, 5)` and a longer string; what `lower` or `upper` returned and a
    /// string or pattern of the other case; `:method` and `post`; `:path` and a string or pattern without a slash. As a
    /// warning, `:path == "/admin"` that denies the request, which `/admin?x` passes.
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
                Kind::Length { text, length, compared } => (
                    format!("`sub` returns at most {length} characters here, and \"{text}\" has {}", text.len()),
                    compared,
                    format!("sub(1, {}) == \"{text}\"", text.len()),
                ),
                Kind::Case(text, compared) => (
                    format!("`{text}` has letters that `lower` or `upper` changed"),
                    compared,
                    "write the text in the case that `lower` or `upper` returns".to_owned(),
                ),
                Kind::Method(text, compared) => (
                    format!("methods are in uppercase: no client sends `{text}`"),
                    compared,
                    format!("get(\":method\") == \"{}\"", text.to_ascii_uppercase()),
                ),
                Kind::NoSlash(text, compared) => (
                    format!("every path begins with a slash, and `{text}` does not"),
                    compared,
                    match text.strip_prefix('^') {
                        Some(rest) => format!("\"^/{rest}\""),
                        None => format!("get(\":path\"):match(\"^[^?]*\") == \"/{text}\""),
                    },
                ),
                Kind::Both(compared) => {
                    let finding = script.finding(
                        rule,
                        &one.named,
                        match compared {
                            Compared::Different => format!("`{}` always differs from one of the two", one.named.name),
                            _ => format!("`{}` never equals both", one.named.name),
                        },
                    );
                    out.push(match compared {
                        Compared::Different => finding.label("always true").help("write `and` in place of `or`"),
                        _ => finding.label("never true").help("write `or` in place of `and`"),
                    });
                    continue;
                }
                Kind::TextAlone => {
                    let text = one.named.name;
                    let message = format!("`or \"{text}\"` compares nothing: a string is always true");
                    let finding = script.finding(rule, &one.named, message).label("always true");
                    out.push(finding.help(format!("repeat the comparison: … or <value> == \"{text}\"")));
                    continue;
                }
                Kind::ExactPath => {
                    let path = one.named.name;
                    let message = format!("`{path}?x` does not equal `{path}`: `:path` contains the query");
                    let finding = script.finding(rule, &one.named, message).severity(Severity::Warning);
                    out.push(finding.label("only without a query").note("the script denies this path, and lets it pass with a query").snippet(
                        format!("local path = handle:headers():get(\":path\"):match(\"^[^?]*\")\nif path == \"{}\" then … end", one_line(path)),
                    ));
                    continue;
                }
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
