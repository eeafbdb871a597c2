//! Reports changes as lines, counts and Events.

use super::events::{Events, Wanted, Written, now};
use super::metrics::Metrics;
use super::moment::Moment;
use super::state::{Change, Key, State, notice};
use crate::mesh::Scope;
use crate::model::redact::Keeper;
use crate::report::watch::{Became, Line, Notice};
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// Maximum number of Events written again at a time, so that new ones do not wait.
const AT_ONCE: usize = 2;

/// Reports changes.
pub(super) struct Teller {
    pub(super) lines: mpsc::Sender<Line>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) events: Option<Events>,
    pub(super) written: Written,
    pub(super) secrets: Keeper,
}

impl Teller {
    /// Reports changes; `present`: they existed before this process started. Returns whether the receiver still exists.
    pub(super) async fn changes(&mut self, changes: Vec<Change>, present: bool, moment: Option<&Moment>) -> bool {
        for change in &changes {
            let Some(notice) = change.notice() else { continue };
            let became = match (&change.before, &change.now) {
                (_, None) => Became::Cleared,
                (None, _) if present => Became::Present,
                (None, _) => Became::Added,
                _ => Became::Changed,
            };
            self.metrics.changed(notice.problem, became.key());
            self.event(&change.key, became, &notice, moment);
            if self.lines.send(Line::Change { time: now(), became, notice }).await.is_err() {
                return false;
            }
        }
        true
    }

    /// Writes an Event, if Events are enabled and it is about an EnvoyFilter.
    fn event(&mut self, key: &Key, became: Became, notice: &Notice, moment: Option<&Moment>) {
        let Some(events) = self.events.as_ref().filter(|_| notice.name.is_some()) else { return };
        let mut notice = notice.clone();
        // What the cluster stores must not contain a secret, whatever this process may print.
        notice.message = self.secrets.with(|secrets| secrets.scrub(&notice.message).into_owned());
        let uid = moment.and_then(|moment| moment.uid(&key.filter));
        self.written.note(key, became != Became::Cleared, Instant::now());
        if !events.write(Wanted { became, notice, uid, key: format!("{key:?}") }) {
            self.metrics.event(false);
        }
    }

    /// Rewrites some Events that the API server would delete although the problem persists.
    pub(super) fn remind(&mut self, state: &State, moment: Option<&Moment>) {
        if self.events.is_none() {
            return;
        }
        for key in self.written.due(Instant::now(), AT_ONCE) {
            match state.wrong().get(&key) {
                Some(value) => self.event(&key, Became::Present, &notice(&key, value), moment),
                None => self.written.note(&key, false, Instant::now()),
            }
        }
    }

    /// Reports the scope.
    pub(super) async fn scope(&self, scope: Scope, part: String, complete: bool) {
        let _ = self.lines.send(Line::Scope { time: now(), scope: Box::new(scope), part, complete }).await;
    }
}
