//! Which watches stand, and whether the server is ready.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A watch that did not break again for so long stands: the longest wait between two tries, and the time of a request.
const AGAIN: Duration = Duration::from_secs(45);

/// How the watch of a kind stands.
#[derive(Clone, Debug)]
struct Watch {
    /// Whether all objects were read once, or there is nothing to read.
    synced: bool,
    /// Since when what is known may be out of date.
    stale: Option<Instant>,
    breaks: u64,
    /// When it broke last.
    broke: Option<Instant>,
    /// Why it broke last.
    fault: String,
}

/// How all watches stand.
#[derive(Debug, Default)]
pub struct Health {
    watches: Mutex<BTreeMap<&'static str, Watch>>,
    serving: AtomicBool,
    stopping: AtomicBool,
}

impl Health {
    /// Waits for a kind.
    pub fn expect(&self, kind: &'static str) {
        let watch = Watch { synced: false, stale: Some(Instant::now()), breaks: 0, broke: None, fault: String::new() };
        self.with(|watches| {
            watches.entry(kind).or_insert(watch);
        });
    }

    /// Notes that everything of a kind is known.
    pub fn synced(&self, kind: &'static str) {
        self.with(|watches| {
            if let Some(watch) = watches.get_mut(kind) {
                (watch.synced, watch.stale) = (true, None);
                watch.fault.clear();
            }
        });
    }

    /// Notes that a watch broke, and why.
    pub fn broken(&self, kind: &'static str, fault: &str) {
        self.with(|watches| {
            if let Some(watch) = watches.get_mut(kind) {
                watch.stale.get_or_insert_with(Instant::now);
                watch.breaks += 1;
                watch.broke = Some(Instant::now());
                fault.clone_into(&mut watch.fault);
            }
        });
    }

    /// Notes that a watch told something, so that it stands again.
    pub fn stands(&self, kind: &'static str) {
        self.with(|watches| {
            if let Some(watch) = watches.get_mut(kind).filter(|watch| watch.synced) {
                watch.stale = None;
            }
        });
    }

    /// Notes whether there is a certificate to serve with.
    pub fn serving(&self) {
        self.serving.store(true, Ordering::Relaxed);
    }

    /// Notes that the server is about to end.
    pub fn stopping(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// What is missing to be ready; nothing when it is.
    pub fn missing(&self) -> Vec<String> {
        let mut missing = Vec::new();
        if self.stopping.load(Ordering::Relaxed) {
            missing.push("stopping".to_owned());
        }
        if !self.serving.load(Ordering::Relaxed) {
            missing.push("no serving certificate yet".to_owned());
        }
        self.with(|watches| {
            for (kind, watch) in watches.iter().filter(|(_, watch)| !watch.synced) {
                let why = if watch.fault.is_empty() { String::new() } else { format!(": {}", watch.fault) };
                missing.push(format!("{kind} not read yet{why}"));
            }
        });
        missing
    }

    /// For each kind how long what is known may be out of date, and how often its watch broke.
    pub fn ages(&self) -> Vec<(&'static str, Duration, u64)> {
        // A watch that is taken up again where it broke tells nothing until something happens; one that cannot be taken up
        // breaks again and again.
        let stands = |watch: &Watch| watch.synced && watch.broke.is_some_and(|broke| broke.elapsed() > AGAIN);
        let age = |watch: &Watch| {
            let stale = watch.stale.filter(|_| !stands(watch));
            stale.map_or(Duration::ZERO, |since| since.elapsed())
        };
        self.with(|watches| watches.iter().map(|(kind, watch)| (*kind, age(watch), watch.breaks)).collect())
    }

    fn with<T>(&self, look: impl FnOnce(&mut BTreeMap<&'static str, Watch>) -> T) -> T {
        look(&mut self.watches.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ready_when_every_kind_was_read_and_there_is_a_certificate() {
        let health = Health::default();
        health.expect("Pod");
        assert_eq!(health.missing(), ["no serving certificate yet", "Pod not read yet"]);
        health.broken("Pod", "no connection");
        assert_eq!(health.missing()[1], "Pod not read yet: no connection");
        health.synced("Pod");
        health.serving();
        assert!(health.missing().is_empty());
        assert_eq!(health.ages()[0].1, Duration::ZERO);
        // A broken watch leaves what is known in use; its age tells.
        health.broken("Pod", "reset");
        assert!(health.missing().is_empty() && health.ages()[0].1 > Duration::ZERO);
        health.stands("Pod");
        assert_eq!((health.ages()[0].1, health.ages()[0].2), (Duration::ZERO, 2));
        health.stopping();
        assert_eq!(health.missing(), ["stopping"]);
    }
}
