//! Single requests with bounded retries, and their failures.

use super::deep;
use super::login::{NO_CONTEXT, auth, describe};
use http::Method;
use http::header::{ACCEPT, CONTENT_TYPE, RETRY_AFTER, WARNING};
use kube::Client;
use kube::client::Body;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

/// A client of one cluster.
#[derive(Clone)]
pub struct Cluster {
    pub(super) client: Client,
    /// Name of the context, `in-cluster` inside a pod.
    pub context: String,
    /// Namespace of the context.
    pub namespace: String,
    /// How long a request may take.
    pub timeout: Duration,
    /// How long reading one proxy may take, over all ways of reading it.
    pub proxy_timeout: Duration,
    /// Address of the API server.
    pub server: String,
    requests: Arc<AtomicUsize>,
    stop: Stop,
}

/// Signals that the user wants to stop.
#[derive(Clone, Debug)]
pub struct Stop(watch::Receiver<bool>);

impl Stop {
    /// A stop and its trigger.
    pub(crate) fn new() -> (watch::Sender<bool>, Stop) {
        let (sender, receiver) = watch::channel(false);
        (sender, Stop(receiver))
    }

    /// A stop without a trigger.
    pub(crate) fn never() -> Stop {
        Stop::new().1
    }

    /// Whether it is set.
    pub(crate) fn is_set(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until it is set; forever if the trigger is gone.
    pub(crate) async fn wait(&self) {
        let mut receiver = self.0.clone();
        if receiver.wait_for(|&stop| stop).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Why a request has no usable answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// 401: the cluster does not know the client.
    Credentials(String),
    /// 403, with the API server's message.
    NotAllowed(String),
    /// Admission denied it, with the message of the webhook or policy.
    Denied(String),
    /// 404: no such object, or no such kind.
    NotFound(String),
    /// 410: the continue token is too old.
    Expired,
    /// Any other status, after retries that might have helped.
    Status(u16, String),
    /// The connection could not be made or broke.
    Connection(String),
    /// No answer in time.
    TimedOut(Duration),
    /// An answer that did not complete in time.
    TooSlow(Duration),
    /// A proxy or istiod answered with this status.
    Answer(u16),
    /// An invalid answer.
    Garbled(String),
    /// The user stopped it.
    Interrupted,
}

impl std::error::Error for Fault {}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Credentials(words) => write!(out, "the API server does not accept the credentials: {words}"),
            Fault::NotAllowed(words) => write!(out, "not allowed: {words}"),
            Fault::Denied(words) => write!(out, "denied: {words}"),
            Fault::NotFound(words) => write!(out, "not found: {words}"),
            Fault::Expired => write!(out, "the list changed faster than it could be read"),
            Fault::Status(code, words) => write!(out, "the API server answers {code}: {words}"),
            Fault::Connection(words) => write!(out, "no connection: {words}"),
            Fault::TimedOut(after) => write!(out, "no answer within {} s", seconds(*after)),
            Fault::TooSlow(after) => write!(out, "the answer was not complete within {} s", seconds(*after)),
            Fault::Answer(status) => write!(out, "the answer is {status} {}", http_word(*status)),
            Fault::Garbled(words) => write!(out, "the answer cannot be used: {words}"),
            Fault::Interrupted => write!(out, "interrupted"),
        }
    }
}

/// Default timeout of a request. kubectl waits forever.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// Default timeout for reading one proxy.
const PROXY_TIMEOUT: Duration = Duration::from_secs(10);
/// Seconds for a message: whole ones or tenths.
fn seconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 10.0).round() / 10.0
}

/// Why a cluster cannot be read at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreachable {
    /// What is wrong, with the server.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// Maximum number of attempts for temporary failures: an overloaded or restarting API server, a broken connection.
const TRIES: u32 = 4;
/// Maximum number of attempts for a server that does not answer at all.
const TRIES_SILENT: u32 = 2;
/// The longest `Retry-After` of a server that we obey.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// A failed request, and how long the server asks us to wait.
struct Failed {
    fault: Fault,
    retry_after: Option<Duration>,
}

impl Cluster {
    /// A client of the API server at an address.
    /// The cluster in a sentence: its context, or its server when no context is used.
    pub(super) fn place(&self) -> String {
        if self.context == NO_CONTEXT { self.server.clone() } else { format!("context {}", self.context) }
    }

    pub(super) fn new(client: Client, server: String, context: String, namespace: String, stop: Stop) -> Cluster {
        let (timeout, proxy_timeout) = (REQUEST_TIMEOUT, PROXY_TIMEOUT);
        Cluster { client, context, namespace, timeout, proxy_timeout, server, requests: Arc::default(), stop }
    }

    /// The message for a failed first request: the server, and what to do.
    pub(crate) fn unreachable(&self, fault: &Fault) -> Unreachable {
        let (server, context) = (&self.server, &self.context);
        let (message, help) = match fault {
            Fault::Credentials(words) => (
                format!("{server} does not accept the credentials of context {context}: {words}"),
                "log in again, or choose another context with --context".to_owned(),
            ),
            Fault::TimedOut(after) => (
                format!("{server} (context {context}) did not answer within {} s", seconds(*after)),
                "check the network, VPN and --context; --request-timeout waits longer".to_owned(),
            ),
            Fault::Connection(words) => (
                format!("cannot connect to {server} (context {context}): {words}"),
                "check that the cluster runs, the network and VPN, and --context".to_owned(),
            ),
            fault => (
                format!("cannot read the cluster of context {context} at {server}: {fault}"),
                "check --context".to_owned(),
            ),
        };
        Unreachable { message, help }
    }

    /// The underlying client, for requests that are built elsewhere.
    pub(crate) fn client(&self) -> Client {
        self.client.clone()
    }

    /// How many requests were sent, including port-forwards and execs.
    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }

    pub(super) fn count_request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    /// The signal that the user wants to stop.
    pub(crate) fn stop(&self) -> &Stop {
        &self.stop
    }

    /// Gets a path; `metadata` requests only metadata. Fails after bounded retries.
    pub(super) async fn get(&self, path: &str, metadata: bool) -> Result<String, Fault> {
        self.call(&Ask { metadata, ..Ask::get(path) }).await.map(|answer| answer.text)
    }

    /// Sends a request that is safe to send twice. Fails after bounded retries.
    pub(super) async fn call(&self, ask: &Ask<'_>) -> Result<Answer, Fault> {
        let mut tries = 0;
        loop {
            tries += 1;
            let failed = tokio::select! {
                () = self.stop.wait() => return Err(Fault::Interrupted),
                answer = timeout(self.timeout, self.once(ask)) => match answer {
                    Ok(Ok(answer)) => return Ok(answer),
                    Ok(Err(failed)) => failed,
                    Err(_) => Failed { fault: Fault::TimedOut(self.timeout), retry_after: None },
                },
            };
            let retry = match &failed.fault {
                Fault::TimedOut(_) => tries < TRIES_SILENT,
                Fault::Status(code, _) => tries < TRIES && (*code == 429 || *code >= 500),
                Fault::Connection(_) => tries < TRIES,
                _ => false,
            };
            if !retry {
                return Err(failed.fault);
            }
            let wait = failed.retry_after.unwrap_or(Duration::from_millis(100 << tries)).min(LONGEST_WAIT);
            tokio::select! {
                () = self.stop.wait() => return Err(Fault::Interrupted),
                () = sleep(wait) => {}
            }
        }
    }

    /// Gets a path and parses the answer as JSON.
    pub(super) async fn json(&self, path: &str, metadata: bool) -> Result<Value, Fault> {
        let text = self.get(path, metadata).await?;
        deep::read(&text).map_err(|error| Fault::Garbled(error.to_string()))
    }

    async fn once(&self, ask: &Ask<'_>) -> Result<Answer, Failed> {
        self.count_request();
        let accept = if ask.metadata {
            "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
        } else {
            "application/json"
        };
        let mut request = http::Request::builder().method(ask.method.clone()).uri(ask.path).header(ACCEPT, accept);
        if !ask.content.is_empty() {
            request = request.header(CONTENT_TYPE, ask.content);
        }
        let request = request.body(Body::from(ask.body.clone())).map_err(|error| broken(error.to_string()))?;
        let answer =
            self.client.send(request).await.map_err(|error| Failed { fault: fault(&error), retry_after: None })?;
        let (status, wait) = (answer.status(), answer.headers().get(RETRY_AFTER).cloned());
        let warnings = answer.headers().get_all(WARNING).iter().filter_map(|header| warning(header.to_str().ok()?));
        let warnings = warnings.collect();
        let body = answer.into_body().collect_bytes().await.map_err(|error| broken(describe(&error)))?;
        let text = String::from_utf8(Vec::from(body))
            .map_err(|error| Failed { fault: Fault::Garbled(error.to_string()), retry_after: None })?;
        if status.is_success() {
            return Ok(Answer { text, warnings });
        }
        let wait = wait.and_then(|wait| wait.to_str().ok()?.trim().parse().ok()).map(Duration::from_secs);
        Err(Failed { fault: of_status(status.as_u16(), &text), retry_after: wait })
    }
}

/// A request.
pub(super) struct Ask<'a> {
    pub(super) method: Method,
    pub(super) path: &'a str,
    /// Whether metadata is enough.
    pub(super) metadata: bool,
    /// Type of the body; empty when there is none.
    pub(super) content: &'static str,
    pub(super) body: Vec<u8>,
}

impl<'a> Ask<'a> {
    /// A GET of whole objects.
    pub(super) fn get(path: &'a str) -> Ask<'a> {
        Ask { method: Method::GET, path, metadata: false, content: "", body: Vec::new() }
    }
}

/// An answer with a status of success.
pub(super) struct Answer {
    pub(super) text: String,
    /// Warnings of the API server or an admission webhook.
    pub(super) warnings: Vec<String>,
}

/// The text of a header `299 - "words"` (RFC 7234, 5.5).
fn warning(header: &str) -> Option<String> {
    let words = header.split_once('"')?.1.rsplit_once('"')?.0;
    Some(words.replace("\\\"", "\"").replace("\\\\", "\\"))
}

fn broken(words: String) -> Failed {
    Failed { fault: Fault::Connection(words), retry_after: None }
}

/// A status with the message of its body, if that is a Kubernetes Status.
fn of_status(code: u16, body: &str) -> Fault {
    let status: Value = serde_json::from_str(body).unwrap_or_default();
    let said = status.get("message").and_then(Value::as_str).unwrap_or(body).trim();
    // Webhooks: `admission webhook "x" denied the request: …`; policies: `… with binding 'y' denied request: …`.
    if (400..500).contains(&code) && [" denied the request: ", " denied request: "].iter().any(|it| said.contains(it)) {
        return Fault::Denied(said.chars().take(LONGEST_DENIAL).collect());
    }
    let said = if said.is_empty() { http_word(code) } else { said.lines().next().unwrap_or_default() };
    let said: String = said.chars().take(300).collect();
    match code {
        401 => Fault::Credentials(said),
        403 => Fault::NotAllowed(said),
        404 => Fault::NotFound(said),
        410 => Fault::Expired,
        _ => Fault::Status(code, said),
    }
}

fn http_word(code: u16) -> &'static str {
    http::StatusCode::from_u16(code).ok().and_then(|code| code.canonical_reason()).unwrap_or_default()
}

/// Maximum length of a denial's text, in characters.
const LONGEST_DENIAL: usize = 8_000;

/// The meaning of kube's errors here.
pub(super) fn fault(error: &kube::Error) -> Fault {
    match error {
        kube::Error::Api(status) => {
            let said =
                if status.message.is_empty() { http_word(status.code).to_owned() } else { status.message.clone() };
            match status.code {
                401 => Fault::Credentials(said),
                403 => Fault::NotAllowed(said),
                404 => Fault::NotFound(said),
                code => Fault::Status(code, said),
            }
        }
        _ if auth(error).is_some() => Fault::Credentials(describe(error)),
        _ => Fault::Connection(describe(error)),
    }
}
