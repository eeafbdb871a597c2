//! EF317: an EXTENSION_CONFIG that no filter of the proxies requests.

use crate::declare_rule;
use crate::engine::trace::Effect;
use crate::engine::trace::NoOp;
use crate::lint::seen::discovered;
use crate::lint::{Context, Findings, RuleInfo};
use crate::rules::operation::extension_config_missing::misnamed;
use crate::source::Severity;
use std::cell::LazyCell;
use std::collections::HashSet;

declare_rule! {
    /// An EXTENSION_CONFIG that no filter of the proxies requests.
    ///
    /// # What it finds
    /// An EXTENSION_CONFIG patch whose name no `config_discovery` of the proxies that it attaches to refers to,
    /// after all other patches.
    ///
    /// # Why it matters
    /// istiod sends extension configurations only to proxies that request them by name: the patch changes nothing.
    ///
    /// # How to fix
    /// Insert a filter of exactly that name with `config_discovery`, or correct the name so that it equals the `name`
    /// of the filter.
    ///
    /// # References
    /// istiod `extension_configuration_builder.go`, releases 1.22 to 1.31; recorded.
    "EF317" "extension-config-not-used" Operation Error => check,
    later: true
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let asked = LazyCell::new(|| discovered(cx).collect::<HashSet<String>>());
    let misnamed = LazyCell::new(|| misnamed(cx));
    for view in cx.patches() {
        let unasked = |effect: &Effect| matches!(effect, Effect::NoOp(NoOp::ExtensionNotAsked));
        if cx.on_proxies(view.filter_index, view.patch.index).any(|run| run.changes()) {
            continue;
        }
        // Another rule reports that the filter that is meant requests another name.
        if misnamed.get(&view.filter_index).is_some_and(|pair| pair.config == view.patch.index) {
            continue;
        }
        let name = view.built.and_then(|built| built.value.as_ref()).map_or("", |value| value.name());
        let Some(seen) = cx.seen(&view, |run| run.has(unasked)) else { continue };
        // Offline, a filter that attaches elsewhere may be intended for the same workload.
        if !seen.certain() && asked.contains(name) {
            continue;
        }
        let finding = view
            .finding(
                rule,
                view.value_path_span("name"),
                format!("no filter requests the extension configuration `{name}`"),
            )
            .label("no `config_discovery` of that name")
            .help(format!("insert a filter with `name: {name}` and `config_discovery`, or use the name that it has"));
        // Offline, an EnvoyFilter outside the input may request it.
        let finding = if seen.certain() { finding } else { finding.severity(Severity::Warning) };
        let finding = seen.tell(finding);
        out.push(finding.ineffective());
    }
}
