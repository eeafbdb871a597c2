//! Connections of untrusted clients: limited in number, without long idle ones, and with room for those that have work.
//!
//! The server cannot distinguish the API server's connections from others before they send something. When the table is full,
//! the oldest connection without any request is closed, then the one that has been idle longest: a silent connection never
//! keeps the API server out.

use axum_server::accept::Accept;
use futures::task::AtomicWaker;
use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};

/// How long a connection may take to its first request, its handshake included.
pub(crate) const FIRST: Duration = Duration::from_secs(10);
/// How long a connection may stay without a request; API servers close theirs after 90 s.
pub(crate) const IDLE: Duration = Duration::from_secs(120);

/// The connections of a listener.
#[derive(Debug)]
pub struct Connections {
    most: usize,
    table: Mutex<HashMap<SocketAddr, Arc<Entry>>>,
}

/// A connection.
#[derive(Debug)]
struct Entry {
    state: Mutex<State>,
    closed: AtomicBool,
    waker: AtomicWaker,
}

#[derive(Debug)]
struct State {
    /// Whether it had a request. The API server's connections have, and are closed last.
    proven: bool,
    /// When its last request arrived; before the first one, when it was opened.
    last: Instant,
    /// Requests that are being answered.
    busy: usize,
    /// When it is closed unless something happens.
    end: Instant,
}

impl Entry {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.waker.wake();
    }
}

impl Connections {
    /// At most this many.
    pub(crate) fn new(most: usize) -> Arc<Connections> {
        Arc::new(Connections { most: most.max(1), table: Mutex::default() })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SocketAddr, Arc<Entry>>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(self: &Arc<Connections>, peer: SocketAddr) -> Arc<Entry> {
        let now = Instant::now();
        let entry = Arc::new(Entry {
            state: Mutex::new(State { proven: false, last: now, busy: 0, end: now + FIRST }),
            closed: AtomicBool::new(false),
            waker: AtomicWaker::new(),
        });
        let mut table = self.lock();
        while table.len() >= self.most {
            let idlest = table.iter().min_by_key(|(_, entry)| {
                let state = entry.lock();
                (state.busy > 0, state.proven, state.last)
            });
            let Some(idlest) = idlest.map(|(peer, _)| *peer) else { break };
            if let Some(entry) = table.remove(&idlest) {
                entry.close();
            }
        }
        table.insert(peer, Arc::clone(&entry));
        entry
    }

    /// Marks this peer as having a complete request, until the mark is dropped.
    pub(crate) fn busy(self: &Arc<Connections>, peer: SocketAddr) -> Option<Busy> {
        let entry = Arc::clone(self.lock().get(&peer)?);
        {
            let mut state = entry.lock();
            state.busy += 1;
            (state.proven, state.last) = (true, Instant::now());
        }
        Some(Busy(entry))
    }
}

/// A request that is being answered.
#[derive(Debug)]
pub(crate) struct Busy(Arc<Entry>);

impl Drop for Busy {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.busy = state.busy.saturating_sub(1);
        let now = Instant::now();
        (state.last, state.end) = (now, now + IDLE);
    }
}

/// Adds connections to the table and passes them on.
#[derive(Clone, Debug)]
pub struct Admit<A> {
    connections: Arc<Connections>,
    inner: A,
}

impl<A> Admit<A> {
    /// In front of another acceptor.
    pub const fn new(connections: Arc<Connections>, inner: A) -> Admit<A> {
        Admit { connections, inner }
    }
}

impl<A, S> Accept<TcpStream, S> for Admit<A>
where
    A: Accept<Watched, S>,
    A::Future: Send + 'static,
{
    type Stream = A::Stream;
    type Service = A::Service;
    type Future = Pin<Box<dyn Future<Output = io::Result<(A::Stream, A::Service)>> + Send>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        let peer = match stream.peer_addr() {
            Ok(peer) => peer,
            Err(error) => return Box::pin(async { Err(error) }),
        };
        let _ = stream.set_nodelay(true);
        let entry = self.connections.add(peer);
        let timer = Box::pin(sleep_until(entry.lock().end));
        let watched = Watched { stream, peer, entry, timer, connections: Arc::clone(&self.connections) };
        Box::pin(self.inner.accept(watched, service))
    }
}

/// A connection that ends when it was idle too long, or must make room.
#[derive(Debug)]
pub struct Watched {
    stream: TcpStream,
    peer: SocketAddr,
    entry: Arc<Entry>,
    timer: Pin<Box<Sleep>>,
    connections: Arc<Connections>,
}

impl Watched {
    /// Whether it is over; wakes the task when that changes.
    fn over(&mut self, context: &mut Context<'_>) -> Option<io::Error> {
        self.entry.waker.register(context.waker());
        if self.entry.closed.load(Ordering::Acquire) {
            return Some(io::Error::new(io::ErrorKind::ConnectionAborted, "another connection needs the room"));
        }
        while self.timer.as_mut().poll(context).is_ready() {
            let (busy, end) = {
                let state = self.entry.lock();
                (state.busy > 0, state.end)
            };
            let now = Instant::now();
            if !busy && end <= now {
                return Some(io::Error::new(io::ErrorKind::TimedOut, "no request for too long"));
            }
            self.timer.as_mut().reset(if busy { now + FIRST } else { end });
        }
        None
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let mut table = self.connections.lock();
        // The peer may have another connection from the same port by now.
        if table.get(&self.peer).is_some_and(|entry| Arc::ptr_eq(entry, &self.entry)) {
            table.remove(&self.peer);
        }
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Some(error) = self.over(context) {
            return Poll::Ready(Err(error));
        }
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Watched {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if let Some(error) = self.over(context) {
            return Poll::Ready(Err(error));
        }
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
