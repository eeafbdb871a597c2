//! Merging messages as istiod does: `pkg/proto/merge` (releases 1.22 to 1.31), on trees instead of wire bytes.

use super::decode::is_default;
use super::json;
use super::schema::{Cardinality, Field, Kind, Message, Schema, WellKnown};
use super::tree::{Origin, TYPE_KEY, Tree, Value, type_name};
use super::wire;
use crate::budget;
use std::borrow::Cow;

/// What a merge did to one place.
#[derive(Clone, Debug)]
pub struct Change<'a> {
    /// The place: field names and `[index]`es from the root of the merged message, as `a.b[2].c`.
    pub path: String,
    /// What happened.
    pub kind: ChangeKind,
    /// Value before, as JSON; `None` when there was none.
    pub before: Option<String>,
    /// Value after, shared with what was written; `None` when it is gone.
    pub after: Option<Tree<'a>>,
    /// What wrote the value before, and what is inside it.
    pub before_origins: Vec<Origin>,
}

impl Change<'_> {
    /// Whether the value after differs from the one before.
    pub(crate) fn differs(&self) -> bool {
        self.before != self.after_text()
    }

    /// The value after, as JSON.
    pub(crate) fn after_text(&self) -> Option<String> {
        self.after.as_ref().map(|tree| json::write(tree, json::Style::Compact))
    }
}

/// What a merge can do to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// A value was set or replaced.
    Set,
    /// Items were appended to a list.
    Appended,
    /// A list was replaced.
    ListReplaced,
    /// A map entry was replaced whole.
    EntryReplaced,
    /// Another member of a oneof was cleared.
    Cleared,
    /// The value is unchanged.
    Same,
    /// A wrapper at its default (`false`, 0, empty) cannot reset an existing value.
    CannotReset,
}

/// Where changes are recorded; `None` when nobody needs them.
pub(crate) type Log<'l, 'a> = Option<&'l mut Vec<Change<'a>>>;

/// Merges messages of one release.
pub struct Merger<'l, 'a> {
    /// The release's types, used to merge what is inside an `Any`.
    pub schema: Schema,
    /// What writes. A source whose root has this origin has it everywhere.
    pub origin: Origin,
    /// Whether lists are replaced (MERGE_AND_REPLACE_LIST) instead of appended to.
    pub replace_lists: bool,
    /// Where changes are recorded.
    pub log: Log<'l, 'a>,
    /// The place of the message, as the log's reader sees it.
    pub path: String,
}

/// Why two `Any`s cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AnyMismatch {
    /// Both types are known and differ.
    Types {
        /// Message name of the target.
        target: String,
        /// Message name of the patch.
        patch: String,
    },
    /// A type is not linked into this istiod: the target is unchanged.
    Unknown(String),
}

/// The parts of two payloads of one type that are merged: the messages or, for a well-known type, their values. Both are
/// decoded from bytes if necessary.
pub(super) fn payloads<'t, 's, 'a>(
    message: Message,
    target: &'t mut Tree<'a>,
    source: &'s Tree<'a>,
) -> Option<(&'t mut Tree<'a>, Cow<'s, Tree<'a>>)> {
    target.open();
    let source = source.readable();
    if message.well_known().is_none() {
        // The type URL is no field of the message, so no merge looks at it.
        return Some((target, source));
    }
    let value = match source {
        Cow::Borrowed(source) => source.get("value").map(Cow::Borrowed),
        Cow::Owned(mut source) => source.remove("value").map(Cow::Owned),
    };
    target.get_mut("value").zip(value)
}

/// Extends a path by a field and returns the length to cut it back to afterwards.
pub(super) fn enter(path: &mut String, field: &str) -> usize {
    let mark = path.len();
    if mark > 0 {
        path.push('.');
    }
    path.push_str(field);
    mark
}

impl<'a> Merger<'_, 'a> {
    /// Merges `source` into `target`, both messages of this type.
    pub fn merge(&mut self, message: Message, target: &mut Tree<'a>, source: &Tree<'a>) {
        target.open();
        for (key, value) in source.readable().entries() {
            budget::charge(4);
            if let Some(field) = message.field(key) {
                let mark = enter(&mut self.path, field.name());
                self.field(message, field, target, value);
                self.path.truncate(mark);
            }
        }
    }

    fn field(&mut self, message: Message, field: Field, target: &mut Tree<'a>, value: &Tree<'a>) {
        self.clear_oneof(message, field, target);
        match field.cardinality() {
            Cardinality::Repeated => self.list(field.name(), target, value),
            Cardinality::Map => self.map(field.name(), target, value),
            _ => match field.kind() {
                Kind::Message(inner) if target.get(field.name()).is_some() => {
                    if let Some(old) = target.get_mut(field.name()) {
                        self.sub_message(inner, old, value);
                    }
                }
                _ => self.assign(field.name(), target, value),
            },
        }
    }

    fn clear_oneof(&mut self, message: Message, field: Field, target: &mut Tree<'a>) {
        let Some(oneof) = field.oneof() else { return };
        for other in message.fields().filter(|other| other.oneof() == Some(oneof) && other.number() != field.number()) {
            if let Some(old) = target.remove(other.name()) {
                let parent = self.path.rfind('.').map_or(0, |at| at + 1);
                let member = format!("{}{}", &self.path[..parent], other.name());
                self.note_at(member, ChangeKind::Cleared, Some(&old), None);
            }
        }
    }

    fn sub_message(&mut self, message: Message, old: &mut Tree<'a>, value: &Tree<'a>) {
        match message.well_known() {
            Some(WellKnown::Duration | WellKnown::Timestamp) => self.replace(old, value),
            Some(WellKnown::Wrapper(kind)) => {
                if is_default(kind, value) && !is_default(kind, old) {
                    self.note(ChangeKind::CannotReset, Some(old), Some(value));
                } else {
                    self.replace(old, value);
                }
            }
            Some(WellKnown::Any) => self.any_as_message(old, value),
            Some(WellKnown::Struct) => self.map_entries(old, value),
            Some(WellKnown::ListValue) => self.append(old, value),
            Some(WellKnown::Value) => match (&old.value, &value.value) {
                (Value::Map(_), Value::Map(_)) => self.map_entries(old, value),
                (Value::List(_) | Value::EmptyList, Value::List(_) | Value::EmptyList) => self.append(old, value),
                _ => self.replace(old, value),
            },
            _ => self.merge(message, old, value),
        }
    }

    fn assign(&mut self, name: &'static str, target: &mut Tree<'a>, value: &Tree<'a>) {
        if let Some(old) = target.get_mut(name) {
            self.replace(old, value);
        } else {
            self.note(ChangeKind::Set, None, Some(value));
            let value = self.written(value);
            target.set(name, value);
        }
    }

    fn replace(&mut self, old: &mut Tree<'a>, value: &Tree<'a>) {
        let kind = if self.log.is_some() && old.same(value) { ChangeKind::Same } else { ChangeKind::Set };
        self.note(kind, Some(old), Some(value));
        *old = self.written(value);
    }

    fn list(&mut self, name: &'static str, target: &mut Tree<'a>, value: &Tree<'a>) {
        let Some(old) = target.get_mut(name).filter(|old| !old.items().is_empty()) else {
            self.note(ChangeKind::Set, None, Some(value));
            let value = self.written(value);
            target.set(name, value);
            return;
        };
        if self.replace_lists {
            self.note(ChangeKind::ListReplaced, Some(old), Some(value));
            *old = self.written(value);
        } else {
            self.append(old, value);
        }
    }

    fn append(&mut self, old: &mut Tree<'a>, value: &Tree<'a>) {
        if value.items().is_empty() {
            return;
        }
        let first = old.items().len();
        let place = format!("{}[{first}]", self.path);
        self.note_at(place, ChangeKind::Appended, None, Some(value));
        let added = self.written(value);
        if let Some(items) = old.items_mut() {
            items.extend_from_slice(added.items());
        }
    }

    fn map(&mut self, name: &'static str, target: &mut Tree<'a>, value: &Tree<'a>) {
        if let Some(old) = target.get_mut(name) {
            self.map_entries(old, value);
        } else {
            self.note(ChangeKind::Set, None, Some(value));
            let value = self.written(value);
            target.set(name, value);
        }
    }

    /// Map entries are replaced whole, not merged.
    fn map_entries(&mut self, old: &mut Tree<'a>, value: &Tree<'a>) {
        for (key, entry) in value.entries() {
            let place = format!("{}[\"{key}\"]", self.path);
            match old.get(key) {
                Some(before) => self.note_at(place, ChangeKind::EntryReplaced, Some(&before.clone()), Some(entry)),
                None => self.note_at(place, ChangeKind::Set, None, Some(entry)),
            }
            let entry = self.written(entry);
            old.set(key.clone(), entry);
        }
    }

    /// An `Any` inside a plain merge is merged as the message `{type_url, value}`: each field is overwritten if set.
    fn any_as_message(&mut self, old: &mut Tree<'a>, value: &Tree<'a>) {
        let mut value = value.clone();
        value.open();
        if value.entries().len() > 1 {
            return self.replace(old, &value);
        }
        // Without a payload, only the type URL is overwritten: the old bytes stay and are read as the new type.
        let (Some(old_type), Some(new_type)) = (old.type_name(), value.type_name()) else { return };
        if old_type == new_type {
            return;
        }
        let before = old.clone();
        *old = wire::reinterpret(self.schema, old, &new_type).unwrap_or_else(|| value.clone());
        old.set_origin(self.origin);
        if let Some(url) = value.get(TYPE_KEY).cloned() {
            old.set(TYPE_KEY, self.written(&url));
        }
        let after = old.clone();
        self.note(ChangeKind::Set, Some(&before), Some(&after));
    }

    /// Merges the payloads of two `Any`s as messages, as istiod's `MergeAnyWithAny` does. The result's type URL gets
    /// the standard prefix. Fails, changing nothing, when the types differ or one of them is unknown.
    pub(crate) fn any_payload(&mut self, target: &mut Tree<'a>, source: &Tree<'a>) -> Result<(), AnyMismatch> {
        let (Some(target_type), Some(source_type)) = (target.type_name(), source.type_name()) else {
            return Err(AnyMismatch::Unknown(String::new()));
        };
        let Some(message) = self.schema.message(&target_type) else {
            return Err(AnyMismatch::Unknown(target_type.into_owned()));
        };
        if self.schema.message(&source_type).is_none() {
            return Err(AnyMismatch::Unknown(source_type.into_owned()));
        }
        if target_type != source_type {
            return Err(AnyMismatch::Types { target: target_type.into_owned(), patch: source_type.into_owned() });
        }
        let prefixed = format!("type.googleapis.com/{}", type_name(&target_type));
        if let Some((old, value)) = payloads(message, target, source) {
            self.sub_message(message, old, &value);
        }
        if target.str_at(TYPE_KEY) != prefixed {
            target.set(TYPE_KEY, Tree::string(Cow::Owned(prefixed), Origin::ISTIOD));
        }
        Ok(())
    }

    /// What is written of the source. A value that is tagged already is shared by every object that gets it.
    fn written(&self, value: &Tree<'a>) -> Tree<'a> {
        if value.origin != self.origin {
            return value.with_origin(self.origin);
        }
        value.clone()
    }

    fn note(&mut self, kind: ChangeKind, before: Option<&Tree<'a>>, after: Option<&Tree<'a>>) {
        if self.log.is_some() {
            let path = self.path.clone();
            self.note_at(path, kind, before, after);
        }
    }

    fn note_at(&mut self, path: String, kind: ChangeKind, before: Option<&Tree<'a>>, after: Option<&Tree<'a>>) {
        if let Some(log) = self.log.as_deref_mut() {
            log.push(Change {
                path,
                kind,
                before_origins: before.map(Tree::origins).unwrap_or_default(),
                // As a tree, what was overwritten would stay in memory decoded.
                before: before.map(|tree| json::write(tree, json::Style::Compact)),
                after: after.cloned(),
            });
        }
    }
}
