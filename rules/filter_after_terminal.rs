//! EF306: a filter behind the one that ends its chain: Envoy refuses the listener.

use crate::declare_rule;
use crate::lint::seen::{Behind, Telling, tell_behind_terminal};
use crate::lint::{Context, Findings, Rule};

declare_rule! {
    /// A filter behind the one that ends its chain: Envoy refuses the listener.
    ///
    /// # What it finds
    /// A filter that stands, when all patches are done, behind the terminal filter of its list: an HTTP filter
    /// behind the router, a network filter behind tcp_proxy or the HTTP connection manager.
    ///
    /// # Why it matters
    /// Envoy refuses the whole listener ("terminal filter must be the last filter"): the proxy keeps the old one,
    /// or has none. `filterClass` does not help: istiod does not read it.
    ///
    /// # How to fix
    /// INSERT_BEFORE the terminal filter, with a match that names it.
    ///
    /// # References
    /// Envoy `FilterChainUtility` and `HttpConnectionManagerConfig` (releases 1.30 to 1.38): a terminal filter that
    /// is not the last is an error.
    "EF306" "filter-after-terminal" Error => check
}

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
    let message = |behind: &Behind<'_>| {
        format!("`{}` stands behind `{}`, which has to be the last filter", behind.filter, behind.other)
    };
    tell_behind_terminal(
        rule,
        cx,
        &Telling { both: false, message, label: "ends up behind the terminal filter", help: HELP },
        out,
    );
}

const HELP: &str = "operation: INSERT_BEFORE\nwith a match that names the terminal filter (`subFilter: {name: envoy.filters.http.router}` for HTTP filters)";
