//! Schedules the reading of proxies: after a change of their filters first, then new ones, then the one that waited longest;
//! limited per minute.

use super::state::Pod;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::time::Instant;

/// How often proxies are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// How many in a minute.
    pub per_minute: u32,
    /// Interval between two reads of a proxy when nothing changed.
    pub interval: Duration,
    /// How long proxies may take to receive a change of filters.
    pub settle: Duration,
}

/// The schedule of a proxy.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    /// Digest of the filters that attach to it.
    filters: u64,
    /// Its index among the replicas of its template: one of each comes first.
    rank: usize,
    /// When to read it because of a change.
    due: Option<Instant>,
    /// When it was last asked.
    asked: Option<Instant>,
    /// The digest of its filters when the current read started, if there is one.
    reading: Option<u64>,
    /// Whether it existed when this process started.
    present: bool,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Read this proxy.
    Read(Pod),
    /// Nothing before then.
    Wait(Instant),
    /// Nothing until something changes.
    Idle,
}

/// The schedule of all proxies.
#[derive(Debug)]
pub(crate) struct Turns {
    pace: Pace,
    turns: BTreeMap<Pod, Turn>,
    /// How many reads may start now, and when that was computed.
    tokens: (f64, Instant),
}

/// The result of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Done {
    /// Whether the filters are unchanged since it started; otherwise the result is useless.
    pub current: bool,
    /// Whether it is the first read of a proxy that existed from the start.
    pub present: bool,
    /// Digest of the filters that attach to it.
    pub filters: u64,
}

impl Turns {
    /// An empty schedule.
    pub(crate) fn new(pace: Pace, now: Instant) -> Turns {
        Turns { pace, turns: BTreeMap::new(), tokens: (f64::from(pace.per_minute), now) }
    }

    /// Adds a proxy, with the digest of the filters that attach to it. `present`: it existed before this process started.
    pub(crate) fn add(&mut self, pod: &Pod, filters: u64, rank: usize, present: bool, now: Instant) {
        let settle = self.pace.settle;
        if let Some(turn) = self.turns.get_mut(pod) {
            turn.rank = rank;
            if turn.filters != filters {
                turn.filters = filters;
                turn.due = Some(now + settle);
            }
        } else {
            let turn = Turn { filters, rank, present, ..Turn::default() };
            self.turns.insert(pod.clone(), turn);
        }
    }

    /// Removes all other proxies.
    pub(crate) fn keep(&mut self, pods: &BTreeSet<Pod>) {
        self.turns.retain(|pod, _| pods.contains(pod));
    }

    /// Updates how many reads may start now.
    fn refill(&mut self, now: Instant) {
        let (tokens, since) = self.tokens;
        let most = f64::from(self.pace.per_minute.max(1));
        let more = now.saturating_duration_since(since).as_secs_f64() * most / 60.0;
        self.tokens = ((tokens + more).min(most), now);
    }

    /// What to do now. A returned proxy counts as being read.
    pub(crate) fn next(&mut self, now: Instant) -> Next {
        self.refill(now);
        let idle = self.turns.iter().filter(|(_, turn)| turn.reading.is_none());
        let first = idle.map(|(pod, turn)| (self.when(turn, now), turn.rank, pod)).min();
        let Some(((at, _), _, pod)) = first else { return Next::Idle };
        if at > now {
            return Next::Wait(at);
        }
        if self.tokens.0 < 1.0 {
            let missing = (1.0 - self.tokens.0) * 60.0 / f64::from(self.pace.per_minute.max(1));
            return Next::Wait(now + Duration::from_secs_f64(missing.max(0.01)));
        }
        let pod = pod.clone();
        self.tokens.0 -= 1.0;
        if let Some(turn) = self.turns.get_mut(&pod) {
            turn.reading = Some(turn.filters);
        }
        Next::Read(pod)
    }

    /// When to read a proxy, and how urgent that is among those due.
    fn when(&self, turn: &Turn, now: Instant) -> (Instant, u8) {
        let at = match (turn.due, turn.asked) {
            (Some(due), _) => due,
            (None, None) => return (now, 1),
            (None, Some(asked)) => asked + self.pace.interval,
        };
        // Of those due, urgent ones come first; otherwise the earliest one decides the wait.
        if at > now {
            (at, 2)
        } else if turn.due.is_some() {
            (at.min(now), 0)
        } else {
            (at, 2)
        }
    }

    /// A read ended.
    pub(crate) fn done(&mut self, pod: &Pod, now: Instant) -> Option<Done> {
        let turn = self.turns.get_mut(pod)?;
        let current = turn.reading.take() == Some(turn.filters);
        let present = turn.present && turn.asked.is_none();
        if current {
            (turn.due, turn.asked) = (None, Some(now));
        }
        Some(Done { current, present, filters: turn.filters })
    }

    /// The age of the oldest read; `None` while a proxy was never read.
    pub(crate) fn oldest(&self, now: Instant) -> Option<Duration> {
        let asked = self.turns.values().map(|turn| turn.asked);
        asked
            .map(|asked| asked.map(|at| now.saturating_duration_since(at)))
            .collect::<Option<Vec<_>>>()?
            .into_iter()
            .max()
    }

    /// Whether every proxy that existed at the start was asked once.
    pub(crate) fn round_is_over(&self) -> bool {
        self.turns.values().all(|turn| !turn.present || turn.asked.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACE: Pace = Pace { per_minute: 60, interval: Duration::from_secs(120), settle: Duration::from_secs(10) };

    fn pod(name: &str) -> Pod {
        ("shop".to_owned(), name.to_owned())
    }

    fn read(turns: &mut Turns, now: Instant) -> Vec<String> {
        let mut names = Vec::new();
        while let Next::Read(pod) = turns.next(now) {
            turns.done(&pod, now);
            names.push(pod.1);
        }
        names
    }

    #[tokio::test]
    async fn one_of_each_template_comes_first_and_a_change_comes_before_the_rest() {
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let mut turns = Turns::new(PACE, start);
        for (name, rank) in [("a-1", 0), ("a-2", 1), ("b-1", 0)] {
            turns.add(&pod(name), 1, rank, true, start);
        }
        assert!(!turns.round_is_over());
        assert_eq!(read(&mut turns, start), ["a-1", "b-1", "a-2"]);
        assert!(turns.round_is_over());
        assert_eq!(turns.next(at(1)), Next::Wait(at(120)));
        // istiod needs a moment for a change.
        turns.add(&pod("a-2"), 2, 1, false, at(5));
        assert_eq!(turns.next(at(6)), Next::Wait(at(15)));
        assert_eq!(read(&mut turns, at(15)), ["a-2"]);
        assert_eq!(read(&mut turns, at(120)), ["a-1", "b-1"]);
        assert_eq!(turns.oldest(at(130)), Some(Duration::from_secs(115)));
    }

    #[tokio::test]
    async fn no_more_are_read_in_a_minute_than_allowed() {
        let start = Instant::now();
        let mut turns = Turns::new(PACE, start);
        for number in 0..200 {
            turns.add(&pod(&format!("p-{number:03}")), 1, 0, true, start);
        }
        assert_eq!(read(&mut turns, start).len(), 60);
        assert_eq!(read(&mut turns, start + Duration::from_secs(30)).len(), 30);
        let mut minute = 0;
        for second in 31..=90 {
            minute += read(&mut turns, start + Duration::from_secs(second)).len();
        }
        assert_eq!(minute, 60);
    }

    #[tokio::test]
    async fn what_was_read_while_filters_changed_is_of_no_use() {
        let start = Instant::now();
        let mut turns = Turns::new(PACE, start);
        turns.add(&pod("a"), 1, 0, true, start);
        assert_eq!(turns.next(start), Next::Read(pod("a")));
        assert_eq!(turns.next(start), Next::Idle);
        turns.add(&pod("a"), 2, 0, true, start);
        assert_eq!(turns.done(&pod("a"), start), Some(Done { current: false, present: true, filters: 2 }));
        assert!(!turns.round_is_over());
        assert_eq!(turns.next(start), Next::Wait(start + PACE.settle));
    }
}
