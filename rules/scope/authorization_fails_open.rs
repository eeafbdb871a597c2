//! EF509: filters that allow requests when their check fails.

use crate::declare_rule;
use crate::lint::lua_use::Kind;
use crate::lint::rule::{Cel, PolicyTarget};
use crate::lint::{Context, Findings, RuleInfo, walk};
use crate::source::{Node, Severity};

declare_rule! {
    /// A filter that allows requests when its check fails, such as `failure_mode_allow: true`.
    ///
    /// # What it finds
    /// An `ext_authz` filter (HTTP or network) or an external processor with `failure_mode_allow: true`, a Wasm filter with
    /// `fail_open` or `failure_policy: FAIL_OPEN`, and `allow_missing_or_failed` of a JWT filter; in an Any or a TypedStruct.
    /// Inline Lua that denies a request only if a service answers 401 or 403.
    ///
    /// # Why it matters
    /// If the authorization service is down, slow or unknown to the proxy, every request passes. A misspelled cluster
    /// name lets everything through.
    ///
    /// # How to fix
    /// Omit it, so that requests are rejected, and give the service more replicas and a suitable timeout.
    ///
    /// # References
    /// Envoy `extensions.filters.http.ext_authz.v3.ExtAuthz`, `ext_proc.v3.ExternalProcessor`, `wasm.v3.PluginConfig`,
    /// `jwt_authn.v3.JwtRequirement`.
    "EF509" "authorization-fails-open" Scope Warning => check,
    policy: Cel(policy)
}

/// Settings that let a request pass when its check fails: the end of the message's name, the field, its value (`true`
/// for a switch), what happens, and what to write.
const OPEN: &[(&str, &str, &str, &str, &str)] = &[
    (
        ".ExtAuthz",
        "failure_mode_allow",
        "true",
        "requests pass when the authorization service fails",
        "failure_mode_allow: false",
    ),
    (
        ".ExternalProcessor",
        "failure_mode_allow",
        "true",
        "requests pass unprocessed when the external processor fails",
        "failure_mode_allow: false",
    ),
    (
        ".ExtProcPerRoute",
        "failure_mode_allow",
        "true",
        "requests pass unprocessed when the external processor fails",
        "failure_mode_allow: false",
    ),
    (
        ".Wasm",
        "fail_open",
        "true",
        "requests pass without the Wasm plugin when it fails",
        "failure_policy: FAIL_CLOSED",
    ),
    (
        ".Wasm",
        "failure_policy",
        "FAIL_OPEN",
        "requests pass without the Wasm plugin when it fails",
        "failure_policy: FAIL_CLOSED",
    ),
    (
        ".JwtAuthentication",
        "allow_missing_or_failed",
        "",
        "requests with an invalid token pass like those with a valid one",
        "allow_missing: {}",
    ),
];

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for script in cx.loadable_scripts() {
        for one in script.uses.mistakes.iter().filter(|one| one.kind == Kind::FailsOpen) {
            out.push(
                script
                    .finding(rule, &one.named, "requests pass when the authorization service fails")
                    .label("the only answer that denies")
                    .note("a service that is down or slow answers `httpCall` with 503 or 504")
                    .help("if headers[\":status\"] ~= \"200\" then … end"),
            );
        }
    }
    for view in cx.patches() {
        let Some(value) = view.patch.body.as_ref().and_then(|body| body.value.as_ref()) else { continue };
        walk::fields(value, &mut |field| {
            let held = |wanted: &str| match wanted {
                "" => true,
                "true" => field.is_true(),
                other => field.node.as_str() == Some(other),
            };
            let one = OPEN
                .iter()
                .find(|(message, name, wanted, ..)| field.message.ends_with(message) && field.is(name) && held(wanted));
            // A processor that only observes protects nothing.
            let protects = |message: &str| message != ".ExternalProcessor" || !observes(value);
            let Some((message, _, _, what, help)) = one.filter(|(message, ..)| protects(message)) else { return };
            let note = match *message {
                ".JwtAuthentication" => {
                    "expired and forged tokens count as failed; later filters cannot distinguish them from a missing one"
                }
                ".Wasm" => "a module that cannot be fetched or loaded and a plugin that crashes count as failures",
                _ => {
                    "a timeout, a service that is down and a cluster that the proxy does not have all count as failures"
                }
            };
            out.push(
                view.finding(rule, view.value_route_span(&field.route()), *what).label("fails open").note(note).help(
                    if field.is("failure_mode_allow") { format!("{}: false", field.key) } else { (*help).to_owned() },
                ),
            );
        });
    }
}

fn policy(_: &PolicyTarget<'_>) -> Vec<Cel> {
    vec![Cel::patch(
        Severity::Warning,
        r#"@url.endsWith(".ExtAuthz") && ((has(@t.failure_mode_allow) && @t.failure_mode_allow == true) || (has(@t.failureModeAllow) && @t.failureModeAllow == true))"#,
        "requests pass when the authorization service fails",
    )
        .without("Wasm, JWT, external processing, and fields deeper in the value than its own typed_config")]
}

/// Whether a processor in a value only observes.
fn observes(value: &Node) -> bool {
    let mut observes = false;
    walk::fields(value, &mut |field| observes |= field.is("observability_mode") && field.is_true());
    observes
}
