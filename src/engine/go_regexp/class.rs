//! Sets of characters: Go's Perl, POSIX and Unicode classes.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

/// A set of characters as sorted inclusive ranges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ranges(ClassUnicode);

impl Ranges {
    /// No character.
    pub(super) fn none() -> Ranges {
        Ranges(ClassUnicode::empty())
    }

    /// These ranges.
    pub(super) fn of(ranges: &[(char, char)]) -> Ranges {
        Ranges(ClassUnicode::new(ranges.iter().map(|&(from, to)| ClassUnicodeRange::new(from, to))))
    }

    pub(super) fn add(&mut self, other: &Ranges) {
        self.0.union(&other.0);
    }

    pub(super) fn negate(&mut self) {
        self.0.negate();
    }

    /// Adds the other cases of every character.
    pub(super) fn fold(&mut self) {
        // Fails only without Unicode tables, which the default features of the crate include.
        let _ = self.0.try_case_fold_simple();
    }

    pub(super) fn contains(&self, one: char) -> bool {
        let ranges = self.0.ranges();
        let at = ranges.partition_point(|range| range.end() < one);
        ranges.get(at).is_some_and(|range| range.start() <= one)
    }

    /// The number of runes in Go's table for it: two per range.
    pub(super) fn runes(&self) -> u64 {
        2 * u64::try_from(self.0.ranges().len()).unwrap_or(u64::MAX)
    }

    /// The only character, if there is exactly one.
    pub(super) fn single(&self) -> Option<char> {
        match self.0.ranges() {
            [range] if range.start() == range.end() => Some(range.start()),
            _ => None,
        }
    }
}

const WORD: &[(char, char)] = &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')];

/// `\d`, `\s`, `\w` and their negations (`perl_groups.go`): ASCII only.
pub(super) fn perl(letter: char, fold: bool) -> Option<Ranges> {
    let ranges = match letter.to_ascii_lowercase() {
        'd' => Ranges::of(&[('0', '9')]),
        's' => Ranges::of(&[('\t', '\n'), ('\u{c}', '\r'), (' ', ' ')]),
        'w' => Ranges::of(WORD),
        _ => return None,
    };
    Some(finished(ranges, fold, letter.is_ascii_uppercase()))
}

/// `[:alnum:]` and similar classes, by the name between the colons; a `^` negates.
pub(super) fn posix(name: &str, fold: bool) -> Option<Ranges> {
    let (name, negated) = name.strip_prefix('^').map_or((name, false), |name| (name, true));
    let ranges: &[(char, char)] = match name {
        "alnum" => &[('0', '9'), ('A', 'Z'), ('a', 'z')],
        "alpha" => &[('A', 'Z'), ('a', 'z')],
        "ascii" => &[('\0', '\u{7f}')],
        "blank" => &[('\t', '\t'), (' ', ' ')],
        "cntrl" => &[('\0', '\u{1f}'), ('\u{7f}', '\u{7f}')],
        "digit" => &[('0', '9')],
        "graph" => &[('!', '~')],
        "lower" => &[('a', 'z')],
        "print" => &[(' ', '~')],
        "punct" => &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')],
        "space" => &[('\t', '\r'), (' ', ' ')],
        "upper" => &[('A', 'Z')],
        "word" => WORD,
        "xdigit" => &[('0', '9'), ('A', 'F'), ('a', 'f')],
        _ => return None,
    };
    Some(finished(Ranges::of(ranges), fold, negated))
}

fn finished(mut ranges: Ranges, fold: bool, negated: bool) -> Ranges {
    if fold {
        ranges.fold();
    }
    if negated {
        ranges.negate();
    }
    ranges
}

/// `\p{…}`: a general category, a script, or `Any`; a leading `^` negates.
pub(super) fn unicode(name: &str, negated: bool, fold: bool) -> Option<Ranges> {
    let (name, negated) = name.strip_prefix('^').map_or((name, negated), |name| (name, !negated));
    // Only a name may be inserted into the expression below.
    if name.is_empty() || !name.chars().all(|one| one.is_ascii_alphanumeric() || matches!(one, '_' | '-' | ' ')) {
        return None;
    }
    let ranges = match name.to_ascii_lowercase().as_str() {
        "any" => Ranges::of(&[('\0', char::MAX)]),
        "ascii" => Ranges::of(&[('\0', '\u{7f}')]),
        "assigned" => table(r"\p{assigned}")?,
        _ => table(&format!(r"\p{{gc={name}}}")).or_else(|| table(&format!(r"\p{{sc={name}}}")))?,
    };
    Some(finished(ranges, fold, negated))
}

fn table(expression: &str) -> Option<Ranges> {
    match regex_syntax::Parser::new().parse(expression).ok()?.into_kind() {
        HirKind::Class(Class::Unicode(class)) => Some(Ranges(class)),
        HirKind::Literal(literal) => {
            let text = std::str::from_utf8(&literal.0).ok()?;
            let one = text.chars().next()?;
            Some(Ranges::of(&[(one, one)]))
        }
        _ => None,
    }
}
