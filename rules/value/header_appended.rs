//! EF167: a header with one value to which another one is appended.

use crate::declare_rule;
use crate::lint::value::{Object, PatchValue};
use crate::lint::walk::{get, same};
use crate::lint::{Context, Finding, Findings, RuleInfo};
use crate::source::{NodeValue, Step};

declare_rule! {
    /// A header that can have only one value and is appended to instead of overwritten.
    ///
    /// # What it finds
    /// `request_headers_to_add`, `response_headers_to_add` and header_mutation with a header such as `x-forwarded-proto`,
    /// `x-request-id`, `authorization` or `content-type`, without an `append_action` that overwrites or keeps it; `x-forwarded-proto`
    /// with ADD_IF_ABSENT, which is never absent; `add` of inline Lua with a header that every request has, such as `:path` or
    /// `x-forwarded-proto`.
    ///
    /// # Why it matters
    /// The default is APPEND_IF_EXISTS_OR_ADD: the application gets `x-forwarded-proto: http,https`, which is
    /// neither.
    ///
    /// # How to fix
    /// `append_action: OVERWRITE_IF_EXISTS_OR_ADD`, or `ADD_IF_ABSENT` to keep what is there.
    ///
    /// # References
    /// Envoy `config.core.v3.HeaderValueOption.append_action`; tested with Envoy 1.38.2.
    "EF167" "header-appended" Value Warning => check
}

const OF_REQUESTS: [&str; 6] =
    ["authorization", "content-type", "user-agent", "x-forwarded-host", "x-forwarded-proto", "x-request-id"];
const OF_RESPONSES: [&str; 5] = ["content-encoding", "content-type", "etag", "last-modified", "location"];

/// Headers that every request has when a script gets it.
const ALWAYS_THERE: [&str; 6] = [":authority", ":method", ":path", ":scheme", "x-forwarded-proto", "x-request-id"];

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for script in cx.loadable_scripts() {
        for one in &script.uses.appended {
            let name = one.name.to_ascii_lowercase();
            if !ALWAYS_THERE.contains(&name.as_str()) {
                continue;
            }
            let message = format!("`{name}` is appended to an existing value: `{}`", example(&name));
            out.push(script.finding(rule, one, message).label("appended").help(format!("replace(\"{name}\", …)")));
        }
    }
    for value in cx.values() {
        let options = value.objects.iter().filter(|it| it.full_name() == "envoy.config.core.v3.HeaderValueOption");
        for option in options {
            let overwrites =
                option.member("append").is_some_and(|it| matches!(it.entry.value.value, NodeValue::Bool(false)));
            out.extend(never_absent(rule, value, option));
            let appends = option.text("append_action").is_none_or(|action| action == "APPEND_IF_EXISTS_OR_ADD");
            let Some(header) = option.member("header").filter(|_| appends && !overwrites) else { continue };
            let Some(key) = get(&header.entry.value, "key") else { continue };
            let name = key.as_str().unwrap_or_default().to_ascii_lowercase();
            let beside = |key: &str| option.route.iter().any(|step| matches!(step, Step::Key(one) if same(one, key)));
            let request = beside("request_headers_to_add") || beside("request_mutations");
            // Envoy's own answers get these headers before their own content type.
            let own = option.parent.is_some_and(|(parent, _)| {
                ["direct_response", "redirect"].iter().any(|action| value.objects[parent].member(action).is_some())
            });
            let response = !own && (beside("response_headers_to_add") || beside("response_mutations"));
            let example = match name.as_str() {
                _ if request && OF_REQUESTS.contains(&name.as_str()) => example(&name),
                _ if response && OF_RESPONSES.contains(&name.as_str()) => example(&name),
                _ => continue,
            };
            out.push(
                value
                    .finding(rule, key.span, format!("`{name}` is appended to an existing value: `{example}`"))
                    .label("appended")
                    .help("append_action: OVERWRITE_IF_EXISTS_OR_ADD"),
            );
        }
    }
}

/// A header that Envoy sets before any route or filter adds it where it is absent.
fn never_absent(rule: &'static RuleInfo, value: &PatchValue<'_>, option: &Object<'_>) -> Option<Finding> {
    let (_, list) = option.parent?;
    let action = option.text("append_action").filter(|action| *action == "ADD_IF_ABSENT")?;
    let header = option.member("header").filter(|_| list.name() == "request_headers_to_add")?;
    let key = get(&header.entry.value, "key")?;
    let name = key.as_str().filter(|name| name.eq_ignore_ascii_case("x-forwarded-proto"))?;
    Some(
        value
            .finding(rule, key.span, format!("`{name}` is never absent: {action} changes nothing"))
            .label("without effect")
            .note("Envoy sets this header before it chooses a route")
            .help("append_action: OVERWRITE_IF_EXISTS_OR_ADD"),
    )
}

/// What a header looks like after that.
fn example(name: &str) -> &'static str {
    match name {
        "x-forwarded-proto" => "http,https",
        ":path" => "/,/other",
        "content-type" => "text/plain,application/json",
        _ => "<old>,<new>",
    }
}
