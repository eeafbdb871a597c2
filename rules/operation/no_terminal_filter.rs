//! EF342: a list of filters that a patch leaves without a terminal filter: Envoy rejects the listener, or answers no request.

use crate::declare_rule;
use crate::lint::ends::open_list;
use crate::lint::{Context, Findings, RuleInfo};

declare_rule! {
    /// A list of filters without a terminal filter at its end: Envoy rejects the listener, or answers no request.
    ///
    /// # What it finds
    /// A patch that removes or replaces `envoy.filters.http.router`, `tcp_proxy` or the HTTP connection manager, or that brings a
    /// connection manager without a router, or a chain or listener with such a list, so that the last filter of the list is not a
    /// terminal one after all patches, or is `disabled`. And a connection manager without any HTTP filter.
    ///
    /// # Why it matters
    /// Envoy rejects the whole listener ("non-terminal filter … is the last filter"): the proxy keeps the old one, or has none. It
    /// accepts a connection manager without HTTP filters, and then answers no request.
    ///
    /// # How to fix
    /// Keep the terminal filter: insert before it, or REPLACE it with another terminal filter.
    ///
    /// # References
    /// Envoy `validateTerminalFilters`; seen in Envoy 1.36.4 and 1.39.3; the connection manager also in 1.40.0.
    "EF342" "no-terminal-filter" Operation Error => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let Some(seen) = cx.seen_if(&view, |run| open_list(run).is_some()) else { continue };
        let Some(open) = seen.runs.first().and_then(open_list) else { continue };
        if open.last.is_empty() {
            let finding = view
                .finding(rule, view.value_span(&["patch", "operation"]), "this connection manager has no HTTP filters")
                .label("nothing answers requests")
                .note("Envoy accepts it and answers no request: clients wait until they time out")
                .help("end its `http_filters` with `envoy.filters.http.router`");
            out.push(seen.tell(finding));
            continue;
        }
        let (kind, help) = if open.disabled {
            ("", "remove `disabled`")
        } else if open.http {
            ("HTTP", "keep `envoy.filters.http.router` as the last HTTP filter: INSERT_BEFORE it")
        } else {
            ("network", "REPLACE the terminal filter with another one, or INSERT_BEFORE it")
        };
        let message = if open.disabled {
            format!("the terminal filter `{}` is disabled", open.last)
        } else {
            format!("no terminal {kind} filter is left: the last one is `{}`", open.last)
        };
        let finding = view
            .finding(rule, view.value_span(&["patch", "operation"]), message)
            .label("nothing ends the list")
            .rejected("Envoy rejects the whole listener when the last filter of a list is not a terminal one")
            .help(help);
        out.push(seen.tell(finding));
    }
}
