//! Test files of kind `EnvoyFilterTest`: requests with their expectations.

mod check;
mod coverage;
mod read;
mod run;

pub(crate) use coverage::{Coverage, Met};
pub use read::{KIND, read};
pub(crate) use run::{Results, run};

use super::answers::{Pattern, Stub};
use super::request::Request;
use crate::source::Span;
use std::collections::BTreeMap;

/// A test file.
#[derive(Clone, Debug)]
pub struct Suite {
    /// Where the proxy comes from.
    pub proxy: ProxySource,
    /// Files and folders with the filters, as written.
    pub filters: Vec<String>,
    /// Files of Wasm modules by the name of a filter.
    pub wasm: BTreeMap<String, String>,
    /// The answers of upstreams, by name.
    pub stubs: BTreeMap<String, Stub>,
    /// The tests in order.
    pub tests: Vec<Test>,
}

/// Where the proxy of a test file comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProxySource {
    /// A config dump.
    Dump(String),
    /// The proxy of the demo.
    Demo,
    /// A pod of the cluster, or of a capture.
    Pod {
        /// Its name, with or without `namespace/`; a workload means its first pod.
        name: String,
        /// The capture or bug report.
        capture: Option<String>,
    },
    /// A pod from manifests, with the configuration that a real istiod generates for it.
    Manifests {
        /// Its name, as above.
        pod: String,
        /// Files and folders with the objects.
        files: Vec<String>,
    },
}

/// One test.
#[derive(Clone, Debug)]
pub struct Test {
    /// Its name.
    pub name: String,
    /// Its place.
    pub span: Span,
    /// The request.
    pub request: Request,
    /// Claims of a token to send.
    pub token: Option<serde_json::Value>,
    /// How often it is sent.
    pub repeat: usize,
    /// How many are sent concurrently.
    pub parallel: usize,
    /// Whether it gets its own Envoy, with full token buckets.
    pub fresh: bool,
    /// Answers of upstreams for this test, which override those of the file.
    pub stubs: BTreeMap<String, Stub>,
    /// Expectations with the filters.
    pub expect: Vec<Expectation>,
    /// Expectations without them.
    pub without: Vec<Expectation>,
}

/// One expectation.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// Its place.
    pub span: Span,
    /// The observed property.
    pub of: Of,
    /// The expected value.
    pub wanted: Wanted,
}

/// The observed property of an expectation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Of {
    /// The status.
    Status,
    /// The number of each status.
    Statuses,
    /// A header field of the response.
    Header(String),
    /// A trailer of the response.
    Trailer(String),
    /// The body of the response.
    Body,
    /// Why there is no complete answer: `closed`, `timed-out`, `tls`, `reset`, `none`.
    Failure,
    /// How often the upstream was called.
    UpstreamCalls,
    /// Cluster of the request.
    Cluster,
    /// Method at the upstream.
    UpstreamMethod,
    /// Path at the upstream.
    UpstreamPath,
    /// Body at the upstream.
    UpstreamBody,
    /// A header field at the upstream.
    UpstreamHeader(String),
    /// The filter that stopped the request.
    StoppedBy,
    /// Envoy's response details.
    Details,
    /// Envoy's flags.
    Flags,
    /// Why the connection was closed.
    Closed,
    /// The listener.
    Listener,
    /// Name of the filter chain.
    FilterChain,
    /// The virtual host.
    VirtualHost,
    /// Name of the route.
    Route,
    /// The Istio object that made the route.
    Object,
    /// Verified identity of the client.
    Peer,
    /// A line that a script logged.
    Log,
    /// A line of an access log that the configuration writes.
    AccessLog,
    /// The number of calls to a stub.
    Asked(String),
    /// Minimum duration of the answer in milliseconds.
    AtLeast,
    /// The number of upstream attempts.
    Attempts,
}

/// An expected value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Matches this pattern, in which `*` matches anything.
    Is(Pattern),
    /// Does not match this pattern.
    IsNot(Pattern),
    /// Present, with any value.
    Present,
    /// Absent.
    Absent,
    /// This number.
    Number(u64),
    /// These numbers, by name.
    Counts(BTreeMap<String, u64>),
}

/// The result of a test.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Name of the test.
    pub name: String,
    /// Its place.
    pub span: Span,
    /// The mismatches; empty for a test that passed.
    pub failures: Vec<Mismatch>,
    /// Why it could not run.
    pub error: Option<String>,
    /// Duration in microseconds.
    pub micros: u64,
    /// The request on one line.
    pub request: String,
}

impl Outcome {
    /// Whether it passed.
    pub(crate) fn passed(&self) -> bool {
        self.failures.is_empty() && self.error.is_none()
    }
}

/// One mismatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The place of the expectation.
    pub span: Span,
    /// What was compared.
    pub what: String,
    /// The expected value.
    pub expected: String,
    /// The actual value.
    pub actual: String,
    /// The name and the values of the header field that was compared, as they stand in `actual`: they may be secrets.
    pub header: Option<(String, Vec<String>)>,
    /// Whether it occurred without the filters.
    pub without: bool,
}
