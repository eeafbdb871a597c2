//! EF515: a merged Duration that leaks to other proxies on releases without the fix.

use crate::declare_rule;
use crate::engine::compat::Behaviour;
use crate::engine::program::Status;
use crate::lint::value::Object;
use crate::lint::{Context, Findings, RuleInfo};
use crate::proto::schema::{Cardinality, Field, Kind, WellKnown};
use crate::source::Step;

declare_rule! {
    /// A merged Duration that leaks into the settings of other proxies (before 1.23.4 and 1.24.1).
    ///
    /// # What it finds
    /// A MERGE whose value contains a duration, for a control plane from 1.22 to 1.23.3 or 1.24.0.
    ///
    /// # Why it matters
    /// These releases merge a Duration into the message that istiod took from the mesh settings: the timeouts of all
    /// listeners and clusters of all proxies change too, until istiod restarts.
    ///
    /// # How to fix
    /// Upgrade to 1.23.4, 1.24.1 or later.
    ///
    /// # References
    /// istio/istio#53800, istio/istio#53801.
    "EF515" "duration-leak" Scope Warning => check,
    by_release: true
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    if cx.program.compat.has(Behaviour::DurationStaysLocal) {
        return;
    }
    for value in cx.values().iter().filter(|value| value.merges()) {
        if value.view.built.is_none_or(|built| built.status != Status::Ready) {
            continue;
        }
        // Items of lists are new and not merged into anything.
        let merged = |object: &&Object<'_>| {
            !object.in_typed_struct && object.route.iter().all(|step| matches!(step, Step::Key(_)))
        };
        let durations = value.objects.iter().filter(merged).flat_map(|object| {
            object.members.iter().filter(|member| member.istiod.is_some_and(is_duration)).map(move |it| (object, it))
        });
        let Some((object, member)) = durations.into_iter().next() else { continue };
        let mut path = object.route.clone();
        path.push(Step::from(member.entry.key.as_str()));
        let path = path.iter().map(ToString::to_string).collect::<String>();
        let path = path.trim_start_matches('.');
        out.push(
            value
                .finding(
                    rule,
                    member.entry.value.span,
                    format!("Istio {} lets the merged duration `{path}` leak to other proxies", cx.release),
                )
                .label("merged in place")
                .note("fixed in 1.23.4, 1.24.1 and 1.25")
                .help("upgrade istiod"),
        );
    }
}

fn is_duration(field: Field) -> bool {
    let duration = |kind| matches!(kind, Kind::Message(message) if message.well_known() == Some(WellKnown::Duration));
    !matches!(field.cardinality(), Cardinality::Repeated | Cardinality::Map) && duration(field.kind())
}
