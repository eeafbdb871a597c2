//! Bounded output of a program: the last lines of standard error, the first bytes of standard output.

use super::leash::News;
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Longer lines are cut, in bytes.
const LINE: usize = 128 << 10;

/// Maximum number of unread lines; the oldest are dropped.
pub(super) const LINES: usize = 4_096;

/// Maximum size of unread lines, in bytes.
const BYTES: usize = 8 << 20;

/// The next line, if any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// The line, without its end.
    Text(String),
    /// None within the time.
    NotYet,
    /// None, and none will come.
    Closed,
}

/// Unread lines of standard error.
#[derive(Debug, Default)]
pub(super) struct Log {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    lines: VecDeque<String>,
    bytes: usize,
    closed: bool,
    program: Option<u32>,
    news: Option<News>,
}

impl Log {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads to the end.
    pub(super) fn read(&self, from: impl Read) {
        let mut reader = BufReader::new(from);
        let mut line = Vec::new();
        // A line that does not end is read in pieces; only the first piece is kept.
        let mut inside = false;
        loop {
            line.clear();
            match (&mut reader).take(LINE as u64).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => break,
                Ok(_) => {}
            }
            let ends = line.last() == Some(&b'\n');
            if !inside {
                let text = String::from_utf8_lossy(&line);
                self.add(text.trim_end_matches(['\n', '\r']));
            }
            inside = !ends;
        }
        self.state().closed = true;
        self.changed.notify_all();
    }

    fn add(&self, text: &str) {
        let mut state = self.state();
        match News::parse(text) {
            Some(News::Runs(program)) => state.program = Some(program),
            // The first reason is the right one: a limit is reported before the signal that follows from it.
            Some(news) => {
                state.news.get_or_insert(news);
            }
            None => {
                state.bytes += text.len();
                state.lines.push_back(text.to_owned());
                while state.lines.len() > LINES || state.bytes > BYTES {
                    let Some(gone) = state.lines.pop_front() else { break };
                    state.bytes -= gone.len();
                }
            }
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Takes the next line.
    pub(super) fn next(&self, wait: Duration) -> Line {
        let until = Instant::now() + wait;
        let mut state = self.state();
        loop {
            if let Some(line) = state.lines.pop_front() {
                state.bytes -= line.len();
                return Line::Text(line);
            }
            if state.closed {
                return Line::Closed;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Line::NotYet;
            }
            state =
                self.changed.wait_timeout(state, left).map_or_else(|error| error.into_inner().0, |(state, _)| state);
        }
    }

    /// Waits until everything is read.
    pub(super) fn closed_within(&self, wait: Duration) {
        let open = |state: &mut State| !state.closed;
        let _ = self.changed.wait_timeout_while(self.state(), wait, open);
    }

    /// The process id of the program, once the holder has reported it.
    pub(super) fn program(&self) -> Option<u32> {
        self.state().program
    }

    /// What the holder reports about its end.
    pub(super) fn news(&self) -> Option<News> {
        self.state().news.clone()
    }
}

/// Reads to the end but keeps only the beginning, so that the program never blocks on us.
pub(super) fn collect(mut from: impl Read, limit: usize, into: &Mutex<Vec<u8>>) {
    let mut piece = [0; 16 << 10];
    while let Ok(count) = from.read(&mut piece) {
        if count == 0 {
            break;
        }
        let mut kept = into.lock().unwrap_or_else(PoisonError::into_inner);
        let room = limit.saturating_sub(kept.len()).min(count);
        kept.extend_from_slice(piece.get(..room).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_bounds() {
        let log = Log::default();
        let text = format!("{}\nshort\r\n\u{1}leash pid 7\nlast", "x".repeat(3 * LINE));
        log.read(text.as_bytes());
        assert_eq!(log.next(Duration::ZERO), Line::Text("x".repeat(LINE)));
        assert_eq!(log.next(Duration::ZERO), Line::Text("short".to_owned()));
        assert_eq!(log.next(Duration::ZERO), Line::Text("last".to_owned()));
        assert_eq!(log.next(Duration::ZERO), Line::Closed);
        assert_eq!(log.program(), Some(7));
        log.read("y\n".repeat(LINES + 10).as_bytes());
        assert_eq!(log.state().lines.len(), LINES);
    }
}
