//! Reviews over HTTP: each within its deadline, so many at the same time, bodies up to a size.

use super::body;
use super::health::Health;
use super::judge::Rules;
use super::metrics::Metrics;
use super::review::{Decision, Policy, Request};
use super::world::World;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::Value;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::{sleep_until, timeout_at};

/// How reviews are made.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// What is done with findings.
    pub policy: Policy,
    /// How long a review may take.
    pub deadline: Duration,
    /// Whether a review that takes longer allows.
    pub allow_late: bool,
    /// The largest body, in bytes.
    pub max_bytes: usize,
    /// How many are judged at the same time.
    pub at_once: usize,
}

/// What makes reviews.
#[derive(Debug)]
pub struct Reviewer {
    limits: Limits,
    rules: Rules,
    world: RwLock<Arc<World>>,
    permits: Arc<Semaphore>,
    /// How the watches stand.
    pub health: Arc<Health>,
    /// What is counted.
    pub metrics: Metrics,
}

/// A body that is parsed where it arrives; larger ones go to a thread of their own.
const SMALL: usize = 1 << 16;

/// The part of the API server's own limit that is left for the way back: a tenth, within these.
const MARGIN: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// The longest that an API server waits for a webhook (`timeoutSeconds` of admissionregistration.k8s.io/v1).
const LONGEST: Duration = Duration::from_secs(30);

impl Reviewer {
    /// A reviewer that knows one moment of a cluster.
    pub fn new(limits: Limits, rules: Rules, world: World, health: Arc<Health>) -> Reviewer {
        Reviewer {
            permits: Arc::new(Semaphore::new(limits.at_once.max(1))),
            metrics: Metrics::new(Arc::clone(&health)),
            world: RwLock::new(Arc::new(world)),
            health,
            limits,
            rules,
        }
    }

    /// Reviews that begin from now on are made on this moment.
    pub fn publish(&self, world: World) {
        let (filters, workloads) = world.size();
        self.metrics.known(filters, workloads);
        *self.world.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(world);
    }

    pub(super) fn world(&self) -> Arc<World> {
        Arc::clone(&self.world.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// How long a review may take when the API server waits so long.
    fn time(&self, theirs: Option<Duration>) -> Duration {
        let left = theirs.map(|theirs| theirs.saturating_sub((theirs / 10).clamp(MARGIN.0, MARGIN.1)));
        left.map_or(self.limits.deadline, |left| left.min(self.limits.deadline))
    }

    /// Answers an AdmissionReview. Fails with a status and words when it is none.
    pub async fn review(
        self: &Arc<Self>,
        body: Bytes,
        theirs: Option<Duration>,
    ) -> Result<Value, (StatusCode, String)> {
        let began = Instant::now();
        let end = tokio::time::Instant::from_std(began + self.time(theirs));
        let size = body.len();
        let read = if size <= SMALL {
            Request::read(&body)
        } else {
            spawn_blocking(move || Request::read(&body)).await.unwrap_or_else(|error| Err(error.to_string()))
        };
        let request = Arc::new(read.map_err(|message| (StatusCode::BAD_REQUEST, message))?);
        let policy = self.limits.policy;
        let late = |why: &str| request.late(&self.world(), policy, self.limits.allow_late, why);
        let decision = if let Some(settled) = request.settle(&self.world(), policy) {
            settled
        } else if let Ok(Ok(permit)) = timeout_at(end, Arc::clone(&self.permits).acquire_owned()).await {
            let (this, asked) = (Arc::clone(self), Arc::clone(&request));
            let work = spawn_blocking(move || {
                let decision = asked.decide(&this.world(), &this.rules, policy);
                drop(permit);
                decision
            });
            tokio::select! {
                decided = work => decided.unwrap_or_else(|_| late("the admission server failed; its log says more")),
                () = sleep_until(end) => {
                    late(&format!("it takes longer than {} ms", self.time(theirs).as_millis()))
                }
            }
        } else {
            late("the admission server has too much to do")
        };
        let took = began.elapsed();
        self.metrics.review(&request, &decision, took);
        log(&request, &decision, took, size);
        Ok(decision.answer(&request))
    }
}

/// Notes a review: never what the filter says.
fn log(request: &Request, decision: &Decision, took: Duration, size: usize) {
    tracing::info!(
        uid = request.uid,
        operation = request.operation,
        namespace = request.namespace,
        name = request.name,
        dry_run = request.dry_run,
        verdict = decision.verdict.word(),
        mode = decision.mode.word(),
        codes = decision.codes().join(","),
        exempt = decision.exempt.as_deref().unwrap_or_default(),
        bytes = size,
        micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
        "review"
    );
}

/// What the API server calls.
pub fn webhook(reviewer: Arc<Reviewer>) -> Router {
    Router::new().route("/validate", post(validate)).with_state(reviewer)
}

/// What kubelet and Prometheus call.
pub fn aside(reviewer: Arc<Reviewer>) -> Router {
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .with_state(reviewer)
}

async fn validate(State(reviewer): State<Arc<Reviewer>>, uri: Uri, body: Body) -> Response {
    let theirs = timeout_of(uri.query().unwrap_or_default());
    let answer = match body::read(body, reviewer.limits.max_bytes, theirs.unwrap_or(LONGEST)).await {
        Ok(body) => reviewer.review(body, theirs).await,
        Err(refusal) => Err(refusal),
    };
    match answer {
        Ok(answer) => ([(header::CONTENT_TYPE, "application/json")], answer.to_string()).into_response(),
        Err((status, message)) => {
            reviewer.metrics.refused(status.as_u16());
            tracing::warn!(status = status.as_u16(), message, "no review");
            (status, format!("{message}\n")).into_response()
        }
    }
}

async fn ready(State(reviewer): State<Arc<Reviewer>>) -> Response {
    let missing = reviewer.health.missing();
    if missing.is_empty() {
        return "ok\n".into_response();
    }
    (StatusCode::SERVICE_UNAVAILABLE, format!("{}\n", missing.join("\n"))).into_response()
}

async fn metrics(State(reviewer): State<Arc<Reviewer>>) -> Response {
    const TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    match reviewer.metrics.text() {
        Ok(text) => ([(header::CONTENT_TYPE, TYPE)], text).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}

/// The API server's own limit, which it says in the query: `timeout=10s`, as Go writes durations.
fn timeout_of(query: &str) -> Option<Duration> {
    let text = query.split('&').find_map(|pair| pair.strip_prefix("timeout="))?;
    let (mut total, mut rest) = (0.0, text);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest.get(..digits)?.parse().ok()?;
        let unit = rest.get(digits..)?;
        let length = unit.find(|c: char| c.is_ascii_digit()).unwrap_or(unit.len());
        total += number
            * match unit.get(..length)? {
                "ns" => 1e-9,
                "us" | "µs" | "%C2%B5s" => 1e-6,
                "ms" => 1e-3,
                "s" => 1.0,
                "m" => 60.0,
                "h" => 3600.0,
                _ => return None,
            };
        rest = unit.get(length..)?;
    }
    Duration::try_from_secs_f64(total).ok().filter(|time| !time.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_api_server_says_how_long_it_waits() {
        for (query, want) in [
            ("timeout=10s", Some(10_000)),
            ("a=b&timeout=1m30s", Some(90_000)),
            ("timeout=500ms", Some(500)),
            ("timeout=1.5s", Some(1_500)),
            ("timeout=", None),
            ("timeout=10", None),
            ("timeout=x", None),
            ("", None),
        ] {
            assert_eq!(timeout_of(query), want.map(Duration::from_millis), "{query}");
        }
    }
}
