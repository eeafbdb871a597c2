//! Reads objects of any nesting: levels deeper than anything needed are dropped instead of making the rest unreadable.
//!
//! The API server stores values up to 10,000 levels deep, serde_json reads 128. Without this, one deeply nested object would
//! end every list and watch of its kind. serde_json can skip values of any depth.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::core::{ApiResource, DynamicResourceScope};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;

/// Maximum number of levels. serde_json also counts those of lists and watches around an object.
const LEVELS: usize = 100;

/// Reads JSON; values below this many levels become null.
pub(super) fn read(text: &str) -> Result<Value, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = Level(LEVELS).deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// A page of a list.
#[derive(Debug)]
pub(super) struct Page<T> {
    /// What was kept of its objects; absent if it has none, not even an empty list.
    pub items: Option<Vec<T>>,
    /// The token of the next page; empty on the last one.
    pub next: String,
}

/// Reads a page of a list and passes each object to `keep` before the next one is read: the values of a page take many times the
/// memory of its text.
pub(super) fn page<T>(text: &str, keep: &mut dyn FnMut(Value) -> Option<T>) -> Result<Page<T>, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let page = PageOf(keep).deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(page)
}

struct PageOf<'k, T>(&'k mut dyn FnMut(Value) -> Option<T>);

impl<'de, T> DeserializeSeed<'de> for PageOf<'_, T> {
    type Value = Page<T>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Page<T>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, T> Visitor<'de> for PageOf<'_, T> {
    type Value = Page<T>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a list")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Page<T>, A::Error> {
        let mut page = Page { items: None, next: String::new() };
        while let Some(key) = entries.next_key::<String>()? {
            match key.as_str() {
                "items" => page.items = Some(entries.next_value_seed(Items(&mut *self.0))?),
                "metadata" => {
                    let metadata = entries.next_value_seed(Level(LEVELS - 1))?;
                    let next = metadata.get("continue").and_then(Value::as_str);
                    next.unwrap_or_default().clone_into(&mut page.next);
                }
                _ => {
                    entries.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(page)
    }
}

struct Items<'k, T>(&'k mut dyn FnMut(Value) -> Option<T>);

impl<'de, T> DeserializeSeed<'de> for Items<'_, T> {
    type Value = Vec<T>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<T>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T> Visitor<'de> for Items<'_, T> {
    type Value = Vec<T>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the items of a list")
    }

    fn visit_unit<E>(self) -> Result<Vec<T>, E> {
        Ok(Vec::new())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<T>, A::Error> {
        let mut kept = Vec::new();
        while let Some(object) = items.next_element_seed(Level(LEVELS - 2))? {
            kept.extend((self.0)(object));
        }
        Ok(kept)
    }
}

/// An object of a watch.
#[derive(Clone, Debug)]
pub(super) struct Whole {
    metadata: ObjectMeta,
    /// All of it.
    pub value: Value,
}

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Whole, D::Error> {
        let value = Level(LEVELS).deserialize(deserializer)?;
        let metadata = value.get("metadata").cloned().unwrap_or_default();
        let metadata = if metadata.is_null() { ObjectMeta::default() } else { of_json(metadata)? };
        Ok(Whole { metadata, value })
    }
}

fn of_json<E: Error>(metadata: Value) -> Result<ObjectMeta, E> {
    serde_json::from_value(metadata).map_err(E::custom)
}

impl kube::Resource for Whole {
    type DynamicType = ApiResource;
    type Scope = DynamicResourceScope;

    fn kind(of: &ApiResource) -> Cow<'_, str> {
        of.kind.as_str().into()
    }

    fn group(of: &ApiResource) -> Cow<'_, str> {
        of.group.as_str().into()
    }

    fn version(of: &ApiResource) -> Cow<'_, str> {
        of.version.as_str().into()
    }

    fn api_version(of: &ApiResource) -> Cow<'_, str> {
        of.api_version.as_str().into()
    }

    fn plural(of: &ApiResource) -> Cow<'_, str> {
        of.plural.as_str().into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

/// Remaining levels.
#[derive(Clone, Copy)]
struct Level(usize);

impl<'de> DeserializeSeed<'de> for Level {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        if self.0 == 0 {
            return deserializer.deserialize_ignored_any(IgnoredAny).map(|_| Value::Null);
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Level {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Level(self.0 - 1))? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            map.insert(key, entries.next_value_seed(Level(self.0 - 1))?);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube::core::{ObjectList, WatchEvent};

    fn filter(levels: usize) -> String {
        let deep = format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
        format!(
            r#"{{"apiVersion":"networking.istio.io/v1alpha3","kind":"EnvoyFilter","metadata":{{"name":"deep","namespace":"shop"}},"spec":{{"a":{deep},"b":[1,-1,1.5,"é",true,null]}}}}"#
        )
    }

    #[test]
    fn a_page_is_read_object_by_object() {
        let read = |text: &str| page(text, &mut |object| object.get("a").and_then(Value::as_u64));
        let all = read(r#"{"kind": "List", "metadata": {"continue": "x"}, "items": [{"a": 1}, {"b": 2}, {"a": 3}]}"#);
        let Page { items, next } = all.unwrap();
        assert_eq!((items, next.as_str()), (Some(vec![1, 3]), "x"));
        // Go writes an empty list as null.
        for (text, items) in [(r#"{"items": null}"#, Some(vec![])), ("{}", None)] {
            let page = read(text).unwrap();
            assert_eq!((page.items, page.next.as_str()), (items, ""), "{text}");
        }
        for text in ["", "[]", r#"{"items": {}}"#, r#"{"items": [{"a": 1}"#, r#"{"items": []} x"#] {
            assert!(read(text).is_err(), "{text}");
        }
        // One object that is too deep does not end the list.
        let deep =
            format!(r#"{{"items": [{{"a": 1, "b": {}1{}}}, {{"a": 2}}]}}"#, "[".repeat(5_000), "]".repeat(5_000));
        assert_eq!(read(&deep).unwrap().items, Some(vec![1, 2]));
    }

    #[test]
    fn any_depth_is_read_up_to_a_level() {
        for levels in [1, 50, 200, 9_900] {
            let value = read(&filter(levels)).unwrap();
            assert_eq!(value["spec"]["b"].to_string(), r#"[1,-1,1.5,"é",true,null]"#);
            assert_eq!(value["spec"]["a"].to_string().contains("null"), levels > 90, "{levels}");
        }
        assert!(read("{").is_err() && read("{} x").is_err());
    }

    #[test]
    fn lists_and_watches_survive_a_deep_object() {
        let list = format!(
            r#"{{"apiVersion":"v1","kind":"List","metadata":{{"resourceVersion":"5"}},"items":[{},{}]}}"#,
            filter(9_900),
            filter(1)
        );
        let list: ObjectList<Whole> = serde_json::from_str(&list).unwrap();
        assert_eq!(list.items.len(), 2);
        let event = format!(r#"{{"type":"ADDED","object":{}}}"#, filter(9_900));
        let event: WatchEvent<Whole> = serde_json::from_str(&event).unwrap();
        let WatchEvent::Added(object) = event else { panic!("{event:?}") };
        assert_eq!(object.value["metadata"]["name"], "deep");
    }
}
