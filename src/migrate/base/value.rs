//! The value of a patch as JSON with proto field names, consumed field by field.
//!
//! A move is proposed only for consumed fields; the rest decides whether a smaller EnvoyFilter stays.

use crate::proto::decode::{What, decode, parse_go_duration};
use crate::proto::json::from_json;
use crate::proto::schema::Schema;
use crate::proto::tree::{TYPE_KEY, Tree, Value, is_typed_struct, type_name};
use crate::words::count;
use serde_json::{Map, Value as Json};

/// A message whose fields are consumed one by one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fields(pub Json);

/// Keys of durations in native objects.
const DURATIONS: [&str; 12] = [
    "timeout",
    "perTryTimeout",
    "connectTimeout",
    "idleTimeout",
    "maxConnectionDuration",
    "interval",
    "time",
    "baseEjectionTime",
    "duration",
    "fixedDelay",
    "backoff",
    "maxAge",
];

/// Keys of signed 32-bit numbers in native objects, where Envoy has unsigned ones.
const SIGNED: [&str; 8] = [
    "maxConnections",
    "http1MaxPendingRequests",
    "http2MaxRequests",
    "maxRequestsPerConnection",
    "maxRetries",
    "maxConcurrentStreams",
    "maxEjectionPercent",
    "attempts",
];

/// A hash that equal values share, whatever the order of their keys.
pub(in crate::migrate) fn hash(value: &Json) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let of = |parts: &dyn Fn(&mut DefaultHasher)| {
        let mut hasher = DefaultHasher::new();
        parts(&mut hasher);
        hasher.finish()
    };
    match value {
        Json::Object(map) => {
            let entry = |(key, value): (&String, &Json)| of(&|hasher| (key, hash(value)).hash(hasher));
            map.iter().map(entry).fold(1, u64::wrapping_add)
        }
        Json::Array(items) => of(&|hasher| items.iter().for_each(|item| hash(item).hash(hasher))),
        // Numbers that are equal are written the same way.
        other => of(&|hasher| other.to_string().hash(hasher)),
    }
}

/// Why the API server or istiod would reject native settings: durations of less than a millisecond are rejected
/// (`x-kubernetes-validations` in the CustomResourceDefinitions of Istio 1.31; tested on an API server), and istiod cannot read
/// an object with a number that is too high.
pub(in crate::migrate) fn refused(native: &Json) -> Option<String> {
    let too_short = |text: &str| parse_go_duration(text).is_some_and(|nanos| nanos < 1_000_000);
    match native {
        Json::Object(map) => map.iter().find_map(|(key, value)| {
            if value.as_str().is_some_and(|text| DURATIONS.contains(&key.as_str()) && too_short(text)) {
                let text = value.as_str().unwrap_or_default();
                return Some(format!("the API server refuses `{key}: {text}`: durations have at least 1 ms"));
            }
            if SIGNED.contains(&key.as_str()) && value.as_i64().is_some_and(|number| i32::try_from(number).is_err()) {
                return Some(format!("istiod cannot read `{key}: {value}`: the number is at most {}", i32::MAX));
            }
            refused(value)
        }),
        Json::Array(items) => items.iter().find_map(refused),
        _ => None,
    }
}

/// A tree as JSON; configurations inside a TypedStruct are read as the named message.
pub(crate) fn json(tree: &Tree<'_>, schema: Schema) -> Json {
    if let Some(unwrapped) = typed_struct(tree, schema) {
        return unwrapped;
    }
    match &tree.value {
        Value::Null | Value::Raw(_) => Json::Null,
        Value::Bool(flag) => (*flag).into(),
        Value::Number(text) => serde_json::from_str(text).unwrap_or(Json::Null),
        Value::String(text) => text.as_ref().into(),
        Value::EmptyList => Json::Array(Vec::new()),
        Value::List(items) => items.iter().map(|item| json(item, schema)).collect(),
        Value::Map(entries) => entries.iter().map(|(key, value)| (key.to_string(), json(value, schema))).collect(),
    }
}

/// Whether some configuration is inside a TypedStruct.
pub(in crate::migrate) fn has_typed_struct(tree: &Tree<'_>) -> bool {
    let inner = tree.entries().iter().map(|(_, inner)| inner).chain(tree.items());
    tree.type_name().is_some_and(|of| is_typed_struct(&of)) || inner.into_iter().any(has_typed_struct)
}

/// The key that marks a configuration that was in a TypedStruct.
const WAS_STRUCT: &str = "(TypedStruct)";

/// Reads every TypedStruct of a resource as the message that it names, and marks it.
pub(crate) fn open_typed_structs(value: &mut Json, schema: Schema) {
    match value {
        Json::Object(map)
            if map.get(TYPE_KEY).and_then(Json::as_str).is_some_and(|of| is_typed_struct(type_name(of))) =>
        {
            if let Some(Json::Object(mut inner)) = typed_struct(&from_json(value), schema) {
                inner.insert(WAS_STRUCT.to_owned(), true.into());
                *value = Json::Object(inner);
            }
        }
        Json::Object(map) => map.values_mut().for_each(|inner| open_typed_structs(inner, schema)),
        Json::Array(items) => items.iter_mut().for_each(|inner| open_typed_structs(inner, schema)),
        _ => {}
    }
}

fn typed_struct(tree: &Tree<'_>, schema: Schema) -> Option<Json> {
    if !is_typed_struct(&tree.type_name()?) {
        return None;
    }
    let message = type_name(tree.str_at("type_url"));
    let value = tree.get("value").cloned().unwrap_or(Tree::empty());
    let decoded = decode(schema, schema.message(message)?, value);
    if decoded.notices.iter().any(|notice| notice.what != What::DefaultDropped) {
        return None;
    }
    let Json::Object(inner) = json(&decoded.tree, schema) else { return None };
    let mut typed = Map::new();
    typed.insert(TYPE_KEY.to_owned(), format!("type.googleapis.com/{message}").into());
    typed.extend(inner);
    Some(Json::Object(typed))
}

impl Fields {
    /// Whether every field was consumed.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.as_object().is_none_or(Map::is_empty)
    }

    /// Reads the value at a path of fields written `a/b/c`, without consuming it.
    pub(crate) fn peek(&self, path: &str) -> Option<&Json> {
        path.split('/').try_fold(&self.0, |value, key| value.get(key))
    }

    /// Takes the value at a path, and removes parents that become empty.
    pub(crate) fn take(&mut self, path: &str) -> Option<Json> {
        fn remove(value: &mut Json, path: &str) -> Option<Json> {
            let Some((head, rest)) = path.split_once('/') else { return value.as_object_mut()?.shift_remove(path) };
            let child = value.get_mut(head)?;
            let taken = remove(child, rest)?;
            if child.as_object().is_some_and(Map::is_empty) {
                value.as_object_mut()?.shift_remove(head);
            }
            Some(taken)
        }
        remove(&mut self.0, path)
    }

    /// Takes and drops a value.
    pub(crate) fn skip(&mut self, path: &str) {
        self.take(path);
    }

    /// Takes a text, enum name or duration; other values stay.
    pub(crate) fn text(&mut self, path: &str) -> Option<String> {
        self.peek(path)?.as_str()?;
        self.take(path)?.as_str().map(str::to_owned)
    }

    /// Takes a whole number, even if it is written as a string.
    pub(crate) fn number(&mut self, path: &str) -> Option<u64> {
        let value = self.peek(path)?;
        let number = value.as_u64().or_else(|| value.as_str()?.parse().ok())?;
        self.take(path);
        Some(number)
    }

    /// Takes a Boolean.
    pub(crate) fn flag(&mut self, path: &str) -> Option<bool> {
        self.peek(path)?.as_bool()?;
        self.take(path)?.as_bool()
    }

    /// Takes a message as its own fields.
    pub(crate) fn sub(&mut self, path: &str) -> Option<Fields> {
        self.peek(path)?.as_object()?;
        self.take(path).map(Fields)
    }

    /// Takes the items of a list.
    pub(crate) fn list(&mut self, path: &str) -> Vec<Fields> {
        match self.peek(path) {
            Some(Json::Array(_)) => {}
            _ => return Vec::new(),
        }
        match self.take(path) {
            Some(Json::Array(items)) => items.into_iter().map(Fields).collect(),
            _ => Vec::new(),
        }
    }

    /// Takes a list of texts.
    pub(crate) fn texts(&mut self, path: &str) -> Vec<String> {
        self.list(path).into_iter().filter_map(|item| item.0.as_str().map(str::to_owned)).collect()
    }

    /// Takes an `Any` if it contains that message.
    pub(crate) fn typed(&mut self, path: &str, message: &str) -> Option<Fields> {
        if any_type(self.peek(path)?) != message {
            return None;
        }
        let mut taken = Fields(self.take(path)?);
        taken.skip(TYPE_KEY);
        Some(taken)
    }
}

/// A fractional percentage as a percentage.
pub(in crate::migrate) fn percentage(of: &mut Fields) -> Option<Json> {
    let mut share = of.sub("percentage")?;
    let number = share.number("numerator")?;
    let per = match share.text("denominator").as_deref() {
        None | Some("HUNDRED") => 1,
        Some("TEN_THOUSAND") => 100,
        Some("MILLION") => 10_000,
        _ => return None,
    };
    // Above 100 %, Envoy and istiod do not agree.
    if !share.is_empty() || number > 100 * per {
        return None;
    }
    if number.is_multiple_of(per) {
        return Some((number / per).into());
    }
    #[expect(clippy::cast_precision_loss, reason = "at most a million")]
    let percent = number as f64 / per as f64;
    Some(percent.into())
}

/// The message in an `Any`, empty for anything else.
pub(crate) fn any_type(value: &Json) -> &str {
    value.get(TYPE_KEY).and_then(Json::as_str).map_or("", type_name)
}

/// Sets a value under a path of keys, creating maps as needed.
pub(crate) fn set_at(into: &mut Json, path: &str, value: impl Into<Json>) {
    if !into.is_object() {
        *into = Json::Object(Map::new());
    }
    let Some(map) = into.as_object_mut() else { return };
    match path.split_once('/') {
        None => {
            map.insert(path.to_owned(), value.into());
        }
        Some((head, rest)) => set_at(map.entry(head).or_insert_with(|| Json::Object(Map::new())), rest, value),
    }
}

/// The two forms of `loadBalancer` in a DestinationRule: the API server accepts one of them.
const BALANCERS: [&str; 2] = ["simple", "consistentHash"];

/// Merges maps into maps; anything else replaces.
pub(crate) fn merge(into: &mut Json, from: &Json) {
    match (into, from) {
        (Json::Object(into), Json::Object(from)) => {
            if BALANCERS.iter().any(|one| from.contains_key(*one)) {
                into.retain(|key, _| !BALANCERS.contains(&key.as_str()) || from.contains_key(key));
            }
            for (key, value) in from {
                match into.get_mut(key) {
                    Some(old) => merge(old, value),
                    None => {
                        into.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        (into, from) => *into = from.clone(),
    }
}

/// Whether an object anywhere in a value has an entry that passes a test.
pub(crate) fn has_entry(value: &Json, test: &dyn Fn(&str, &Json) -> bool) -> bool {
    match value {
        Json::Object(map) => map.iter().any(|(key, inner)| test(key, inner) || has_entry(inner, test)),
        Json::Array(items) => items.iter().any(|item| has_entry(item, test)),
        _ => false,
    }
}

/// Fields, as many as a sentence can hold.
fn named(paths: &[impl AsRef<str>]) -> String {
    const MOST: usize = 4;
    let shown: Vec<String> = paths.iter().take(MOST).map(|path| format!("`{}`", path.as_ref())).collect();
    match paths.len().saturating_sub(MOST) {
        0 => shown.join(", "),
        more => format!("{} and {}", shown.join(", "), count(more, "other", "others")),
    }
}

/// That no native object has these fields, as a sentence.
pub(in crate::migrate) fn fieldless(paths: &[impl AsRef<str>]) -> String {
    format!("{} {} no known native field", named(paths), if paths.len() == 1 { "has" } else { "have" })
}

/// That a native API has no field for what is left of a value, and when the patch could move.
pub(in crate::migrate) fn left<const N: usize>(api: &str, all: [&Fields; N]) -> String {
    let paths: Vec<String> = all.into_iter().flat_map(|fields| paths(&fields.0)).collect();
    let it = if paths.len() == 1 { "it" } else { "them" };
    format!("{api} has no field for {}: the patch can move only without {it}", named(&paths))
}

/// The fields of a value, each down to where it has several or is a message of its own type.
pub(in crate::migrate) fn paths(value: &Json) -> Vec<String> {
    let fields = value.as_object().into_iter().flatten().filter(|(key, _)| *key != TYPE_KEY);
    fields
        .map(|(key, inner)| {
            let mut path = key.clone();
            let mut inner = inner;
            while let Some((key, below)) = only_field(inner) {
                path = format!("{path}.{key}");
                inner = below;
            }
            path
        })
        .collect()
}

/// The only field of a message whose type its place tells.
fn only_field(value: &Json) -> Option<(&String, &Json)> {
    let map = value.as_object().filter(|map| map.len() == 1)?;
    map.iter().next().filter(|(key, _)| *key != TYPE_KEY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_becomes_empty_goes_too() {
        let mut fields = Fields(json!({ "a": { "b": { "c": "1", "d": true } }, "l": ["x", "y"] }));
        assert_eq!(fields.number("a/b/c"), Some(1));
        assert_eq!(fields.flag("a/b/d"), Some(true));
        assert_eq!(fields.texts("l"), ["x", "y"]);
        assert!(fields.is_empty());
    }

    #[test]
    fn a_value_of_another_type_stays() {
        let mut fields = Fields(json!({ "a": { "x": 1 } }));
        assert_eq!((fields.text("a"), fields.flag("a/x")), (None, None));
        assert!(!fields.is_empty());
    }

    #[test]
    fn merges_maps_and_replaces_the_rest() {
        let mut value = json!({ "a": { "b": 1 }, "l": [1] });
        merge(&mut value, &json!({ "a": { "c": 2 }, "l": [2] }));
        assert_eq!(value, json!({ "a": { "b": 1, "c": 2 }, "l": [2] }));
        set_at(&mut value, "a/d/e", "x");
        assert_eq!(value["a"]["d"]["e"], "x");
        let mut value = json!({ "simple": "RANDOM", "warmup": {} });
        merge(&mut value, &json!({ "consistentHash": {} }));
        assert_eq!(value, json!({ "warmup": {}, "consistentHash": {} }));
    }

    #[test]
    fn fields_that_are_left_are_named_to_their_end() {
        let deep = Fields(json!({ "a": { "b": { "c": 1 } }, "any": { "@type": "x", "d": 1 } }));
        assert_eq!(left("X", [&deep]), "X has no field for `a.b.c`, `any`: the patch can move only without them");
        let many = Fields(json!({ "a": 1, "b": 1, "c": 1, "d": 1, "e": 1 }));
        assert!(left("X", [&many]).contains("`d` and 1 other: "));
        assert!(left("X", [&Fields(json!({ "a": 1 }))]).ends_with("without it"));
    }
}
