//! What a merge changed, leaf by leaf.

use super::view;
use crate::proto::merge::{Change, ChangeKind};
use serde_json::Value;

/// The changes of a merge, with messages broken down to their leaves.
pub(super) fn leaves(changes: &[Change]) -> Vec<view::Change> {
    let mut out = Vec::new();
    for change in changes {
        let kind = kind_name(change.kind);
        let parse = |text: &Option<String>| text.as_deref().and_then(|text| serde_json::from_str(text).ok());
        let (before, after) = (parse(&change.before), parse(&change.after_text()));
        match change.kind {
            ChangeKind::Set | ChangeKind::EntryReplaced | ChangeKind::Cleared => {
                descend(&change.path, kind, before.as_ref(), after.as_ref(), &mut out);
            }
            _ => push(change.path.clone(), kind, before.as_ref(), after.as_ref(), &mut out),
        }
    }
    out
}

fn push(path: String, kind: &'static str, before: Option<&Value>, after: Option<&Value>, out: &mut Vec<view::Change>) {
    out.push(view::Change { path, kind, before: before.map(Value::to_string), after: after.map(Value::to_string) });
}

fn descend(path: &str, kind: &'static str, before: Option<&Value>, after: Option<&Value>, out: &mut Vec<view::Change>) {
    let object = |value: Option<&Value>| value.and_then(Value::as_object).filter(|map| !map.is_empty()).cloned();
    match (object(before), object(after)) {
        (None, None) => push(path.to_owned(), kind, before, after, out),
        (None, Some(_)) if before.is_some() => push(path.to_owned(), kind, before, after, out),
        (Some(_), None) if after.is_some() => push(path.to_owned(), kind, before, after, out),
        (old, new) => {
            let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
            for (key, value) in &new {
                let before = old.get(key);
                if before != Some(value) {
                    descend(&format!("{path}.{key}"), kind, before, Some(value), out);
                }
            }
            for (key, value) in old.iter().filter(|(key, _)| !new.contains_key(*key)) {
                descend(&format!("{path}.{key}"), kind, Some(value), None, out);
            }
        }
    }
}

const fn kind_name(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Set => "set",
        ChangeKind::Appended => "appended",
        ChangeKind::ListReplaced => "list-replaced",
        ChangeKind::EntryReplaced => "entry-replaced",
        ChangeKind::Cleared => "cleared",
        ChangeKind::Same => "same",
        ChangeKind::CannotReset => "cannot-reset",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::json;

    fn change(before: &str, after: &str) -> Vec<view::Change> {
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        leaves(&[Change {
            path: "a".to_owned(),
            kind: ChangeKind::Set,
            before: text(before),
            after: (!after.is_empty()).then(|| json::parse(after).expect("JSON")),
            before_origins: Vec::new(),
        }])
    }

    #[test]
    fn messages_are_taken_apart() {
        let paths = |changes: Vec<view::Change>| changes.into_iter().map(|it| it.path).collect::<Vec<_>>();
        assert_eq!(paths(change(r#"{"x":1,"y":{"z":2}}"#, r#"{"x":1,"y":{"z":3},"w":4}"#)), ["a.y.z", "a.w"]);
        assert_eq!(paths(change("", r#"{"x":1,"y":2}"#)), ["a.x", "a.y"]);
        assert_eq!(paths(change(r#"{"x":1}"#, "")), ["a.x"]);
        assert_eq!(paths(change("1", r#"{"x":1}"#)), ["a"]);
    }
}
