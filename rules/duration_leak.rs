//! EF515: a merged Duration that leaks to other proxies on releases without the fix.

use crate::declare_rule;
use crate::engine::compat::Behaviour;
use crate::engine::program::Status;
use crate::lint::{Context, Finding, Findings, Rule};
use crate::proto::tree::{Tree, Value};
use crate::source::Step;

declare_rule! {
    /// A merged Duration that leaks into the settings of other proxies (before 1.23.4 and 1.24.1).
    ///
    /// # What it finds
    /// A MERGE whose value holds a duration, for a control plane from 1.22 to 1.23.3 or 1.24.0.
    ///
    /// # Why it matters
    /// These releases merge a Duration into the message that istiod took from the mesh settings: timeouts of all
    /// listeners and clusters of all proxies change with it, and stay until istiod restarts.
    ///
    /// # How to fix
    /// Upgrade to 1.23.4, 1.24.1 or later.
    ///
    /// # References
    /// istio/istio#53800, istio/istio#53801.
    "EF515" "duration-leak" Warning => check
}

fn check(rule: &'static Rule, cx: &Context<'_>, out: &mut Findings) {
    if cx.program.compat.has(Behaviour::DurationStaysLocal) {
        return;
    }
    for view in cx.patches() {
        let Some(built) = view.built.filter(|built| built.status == Status::Ready && built.operation.is_merge()) else {
            continue;
        };
        let mut route = Vec::new();
        if !built.value.as_ref().is_some_and(|value| duration(value, &mut route)) {
            continue;
        }
        let path = route.iter().map(ToString::to_string).collect::<String>();
        let path = path.trim_start_matches('.');
        out.push(
            Finding::new(
                rule,
                view.value_place(&route),
                format!("Istio {} lets the merged duration `{path}` leak to other proxies", cx.release),
            )
            .of(view.filter, Some(view.patch.index))
            .label("merged in place")
            .note("fixed in 1.23.4, 1.24.1 and 1.25")
            .help("upgrade istiod"),
        );
    }
}

/// Goes to the first field that holds a duration; `false`, and the route as it was, where there is none.
fn duration(value: &Tree<'_>, route: &mut Vec<Step>) -> bool {
    value.entries().iter().any(|(key, field)| {
        route.push(Step::from(&**key));
        let found = match &field.value {
            Value::String(text) => is_duration(text) && is_timing(key),
            Value::Map(_) => route.len() <= 8 && duration(field, route),
            _ => false,
        };
        if !found {
            route.pop();
        }
        found
    })
}

fn is_duration(text: &str) -> bool {
    text.strip_suffix('s')
        .is_some_and(|number| !number.is_empty() && number.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

/// Envoy calls durations timeouts, intervals, durations or ages.
fn is_timing(key: &str) -> bool {
    ["timeout", "interval", "duration", "age", "time", "rate", "delay"].iter().any(|word| key.ends_with(word))
}
