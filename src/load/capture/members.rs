//! Reads the files of a tar archive one by one, with bounds on the values in their headers.
//!
//! The tar crate reads a long name into memory regardless of its size. So it only splits the archive here, and headers with
//! names (GNU `L`, PAX `x`) are read within [`LONGEST_NAME`] and [`LONGEST_HEADER`].

use crate::load::limits::{Excess, LONGEST_HEADER, LONGEST_NAME, Limits};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use tar::{Archive, EntryType};

/// Passes the regular files of an archive to `visit` until it has enough, and the names of links, sparse files and devices to
/// `other`. Fails when the archive is damaged or exceeds a bound.
pub(super) fn each(
    content: impl Read,
    limits: Limits,
    visit: &mut dyn FnMut(&Path, &mut dyn Read) -> io::Result<bool>,
    other: &mut dyn FnMut(&Path),
) -> io::Result<()> {
    let mut content = content;
    let mut head = Vec::with_capacity(BLOCK);
    content.by_ref().take(BLOCK as u64).read_to_end(&mut head)?;
    if let Some(other) = other_than_tar(&head) {
        return Err(damaged(other));
    }
    let mut archive = Archive::new(io::Cursor::new(head).chain(content));
    let mut name: Option<PathBuf> = None;
    let mut members = 0;
    for entry in archive.entries()?.raw(true) {
        let mut entry = entry?;
        members += 1;
        if members > limits.members() {
            return Err(Excess::Members(limits.members()).into());
        }
        match entry.header().entry_type() {
            EntryType::GNULongName => {
                let text = held(&mut entry, LONGEST_NAME)?;
                let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
                name = Some(path(&text[..end])?);
            }
            EntryType::XHeader => {
                let header = held(&mut entry, LONGEST_HEADER)?;
                name = pax_path(&header)?.or(name);
            }
            EntryType::GNULongLink => drop(held(&mut entry, LONGEST_NAME)?),
            EntryType::XGlobalHeader => {}
            kind => {
                let name = match name.take() {
                    Some(name) => name,
                    None => entry.header().path()?.into_owned(),
                };
                if !kind.is_file() && !kind.is_dir() {
                    other(&name);
                } else if kind.is_file() && !visit(&name, &mut entry)? {
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}

/// Length of a header.
const BLOCK: usize = 512;

/// What a file is that does not begin as a tar archive; `None` if it does, or if it is empty.
fn other_than_tar(head: &[u8]) -> Option<&'static str> {
    if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
        return Some("it is a zip archive, not a tar archive");
    }
    let is_end = head.iter().all(|byte| *byte == 0);
    let ascii = |byte: &u8| *byte == 0 || *byte == b' ' || (b'0'..=b'7').contains(byte);
    // The checksum, in octal.
    let is_header = head.len() == BLOCK && head.get(148..156).is_some_and(|sum| sum.iter().all(ascii));
    (!is_end && !is_header).then_some("it is not a tar archive")
}

/// The content of a header, if it is not longer than this.
fn held(entry: &mut tar::Entry<'_, impl Read>, longest: u64) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    entry.take(longest + 1).read_to_end(&mut text)?;
    if text.len() as u64 > longest {
        return Err(Excess::Name(LONGEST_NAME).into());
    }
    Ok(text)
}

/// The path of the next file in a PAX header. Fails when the header also gives a size: the rest of the archive would be read at
/// the wrong offset.
fn pax_path(header: &[u8]) -> io::Result<Option<PathBuf>> {
    let mut found = None;
    for extension in tar::PaxExtensions::new(header) {
        let extension = extension?;
        match extension.key_bytes() {
            b"path" if extension.value_bytes().len() as u64 > LONGEST_NAME => {
                return Err(Excess::Name(LONGEST_NAME).into());
            }
            b"path" => found = Some(path(extension.value_bytes())?),
            b"size" => return Err(damaged("it contains a file of 8 GiB or more")),
            key if key.starts_with(b"GNU.sparse.") => return Err(damaged("it contains a sparse file")),
            _ => {}
        }
    }
    Ok(found)
}

fn path(name: &[u8]) -> io::Result<PathBuf> {
    std::str::from_utf8(name).map(PathBuf::from).map_err(|_| damaged("it contains a file name that is not UTF-8"))
}

fn damaged(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::limits::excess;

    fn names(archive: &[u8]) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        let mut others = Vec::new();
        let mut visit = |name: &Path, content: &mut dyn Read| {
            let mut text = String::new();
            content.read_to_string(&mut text)?;
            names.push(format!("{}={text}", name.display()));
            Ok(true)
        };
        each(archive, Limits::default(), &mut visit, &mut |name| others.push(format!("{} not read", name.display())))?;
        names.append(&mut others);
        Ok(names)
    }

    fn header(kind: EntryType, size: u64) -> tar::Header {
        let mut header = tar::Header::new_ustar();
        header.set_path("short").unwrap();
        header.set_entry_type(kind);
        header.set_size(size);
        header.set_mode(0o600);
        header.set_cksum();
        header
    }

    #[test]
    fn long_names_of_gnu_and_pax_are_read() {
        let long = format!("bug-report/{}/x.yaml", "n".repeat(300));
        let mut gnu = tar::Builder::new(Vec::new());
        gnu.append_data(&mut header(EntryType::Regular, 1), &long, b"a".as_slice()).unwrap();
        gnu.append_data(&mut header(EntryType::Regular, 1), "y", b"b".as_slice()).unwrap();
        assert_eq!(names(&gnu.into_inner().unwrap()).unwrap(), [format!("{long}=a"), "y=b".to_owned()]);
        let mut pax = tar::Builder::new(Vec::new());
        pax.append_pax_extensions([("path", long.as_bytes()), ("mtime", b"1.5")]).unwrap();
        pax.append(&header(EntryType::Regular, 1), b"a".as_slice()).unwrap();
        assert_eq!(names(&pax.into_inner().unwrap()).unwrap(), [format!("{long}=a")]);
    }

    #[test]
    fn names_without_end_are_refused() {
        for kind in [EntryType::GNULongName, EntryType::GNULongLink, EntryType::XHeader] {
            let bytes = [header(kind, 1 << 30).as_bytes().as_slice(), &[b'x'; 100_000]].concat();
            let error = names(&bytes).unwrap_err();
            assert_eq!(excess(&error), Some(Excess::Name(LONGEST_NAME)), "{kind:?}: {error}");
        }
    }

    #[test]
    fn another_size_by_pax_is_refused() {
        let mut pax = tar::Builder::new(Vec::new());
        pax.append_pax_extensions([("size", b"9".as_slice())]).unwrap();
        pax.append(&header(EntryType::Regular, 1), b"a".as_slice()).unwrap();
        assert!(names(&pax.into_inner().unwrap()).is_err());
    }

    #[test]
    fn links_and_sparse_files_are_named_not_read() {
        let mut tar = tar::Builder::new(Vec::new());
        for kind in [EntryType::Link, EntryType::Symlink, EntryType::GNUSparse, EntryType::Fifo, EntryType::Directory] {
            tar.append(&header(kind, 0), io::empty()).unwrap();
        }
        tar.append(&header(EntryType::Regular, 1), b"a".as_slice()).unwrap();
        let found = names(&tar.into_inner().unwrap()).unwrap();
        assert_eq!(found, ["short=a", "short not read", "short not read", "short not read", "short not read"]);
        let mut pax = tar::Builder::new(Vec::new());
        pax.append_pax_extensions([("GNU.sparse.major", b"1".as_slice())]).unwrap();
        pax.append(&header(EntryType::Regular, 1), b"a".as_slice()).unwrap();
        assert!(names(&pax.into_inner().unwrap()).is_err());
    }
}
