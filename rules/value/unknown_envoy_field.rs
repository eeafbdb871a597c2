//! EF101: a field that the message does not have.

use crate::declare_rule;
use crate::engine::program::Status;
use crate::engine::trace::NoOp;
use crate::envoy;
use crate::lint::value::{Member, Object, PatchValue, since};
use crate::lint::{Context, Edit, Finding, Findings, RuleInfo};
use crate::lint::{foreign, typed_config};
use crate::model::envoy_filter::ApplyTo;
use crate::proto::schema::{Field, Kind, Message, Schema};
use crate::proto::tree::type_name;
use crate::rules::value::{condition_dropped_by_proxy, missing_typed_config};
use crate::source::escape::one_line;
use crate::source::{Node, Severity, alike};
use std::collections::BTreeSet;

declare_rule! {
    /// A field that Envoy's message does not have.
    ///
    /// # What it finds
    /// A key in a patch's value, at any depth, including `Any`s and TypedStructs, that is not a field of its message,
    /// neither in the types of istiod nor in those of the proxies' Envoy.
    ///
    /// # Why it matters
    /// istiod drops the key (the webhook only warns), and Envoy ignores it inside a TypedStruct: the filter is accepted
    /// but does not do what it says.
    ///
    /// # How to fix
    /// Correct the name, or move the field into the message that has it.
    ///
    /// # References
    /// Envoy's API reference, one page per message; istiod reads values with `AllowUnknownFields`, releases 1.22 to 1.31.
    "EF101" "unknown-envoy-field" Value Error => check,
    explains: &["EF329"],
    fixes: true
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for (value, object) in cx.objects() {
        let Some(message) = object.message() else { continue };
        let indented = typed_config::misplaced_type(object);
        let mut moved: BTreeSet<String> = BTreeSet::new();
        // Another rule says what the value is.
        let is_ignored = value.view.built.is_some_and(|built| built.status == Status::NoOp(NoOp::OperationIgnored));
        if is_ignored && foreign::of(object).is_some() {
            continue;
        }
        for member in object.members.iter().filter(|member| member.field().is_none()) {
            let key = member.entry.key.as_str();
            // Other rules explain these better.
            let untyped = key == "config" && message.field("typed_config").is_some();
            if untyped
                || (indented && key != "@type")
                || envoy::field_removed(message.full_name(), key)
                || typed_config::belongs_inside(value, object, key)
                || condition_dropped_by_proxy::drops(object, member)
            {
                continue;
            }
            if key == "typed_config"
                && let Some(foreign) = foreign::filter(object)
            {
                let what = foreign.what(value.view.patch.apply_to);
                let finding = value
                    .finding(rule, member.entry.key_span, what)
                    .label(format!("a {} has no `typed_config`", object.short_name()))
                    .note(format!("istiod reads the value as a {} and drops this key", object.short_name()))
                    .snippet(foreign.instead());
                out.push(finding);
                continue;
            }
            let finding = value
                .finding(rule, member.entry.key_span, format!("`{}` has no field `{key}`", object.short_name()))
                .label("not a field of this message")
                .note(dropped(value, object, key, message));
            // Nothing reads the rest either.
            let finding = if object.is_off {
                finding
                    .severity(Severity::Info)
                    .note("it has no effect here: nothing reads what is switched off or removed")
            } else {
                finding
            };
            let needed = object.whole && !object.is_off && value.envoy_minor.is_some();
            let finding = if needed && missing_typed_config::is_misspelled(object, member) {
                finding.rejected(missing_typed_config::NOT_FOUND)
            } else {
                finding
            };
            // Fields that all belong to one place are one mistake.
            out.extend(advised(finding, value, object, (member, message), &mut moved));
        }
    }
}

/// Who drops a key that a message does not have, and what that means.
fn dropped(value: &PatchValue<'_>, object: &Object<'_>, key: &str, message: Message) -> String {
    let name = message.full_name();
    let known = since::field(name, key, !object.in_typed_struct);
    if object.in_typed_struct {
        let minor = value.envoy_minor.unwrap_or_default();
        return known.map_or_else(
            || format!("the proxy ignores it: `{name}` of Envoy 1.{minor} does not have it"),
            |known| format!("the proxy ignores it: `{name}` has it from Envoy 1.{known} on"),
        );
    }
    let accepts = "istiod accepts the EnvoyFilter and drops this key";
    let Some(known) = known else { return format!("{accepts}: `{name}` does not have it") };
    let widens = condition_dropped_by_proxy::is_condition(name);
    let rest = if widens { ", and the rest matches more" } else { "" };
    format!("{accepts}{rest}: `{name}` has it from Istio 1.{known} on")
}

/// Whether a value for a field of messages of any type names no type.
fn lacks_type(field: &str, value: &Node) -> bool {
    let has_type = |node: &Node| node.entry("@type").is_some();
    field.starts_with("typed_") && !has_type(value) && !value.entries().iter().any(|entry| has_type(&entry.value))
}

/// The finding about a member with what to write instead; `None` for a further member of a place that is in `moved`.
fn advised(
    mut finding: Finding,
    value: &PatchValue<'_>,
    object: &Object<'_>,
    (member, message): (&Member<'_>, Message),
    moved: &mut BTreeSet<String>,
) -> Option<Finding> {
    let key = member.entry.key.as_str();
    let names = message.fields().filter(|field| !field.deprecated()).map(crate::proto::schema::Field::name);
    if key == "@type" {
        let short = object.short_name();
        finding = finding.snippet(if message.field("typed_config").is_some() {
            let mut keys = vec!["@type"];
            keys.extend(object.members.iter().filter(|it| it.field().is_none()).map(|it| it.entry.key.as_str()));
            keys.dedup();
            let lines: Vec<String> = keys.iter().map(|key| below(object, key)).collect();
            format!(
                "only an `Any` has a type, and this is a {short}: write the type and its fields below `typed_config`\ntyped_config:\n{}",
                lines.join("\n")
            )
        } else if let Some(field) = member.entry.value.as_str().and_then(|url| field_of_type(message, url)) {
            format!("only an `Any` has a type, and this is always a {short}: delete `@type`, and write the rest below `{field}`")
        } else {
            format!("only an `Any` has a type, and this is always a {short}: delete `@type`")
        });
    } else if key == "typed_config" {
        let url = member.entry.value.entry("@type").and_then(|entry| entry.value.as_str());
        let short = object.short_name();
        finding = finding.help(match url.and_then(|url| field_of_type(message, url)) {
            Some(field) => {
                format!("a {short} has this as `{field}`: rename `typed_config` to `{field}`, and delete `@type`")
            }
            None => format!(
                "a {short} is written directly: move the content up by one level, without `typed_config` and `@type`"
            ),
        });
    } else if key == "value" && object.node.entry("@type").is_some() {
        finding = finding.help("only a TypedStruct wraps its content in `value`: move the content up by one level");
    } else if let Some(near) = alike::keyword(key, names) {
        let edit = Edit { span: member.entry.key_span, text: near.name.to_owned() };
        if object.member(near.name).is_some() {
            let name = near.name;
            finding = finding.help(format!("if `{name}` is intended, delete this: it is also set"));
        } else {
            finding = if lacks_type(near.name, &member.entry.value) {
                finding.help(format!("did you mean `{}`? Its settings need an `@type`", near.name))
            } else {
                finding.help(format!("did you mean `{}`?", near.name)).fix(
                    format!("write `{}`", near.name),
                    near.same_letters,
                    vec![edit],
                )
            };
        }
    } else if let Some((field, inner)) = home(object, key) {
        if !moved.insert(field.clone()) {
            return None;
        }
        let other = |other: &&Member<'_>| {
            let key = other.entry.key.as_str();
            other.field().is_none() && home(object, key).is_some_and(|(one, _)| one == field)
        };
        let others: Vec<_> = object.members.iter().filter(other).collect();
        for other in others.iter().filter(|other| other.entry.key != member.entry.key) {
            finding = finding.related(other.entry.key_span, "nor this");
        }
        finding = finding.help(if others.len() > 1 {
            let names: Vec<String> = others.iter().map(|other| format!("`{}`", other.entry.key)).collect();
            format!("{} are fields of `{inner}`: write them below `{field}`", names.join(", "))
        } else {
            format!("`{key}` is a field of `{inner}`: write it below `{field}`")
        });
    } else if let Some((map, others)) = entries_of_map(object) {
        if !moved.insert(map.to_owned()) {
            return None;
        }
        for other in others.iter().filter(|other| other.entry.key != member.entry.key) {
            finding = finding.related(other.entry.key_span, "nor this");
        }
        finding = finding.snippet(format!("write it below `{map}`:\n{map}:\n  {}: …", one_line(key)));
    } else if message.field("transport_socket").is_some() && of_tls(key) {
        finding =
            finding.help(format!("`{key}` belongs to the TLS context: write it below `transport_socket.typed_config`"));
    } else if of_cors(message, key) {
        finding = finding.snippet(CORS);
    } else if let Some((above, field)) = level_above(value, object, key) {
        finding = finding.help(format!("`{key}` is a field of `{above}`: move it up by one level, next to `{field}`"));
    } else if let Some(apply_to) = of_another_kind(object, key) {
        finding =
            finding.help(format!("`{key}` is a field of another object: write it in a patch with applyTo: {apply_to}"));
    } else if let Some(first) = since::field(message.full_name(), key, false).filter(|_| object.in_typed_struct) {
        finding = finding.help(since::restrict_to(first));
    }
    Some(finding)
}

/// Where Envoy reads a CORS policy since it is the configuration of a filter.
const CORS: &str = "write the policy below `typed_per_filter_config`:\ntyped_per_filter_config:\n  envoy.filters.http.cors:\n    \"@type\": type.googleapis.com/envoy.extensions.filters.http.cors.v3.CorsPolicy\n    allow_origin_string_match: …";

/// Whether a key was meant to be the CORS policy of a route, virtual host or route configuration.
fn of_cors(message: Message, key: &str) -> bool {
    ["cors", "cors_policy", "corsPolicy"].contains(&key) && message.field("typed_per_filter_config").is_some()
}

/// The field of a message that holds a message of this type.
fn field_of_type(message: Message, url: &str) -> Option<&'static str> {
    let is = |field: &Field| {
        !field.is_map() && matches!(field.kind(), Kind::Message(inner) if inner.full_name() == type_name(url))
    };
    message.fields().find(is).map(Field::name)
}

/// A line of the help that shows a key below `typed_config`.
fn below(object: &Object<'_>, key: &str) -> String {
    match object.node.entry(key).and_then(|entry| entry.value.as_str()).filter(|_| key == "@type") {
        Some(text) => format!("  \"@type\": {text}"),
        None => format!("  {key}: …"),
    }
}

/// The only map of texts in a message, and the unknown keys of the message that are texts like its entries.
fn entries_of_map<'o, 'a>(object: &'o Object<'a>) -> Option<(&'static str, Vec<&'o Member<'a>>)> {
    let text = |field: &Field| field.map_entry().is_some_and(|(_, kind)| matches!(kind, Kind::String));
    let mut maps = object.message()?.fields().filter(text);
    let map = maps.next().filter(|map| maps.next().is_none() && object.member(map.name()).is_none())?;
    let unknown = object.members.iter().filter(|member| member.field().is_none());
    let texts: Vec<_> = unknown.filter(|member| member.entry.value.as_str().is_some()).collect();
    (!texts.is_empty()).then(|| (map.name(), texts))
}

/// Whether a key is a field of a TLS context.
fn of_tls(key: &str) -> bool {
    let contexts = ["DownstreamTlsContext", "UpstreamTlsContext"];
    contexts.into_iter().any(|context| {
        let message = Schema::newest().message(&format!("envoy.extensions.transport_sockets.tls.v3.{context}"));
        message.is_some_and(|message| message.field(key).is_some())
    })
}

/// The message around this one, if it has a field of that name, and the field that contains this one.
fn level_above(value: &PatchValue<'_>, object: &Object<'_>, key: &str) -> Option<(String, String)> {
    let (parent, field) = object.parent?;
    let message = value.objects.get(parent)?.message()?;
    message.field(key).is_some().then(|| (message.full_name().to_owned(), field.name().to_owned()))
}

/// The `applyTo` of the one kind of objects around or inside those of a patch that have a field of that name.
fn of_another_kind(object: &Object<'_>, key: &str) -> Option<ApplyTo> {
    const LISTENER: &[ApplyTo] = &[ApplyTo::Listener, ApplyTo::FilterChain];
    const ROUTES: &[ApplyTo] = &[ApplyTo::RouteConfiguration, ApplyTo::VirtualHost, ApplyTo::HttpRoute];
    let message = |apply_to: &ApplyTo| Schema::newest().message(apply_to.message()?);
    let is_own = |apply_to: &ApplyTo| apply_to.message() == Some(object.full_name());
    let family = [LISTENER, ROUTES].into_iter().find(|family| object.route.is_empty() && family.iter().any(is_own))?;
    let has = |apply_to: &&ApplyTo| message(apply_to).is_some_and(|message| message.field(key).is_some());
    let mut others = family.iter().filter(has);
    let first = others.next()?;
    others.next().is_none().then_some(*first)
}

/// The field of the message that contains a message with a field of that name, and the name of the inner message.
fn home(object: &Object<'_>, key: &str) -> Option<(String, String)> {
    let has = |message: Message| message.field(key).is_some();
    object.message()?.fields().find_map(|field| match field.kind() {
        Kind::Message(inner) if !field.is_map() && has(inner) => {
            Some((field.name().to_owned(), inner.full_name().to_owned()))
        }
        _ => None,
    })
}
