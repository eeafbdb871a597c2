//! `explain` for the Envoy API: the meaning of a name, the releases that know it, its replacement.
//!
//! Everything is derived from the embedded types, release by release, and from the tables beside them; anything else is
//! reported as unknown.

mod constraints;
mod find;
pub mod view;

pub(crate) use constraints::constraints;
pub use find::{Found, Search, find};

use super::{Extension, Instead, RuntimeGuard, extensions_of};
use crate::proto::rules::Rules;
use crate::proto::schema::{Cardinality, Enum, EnumValue, Field, Kind, Message, Schema, WellKnown};
use view::{Entry, Life, Member, ProxyBuild, Reference};

/// First and last Envoy minor whose types are known.
pub(crate) const KNOWN: (u16, u16) = (26, 40);

/// Istio 1.N ships Envoy 1.(N+8), since Istio 1.16 (Istio's page of supported releases; the proxies' build files).
const ISTIO_BEHIND: u16 = 8;

/// First and last Istio minor whose proxy's build files are known.
const BUILDS: (u16, u16) = (18, 31);

/// The Istio minor that ships an Envoy minor.
pub(crate) fn istio_of(envoy: u16) -> u16 {
    envoy.saturating_sub(ISTIO_BEHIND)
}

/// The Envoy minor shipped with an Istio minor.
pub(crate) fn envoy_of(istio: u16) -> u16 {
    istio + ISTIO_BEHIND
}

/// The same, or the nearest Envoy whose types are known: an unknown release is not one without types.
pub(crate) fn known_envoy_of(istio: u16) -> u16 {
    envoy_of(istio).clamp(KNOWN.0, KNOWN.1)
}

/// Every Envoy schema, from old to new, with its minor.
fn releases() -> impl DoubleEndedIterator<Item = (u16, Schema)> {
    (KNOWN.0..=KNOWN.1).filter_map(|minor| Some((minor, Schema::envoy(minor)?)))
}

/// The range of releases that satisfy a condition: the first minor, and the first after it that does not.
fn span(is: impl Fn(Schema) -> bool) -> (Option<u16>, Option<u16>) {
    let mut first = None;
    for (minor, schema) in releases() {
        match (is(schema), first) {
            (true, None) => first = Some(minor),
            (false, Some(_)) => return (first, Some(minor)),
            _ => {}
        }
    }
    (first, None)
}

fn reference(minor: u16) -> Reference {
    Reference { envoy: format!("1.{minor}"), istio: format!("1.{}", istio_of(minor)) }
}

/// When an item was added, deprecated, disallowed and removed. `table` is its name in the table of deprecations, which also
/// covers releases before the known types.
fn life(
    there: impl Fn(Schema) -> bool,
    deprecated: impl Fn(Schema) -> bool,
    disallowed: impl Fn(Schema) -> bool,
    table: &str,
) -> Life {
    let (first, gone) = span(&there);
    let earlier = first == Some(KNOWN.0);
    let noted = super::deprecation(table);
    let since = |is: &dyn Fn(Schema) -> bool| {
        let first = span(|schema| there(schema) && is(schema)).0;
        first.filter(|minor| *minor != KNOWN.0).map(reference)
    };
    let now = releases().next_back().is_some_and(|(_, schema)| there(schema) && deprecated(schema));
    let words = |text: String| Some(text).filter(|text| !text.is_empty());
    let (instead, no_replacement) = match noted.and_then(|known| known.instead) {
        Some(Instead::Use(replacement)) => (Some(replacement.to_owned()), None),
        Some(Instead::Nothing(why)) => (None, Some(why.to_owned())),
        None => (None, None),
    };
    Life {
        added: first.filter(|_| !earlier).map(reference),
        added_before_known: earlier,
        deprecated: since(&deprecated),
        deprecated_words: noted.and_then(|known| words(known.since())),
        is_deprecated: now,
        disallowed: since(&disallowed),
        removed: gone.map(reference),
        instead,
        no_replacement,
        unknown: false,
    }
}

/// What is known about an item.
pub fn entry(found: &Found) -> Entry {
    match found {
        Found::Message(message) => of_message(*message),
        Found::Field(message, field) => of_field(*message, *field),
        Found::Enum(one) => of_enum(*one),
        Found::Value(one, name) => of_value(*one, name),
        Found::Extension(extension) => of_extension(*extension),
        Found::RuntimeGuard(guard) => of_guard(*guard),
    }
}

fn of_message(message: Message) -> Entry {
    let name = message.full_name();
    let there = |schema: Schema| schema.message(name).is_some();
    let deprecated = |schema: Schema| schema.message(name).is_some_and(Message::deprecated);
    let mut entry = Entry::new("message", name);
    message.file().clone_into(&mut entry.file);
    entry.documentation = page(message, "msg", name);
    entry.life = life(there, deprecated, |_| false, name);
    entry.notes.extend(message.work_in_progress().then(|| "work in progress: may change without notice".to_owned()));
    entry.notes.extend(message.previous_type().map(|old| format!("replaces {old}")));
    entry.notes.extend(
        message
            .oneofs()
            .filter(|oneof| oneof.required())
            .map(|oneof| format!("one of the fields of `{}` must be set", oneof.name())),
    );
    entry.istiod = istiod(|schema| schema.message(name).is_some());
    entry.fields = message.fields().map(|field| member(message, field)).collect();
    let extensions: Vec<Extension> = extensions_of(name).collect();
    entry.builds = extensions.iter().map(|one| build(*one)).collect();
    entry
}

fn member(message: Message, field: Field) -> Member {
    let oneof = field.oneof().and_then(|index| message.oneofs().nth(index as usize));
    Member {
        name: field.name().to_owned(),
        type_name: type_words(field),
        deprecated: field.deprecated(),
        required: Rules::read(field.rules()).required,
        oneof: oneof.map(|oneof| oneof.name().to_owned()),
    }
}

fn of_field(message: Message, field: Field) -> Entry {
    let (owner, name) = (message.full_name(), field.name());
    let path = format!("{owner}.{name}");
    let at = |schema: Schema| schema.message(owner).and_then(|message| message.field(name));
    let mut entry = Entry::new("field", &path);
    entry.type_name = Some(type_words(field));
    entry.json_name = Some(field.json_name().to_owned()).filter(|json| json != name);
    entry.number = Some(field.number());
    message.file().clone_into(&mut entry.file);
    entry.documentation = page(message, "field", &path);
    entry.life = life(
        |schema| at(schema).is_some(),
        |schema| at(schema).is_some_and(Field::deprecated),
        |schema| at(schema).is_some_and(Field::disallowed_by_default),
        &path,
    );
    entry.constraints = constraints(&Rules::read(field.rules()));
    if let Some(oneof) = field.oneof().and_then(|index| message.oneofs().nth(index as usize)) {
        let required = if oneof.required() { ", one of which must be set" } else { "" };
        entry.notes.push(format!("one of `{}`: no other field of it can be set beside{required}", oneof.name()));
    }
    entry.notes.extend(field.sensitive().then(|| "holds a secret: Envoy leaves it out of config dumps".to_owned()));
    entry.notes.extend(field.work_in_progress().then(|| "work in progress: may change without notice".to_owned()));
    entry.istiod = istiod(|schema| at(schema).is_some());
    match field.kind() {
        Kind::Message(inner) if inner.well_known().is_none() && !field.is_map() => {
            entry.fields = inner.fields().map(|field| member(inner, field)).collect();
        }
        Kind::Enum(inner) => entry.values = inner.values().map(|value| value.name().to_owned()).collect(),
        _ => {}
    }
    entry
}

fn of_enum(one: Enum) -> Entry {
    let name = one.full_name();
    let mut entry = Entry::new("enum", name);
    let there = |schema: Schema| schema.enumeration(name).is_some();
    let deprecated = |schema: Schema| schema.enumeration(name).is_some_and(Enum::deprecated);
    entry.life = life(there, deprecated, |_| false, name);
    entry.values = one.values().map(|value| value.name().to_owned()).collect();
    entry.istiod = istiod(|schema| schema.enumeration(name).is_some());
    entry
}

fn of_value(one: Enum, value: &str) -> Entry {
    let owner = one.full_name();
    let path = format!("{owner}.{value}");
    let at = |schema: Schema| {
        let one = schema.enumeration(owner)?;
        one.values().find(|known| known.name() == value)
    };
    let mut entry = Entry::new("value", &path);
    entry.type_name = Some(owner.to_owned());
    entry.number =
        releases().rev().find_map(|(_, schema)| at(schema)).and_then(|value| u32::try_from(value.number()).ok());
    entry.life = life(
        |schema| at(schema).is_some(),
        |schema| at(schema).is_some_and(EnumValue::deprecated),
        |schema| at(schema).is_some_and(EnumValue::disallowed_by_default),
        &path,
    );
    entry.istiod = istiod(|schema| at(schema).is_some());
    entry
}

fn of_extension(extension: Extension) -> Entry {
    let mut entry = Entry::new("extension", extension.name());
    let status = extension.status();
    entry.notes.push(if status.is_empty() { "status unknown".to_owned() } else { format!("status: {status}") });
    if extension.contrib() {
        entry.notes.push("part of Envoy's contrib build only".to_owned());
    }
    let categories: Vec<&str> = extension.categories().collect();
    if !categories.is_empty() {
        entry.notes.push(format!("category: {}", categories.join(", ")));
    }
    entry.values = extension.messages().map(str::to_owned).collect();
    entry.life = Life { unknown: true, ..Life::default() };
    if let Some(message) = extension.messages().find_map(newest_message) {
        let of = of_message(message);
        (entry.life, entry.istiod, entry.fields) = (of.life, of.istiod, of.fields);
        (entry.file, entry.documentation) = (of.file, of.documentation);
    }
    entry.builds = vec![build(extension)];
    entry
}

fn of_guard(guard: RuntimeGuard) -> Entry {
    let mut entry = Entry::new(GUARD, guard.name());
    let Some((first, last)) = guard.minors() else { return entry };
    entry.life = Life {
        added: (first > KNOWN.0).then(|| reference(first)),
        added_before_known: first <= KNOWN.0,
        removed: (last < KNOWN.1).then(|| reference(last + 1)),
        ..Life::default()
    };
    let mut defaults: Vec<String> =
        guard.defaults().map(|(since, value)| format!("{value} since Envoy {since}")).collect();
    if defaults.is_empty() {
        defaults.push("unknown".to_owned());
    }
    entry.notes.push(format!("default: {}", defaults.join(", ")));
    let [(_, before), (after, _)] = super::GUARDS_KNOWN;
    if first == after || last == before {
        let (from, to) = (before + 1, after - 1);
        entry.notes.push(format!("the guards of Envoy 1.{from} and 1.{to} are not known: it may or may not exist"));
    }
    if last < KNOWN.1 {
        entry.notes.push("a runtime layer that still sets it no longer has an effect".to_owned());
    }
    entry
}

/// The kind of a runtime guard's entry. No message contains one, so no istiod knows any.
pub(crate) const GUARD: &str = "runtime guard";

/// A message, as in the newest Envoy that has it.
fn newest_message(name: &str) -> Option<Message> {
    releases().rev().find_map(|(_, schema)| schema.message(name))
}

fn build(extension: Extension) -> ProxyBuild {
    let has: Vec<u16> = (BUILDS.0..=BUILDS.1).filter(|&minor| extension.in_istio_proxy(minor)).collect();
    ProxyBuild {
        extension: extension.name().to_owned(),
        status: extension.status().to_owned(),
        first: has.first().map(|minor| format!("1.{minor}")),
        last: has.last().map(|minor| format!("1.{minor}")),
        looked_at: format!("1.{} to 1.{}", BUILDS.0, BUILDS.1),
    }
}

/// The first istiod whose types contain an item, and the first later one without it.
fn istiod(is: impl Fn(Schema) -> bool) -> Option<String> {
    let all: Vec<Schema> = Schema::all().filter(|schema| schema.is_istiod()).collect();
    let first = all.iter().find(|schema| is(**schema))?;
    let gone = all.iter().skip_while(|schema| !is(**schema)).find(|schema| !is(**schema));
    let release = |schema: &Schema| {
        let (minor, patch) = schema.release();
        if patch == 0 { format!("1.{minor}") } else { format!("1.{minor}.{patch}") }
    };
    let oldest = all.first() == Some(first);
    let from = if oldest { format!("{} or earlier", release(first)) } else { release(first) };
    Some(gone.map_or_else(|| format!("from {from} on"), |gone| format!("from {from}, no longer in {}", release(gone))))
}

/// The type of a field in words: `list of envoy.config.core.v3.HeaderValueOption`.
fn type_words(field: Field) -> String {
    if let Some((key, value)) = field.map_entry() {
        return format!("map from {} to {}", kind_words(key), kind_words(value));
    }
    let kind = kind_words(field.kind());
    match field.cardinality() {
        Cardinality::Repeated => format!("list of {kind}"),
        _ => kind,
    }
}

fn kind_words(kind: Kind) -> String {
    match kind {
        Kind::Message(message) => match message.well_known() {
            Some(WellKnown::Duration) => "duration, such as 1.5s".to_owned(),
            Some(WellKnown::Wrapper(inner)) => format!("{} (unset differs from zero)", kind_words(inner)),
            Some(WellKnown::Any) => "typed configuration (\"@type\")".to_owned(),
            Some(WellKnown::Struct) => "any object".to_owned(),
            _ => message.full_name().to_owned(),
        },
        Kind::Enum(one) => one.full_name().to_owned(),
        other => format!("{other:?}").to_lowercase(),
    }
}

/// The page of Envoy's documentation, with the anchor of a message or field.
fn page(message: Message, what: &str, name: &str) -> Option<String> {
    let file = message.file();
    let path = file.strip_prefix("contrib/").unwrap_or(file).strip_prefix("envoy/")?;
    let anchor: String = name
        .strip_prefix("envoy.")?
        .chars()
        .map(|c| if c == '.' || c == '_' { '-' } else { c.to_ascii_lowercase() })
        .collect();
    Some(format!("https://www.envoyproxy.io/docs/envoy/latest/api-v3/{path}#envoy-v3-api-{what}-{anchor}"))
}
