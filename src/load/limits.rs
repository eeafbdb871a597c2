//! Bounds on input: size, compression ratio, members and names of archives, values of a document.

use crate::source::ErrorMessage;
use std::cell::Cell;
use std::fmt;
use std::io::{self, Read};
use std::rc::Rc;
use std::str::FromStr;

/// Command line option that raises these bounds; error messages name it.
pub(crate) const OPTION: &str = "--max-input-size";

/// Unpacked size below which no compression ratio is suspicious.
const RATIO_FLOOR: u64 = 64 << 20;
/// Largest ratio of unpacked to packed bytes above the floor. Config dumps stay below 100.
const RATIO: u64 = 250;
/// The same for a whole archive: dumps of one mesh repeat each other, and only one is in memory at a time.
const ARCHIVE_RATIO_FLOOR: u64 = 1 << 30;
/// See [`ARCHIVE_RATIO_FLOOR`].
const ARCHIVE_RATIO: u64 = 20_000;
/// Longest path of a file in an archive, in bytes: what Linux accepts.
pub(crate) const LONGEST_NAME: u64 = 4096;
/// Longest extended header of a file in an archive (PAX), in bytes.
pub(crate) const LONGEST_HEADER: u64 = 64 << 10;
/// How many values any text may contain, whatever its size.
const VALUES_FLOOR: u64 = 1 << 18;
/// Bytes of text required for each further value. YAML and JSON of real objects use more than 20 per value.
const BYTES_PER_VALUE: u64 = 12;

/// Bounds for one input: a file, standard input or an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum size of one unpacked input in memory.
    pub bytes: u64,
    /// Whether the user chose the size, which disables the limit on compression ratios.
    pub chosen: bool,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { bytes: 1 << 30, chosen: false }
    }
}

impl FromStr for Limits {
    type Err = ErrorMessage;

    /// Reads a size such as `512Mi`, `4Gi` or a number of bytes. Fails with what to write instead.
    fn from_str(text: &str) -> Result<Limits, ErrorMessage> {
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let shift = match &text[digits.len()..] {
            "" => 0,
            "Ki" => 10,
            "Mi" => 20,
            "Gi" => 30,
            _ => return Err("use a size such as 512Mi or 4Gi".into()),
        };
        let number: u64 = digits.parse().map_err(|_| "use a size such as 512Mi or 4Gi".to_owned())?;
        match number.checked_mul(1 << shift) {
            // Places in texts are 32 bits.
            Some(bytes) if (1..=4 << 30).contains(&bytes) => Ok(Limits { bytes, chosen: true }),
            _ => Err("the size must be between 1 byte and 4Gi".into()),
        }
    }
}

impl Limits {
    /// Bounds with this many bytes that the user did not choose.
    pub const fn of_bytes(bytes: u64) -> Limits {
        Limits { bytes, chosen: false }
    }

    /// How many values a text of this many bytes may contain.
    pub(crate) fn values(self, bytes: usize) -> usize {
        let values = VALUES_FLOOR + bytes as u64 / BYTES_PER_VALUE;
        usize::try_from(if self.chosen { values.max(self.bytes / BYTES_PER_VALUE) } else { values })
            .unwrap_or(usize::MAX)
    }

    /// How many files an archive or a capture may contain.
    pub(crate) fn members(self) -> u64 {
        (self.bytes >> 10).max(1 << 20)
    }

    /// How many bytes an archive may unpack to in total: skipped content costs time too.
    pub(crate) fn archive(self) -> u64 {
        self.bytes.saturating_mul(64)
    }
}

/// A bound that an input exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Excess {
    /// More bytes in one input.
    Bytes(u64),
    /// Too many unpacked bytes for the packed size.
    Ratio(u64),
    /// An archive unpacks to more bytes.
    Archive(u64),
    /// The objects of an archive are larger than this in total.
    Objects(u64),
    /// More files in an archive.
    Members(u64),
    /// A longer name or header of a file in an archive.
    Name(u64),
    /// More values in one text.
    Values(usize),
}

impl Excess {
    /// What the user can do about it; nothing when no real input reaches the bound.
    pub(crate) fn help(self) -> Option<String> {
        match self {
            Excess::Name(_) => None,
            Excess::Ratio(_) => {
                Some(format!("this looks like a decompression bomb; if you trust the file, use {OPTION} 1Gi"))
            }
            _ => Some(format!("split it, or raise the limit with {OPTION}")),
        }
    }
}

/// `1 GiB`, `64 MiB`, `100 bytes`.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        _ if bytes >= 1 << 30 && bytes.is_multiple_of(1 << 30) => format!("{} GiB", bytes >> 30),
        _ if bytes >= 1 << 20 => format!("{} MiB", bytes >> 20),
        _ if bytes >= 1 << 10 && bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        1 => "1 byte".to_owned(),
        _ => format!("{bytes} bytes"),
    }
}

impl fmt::Display for Excess {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Excess::Bytes(limit) => write!(out, "it is larger than {}", size(*limit)),
            Excess::Ratio(ratio) => write!(out, "it unpacks to more than {ratio} times its size"),
            Excess::Archive(limit) => write!(out, "the archive unpacks to more than {}", size(*limit)),
            Excess::Objects(limit) => write!(out, "the objects in it are larger than {}", size(*limit)),
            Excess::Members(limit) => write!(out, "it contains more than {limit} files"),
            Excess::Name(limit) => write!(out, "it contains a file name longer than {}", size(*limit)),
            Excess::Values(limit) => write!(out, "it contains more than {limit} values"),
        }
    }
}

impl std::error::Error for Excess {}

impl From<Excess> for io::Error {
    fn from(excess: Excess) -> io::Error {
        io::Error::new(io::ErrorKind::FileTooLarge, excess)
    }
}

/// How many unpacked bytes may be held for this many packed bytes.
pub(crate) fn held(packed: u64) -> u64 {
    RATIO_FLOOR.saturating_add(packed.saturating_mul(RATIO))
}

/// The bound behind a read error.
pub(crate) fn excess(error: &io::Error) -> Option<Excess> {
    error.get_ref()?.downcast_ref::<Excess>().copied()
}

/// Counts the bytes that a decoder consumes.
struct Counted<R> {
    input: R,
    count: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.count.set(self.count.get() + read as u64);
        Ok(read)
    }
}

/// What unpacked content is used for.
#[derive(Clone, Copy)]
pub(crate) enum Bound {
    /// Held in memory.
    Held,
    /// An archive, streamed.
    Archive,
}

/// Content that fails with an [`Excess`] when it reaches a bound.
pub(crate) struct Bounded<R> {
    content: R,
    /// Packed bytes, if it is packed.
    packed: Option<Rc<Cell<u64>>>,
    read: u64,
    limits: Limits,
    bound: Bound,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.content.read(buffer)?;
        self.read += read as u64;
        let (limit, excess, floor, ratio) = match self.bound {
            Bound::Held => (self.limits.bytes, Excess::Bytes(self.limits.bytes), RATIO_FLOOR, RATIO),
            Bound::Archive => {
                let limit = self.limits.archive();
                (limit, Excess::Archive(limit), ARCHIVE_RATIO_FLOOR, ARCHIVE_RATIO)
            }
        };
        if self.read > limit {
            return Err(excess.into());
        }
        if let Some(packed) = self.packed.as_ref().filter(|_| !self.limits.chosen)
            && self.read > floor.saturating_add(packed.get().saturating_mul(ratio))
        {
            return Err(Excess::Ratio(ratio).into());
        }
        Ok(read)
    }
}

/// The content of an input within the bounds, unpacked if its first bytes are those of gzip or zstd. `is_packed` says whether
/// it was packed. Fails when the input cannot be read.
pub(crate) fn content<'r>(
    mut input: impl Read + 'r,
    limits: Limits,
    bound: Bound,
) -> io::Result<(Bounded<Box<dyn Read + 'r>>, bool)> {
    let mut magic = Vec::with_capacity(4);
    input.by_ref().take(4).read_to_end(&mut magic)?;
    let count = Rc::new(Cell::new(0));
    let (gzip, zstd) = (magic.starts_with(&[0x1f, 0x8b]), magic == [0x28, 0xb5, 0x2f, 0xfd]);
    let whole = Counted { input: io::Cursor::new(magic).chain(input), count: Rc::clone(&count) };
    let content: Box<dyn Read> = match (gzip, zstd) {
        (true, _) => Box::new(flate2::bufread::MultiGzDecoder::new(io::BufReader::with_capacity(1 << 16, whole))),
        (_, true) => Box::new(zstd::Decoder::new(whole)?),
        _ => Box::new(whole),
    };
    let packed = (gzip || zstd).then_some(count);
    let is_packed = packed.is_some();
    Ok((Bounded { content, packed, read: 0, limits, bound }, is_packed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!("512Mi".parse(), Ok(Limits { bytes: 512 << 20, chosen: true }));
        assert_eq!("1000".parse(), Ok(Limits { bytes: 1000, chosen: true }));
        for bad in ["", "Gi", "5Gi", "0", "-1", "1G", "1.5Gi", "99999999999999999999Gi"] {
            assert!(bad.parse::<Limits>().is_err(), "{bad}");
        }
        assert_eq!([size(1 << 30), size(64 << 20), size(1), size(100)], ["1 GiB", "64 MiB", "1 byte", "100 bytes"]);
    }

    #[test]
    fn bounds_hold_and_say_which() {
        let read = |bytes: &[u8], limits| {
            let (mut content, packed) = content(bytes, limits, Bound::Held).unwrap();
            (io::copy(&mut content, &mut io::sink()), packed)
        };
        let (read_all, packed) = read(b"0123456789", Limits::of_bytes(10));
        assert_eq!((read_all.unwrap(), packed), (10, false));
        let error = read(b"0123456789a", Limits::of_bytes(10)).0.unwrap_err();
        assert_eq!(excess(&error), Some(Excess::Bytes(10)));
        let bomb = zstd::encode_all(io::repeat(b'x').take(80 << 20), 1).unwrap();
        assert!(bomb.len() < 20_000);
        let (unpacked, packed) = read(&bomb, Limits::default());
        assert_eq!((excess(&unpacked.unwrap_err()), packed), (Some(Excess::Ratio(RATIO)), true));
        let chosen = Limits { chosen: true, ..Limits::default() };
        assert_eq!(read(&bomb, chosen).0.unwrap(), 80 << 20);
    }
}
