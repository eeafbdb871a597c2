//! Trees that contain raw text: opening it, the types of `Any`s, and comparing what two trees mean.

use super::items::Items;
use super::json;
use super::tree::{TYPE_KEY, Tree, Value, is_typed_struct, type_name};
use crate::budget;
use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

impl<'a> Tree<'a> {
    /// Parses raw text, if this is raw; `Any`s inside stay raw. Text that does not parse becomes an empty message. That cannot
    /// happen with loaded dumps, because the index has scanned every byte.
    pub(crate) fn open(&mut self) {
        if let Value::Raw(text) = self.value {
            let value = json::parse_opened(text).unwrap_or(Value::Map(Items::default()));
            self.value = value;
            self.set_origin(self.origin);
        }
    }

    /// Parses an object as far as these keys lead; lists and objects under all others stay raw if they are.
    pub(crate) fn open_partly(&mut self, keys: &[&str]) {
        match &mut self.value {
            Value::Raw(text) => match json::parse_partly(text, keys) {
                Ok(value) => {
                    self.value = value;
                    self.set_origin(self.origin);
                }
                Err(_) => self.open(),
            },
            // It may have been parsed as far as other keys lead. An `Any` stays raw.
            Value::Map(entries) => {
                let left = |value: &Tree<'_>| matches!(value.value, Value::Raw(_)) && value.type_url().is_none();
                let wanted = entries.iter_mut().filter(|(key, value)| left(value) && keys.contains(&key.as_ref()));
                wanted.for_each(|(_, value)| value.open());
            }
            _ => {}
        }
    }

    /// The tree to read from: itself, or a parsed copy when it is raw.
    pub(crate) fn readable(&self) -> Cow<'_, Tree<'a>> {
        if let Value::Raw(_) = self.value {
            let mut copy = self.clone();
            copy.open();
            return Cow::Owned(copy);
        }
        Cow::Borrowed(self)
    }

    /// The message in an `Any` with its name, also if it is inside a TypedStruct; there, fields may have their JSON names.
    pub(crate) fn message(&self) -> (String, Tree<'a>) {
        let open = self.readable().into_owned();
        let name = open.type_name().unwrap_or_default().into_owned();
        if is_typed_struct(&name) {
            let inner = type_name(open.str_at("type_url")).to_owned();
            return (inner, open.get("value").map_or_else(|| open.clone(), |value| value.readable().into_owned()));
        }
        (name, open)
    }

    /// A field by its name or, as the proxy also accepts in a TypedStruct, by its JSON name.
    pub(crate) fn get_either(&self, name: &str, json_name: &str) -> Option<&Tree<'a>> {
        self.get(name).or_else(|| self.get(json_name))
    }

    /// Parses everything raw inside.
    pub fn open_all(&mut self) {
        self.open();
        match &mut self.value {
            Value::List(items) => items.iter_mut().for_each(Tree::open_all),
            Value::Map(entries) => entries.iter_mut().for_each(|(_, value)| value.open_all()),
            _ => {}
        }
    }

    /// A copy that borrows nothing, with its origins.
    pub(crate) fn to_static(&self) -> Tree<'static> {
        let text = |text: &Cow<'_, str>| Cow::Owned(text.clone().into_owned());
        let value = match &self.value {
            Value::Null => Value::Null,
            Value::Bool(value) => Value::Bool(*value),
            Value::Number(number) => Value::Number(text(number)),
            Value::String(string) => Value::String(text(string)),
            Value::EmptyList => Value::EmptyList,
            Value::List(items) => Value::List(items.iter().map(Tree::to_static).collect()),
            Value::Map(entries) => {
                Value::Map(entries.iter().map(|(key, value)| (text(key), value.to_static())).collect())
            }
            Value::Raw(_) => return self.readable().to_static(),
        };
        Tree { origin: self.origin, value }
    }

    /// The value under a key, opened.
    pub(crate) fn opened(&mut self, key: &str) -> Option<&mut Tree<'a>> {
        let value = self.get_mut(key)?;
        value.open();
        Some(value)
    }

    /// Type URL of an `Any`, open or raw.
    pub(crate) fn type_url(&self) -> Option<Cow<'_, str>> {
        match &self.value {
            Value::Raw(text) => json::type_url(text),
            _ => self.get(TYPE_KEY).and_then(Tree::as_str).map(Cow::Borrowed),
        }
    }

    /// Message name in the type URL of an `Any`: what follows the last slash.
    pub(crate) fn type_name(&self) -> Option<Cow<'_, str>> {
        self.type_url().map(|url| match url {
            Cow::Borrowed(url) => Cow::Borrowed(type_name(url)),
            Cow::Owned(url) => Cow::Owned(type_name(&url).to_owned()),
        })
    }

    /// Whether two messages mean the same: the order of keys, open or raw, empty lists and number spelling do not matter.
    pub(crate) fn same(&self, other: &Tree<'_>) -> bool {
        budget::charge(1);
        match (&self.value, &other.value) {
            (Value::Raw(one), Value::Raw(two)) if one == two => true,
            (Value::Raw(_), _) | (_, Value::Raw(_)) => self.readable().same(&other.readable()),
            (Value::Null, Value::Null) => true,
            (Value::Bool(one), Value::Bool(two)) => one == two,
            (Value::Number(one), Value::Number(two)) => one == two || json::same_number(one, two),
            (Value::String(one), Value::String(two)) => one == two,
            (Value::List(_) | Value::EmptyList, Value::List(_) | Value::EmptyList) => {
                let (one, two) = (self.items(), other.items());
                one.len() == two.len() && one.iter().zip(two).all(|(one, two)| one.same(two))
            }
            (Value::Map(one), Value::Map(two)) => same_entries(one, two, None),
            _ => false,
        }
    }

    /// A number that is equal for messages that are the [`same`](Tree::same), and differs for most others.
    pub(crate) fn meaning(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.feed(&mut hasher);
        hasher.finish()
    }

    fn feed(&self, hasher: &mut DefaultHasher) {
        budget::charge(1);
        match &self.value {
            Value::Raw(_) => self.readable().feed(hasher),
            Value::Null => 0.hash(hasher),
            Value::Bool(is) => (1, is).hash(hasher),
            Value::Number(number) => (2, json::canonical_number(number)).hash(hasher),
            Value::String(text) => (3, &**text).hash(hasher),
            Value::List(_) | Value::EmptyList => {
                (4, self.items().len()).hash(hasher);
                self.items().iter().for_each(|item| item.feed(hasher));
            }
            // In any order; an empty repeated field counts as absent.
            Value::Map(entries) => {
                let there =
                    entries.iter().filter(|(_, value)| !matches!(&value.value, Value::List(items) if items.is_empty()));
                let sum = there.fold(0_u64, |sum, (key, value)| {
                    let mut entry = DefaultHasher::new();
                    (**key).hash(&mut entry);
                    value.feed(&mut entry);
                    sum.wrapping_add(entry.finish())
                });
                (5, sum).hash(hasher);
            }
        }
    }

    /// The same, ignoring the value under this key in both.
    pub(crate) fn same_but(&self, other: &Tree<'_>, key: &str) -> bool {
        same_entries(self.readable().entries(), other.readable().entries(), Some(key))
    }
}

/// Whether two maps have the same entries, in any order.
fn same_entries(one: &[(Cow<'_, str>, Tree<'_>)], two: &[(Cow<'_, str>, Tree<'_>)], but: Option<&str>) -> bool {
    // An empty repeated field counts as absent.
    let there = |(key, value): &&(Cow<'_, str>, Tree<'_>)| {
        but != Some(key.as_ref()) && !matches!(&value.value, Value::List(items) if items.is_empty())
    };
    let keys = |entries: &[(Cow<'_, str>, Tree<'_>)]| entries.iter().filter(there).count();
    if keys(one) != keys(two) {
        return false;
    }
    let pairs = || one.iter().filter(there).zip(two.iter().filter(there));
    if pairs().all(|((one, _), (two, _))| one == two) {
        return pairs().all(|((_, one), (_, two))| one.same(two));
    }
    let mut sorted = [one, two].map(|entries| entries.iter().filter(there).collect::<Vec<_>>());
    sorted.iter_mut().for_each(|entries| entries.sort_by(|(one, _), (two, _)| one.cmp(two)));
    let [one, two] = sorted;
    budget::charge_for(one.len());
    one.iter().zip(two).all(|((key, value), (other_key, other))| key == other_key && value.same(other))
}
