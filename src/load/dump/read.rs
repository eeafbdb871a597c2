//! The bytes of a dump: plain, gzip or zstd, in one buffer of the right size.

use crate::load::limits::{self, Bound, Limits};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The bytes read, and what stopped the reading before its end.
pub(super) struct Bytes {
    pub(super) bytes: Vec<u8>,
    pub(super) error: Option<io::Error>,
}

/// Whether the layout of a dump is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Byte for byte, for writing it again.
    Kept,
    /// Without indentation, which is a third of Envoy's output: only for reading.
    Dropped,
}

/// Reads a file. Fails when it cannot be opened.
pub(super) fn file(path: &Path, layout: Layout, limits: Limits) -> io::Result<Bytes> {
    let file = File::open(path)?;
    let size = file.metadata().map_or(0, |metadata| metadata.len()).min(limits.bytes);
    Ok(stream(file, usize::try_from(size).unwrap_or(0), layout, limits))
}

/// Reads a stream to its end; `size` is the expected size, 0 if unknown.
pub(super) fn stream(input: impl Read, size: usize, layout: Layout, limits: Limits) -> Bytes {
    match limits::content(input, limits, Bound::Held) {
        Ok((content, packed)) => collect(content, if packed { 0 } else { size }, layout),
        Err(error) => Bytes { bytes: Vec::new(), error: Some(error) },
    }
}

fn collect(mut input: impl Read, size: usize, layout: Layout) -> Bytes {
    let mut bytes = Vec::new();
    // A file that claims more than the available memory is refused here instead of aborting.
    if let Err(error) = bytes.try_reserve_exact(size) {
        return Bytes { bytes, error: Some(error.into()) };
    }
    let error = match layout {
        Layout::Kept => input.read_to_end(&mut bytes).err(),
        Layout::Dropped => {
            let error = unindented(input, &mut bytes).err();
            bytes.shrink_to_fit();
            error
        }
    };
    Bytes { bytes, error }
}

/// Removes the leading blanks of lines.
pub(super) fn without_indentation(text: String) -> String {
    let indented = |at: usize| text.as_bytes().get(at + 1) == Some(&b' ');
    if !memchr::memchr_iter(b'\n', text.as_bytes()).any(indented) {
        return text;
    }
    let mut bytes = Vec::with_capacity(text.len() / 2);
    // Reading from memory does not fail, and removing blanks keeps the text valid UTF-8.
    let _ = unindented(text.as_bytes(), &mut bytes);
    bytes.shrink_to_fit();
    String::from_utf8(bytes).unwrap_or_default()
}

/// Reads lines without their leading blanks. JSON lines end between two tokens, never inside a string.
fn unindented(mut input: impl Read, out: &mut Vec<u8>) -> io::Result<()> {
    const CHUNK: usize = 128 << 10;
    const BLANKS: [u8; 8] = [b' '; 8];
    let mut chunk = vec![0; CHUNK];
    let mut at_start = false;
    loop {
        let read = match input.read(&mut chunk) {
            Ok(0) => return Ok(()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let mut rest = &chunk[..read];
        while !rest.is_empty() {
            if at_start {
                while let Some(less) = rest.strip_prefix(&BLANKS) {
                    rest = less;
                }
                while let Some(less) = rest.strip_prefix(b" ") {
                    rest = less;
                }
                at_start = rest.is_empty();
            }
            let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
            let (line, more) = rest.split_at(end);
            out.extend_from_slice(line);
            at_start |= line.ends_with(b"\n");
            rest = more;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_have_a_limit() {
        let read = stream(io::repeat(b'x'), 0, Layout::Kept, Limits::of_bytes(100));
        assert_eq!(read.error.unwrap().kind(), io::ErrorKind::FileTooLarge);
        assert!(read.bytes.len() <= 100);
        let read = stream(io::repeat(b'x').take(100), 0, Layout::Dropped, Limits::of_bytes(100));
        assert_eq!((read.bytes.len(), read.error.is_none()), (100, true));
    }

    #[test]
    fn lines_lose_their_indentation_and_nothing_else() {
        let line = format!("{}\"a  b\": \"  c\",\n", " ".repeat(19));
        let text = format!("{{\n{}\n{}  }} ", line.repeat(20_000), " ".repeat(200_000));
        let want = format!("{{\n{}\n}} ", "\"a  b\": \"  c\",\n".repeat(20_000));
        let read = stream(text.as_bytes(), 0, Layout::Dropped, Limits::default());
        assert!(read.error.is_none());
        assert_eq!(String::from_utf8(read.bytes).unwrap(), want);
        assert_eq!(stream(text.as_bytes(), 0, Layout::Kept, Limits::default()).bytes, text.as_bytes());
    }
}
