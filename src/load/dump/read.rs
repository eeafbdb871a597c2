//! The bytes of a dump: plain, gzip or zstd, in one buffer of the right size.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

/// What could be read, and what stopped the reading before its end.
pub(super) struct Bytes {
    pub(super) bytes: Vec<u8>,
    pub(super) error: Option<io::Error>,
}

/// Reads a file. Fails when it cannot be opened.
pub(super) fn file(path: &Path) -> io::Result<Bytes> {
    let file = File::open(path)?;
    let size = file.metadata().map_or(0, |metadata| metadata.len());
    Ok(stream(file, usize::try_from(size).unwrap_or(0)))
}

/// Reads a stream to its end; `size` is the size to expect, 0 when unknown.
pub(super) fn stream(mut input: impl Read, size: usize) -> Bytes {
    let mut magic = Vec::with_capacity(MAGIC);
    if let Err(error) = input.by_ref().take(MAGIC as u64).read_to_end(&mut magic) {
        return Bytes { bytes: magic, error: Some(error) };
    }
    let packing = Packing::of(&magic);
    let input = io::Cursor::new(magic).chain(input);
    match packing {
        Packing::None => collect(input, size),
        Packing::Gzip => limited(flate2::read::MultiGzDecoder::new(BufReader::new(input)), LIMIT),
        Packing::Zstd => match zstd::Decoder::new(input) {
            Ok(decoder) => limited(decoder, LIMIT),
            Err(error) => Bytes { bytes: Vec::new(), error: Some(error) },
        },
    }
}

fn collect(mut input: impl Read, size: usize) -> Bytes {
    let mut bytes = Vec::new();
    // A file that claims more than there is memory for is refused here instead of aborting.
    if let Err(error) = bytes.try_reserve_exact(size) {
        return Bytes { bytes, error: Some(error.into()) };
    }
    let error = input.read_to_end(&mut bytes).err();
    Bytes { bytes, error }
}

/// Most bytes an archive may unpack to: a small file must not fill the memory.
const LIMIT: u64 = 4 << 30;

fn limited(input: impl Read, limit: u64) -> Bytes {
    let mut input = input.take(limit);
    let mut read = collect(&mut input, 0);
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
        let read = limited(io::repeat(b'x'), 100);
        assert_eq!((read.bytes.len(), read.error.unwrap().kind()), (100, io::ErrorKind::FileTooLarge));
        let read = limited(io::repeat(b'x').take(99), 100);
        assert_eq!((read.bytes.len(), read.error.is_none()), (99, true));
    }
}
