//! EF306: a filter behind the one that ends its chain: Envoy refuses the listener.

use crate::declare_rule;
use crate::lint::seen::{Seen, behind_terminal};
use crate::lint::{Context, Finding, Findings, Rule};
use std::collections::BTreeMap;

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
    let mut found: BTreeMap<(usize, usize), (Vec<String>, String)> = BTreeMap::new();
    for run in &cx.runs {
        behind_terminal(run, &mut |behind| {
            if !behind.both {
                let planned = run.plan.get(behind.id);
                let key = (planned.filter, planned.built.patch.index);
                let message =
                    || format!("`{}` stands behind `{}`, which has to be the last filter", behind.filter, behind.other);
                found.entry(key).or_insert_with(|| (Vec::new(), message())).0.push(run.label.clone());
            }
        });
    }
    for view in cx.patches() {
        let Some((labels, message)) = found.get(&(view.filter_index, view.patch.index)) else { continue };
        let Some(seen) = cx.seen_if(&view, |run| labels.contains(&run.run.label)) else { continue };
        let finding = Finding::new(rule, view.value_span(&["patch", "operation"]), message.clone())
            .label("ends up behind the terminal filter")
            .note("Envoy refuses a listener with a filter behind a terminal one, all of it")
            .help(HELP)
            .of(view.filter, Some(view.patch.index));
        out.push(Seen::tell(&seen, finding));
    }
}

const HELP: &str = "operation: INSERT_BEFORE\nwith a match that names the terminal filter (`subFilter: {name: envoy.filters.http.router}` for HTTP filters)";
