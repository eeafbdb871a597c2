//! EF307: two terminal filters in one list: Envoy rejects the listener.

use crate::declare_rule;
use crate::lint::seen::{Behind, Telling, tell_behind_terminal};
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// Two terminal filters in one list: Envoy rejects the listener.
    ///
    /// # What it finds
    /// A terminal filter (HTTP connection manager, tcp_proxy, redis_proxy, router…) that a patch adds to a list that
    /// has another one after all patches.
    ///
    /// # Why it matters
    /// Only the last filter of a list may be terminal. Envoy rejects the whole listener.
    ///
    /// # How to fix
    /// REPLACE the generated filter instead of inserting a second one, or REMOVE it in another patch.
    ///
    /// # References
    /// Envoy `FilterChainUtility` and `HttpConnectionManagerConfig` (releases 1.30 to 1.38): a terminal filter that
    /// is not the last is an error.
    "EF307" "two-terminal-filters" Operation Error => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let message = |behind: &Behind| format!("`{}` and `{}` are both terminal filters", behind.filter, behind.other);
    tell_behind_terminal(
        rule,
        cx,
        &Telling { both: true, message, label: "a second terminal filter", help: |_, _| HELP.to_owned() },
        out,
    );
}

const HELP: &str = "REPLACE the generated filter, or REMOVE it in another patch";
