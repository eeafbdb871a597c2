//! Descriptors of protobuf files, as `protoc --descriptor_set_out` writes them: their services and imports.

use super::bytes::{Raw, read_field};
use std::collections::HashSet;

/// What a set of descriptors has.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct DescriptorSet {
    /// Full names of the services.
    pub(crate) services: Vec<String>,
    /// The first file whose import is not in a file before it, and that import.
    pub(crate) unresolved: Option<(String, String)>,
}

/// What cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// The bytes are no message at all.
    Set,
    /// A file in them.
    File,
}

impl DescriptorSet {
    /// Reads a `google.protobuf.FileDescriptorSet`.
    pub(crate) fn read(mut bytes: &[u8]) -> Result<DescriptorSet, Unreadable> {
        let mut set = DescriptorSet::default();
        let mut known = HashSet::new();
        while !bytes.is_empty() {
            let (number, raw) = read_field(&mut bytes).ok_or(Unreadable::Set)?;
            if let (1, Raw::Bytes(file)) = (number, raw) {
                set.add(file, &mut known).ok_or(Unreadable::File)?;
            }
        }
        Ok(set)
    }

    fn add<'b>(&mut self, mut file: &'b [u8], known: &mut HashSet<&'b str>) -> Option<()> {
        let (mut name, mut package) = ("", "");
        let (mut imports, mut services) = (Vec::new(), Vec::new());
        while !file.is_empty() {
            match read_field(&mut file)? {
                (1, Raw::Bytes(text)) => name = str::from_utf8(text).ok()?,
                (2, Raw::Bytes(text)) => package = str::from_utf8(text).ok()?,
                (3, Raw::Bytes(text)) => imports.push(str::from_utf8(text).ok()?),
                (6, Raw::Bytes(service)) => services.push(name_of(service)?),
                _ => {}
            }
        }
        let full = |service: &str| if package.is_empty() { service.to_owned() } else { format!("{package}.{service}") };
        self.services.extend(services.into_iter().map(full));
        if self.unresolved.is_none() {
            let missing = imports.into_iter().find(|import| !known.contains(import));
            self.unresolved = missing.map(|import| (name.to_owned(), import.to_owned()));
        }
        known.insert(name);
        Some(())
    }
}

/// The first field of a message.
fn name_of(mut message: &[u8]) -> Option<&str> {
    let mut name = "";
    while !message.is_empty() {
        if let (1, Raw::Bytes(text)) = read_field(&mut message)? {
            name = str::from_utf8(text).ok()?;
        }
    }
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::{DescriptorSet, Unreadable};
    use crate::proto::wire::field;

    fn file(name: &str, package: &str, imports: &[&str], services: &[&str]) -> Vec<u8> {
        let mut file = Vec::new();
        field(1, name.as_bytes(), &mut file);
        field(2, package.as_bytes(), &mut file);
        imports.iter().for_each(|import| field(3, import.as_bytes(), &mut file));
        for name in services {
            let mut service = Vec::new();
            field(1, name.as_bytes(), &mut service);
            field(6, &service, &mut file);
        }
        let mut set = Vec::new();
        field(1, &file, &mut set);
        set
    }

    #[test]
    fn services_have_full_names_and_imports_come_before_their_users() {
        let own = file("book.proto", "books.v1", &["http.proto"], &["Books", "Shelves"]);
        let http = file("http.proto", "", &[], &["Plain"]);
        let read = |parts: &[&[u8]]| DescriptorSet::read(&parts.concat()).unwrap();
        let good = read(&[&http, &own]);
        assert_eq!(good.services, ["Plain", "books.v1.Books", "books.v1.Shelves"]);
        assert_eq!(good.unresolved, None);
        let missing = Some(("book.proto".to_owned(), "http.proto".to_owned()));
        assert_eq!(read(&[&own]).unresolved, missing);
        assert_eq!(read(&[&own, &http]).unresolved, missing);
        assert_eq!(DescriptorSet::read(&[]).unwrap(), DescriptorSet::default());
        assert_eq!(DescriptorSet::read(b"syntax = \"proto3\";"), Err(Unreadable::Set));
        assert_eq!(DescriptorSet::read(b"\x0a\x02\x0a\x09"), Err(Unreadable::File));
    }
}
