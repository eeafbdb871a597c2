//! The bytes of a dump: plain, gzip or zstd, in one buffer of the right size.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

/// What could be read, and what stopped the reading before its end.
pub(super) struct Bytes {
    pub(super) bytes: Vec<u8>,
    pub(super) error: Option<io::Error>,
}

/// Whether a dump is kept as it is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Byte for byte, for whoever writes it again.
    Kept,
    /// Lines without their indentation, a third of what Envoy prints: only for looking at.
    Dropped,
}

/// Reads a file. Fails when it cannot be opened.
pub(super) fn file(path: &Path, layout: Layout) -> io::Result<Bytes> {
    let file = File::open(path)?;
    let size = file.metadata().map_or(0, |metadata| metadata.len());
    Ok(stream(file, usize::try_from(size).unwrap_or(0), layout))
}

/// Reads a stream to its end; `size` is the size to expect, 0 when unknown.
pub(super) fn stream(mut input: impl Read, size: usize, layout: Layout) -> Bytes {
    let mut magic = Vec::with_capacity(MAGIC);
    if let Err(error) = input.by_ref().take(MAGIC as u64).read_to_end(&mut magic) {
        return Bytes { bytes: magic, error: Some(error) };
    }
    let packing = Packing::of(&magic);
    let input = io::Cursor::new(magic).chain(input);
    match packing {
        Packing::None => collect(input, size, layout),
        Packing::Gzip => limited(flate2::read::MultiGzDecoder::new(BufReader::new(input)), LIMIT, layout),
        Packing::Zstd => match zstd::Decoder::new(input) {
            Ok(decoder) => limited(decoder, LIMIT, layout),
            Err(error) => Bytes { bytes: Vec::new(), error: Some(error) },
        },
    }
}

fn collect(mut input: impl Read, size: usize, layout: Layout) -> Bytes {
    let mut bytes = Vec::new();
    // A file that claims more than there is memory for is refused here instead of aborting.
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

/// Reads lines without the blanks they begin with. In JSON a line ends between two tokens, never inside a string.
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

/// Most bytes an archive may unpack to: a small file must not fill the memory.
const LIMIT: u64 = 4 << 30;

fn limited(input: impl Read, limit: u64, layout: Layout) -> Bytes {
    let mut input = input.take(limit);
    let mut read = collect(&mut input, 0, layout);
    if input.limit() == 0 && read.error.is_none() {
        read.error = Some(io::Error::new(io::ErrorKind::FileTooLarge, format!("it unpacks to {limit} bytes or more")));
    }
    read
}

/// Bytes that tell the packing.
const MAGIC: usize = 4;

enum Packing {
    None,
    Gzip,
    Zstd,
}

impl Packing {
    fn of(magic: &[u8]) -> Packing {
        match magic {
            [0x1f, 0x8b, ..] => Packing::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd] => Packing::Zstd,
            _ => Packing::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_have_a_limit() {
        let read = limited(io::repeat(b'x'), 100, Layout::Kept);
        assert_eq!((read.bytes.len(), read.error.unwrap().kind()), (100, io::ErrorKind::FileTooLarge));
        let read = limited(io::repeat(b'x').take(99), 100, Layout::Kept);
        assert_eq!((read.bytes.len(), read.error.is_none()), (99, true));
    }

    #[test]
    fn lines_lose_their_indentation_and_nothing_else() {
        let line = format!("{}\"a  b\": \"  c\",\n", " ".repeat(19));
        let text = format!("{{\n{}\n{}  }} ", line.repeat(20_000), " ".repeat(200_000));
        let want = format!("{{\n{}\n}} ", "\"a  b\": \"  c\",\n".repeat(20_000));
        let read = stream(text.as_bytes(), 0, Layout::Dropped);
        assert!(read.error.is_none());
        assert_eq!(String::from_utf8(read.bytes).unwrap(), want);
        assert_eq!(stream(text.as_bytes(), 0, Layout::Kept).bytes, text.as_bytes());
    }
}
