//! Limits of time and size for reading one proxy.

use super::api::Fault;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// The largest config dump that is read, in bytes.
const LARGEST: usize = 1 << 30;

/// The limits for one way to read one proxy. A way that does not start to answer leaves time for the next; one that answers may
/// use all of the remaining time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// When the answer must have started.
    first: Instant,
    /// How long that is, for messages.
    patience: Duration,
    /// When the answer must be complete.
    end: Instant,
    /// The total time for the proxy, for messages.
    total: Duration,
}

impl Limits {
    /// The limits of the next of this many remaining ways, for a proxy that must be read by `end`, `total` in all.
    pub(super) fn until(end: Instant, total: Duration, ways: usize) -> Limits {
        let now = Instant::now();
        let share = u32::try_from(ways.max(1)).unwrap_or(u32::MAX);
        let patience = end.saturating_duration_since(now) / share;
        Limits { first: now + patience, patience, end, total }
    }

    /// Waits for the start of an answer.
    pub(super) async fn first<T>(&self, work: impl Future<Output = T>) -> Result<T, Fault> {
        timeout_at(self.first, work).await.map_err(|_| Fault::TimedOut(self.patience))
    }

    /// Waits for the rest of an answer.
    pub(super) async fn rest<T>(&self, work: impl Future<Output = T>) -> Result<T, Fault> {
        timeout_at(self.end, work).await.map_err(|_| Fault::TooSlow(self.total))
    }

    /// Fails for more than the largest dump.
    pub(super) fn size(&self, bytes: usize) -> Result<(), Fault> {
        if bytes > LARGEST {
            return Err(Fault::Garbled(format!("it is larger than {} MiB", LARGEST >> 20)));
        }
        Ok(())
    }
}
