//! Reviews over HTTP: each within its deadline and its share of the work, a few at the same time, with bodies of limited size.

use super::body::Bodies;
use super::connections::Connections;
use super::cpu;
use super::health::Health;
use super::judge::{self, Rules};
use super::metrics::Metrics;
use super::review::{Allowance, Decision, Mode, Policy, Request, UNITS, Undecided};
use super::snapshot::Snapshot;
use super::turns::{NoTurn, Turn, Turns};
use crate::budget::Meter;
use crate::lint::limits::Excess;
use crate::source::Severity;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, State};
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use serde_json::Value;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;
use tokio::time::sleep_until;

/// Limits of reviews.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// What happens to findings.
    pub policy: Policy,
    /// Maximum duration of a review.
    pub deadline: Duration,
    /// Whether a review that exceeds it allows.
    pub allow_late: bool,
    /// The largest body, in bytes.
    pub max_bytes: usize,
    /// Number of reviews judged at the same time.
    pub at_once: usize,
    /// How much work one review may take, in units of [`crate::budget`].
    pub units: u64,
    /// Maximum number of connections of the listener for reviews.
    pub connections: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            policy: Policy { mode: Mode::Enforce, deny_at: Severity::Error },
            deadline: Duration::from_secs(5),
            allow_late: true,
            max_bytes: MAX_BYTES,
            // Merging as much as a review judges takes about 200 MiB, and judging keeps a core busy.
            at_once: 2,
            units: UNITS,
            connections: 512,
        }
    }
}

/// The largest request that an API server accepts (`MaxRequestBodyBytes` of kube-apiserver).
pub(crate) const MAX_BYTES: usize = 3 << 20;
/// How many of the largest bodies may be read at the same time.
const BODIES: usize = 8;

/// A late review that has spent this part of its budget, a quarter, is late for its own cost, not because the server is slow.
/// Ordinary reviews spend less than a tenth.
const MUCH: u64 = 4;

/// So is one whose thread has worked for the same part of the deadline, but at least for this long: budgets count what is
/// expected to cost, not time.
const LONG: Duration = Duration::from_millis(250);

/// Answers reviews.
#[derive(Debug)]
pub struct Reviewer {
    limits: Limits,
    rules: Arc<Rules>,
    snapshot: Latest,
    /// Whether a thread is computing results for stored filters.
    preparing: Arc<AtomicBool>,
    turns: Arc<Turns>,
    bodies: Bodies,
    /// The connections of the listener for reviews.
    pub connections: Arc<Connections>,
    /// State of the watches.
    pub health: Arc<Health>,
    /// Metrics.
    pub metrics: Metrics,
}

/// The newest snapshot of the cluster.
type Latest = Arc<RwLock<Arc<Snapshot>>>;

fn latest(snapshot: &Latest) -> Arc<Snapshot> {
    Arc::clone(&snapshot.read().unwrap_or_else(PoisonError::into_inner))
}

/// Maximum size of a body that is scanned where it arrives; larger ones go to a thread of their own.
const SMALL: usize = 1 << 16;

/// The part of the API server's timeout reserved for the response: a tenth, within these bounds.
const MARGIN: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// The longest that an API server waits for a webhook (`timeoutSeconds` of admissionregistration.k8s.io/v1).
const LONGEST: Duration = Duration::from_secs(30);

/// Stack of a judging thread: recursion over the most deeply nested filter fits, and only the used part takes memory.
const STACK: usize = 64 << 20;

impl Reviewer {
    /// A reviewer with a snapshot of a cluster.
    pub fn new(limits: Limits, rules: Rules, snapshot: Snapshot, health: Arc<Health>) -> Reviewer {
        Reviewer {
            turns: Turns::new(limits.at_once),
            bodies: Bodies::new(limits.max_bytes.saturating_mul(BODIES)),
            connections: Connections::new(limits.connections),
            metrics: Metrics::new(Arc::clone(&health)),
            snapshot: Arc::new(RwLock::new(Arc::new(snapshot))),
            preparing: Arc::default(),
            rules: Arc::new(rules),
            health,
            limits,
        }
    }

    /// Publishes a snapshot for the reviews that start from now on.
    pub fn publish(&self, snapshot: Snapshot) {
        let (filters, workloads) = snapshot.size();
        self.metrics.set_size(filters, workloads);
        *self.snapshot.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(snapshot);
        self.prepare();
    }

    pub(super) fn snapshot(&self) -> Arc<Snapshot> {
        latest(&self.snapshot)
    }

    /// Computes results for stored filters on a thread of its own, again for each new snapshot; it rests much longer than it
    /// works.
    fn prepare(&self) {
        const REST: u32 = 20;
        if self.preparing.swap(true, Ordering::AcqRel) {
            return;
        }
        let (rules, snapshot, preparing) =
            (Arc::clone(&self.rules), Arc::clone(&self.snapshot), Arc::clone(&self.preparing));
        let units = self.limits.units;
        let work = move || {
            loop {
                let (now, began) = (latest(&snapshot), Instant::now());
                // Reviews will report work that is too much or panics.
                let _ = Meter::new(units).run(|| judge::prepare(&now, &rules));
                std::thread::sleep(began.elapsed() * REST);
                preparing.store(false, Ordering::Release);
                let done = Arc::ptr_eq(&now, &latest(&snapshot));
                if done || preparing.swap(true, Ordering::AcqRel) {
                    return;
                }
            }
        };
        let started = std::thread::Builder::new().name("prepare".to_owned()).stack_size(STACK).spawn(work);
        if started.is_err() {
            self.preparing.store(false, Ordering::Release);
        }
    }

    /// The deadline of a review, given the timeout of the API server.
    fn time(&self, theirs: Option<Duration>) -> Duration {
        let left = theirs.map(|theirs| theirs.saturating_sub((theirs / 10).clamp(MARGIN.0, MARGIN.1)));
        left.map_or(self.limits.deadline, |left| left.min(self.limits.deadline))
    }

    /// Answers an AdmissionReview. Fails with a status and a message when the body is not one, or when judging panics.
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
            let reading = spawn_blocking(move || Request::read(&body));
            reading.await.map_err(|error| (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?
        };
        let request = Arc::new(read.map_err(|error| (StatusCode::BAD_REQUEST, error.to_string()))?);
        let policy = self.limits.policy;
        let late = |why: &str| request.late(&self.snapshot(), policy, self.limits.allow_late, why);
        let decision = if let Some(settled) = request.settle(&self.snapshot(), policy) {
            settled
        } else {
            match self.turns.take(&request.namespace, end).await {
                Ok(turn) => {
                    let allowance = Arc::new(Allowance::new(self.limits.units));
                    let crowded = turn.crowded();
                    let thread = Arc::new(OnceLock::new());
                    tokio::select! {
                        decided = self.judge(&request, &allowance, &thread, turn)? => match decided {
                            Ok(Ok(decision)) => decision,
                            Ok(Err(Undecided::Cancelled)) => late("the review was canceled"),
                            Ok(Err(Undecided::NotJson(error))) => {
                                return Err((StatusCode::BAD_REQUEST, error.to_string()));
                            }
                            Ok(Err(Undecided::Panicked(_))) | Err(_) => return Err(self.panicked(&request)),
                        },
                        () = sleep_until(end) => {
                            let worked = thread.get().and_then(|thread: &PathBuf| cpu::time(thread)).unwrap_or_default();
                            let long = LONG.max(self.time(theirs) / 4);
                            // The work ends too, and returns its permit.
                            allowance.cancel();
                            if crowded {
                                request.exceeds(&self.snapshot(), &self.rules, policy, Excess::Reviews)
                            } else if allowance.spent() > self.limits.units / MUCH || worked > long {
                                request.exceeds(&self.snapshot(), &self.rules, policy, Excess::Time)
                            } else {
                                late(&format!("the review took longer than {} ms", self.time(theirs).as_millis()))
                            }
                        }
                    }
                }
                Err(NoTurn::Crowded) => request.exceeds(&self.snapshot(), &self.rules, policy, Excess::Reviews),
                Err(NoTurn::Overloaded) => late("the admission server is overloaded"),
            }
        };
        let took = began.elapsed();
        let snapshot = self.snapshot();
        let namespace = snapshot.namespace(&request.namespace).map(|namespace| namespace.name.as_str());
        self.metrics.review(&request, namespace, &decision, took);
        log(&request, &decision, took, size);
        Ok(decision.answer(&request))
    }

    /// Judges a review on a thread of its own, whose memory is freed with it.
    fn judge(
        &self,
        request: &Arc<Request>,
        allowance: &Arc<Allowance>,
        thread: &Arc<OnceLock<PathBuf>>,
        turn: Turn,
    ) -> Result<oneshot::Receiver<Result<Decision, Undecided>>, (StatusCode, String)> {
        let (sender, receiver) = oneshot::channel();
        let (request, allowance, rules) = (Arc::clone(request), Arc::clone(allowance), Arc::clone(&self.rules));
        let (snapshot, policy, thread) = (self.snapshot(), self.limits.policy, Arc::clone(thread));
        let work = move || {
            if let Some(own) = cpu::this_thread() {
                let _ = thread.set(own);
            }
            let decided = request.decide_within(&snapshot, &rules, policy, &allowance);
            drop((snapshot, turn));
            // The client may have stopped waiting.
            let _ = sender.send(decided);
        };
        let started = std::thread::Builder::new().name("review".to_owned()).stack_size(STACK).spawn(work);
        started.map(|_| receiver).map_err(|error| (StatusCode::SERVICE_UNAVAILABLE, error.to_string()))
    }

    /// A review that panicked: counted, and answered so that the API server's failure policy decides.
    fn panicked(&self, request: &Request) -> (StatusCode, String) {
        self.metrics.panicked();
        tracing::error!(
            uid = start(&request.uid),
            namespace = start(&request.namespace),
            name = start(&request.name),
            "judging a review panicked; please report the filter"
        );
        (
            StatusCode::INTERNAL_SERVER_ERROR,
            "judging this EnvoyFilter failed; the log of the server has details".to_owned(),
        )
    }
}

/// Longest text of a request that a log repeats; the name of an object has at most 253 bytes.
const LOGGED: usize = 256;

/// The start of a text of the request, for the log.
fn start(text: &str) -> &str {
    text.get(..text.floor_char_boundary(LOGGED)).unwrap_or_default()
}

/// Logs a review, without the content of the filter.
fn log(request: &Request, decision: &Decision, took: Duration, size: usize) {
    tracing::info!(
        uid = start(&request.uid),
        operation = start(&request.operation),
        namespace = start(&request.namespace),
        name = start(&request.name),
        dry_run = request.dry_run,
        verdict = decision.verdict.as_str(),
        mode = decision.mode.as_str(),
        codes = decision.codes().join(","),
        exempt = start(decision.exempt.as_deref().unwrap_or_default()),
        bytes = size,
        micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
        "review"
    );
}

/// Routes for the API server.
pub fn webhook(reviewer: Arc<Reviewer>) -> Router {
    Router::new().route("/validate", post(validate)).with_state(reviewer)
}

/// Routes for kubelet.
pub(crate) fn probes(reviewer: Arc<Reviewer>) -> Router {
    Router::new().route("/healthz", get(|| async { "ok\n" })).route("/readyz", get(ready)).with_state(reviewer)
}

/// Routes for Prometheus.
pub(crate) fn measures(reviewer: Arc<Reviewer>) -> Router {
    Router::new().route("/metrics", get(metrics)).with_state(reviewer)
}

async fn validate(
    State(reviewer): State<Arc<Reviewer>>,
    peer: Option<Extension<ConnectInfo<SocketAddr>>>,
    uri: Uri,
    body: Body,
) -> Response {
    let theirs = timeout_of(uri.query().unwrap_or_default());
    let time = theirs.map_or(LONGEST, |theirs| theirs.min(LONGEST));
    let answer = match reviewer.bodies.read(body, reviewer.limits.max_bytes, time).await {
        Ok(body) => {
            // A connection with a review to answer does not make room for others.
            let _busy = peer.and_then(|Extension(ConnectInfo(peer))| reviewer.connections.busy(peer));
            reviewer.review(body, theirs).await
        }
        Err(refusal) => Err(refusal),
    };
    match answer {
        Ok(answer) => ([(header::CONTENT_TYPE, "application/json")], answer.to_string()).into_response(),
        Err((status, message)) => {
            reviewer.metrics.refused(status.as_u16());
            // It may quote the request.
            let message = start(&message);
            tracing::warn!(status = status.as_u16(), message, "request refused");
            (status, format!("{message}\n")).into_response()
        }
    }
}

async fn ready(State(reviewer): State<Arc<Reviewer>>) -> Response {
    let missing = reviewer.health.missing();
    if missing.is_empty() {
        // An old view judges better than no webhook at all, so the replica stays ready and says how old it is.
        let mut stale = reviewer.health.stale();
        let settings = reviewer.health.unread_settings().into_iter();
        stale.extend(
            settings.map(|(name, reason)| format!("ConfigMap {name}: default mesh settings are assumed: {reason}")),
        );
        return if stale.is_empty() {
            "ok\n".into_response()
        } else {
            format!("ok\n{}\n", stale.join("\n")).into_response()
        };
    }
    (StatusCode::SERVICE_UNAVAILABLE, format!("{}\n", missing.join("\n"))).into_response()
}

async fn metrics(State(reviewer): State<Arc<Reviewer>>) -> Response {
    super::metrics::response(reviewer.metrics.text())
}

/// The API server's timeout from the query: `timeout=10s`, as Go writes durations.
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
    use crate::admission::feed::builder;
    use crate::admission::snapshot::Overrides;
    use serde_json::json;
    use std::io::Write;
    use std::sync::Mutex;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// A name is as long as a sender wants: the API server checks names after its webhooks were called.
    #[test]
    fn long_texts_of_a_request_are_cut_in_the_log() {
        let long = |letter: &str| letter.repeat(200_000);
        let review = |kind: &str| {
            let (namespace, name) = (long("ä"), long("n"));
            let object = json!({"metadata": {"name": name, "namespace": namespace,
                "annotations": {"envoyfilter.dev/admission-exempt": long("e")}}, "spec": {}});
            let resource = json!({"group": "networking.istio.io", "version": "v1alpha3", "resource": "envoyfilters"});
            let request = json!({"uid": long("u"), "operation": "CREATE", "namespace": namespace, "name": name,
                "resource": resource, "object": object});
            Bytes::from(json!({"apiVersion": "admission.k8s.io/v1", "kind": kind, "request": request}).to_string())
        };
        let (mut builder, health) = builder(Overrides::default());
        let reviewer = Arc::new(Reviewer::new(Limits::default(), Rules::default(), builder.snapshot(), health));
        let written = Written::default();
        let to = written.clone();
        let subscriber = tracing_subscriber::fmt().json().with_writer(move || to.clone()).finish();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        tracing::subscriber::with_default(subscriber, || {
            runtime.block_on(async {
                for kind in ["AdmissionReview".to_owned(), long("k")] {
                    let uri = Uri::from_static("/validate");
                    validate(State(Arc::clone(&reviewer)), None, uri, Body::from(review(&kind))).await;
                }
            });
        });
        let log = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
        let lines: Vec<&str> = log.lines().collect();
        assert!(lines.len() == 2 && lines[0].contains("nnn") && lines[1].contains("kkk"), "{lines:?}");
        for line in lines {
            assert!(line.len() < 3_000, "{} bytes", line.len());
        }
    }

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
