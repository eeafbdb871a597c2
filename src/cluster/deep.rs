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
