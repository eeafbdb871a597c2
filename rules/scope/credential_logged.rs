//! EF526: a header with a credential that is written to a log.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo, walk};
use crate::source::Node;
use std::collections::BTreeSet;

declare_rule! {
    /// A header with a credential that is written to a log.
    ///
    /// # What it finds
    /// Access logs whose format has `%REQ(AUTHORIZATION)%`, a cookie or another header that holds credentials, or that list such a
    /// header for a gRPC service; tags of spans with such a header; and inline Lua that passes the value of such a header to
    /// `logInfo` and the like. A format that logs at most 12 characters of it is not reported.
    ///
    /// # Why it matters
    /// Whoever reads the logs, or a system that collects them, can act as every user until the credential expires.
    ///
    /// # How to fix
    /// Log what identifies the user, not what proves it: a claim that `jwt_authn` left in the dynamic metadata, or
    /// `%DOWNSTREAM_PEER_URI_SAN%`.
    ///
    /// # References
    /// Envoy, "Access logging", command operators; Lua filter, `logInfo`.
    "EF526" "credential-logged" Scope Warning => check
}

/// Headers whose value is enough to act as somebody else.
const CREDENTIALS: [&str; 11] = [
    "api-key",
    "apikey",
    "authorization",
    "cookie",
    "proxy-authorization",
    "set-cookie",
    "x-access-token",
    "x-amz-security-token",
    "x-api-key",
    "x-auth-token",
    "x-forwarded-access-token",
];

/// Maximum number of characters of a header that tell nothing of use.
const HARMLESS: usize = 12;

fn is_credential(header: &str) -> bool {
    CREDENTIALS.contains(&header.to_ascii_lowercase().as_str())
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    const WHY: &str = "whoever reads the logs can act as the user until the credential expires";
    for script in cx.loadable_scripts() {
        let mut known = BTreeSet::new();
        for one in script.uses.logged.iter().filter(|one| is_credential(one.name) && known.insert(one.name)) {
            let finding = script.finding(rule, one, format!("the script logs the header `{}`", one.name));
            out.push(
                finding.label("a credential").note(WHY).help("log whether it is there, or what identifies the user"),
            );
        }
    }
    for value in cx.values() {
        for tag in value.objects.iter().filter(|object| object.full_name() == "envoy.type.tracing.v3.CustomTag.Header")
        {
            let Some(member) = tag.member("name") else { continue };
            let Some(header) = member.entry.value.as_str().filter(|name| is_credential(name)) else { continue };
            let message = format!("every span records the header `{}`", header.to_lowercase());
            let finding = value.finding(rule, member.entry.value.span, message);
            out.push(
                finding.label("a credential").note(WHY).help("tag the span with what identifies the user instead"),
            );
        }
    }
    for view in cx.patches() {
        let Some(value) = view.patch.body.as_ref().and_then(|body| body.value.as_ref()) else { continue };
        walk::fields(value, &mut |field| {
            if !field.message.starts_with("envoy.extensions.access_loggers.") {
                return;
            }
            let listed = field.key.ends_with("_to_log") || field.key.ends_with("ToLog");
            let header = match field.node.as_str() {
                Some(format) => logged_by(format),
                None if listed => field.node.items().iter().filter_map(Node::as_str).find(|name| is_credential(name)),
                None => None,
            };
            let Some(header) = header else { return };
            let place = view.value_route_span(&field.route());
            let finding =
                view.finding(rule, place, format!("the access log records the header `{}`", header.to_lowercase()));
            out.push(finding.label("a credential").note(WHY).help(
                "remove it, or log what identifies the user: `%DYNAMIC_METADATA(envoy.filters.http.jwt_authn:<payload>:sub)%`",
            ));
        });
    }
}

/// The first header with a credential that a format logs: `%REQ(NAME?OTHER):length%`.
fn logged_by(format: &str) -> Option<&str> {
    const OPERATORS: [&str; 6] =
        ["REQ(", "RESP(", "TRAILER(", "REQUEST_HEADER(", "RESPONSE_HEADER(", "RESPONSE_TRAILER("];
    format.split('%').skip(1).find_map(|part| {
        let arguments = OPERATORS.iter().find_map(|operator| part.strip_prefix(operator))?;
        let (names, rest) = arguments.split_once(')')?;
        let short =
            rest.strip_prefix(':').and_then(|length| length.parse::<usize>().ok()).is_some_and(|it| it <= HARMLESS);
        names.split('?').find(|name| !short && is_credential(name))
    })
}

#[cfg(test)]
mod tests {
    use super::logged_by;

    #[test]
    fn headers_with_credentials_are_found_in_formats() {
        assert_eq!(logged_by("a %REQ(:PATH)% %REQ(X-A?Authorization)%"), Some("Authorization"));
        assert_eq!(logged_by("%RESP(set-cookie):100%"), Some("set-cookie"));
        for format in ["%REQ(authorization):12%", "%REQ(x-cookie-count)%", "REQ(authorization)", "100% REQ(cookie)"] {
            assert_eq!(logged_by(format), None, "{format}");
        }
    }
}
