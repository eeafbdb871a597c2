//! Schedules reviews: a few at a time, namespaces in turn, and never all permits for one namespace.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

/// Maximum number of waiting reviews per namespace; more are rejected at once.
const WAITING: usize = 64;

/// The permits, and the reviews that wait for one.
#[derive(Debug)]
pub(crate) struct Turns {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    free: usize,
    /// Maximum number of permits per namespace.
    share: usize,
    running: HashMap<String, usize>,
    /// Waiting reviews by namespace; the next namespace comes first.
    queues: VecDeque<(String, VecDeque<oneshot::Sender<Turn>>)>,
}

/// A permit; dropping it returns it.
#[derive(Debug)]
pub(crate) struct Turn {
    turns: Arc<Turns>,
    namespace: String,
    /// Whether it came only after other reviews of the namespace.
    crowded: bool,
}

/// Why a review got no permit in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoTurn {
    /// Its namespace had as many reviews ahead of it as it may have permits, or too many that wait.
    Crowded,
    /// Reviews of other namespaces had the permits.
    Overloaded,
}

impl Turn {
    /// Whether the review waited for others of its namespace, which had as many permits as it may have.
    pub(crate) const fn crowded(&self) -> bool {
        self.crowded
    }
}

impl Turns {
    /// This many permits. One namespace gets all but one of them, if there are several.
    pub(crate) fn new(permits: usize) -> Arc<Turns> {
        let permits = permits.max(1);
        let (running, queues) = (HashMap::new(), VecDeque::new());
        let state = State { free: permits, share: permits.saturating_sub(1).max(1), running, queues };
        Arc::new(Turns { state: Mutex::new(state) })
    }

    /// Waits until `end` for a permit for a review of a namespace.
    pub(crate) async fn take(self: &Arc<Turns>, namespace: &str, end: Instant) -> Result<Turn, NoTurn> {
        let (receiver, otherwise) = {
            let mut state = self.lock();
            if state.grant(namespace) {
                return Ok(Turn { turns: Arc::clone(self), namespace: namespace.to_owned(), crowded: false });
            }
            let otherwise = if state.ahead(namespace) >= state.share { NoTurn::Crowded } else { NoTurn::Overloaded };
            (state.wait(namespace).ok_or(NoTurn::Crowded)?, otherwise)
        };
        match timeout_at(end, receiver).await {
            Ok(Ok(mut turn)) => {
                turn.crowded = otherwise == NoTurn::Crowded;
                Ok(turn)
            }
            _ => Err(otherwise),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Takes a permit for a namespace, if one is free and the namespace does not exceed its share.
    fn grant(&mut self, namespace: &str) -> bool {
        let running = self.running.get(namespace).copied().unwrap_or_default();
        if self.free == 0 || running >= self.share {
            return false;
        }
        self.free -= 1;
        self.running.insert(namespace.to_owned(), running + 1);
        true
    }

    /// How many reviews of a namespace run or wait.
    fn ahead(&self, namespace: &str) -> usize {
        let waiting = self.queues.iter().filter(|(name, _)| name == namespace);
        let waiting: usize = waiting.map(|(_, queue)| queue.iter().filter(|one| !one.is_closed()).count()).sum();
        waiting + self.running.get(namespace).copied().unwrap_or_default()
    }

    fn wait(&mut self, namespace: &str) -> Option<oneshot::Receiver<Turn>> {
        let (sender, receiver) = oneshot::channel();
        let at = self.queues.iter().position(|(name, _)| name == namespace);
        match at.and_then(|at| self.queues.get_mut(at)) {
            Some((_, queue)) => {
                // Reviews that timed out no longer wait.
                queue.retain(|waiting| !waiting.is_closed());
                if queue.len() >= WAITING {
                    return None;
                }
                queue.push_back(sender);
            }
            None => self.queues.push_back((namespace.to_owned(), VecDeque::from([sender]))),
        }
        Some(receiver)
    }

    /// Returns a permit; returns who gets it next.
    fn release(&mut self, namespace: &str) -> Option<(String, oneshot::Sender<Turn>)> {
        self.free += 1;
        match self.running.get_mut(namespace) {
            Some(running) if *running > 1 => *running -= 1,
            _ => drop(self.running.remove(namespace)),
        }
        for _ in 0..self.queues.len() {
            let (namespace, mut queue) = self.queues.pop_front()?;
            queue.retain(|waiting| !waiting.is_closed());
            if queue.is_empty() {
                continue;
            }
            let next = self.grant(&namespace).then(|| queue.pop_front()).flatten();
            if !queue.is_empty() {
                self.queues.push_back((namespace.clone(), queue));
            }
            if let Some(next) = next {
                return Some((namespace, next));
            }
        }
        None
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let next = self.turns.lock().release(&self.namespace);
        if let Some((namespace, waiting)) = next {
            // A receiver that is gone returns it by dropping it.
            let _ = waiting.send(Turn { turns: Arc::clone(&self.turns), namespace, crowded: false });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// A time that no test reaches.
    fn never() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    /// One namespace with many reviews leaves a permit for others, and waits its turn.
    #[tokio::test]
    async fn permits_are_shared_by_namespaces() {
        let turns = Turns::new(2);
        let busy = turns.take("busy", never()).await.unwrap();
        let mut waiting: Vec<_> = (0..3).map(|_| Box::pin(turns.take("busy", never()))).collect();
        let soon = Duration::from_millis(20);
        for one in &mut waiting {
            assert!(tokio::time::timeout(soon, one).await.is_err());
        }
        let other = tokio::time::timeout(soon, turns.take("other", never())).await.unwrap().unwrap();
        // Nothing is free now; the other namespace comes before the rest of the busy one.
        let mut third = Box::pin(turns.take("third", never()));
        assert!(tokio::time::timeout(soon, &mut third).await.is_err());
        drop(busy);
        let first = tokio::time::timeout(soon, waiting.remove(0)).await.unwrap().unwrap();
        drop(first);
        let third = tokio::time::timeout(soon, third).await.unwrap().unwrap();
        drop((other, third));
        // Abandoned requests are skipped.
        drop(waiting);
        assert!(turns.take("busy", never()).await.is_ok());
        assert_eq!(turns.lock().free, 2);
        assert!(turns.lock().running.is_empty());
    }

    #[tokio::test]
    async fn a_queue_is_bounded() {
        let turns = Turns::new(1);
        let _held = turns.take("a", never()).await.unwrap();
        let mut waiting: Vec<_> = (0..WAITING).map(|_| Box::pin(turns.take("a", never()))).collect();
        for one in &mut waiting {
            assert!(futures::poll!(one).is_pending());
        }
        assert_eq!(turns.take("a", never()).await.unwrap_err(), NoTurn::Crowded);
    }

    /// A namespace that uses its share is told so; one that waits for others is not.
    #[tokio::test]
    async fn whose_reviews_were_ahead() {
        let turns = Turns::new(2);
        let soon = || Instant::now() + Duration::from_millis(20);
        let held = turns.take("busy", never()).await.unwrap();
        assert_eq!(turns.take("busy", soon()).await.unwrap_err(), NoTurn::Crowded);
        assert!(!held.crowded());
        let (next, ()) = futures::join!(turns.take("busy", never()), async { drop(held) });
        assert!(next.as_ref().unwrap().crowded());
        let _other = turns.take("other", never()).await.unwrap();
        assert_eq!(turns.take("third", soon()).await.unwrap_err(), NoTurn::Overloaded);
    }
}
