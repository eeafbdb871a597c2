//! Merging backwards: from a merged message and what was merged into it to what it may have been before.
//!
//! What was appended to a list is cut off again. What a merge overwrote is lost: such nodes keep their value and are tagged
//! [`Origin::UNKNOWN`]. Follows `merge.rs` field by field.

use super::decode::is_default;
use super::json::{Style, write};
use super::merge::{enter, payloads};
use super::rules::Rules;
use super::schema::{Cardinality, Field, Kind, Message, Schema, WellKnown};
use super::tree::{Origin, TYPE_KEY, Tree, Value, type_name};

/// Undoes the merges of one release.
pub(crate) struct Unmerger<'l> {
    /// The release's types.
    pub schema: Schema,
    /// Whether the merge replaced lists instead of appending to them.
    pub replace_lists: bool,
    /// What was found, in the order of the merged fields.
    pub notes: &'l mut Vec<Note>,
    /// The place of the message, as the reader of the notes sees it.
    pub path: String,
}

/// What was found about one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Field names and `[index]`es from the root of the message, as `a.b[2].c`.
    pub path: String,
    /// What was found.
    pub what: What,
}

/// What is known about a place that a merge wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// It contains what this merge or a later one sets; the previous value is unknown.
    Overwritten,
    /// Another member of a oneof may have been here, and is cleared.
    PerhapsCleared,
    /// A list ends with the items that the merge appends; they are cut off.
    Cut(usize),
    /// A wrapper that the merge could not reset to its default.
    Kept,
    /// It does not contain what the merge sets.
    Differs {
        /// What the merge sets, as JSON.
        wanted: String,
        /// What it contains, as JSON; `None` for nothing.
        found: Option<String>,
    },
}

/// Whether nothing is known about the original value.
pub fn unknown(tree: &Tree<'_>) -> bool {
    matches!(tree.origin, Origin::UNKNOWN | Origin::HELD)
}

/// What Envoy writes in place of secrets, as text and as bytes (`MessageUtil::redact`).
const REDACTED: [&str; 2] = ["[redacted]", "W3JlZGFjdGVkXQ=="];

/// Whether a part of a dump can be this value after later patches: equal except for unknown nodes and redacted secrets.
pub(crate) fn holds(after: &Tree<'_>, value: &Tree<'_>) -> bool {
    if unknown(after) {
        return true;
    }
    match (&after.value, &value.value) {
        (Value::Raw(left), Value::Raw(right)) if left == right => true,
        (Value::Raw(_), _) => {
            let mut after = after.clone();
            after.open();
            holds(&after, value)
        }
        (_, Value::Raw(_)) => {
            let mut value = value.clone();
            value.open();
            holds(after, &value)
        }
        (Value::Map(left), Value::Map(right)) => {
            right.iter().all(|(key, value)| match after.get(key) {
                Some(after) if key == TYPE_KEY => same_type(after, value),
                Some(after) => holds(after, value),
                None => empty(value),
            }) && left.iter().all(|(key, after)| unknown(after) || empty(after) || value.get(key).is_some())
        }
        (Value::List(left), Value::List(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(after, value)| holds(after, value))
        }
        (Value::String(text), Value::String(_)) if REDACTED.contains(&text.as_ref()) => true,
        _ => after.same(value),
    }
}

/// The same for a whole resource. Only dumps have its `@type`.
pub(crate) fn resource_holds(after: &Tree<'_>, value: &Tree<'_>) -> bool {
    let (mut after, mut value) = (after.clone(), value.clone());
    after.remove(TYPE_KEY);
    value.remove(TYPE_KEY);
    holds(&after, &value)
}

fn same_type(left: &Tree<'_>, right: &Tree<'_>) -> bool {
    left.as_str().map(type_name) == right.as_str().map(type_name)
}

fn empty(tree: &Tree<'_>) -> bool {
    matches!(&tree.value, Value::List(items) if items.is_empty())
}

/// Whether a message contains only unknown values, so that it may not have existed at all.
fn hollow(tree: &Tree<'_>) -> bool {
    unknown(tree)
        || match &tree.value {
            Value::Map(entries) => entries.iter().all(|(_, value)| hollow(value)),
            Value::List(items) => items.is_empty(),
            Value::EmptyList => true,
            _ => false,
        }
}

/// Removes nodes whose original value is unknown.
pub(crate) fn drop_unknown(tree: &mut Tree<'_>) {
    match &mut tree.value {
        Value::Map(entries) => {
            entries.retain(|(_, value)| value.origin != Origin::UNKNOWN);
            for (_, value) in entries {
                drop_unknown(value);
            }
        }
        Value::List(items) => items.iter_mut().for_each(drop_unknown),
        _ => {}
    }
}

impl Unmerger<'_> {
    /// Undoes a merge of `source` into `target`, both messages of this type.
    pub(crate) fn message<'a>(&mut self, message: Message, target: &mut Tree<'a>, source: &Tree<'a>) {
        if unknown(target) {
            return;
        }
        target.open();
        for (key, value) in source.readable().entries() {
            if let Some(field) = message.field(key) {
                let mark = enter(&mut self.path, field.name());
                self.field(message, field, target, value);
                self.path.truncate(mark);
            }
        }
    }

    /// Undoes a merge of payloads, the reverse of istiod's `MergeAnyWithAny`. `false` when there was no such merge, because
    /// types differ or are unknown.
    pub(crate) fn any_payload<'a>(&mut self, target: &mut Tree<'a>, source: &Tree<'a>) -> bool {
        let (Some(target_type), Some(source_type)) = (target.type_name(), source.type_name()) else { return false };
        let Some(message) = self.schema.message(&target_type).filter(|_| target_type == source_type) else {
            return false;
        };
        if let Some((old, value)) = payloads(message, target, source) {
            self.sub_message(message, old, &value);
        }
        true
    }

    fn field<'a>(&mut self, message: Message, field: Field, target: &mut Tree<'a>, value: &Tree<'a>) {
        let Some(old) = target.get_mut(field.name()) else {
            if !empty(value) {
                self.differs(None, value);
            }
            return;
        };
        if unknown(old) {
            // A later merge overwrote it.
            return self.note(What::Overwritten);
        }
        match field.cardinality() {
            // istiod never leaves such a list empty, so the merge did not create it.
            Cardinality::Repeated if self.never_empty(field) && old.items().len() <= value.items().len() => {
                self.differs(Some(old), value);
            }
            Cardinality::Repeated => self.list(old, value),
            Cardinality::Map => self.map(old, value),
            _ => match field.kind() {
                Kind::Message(inner) => self.sub_message(inner, old, value),
                _ => self.leaf(old, value),
            },
        }
        let is_message = matches!(old.value, Value::Map(_));
        let supplied = !value.entries().is_empty() || old.entries().is_empty();
        if is_message && supplied && hollow(old) {
            old.set_origin(Origin::UNKNOWN);
            self.note(What::Overwritten);
        }
        let (gone, overwritten) = (empty(old), unknown(old));
        if gone {
            target.remove(field.name());
        }
        if overwritten && let Some(oneof) = field.oneof() {
            let parent = self.path.rfind('.').map_or(0, |at| at + 1);
            for other in message.fields().filter(|it| it.oneof() == Some(oneof) && it.number() != field.number()) {
                let path = format!("{}{}", &self.path[..parent], other.name());
                self.notes.push(Note { path, what: What::PerhapsCleared });
            }
        }
    }

    fn sub_message<'a>(&mut self, message: Message, old: &mut Tree<'a>, value: &Tree<'a>) {
        match message.well_known() {
            Some(WellKnown::Duration | WellKnown::Timestamp) => self.leaf(old, value),
            Some(WellKnown::Wrapper(kind)) => {
                if is_default(kind, value) && !is_default(kind, old) {
                    self.note(What::Kept);
                } else {
                    self.leaf(old, value);
                }
            }
            Some(WellKnown::Any) => self.any_as_message(old, value),
            Some(WellKnown::Struct) => self.map(old, value),
            Some(WellKnown::ListValue) => self.list(old, value),
            Some(WellKnown::Value) => match (&old.value, &value.value) {
                // Equal: the same entries may have been here before, or anything else.
                _ if holds(old, value) => self.leaf(old, value),
                (Value::Map(_), Value::Map(_)) => self.map(old, value),
                (Value::List(_) | Value::EmptyList, Value::List(_) | Value::EmptyList) => self.list(old, value),
                _ => self.leaf(old, value),
            },
            _ => self.message(message, old, value),
        }
    }

    /// An `Any` inside a plain merge is overwritten as a whole; one without a payload overwrites only the type URL.
    fn any_as_message<'a>(&mut self, old: &mut Tree<'a>, value: &Tree<'a>) {
        let mut value = value.clone();
        value.open();
        if value.entries().len() > 1 {
            return self.leaf(old, &value);
        }
        if old.type_name() == value.type_name() {
            old.set_origin(Origin::UNKNOWN);
            self.note(What::Overwritten);
        } else {
            self.differs(Some(old), &value);
        }
    }

    fn leaf(&mut self, old: &mut Tree<'_>, value: &Tree<'_>) {
        if holds(old, value) {
            old.set_origin(Origin::UNKNOWN);
            self.note(What::Overwritten);
        } else {
            self.differs(Some(old), value);
        }
    }

    fn list<'a>(&mut self, old: &mut Tree<'a>, value: &Tree<'a>) {
        if self.replace_lists {
            return self.leaf(old, value);
        }
        let (have, want) = (old.items(), value.items());
        let first = have.len().checked_sub(want.len());
        let tail = first
            .and_then(|first| have.get(first..))
            .filter(|tail| tail.iter().zip(want).all(|(after, value)| holds(after, value)));
        match (tail.is_some(), first) {
            (true, Some(first)) => {
                self.note(What::Cut(have.len() - first));
                if let Some(items) = old.items_mut() {
                    items.truncate(first);
                }
            }
            _ => self.differs(Some(old), value),
        }
    }

    /// Whether Envoy requires an item in a list of the resource itself.
    fn never_empty(&self, field: Field) -> bool {
        !self.replace_lists
            && !self.path.contains(['.', '['])
            && !field.rules().is_empty()
            && Rules::read(field.rules()).list.is_some_and(|list| list.min > 0 && !list.ignore_empty)
    }

    /// Map entries are replaced whole.
    fn map<'a>(&mut self, old: &mut Tree<'a>, value: &Tree<'a>) {
        let mark = self.path.len();
        for (key, entry) in value.entries() {
            self.path.extend(["[\"", key, "\"]"]);
            match old.get_mut(key) {
                Some(old) if unknown(old) => self.note(What::Overwritten),
                Some(old) => self.leaf(old, entry),
                None => self.differs(None, entry),
            }
            self.path.truncate(mark);
        }
    }

    fn note(&mut self, what: What) {
        self.notes.push(Note { path: self.path.clone(), what });
    }

    fn differs(&mut self, found: Option<&Tree<'_>>, wanted: &Tree<'_>) {
        let text = |tree: &Tree<'_>| write(tree, Style::Compact);
        self.note(What::Differs { wanted: text(wanted), found: found.map(text) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::json;
    use crate::proto::merge::Merger;

    /// Merges, undoes the merge, and returns what is left (unknown as `null`) with the notes.
    fn there_and_back(message: &str, base: &str, patch: &str) -> (String, Vec<String>) {
        let schema = Schema::newest();
        let message = schema.message(message).unwrap();
        let (mut tree, source) = (json::parse(base).unwrap(), json::parse(patch).unwrap());
        Merger { schema, origin: Origin(1), replace_lists: false, log: None, path: String::new() }
            .merge(message, &mut tree, &source);
        tree.set_origin(Origin::ISTIOD);
        let mut notes = Vec::new();
        Unmerger { schema, replace_lists: false, notes: &mut notes, path: String::new() }
            .message(message, &mut tree, &source);
        blank(&mut tree);
        let notes = notes.into_iter().map(|note| format!("{} {:?}", note.path, note.what)).collect();
        (json::canonical(&tree), notes)
    }

    fn blank(tree: &mut Tree<'_>) {
        if unknown(tree) {
            tree.value = Value::Null;
        }
        match &mut tree.value {
            Value::Map(entries) => entries.iter_mut().for_each(|(_, value)| blank(value)),
            Value::List(items) => items.iter_mut().for_each(blank),
            _ => {}
        }
    }

    #[test]
    fn tails_are_cut_and_what_was_overwritten_is_unknown() {
        let (left, notes) = there_and_back(
            "envoy.config.route.v3.VirtualHost",
            r#"{"name":"a","domains":["x"],"require_tls":"ALL"}"#,
            r#"{"domains":["y","z"],"require_tls":"EXTERNAL_ONLY"}"#,
        );
        assert_eq!(left, r#"{"domains":["x"],"name":"a","require_tls":null}"#);
        assert_eq!(notes, ["domains Cut(2)", "require_tls Overwritten"]);
    }

    #[test]
    fn a_message_that_may_have_been_absent_is_unknown_as_a_whole() {
        let (left, _) = there_and_back(
            "envoy.config.cluster.v3.Cluster",
            r#"{"name":"a","upstream_connection_options":{"tcp_keepalive":{"keepalive_time":1}}}"#,
            r#"{"common_lb_config":{"healthy_panic_threshold":{"value":3}},
                "upstream_connection_options":{"tcp_keepalive":{"keepalive_probes":2}}}"#,
        );
        assert_eq!(
            left,
            r#"{"common_lb_config":null,"name":"a","upstream_connection_options":{"tcp_keepalive":{"keepalive_probes":null,"keepalive_time":1}}}"#
        );
    }

    #[test]
    fn members_of_a_oneof_may_have_been_cleared() {
        let (left, notes) = there_and_back(
            "envoy.config.route.v3.Route",
            r#"{"name":"a","redirect":{"path_redirect":"/"}}"#,
            r#"{"direct_response":{"status":403}}"#,
        );
        assert_eq!(left, r#"{"direct_response":null,"name":"a"}"#);
        assert!(notes.contains(&"redirect PerhapsCleared".to_owned()), "{notes:?}");
    }

    #[test]
    fn wrappers_at_their_default_stay_and_differences_are_told() {
        let schema = Schema::newest();
        let message = schema.message("envoy.config.route.v3.VirtualHost").unwrap();
        let mut tree = json::parse(r#"{"include_request_attempt_count":true}"#).unwrap();
        let source = json::parse(r#"{"name":"b","domains":["y"]}"#).unwrap();
        let mut notes = Vec::new();
        Unmerger { schema, replace_lists: false, notes: &mut notes, path: "x".to_owned() }
            .message(message, &mut tree, &source);
        assert_eq!(notes[0].path, "x.name");
        assert_eq!(notes[0].what, What::Differs { wanted: "\"b\"".to_owned(), found: None });
        assert_eq!(notes.len(), 2);
    }

    #[test]
    fn holding_ignores_what_is_unknown_and_redacted() {
        let value = json::parse(r#"{"a":{"b":"secret"},"c":1}"#).unwrap();
        let mut after = json::parse(r#"{"a":{"b":"[redacted]"},"c":2,"d":3}"#).unwrap();
        assert!(!holds(&after, &value));
        for key in ["c", "d"] {
            after.get_mut(key).unwrap().set_origin(Origin::UNKNOWN);
        }
        assert!(holds(&after, &value));
        drop_unknown(&mut after);
        assert_eq!(json::canonical(&after), r#"{"a":{"b":"[redacted]"}}"#);
    }
}
