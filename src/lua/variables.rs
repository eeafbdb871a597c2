//! The variables of the functions of a chunk, of which LuaJIT compiles a limited number.

use std::collections::BTreeSet;
use std::fmt;

/// Maximum number of local variables that a function has at any of its places (`LJ_MAX_LOCVAR`).
const MAX_LOCALS: usize = 200;

/// Maximum number of variables of enclosing functions that a function uses (`LJ_MAX_UPVAL`).
const MAX_UPVALUES: usize = 60;

/// Hidden variables of a `for` loop.
pub(super) const OF_A_LOOP: [&str; 3] = [""; 3];

/// Why LuaJIT does not compile a function.
pub(super) struct TooMany {
    whole_script: bool,
    most: usize,
    what: &'static str,
}

impl fmt::Display for TooMany {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let function = if self.whole_script { "the top level of the script" } else { "a function" };
        write!(out, "{function} has more than {} {}", self.most, self.what)
    }
}

/// A function that is being read.
#[derive(Default)]
struct Frame<'t> {
    /// Its local variables here, each with a number of its own.
    locals: Vec<(&'t str, usize)>,
    /// The variables of enclosing functions that it or a function inside it uses.
    upvalues: BTreeSet<usize>,
}

/// The functions around the place that is being read, the whole chunk first.
pub(super) struct Variables<'t> {
    frames: Vec<Frame<'t>>,
    declared: usize,
}

impl<'t> Variables<'t> {
    pub(super) fn new() -> Variables<'t> {
        Variables { frames: vec![Frame::default()], declared: 0 }
    }

    /// A function begins.
    pub(super) fn enter(&mut self) {
        self.frames.push(Frame::default());
    }

    /// The function ends.
    pub(super) fn leave(&mut self) {
        self.frames.pop();
    }

    /// How many local variables the function has here.
    pub(super) fn locals(&self) -> usize {
        self.frames.last().map_or(0, |frame| frame.locals.len())
    }

    /// A block ends: only this many local variables are left.
    pub(super) fn keep(&mut self, locals: usize) {
        if let Some(frame) = self.frames.last_mut() {
            frame.locals.truncate(locals);
        }
    }

    /// Declares local variables; an error if LuaJIT cannot compile so many.
    pub(super) fn declare(&mut self, names: &[&'t str]) -> Result<(), TooMany> {
        if let Some(frame) = self.frames.last_mut() {
            for name in names {
                self.declared += 1;
                frame.locals.push((name, self.declared));
            }
        }
        if self.locals() > MAX_LOCALS { Err(self.too_many(MAX_LOCALS, "local variables")) } else { Ok(()) }
    }

    /// A use of a name, which may be a variable of an enclosing function.
    pub(super) fn uses(&mut self, name: &str) -> Result<(), TooMany> {
        let found = self.frames.iter().enumerate().rev().find_map(|(level, frame)| {
            let (_, number) = frame.locals.iter().rev().find(|(local, _)| *local == name)?;
            Some((level, *number))
        });
        let Some((level, number)) = found else { return Ok(()) };
        let mut full = false;
        for frame in &mut self.frames[level + 1..] {
            frame.upvalues.insert(number);
            full |= frame.upvalues.len() > MAX_UPVALUES;
        }
        if full { Err(self.too_many(MAX_UPVALUES, "variables of enclosing functions")) } else { Ok(()) }
    }

    fn too_many(&self, most: usize, what: &'static str) -> TooMany {
        TooMany { whole_script: self.frames.len() == 1, most, what }
    }
}
