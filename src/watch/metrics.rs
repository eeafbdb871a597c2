//! Metrics for Prometheus. Names and labels are a contract: rules and dashboards in `deploy/` use them.

use super::state::{Key, State, Value};
use crate::admission::health::Health;
use crate::admission::metrics::{Watches, text};
use crate::report::watch::Trouble;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Labels of a problem.
#[derive(Clone, Debug, Hash, PartialEq, Eq, PartialOrd, Ord, EncodeLabelSet)]
struct OfProblem {
    problem: &'static str,
    /// Namespace of the EnvoyFilter, or of the workload if it is about none.
    namespace: String,
    /// Name of the EnvoyFilter; empty if it is about none.
    name: String,
}

/// Labels of a counter of changes.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfChange {
    problem: &'static str,
    event: &'static str,
}

/// Labels of a counter of reads.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfRead {
    outcome: &'static str,
}

/// Labels of findings.
#[derive(Clone, Debug, Hash, PartialEq, Eq, PartialOrd, Ord, EncodeLabelSet)]
struct OfFinding {
    rule: String,
    severity: String,
}

/// The result of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was read and judged.
    Read,
    /// It was read, and nothing had changed.
    Unchanged,
    /// It could not be read.
    Failed,
}

/// All metrics of a watch.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    problems: Family<OfProblem, Gauge>,
    findings: Family<OfFinding, Gauge>,
    changes: Family<OfChange, Counter>,
    reads: Family<OfRead, Counter>,
    seconds: Histogram,
    filters: Gauge,
    proxies: Gauge,
    read: Gauge,
    unread: Gauge,
    oldest: Gauge,
    shards: Gauge,
    shards_wanted: Gauge,
    events: Counter,
    events_failed: Counter,
}

/// From 4 ms to 32 s, doubling.
const BUCKETS: u16 = 14;

impl Metrics {
    /// Metrics of a watch with this state of its watches.
    pub fn new(health: Arc<Health>) -> Metrics {
        let metrics = Metrics {
            registry: Registry::default(),
            problems: Family::default(),
            findings: Family::default(),
            changes: Family::default(),
            reads: Family::default(),
            seconds: Histogram::new(exponential_buckets(0.004, 2.0, BUCKETS)),
            filters: Gauge::default(),
            proxies: Gauge::default(),
            read: Gauge::default(),
            unread: Gauge::default(),
            oldest: Gauge::default(),
            shards: Gauge::default(),
            shards_wanted: Gauge::default(),
            events: Counter::default(),
            events_failed: Counter::default(),
        };
        let mut registry = Registry::with_prefix("envoyfilter_watch");
        registry.register(
            "problems",
            "What is wrong now, by kind, namespace and EnvoyFilter; one for each patch and workload",
            metrics.problems.clone(),
        );
        registry.register("findings", "Findings of lint now, by rule and severity", metrics.findings.clone());
        registry.register("changes", "Reported changes, by kind", metrics.changes.clone());
        registry.register("reads", "Proxies that were asked, by outcome", metrics.reads.clone());
        registry.register("read_seconds", "Duration of reading one proxy", metrics.seconds.clone());
        registry.register("filters", "EnvoyFilters that are judged", metrics.filters.clone());
        registry.register("proxies", "Proxies that this replica reads", metrics.proxies.clone());
        registry.register("proxies_read", "Proxies whose state is known", metrics.read.clone());
        registry.register("proxies_unread", "Proxies that could not be read", metrics.unread.clone());
        registry.register(
            "oldest_reading_seconds",
            "Age of the oldest reading of a proxy; -1 until each was asked once",
            metrics.oldest.clone(),
        );
        registry.register("shards", "Shards of the proxies that this replica holds", metrics.shards.clone());
        registry.register("shards_wanted", "Shards of the proxies in all", metrics.shards_wanted.clone());
        registry.register("events_written", "Kubernetes Events that were written", metrics.events.clone());
        registry.register(
            "events_failed",
            "Kubernetes Events that were not written: too many at once, or refused",
            metrics.events_failed.clone(),
        );
        registry.register_collector(Box::new(Watches(health)));
        metrics.oldest.set(-1);
        Metrics { registry, ..metrics }
    }

    /// Counts a read.
    pub fn read(&self, outcome: Outcome, took: Duration) {
        let outcome = match outcome {
            Outcome::Read => "read",
            Outcome::Unchanged => "unchanged",
            Outcome::Failed => "failed",
        };
        self.reads.get_or_create(&OfRead { outcome }).inc();
        self.seconds.observe(took.as_secs_f64());
    }

    /// Counts a change.
    pub fn changed(&self, trouble: Trouble, event: &'static str) {
        self.changes.get_or_create(&OfChange { problem: trouble.as_str(), event }).inc();
    }

    /// Counts an Event.
    pub fn event(&self, written: bool) {
        if written {
            self.events.inc()
        } else {
            self.events_failed.inc()
        };
    }

    /// Records the current state.
    pub fn state(&self, state: &State, filters: usize, oldest: Option<Duration>, shards: (usize, usize)) {
        let count = state.count();
        let number = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        self.filters.set(number(filters));
        self.proxies.set(number(count.all));
        self.read.set(number(count.read));
        self.unread.set(number(count.asked.saturating_sub(count.read)));
        self.oldest.set(oldest.map_or(-1, |oldest| i64::try_from(oldest.as_secs()).unwrap_or(i64::MAX)));
        self.shards.set(number(shards.0));
        self.shards_wanted.set(number(shards.1));
        self.wrong(state.wrong());
    }

    fn wrong(&self, wrong: &BTreeMap<Key, Value>) {
        let mut problems: BTreeMap<OfProblem, i64> = BTreeMap::new();
        // Events that never happened count as 0, so that alert rules see the first one.
        for trouble in Trouble::ALL {
            let (namespace, name) = (String::new(), String::new());
            problems.insert(OfProblem { problem: trouble.as_str(), namespace, name }, 0);
        }
        let mut findings: BTreeMap<OfFinding, i64> = BTreeMap::new();
        for (key, value) in wrong {
            let (namespace, name) = match key.filter.split_once('/') {
                Some((namespace, name)) => (namespace.to_owned(), name.to_owned()),
                None => (key.place.as_ref().map(|place| place.namespace.clone()).unwrap_or_default(), String::new()),
            };
            *problems.entry(OfProblem { problem: value.trouble.as_str(), namespace, name }).or_default() += 1;
            if let Some((rule, severity)) = value.rule {
                *findings.entry(OfFinding { rule: rule.to_owned(), severity: severity.to_owned() }).or_default() += 1;
            }
        }
        self.problems.clear();
        for (labels, number) in &problems {
            self.problems.get_or_create(labels).set(*number);
        }
        self.findings.clear();
        for (labels, number) in &findings {
            self.findings.get_or_create(labels).set(*number);
        }
    }

    /// All metrics in the OpenMetrics text format.
    pub fn text(&self) -> Result<String, fmt::Error> {
        text(&self.registry)
    }
}
