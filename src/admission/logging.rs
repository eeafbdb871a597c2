//! Logs as JSON lines, handed to the owner of standard error.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use tracing::Level;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;

/// Lines buffered for a slow reader; more are dropped, because a review must not wait for a log.
const WAITING: usize = 8192;

/// Number of dropped lines.
static DROPPED: AtomicU64 = AtomicU64::new(0);

/// Sends lines.
#[derive(Clone, Debug)]
struct Lines(SyncSender<Vec<u8>>);

impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if let Err(TrySendError::Full(_)) = self.0.try_send(line.to_vec()) {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'w> MakeWriter<'w> for Lines {
    type Writer = Lines;

    fn make_writer(&'w self) -> Lines {
        self.clone()
    }
}

/// Starts logging; lines arrive at the receiver. Other crates log warnings only. Works once per process: later calls get no
/// lines.
pub(crate) fn start() -> Receiver<Vec<u8>> {
    let (sender, receiver) = sync_channel(WAITING);
    let format = tracing_subscriber::fmt::layer()
        .json()
        .flatten_event(true)
        .with_current_span(false)
        .with_span_list(false)
        .with_writer(Lines(sender));
    let targets = Targets::new().with_default(Level::WARN).with_target(env!("CARGO_CRATE_NAME"), Level::INFO);
    let _ = tracing::subscriber::set_global_default(tracing_subscriber::registry().with(targets).with(format));
    // Log a panic's location only: its message may quote what a client sent.
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, "panic");
    }));
    receiver
}

/// Number of lines dropped since the last call.
pub(crate) fn dropped() -> u64 {
    DROPPED.swap(0, Ordering::Relaxed)
}
