//! EF351: a script that reads a response body which the compressor has compressed before.

use crate::declare_rule;
use crate::lint::context::{PatchRun, ProxyRun};
use crate::lint::managers;
use crate::lint::per_run::PerRun;
use crate::lint::seen::{Seen, config_type};
use crate::lint::{Context, Findings, Knowledge, RuleInfo};
use crate::model::envoy_filter::ApplyTo;
use crate::proto::json::{Style, write};
use crate::proto::tree::{Origin, Tree};
use std::collections::HashMap;

declare_rule! {
    /// A Lua script that reads or replaces response bodies after the compressor.
    ///
    /// # What it finds
    /// With config dumps: an inserted Lua filter whose script uses `getBytes` or `setBytes` of a response, if a compressor for
    /// responses comes after it in every list. It is silent about scripts that name `accept-encoding` or `content-encoding`.
    ///
    /// # Why it matters
    /// Responses pass the filters in reverse order. The script sees compressed bytes and finds no text in them; a body that it
    /// sets is sent as if it were compressed, and clients cannot read it.
    ///
    /// # How to fix
    /// Insert the compressor before the Lua filter.
    ///
    /// # References
    /// Envoy, "HTTP filters": encoders run in reverse order; the bodies that Envoy 1.38.2 gives to a script in both orders.
    "EF351" "body-compressed-first" Operation Warning => check,
    needs: &[Dump]
}

/// For each filter of a patch: whether a compressor comes after it, list by list.
type Behind = HashMap<Origin, Vec<bool>>;

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let known: PerRun<Behind> = PerRun::new();
    for script in cx.loadable_scripts() {
        let view = &script.value.view;
        let Some(bytes) = script.uses.answer_bytes.first() else { continue };
        let encoding = |text: &&str| text.to_ascii_lowercase().ends_with("-encoding");
        if view.patch.apply_to != ApplyTo::HttpFilter || script.chunk.strings.iter().any(encoding) {
            continue;
        }
        let compressed = |run: &PatchRun<'_, '_>| {
            let places = known.of(run.run, behind).get(&run.id.origin()).cloned().unwrap_or_default();
            run.run.knowledge == Knowledge::Dump && !places.is_empty() && !places.contains(&false)
        };
        let Some(seen) = cx.seen_if(view, compressed).filter(Seen::certain) else { continue };
        let finding = script
            .finding(rule, bytes, "this body may be compressed: the compressor sees responses before this script")
            .label("compressed bytes")
            .note("responses pass the filters in reverse order")
            .help("insert the compressor before this filter");
        out.push(seen.tell(finding));
    }
}

fn behind(run: &ProxyRun<'_>) -> Behind {
    let mut found = Behind::new();
    for manager in managers::changed(run) {
        let last = manager.filters.iter().rposition(compresses);
        for (at, filter) in manager.filters.iter().enumerate() {
            found.entry(filter.origin).or_default().push(last.is_some_and(|last| at < last));
        }
    }
    found
}

/// Whether a filter compresses responses, without a switch that could turn it off.
fn compresses(filter: &Tree<'_>) -> bool {
    config_type(filter).ends_with(".compressor.v3.Compressor") && !write(filter, Style::Compact).contains("\"enabled\"")
}
