//! State of the watches, and readiness of the server.

use crate::cluster::kinds;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A watch that has not broken again for this long works: the longest backoff plus the time of a request.
const AGAIN: Duration = Duration::from_secs(45);

/// State of the watch of one kind.
#[derive(Clone, Debug)]
struct Watch {
    /// Whether all objects have been read once, or there are none to read.
    synced: bool,
    /// Since when the view may be out of date.
    stale: Option<Instant>,
    breaks: u64,
    /// When it last broke.
    broke: Option<Instant>,
    /// Why it last broke.
    fault: String,
}

/// State of all watches.
#[derive(Debug, Default)]
pub struct Health {
    watches: Mutex<BTreeMap<&'static str, Watch>>,
    /// Settings of control planes, each with the reason why it was never read; `None` once it was.
    settings: Mutex<BTreeMap<String, Option<String>>>,
    serving: AtomicBool,
    stopping: AtomicBool,
}

impl Health {
    /// Registers a kind that must be read before the server is ready.
    pub fn expect(&self, kind: &'static str) {
        let watch = Watch { synced: false, stale: Some(Instant::now()), breaks: 0, broke: None, fault: String::new() };
        self.with(|watches| {
            watches.entry(kind).or_insert(watch);
        });
    }

    /// Records that all objects of a kind have been read.
    pub(crate) fn synced(&self, kind: &'static str) {
        self.with(|watches| {
            if let Some(watch) = watches.get_mut(kind) {
                (watch.synced, watch.stale) = (true, None);
                watch.fault.clear();
            }
        });
    }

    /// Records that a watch broke, and why.
    pub(crate) fn broken(&self, kind: &'static str, fault: &str) {
        self.with(|watches| {
            if let Some(watch) = watches.get_mut(kind) {
                watch.stale.get_or_insert_with(Instant::now);
                watch.breaks += 1;
                watch.broke = Some(Instant::now());
                fault.clone_into(&mut watch.fault);
            }
        });
    }

    /// Records that a watch delivered something, so it works again.
    pub(crate) fn works(&self, kind: &'static str) {
        self.with(|watches| {
            if let Some(watch) = watches.get_mut(kind).filter(|watch| watch.synced) {
                watch.stale = None;
            }
        });
    }

    /// Records why settings cannot be read. Returns whether they were read before.
    pub(crate) fn unread(&self, object: &str, fault: &str) -> bool {
        let mut settings = self.settings.lock().unwrap_or_else(PoisonError::into_inner);
        let known = settings.entry(object.to_owned()).or_insert_with(|| Some(String::new()));
        let was_read = known.is_none();
        *known = known.take().map(|_| fault.to_owned());
        was_read
    }

    /// Records that settings were read, or that there are none.
    pub(crate) fn was_read(&self, object: &str) {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner).insert(object.to_owned(), None);
    }

    /// Settings that were never read, each with the reason.
    pub(crate) fn unread_settings(&self) -> Vec<(String, String)> {
        let settings = self.settings.lock().unwrap_or_else(PoisonError::into_inner);
        settings.iter().filter_map(|(name, fault)| Some((name.clone(), fault.clone()?))).collect()
    }

    /// Records that the server has a certificate.
    pub(crate) fn serving(&self) {
        self.serving.store(true, Ordering::Relaxed);
    }

    /// Records that the server is shutting down.
    pub(crate) fn stopping(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    /// Reasons why the server is not ready; empty when it is.
    pub(crate) fn missing(&self) -> Vec<String> {
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

    /// Kinds whose view is older than a minute, with age and reason; empty when all are fresh.
    pub(crate) fn stale(&self) -> Vec<String> {
        let old = self.ages().into_iter().filter(|(_, age, _)| *age > OLD);
        let fault = |kind| self.with(|watches| watches.get(kind).map(|watch| watch.fault.clone()).unwrap_or_default());
        old.map(|(kind, age, _)| format!("{kind}: the view is {} s old: {}", age.as_secs(), fault(kind))).collect()
    }

    /// Kinds that could not be read so far, or whose watch has been broken for a while, and settings that were never read.
    pub(crate) fn troubled(&self) -> Vec<Troubled> {
        let ages = self.ages();
        let mut all: Vec<Troubled> = self.with(|watches| {
            let old = |kind: &str| ages.iter().any(|(one, age, _)| *one == kind && *age > AGAIN);
            let troubled =
                watches.iter().filter(|(kind, watch)| !watch.fault.is_empty() && (!watch.synced || old(kind)));
            troubled.map(|(kind, watch)| Troubled { kind, object: None, reason: watch.fault.clone() }).collect()
        });
        let known: Vec<String> = all.iter().map(|one| one.reason.clone()).collect();
        let settings = self.unread_settings().into_iter().filter(|(_, reason)| !known.contains(reason));
        let kind = kinds::CONFIG_MAP.kind;
        all.extend(settings.map(|(object, reason)| Troubled { kind, object: Some(object), reason }));
        all
    }

    /// For each kind, how long its view may be out of date and how often its watch broke.
    pub(crate) fn ages(&self) -> Vec<(&'static str, Duration, u64)> {
        // A resumed watch delivers nothing until an object changes, while a watch that cannot be resumed
        // keeps breaking.
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

/// Something that cannot be watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Troubled {
    /// The name of its kind.
    pub kind: &'static str,
    /// Its namespace and name if only one object is meant.
    pub object: Option<String>,
    /// Why.
    pub reason: String,
}

impl Troubled {
    /// Its kind, with the name of the only object.
    pub(crate) fn subject(&self) -> String {
        self.object.as_ref().map_or_else(|| self.kind.to_owned(), |object| format!("{} {object}", self.kind))
    }
}

impl fmt::Display for Troubled {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "cannot watch {}: {}", self.subject(), self.reason)
    }
}

/// Age at which a view is reported as old.
const OLD: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ready_when_every_kind_was_read_and_a_certificate_exists() {
        let health = Health::default();
        health.expect("Pod");
        assert_eq!(health.missing(), ["no serving certificate yet", "Pod not read yet"]);
        health.broken("Pod", "no connection");
        assert_eq!(health.missing()[1], "Pod not read yet: no connection");
        health.synced("Pod");
        health.serving();
        assert!(health.missing().is_empty());
        assert_eq!(health.ages()[0].1, Duration::ZERO);
        // The view of a broken watch stays in use; its age is reported.
        health.broken("Pod", "reset");
        assert!(health.missing().is_empty() && health.ages()[0].1 > Duration::ZERO);
        health.works("Pod");
        assert_eq!((health.ages()[0].1, health.ages()[0].2), (Duration::ZERO, 2));
        health.stopping();
        assert_eq!(health.missing(), ["stopping"]);
    }

    #[test]
    fn a_view_older_than_a_minute_is_reported_with_its_reason() {
        let health = Health::default();
        health.expect("Pod");
        health.synced("Pod");
        health.broken("Pod", "no connection");
        assert!(health.stale().is_empty(), "a moment is nothing");
        let long_ago = Instant::now().checked_sub(OLD + Duration::from_secs(1));
        health.with(|watches| watches.values_mut().for_each(|watch| watch.stale = long_ago));
        assert_eq!(health.stale(), ["Pod: the view is 61 s old: no connection"]);
        assert_eq!(
            health.troubled().iter().map(Troubled::to_string).collect::<Vec<_>>(),
            ["cannot watch Pod: no connection"]
        );
        health.works("Pod");
        assert!(health.stale().is_empty() && health.troubled().is_empty());
    }

    #[test]
    fn settings_that_were_never_read_are_reported_at_once() {
        let health = Health::default();
        assert!(!health.unread("mesh-b/istio-b", "forbidden"));
        let words = |health: &Health| health.troubled().iter().map(Troubled::to_string).collect::<Vec<_>>();
        assert_eq!(words(&health), ["cannot watch ConfigMap mesh-b/istio-b: forbidden"]);
        health.was_read("mesh-b/istio-b");
        // A moment without a connection is nothing once they are known.
        assert!(health.unread("mesh-b/istio-b", "reset") && words(&health).is_empty());
    }
}
