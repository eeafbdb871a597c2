//! The automaton of an expression and its simulation: all states at once, each visited once per character.

use super::class::Ranges;
use super::parse::{Kind, Node, Place};
use crate::budget;
use std::sync::Arc;

/// One step of the automaton.
#[derive(Debug)]
enum Step {
    Char(char, u32),
    Class(Arc<Ranges>, u32),
    Any(u32),
    AnyOfLine(u32),
    Place(Place, u32),
    Either(u32, u32),
    Match,
    /// Never matches.
    Fail,
}

/// The steps, with the index of the first.
#[derive(Debug)]
pub(super) struct Program {
    steps: Vec<Step>,
    start: u32,
}

/// Builds the program from its end: a node is compiled once its successor is known.
pub(super) fn compile(node: &Node) -> Program {
    let mut program = Program { steps: vec![Step::Match], start: 0 };
    program.start = program.add(node, 0);
    program
}

impl Program {
    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    fn push(&mut self, step: Step) -> u32 {
        budget::charge(1);
        self.steps.push(step);
        // The parser allows about three million.
        u32::try_from(self.steps.len() - 1).unwrap_or(u32::MAX)
    }

    /// Adds the steps of a node that continue to `next`; returns the first.
    fn add(&mut self, node: &Node, next: u32) -> u32 {
        match &node.kind {
            Kind::Empty => next,
            Kind::Place(place) => self.push(Step::Place(*place, next)),
            Kind::Char(one) => self.push(Step::Char(*one, next)),
            Kind::Class(ranges) => self.push(Step::Class(Arc::clone(ranges), next)),
            Kind::Any => self.push(Step::Any(next)),
            Kind::AnyOfLine => self.push(Step::AnyOfLine(next)),
            Kind::Group(inside) => self.add(inside, next),
            Kind::Concat(parts) => parts.iter().rev().fold(next, |next, part| self.add(part, next)),
            Kind::Alternate(parts) => {
                let firsts: Vec<u32> = parts.iter().map(|part| self.add(part, next)).collect();
                let either = firsts.into_iter().rev().reduce(|rest, first| self.push(Step::Either(first, rest)));
                either.unwrap_or(next)
            }
            Kind::Repeat(inside, min, max) => {
                let mut first = next;
                match max {
                    None => {
                        let repeat = self.push(Step::Fail);
                        let inner = self.add(inside, repeat);
                        if let Some(step) = self.steps.get_mut(repeat as usize) {
                            *step = Step::Either(inner, next);
                        }
                        first = if *min == 0 { repeat } else { inner };
                    }
                    Some(max) => {
                        for _ in *min..*max {
                            let inner = self.add(inside, first);
                            first = self.push(Step::Either(inner, next));
                        }
                    }
                }
                let copies = if max.is_none() { min.saturating_sub(1) } else { *min };
                (0..copies).fold(first, |next, _| self.add(inside, next))
            }
        }
    }

    /// Whether the automaton matches anywhere in a text; `anchored`: at its start.
    pub(super) fn is_match(&self, text: &str, anchored: bool) -> bool {
        let (mut now, mut next) = (States::new(self.len()), States::new(self.len()));
        let mut before = None;
        let mut rest = text.chars();
        loop {
            let ahead = rest.clone().next();
            let at = Gap { before, after: ahead };
            if (before.is_none() || !anchored) && now.reach(self, self.start, at) {
                return true;
            }
            // What begins elsewhere does not count, and nothing goes on: most versions differ in their first digits.
            if anchored && now.list.is_empty() {
                return false;
            }
            let Some(one) = rest.next() else { return false };
            next.clear();
            let gap = Gap { before: Some(one), after: rest.clone().next() };
            budget::charge(u64::try_from(now.list.len()).unwrap_or(u64::MAX));
            for index in 0..now.list.len() {
                let goes = match self.steps.get(now.list[index] as usize) {
                    Some(Step::Char(want, to)) if *want == one => Some(*to),
                    Some(Step::Class(ranges, to)) if ranges.contains(one) => Some(*to),
                    Some(Step::Any(to)) => Some(*to),
                    Some(Step::AnyOfLine(to)) if one != '\n' => Some(*to),
                    _ => None,
                };
                if goes.is_some_and(|to| next.reach(self, to, gap)) {
                    return true;
                }
            }
            std::mem::swap(&mut now, &mut next);
            before = Some(one);
        }
    }
}

/// The characters on both sides of a position in a text.
#[derive(Clone, Copy)]
struct Gap {
    before: Option<char>,
    after: Option<char>,
}

impl Gap {
    fn fits(self, place: Place) -> bool {
        let word = |one: Option<char>| one.is_some_and(|one| one == '_' || one.is_ascii_alphanumeric());
        match place {
            Place::TextStart => self.before.is_none(),
            Place::TextEnd => self.after.is_none(),
            Place::LineStart => self.before.is_none_or(|one| one == '\n'),
            Place::LineEnd => self.after.is_none_or(|one| one == '\n'),
            Place::Word => word(self.before) != word(self.after),
            Place::NoWord => word(self.before) == word(self.after),
        }
    }
}

/// The current states of the automaton.
struct States {
    list: Vec<u32>,
    seen: Vec<bool>,
    todo: Vec<u32>,
}

impl States {
    fn new(length: usize) -> States {
        States { list: Vec::new(), seen: vec![false; length], todo: Vec::new() }
    }

    fn clear(&mut self) {
        for &state in &self.list {
            if let Some(seen) = self.seen.get_mut(state as usize) {
                *seen = false;
            }
        }
        self.list.clear();
    }

    /// Adds a state and those reachable from it without a character; returns whether one of them is final.
    fn reach(&mut self, program: &Program, state: u32, at: Gap) -> bool {
        self.todo.push(state);
        while let Some(state) = self.todo.pop() {
            let Some(seen) = self.seen.get_mut(state as usize) else { continue };
            if std::mem::replace(seen, true) {
                continue;
            }
            self.list.push(state);
            match program.steps.get(state as usize) {
                Some(Step::Match) => return true,
                Some(Step::Either(one, other)) => self.todo.extend([*one, *other]),
                Some(Step::Place(place, to)) if at.fits(*place) => self.todo.push(*to),
                _ => {}
            }
        }
        false
    }
}
