//! EF180: a response header that replaces the cookies of the workload.

use crate::declare_rule;
use crate::lint::walk::get;
use crate::lint::{Context, Findings, RuleInfo, header_options};
use crate::source::Node;

declare_rule! {
    /// A `set-cookie` that replaces all cookies that the workload sets.
    ///
    /// # What it finds
    /// `set-cookie` with `OVERWRITE_IF_EXISTS_OR_ADD` or `OVERWRITE_IF_EXISTS` among the response headers of routes and of
    /// header_mutation; `replace` of `set-cookie` in `envoy_on_response` of a Lua script that does not read the cookies.
    ///
    /// # Why it matters
    /// A response has one `set-cookie` for each cookie. Overwriting removes all of them: sessions and logins of the workload are
    /// lost.
    ///
    /// # How to fix
    /// `append_action: APPEND_IF_EXISTS_OR_ADD`, the default; in Lua, `headers():add("set-cookie", …)`.
    ///
    /// # References
    /// RFC 6265, section 3; Envoy `HeaderValueOption.append_action`; tested with Envoy 1.38.2.
    "EF180" "cookies-replaced" Value Warning => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for object in &value.objects {
            for option in header_options::of_responses(object) {
                let key = header_options::key(option).and_then(Node::as_str);
                let cookie = key.is_some_and(|key| key.eq_ignore_ascii_case("set-cookie"));
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
    for script in cx.loadable_scripts() {
        let is_cookie = |name: &str| name.eq_ignore_ascii_case("set-cookie");
        let replaced: Vec<_> =
            script.uses.answered.iter().filter(|(one, removes)| !removes && is_cookie(one.name)).collect();
        // A script that names the header elsewhere may carry the other cookies on.
        if replaced.len() < script.script.text.to_ascii_lowercase().matches("set-cookie").count() {
            continue;
        }
        for (one, _) in replaced {
            out.push(
                script
                    .finding(rule, one, "this removes every other cookie that the response sets")
                    .label("replaces all `set-cookie`")
                    .help("add the cookie: headers():add(\"set-cookie\", …)"),
            );
        }
    }
}
