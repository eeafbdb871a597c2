//! EF312: a MERGE of one type into another: istiod panics, and other patches are lost.

use crate::declare_rule;
use crate::engine::compat::Behaviour;
use crate::engine::program::{BuiltPatch, Status, names_filter};
use crate::engine::trace::Effect;
use crate::engine::trace::Panic;
use crate::lint::context::{PatchRun, PatchView};
use crate::lint::document;
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::ApplyTo;
use crate::proto::tree::type_name;

declare_rule! {
    /// A MERGE of one type into another: istiod panics, and other patches are lost.
    ///
    /// # What it finds
    /// A MERGE of HTTP_FILTER, NETWORK_FILTER, LISTENER_FILTER or of a transport socket whose typed_config has a
    /// different type than the matched object; a TypedStruct is also a different type.
    ///
    /// # Why it matters
    /// Since Istio 1.27, istiod panics: it stops processing the listeners, and later patches, including those of other
    /// filters, are not applied to the remaining ones. Up to 1.26 the bytes were read as the other type, which gives
    /// nonsense.
    ///
    /// # How to fix
    /// Name the intended filter in the match (`subFilter`, `filter`), and write its type.
    ///
    /// # References
    /// istiod `pkg/proto/merge`, pull request 56489; recorded.
    "EF312" "merge-of-another-type" Operation Error => check,
    explains: &["EF120", "EF124", "EF313"]
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let dropped = document::Dropped::of(cx);
    for view in cx.patches() {
        let Some(built) = view.built.filter(|built| built.operation.is_merge() && built.status == Status::Ready) else {
            continue;
        };
        // Another rule reports a condition that the API server drops: the intended filter may be named in it.
        if dropped.take_condition(&view) {
            continue;
        }
        let socket = built.value.as_ref().is_some_and(|value| value.get("transport_socket").is_some());
        let path = if socket { "transport_socket.typed_config" } else { "typed_config" };
        let span = view.value_path_span(&format!("{path}.@type"));
        let Some(seen) = cx.seen_if(&view, |run| panicked(run).is_some()) else {
            if !cx.program.compat.has(Behaviour::TypeMismatchPanics) {
                let Some(seen) = cx.seen_if(&view, |run| reread(run).is_some()) else { continue };
                let Some((existing, written)) = seen.runs.first().and_then(reread) else { continue };
                let finding = view
                    .finding(rule, span, format!("MERGE of {written} into {existing}"))
                    .label("Istio before 1.27 reads these bytes as the other type")
                    .note("since Istio 1.27 istiod panics here and stops processing the listeners")
                    .help(help(&view, built, &existing));
                let finding = seen.tell(finding).blamed_if(true, "");
                out.push(finding.ineffective());
            }
            continue;
        };
        let Some((existing, written)) = seen.runs.first().and_then(panicked) else { continue };
        let mut finding = view
            .finding(rule, span, format!("MERGE of {} into {} makes istiod panic", short(&written), short(&existing)))
            .label("a different type than the object has")
            .help(help(&view, built, &short(&existing)));
        let mut rest: Vec<String> = Vec::new();
        let mut lost: Vec<String> = Vec::new();
        for run in &seen.runs {
            let aborts = run.run.judged.trace.aborts.iter().filter(|abort| abort.cause == run.id);
            rest.extend(aborts.flat_map(|abort| abort.unprocessed.iter().cloned()));
            let victims = run.run.judged.lost.iter().filter(|(victim, it)| it.cause == run.id && **victim != run.id);
            for (&victim, _) in victims {
                let planned = run.run.plan.get(victim);
                let filter = run.run.plan.filter(victim).full_name();
                lost.push(format!("configPatches[{}] of {filter}", planned.built.patch.index));
            }
        }
        for list in [&mut rest, &mut lost] {
            list.sort();
            list.dedup();
        }
        if !rest.is_empty() {
            finding = finding.note(format!("no longer patched: {}", several(&rest, "listeners")));
        }
        if !lost.is_empty() {
            finding = finding.note(format!("lost with it: {}", several(&lost, "patches")));
        }
        let finding = seen.tell(finding);
        out.push(finding.ineffective());
    }
}

/// What to write: the match may already name the filter.
fn help(view: &PatchView<'_>, built: &BuiltPatch<'_>, existing: &str) -> String {
    let filters = matches!(view.patch.apply_to, ApplyTo::HttpFilter | ApplyTo::NetworkFilter);
    if filters && !names_filter(view.patch.apply_to, &built.object) {
        return "name the filter in the match (`subFilter` or `filter`), and write its type".to_owned();
    }
    let other = if filters { "filter" } else { "object" };
    format!("write the type {existing}, or match the intended {other}")
}

fn panicked(run: &PatchRun<'_, '_>) -> Option<(String, String)> {
    run.trace.effects.iter().find_map(|(_, effect)| match effect {
        Effect::Panicked(Panic::TypeMismatch { target, patch }) => Some((target.clone(), patch.clone())),
        _ => None,
    })
}

/// Types of an object and of the patch that was merged into it, if they differ.
fn reread(run: &PatchRun<'_, '_>) -> Option<(String, String)> {
    let patch = run.planned.built.value.as_ref()?.get("typed_config")?.type_name()?;
    run.trace.effects.iter().find_map(|(place, effect)| {
        if !matches!(effect, Effect::Merged(_)) {
            return None;
        }
        let object = run.run.object(place)?;
        let target = object.get("typed_config")?.type_name()?;
        (target != patch).then(|| (short(&target), short(&patch)))
    })
}

fn short(name: &str) -> String {
    format!("`{}`", type_name(name).rsplit('.').next().unwrap_or(name))
}

fn several(list: &[String], what: &str) -> String {
    const SHOWN: usize = 4;
    if list.len() <= SHOWN {
        return list.join(", ");
    }
    format!("{} and {} more {what}", list[..SHOWN].join(", "), list.len() - SHOWN)
}
