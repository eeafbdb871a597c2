//! Field and label selectors of a request.

use super::objects::{Object, at, map, text};
use serde_json::Value;

/// The conditions of a list or watch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Selectors {
    namespace: Option<String>,
    fields: Vec<(String, bool, String)>,
    labels: Vec<Label>,
}

/// A condition on labels.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Label {
    In(String, Vec<String>),
    NotIn(String, Vec<String>),
    Exists(String),
    Absent(String),
}

impl Selectors {
    /// From a namespace and the two selectors of a request. An unknown condition is ignored: a client gets more than it
    /// requested, never less.
    pub(super) fn new(namespace: Option<&str>, fields: &str, labels: &str) -> Selectors {
        let fields = fields.split(',').filter_map(|term| {
            let (field, rest) = term.split_once('=')?;
            let (field, equal) = match field.strip_suffix('!') {
                Some(field) => (field, false),
                None => (field, true),
            };
            Some((field.to_owned(), equal, rest.trim_start_matches('=').to_owned()))
        });
        Selectors {
            namespace: namespace.map(str::to_owned),
            fields: fields.collect(),
            labels: terms(labels).filter_map(label).collect(),
        }
    }

    /// Whether an object matches.
    pub(super) fn want(&self, object: &Object) -> bool {
        let labels = map(&object.value, &["metadata", "labels"]);
        let value = |key: &str| labels.and_then(|labels| labels.get(key)).and_then(Value::as_str);
        self.namespace.as_ref().is_none_or(|namespace| *namespace == object.namespace)
            && self.fields.iter().all(|(field, equal, wanted)| {
                let keys: Vec<&str> = field.split('.').collect();
                let found = match field.as_str() {
                    "metadata.namespace" => object.namespace.as_str(),
                    "metadata.name" => object.name.as_str(),
                    _ => text(&object.value, &keys),
                };
                // A field that only the API server sets does not exclude an object from a file.
                at(&object.value, &keys).is_none() && *equal && !field.starts_with("metadata.")
                    || (found == wanted) == *equal
            })
            && self.labels.iter().all(|label| match label {
                Label::In(key, values) => value(key).is_some_and(|found| values.iter().any(|value| value == found)),
                Label::NotIn(key, values) => !value(key).is_some_and(|found| values.iter().any(|value| value == found)),
                Label::Exists(key) => value(key).is_some(),
                Label::Absent(key) => value(key).is_none(),
            })
    }
}

/// Splits at commas outside parentheses.
fn terms(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    text.split(move |c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    })
    .map(str::trim)
    .filter(|term| !term.is_empty())
}

fn label(term: &str) -> Option<Label> {
    let values = |text: &str| {
        let inside = text.trim().strip_prefix('(')?.strip_suffix(')')?;
        Some(inside.split(',').map(|value| value.trim().to_owned()).collect::<Vec<_>>())
    };
    if let Some((key, rest)) = term.split_once(" notin ") {
        return Some(Label::NotIn(key.trim().to_owned(), values(rest)?));
    }
    if let Some((key, rest)) = term.split_once(" in ") {
        return Some(Label::In(key.trim().to_owned(), values(rest)?));
    }
    if let Some((key, value)) = term.split_once("!=") {
        return Some(Label::NotIn(key.to_owned(), vec![value.to_owned()]));
    }
    if let Some((key, value)) = term.split_once('=') {
        return Some(Label::In(key.to_owned(), vec![value.trim_start_matches('=').to_owned()]));
    }
    Some(match term.strip_prefix('!') {
        Some(key) => Label::Absent(key.to_owned()),
        None => Label::Exists(term.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::super::objects::Objects;
    use super::*;
    use serde_json::json;

    fn names(fields: &str, labels: &str) -> Vec<String> {
        let pod = |name: &str, labels: Value| json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels}, "type": name});
        let objects = Objects::new([pod("a", json!({"x": "1"})), pod("b", json!({"x": "2", "y": ""}))], "default");
        let selectors = Selectors::new(Some("default"), fields, labels);
        let kind = super::super::kinds::by_name("", "Pod").unwrap();
        objects.of(kind).filter(|object| selectors.want(object)).map(|object| object.name.clone()).collect()
    }

    #[test]
    fn conditions_are_those_of_kubernetes() {
        assert_eq!(names("", ""), ["a", "b"]);
        assert_eq!(names("metadata.name=a", ""), ["a"]);
        assert_eq!(names("metadata.name!=a", ""), ["b"]);
        assert_eq!(names("type!=a,metadata.namespace=default", ""), ["b"]);
        assert_eq!(names("", "x in (1, 3),!y"), ["a"]);
        assert_eq!(names("", "x notin (1)"), ["b"]);
        assert_eq!(names("", "y"), ["b"]);
        assert_eq!(names("", "x==2"), ["b"]);
        assert_eq!(names("", "x!=2"), ["a"]);
    }
}
