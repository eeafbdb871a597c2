//! Kinds of mistakes that Lua accepts, and what a pattern has of regular expressions.

use super::names::Owner;

/// What a local name holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held<'t> {
    /// The value of a header.
    Header(&'t str),
    /// The same, or a text in its place: never nil.
    Filled(&'t str),
    /// The name of a header, from a loop over all of them.
    HeaderName,
    /// An address with its port.
    Address,
    /// The table of headers that `httpCall` returns.
    Answer,
    /// nil, from an asynchronous `httpCall`.
    Nothing,
    /// A body.
    Body,
    /// The context of the filter, which routes set.
    FilterContext,
    /// A text in lowercase.
    Lower,
    /// A text in uppercase.
    Upper,
    /// One of the texts between these tokens.
    Listed(usize, usize),
}

/// A use of a value that fails if the value is nil.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Used<'t> {
    /// `a .. value`.
    Concatenated,
    /// `value:method()`, `value.field`.
    Indexed,
    /// `#value`.
    Measured,
    /// `value + 1`.
    Calculated,
    /// `value < 1`.
    Compared,
    /// The argument of this function.
    Passed(&'t str),
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind<'t> {
    /// A text is compared with a number.
    TextAndNumber(Compared),
    /// The name of a header, which is in lowercase, is compared with this text, which is not.
    Capitals(&'t str, Compared),
    /// An address with a port is compared with this one, which has none.
    NoPort(&'t str, Compared),
    /// A pseudo header that only messages of the other direction have; whether this is a response.
    OtherDirection(bool),
    /// `not a == b`, which compares a boolean.
    NotFirst(Compared),
    /// A header compared with an empty text, which an absent one does not equal.
    Empty,
    /// The headers, which are no table: indexed, and whether that is an assignment; `#headers`; `ipairs(headers)`.
    NoTable(Misuse),
    /// A boolean that is joined with a text.
    JoinedBoolean,
    /// A table that is joined with a text.
    JoinedTable,
    /// The timeout of `httpCall` is 0, which means none.
    NoLimit,
    /// A text that is no number, added with `+`.
    Plus,
    /// The result of an asynchronous `httpCall`.
    Asynchronous,
    /// A method that texts do not have.
    NoMethod,
    /// A pseudo header without its colon.
    NoColon,
    /// An argument of the wrong type.
    Argument {
        /// Its number.
        number: u8,
        /// The function that is called.
        function: &'t str,
        /// Its type.
        got: &'static str,
    },
    /// A pattern that means something else in Lua.
    Pattern(Regular),
    /// An object used as if it were a text.
    Userdata(Owner, Used<'t>),
    /// `tostring(headers)`, which is no content.
    Shown(Owner),
    /// `getBytes(1, length)`, which ends after the body.
    FromOne,
    /// A method of the table of headers that `httpCall` returned.
    AnswerMethod,
    /// A key that this table never has.
    AnswerKey,
    /// `a ~= "x" or a ~= "y"` (different), `a == "x" and a == "y"` (equal).
    Both(Compared),
    /// `a == "x" or "y"`
    TextAlone,
    /// What `sub` returns is shorter than this text.
    Length {
        /// The text.
        text: &'t str,
        /// Maximum length of what `sub` returns.
        length: usize,
        /// The operator.
        compared: Compared,
    },
    /// A text in lowercase or uppercase is compared with this one, which is not.
    Case(&'t str, Compared),
    /// The method is compared with this text, which is not in uppercase.
    Method(&'t str, Compared),
    /// The path is compared with this text, which has no slash.
    NoSlash(&'t str, Compared),
    /// Requests for exactly this path are denied, but not those with a query.
    ExactPath,
    /// Requests are denied for this status of an answer, and allowed for failures.
    FailsOpen,
}

/// What is done with headers as if they were a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misuse {
    /// `headers["name"]`, which is nil.
    Read,
    /// `headers["name"] = …`, which fails.
    Written,
    /// `#headers`, which fails.
    Measured,
    /// `ipairs(headers)`, which fails.
    Ipairs,
}

/// The operator of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compared {
    /// `==`
    Equal,
    /// `~=`
    Different,
    /// `<` and the like.
    Ordered,
}

/// What a pattern has of regular expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Regular {
    /// `user-service`: the hyphen repeats the character before it.
    Hyphen,
    /// `a|b`
    Alternation,
    /// `\d`
    Escape,
    /// `{2}`
    Count,
    /// `(?:…)`, or a repeated group.
    Group,
    /// `../`: a dot is any character.
    Dots,
}

/// What a pattern has of regular expressions, as the script writes it between its quotes.
pub(super) fn regular(text: &str) -> Option<Regular> {
    // Names of istiod's clusters have such characters.
    let of_cluster = text.contains("||") || text.contains("bound|");
    let bytes = text.as_bytes();
    let at = |at: usize| bytes.get(at).copied().unwrap_or(0);
    let (mut index, mut in_set, mut groups) = (0, false, 0_usize);
    // Whether the character before is a plain letter or digit; whether it can be repeated.
    let (mut plain, mut item) = (false, false);
    while index < bytes.len() {
        let (byte, next) = (bytes[index], at(index + 1));
        let (was_plain, was_item) = (plain, item);
        (plain, item) = (false, false);
        match byte {
            b'%' => {
                index += 1;
                item = true;
            }
            b'\\' => {
                let escaped = if next == b'\\' { at(index + 2) } else { next };
                if matches!(escaped, b'd' | b'D' | b'w' | b'W' | b's' | b'S' | b'.' | b'-' | b'/') {
                    return Some(Regular::Escape);
                }
                index += 1;
            }
            b']' if in_set => {
                in_set = false;
                item = true;
            }
            _ if in_set => {}
            b'[' => {
                in_set = true;
                index += usize::from(next == b'^');
                index += usize::from(at(index + 1) == b']');
            }
            // Zero times is enough where nothing fixed comes before it: `x-name` also finds `name`. So it is before the same.
            b'-' if was_plain
                && next.is_ascii_alphanumeric()
                && next != bytes[index - 1]
                && index.checked_sub(2).is_some_and(|at| !b"*+-?()".contains(&bytes[at])) =>
            {
                return Some(Regular::Hyphen);
            }
            b'|' if !of_cluster && (groups > 0 || (was_plain && next.is_ascii_alphanumeric())) => {
                return Some(Regular::Alternation);
            }
            b'{' if was_item && next.is_ascii_digit() => {
                let rest = text.get(index + 1..)?;
                let (count, _) = rest.split_once('}')?;
                if count.bytes().all(|byte| byte.is_ascii_digit() || byte == b',') {
                    return Some(Regular::Count);
                }
            }
            b'.' if next == b'.' && at(index + 2) == b'/' && (index == 0 || bytes[index - 1] == b'/') => {
                return Some(Regular::Dots);
            }
            b'(' if next == b'?' => return Some(Regular::Group),
            b'(' => groups += 1,
            b')' if matches!(next, b'+' | b'*') => return Some(Regular::Group),
            b')' => groups = groups.saturating_sub(1),
            _ => {
                plain = byte.is_ascii_alphanumeric();
                item = plain || byte == b'.';
            }
        }
        index += 1;
    }
    None
}
