//! A cache of findings about filters, valid while neither they nor the mesh change: judging one filter costs nothing for others
//! that have been judged before.
//!
//! A [`Question`] contains everything that the answer depends on, so an answer cannot be stale: any change makes a different
//! question. Filters are identified by their content ([`number_of`]), whether they are stored or only reviewed: what a review
//! found for the state after a change is known once the change is stored. All other objects have a number that changes with them
//! ([`fresh`]). Stored filters give the same question for all reviews, so [`super::judge::prepare`] asks it in advance. A cached
//! answer is charged to a review's budget like a computed one: whether a change fits must not depend on earlier reviews.

use super::remark::Remark;
use crate::budget;
use crate::lint::Claim;
use crate::source::FileId;
use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// A finding, independent of the review.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// Its rule, filter, patch and place.
    pub(super) claim: Claim,
    /// Whether it holds with every control plane.
    pub(super) everywhere: bool,
    /// Whether it is suppressed or ignored. It is not reported, but explains others as in `lint`.
    pub(super) hidden: bool,
    /// The remark, in the form for another filter.
    pub(super) remark: Remark,
}

impl Found {
    /// The text and the first byte of its place.
    pub(super) fn place(&self) -> (FileId, u32) {
        let span = self.claim.span();
        (span.file, span.start)
    }
}

/// Which of the rules run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Part {
    /// Those about one filter.
    Alone,
    /// Those about a filter among others.
    Among,
    /// All of them, because there are no others.
    All,
}

/// Everything that decides what rules find.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Question {
    /// Number of the state of all objects except filters.
    pub(super) mesh: u64,
    /// The namespace whose workloads are used; `None`: all.
    pub(super) workloads_of: Option<String>,
    pub(super) part: Part,
    /// Numbers of the filters, in their order.
    pub(super) filters: Vec<u128>,
}

impl Question {
    fn bytes(&self) -> usize {
        let names = self.workloads_of.as_ref().map_or(0, String::len);
        size_of::<Question>() + size_of::<u128>() * self.filters.len() + names
    }
}

/// The number of a filter with this content, at this place among the texts. It depends on random keys of the process, so nobody
/// can write two filters with one number.
pub(super) fn number_of(namespace: &str, name: &str, file: FileId, text: &str) -> u128 {
    static KEYS: LazyLock<[RandomState; 2]> = LazyLock::new(Default::default);
    KEYS.iter().fold(0, |number, key| (number << 64) | u128::from(key.hash_one((namespace, name, file.0, text))))
}

/// A number that is unique in this process.
pub(super) fn fresh() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

/// Maximum memory of the cache.
const BYTES: usize = 8 << 20;
/// The largest question with its answer that is cached: one filter must not evict the results for hundreds.
const LARGEST: usize = BYTES / 16;

/// The cached answers, most recently used ones.
pub struct Standing {
    most: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    answers: HashMap<Arc<Question>, Answer>,
    bytes: usize,
    uses: u64,
    hits: u64,
}

struct Answer {
    found: Arc<[Found]>,
    /// Units of work it took.
    units: u64,
    bytes: usize,
    used: u64,
}

impl Default for Standing {
    fn default() -> Standing {
        Standing { most: BYTES, kept: Mutex::default() }
    }
}

impl fmt::Debug for Standing {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (answers, bytes) = self.size();
        write!(out, "{answers} answers of {bytes} bytes")
    }
}

impl Standing {
    /// A cache that keeps nothing.
    pub(super) fn off() -> Standing {
        Standing { most: 0, ..Standing::default() }
    }

    /// Number of cached answers, and their size in bytes.
    pub fn size(&self) -> (usize, usize) {
        let kept = self.kept();
        (kept.answers.len(), kept.bytes)
    }

    /// How often an answer was cached.
    pub fn hits(&self) -> u64 {
        self.kept().hits
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Nothing is computed while it is locked.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer to a question, computed if it is not cached. Canceled work leaves nothing behind.
    pub(super) fn answer(&self, question: Question, find: impl FnOnce() -> Vec<Found>) -> Arc<[Found]> {
        if self.most == 0 {
            return find().into();
        }
        let known = self.kept().known(&question);
        if let Some((known, units)) = known {
            budget::charge(units);
            return known;
        }
        let (found, units) = budget::measured(find);
        let found: Arc<[Found]> = found.into();
        let bytes = question.bytes() + found.iter().map(weight).sum::<usize>();
        if bytes <= LARGEST.min(self.most) {
            self.kept().keep(question, (Arc::clone(&found), units), bytes, self.most);
        }
        found
    }
}

impl Kept {
    fn known(&mut self, question: &Question) -> Option<(Arc<[Found]>, u64)> {
        self.uses += 1;
        let answer = self.answers.get_mut(question)?;
        answer.used = self.uses;
        self.hits += 1;
        Some((Arc::clone(&answer.found), answer.units))
    }

    fn keep(&mut self, question: Question, (found, units): (Arc<[Found]>, u64), bytes: usize, most: usize) {
        if let Some(old) = self.answers.insert(Arc::new(question), Answer { found, units, bytes, used: self.uses }) {
            self.bytes -= old.bytes;
        }
        self.bytes += bytes;
        if self.bytes <= most {
            return;
        }
        // The less recently used half is evicted at once, so that making room costs little per answer.
        let mut by_use: Vec<(u64, Arc<Question>)> =
            self.answers.iter().map(|(question, answer)| (answer.used, Arc::clone(question))).collect();
        by_use.sort_by_key(|(used, _)| *used);
        for (_, question) in by_use {
            if self.bytes <= most / 2 {
                break;
            }
            if let Some(answer) = self.answers.remove(&question) {
                self.bytes -= answer.bytes;
            }
        }
    }
}

fn weight(found: &Found) -> usize {
    let Remark { other, path, message, help, .. } = &found.remark;
    let optional = |text: &Option<String>| text.as_ref().map_or(0, String::len);
    size_of::<Found>() + found.claim.filter.len() + optional(other) + path.len() + message.len() + optional(help)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lint::Finding;
    use crate::source::{Severity, Span};

    fn question(mesh: u64, text: &str) -> Question {
        let filters = vec![1, 2, number_of("shop", "a", FileId(7), text)];
        Question { mesh, workloads_of: None, part: Part::All, filters }
    }

    /// An answer of about this size.
    fn found(bytes: usize) -> Vec<Found> {
        let remark = Remark {
            code: "EF001",
            severity: Severity::Error,
            other: None,
            path: String::new(),
            message: "x".repeat(bytes),
            help: None,
            stood: false,
            may_come: false,
        };
        let rule = &crate::rules::ALL[0].info;
        let claim = Claim::of(&Finding::new(rule, Span { file: FileId(7), start: 0, end: 0 }, ""));
        vec![Found { claim, everywhere: true, hidden: false, remark }]
    }

    #[test]
    fn filters_have_numbers_by_their_content() {
        let number = |name: &str, file: u32, text: &str| number_of("shop", name, FileId(file), text);
        assert_eq!(number("a", 7, "text"), number("a", 7, "text"));
        let all = [number("a", 7, "text"), number("b", 7, "text"), number("a", 8, "text"), number("a", 7, "other")];
        assert!(all.iter().enumerate().all(|(at, one)| !all[..at].contains(one)), "{all:?}");
    }

    #[test]
    fn a_question_is_answered_once() {
        let standing = Standing::default();
        let mut asked = 0;
        for question in [question(1, "a"), question(1, "a"), question(2, "a"), question(1, "b"), question(1, "a")] {
            standing.answer(question, || {
                asked += 1;
                Vec::new()
            });
        }
        assert_eq!((asked, standing.hits(), standing.size().0), (3, 2, 3));
    }

    #[test]
    fn a_known_answer_costs_what_it_cost_to_find() {
        let standing = Standing::default();
        let ask = |units: u64| {
            let meter = budget::Meter::new(units);
            let ended = meter.run(|| {
                standing.answer(question(1, "a"), || {
                    budget::charge(30_000);
                    Vec::new()
                })
            });
            ended.is_ok().then(|| units - meter.left())
        };
        // Not computed within this budget, and so not cached.
        assert_eq!((ask(29_999), standing.size().0), (None, 0));
        assert_eq!(ask(100_000), Some(30_000));
        assert_eq!((ask(100_000), standing.hits()), (Some(30_000), 1));
        assert_eq!(ask(29_999), None);
    }

    #[test]
    fn memory_is_bounded_and_what_is_used_stays() {
        let standing = Standing::default();
        let mut often = 0;
        for mesh in 1..200 {
            standing.answer(question(mesh, "large"), || found(LARGEST / 2));
            standing.answer(question(0, "small"), || {
                often += 1;
                Vec::new()
            });
            assert!(standing.size().1 <= BYTES);
        }
        assert_eq!(often, 1);
        assert!(standing.size().0 < 40, "{standing:?}");
        // The largest are not cached.
        standing.answer(question(1_000, "large"), || found(LARGEST));
        standing.answer(question(1_000, "large"), || found(LARGEST));
        assert_eq!(standing.hits(), 198);
    }
}
