//! EF025: a `proxyVersion` that is not a regular expression.

use crate::declare_rule;
use crate::engine::go_regexp;
use crate::engine::program::MAX_PROXY_VERSION;
use crate::lint::document;
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// A `proxyVersion` that is not a regular expression.
    ///
    /// # What it finds
    /// `match.proxy.proxyVersion` that does not compile as RE2: an open bracket, a look-ahead, a `*` that repeats nothing.
    ///
    /// # Why it matters
    /// istiod's webhook rejects the EnvoyFilter. If it is stored anyway, istiod ignores the expression: the patch applies to proxies of EVERY
    /// version.
    ///
    /// # How to fix
    /// Write an RE2 expression: `^1\.30\.`.
    ///
    /// # References
    /// istiod `pkg/config/validation/envoyfilter`, `pilot/pkg/model` (release 1.31).
    "EF025" "invalid-proxy-version" Document Error => check,
    policy: Never("a regular expression that does not compile is an error in CEL, not an answer; istiod's own webhook rejects it")
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let Some(version) = document::proxy_version(view.patch) else { continue };
        if version.len() > MAX_PROXY_VERSION {
            continue;
        }
        let compiled = go_regexp::compile(version);
        let Err(reason) = compiled.as_ref() else { continue };
        let span = view.value_span(&["match", "proxy", "proxyVersion"]);
        out.push(
            view.finding(rule, span, format!("`{version}` is not an RE2 expression: {reason}"))
                .note("istiod's webhook rejects the EnvoyFilter; if it is stored anyway, every version matches")
                .help(r"write the start of the version with its dots escaped: proxyVersion: '^1\.30\.'"),
        );
    }
}
