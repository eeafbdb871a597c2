//! Test files of kind `EnvoyFilterTest`: requests with what is expected of them.

mod check;
mod coverage;
mod read;
mod run;

pub use coverage::{Coverage, Met};
pub use read::{KIND, read};
pub use run::{Results, run};

use super::answers::{Pattern, Stub};
use super::request::Request;
use crate::source::Span;
use std::collections::BTreeMap;

/// A test file.
#[derive(Clone, Debug)]
pub struct Suite {
    /// Where the proxy comes from.
    pub proxy: ProxySource,
    /// Files and folders with the filters, as they are written.
    pub filters: Vec<String>,
    /// Files of Wasm modules by the name of a filter.
    pub wasm: BTreeMap<String, String>,
    /// What upstreams answer, by name.
    pub stubs: BTreeMap<String, Stub>,
    /// The tests in their order.
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
        /// Its name, with or without `namespace/`; a workload stands for its first pod.
        name: String,
        /// The capture or bug report.
        capture: Option<String>,
    },
    /// A pod of manifests, with the configuration that a real istiod generates for it.
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
    /// Where it is written.
    pub span: Span,
    /// The request.
    pub request: Request,
    /// Claims of a token that goes with it.
    pub token: Option<serde_json::Value>,
    /// How often it is sent.
    pub repeat: usize,
    /// How many of them are sent at the same time.
    pub parallel: usize,
    /// Whether it gets an Envoy of its own, with full token buckets.
    pub fresh: bool,
    /// What upstreams answer for this test, over those of the file.
    pub stubs: BTreeMap<String, Stub>,
    /// What is expected with the filters.
    pub expect: Vec<Expectation>,
    /// What is expected without them.
    pub without: Vec<Expectation>,
}

/// One thing that is expected.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// Where it is written.
    pub span: Span,
    /// What it is about.
    pub of: Of,
    /// What it is to be.
    pub wanted: Wanted,
}

/// What an expectation is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Of {
    /// The status.
    Status,
    /// How often each status came.
    Statuses,
    /// A header field of the response.
    Header(String),
    /// A trailer of the response.
    Trailer(String),
    /// The body of the response.
    Body,
    /// Why there is no whole answer: `closed`, `timed-out`, `tls`, `reset`, `none`.
    Failure,
    /// How often the upstream was called.
    UpstreamCalls,
    /// Cluster of the request.
    Cluster,
    /// Method that the upstream saw.
    UpstreamMethod,
    /// Path that the upstream saw.
    UpstreamPath,
    /// Body that the upstream saw.
    UpstreamBody,
    /// A header field that the upstream saw.
    UpstreamHeader(String),
    /// The filter that stopped the request.
    StoppedBy,
    /// Envoy's word for how the answer came about.
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
    /// A line that a script said.
    Log,
    /// A line of an access log that the configuration writes.
    AccessLog,
    /// How often a stub was asked.
    Asked(String),
    /// How long the answer took, at least, in milliseconds.
    AtLeast,
    /// How often the upstream was tried.
    Attempts,
}

/// What something is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Like this, `*` standing for anything.
    Is(Pattern),
    /// Not like this.
    IsNot(Pattern),
    /// There, whatever it is.
    Present,
    /// Not there.
    Absent,
    /// This many.
    Number(u64),
    /// This many each.
    Counts(BTreeMap<String, u64>),
}

/// What became of a test.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Name of the test.
    pub name: String,
    /// Where it is written.
    pub span: Span,
    /// What is not as expected; empty for a test that passed.
    pub failures: Vec<Mismatch>,
    /// Why it could not run.
    pub error: Option<String>,
    /// How long it took, in microseconds.
    pub micros: u64,
    /// The request in a line.
    pub request: String,
}

impl Outcome {
    /// Whether it passed.
    pub fn passed(&self) -> bool {
        self.failures.is_empty() && self.error.is_none()
    }
}

/// One thing that is not as expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Where the expectation is written.
    pub span: Span,
    /// What was looked at.
    pub what: String,
    /// What was expected.
    pub expected: String,
    /// What was there.
    pub actual: String,
    /// Whether it was without the filters.
    pub without: bool,
}
