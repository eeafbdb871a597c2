//! EF180: a response header that replaces the cookies of the workload.

use crate::declare_rule;
use crate::lint::walk::get;
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::Node;

declare_rule! {
    /// A `set-cookie` that replaces all cookies that the workload sets.
    ///
    /// # What it finds
    /// `set-cookie` with `OVERWRITE_IF_EXISTS_OR_ADD` or `OVERWRITE_IF_EXISTS` among the response headers of routes and of
    /// header_mutation.
    ///
    /// # Why it matters
    /// A response has one `set-cookie` for each cookie. Overwriting removes all of them: sessions and logins of the workload are
    /// lost.
    ///
    /// # How to fix
    /// `append_action: APPEND_IF_EXISTS_OR_ADD`, the default.
    ///
    /// # References
    /// RFC 6265, section 3; Envoy `HeaderValueOption.append_action`; tested with Envoy 1.38.2.
    "EF180" "cookies-replaced" Value Warning => check
}

const MUTATIONS: &str = "envoy.extensions.filters.http.header_mutation.v3.Mutations";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for object in &value.objects {
            let items = |field: &str| object.member(field).map(|it| it.entry.value.items()).unwrap_or_default();
            let mut options: Vec<&Node> = items("response_headers_to_add").iter().collect();
            if object.full_name() == MUTATIONS {
                options.extend(items("response_mutations").iter().filter_map(|item| get(item, "append")));
            }
            for option in options {
                let key = get(option, "header").and_then(|header| get(header, "key"));
                let cookie = key.and_then(Node::as_str).is_some_and(|key| key.eq_ignore_ascii_case("set-cookie"));
                let Some(action) = get(option, "append_action").filter(|_| cookie) else { continue };
                if action.as_str().is_some_and(|action| action.starts_with("OVERWRITE_")) {
                    out.push(
                        value
                            .finding(rule, action.span, "this removes every other cookie that the response sets")
                            .label("replaces all `set-cookie`")
                            .help("append_action: APPEND_IF_EXISTS_OR_ADD"),
                    );
                }
            }
        }
    }
}
