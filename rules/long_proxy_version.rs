//! EF027: a `proxyVersion` over 1024 bytes.

use crate::declare_rule;
use crate::engine::compat::{self, Behaviour, Compat};
use crate::engine::program::MAX_PROXY_VERSION;
use crate::lint::document;
use crate::lint::{Context, Finding, Findings, Rule};
use crate::source::Severity;

declare_rule! {
    /// A `proxyVersion` over 1024 bytes.
    ///
    /// # What it finds
    /// `match.proxy.proxyVersion` longer than 1024 bytes.
    ///
    /// # Why it matters
    /// Istio from 1.31 on does not compile it: the patch applies to no proxy. Older releases do compile it.
    ///
    /// # How to fix
    /// Shorten the expression: `^1\.(2[6-9]|3[01])\.` says what a list of versions says.
    ///
    /// # References
    /// istiod `pkg/config/validation/envoyfilter`, `pilot/pkg/model` (release 1.31); recorded.
    "EF027" "long-proxy-version" Warning => check
}

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let Some(version) = document::proxy_version(view.patch) else { continue };
        if version.len() <= MAX_PROXY_VERSION {
            continue;
        }
        let behaviour = Behaviour::LongProxyVersionMatchesNothing;
        let (severity, note) = if (Compat { release: cx.release }).has(behaviour) {
            (Severity::Error, format!("Istio {} does not compile it: the patch applies to no proxy", cx.release))
        } else {
            let since = compat::since(behaviour);
            (rule.severity, format!("Istio {} compiles it; from {since} on the patch applies to no proxy", cx.release))
        };
        let message = format!("this proxyVersion has {} bytes, and {MAX_PROXY_VERSION} are allowed", version.len());
        out.push(
            Finding::new(rule, view.value_span(&["match", "proxy", "proxyVersion"]), message)
                .severity(severity)
                .note(note)
                .help(r"shorten it: '^1\.(2[6-9]|3[01])\.'")
                .of(view.filter, Some(view.patch.index)),
        );
    }
}
