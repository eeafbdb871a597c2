//! EF306: a filter after the terminal filter of its chain: Envoy rejects the listener.

use crate::declare_rule;
use crate::lint::facts::ends::HTTP_END;
use crate::lint::seen::{Behind, Telling, tell_behind_terminal};
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::ApplyTo;
use crate::source::escape::one_line;
use std::collections::BTreeSet;

declare_rule! {
    /// A filter after the terminal filter of its chain: Envoy rejects the listener.
    ///
    /// # What it finds
    /// A filter that comes, after all patches, after the terminal filter of its list: an HTTP filter after the router,
    /// a network filter after tcp_proxy or the HTTP connection manager.
    ///
    /// # Why it matters
    /// Envoy rejects the whole listener ("terminal filter must be the last filter"): the proxy keeps the old one,
    /// or has none. `filterClass` does not help: istiod does not read it.
    ///
    /// # How to fix
    /// INSERT_BEFORE the terminal filter, with a match that names it.
    ///
    /// # References
    /// Envoy `FilterChainUtility` and `HttpConnectionManagerConfig` (releases 1.30 to 1.38): a terminal filter that
    /// is not the last is an error.
    "EF306" "filter-after-terminal" Operation Error => check,
    explains: &["EF308", "EF310"]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let message =
        |behind: &Behind| format!("`{}` comes after `{}`, which must be the last filter", behind.filter, behind.other);
    tell_behind_terminal(
        rule,
        cx,
        &Telling { both: false, message, label: "ends up after the terminal filter", help },
        out,
    );
}

fn help(apply_to: ApplyTo, terminal: &BTreeSet<String>) -> String {
    let router = terminal.iter().any(|name| name == HTTP_END);
    let named = |name: &String| format!("`filter: {{name: {}}}`", one_line(name));
    let (start, names) = if apply_to == ApplyTo::HttpFilter || router {
        let other = if apply_to == ApplyTo::HttpFilter { "" } else { "applyTo: HTTP_FILTER\n" };
        (other, format!("`subFilter: {{name: {HTTP_END}}}`"))
    } else {
        ("", terminal.iter().map(named).collect::<Vec<_>>().join(", "))
    };
    let how = if terminal.len() > 1 {
        "in a patch for each terminal filter, which the match names"
    } else {
        "with a match that names the terminal filter"
    };
    format!("{start}operation: INSERT_BEFORE\n{how} ({names})")
}
