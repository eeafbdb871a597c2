//! Finds items of the API from user input: full names, suffixes, paths of fields, names of extensions and guards.

use super::super::{
    EXTENSIONS, Extension, RUNTIME_GUARDS, RuntimeGuard, canonical_name, extension, moved, runtime_guard, v3_of,
};
use super::releases;
use crate::proto::schema::{Enum, Field, Kind, Message, Schema};
use crate::proto::tree::type_name;
use crate::source::alike;
use std::collections::BTreeSet;

/// An item of the Envoy API.
#[derive(Clone)]
pub enum Found {
    /// A message.
    Message(Message),
    /// A field of a message.
    Field(Message, Field),
    /// An enum.
    Enum(Enum),
    /// A value of an enum.
    Value(Enum, String),
    /// An extension.
    Extension(Extension),
    /// A runtime guard.
    RuntimeGuard(RuntimeGuard),
}

/// The result of a search.
#[derive(Clone, Default)]
pub struct Search {
    /// The matches: one, or several that share the suffix.
    pub found: Vec<Found>,
    /// Notes on names that were replaced by others, in words.
    pub notes: Vec<String>,
    /// Similar names, when nothing was found.
    pub nearest: Vec<String>,
}

/// Maximum number of suggested names.
const NEAREST: usize = 6;

/// Looks a name up: `envoy.extensions.filters.http.lua.v3.Lua.inline_code`, `Lua.inlineCode`, `envoy.filters.http.lua`,
/// `type.googleapis.com/…`.
pub fn find(text: &str) -> Search {
    let mut search = Search::default();
    let mut name = type_name(text.trim()).to_owned();
    if let Some(canonical) = canonical_name(&name) {
        search.notes.push(format!("{name} is an old name of {canonical}"));
        canonical.clone_into(&mut name);
    }
    if let Some(successor) = v3_of(&name) {
        search
            .notes
            .push(format!("{name} is of the v2 API, which no supported release accepts; its successor is {successor}"));
        successor.clone_into(&mut name);
    }
    if let Some(one) = extension(&name) {
        search.found.push(Found::Extension(one));
        return search;
    }
    if let Some(guard) = runtime_guard(&name) {
        search.found.push(Found::RuntimeGuard(guard));
        return search;
    }
    if let Some(gone) = moved(&name) {
        let what = if gone.successor.is_empty() {
            "nothing replaces it".to_owned()
        } else {
            format!("it is {} now", gone.successor)
        };
        search.notes.push(format!("{name} does not exist since Envoy 1.{}; {what}", gone.gone));
    }
    // The newest release that knows the full name decides.
    for (_, schema) in releases().rev() {
        if let Some(found) = exact(schema, &name) {
            search.found.push(found);
            return search;
        }
    }
    for (_, schema) in releases().rev() {
        search.found = by_end(schema, &name);
        if !search.found.is_empty() {
            return search;
        }
    }
    search.nearest = nearest(&name);
    search
}

/// A message, enum, field or value by its full name.
fn exact(schema: Schema, name: &str) -> Option<Found> {
    if let Some(message) = schema.message(name) {
        return Some(Found::Message(message));
    }
    if let Some(one) = schema.enumeration(name) {
        return Some(Found::Enum(one));
    }
    // The longest prefix that is a message or an enum; the rest are fields or a value.
    let dots: Vec<usize> = name.match_indices('.').map(|(at, _)| at).collect();
    dots.iter().rev().find_map(|&at| {
        let (head, rest) = (name.get(..at)?, name.get(at + 1..)?);
        if let Some(message) = schema.message(head) {
            return below(message, rest);
        }
        let one = schema.enumeration(head)?;
        one.values().find(|value| value.name() == rest).map(|_| Found::Value(one, rest.to_owned()))
    })
}

/// A path of fields below a message.
fn below(message: Message, path: &str) -> Option<Found> {
    let (head, rest) = path.split_once('.').map_or((path, None), |(head, rest)| (head, Some(rest)));
    let field = message.field(head)?;
    let Some(rest) = rest else { return Some(Found::Field(message, field)) };
    let kind = field.map_entry().map_or_else(|| field.kind(), |(_, value)| value);
    match kind {
        Kind::Message(inner) => below(inner, rest),
        Kind::Enum(one) => one.values().find(|value| value.name() == rest).map(|_| Found::Value(one, rest.to_owned())),
        _ => None,
    }
}

/// The items with this suffix: `Lua`, `Lua.inline_code`, `v3.Cluster`. Envoy's v3 API takes precedence over other packages.
fn by_end(schema: Schema, name: &str) -> Vec<Found> {
    let ends = |full: &str, end: &str| {
        full.strip_suffix(end).is_some_and(|rest| rest.ends_with('.') && full.starts_with("envoy."))
    };
    let mut found: Vec<Found> =
        schema.messages().filter(|one| ends(one.full_name(), name)).map(Found::Message).collect();
    found.extend(schema.enumerations().filter(|one| ends(one.full_name(), name)).map(Found::Enum));
    if found.is_empty() {
        let dots: Vec<usize> = name.match_indices('.').map(|(at, _)| at).collect();
        for at in dots.into_iter().rev() {
            let (Some(head), Some(rest)) = (name.get(..at), name.get(at + 1..)) else { continue };
            let messages = schema.messages().filter(|one| ends(one.full_name(), head));
            found.extend(messages.filter_map(|message| below(message, rest)));
            if !found.is_empty() {
                break;
            }
        }
    }
    // Several messages may lead to the same field.
    let mut seen = BTreeSet::new();
    found.retain(|one| seen.insert(full_name(one)));
    found
}

fn full_name(found: &Found) -> String {
    match found {
        Found::Message(message) => message.full_name().to_owned(),
        Found::Field(message, field) => format!("{}.{}", message.full_name(), field.name()),
        Found::Enum(one) => one.full_name().to_owned(),
        Found::Value(one, value) => format!("{}.{value}", one.full_name()),
        Found::Extension(extension) => extension.name().to_owned(),
        Found::RuntimeGuard(guard) => guard.name().to_owned(),
    }
}

/// The names most similar to a text: of messages and extensions, or of the fields of a message it names.
fn nearest(text: &str) -> Vec<String> {
    let Some((_, schema)) = releases().next_back() else { return Vec::new() };
    let mut names: BTreeSet<String> = BTreeSet::new();
    if let Some((head, _)) = text.rsplit_once('.') {
        let of = schema.message(head).into_iter().chain(by_end(schema, head).into_iter().filter_map(|one| match one {
            Found::Message(message) => Some(message),
            _ => None,
        }));
        for message in of {
            let prefix = if schema.message(head).is_some() { message.full_name() } else { head };
            names.extend(message.fields().map(|field| format!("{prefix}.{}", field.name())));
        }
    }
    if names.is_empty() {
        let short = |name: &'static str| name.rsplit('.').next().unwrap_or(name);
        if text.contains('.') {
            names.extend(schema.messages().map(|one| one.full_name().to_owned()));
            names.extend(EXTENSIONS.rows().chain(RUNTIME_GUARDS.rows()).map(|row| row.cell(0).to_owned()));
        } else {
            names.extend(schema.messages().map(|one| short(one.full_name()).to_owned()));
        }
    }
    let mut scored: Vec<(f64, String)> = names
        .into_iter()
        .map(|name| (alike::likeness(&text.to_lowercase(), &name.to_lowercase()), name))
        .filter(|(score, _)| *score > 0.5)
        .collect();
    scored.sort_by(|left, right| right.0.total_cmp(&left.0).then_with(|| left.1.cmp(&right.1)));
    scored.into_iter().take(NEAREST).map(|(_, name)| name).collect()
}
