//! Edits the text of a YAML document so that it has another value: comments and the form of everything else stay.

use super::{yaml, yaml_text};
use crate::source::{FileId, Node, NodeValue};
use serde_json::{Map, Value as Json, json};

/// A change of the text.
struct Edit {
    from: usize,
    to: usize,
    text: String,
}

/// The text of a document with a new value; `None` if the edit cannot be made in the text. Values may be added and replaced,
/// not removed.
pub(crate) fn edited(text: &str, value: &Json) -> Option<String> {
    let (documents, _) = yaml::documents(FileId(0), text);
    let [document] = documents.as_slice() else { return None };
    let mut edits = Vec::new();
    change(text, document, value, &mut edits)?;
    edits.sort_by_key(|edit| std::cmp::Reverse((edit.from, edit.to)));
    let mut new = text.to_owned();
    for edit in edits {
        new.replace_range(edit.from..edit.to, &edit.text);
    }
    // The parser has the last word.
    let (documents, problems) = yaml::documents(FileId(0), &new);
    let [document] = documents.as_slice() else { return None };
    (problems.is_empty() && document.to_json() == *value).then_some(new)
}

/// The place of a node in the text.
fn place(node: &Node) -> Option<(usize, usize)> {
    Some((usize::try_from(node.span.start).ok()?, usize::try_from(node.span.end).ok()?))
}

fn change(text: &str, node: &Node, value: &Json, edits: &mut Vec<Edit>) -> Option<()> {
    if node.to_json() == *value {
        return Some(());
    }
    let (from, to) = place(node)?;
    let flow = text.get(from..)?.starts_with(['{', '[']);
    match (&node.value, value) {
        (NodeValue::Map(entries), Json::Object(map)) if !entries.is_empty() => {
            if entries.iter().any(|entry| !map.contains_key(&entry.key)) {
                return None;
            }
            for entry in entries.iter() {
                change(text, &entry.value, &map[&entry.key], edits)?;
            }
            let new: Map<String, Json> = map
                .iter()
                .filter(|(key, _)| node.get(key).is_none())
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            if new.is_empty() {
                return Some(());
            }
            let last = &entries.last()?.value;
            if flow {
                let end = before_bracket(text, to)?;
                edits.push(Edit { from: end, to: end, text: format!(", {}", members(&new)) });
            } else {
                let start = usize::try_from(entries.first()?.key_span.start).ok()?;
                let lines = yaml_text::write(&Json::Object(new)).ok()?;
                edits.push(after(text, last, &indented(&lines, column(text, start)))?);
            }
            Some(())
        }
        (NodeValue::List(items), Json::Array(list)) if !items.is_empty() && list.len() >= items.len() => {
            let more = list.len() - items.len();
            let kept = items.iter().map(Node::to_json).collect::<Vec<_>>();
            // New items stand before the others (a rule that comes first) or after them.
            let first = likeness(&list[more..], &kept) > likeness(list, &kept);
            let same = if first { &list[more..] } else { &list[..items.len()] };
            for (item, value) in items.iter().zip(same) {
                change(text, item, value, edits)?;
            }
            let new = if first { &list[..more] } else { &list[items.len()..] };
            if new.is_empty() {
                return Some(());
            }
            if flow {
                let inner = items_of(new);
                let (at, text) = if first {
                    (from + 1, format!("{inner}, "))
                } else {
                    (before_bracket(text, to)?, format!(", {inner}"))
                };
                edits.push(Edit { from: at, to: at, text });
                return Some(());
            }
            let start = text.get(..place(items.first()?)?.0)?.rfind('-')?;
            let lines = indented(&yaml_text::write(&json!(new)).ok()?, column(text, start));
            if first {
                let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
                // A list whose first item is on the line of its key has no line to insert before.
                text[line..start].trim().is_empty().then_some(())?;
                edits.push(Edit { from: line, to: line, text: format!("{lines}\n") });
            } else {
                edits.push(after(text, items.last()?, &lines)?);
            }
            Some(())
        }
        // A value on one line, written as JSON, which is YAML too.
        _ if flow
            || !text.get(from..to)?.contains('\n') && !text.get(from..to)?.starts_with(['|', '>', '&', '*', '!']) =>
        {
            edits.push(Edit { from, to, text: inline(value) });
            Some(())
        }
        _ => None,
    }
}

/// How much of a list is in another one, item by item.
fn likeness(list: &[Json], kept: &[Json]) -> usize {
    let same = |(one, other): (&Json, &Json)| match (one, other) {
        (Json::Object(one), Json::Object(other)) => {
            one.iter().filter(|(key, value)| other.get(*key) == Some(value)).count()
        }
        (one, other) => usize::from(one == other),
    };
    list.iter().zip(kept).map(same).sum()
}

/// A value on one line.
fn inline(value: &Json) -> String {
    match value {
        Json::Object(map) => format!("{{{}}}", members(map)),
        Json::Array(items) => format!("[{}]", items_of(items)),
        other => other.to_string(),
    }
}

fn items_of(items: &[Json]) -> String {
    items.iter().map(inline).collect::<Vec<_>>().join(", ")
}

fn members(map: &Map<String, Json>) -> String {
    let plain = |key: &str| {
        key.starts_with(|c: char| c.is_ascii_alphabetic()) && key.chars().all(|c| c.is_ascii_alphanumeric())
    };
    let member = |(key, value): (&String, &Json)| {
        let key = if plain(key) { key.clone() } else { Json::from(key.as_str()).to_string() };
        format!("{key}: {}", inline(value))
    };
    map.iter().map(member).collect::<Vec<_>>().join(", ")
}

/// Where to insert before the closing bracket of a flow collection.
fn before_bracket(text: &str, end: usize) -> Option<usize> {
    let inside = text.get(..end)?.strip_suffix(['}', ']'])?;
    Some(inside.trim_end().trim_end_matches(',').len())
}

/// The column of a byte.
fn column(text: &str, at: usize) -> usize {
    at - text[..at].rfind('\n').map_or(0, |line| line + 1)
}

fn indented(lines: &str, column: usize) -> String {
    let indent = " ".repeat(column);
    let lines = lines.lines().map(|line| if line.is_empty() { String::new() } else { format!("{indent}{line}") });
    lines.collect::<Vec<_>>().join("\n")
}

/// An insertion of lines after the line on which a node ends.
fn after(text: &str, node: &Node, lines: &str) -> Option<Edit> {
    let end = text.get(..place(node)?.1)?.trim_end().len();
    let at = end + text[end..].find('\n').unwrap_or(text.len() - end);
    Some(Edit { from: at, to: at, text: format!("\n{lines}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, change: impl FnOnce(&mut Json), wanted: Option<&str>) {
        let (documents, _) = yaml::documents(FileId(0), text);
        let mut value = documents[0].to_json();
        change(&mut value);
        assert_eq!(edited(text, &value).as_deref(), wanted);
    }

    #[test]
    fn comments_and_forms_stay() {
        let text = "# Ours.\nspec:\n  http:  # rules\n  - name: a # first\n    match: [{uri: {prefix: /a}}]\n  # The rest:\n  - name: b\n\n# end\n";
        check(
            text,
            |it| it["spec"]["http"][0]["timeout"] = "3s".into(),
            Some(
                "# Ours.\nspec:\n  http:  # rules\n  - name: a # first\n    match: [{uri: {prefix: /a}}]\n    timeout: 3s\n  # The rest:\n  - name: b\n\n# end\n",
            ),
        );
        check(
            text,
            |it| it["spec"]["http"][0]["match"][0]["port"] = 80.into(),
            Some(&text.replace("/a}}]", "/a}, port: 80}]")),
        );
        check(
            text,
            |it| it["spec"]["http"].as_array_mut().unwrap().insert(0, json!({ "name": "first" })),
            Some(&text.replace("  - name: a", "  - name: first\n  - name: a")),
        );
        check(
            text,
            |it| {
                it["spec"]["http"][1]["retries"] = json!({ "attempts": 2 });
                it["spec"]["http"].as_array_mut().unwrap().insert(0, json!({ "timeout": "1s" }));
            },
            Some(
                &text
                    .replace("  - name: a", "  - timeout: 1s\n  - name: a")
                    .replace("- name: b", "- name: b\n    retries:\n      attempts: 2"),
            ),
        );
        check(
            text,
            |it| it["spec"]["http"].as_array_mut().unwrap().push(json!({ "name": "c" })),
            Some(&text.replace("- name: b", "- name: b\n  - name: c")),
        );
        check(text, |it| it["spec"]["http"][1]["name"] = "c".into(), Some(&text.replace("name: b", "name: \"c\"")));
        check(
            text,
            |it| it["metadata"] = json!({ "namespace": "web" }),
            Some(&text.replace("name: b", "name: b\nmetadata:\n  namespace: web")),
        );
    }

    #[test]
    fn what_cannot_be_edited_is_left_alone() {
        let text = "a: &x {b: 1}\nc: *x\nd: |\n  text\n";
        check(text, |it| it["a"]["b"] = 2.into(), None);
        check(text, |it| it["d"] = "other".into(), None);
        check(text, |it| drop(it.as_object_mut().unwrap().remove("c")), None);
        check("a: {b: 1}\n---\nc: 1\n", |it| it["a"]["b"] = 2.into(), None);
        // A block of text at the end, and an empty list.
        check("a: 1 # one\nd: |\n  text\n", |it| it["e"] = 2.into(), Some("a: 1 # one\nd: |\n  text\ne: 2\n"));
        check("a: [] # none\n", |it| it["a"] = json!([1]), Some("a: [1] # none\n"));
        check("a: # none\n", |it| it["a"] = json!([1]), None);
    }
}
