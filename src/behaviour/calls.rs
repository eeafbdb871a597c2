//! Calls that stubs received, and what they share.

use super::answers::{Counted, Rule, Service, Stub};
use super::http1::{Body, Fields};
use super::identity::Pair;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// A call that a stub received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Name of the cluster that the call came through.
    pub cluster: String,
    /// The requested service.
    pub service: Service,
    /// `HTTP/1.1`, `HTTP/2`, `TCP`.
    pub protocol: &'static str,
    /// Method; empty for TCP.
    pub method: String,
    /// Path; empty for TCP.
    pub path: String,
    /// Header fields in order, pseudo header fields of HTTP/2 first.
    pub headers: Fields,
    /// The body.
    pub body: Body,
    /// Trailers.
    pub trailers: Fields,
    /// The request to the service, on one line; empty for plain HTTP.
    pub asked: String,
    /// The answer, on one line.
    pub answer: String,
    /// The status of the answer; 0 if the connection was closed instead.
    pub status: u16,
    /// Duration of the answer in microseconds.
    pub micros: u64,
}

/// Shared by all stubs.
pub(super) struct Shared {
    /// What stubs show to clients whose TLS the proxy passes through.
    pub(super) certificate: Arc<Pair>,
    calls: Mutex<Calls>,
    answers: Mutex<BTreeMap<String, Counted>>,
    jwks: Mutex<String>,
}

/// The calls since the last time they were taken, and the number taken before.
#[derive(Default)]
struct Calls {
    new: Vec<Call>,
    taken: usize,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    pub(super) fn new(certificate: Arc<Pair>) -> Shared {
        Shared { certificate, calls: Mutex::default(), answers: Mutex::default(), jwks: Mutex::default() }
    }

    /// The calls since the last time.
    pub(super) fn take(&self) -> Vec<Call> {
        let mut calls = lock(&self.calls);
        calls.taken += calls.new.len();
        std::mem::take(&mut calls.new)
    }

    /// Sets the answers of each cluster's stub, and resets the counts.
    pub(super) fn answer(&self, stubs: &BTreeMap<String, Stub>) {
        let counted = stubs.iter().map(|(cluster, stub)| (cluster.clone(), Counted::new(stub.clone())));
        *lock(&self.answers) = counted.collect();
    }

    /// Sets the keys that JWKS clusters serve.
    pub(super) fn keys(&self, jwks: String) {
        *lock(&self.jwks) = jwks;
    }

    pub(super) fn jwks(&self) -> String {
        lock(&self.jwks).clone()
    }

    pub(super) fn has(&self, cluster: &str, service: Service) -> bool {
        lock(&self.answers).get(cluster).is_some_and(|counted| counted.has(service))
    }

    pub(super) fn rule(&self, cluster: &str, service: Service, value: &dyn Fn(&str) -> Vec<String>) -> Option<Rule> {
        lock(&self.answers).get_mut(cluster)?.rule(service, value)
    }

    /// Records a call; returns its number.
    pub(super) fn record(&self, call: Call) -> usize {
        // A run that floods a stub is bounded by its requests; the kept calls are bounded here.
        const CALLS: usize = 100_000;
        let mut calls = lock(&self.calls);
        if calls.new.len() < CALLS {
            calls.new.push(call);
        }
        calls.taken + calls.new.len() - 1
    }

    /// Updates a call that was not taken yet.
    pub(super) fn amend(&self, number: usize, call: &Call) {
        let mut calls = lock(&self.calls);
        let at = number.checked_sub(calls.taken);
        if let Some(old) = at.and_then(|at| calls.new.get_mut(at)) {
            *old = call.clone();
        }
    }
}

/// An HTTP answer.
#[derive(Clone, Debug, Default)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: Fields,
    pub(super) body: Vec<u8>,
}

pub(super) fn micros(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX)
}
