//! The text of a dump, in one piece or in parts, where several dumps share equal parts.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// The texts of resources, each stored once.
#[derive(Debug, Default)]
pub struct Pool {
    texts: HashSet<Arc<str>>,
}

impl Pool {
    fn get(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.texts.get(text) {
            return Arc::clone(known);
        }
        let new: Arc<str> = text.into();
        self.texts.insert(Arc::clone(&new));
        new
    }
}

/// The text of a dump.
#[derive(Debug)]
pub(super) enum Text {
    Whole(String),
    Shared(Pieces),
}

/// A partly shared text.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    parts: Vec<Part>,
    /// What is not shared: the text before the first part, then the text after each part.
    own: String,
    /// The whole text, built on first use.
    whole: OnceLock<String>,
}

/// A shared part, and the offset in the unshared text of what follows it.
#[derive(Debug)]
struct Part {
    start: u32,
    own: u32,
    text: Arc<str>,
}

impl Part {
    fn end(&self) -> usize {
        self.start as usize + self.text.len()
    }
}

impl Pieces {
    fn get(&self, range: Range<usize>) -> Option<&str> {
        let after = self.parts.partition_point(|part| part.start as usize <= range.start);
        let own_until = self.parts.get(after).map_or(self.own.len(), |next| next.own as usize);
        let Some(part) = after.checked_sub(1).and_then(|before| self.parts.get(before)) else {
            return self.own.get(..own_until)?.get(range);
        };
        let (text, start) = if range.start < part.end() {
            (&*part.text, part.start as usize)
        } else {
            (self.own.get(part.own as usize..own_until)?, part.end())
        };
        text.get(range.start - start..range.end.checked_sub(start)?)
    }

    fn join(&self) -> String {
        let first = self.parts.first().map_or(self.own.len(), |part| part.own as usize);
        let mut whole = self.own.get(..first).unwrap_or_default().to_owned();
        for (number, part) in self.parts.iter().enumerate() {
            let end = self.parts.get(number + 1).map_or(self.own.len(), |next| next.own as usize);
            whole.extend([&*part.text, self.own.get(part.own as usize..end).unwrap_or_default()]);
        }
        whole
    }
}

impl Text {
    /// The bytes of a range inside a shared part or between two.
    pub(super) fn get(&self, range: Range<usize>) -> Option<&str> {
        match self {
            Text::Whole(text) => text.get(range),
            Text::Shared(shared) => shared.get(range),
        }
    }

    /// The whole text.
    pub(super) fn whole(&self) -> &str {
        match self {
            Text::Whole(text) => text,
            Text::Shared(shared) => shared.whole.get_or_init(|| shared.join()),
        }
    }

    /// Cuts out these ranges, in the order of their places, replacing them with equal texts of the pool.
    pub(super) fn share(&mut self, ranges: impl Iterator<Item = Range<usize>>, pool: &mut Pool) {
        let Text::Whole(text) = self else { return };
        let (mut shared, mut at) = (Pieces::default(), 0);
        for range in ranges {
            let (Some(between), Some(part)) = (text.get(at..range.start), text.get(range.clone())) else { continue };
            shared.own.push_str(between);
            let (Ok(start), Ok(own)) = (u32::try_from(range.start), u32::try_from(shared.own.len())) else { return };
            shared.parts.push(Part { start, own, text: pool.get(part) });
            at = range.end;
        }
        shared.own.push_str(text.get(at..).unwrap_or_default());
        shared.own.shrink_to_fit();
        shared.parts.shrink_to_fit();
        *self = Text::Shared(shared);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_the_same_is_there_once() {
        let mut pool = Pool::default();
        let (mut one, mut other) = (Text::Whole("a{1}b{2}c".to_owned()), Text::Whole("xyz{2}{1}".to_owned()));
        one.share([1..4, 5..8].into_iter(), &mut pool);
        other.share([3..6, 6..9].into_iter(), &mut pool);
        assert_eq!((one.whole(), other.whole()), ("a{1}b{2}c", "xyz{2}{1}"));
        assert_eq!((one.get(5..8), other.get(3..6)), (Some("{2}"), Some("{2}")));
        assert!(std::ptr::eq(one.get(5..8).unwrap(), other.get(3..6).unwrap()));
        assert_eq!(
            (one.get(0..1), one.get(8..9), one.get(6..7), other.get(1..3)),
            (Some("a"), Some("c"), Some("2"), Some("yz"))
        );
        // No range of a resource or its wrapper crosses a cut; asking for one gives nothing.
        assert_eq!((one.get(0..3), one.get(9..12)), (None, None));
        assert_eq!(pool.texts.len(), 2);
    }
}
