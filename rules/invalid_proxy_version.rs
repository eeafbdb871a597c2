//! EF025: a `proxyVersion` that is no regular expression.

use crate::declare_rule;
use crate::engine::program::{MAX_PROXY_VERSION, compile_re2};
use crate::lint::document;
use crate::lint::{Context, Finding, Findings, Rule};

declare_rule! {
    /// A `proxyVersion` that is no regular expression.
    ///
    /// # What it finds
    /// `match.proxy.proxyVersion` that does not compile as RE2: an open bracket, a look-ahead, a `*` that repeats nothing.
    ///
    /// # Why it matters
    /// istiod's admission refuses the filter. Where it gets in, istiod ignores the expression: the patch applies to proxies of EVERY
    /// version.
    ///
    /// # How to fix
    /// Write an RE2 expression: `^1\.30\.`.
    ///
    /// # References
    /// istiod `pkg/config/validation/envoyfilter`, `pilot/pkg/model` (release 1.31).
    "EF025" "invalid-proxy-version" Error => check
}

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let Some(version) = document::proxy_version(view.patch) else { continue };
        if version.len() > MAX_PROXY_VERSION {
            continue;
        }
        let Err(error) = compile_re2(version) else { continue };
        let text = error.to_string();
        let reason = text.lines().last().unwrap_or_default().trim_start_matches("error: ");
        let span = view.value_span(&["match", "proxy", "proxyVersion"]);
        out.push(
            Finding::new(rule, span, format!("`{version}` is not an RE2 expression: {reason}"))
                .note("istiod's admission refuses the filter; where it gets in, every version fits")
                .help(r"write the start of the version with its dots escaped: proxyVersion: '^1\.30\.'")
                .of(view.filter, Some(view.patch.index)),
        );
    }
}
