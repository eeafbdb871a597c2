//! The store: sets of file descriptors, with every distinct file once. README.md describes the format.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

use prost::Message;

use super::{Header, Result};

/// The sets and, sorted by name and then by content, the distinct files.
#[derive(PartialEq)]
pub(super) struct Store {
    sets: Vec<(String, Vec<u16>)>,
    files: Vec<Vec<u8>>,
}

impl Store {
    /// Collects the sets. Fails if a set defines a name twice.
    pub(super) fn new(sets: Vec<(String, Vec<Vec<u8>>)>) -> Result<Store> {
        let mut distinct = BTreeMap::new();
        for (set, files) in &sets {
            let mut defined = BTreeSet::new();
            for file in files {
                let shape = Shape::decode(file.as_slice())?;
                let names = shape.messages.iter().map(|message| &message.name);
                for name in names.chain(shape.enums.iter().map(|found| &found.name)) {
                    let full_name = format!("{}.{name}", shape.package);
                    if !defined.insert(full_name.clone()) {
                        return Err(format!("{set} defines {full_name} twice").into());
                    }
                }
                distinct.insert((Header::decode(file.as_slice())?.name, file.clone()), 0);
            }
        }
        for (id, (_, number)) in distinct.iter_mut().enumerate() {
            *number = u16::try_from(id)?;
        }
        let number = |file: Vec<u8>| -> Result<u16> {
            let name = Header::decode(file.as_slice())?.name;
            distinct.get(&(name, file)).copied().ok_or_else(|| "a file got lost".into())
        };
        let mut numbered = Vec::new();
        for (name, files) in sets {
            numbered.push((name, files.into_iter().map(number).collect::<Result<_>>()?));
        }
        Ok(Store { sets: numbered, files: distinct.into_keys().map(|(_, file)| file).collect() })
    }

    /// The store in its committed form.
    pub(super) fn pack(&self) -> Result<Vec<u8>> {
        let mut raw = Vec::new();
        let u16 = |value: usize| u16::try_from(value).map(u16::to_le_bytes);
        raw.extend(u16(self.sets.len())?);
        for (name, ids) in &self.sets {
            raw.extend(u16(name.len())?);
            raw.extend(name.bytes());
            raw.extend(u16(ids.len())?);
            raw.extend(ids.iter().flat_map(|id| id.to_le_bytes()));
        }
        raw.extend(u32::try_from(self.files.len())?.to_le_bytes());
        for file in &self.files {
            raw.extend(u32::try_from(file.len())?.to_le_bytes());
            raw.extend(file);
        }
        Ok(zstd::bulk::compress(&raw, 19)?)
    }

    /// Reads a packed store.
    pub(super) fn unpack(packed: &[u8]) -> Result<Store> {
        fn number<const N: usize>(rest: &mut &[u8]) -> Result<usize> {
            let bytes = rest.split_off(..N).ok_or("the store ends early")?;
            Ok(bytes.iter().rev().fold(0, |all, &byte| all << 8 | usize::from(byte)))
        }
        fn take<'a>(rest: &mut &'a [u8], count: usize) -> Result<&'a [u8]> {
            rest.split_off(..count).ok_or_else(|| "the store ends early".into())
        }
        let raw = zstd::stream::decode_all(packed)?;
        let mut rest = raw.as_slice();
        let mut sets = Vec::new();
        for _ in 0..number::<2>(&mut rest)? {
            let length = number::<2>(&mut rest)?;
            let name = String::from_utf8(take(&mut rest, length)?.to_vec())?;
            let count = number::<2>(&mut rest)?;
            let ids = take(&mut rest, 2 * count)?.as_chunks().0.iter().map(|&id| u16::from_le_bytes(id)).collect();
            sets.push((name, ids));
        }
        let mut files = Vec::new();
        for _ in 0..number::<4>(&mut rest)? {
            let length = number::<4>(&mut rest)?;
            files.push(take(&mut rest, length)?.to_vec());
        }
        Ok(Store { sets, files })
    }

    /// A summary of a new store for reviewers: one line per set with its size.
    pub(super) fn manifest(&self) -> Result<String> {
        let mut out = String::from("set\tfiles\tmessages\tenums\tfields\n");
        for (name, ids) in &self.sets {
            let (mut messages, mut enums, mut fields) = (0, 0, 0);
            for &id in ids {
                let shape = Shape::decode(self.file(id))?;
                enums += shape.enums.len();
                let mut open: Vec<&MessageShape> = shape.messages.iter().collect();
                while let Some(message) = open.pop() {
                    messages += 1;
                    enums += message.enums.len();
                    fields += message.fields.len();
                    open.extend(&message.messages);
                }
            }
            writeln!(out, "{name}\t{}\t{messages}\t{enums}\t{fields}", ids.len())?;
        }
        Ok(out)
    }

    /// Describes how this store differs from another one, ignoring the order of files.
    pub(super) fn differences(&self, other: &Store) -> Vec<String> {
        let (new, old) = (self.by_set(), other.by_set());
        let mut all = Vec::new();
        for (&set, files) in &new {
            let Some(before) = old.get(set) else {
                all.push(format!("{set}: new"));
                continue;
            };
            for (name, &file) in files {
                match before.get(name) {
                    None => all.push(format!("{set}: {name} added")),
                    Some(&known) if known != file => all.push(format!("{set}: {name} changed")),
                    Some(_) => {}
                }
            }
            let removed = before.keys().filter(|&name| !files.contains_key(name));
            all.extend(removed.map(|name| format!("{set}: {name} removed")));
        }
        all.extend(old.keys().filter(|&&set| !new.contains_key(set)).map(|set| format!("{set}: removed")));
        all
    }

    /// The sets by name, each with its files.
    pub(super) fn into_sets(self) -> Vec<(String, Vec<Vec<u8>>)> {
        let files = |ids: &[u16]| ids.iter().map(|&id| self.file(id).to_vec()).collect();
        self.sets.iter().map(|(name, ids)| (name.clone(), files(ids))).collect()
    }

    fn by_set(&self) -> BTreeMap<&str, BTreeMap<String, &[u8]>> {
        let named = |&id: &u16| {
            let file = self.file(id);
            (Header::decode(file).unwrap_or_default().name, file)
        };
        self.sets.iter().map(|(set, ids)| (set.as_str(), ids.iter().map(named).collect())).collect()
    }

    fn file(&self, id: u16) -> &[u8] {
        self.files.get(usize::from(id)).map_or(&[], Vec::as_slice)
    }
}

/// The definitions of a file, for counting.
#[derive(Clone, PartialEq, prost::Message)]
struct Shape {
    #[prost(string, tag = "2")]
    package: String,
    #[prost(message, repeated, tag = "4")]
    messages: Vec<MessageShape>,
    #[prost(message, repeated, tag = "5")]
    enums: Vec<Named>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct MessageShape {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(message, repeated, tag = "2")]
    fields: Vec<Named>,
    #[prost(message, repeated, tag = "3")]
    messages: Vec<MessageShape>,
    #[prost(message, repeated, tag = "4")]
    enums: Vec<Named>,
}

/// Something with a name; other fields are skipped.
#[derive(Clone, PartialEq, prost::Message)]
struct Named {
    #[prost(string, tag = "1")]
    name: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, message: &str) -> Vec<u8> {
        let header = Header { name: name.to_owned(), package: "p".to_owned(), dependencies: Vec::new() };
        let shape = MessageShape { name: message.to_owned(), ..MessageShape::default() };
        // A message in two pieces is one message.
        let shape = Shape { messages: vec![shape], ..Shape::default() };
        [header.encode_to_vec(), shape.encode_to_vec()].concat()
    }

    fn store(sets: &[(&str, &[(&str, &str)])]) -> Result<Store> {
        let files = |files: &[(&str, &str)]| files.iter().map(|(name, message)| file(name, message)).collect();
        Store::new(sets.iter().map(|(name, list)| ((*name).to_owned(), files(list))).collect())
    }

    #[test]
    fn equal_files_are_stored_once_and_unpack_as_packed() {
        let store = store(&[("old", &[("b", "M"), ("a", "N")]), ("new", &[("a", "N"), ("b", "O")])]).unwrap();
        assert_eq!(store.files, [file("a", "N"), file("b", "M"), file("b", "O")]);
        assert_eq!(store.sets, [("old".to_owned(), vec![1, 0]), ("new".to_owned(), vec![0, 2])]);
        assert!(Store::unpack(&store.pack().unwrap()).unwrap() == store);
    }

    #[test]
    fn differences_name_set_and_file() {
        let before = store(&[("s", &[("a", "N"), ("b", "M")]), ("gone", &[("a", "N")])]).unwrap();
        let after = store(&[("s", &[("b", "O"), ("c", "M")]), ("new", &[("a", "N")])]).unwrap();
        let found = after.differences(&before);
        assert_eq!(found, ["new: new", "s: b changed", "s: c added", "s: a removed", "gone: removed"]);
        assert!(before.differences(&before).is_empty());
    }

    #[test]
    fn a_name_defined_twice_is_refused() {
        let error = store(&[("s", &[("a", "M"), ("b", "M")])]).err().unwrap();
        assert_eq!(error.to_string(), "s defines p.M twice");
    }
}
