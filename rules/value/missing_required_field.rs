//! EF119: a field that Envoy requires is missing.

use crate::declare_rule;
use crate::engine::trace::{Effect, Place};
use crate::lint::built_in;
use crate::lint::constraint::{Absent, absent};
use crate::lint::context::PatchRun;
use crate::lint::seen::exact;
use crate::lint::value::since::only_some;
use crate::lint::value::{Object, PatchValue, Slot};
use crate::lint::{Confidence, Context, Findings, Knowledge, RuleInfo, foreign};
use crate::model::envoy_filter::{ApplyTo, Operation};
use crate::proto::merge::{Change, ChangeKind};
use crate::proto::schema::{Kind, Message, Schema};
use crate::proto::tree::Tree;
use crate::source::{Step, alike};
use std::cell::LazyCell;
use std::collections::HashMap;

declare_rule! {
    /// A field that Envoy requires is missing.
    ///
    /// # What it finds
    /// An object given in full (added, inserted or replaced, an item of a list or a map) without a field that Envoy's
    /// validation requires. A field that a MERGE omits counts if the result of the merge does not have it either.
    ///
    /// # Why it matters
    /// istiod does not check it: it sends the object, and the proxy rejects the listener, route or cluster.
    ///
    /// # How to fix
    /// Add the field.
    ///
    /// # References
    /// `validate.rules` in the protos of the proxies' Envoy (protoc-gen-validate).
    "EF119" "missing-required-field" Value Error => check,
    by_release: true
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    // Cached, because many patches may write the same place, and many sample proxies may share one result.
    // By the place's address, which no other effect of any run has: hashing places was two thirds of this rule's time.
    let mut known: HashMap<String, HashMap<usize, bool>> = HashMap::new();
    for value in cx.proxy_values() {
        let removes = value.view.patch.body.as_ref().is_some_and(|body| body.operation == Operation::Remove);
        if removes {
            continue;
        }
        let merged = merged_into(cx, value);
        let not_built_in = LazyCell::new(|| built_in::missing(cx, value));
        for (at, object) in value.objects.iter().enumerate().filter(|(_, object)| !object.unchecked) {
            let Some(message) = object.envoy.filter(|_| !fetched_by_agent(value, object)) else { continue };
            for missing in absent(object, message) {
                // Another rule reports an extension that the proxy does not have, with what its configuration needs.
                // It does not say it of a merge, which matters to the proxies that have the extension.
                let is_read_by_none = || {
                    let outer = built_in::around(&not_built_in, at);
                    outer.is_some_and(|outer| object.whole || !outer.absence.some_have_it())
                };
                if of_other_rules(value, object, &missing) || is_read_by_none() {
                    continue;
                }
                // The object may already have what a MERGE omits: the result decides.
                let what = match &missing {
                    Absent::Field(field, _) => field.name(),
                    Absent::OneOf(name, _) => name,
                };
                let there = !object.whole && !merged.is_empty() && {
                    let asked = format!("{}.{what}.{:?}", message.full_name(), object.route);
                    let known = known.entry(asked).or_default();
                    merged.iter().any(|(run, place)| {
                        let key = std::ptr::from_ref::<Place>(place).addr();
                        *known.entry(key).or_insert_with(|| lacks(run, place, object, message, &missing))
                    })
                };
                if !object.whole && !there {
                    continue;
                }
                // Another rule reports a merge that removed the other member of a oneof.
                if !object.whole && merged.iter().any(|(run, place)| replaced(run, place)) {
                    continue;
                }
                // Another rule reports an incomplete filter chain that a LISTENER MERGE adds: it was intended to be
                // merged.
                if value.is_in_added_chain(object) {
                    continue;
                }
                let message_type = message;
                let own = object.text("name").filter(|name| !name.is_empty());
                let what = own.map_or_else(
                    || format!("`{}`", object.short_name()),
                    |own| format!("{} `{own}`", object.short_name()),
                );
                let owner = if own.is_some() { None } else { named(value, object) };
                let owner = owner.map(|owner| format!(", in {owner}")).unwrap_or_default();
                let (needs, help) = needed(&missing);
                let help = if is_added_host(value, object) { format!("{help}; {CHANGE_EXISTING}") } else { help };
                let message = format!("{what} needs {needs}{owner}");
                // A field that is written with its default is not on the wire.
                let written = match &missing {
                    Absent::Field(field, _) => {
                        object.member(field.name()).filter(|member| !member.entry.value.is_null())
                    }
                    Absent::OneOf(..) => None,
                };
                let (span, label, help) = match (written, &missing) {
                    (Some(member), Absent::Field(field, must_be)) if must_be != "set" => (
                        member.entry.key_span,
                        "the default counts as missing",
                        format!("write a value for `{}` that is {must_be}", field.name()),
                    ),
                    _ => (object.span, "a required field is missing here", help),
                };
                let mut finding = value
                    .finding(rule, span, message)
                    .label(label)
                    .rejected("istiod sends it unchecked, and the proxy rejects the resource")
                    .notes(
                        only_some(|schema| required_by(schema, object, &missing))
                            .map(|envoys| format!("it is required {envoys}")),
                    )
                    .help(help);
                let lacking = |(run, place): &&(PatchRun<'_, '_>, &Place)| {
                    !object.whole && lacks(run, place, object, message_type, &missing)
                };
                if let Some((run, place)) = merged.iter().find(lacking) {
                    finding = finding.note(format!("the result of the merge does not have it either: {place}"));
                    if run.run.knowledge == Knowledge::Dump {
                        finding = finding.workloads([run.run.label().to_owned()]);
                    } else {
                        finding = finding.confidence(Confidence::Likely);
                    }
                }
                out.push(finding);
            }
        }
    }
}

/// What a configuration needs: the first field that this rule would report of what is given in full.
pub(crate) fn needed_in(value: &PatchValue<'_>, slot: &Slot<'_>) -> Option<String> {
    let inside = value.objects[slot.objects.clone()].iter();
    inside.filter(|object| object.whole && !object.unchecked).find_map(|object| {
        let all = absent(object, object.envoy?);
        let missing = all.iter().find(|missing| !of_other_rules(value, object, missing))?;
        Some(format!("`{}` needs {}", object.short_name(), needed(missing).0))
    })
}

/// Whether the Envoy with these types requires it too; `None` if it does not know the message.
fn required_by(schema: Schema, object: &Object<'_>, missing: &Absent) -> Option<bool> {
    let same = |other: &Absent| match (missing, other) {
        (Absent::Field(one, _), Absent::Field(other, _)) => one.name() == other.name(),
        (Absent::OneOf(one, _), Absent::OneOf(other, _)) => one == other,
        _ => false,
    };
    Some(absent(object, schema.message(object.full_name())?).iter().any(same))
}

/// Whether another rule says what is wrong.
fn of_other_rules(value: &PatchValue<'_>, object: &Object<'_>, missing: &Absent) -> bool {
    // Another rule reports an extension without its configuration.
    let typed = matches!(missing, Absent::Field(field, _) if field.name() == "typed_config");
    if typed && super::missing_typed_config::speaks_of(object.full_name()) {
        return true;
    }
    // Another rule reports code without a checksum.
    if matches!(missing, Absent::Field(field, _) if field.name() == "sha256")
        && object.route.ends_with(&[Step::from("code"), Step::from("remote")])
    {
        return true;
    }
    // A value of the wrong type is present; another rule reports it.
    let wrong = |name: &str| {
        let given = object.member(name).map(|member| member.entry.value.span);
        given.is_some_and(|given| value.mistyped().any(|node| node.span == given))
    };
    if matches!(missing, Absent::Field(field, _) if wrong(field.name())) {
        return true;
    }
    // Another rule reports the misspelled field, or the value that belongs elsewhere.
    explained(value, object, missing)
}

/// What to do if a virtual host of the route configuration is meant.
pub(crate) const CHANGE_EXISTING: &str = "MERGE adds a virtual host: to change an existing one, use applyTo: VIRTUAL_HOST with `routeConfiguration.vhost.name`";

/// Whether a merge into a route configuration adds this virtual host.
fn is_added_host(value: &PatchValue<'_>, object: &Object<'_>) -> bool {
    value.view.patch.apply_to == ApplyTo::RouteConfiguration
        && object.full_name() == "envoy.config.route.v3.VirtualHost"
}

/// What a message needs, and what to write.
fn needed(missing: &Absent) -> (String, String) {
    match missing {
        Absent::Field(field, must_be) if must_be == "set" => {
            (format!("`{}`", field.name()), format!("add `{}`", field.name()))
        }
        Absent::Field(field, must_be) => {
            (format!("`{}`: it must be {must_be}", field.name()), format!("add `{}`", field.name()))
        }
        Absent::OneOf(_, members) if members.len() == 1 => {
            (format!("`{}`", members[0]), format!("add `{}`", members[0]))
        }
        Absent::OneOf(name, members) => {
            let names = members.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let article = if name.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
            (format!("{article} `{name}`"), format!("set one of {names}"))
        }
    }
}

/// Whether an unknown key explains the missing field.
fn explained(value: &PatchValue<'_>, object: &Object<'_>, missing: &Absent) -> bool {
    if foreign::filter(object).is_some() {
        return true;
    }
    let unknown = |object: &Object<'_>, is: &dyn Fn(&str) -> bool| {
        object.members.iter().any(|member| member.field().is_none() && is(&member.entry.key))
    };
    if let Absent::Field(field, _) = missing {
        // What belongs into the missing field is written beside it, or the field itself one level too deep.
        let inside = |key: &str| matches!(field.kind(), Kind::Message(of) if of.field(key).is_some());
        let at = value.objects.iter().position(|other| std::ptr::eq(other.node, object.node));
        let below = |other: &Object<'_>| other.parent.is_some_and(|(parent, _)| Some(parent) == at);
        let too_deep = |other: &Object<'_>| below(other) && unknown(other, &|key| field.name() == key);
        if unknown(object, &inside) || value.objects.iter().any(too_deep) {
            return true;
        }
    }
    let names: Vec<&str> = match missing {
        Absent::Field(field, _) => vec![field.name()],
        Absent::OneOf(_, members) => members.clone(),
    };
    let unknown = object.members.iter().filter(|member| member.field().is_none());
    unknown.map(|member| member.entry.key.as_str()).any(|key| alike::keyword(key, names.iter().copied()).is_some())
}

/// The nearest object with a name that contains the incomplete one: `Route second`.
fn named(value: &PatchValue<'_>, object: &Object<'_>) -> Option<String> {
    let mut at = Some(object);
    while let Some(one) = at {
        if let Some(name) = one.text("name").filter(|name| !name.is_empty()) {
            return Some(format!("{} `{name}`", one.short_name()));
        }
        at = one.parent.and_then(|(parent, _)| value.objects.get(parent));
    }
    None
}

/// The objects that a MERGE changed.
fn merged_into<'c, 'a>(cx: &'c Context<'a>, value: &PatchValue<'a>) -> Vec<(PatchRun<'c, 'a>, &'c Place)> {
    if !value.merges() {
        return Vec::new();
    }
    let runs = cx.on_proxies(value.view.filter_index, value.view.patch.index).filter(|run| exact(run.run, &value.view));
    let merged = |run: PatchRun<'c, 'a>| {
        let effects = run.trace.effects.iter();
        effects.filter(|(_, effect)| matches!(effect, Effect::Merged(_))).map(move |(place, _)| (run, place))
    };
    runs.flat_map(merged).collect()
}

/// Whether a merge cleared a redirect or direct response because it expected a forwarding route: this one, or an earlier
/// one of which the route is left.
fn replaced(run: &PatchRun<'_, '_>, place: &Place) -> bool {
    let cleared = |change: &Change| {
        change.kind == ChangeKind::Cleared && matches!(change.path.as_str(), "redirect" | "direct_response")
    };
    let patches = run.run.plan.ids().take_while(|&id| id <= run.id);
    patches.into_iter().any(|id| {
        let effects = &run.run.judged.trace.patches[id.index()].effects;
        effects.iter().any(|(at, effect)| at == place && matches!(effect, Effect::Merged(it) if it.iter().any(cleared)))
    })
}

/// Whether the result of a merge still lacks the field.
fn lacks(run: &PatchRun<'_, '_>, place: &Place, object: &Object<'_>, message: Message, missing: &Absent) -> bool {
    let keys = object.route.iter().map(|step| match step {
        Step::Key(key) => Some(key.as_str()),
        Step::Item(_) => None,
    });
    let Some(keys) = keys.collect::<Option<Vec<&str>>>() else { return false };
    let lacks = |tree: &Tree<'_>| {
        // The object must be the message that the value expects; otherwise another rule reports it.
        if !tree.entries().iter().any(|(_, part)| part.origin == run.id.origin()) {
            return false;
        }
        match missing {
            Absent::Field(field, _) => tree.get(field.name()).is_none(),
            Absent::OneOf(name, _) => {
                let at = message.oneofs().position(|oneof| oneof.name() == *name).and_then(|at| u32::try_from(at).ok());
                let mut members = message.fields().filter(|field| field.oneof().is_some() && field.oneof() == at);
                members.all(|field| tree.get(field.name()).is_none())
            }
        }
    };
    run.run.with_below(place, &keys, |tree| Some(lacks(tree))).unwrap_or(false)
}

/// Whether the agent next to the proxy reads this rather than the proxy: it fetches the remote code of a Wasm extension
/// configuration and gives the proxy a local file (`pkg/wasm/convert.go`, releases 1.22 to 1.31).
fn fetched_by_agent(value: &PatchValue<'_>, object: &Object<'_>) -> bool {
    let wasm = |object: &Object<'_>| object.full_name().ends_with(".wasm.v3.Wasm");
    value.view.patch.apply_to == ApplyTo::ExtensionConfig
        && value.objects.iter().any(|other| wasm(other) && object.route.starts_with(&other.route))
        && object.route.windows(2).any(|steps| steps == [Step::from("code"), Step::from("remote")])
}
