//! EF027: a `proxyVersion` over 1024 bytes.

use crate::declare_rule;
use crate::engine::compat::{self, Behaviour, Compat};
use crate::engine::program::MAX_PROXY_VERSION;
use crate::lint::document;
use crate::lint::rule::{Cel, PolicyTarget};
use crate::lint::{Context, Findings, RuleInfo};
use crate::source::Severity;

declare_rule! {
    /// A `proxyVersion` longer than 1024 bytes.
    ///
    /// # What it finds
    /// `match.proxy.proxyVersion` longer than 1024 bytes.
    ///
    /// # Why it matters
    /// Istio since 1.31 does not compile it: the patch applies to no proxy. Older releases compile it.
    ///
    /// # How to fix
    /// Shorten the expression: `^1\.(2[6-9]|3[01])\.` is equivalent to a list of versions.
    ///
    /// # References
    /// istiod `pkg/config/validation/envoyfilter`, `pilot/pkg/model` (release 1.31); recorded.
    "EF027" "long-proxy-version" Document Warning => check,
    policy: Cel(policy)
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
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
            (rule.severity, format!("Istio {} compiles it; since {since} the patch applies to no proxy", cx.release))
        };
        let message =
            format!("this proxyVersion is {} bytes long; at most {MAX_PROXY_VERSION} are allowed", version.len());
        out.push(
            view.finding(rule, view.value_span(&["match", "proxy", "proxyVersion"]), message)
                .severity(severity)
                .note(note)
                .help(r"shorten it: '^1\.(2[6-9]|3[01])\.'"),
        );
    }
}

fn policy(target: &PolicyTarget<'_>) -> Vec<Cel> {
    let longer = target.compat.has(Behaviour::LongProxyVersionMatchesNothing);
    vec![Cel::patch(
        if longer { Severity::Error } else { Severity::Warning },
        r"size(bytes(@version)) > 1024",
        "proxyVersion is longer than 1024 bytes",
    )]
}
