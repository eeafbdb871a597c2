//! Metrics for Prometheus.

use super::health::Health;
use super::review::{Decision, Request};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Labels of a counter of reviews.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfReview {
    operation: String,
    verdict: &'static str,
    mode: &'static str,
}

/// Labels of a counter of reviews by rule.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfRule {
    rule: &'static str,
    verdict: &'static str,
}

/// Labels of a counter of findings.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfFinding {
    rule: &'static str,
    severity: &'static str,
    namespace: String,
}

/// Labels of a counter of reviews that would be denied.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfNamespace {
    namespace: String,
    mode: &'static str,
}

/// Labels of a counter of requests that were not answered as reviews.
#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfRefusal {
    status: u32,
}

/// All metrics of the server.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    reviews: Family<OfReview, Counter>,
    rules: Family<OfRule, Counter>,
    findings: Family<OfFinding, Counter>,
    refused: Family<OfRefusal, Counter>,
    would_deny: Family<OfNamespace, Counter>,
    panics: Counter,
    seconds: Histogram,
    filters: Gauge,
    workloads: Gauge,
    certificate: Gauge,
    leader: Gauge,
}

/// Stands for names that the sender of a request invents.
const OTHER: &str = "OTHER";
/// From 0.5 ms to 8 s, doubling.
const BUCKETS: u16 = 15;

impl Metrics {
    /// Metrics of a server with this state of its watches.
    pub(crate) fn new(health: Arc<Health>) -> Metrics {
        let mut registry = Registry::with_prefix("envoyfilter_admission");
        let buckets = prometheus_client::metrics::histogram::exponential_buckets(0.0005, 2.0, BUCKETS);
        let metrics = Metrics {
            reviews: Family::default(),
            rules: Family::default(),
            findings: Family::default(),
            refused: Family::default(),
            would_deny: Family::default(),
            panics: Counter::default(),
            seconds: Histogram::new(buckets),
            filters: Gauge::default(),
            workloads: Gauge::default(),
            certificate: Gauge::default(),
            leader: Gauge::default(),
            registry: Registry::default(),
        };
        registry.register("reviews", "Reviews by operation, verdict and mode", metrics.reviews.clone());
        registry.register("reviews_by_rule", "Reviews in which a rule reported a finding", metrics.rules.clone());
        registry.register("findings", "Findings of reviews, by rule and namespace", metrics.findings.clone());
        registry.register(
            "refused_requests",
            "Requests that were not answered as reviews, by HTTP status",
            metrics.refused.clone(),
        );
        registry.register(
            "would_deny",
            "Reviews that mode enforce denies, by namespace and the mode that applied",
            metrics.would_deny.clone(),
        );
        registry.register("panics", "Reviews that panicked and were answered with status 500", metrics.panics.clone());
        registry.register(
            "review_seconds",
            "Duration of reviews, including the wait for a permit",
            metrics.seconds.clone(),
        );
        registry.register("known_filters", "EnvoyFilters in the view of the cluster", metrics.filters.clone());
        registry.register("known_workloads", "Workloads in the view of the cluster", metrics.workloads.clone());
        registry.register(
            "certificate_not_after_seconds",
            "Unix time at which the serving certificate made by this server expires",
            metrics.certificate.clone(),
        );
        registry.register("leader", "Whether this replica renews certificates", metrics.leader.clone());
        registry.register_collector(Box::new(Watches(health)));
        Metrics { registry, ..metrics }
    }

    /// Counts a review. `namespace` is that of the filter if the cluster has it: anyone who reaches the server could invent
    /// others, and each would stay in memory and in Prometheus.
    pub(crate) fn review(&self, request: &Request, namespace: Option<&str>, decision: &Decision, took: Duration) {
        let namespace = namespace.unwrap_or(OTHER);
        // The sender chooses the operation's name: unknown names must not become label values.
        let operation = match request.operation.as_str() {
            known @ ("CREATE" | "UPDATE" | "DELETE") => known,
            _ => OTHER,
        };
        let labels = OfReview {
            operation: operation.to_owned(),
            verdict: decision.verdict.as_str(),
            mode: decision.mode.as_str(),
        };
        self.reviews.get_or_create(&labels).inc();
        self.seconds.observe(took.as_secs_f64());
        for rule in decision.codes() {
            self.rules.get_or_create(&OfRule { rule, verdict: decision.verdict.as_str() }).inc();
        }
        if decision.would_deny {
            let labels = OfNamespace { namespace: namespace.to_owned(), mode: decision.mode.as_str() };
            self.would_deny.get_or_create(&labels).inc();
        }
        for remark in decision.remarks.iter().filter(|remark| !remark.stood) {
            let (rule, severity) = (remark.code, remark.severity.as_str());
            let labels = OfFinding { rule, severity, namespace: namespace.to_owned() };
            self.findings.get_or_create(&labels).inc();
        }
    }

    /// Counts a review that panicked.
    pub(crate) fn panicked(&self) {
        self.panics.inc();
    }

    /// Counts a request that was not answered as a review.
    pub(crate) fn refused(&self, status: u16) {
        self.refused.get_or_create(&OfRefusal { status: status.into() }).inc();
    }

    /// Records the size of the view.
    pub(crate) fn set_size(&self, filters: usize, workloads: usize) {
        self.filters.set(i64::try_from(filters).unwrap_or(i64::MAX));
        self.workloads.set(i64::try_from(workloads).unwrap_or(i64::MAX));
    }

    /// Records when the serving certificate expires, in seconds of Unix time.
    pub(crate) fn certificate(&self, until: u64) {
        self.certificate.set(i64::try_from(until).unwrap_or(i64::MAX));
    }

    /// Records whether this replica is the leader.
    pub(crate) fn leader(&self, is: bool) {
        self.leader.set(is.into());
    }

    /// All metrics in the OpenMetrics text format.
    pub fn text(&self) -> Result<String, fmt::Error> {
        text(&self.registry)
    }
}

/// The metrics of a registry in the OpenMetrics text format.
pub(crate) fn text(registry: &Registry) -> Result<String, fmt::Error> {
    let mut text = String::new();
    prometheus_client::encoding::text::encode(&mut text, registry)?;
    Ok(text)
}

/// The response with the metrics.
pub(crate) fn response(text: Result<String, fmt::Error>) -> Response {
    const TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    match text {
        Ok(text) => ([(header::CONTENT_TYPE, TYPE)], text).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

/// Age of the view, computed when the metrics are read.
#[derive(Debug)]
pub(crate) struct Watches(pub Arc<Health>);

impl Collector for Watches {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let ages = self.0.ages();
        let help = "Seconds for which the view of a kind may be out of date; 0 while its watch works";
        let mut family = encoder.encode_descriptor("sync_age_seconds", help, None, MetricType::Gauge)?;
        for (kind, age, _) in &ages {
            ConstGauge::new(age.as_secs_f64()).encode(family.encode_family(&[("kind", *kind)])?)?;
        }
        let help = "Number of times that the watch of a kind broke";
        let mut family = encoder.encode_descriptor("watch_breaks", help, None, MetricType::Gauge)?;
        for (kind, _, breaks) in &ages {
            ConstGauge::new(*breaks).encode(family.encode_family(&[("kind", *kind)])?)?;
        }
        Ok(())
    }
}
