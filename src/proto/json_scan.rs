//! A pull scanner over JSON text that finds where values start and end without reading what is inside them.
//!
//! Whole containers are skipped 64 bytes at a time with masks of the bytes that matter. There is no unsafe code and no
//! recursion, so the size and nesting of the text do not matter. It is not a validator: skipped text is checked when it is
//! decoded.

use std::ops::Range;

/// Why a scan stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The text ended inside a value that starts at this byte.
    Truncated(usize),
    /// This byte is not valid here.
    Unexpected(usize),
}

/// A place in JSON text, moved forward by its methods.
#[derive(Clone, Debug)]
pub(crate) struct Scanner<'t> {
    bytes: &'t [u8],
    at: usize,
}

/// The remaining members or items of an open container.
#[derive(Debug)]
pub(crate) struct Open {
    start: usize,
    first: bool,
}

impl<'t> Scanner<'t> {
    pub(crate) fn new(text: &'t str, at: usize) -> Self {
        Scanner { bytes: text.as_bytes(), at }
    }

    /// The next byte to be read.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// The first byte after white space; `None` at the end.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        let rest = self.bytes.get(self.at..)?;
        let space = rest.iter().position(|byte| !matches!(byte, b' ' | b'\n' | b'\r' | b'\t')).unwrap_or(rest.len());
        self.at += space;
        rest.get(space).copied()
    }

    /// Steps into an object or list if one starts here.
    pub(crate) fn open(&mut self, bracket: u8) -> Option<Open> {
        (self.peek() == Some(bracket)).then(|| {
            self.at += 1;
            Open { start: self.at - 1, first: true }
        })
    }

    /// The raw text of an object's next key, with the scanner at its value; `None` after the last one.
    pub(crate) fn member(&mut self, object: &mut Open) -> Result<Option<Range<usize>>, Fault> {
        if !self.another(object, b'}')? {
            return Ok(None);
        }
        let key = self.string()?;
        self.expect(b':', object.start)?;
        Ok(Some(key))
    }

    /// Whether the scanner is at another item of a list rather than after its end.
    pub(crate) fn item(&mut self, list: &mut Open) -> Result<bool, Fault> {
        self.another(list, b']')
    }

    /// Skips the remaining members or items and returns the whole container.
    pub(crate) fn close(&mut self, open: &Open) -> Result<Range<usize>, Fault> {
        self.at = container_end(self.bytes, self.at).ok_or(Fault::Truncated(open.start))?;
        Ok(open.start..self.at)
    }

    /// The text between the quotes of a string, escapes as they are.
    pub(crate) fn string(&mut self) -> Result<Range<usize>, Fault> {
        let quote = match self.peek() {
            Some(b'"') => self.at,
            Some(_) => return Err(Fault::Unexpected(self.at)),
            None => return Err(Fault::Truncated(self.at)),
        };
        let end = string_end(self.bytes, quote + 1).ok_or(Fault::Truncated(quote))?;
        self.at = end;
        Ok(quote + 1..end - 1)
    }

    /// The text between the quotes if the value is a string; any other value is skipped.
    pub(crate) fn string_or_skip(&mut self) -> Result<Option<Range<usize>>, Fault> {
        if self.peek() == Some(b'"') { self.string().map(Some) } else { self.skip().map(|_| None) }
    }

    /// Skips one value and returns its place.
    pub(crate) fn skip(&mut self) -> Result<Range<usize>, Fault> {
        match self.peek() {
            Some(b'{' | b'[') => {
                let open = Open { start: self.at, first: true };
                self.at += 1;
                self.close(&open)
            }
            Some(b'"') => self.string().map(|inside| inside.start - 1..inside.end + 1),
            Some(byte) if byte.is_ascii_alphanumeric() || byte == b'-' => {
                let start = self.at;
                let rest = self.bytes.get(start..).unwrap_or_default();
                let word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
                match rest.iter().position(|byte| !word(byte)) {
                    Some(length) => self.at += length,
                    None => self.at = self.bytes.len(),
                }
                Ok(start..self.at)
            }
            Some(_) => Err(Fault::Unexpected(self.at)),
            None => Err(Fault::Truncated(self.at)),
        }
    }

    fn another(&mut self, open: &mut Open, end: u8) -> Result<bool, Fault> {
        match self.peek() {
            Some(byte) if byte == end => {
                self.at += 1;
                return Ok(false);
            }
            Some(b',') if !open.first => self.at += 1,
            Some(_) if open.first => {}
            Some(_) => return Err(Fault::Unexpected(self.at)),
            None => return Err(Fault::Truncated(open.start)),
        }
        open.first = false;
        if self.peek().is_none() {
            return Err(Fault::Truncated(open.start));
        }
        Ok(true)
    }

    fn expect(&mut self, byte: u8, start: usize) -> Result<(), Fault> {
        match self.peek() {
            Some(found) if found == byte => {
                self.at += 1;
                Ok(())
            }
            Some(_) => Err(Fault::Unexpected(self.at)),
            None => Err(Fault::Truncated(start)),
        }
    }
}

/// One past the quote that ends a string whose inside starts at `at`.
pub(crate) fn string_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        match bytes.get(at) {
            Some(b'"') => return Some(at + 1),
            _ => at += 2,
        }
    }
}

/// One past the bracket that closes the container whose inside starts at `at`, brackets in strings not counted.
pub(crate) fn container_end(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let mut state = Skip { depth: 1, in_string: 0, escaped: false };
    let (blocks, tail) = rest.as_chunks::<BLOCK>();
    for (index, block) in blocks.iter().enumerate() {
        if let Some(end) = state.block(block) {
            return Some(at + index * BLOCK + end);
        }
    }
    let mut last = [b' '; BLOCK];
    last.get_mut(..tail.len())?.copy_from_slice(tail);
    state.block(&last).map(|end| at + blocks.len() * BLOCK + end)
}

/// Bytes looked at in one go: one bit each in a `u64`.
const BLOCK: usize = 64;

struct Skip {
    /// Number of open containers.
    depth: u32,
    /// All ones when the block starts inside a string, else 0.
    in_string: u64,
    /// Whether the first byte of the block is escaped by a backslash.
    escaped: bool,
}

impl Skip {
    /// Processes one block. Returns the offset one past the closing bracket if it is here.
    #[inline]
    fn block(&mut self, block: &[u8; BLOCK]) -> Option<usize> {
        let Masks { mut quotes, backslashes, opens, closes } = Masks::of(block);
        if backslashes != 0 || self.escaped {
            quotes &= !self.escaped_bytes(backslashes);
        }
        // Bit n of the running parity of quotes says whether byte n is inside a string.
        let mut inside = quotes;
        for shift in [1, 2, 4, 8, 16, 32] {
            inside ^= inside << shift;
        }
        inside ^= self.in_string;
        self.in_string = if inside >> 63 == 1 { u64::MAX } else { 0 };
        let opens = opens & !inside;
        let closes = closes & !inside;
        let closing = closes.count_ones();
        if closing < self.depth {
            self.depth = self.depth + opens.count_ones() - closing;
            return None;
        }
        let mut brackets = opens | closes;
        while brackets != 0 {
            let bit = brackets & brackets.wrapping_neg();
            if closes & bit == 0 {
                self.depth += 1;
            } else {
                self.depth -= 1;
                if self.depth == 0 {
                    return Some(bit.trailing_zeros() as usize + 1);
                }
            }
            brackets ^= bit;
        }
        None
    }

    /// The bytes that follow a backslash which is not itself escaped.
    fn escaped_bytes(&mut self, backslashes: u64) -> u64 {
        let mut escaped = u64::from(self.escaped);
        let mut left = backslashes & !escaped;
        self.escaped = false;
        while left != 0 {
            let bit = left & left.wrapping_neg();
            let next = bit << 1;
            self.escaped |= next == 0;
            escaped |= next;
            left &= !(bit | next);
        }
        escaped
    }
}

/// The positions of relevant bytes in a block, one bit per byte, lowest bit first.
struct Masks {
    quotes: u64,
    backslashes: u64,
    opens: u64,
    closes: u64,
}

/// `{` and `[`, and `}` and `]`, differ in this bit only.
const FOLDED: u8 = 0x20;

impl Masks {
    #[inline]
    fn of(block: &[u8; BLOCK]) -> Masks {
        if cfg!(vectorized) { Masks::by_bytes(block) } else { Masks::by_words(block) }
    }

    /// Loops that a compiler turns into a few instructions for 16 bytes each: twice as fast as words, and seven times as
    /// slow where it does not.
    #[inline]
    fn by_bytes(block: &[u8; BLOCK]) -> Masks {
        let folded = block.map(|byte| byte | FOLDED);
        let columns = [
            equal_bytes(block, b'"'),
            equal_bytes(block, b'\\'),
            equal_bytes(&folded, b'{'),
            equal_bytes(&folded, b'}'),
        ];
        let [quotes, backslashes, opens, closes] = columns.map(transposed);
        Masks { quotes, backslashes, opens, closes }
    }

    #[inline]
    fn by_words(block: &[u8; BLOCK]) -> Masks {
        let mut masks = Masks { quotes: 0, backslashes: 0, opens: 0, closes: 0 };
        let (words, _) = block.as_chunks::<8>();
        for (index, word) in words.iter().enumerate() {
            let word = u64::from_le_bytes(*word);
            let folded = word | splat(FOLDED);
            let shift = index * 8;
            masks.quotes |= equal(word, b'"') << shift;
            masks.backslashes |= equal(word, b'\\') << shift;
            masks.opens |= equal(folded, b'{') << shift;
            masks.closes |= equal(folded, b'}') << shift;
        }
        masks
    }
}

/// Which bytes of a block are `byte`: bit r of byte c stands for byte 8r + c.
#[inline]
fn equal_bytes(block: &[u8; BLOCK], byte: u8) -> u64 {
    /// The bit of each byte's row.
    const ROW: [u8; BLOCK] = {
        let mut row = [0; BLOCK];
        let mut index = 0;
        while index < BLOCK {
            row[index] = 1 << (index / 8);
            index += 1;
        }
        row
    };
    let mut bits = [0; BLOCK];
    for ((bit, found), row) in bits.iter_mut().zip(block).zip(ROW) {
        *bit = if *found == byte { row } else { 0 };
    }
    let (rows, _) = bits.as_chunks::<8>();
    rows.iter().fold(0, |all, row| all | u64::from_le_bytes(*row))
}

/// Eight rows of eight bits, with rows and columns exchanged (Warren, Hacker's Delight, 7-3).
#[inline]
fn transposed(bits: u64) -> u64 {
    let swap = |bits: u64, by: u32, which: u64| {
        let differs = (bits ^ (bits >> by)) & which;
        bits ^ differs ^ (differs << by)
    };
    let bits = swap(bits, 7, 0x00AA_00AA_00AA_00AA);
    let bits = swap(bits, 14, 0x0000_CCCC_0000_CCCC);
    swap(bits, 28, 0x0000_0000_F0F0_F0F0)
}

/// Eight bits: which of the eight bytes of `word` are `byte`.
#[inline]
fn equal(word: u64, byte: u8) -> u64 {
    const LOW: u64 = splat(0x7f);
    let differs = word ^ splat(byte);
    // The top bit of each byte is set when that byte is not zero; no carry crosses a byte.
    let zero = !(((differs & LOW) + LOW) | differs | LOW);
    (zero >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

const fn splat(byte: u8) -> u64 {
    0x0101_0101_0101_0101 * byte as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same by the simplest means.
    fn naive_end(bytes: &[u8], at: usize) -> Option<usize> {
        let (mut depth, mut in_string, mut escaped) = (1_u32, false, false);
        for (index, &byte) in bytes.iter().enumerate().skip(at) {
            let literal = std::mem::take(&mut escaped);
            match byte {
                b'\\' => escaped = !literal,
                b'"' if !literal => in_string = !in_string,
                b'{' | b'[' if !in_string => depth += 1,
                b'}' | b']' if !in_string => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(index + 1);
                    }
                }
                _ => {}
            }
        }
        None
    }

    proptest! {
        #[test]
        fn ends_where_the_plain_loop_ends(text in r#"[ a"\\{}\[\]é]{0,300}"#, at in 0_usize..4) {
            prop_assert_eq!(container_end(text.as_bytes(), at), naive_end(text.as_bytes(), at));
        }

        #[test]
        fn long_runs_of_backslashes(before in 0_usize..70, run in 0_usize..140, after in r#"["}\\ ]{0,80}"#) {
            let text = format!("{}\"{}{after}", " ".repeat(before), "\\".repeat(run));
            prop_assert_eq!(container_end(text.as_bytes(), 0), naive_end(text.as_bytes(), 0));
        }
    }

    #[test]
    fn bytes_are_told_apart() {
        for byte in 0..=255_u8 {
            for place in [0, 7, 8, 19, 63] {
                let mut block = [b'a'; BLOCK];
                block[place] = byte;
                let bit = |is: bool| u64::from(is) << place;
                for masks in [Masks::by_bytes(&block), Masks::by_words(&block)] {
                    assert_eq!(masks.quotes, bit(byte == b'"'), "{byte}");
                    assert_eq!(masks.backslashes, bit(byte == b'\\'), "{byte}");
                    assert_eq!(masks.opens, bit(matches!(byte, b'{' | b'[')), "{byte}");
                    assert_eq!(masks.closes, bit(matches!(byte, b'}' | b']')), "{byte}");
                }
            }
        }
    }

    #[test]
    fn walks_members_and_items() {
        let text = r#" { "a" : [1, "x\"]", {}] , "b":-1.5e3,"c":"\\" } tail"#;
        let mut scan = Scanner::new(text, 0);
        let mut object = scan.open(b'{').unwrap();
        let mut seen = Vec::new();
        while let Some(key) = scan.member(&mut object).unwrap() {
            seen.push((&text[key], &text[scan.skip().unwrap()]));
        }
        assert_eq!(seen, [("a", r#"[1, "x\"]", {}]"#), ("b", "-1.5e3"), ("c", r#""\\""#)]);
        assert_eq!(&text[scan.at()..], " tail");
    }

    #[test]
    fn says_how_it_failed() {
        let fault = |text: &str| Scanner::new(text, 0).skip().unwrap_err();
        assert_eq!(fault(r#" {"a": [1"#), Fault::Truncated(1));
        assert_eq!(fault(r#""abc\""#), Fault::Truncated(0));
        assert_eq!(fault("  <html>"), Fault::Unexpected(2));
        let mut scan = Scanner::new("[1 2]", 0);
        let mut list = scan.open(b'[').unwrap();
        assert_eq!(scan.item(&mut list), Ok(true));
        scan.skip().unwrap();
        assert_eq!(scan.item(&mut list), Err(Fault::Unexpected(3)));
    }

    #[test]
    fn deep_nesting_is_only_a_number() {
        let text = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
        assert_eq!(Scanner::new(&text, 0).skip(), Ok(0..2_000_000));
    }
}
