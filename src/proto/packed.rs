//! Trees in a tenth of their memory, for a configuration in which patches change thousands of resources.

use crate::proto::items::Items;
use crate::proto::tree::{Origin, Tree, Value};
use std::borrow::Cow;
use std::ops::Deref;
use std::sync::OnceLock;

/// A tree as a row of bytes. A string that the tree borrows from its text is a place in that text.
#[derive(Clone, Debug)]
pub struct Packed<'a> {
    /// The text from which the tree was read.
    text: &'a str,
    /// Strings borrowed from elsewhere: keys and values of patches.
    elsewhere: Vec<&'a str>,
    bytes: Box<[u8]>,
}

/// A tree that may be packed until it is read for the first time.
#[derive(Clone, Debug)]
pub enum Kept<'a> {
    /// As it is.
    Tree(Box<Tree<'a>>),
    /// Packed, and the tree once it was read. That borrows nothing: what can change inside must not depend on a lifetime.
    Packed(Packed<'a>, OnceLock<Box<Tree<'static>>>),
}

impl<'a> Kept<'a> {
    /// A packed tree.
    pub(crate) const fn packed(packed: Packed<'a>) -> Kept<'a> {
        Kept::Packed(packed, OnceLock::new())
    }

    /// The tree for one look: it does not stay in memory.
    pub(crate) fn once(&self) -> Cow<'_, Tree<'a>> {
        match self {
            Kept::Tree(tree) => Cow::Borrowed(tree),
            Kept::Packed(packed, _) => Cow::Owned(packed.unpack()),
        }
    }

    /// The tree by value.
    pub fn into_tree(self) -> Tree<'a> {
        match self {
            Kept::Tree(tree) => *tree,
            Kept::Packed(packed, _) => packed.unpack(),
        }
    }
}

impl<'a> Deref for Kept<'a> {
    type Target = Tree<'a>;

    fn deref(&self) -> &Tree<'a> {
        match self {
            Kept::Tree(tree) => tree,
            Kept::Packed(packed, tree) => tree.get_or_init(|| Box::new(packed.unpack().to_static())),
        }
    }
}

/// What a value is, in the low bits of its first byte.
mod tag {
    pub(super) const NULL: u8 = 0;
    pub(super) const FALSE: u8 = 1;
    pub(super) const TRUE: u8 = 2;
    pub(super) const NUMBER: u8 = 3;
    pub(super) const STRING: u8 = 4;
    pub(super) const LIST: u8 = 5;
    pub(super) const EMPTY_LIST: u8 = 6;
    pub(super) const MAP: u8 = 7;
    pub(super) const RAW: u8 = 8;
    /// Added if istiod wrote the value, as nearly all.
    pub(super) const ISTIOD: u8 = 16;
}

/// Where a string is, in the low bits of its first number.
mod place {
    pub(super) const TEXT: usize = 0;
    pub(super) const ELSEWHERE: usize = 1;
    pub(super) const HERE: usize = 2;
    pub(super) const BITS: u32 = 2;
}

impl<'a> Packed<'a> {
    /// Packs a tree that was read from this text.
    pub(crate) fn of(tree: &Tree<'a>, text: &'a str) -> Packed<'a> {
        let mut packer = Packer { text, at: 0, elsewhere: Vec::new(), bytes: Vec::new() };
        packer.tree(tree);
        packer.elsewhere.shrink_to_fit();
        Packed { text, elsewhere: packer.elsewhere, bytes: packer.bytes.into() }
    }

    /// The tree that was packed.
    pub(crate) fn unpack(&self) -> Tree<'a> {
        Unpacker { packed: self, next: 0, at: 0 }.tree()
    }
}

struct Packer<'a> {
    text: &'a str,
    /// The end of the last string in the text. The next is near: its place is a small number.
    at: usize,
    elsewhere: Vec<&'a str>,
    bytes: Vec<u8>,
}

impl<'a> Packer<'a> {
    fn tree(&mut self, tree: &Tree<'a>) {
        let kind = match &tree.value {
            Value::Null => tag::NULL,
            Value::Bool(false) => tag::FALSE,
            Value::Bool(true) => tag::TRUE,
            Value::Number(_) => tag::NUMBER,
            Value::String(_) => tag::STRING,
            Value::List(_) => tag::LIST,
            Value::EmptyList => tag::EMPTY_LIST,
            Value::Map(_) => tag::MAP,
            Value::Raw(_) => tag::RAW,
        };
        let istiod = tree.origin == Origin::ISTIOD;
        self.bytes.push(kind | if istiod { tag::ISTIOD } else { 0 });
        if !istiod {
            self.bytes.extend(tree.origin.0.to_le_bytes());
        }
        match &tree.value {
            Value::Number(text) | Value::String(text) => self.string(text),
            Value::Raw(text) => self.borrowed(text),
            Value::List(items) => {
                self.number(items.len());
                items.iter().for_each(|item| self.tree(item));
            }
            Value::Map(entries) => {
                self.number(entries.len());
                for (key, value) in entries {
                    self.string(key);
                    self.tree(value);
                }
            }
            Value::Null | Value::Bool(_) | Value::EmptyList => {}
        }
    }

    #[expect(clippy::ptr_arg, reason = "a borrowed string is told from an owned one")]
    fn string(&mut self, string: &Cow<'a, str>) {
        match string {
            Cow::Borrowed(text) => self.borrowed(text),
            Cow::Owned(text) => {
                self.number(text.len() << place::BITS | place::HERE);
                self.bytes.extend(text.as_bytes());
            }
        }
    }

    fn borrowed(&mut self, string: &'a str) {
        let start = string.as_ptr().addr().checked_sub(self.text.as_ptr().addr());
        let inside = start.filter(|start| start.checked_add(string.len()).is_some_and(|end| end <= self.text.len()));
        if let Some(start) = inside {
            self.number(string.len() << place::BITS | place::TEXT);
            // Nearly always behind the last one; otherwise the difference wraps around.
            self.number(start.wrapping_sub(self.at));
            self.at = start + string.len();
        } else {
            self.number(self.elsewhere.len() << place::BITS | place::ELSEWHERE);
            self.elsewhere.push(string);
        }
    }

    /// Seven bits a byte, the low ones first; the highest bit says that more follow.
    fn number(&mut self, mut number: usize) {
        while number >= 0x80 {
            let [low, ..] = number.to_le_bytes();
            self.bytes.push(0x80 | low);
            number >>= 7;
        }
        let [last, ..] = number.to_le_bytes();
        self.bytes.push(last);
    }
}

struct Unpacker<'p, 'a> {
    packed: &'p Packed<'a>,
    /// The byte to read next.
    next: usize,
    /// See [`Packer::at`].
    at: usize,
}

impl<'a> Unpacker<'_, 'a> {
    fn tree(&mut self) -> Tree<'a> {
        let first = self.byte();
        let origin = if first & tag::ISTIOD == 0 {
            Origin(u32::from_le_bytes([self.byte(), self.byte(), self.byte(), self.byte()]))
        } else {
            Origin::ISTIOD
        };
        let value = match first & !tag::ISTIOD {
            tag::FALSE => Value::Bool(false),
            tag::TRUE => Value::Bool(true),
            tag::NUMBER => Value::Number(self.string()),
            tag::STRING => Value::String(self.string()),
            tag::LIST => Value::List(self.several(Self::tree)),
            tag::EMPTY_LIST => Value::EmptyList,
            tag::MAP => Value::Map(self.several(|unpacker| (unpacker.string(), unpacker.tree()))),
            tag::RAW => match self.string() {
                Cow::Borrowed(text) => Value::Raw(text),
                Cow::Owned(_) => Value::Null,
            },
            _ => Value::Null,
        };
        Tree { origin, value }
    }

    fn several<T: Clone>(&mut self, one: impl Fn(&mut Self) -> T) -> Items<T> {
        (0..self.number()).map(|_| one(self)).collect()
    }

    fn string(&mut self) -> Cow<'a, str> {
        let number = self.number();
        let (what, count) = (number & ((1 << place::BITS) - 1), number >> place::BITS);
        match what {
            place::TEXT => {
                let start = self.at.wrapping_add(self.number());
                self.at = start.wrapping_add(count);
                Cow::Borrowed(self.packed.text.get(start..self.at).unwrap_or_default())
            }
            place::ELSEWHERE => Cow::Borrowed(self.packed.elsewhere.get(count).copied().unwrap_or_default()),
            _ => {
                let bytes = self.packed.bytes.get(self.next..self.next + count).unwrap_or_default();
                self.next += count;
                Cow::Owned(String::from_utf8_lossy(bytes).into_owned())
            }
        }
    }

    fn number(&mut self) -> usize {
        let (mut number, mut shift) = (0_usize, 0);
        loop {
            let byte = self.byte();
            number |= usize::from(byte & 0x7f).wrapping_shl(shift);
            shift += 7;
            if byte < 0x80 {
                return number;
            }
        }
    }

    fn byte(&mut self) -> u8 {
        let byte = self.packed.bytes.get(self.next).copied().unwrap_or_default();
        self.next += 1;
        byte
    }
}

#[cfg(test)]
mod tests {
    use super::{Kept, Packed};
    use crate::proto::json::{self, Style};
    use crate::proto::tree::{Origin, Tree, Value};

    const TEXT: &str =
        r#"{"name":"a\tb","n":[1,2.5,true,false,null,{}],"typed_config":{"@type":"x/y.Z","deep":{"ü":"ß"}}}"#;

    /// A tree with every kind of value and string, changed by patches.
    fn changed() -> Tree<'static> {
        let mut tree = json::parse(TEXT).unwrap();
        tree.set("raw", Tree::new(Value::Raw(&TEXT[TEXT.find("{\"ü").unwrap()..TEXT.len() - 2])));
        tree.set("of a patch", Tree::string("from elsewhere", Origin(7)));
        tree.set("none", Tree { origin: Origin::HELD, value: Value::EmptyList });
        tree.set("long".repeat(100), Tree::string("own".repeat(100), Origin::UNKNOWN));
        // Before the last string.
        tree.set("again", Tree::string(&TEXT[2..6], Origin::ISTIOD));
        tree
    }

    #[test]
    fn an_unpacked_tree_is_the_packed_one() {
        let tree = changed();
        let unpacked = Packed::of(&tree, TEXT).unpack();
        assert_eq!(format!("{unpacked:?}"), format!("{tree:?}"));
        assert_eq!(json::write(&unpacked, Style::Compact), json::write(&tree, Style::Compact));
    }

    #[test]
    fn a_kept_tree_is_the_same_however_it_is_read() {
        let tree = changed();
        let kept = Kept::packed(Packed::of(&tree, TEXT));
        let json = |tree: &Tree<'_>| json::write(tree, Style::Compact);
        assert_eq!(json(&kept.once()), json(&tree));
        assert!(matches!(&kept, Kept::Packed(_, read) if read.get().is_none()));
        assert_eq!((json(&kept), kept.origins()), (json(&tree), tree.origins()));
        assert_eq!(json(&kept.into_tree()), json(&tree));
    }
}
