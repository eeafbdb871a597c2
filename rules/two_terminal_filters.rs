//! EF307: two filters of one list that both end it: Envoy refuses the listener.

use crate::declare_rule;
use crate::lint::seen::{Seen, behind_terminal};
use crate::lint::{Context, Finding, Findings, Rule};
use std::collections::BTreeMap;

declare_rule! {
    /// Two filters of one list that both end it: Envoy refuses the listener.
    ///
    /// # What it finds
    /// A terminal filter (HTTP connection manager, tcp_proxy, redis_proxy, router…) that a patch puts into a list
    /// which has another one when all patches are done.
    ///
    /// # Why it matters
    /// Only the last filter of a list may be terminal. Envoy refuses the whole listener.
    ///
    /// # How to fix
    /// REPLACE the generated filter instead of inserting a second one, or REMOVE it in another patch.
    ///
    /// # References
    /// Envoy `FilterChainUtility` and `HttpConnectionManagerConfig` (releases 1.30 to 1.38): a terminal filter that
    /// is not the last is an error.
    "EF307" "two-terminal-filters" Error => check
}

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
    let mut found: BTreeMap<(usize, usize), (Vec<String>, String)> = BTreeMap::new();
    for run in &cx.runs {
        behind_terminal(run, &mut |behind| {
            if behind.both {
                let planned = run.plan.get(behind.id);
                let key = (planned.filter, planned.built.patch.index);
                let message = || format!("`{}` and `{}` both end the list", behind.filter, behind.other);
                found.entry(key).or_insert_with(|| (Vec::new(), message())).0.push(run.label.clone());
            }
        });
    }
    for view in cx.patches() {
        let Some((labels, message)) = found.get(&(view.filter_index, view.patch.index)) else { continue };
        let Some(seen) = cx.seen_if(&view, |run| labels.contains(&run.run.label)) else { continue };
        let finding = Finding::new(rule, view.value_span(&["patch", "operation"]), message.clone())
            .label("a second terminal filter")
            .note("Envoy refuses a listener with a filter behind a terminal one, all of it")
            .help(HELP)
            .of(view.filter, Some(view.patch.index));
        out.push(Seen::tell(&seen, finding));
    }
}

const HELP: &str = "REPLACE the generated filter, or REMOVE it in another patch";
