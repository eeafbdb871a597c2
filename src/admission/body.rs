//! The body of a request: complete, within limits of size and time, and within the total of all bodies.

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use futures::StreamExt;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::timeout;

/// A body that is too long is read to its end and dropped, up to this many times the limit: a client that is still writing when
/// the connection ends would see a reset, and never the answer with the reason.
const DRAINED: usize = 16;

/// How many parts any body may have, and the bytes for each further one: an API server sends thousands of bytes at once.
const PARTS: usize = 256;
const USUAL: usize = 256;

/// The bodies that are being read, the oldest first.
#[derive(Debug)]
pub(super) struct Bodies {
    /// Maximum total size in bytes.
    most: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    bytes: usize,
    reading: BTreeMap<u64, (usize, Arc<Notify>)>,
}

impl Bodies {
    /// Bodies with at most this many bytes in total.
    pub(super) fn new(most: usize) -> Bodies {
        Bodies { most, state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A body of at most this many bytes that arrives within this time. Fails with a status and a message.
    pub(super) async fn read(&self, body: Body, most: usize, time: Duration) -> Result<Bytes, (StatusCode, String)> {
        let cut = Arc::new(Notify::new());
        let reading = {
            let mut state = self.lock();
            state.next += 1;
            let number = state.next;
            state.reading.insert(number, (0, Arc::clone(&cut)));
            Reading { bodies: self, number }
        };
        tokio::select! {
            read = timeout(time, reading.within(body, most)) => read.unwrap_or_else(|_| {
                Err((StatusCode::REQUEST_TIMEOUT, format!("the body did not arrive within {} ms", time.as_millis())))
            }),
            () = cut.notified() => {
                let message = "the server is reading too many large bodies; this one was the slowest".to_owned();
                Err((StatusCode::SERVICE_UNAVAILABLE, message))
            }
        }
    }
}

/// A body that is being read; dropping it frees its share.
struct Reading<'b> {
    bodies: &'b Bodies,
    number: u64,
}

impl Reading<'_> {
    /// Counts bytes. When the total is too large, the oldest other body is cut off: bodies of the API server arrive within
    /// milliseconds, so the oldest is a slow one.
    fn grow(&self, bytes: usize) {
        let mut state = self.bodies.lock();
        state.bytes += bytes;
        if let Some((own, _)) = state.reading.get_mut(&self.number) {
            *own += bytes;
        }
        while state.bytes > self.bodies.most {
            let oldest = state.reading.iter().find(|(number, (bytes, _))| **number != self.number && *bytes > 0);
            let Some(oldest) = oldest.map(|(number, _)| *number) else { break };
            if let Some((bytes, cut)) = state.reading.remove(&oldest) {
                state.bytes -= bytes;
                cut.notify_one();
            }
        }
    }

    async fn within(&self, body: Body, most: usize) -> Result<Bytes, (StatusCode, String)> {
        let mut frames = body.into_data_stream();
        let (mut kept, mut seen, mut parts) = (Vec::new(), 0_usize, 0_usize);
        while let Some(frame) = frames.next().await {
            let frame = frame.map_err(|error| (StatusCode::BAD_REQUEST, format!("the body broke off: {error}")))?;
            seen = seen.saturating_add(frame.len());
            parts += 1;
            // A chunk of one byte costs as much work as a longer one.
            if parts > PARTS + most / USUAL {
                return Err((StatusCode::BAD_REQUEST, "the body arrives in too many small parts".to_owned()));
            }
            if seen <= most {
                self.grow(frame.len());
                kept.extend_from_slice(&frame);
            } else {
                kept = Vec::new();
            }
            if seen > most.saturating_mul(DRAINED) {
                break;
            }
        }
        if seen <= most {
            return Ok(kept.into());
        }
        let message = format!("the AdmissionReview is larger than {most} bytes; --max-request-bytes sets the limit");
        Err((StatusCode::PAYLOAD_TOO_LARGE, message))
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        let mut state = self.bodies.lock();
        if let Some((bytes, _)) = state.reading.remove(&self.number) {
            state.bytes -= bytes;
        }
    }
}
