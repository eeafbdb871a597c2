//! EF143: Lua that uses a header or body that may be absent.

use crate::declare_rule;
use crate::lint::lua_use::{Absent, Kind, Named, Source, Used};
use crate::lint::ports::only_tls;
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::PatchContext;
use crate::source::Severity;

declare_rule! {
    /// A header or body that may be absent but is used unconditionally.
    ///
    /// # What it finds
    /// Inline Lua that concatenates, indexes, measures, compares or calculates with `headers():get("name")`,
    /// `metadata():get("key")`, `dynamicMetadata():get("filter")` or `os.getenv("NAME")` without a default, or passes
    /// it to `pairs`, `string.lower` and the like, to a log or as a header's value, or `get` itself to `tostring`,
    /// `tonumber` or at the end of `string.format`, which then get no value at all; the same with `io.open(…)`, with
    /// `match` and a pattern that not every text has, in a script that has not looked at the text before, with headers
    /// that `httpCall` returned, if the script never looks at their `:status`, and with `filterContext()`; a method of
    /// `trailers()`, of `body()` without a test that a body exists, or of `downstreamSslConnection()` and `ssl()`
    /// without a test that the client uses TLS; `:path`, `cookie`, `origin` and the like in `envoy_on_response`,
    /// `:status` in `envoy_on_request` and `path` without its colon, keys of what `httpCall` returned with capitals or
    /// `status` without its colon, which are always nil; a header compared with `""` and nothing else, which an absent
    /// one does not equal.
    ///
    /// # Why it matters
    /// For a message without that header or body, or a connection without TLS, the value is nil and the script ends
    /// there: the request passes without the rest of the script, which may include a denial.
    ///
    /// # How to fix
    /// Write `(headers:get("name") or "")`; `body(true)`, which is never nil, or `if body then`.
    ///
    /// # References
    /// Envoy, "Lua" HTTP filter (`get` and `body` return nil); tested with Envoy 1.39.3 ("attempt to concatenate a nil
    /// value").
    "EF143" "lua-nil-used" Value Warning => check,
    policy: Never("CEL cannot parse Lua")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for script in cx.loadable_scripts() {
        let encrypted = only_tls(&script.value.view.patch.object);
        // Gateways add the client's address to it.
        let gateway = script.value.view.patch.context == PatchContext::Gateway;
        for one in
            script.uses.absent.iter().filter(|one| {
                (one.source != Source::Tls || !encrypted) && (one.source != Source::ForwardedFor || !gateway)
            })
        {
            let name = one.named.name;
            let (when, help) = absence(one, script.script.text);
            let what = match one.source {
                Source::Match if name.contains(['%', '(', '[']) => "`match` with this pattern".to_owned(),
                _ => format!("`{name}`"),
            };
            out.push(
                script
                    .failure(rule, &one.named, format!("{what} is nil if {when}"))
                    .label(attempt(one.used))
                    .snippet(help),
            );
        }
        for one in &script.uses.mistakes {
            let name = one.named.name;
            if one.kind == Kind::Empty {
                out.push(
                    script
                        .finding(rule, &one.named, format!("`{name}` is nil, not empty, if the header is absent"))
                        .label("an absent header does not equal \"\"")
                        .help(format!("({} or \"\") == \"\"", written(script.script.text, &one.named))),
                );
                continue;
            }
            if one.kind == Kind::NoColon {
                let message = format!("`{name}` is always nil: the pseudo header is `:{name}`");
                let finding = script.finding(rule, &one.named, message).label("without its colon");
                out.push(finding.help(format!("get(\":{name}\")")));
                continue;
            }
            if one.kind == Kind::AnswerKey {
                let key = if name == "status" { ":status".to_owned() } else { name.to_ascii_lowercase() };
                let message = format!("`{name}` is always nil: the key is `{key}`");
                let finding = script.finding(rule, &one.named, message).label("not a key of what httpCall returns");
                out.push(finding.severity(Severity::Error).help(format!("headers[\"{key}\"]")));
                continue;
            }
            let Kind::OtherDirection(response) = one.kind else { continue };
            let finding = if response {
                script
                    .finding(rule, &one.named, format!("`{name}` is always nil here: responses do not have it"))
                    .label("a header of requests")
                    .snippet(format!(
                        "keep it in envoy_on_request:\n  handle:streamInfo():dynamicMetadata():set(\"own\", \"{0}\", handle:headers():get(\"{name}\"))\nand read it in envoy_on_response:\n  handle:streamInfo():dynamicMetadata():get(\"own\")[\"{0}\"]",
                        name.trim_start_matches(':')
                    ))
            } else {
                script
                    .finding(rule, &one.named, format!("`{name}` is always nil here: requests do not have it"))
                    .label("a header of responses")
                    .help("read it in envoy_on_response")
            };
            out.push(finding);
        }
        // Once for a line: the second call there fails for the same reason.
        let line = |at: usize| script.script.text.get(..at).unwrap_or_default().matches('\n').count();
        let mut last = None;
        for one in script.uses.bodies.iter().filter(|one| last.replace(line(one.at)) != Some(line(one.at))) {
            out.push(
                script
                    .failure(rule, one, "`body()` is nil if the message has no body")
                    .label("attempt to index a nil value")
                    .note("body() waits for the whole body; one above the buffer limit (per_connection_buffer_limit_bytes) is answered with 413")
                    .help("local body = handle:body(true) -- an empty buffer if there is no body"),
            );
        }
    }
}

/// When something is absent, and what to write instead.
fn absence(one: &Absent<'_>, text: &str) -> (&'static str, String) {
    let name = one.named.name;
    let default = match one.used {
        Used::Calculated | Used::Compared | Used::Passed("tonumber") => "0",
        Used::Passed("pairs" | "ipairs") => "{}",
        _ => "\"\"",
    };
    let or_default = || format!("({} or {default})", written(text, &one.named));
    match one.source {
        Source::Header => ("the header is absent", or_default()),
        Source::RouteMetadata => ("the route has no such metadata", or_default()),
        Source::DynamicMetadata => {
            ("no filter has set it", "local data = handle:streamInfo():dynamicMetadata():get(\"…\") or {}".to_owned())
        }
        Source::ForwardedFor => ("the header is absent", or_default()),
        Source::Answer => ("the answer has no body", or_default()),
        Source::AnswerHeader => ("the service did not send it", or_default()),
        Source::FilterContext => ("the route's `filter_context` does not have it", or_default()),
        Source::Trailers => {
            ("the message has no trailers", "local trailers = handle:trailers()\nif trailers then … end".to_owned())
        }
        Source::Tls => (
            "the client's connection has no TLS",
            "local tls = handle:streamInfo():downstreamSslConnection()\nif tls then … end".to_owned(),
        ),
        Source::File => ("the file cannot be opened", "local file = io.open(\"…\")\nif file then … end".to_owned()),
        Source::Match => ("the text does not match", or_default()),
        Source::Environment => ("the proxy does not have the variable", format!("(os.getenv({name:?}) or \"\")")),
    }
}

/// What Lua says about a nil that is used.
fn attempt(used: Used<'_>) -> String {
    match used {
        Used::Indexed => "attempt to index a nil value".to_owned(),
        Used::Concatenated => "attempt to concatenate a nil value".to_owned(),
        Used::Measured => "attempt to get length of a nil value".to_owned(),
        Used::Calculated => "attempt to perform arithmetic on a nil value".to_owned(),
        Used::Compared => "attempt to compare a nil value".to_owned(),
        Used::Passed(function @ ("pairs" | "ipairs")) => {
            format!("bad argument to '{function}' (table expected, got nil)")
        }
        Used::Passed(function @ ("format" | "tonumber" | "tostring")) => {
            format!("bad argument to '{function}' (value expected)")
        }
        Used::Passed(function) => format!("bad argument to '{function}' (string expected, got nil)"),
    }
}

/// The concatenated expression as the script writes it: a local name, or the call that gets the header.
fn written<'t>(script: &'t str, one: &Named<'t>) -> &'t str {
    let rest = script.get(one.at..).unwrap_or_default();
    let name_end = rest.find(one.name).filter(|&start| start > 0).map(|start| start + one.name.len());
    let call = name_end.and_then(|end| {
        // `headers["name"]`
        let index = rest.get(..end - one.name.len())?.trim_end_matches(['"', '\'']).ends_with('[');
        let close = end + rest.get(end..)?.find(if index { ']' } else { ')' })?;
        // `tonumber(headers():get("name"))`
        let outer = rest.starts_with("tonumber") && rest.get(close + 1..)?.starts_with(')');
        rest.get(..=close + usize::from(outer))
    });
    call.unwrap_or(one.name)
}
