//! The full descriptors, unpacked from the committed store. That takes milliseconds, for the rare paths that need them all.

use std::{collections::HashMap, fmt};

use super::Schema;
use crate::proto::bytes::{Raw, read_field};

pub(super) static STORE: &[u8] = include_bytes!("../data/schema-store.bin.zst");

/// Why descriptors are unavailable.
#[derive(Debug)]
pub enum StoreError {
    /// The schema does not know this type.
    UnknownType(String),
    /// The store in the binary cannot be read; a build defect.
    Damaged(&'static str),
}

impl fmt::Display for StoreError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::UnknownType(name) => write!(out, "type {name} is not known"),
            StoreError::Damaged(what) => write!(out, "the embedded schema store is damaged: {what}"),
        }
    }
}

impl std::error::Error for StoreError {}

/// The parts of a file descriptor that are read here.
#[derive(Default)]
struct Header<'f> {
    name: &'f str,
    dependencies: Vec<&'f str>,
}

impl<'f> Header<'f> {
    /// Reads `name` (1) and `dependency` (3) of a `FileDescriptorProto`.
    fn read(mut file: &'f [u8]) -> Option<Header<'f>> {
        let mut header = Header::default();
        while !file.is_empty() {
            match read_field(&mut file)? {
                (1, Raw::Bytes(name)) => header.name = std::str::from_utf8(name).ok()?,
                (3, Raw::Bytes(name)) => header.dependencies.push(std::str::from_utf8(name).ok()?),
                _ => {}
            }
        }
        Some(header)
    }
}

impl Schema {
    /// The serialized `FileDescriptorProto`s of the files that define these types and of all they import, every file
    /// after its imports. Fails if a type is not in this schema.
    pub fn file_descriptors(self, roots: &[&str]) -> Result<Vec<Vec<u8>>, StoreError> {
        let mut wanted = Vec::new();
        for &root in roots {
            let message = self.message(root).ok_or_else(|| StoreError::UnknownType(root.to_owned()))?;
            wanted.push(message.file().to_owned());
        }
        let raw = zstd::stream::decode_all(STORE).map_err(|_| StoreError::Damaged("it does not unpack"))?;
        let files = files(&raw, self.name()).ok_or(StoreError::Damaged("it ends early"))?;
        let headers = files.iter().map(|&file| Header::read(file)).collect::<Option<Vec<_>>>();
        let headers = headers.ok_or(StoreError::Damaged("a file descriptor does not decode"))?;

        let by_name: HashMap<&str, usize> = headers.iter().enumerate().map(|(id, header)| (header.name, id)).collect();
        let mut needed = vec![false; files.len()];
        while let Some(name) = wanted.pop() {
            let &id = by_name.get(name.as_str()).ok_or(StoreError::Damaged("a file is missing"))?;
            if !std::mem::replace(&mut needed[id], true) {
                wanted.extend(headers[id].dependencies.iter().map(|&name| name.to_owned()));
            }
        }
        // The store keeps the files of a set in order of dependency.
        Ok(files.iter().zip(needed).filter(|(_, needed)| *needed).map(|(file, _)| file.to_vec()).collect())
    }
}

/// The file descriptors of a set. `None` if the store ends early or has no such set.
pub(super) fn files<'a>(store: &'a [u8], set: &str) -> Option<Vec<&'a [u8]>> {
    let mut reader = store;
    let mut ids = None;
    for _ in 0..u16(&mut reader)? {
        let length = u16(&mut reader)?;
        let name = reader.split_off(..length)?;
        let count = u16(&mut reader)?;
        let list = reader.split_off(..2 * count)?;
        if name == set.as_bytes() {
            ids = Some(list.as_chunks().0.iter().map(|&id| usize::from(u16::from_le_bytes(id))));
        }
    }
    let mut files = Vec::new();
    for _ in 0..u32(&mut reader)? {
        let length = u32(&mut reader)?;
        files.push(reader.split_off(..length)?);
    }
    ids?.map(|id| files.get(id).copied()).collect()
}

fn u16(reader: &mut &[u8]) -> Option<usize> {
    let bytes = reader.split_off(..2)?.try_into().ok()?;
    Some(u16::from_le_bytes(bytes).into())
}

fn u32(reader: &mut &[u8]) -> Option<usize> {
    let bytes = reader.split_off(..4)?.try_into().ok()?;
    usize::try_from(u32::from_le_bytes(bytes)).ok()
}
