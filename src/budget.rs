//! A limit on the work that one question may take, counted where the work is done, and a way to cancel it.
//!
//! Code that answers untrusted requests runs the work under a [`Meter`]. Parsers, the engine and the rules call [`charge`] as
//! they go, which costs a subtraction. When the meter is empty or canceled, the next charge unwinds to [`Meter::run`]: the work
//! stops, and everything it held is freed. Without a meter, nothing is limited.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

/// Units taken from the meter at a time. Cancellation is checked once per chunk.
const CHUNK: u64 = 1 << 12;

thread_local! {
    /// Units that this thread may spend before it checks its meter again.
    static FUEL: Cell<u64> = const { Cell::new(u64::MAX) };
    /// The meter of the work that this thread does.
    static METER: RefCell<Option<Arc<Meter>>> = const { RefCell::new(None) };
}

/// How much work one question may take.
#[derive(Debug)]
pub struct Meter {
    left: AtomicU64,
    cancelled: AtomicBool,
}

/// Why metered work has no result.
#[derive(Debug)]
pub enum Ended {
    /// The meter was empty.
    Spent,
    /// The work was canceled.
    Cancelled,
    /// It panicked, with this payload.
    Panicked(Box<dyn Any + Send>),
}

/// The payload that unwinds. It is not a panic, so no hook sees it.
struct Stop {
    cancelled: bool,
}

impl Meter {
    /// A meter with this many units. One unit is about a node visited, a field merged or a step of an automaton.
    pub fn new(units: u64) -> Arc<Meter> {
        Arc::new(Meter { left: AtomicU64::new(units), cancelled: AtomicBool::new(false) })
    }

    /// Cancels the work that runs under this meter.
    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the work was canceled.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Units left. Units that threads have taken but not spent are not included.
    pub fn left(&self) -> u64 {
        self.left.load(Ordering::Relaxed)
    }

    /// Runs work under this meter on this thread. Fails when the meter is empty or canceled, or when the work panics.
    pub fn run<T>(self: &Arc<Meter>, work: impl FnOnce() -> T) -> Result<T, Ended> {
        let outer = (FUEL.replace(0), METER.replace(Some(Arc::clone(self))));
        // Everything the work was about to change is dropped with it.
        let done = catch_unwind(AssertUnwindSafe(work));
        self.left.fetch_add(FUEL.replace(outer.0), Ordering::Relaxed);
        METER.replace(outer.1);
        done.map_err(|payload| match payload.downcast::<Stop>() {
            Ok(stop) if stop.cancelled => Ended::Cancelled,
            Ok(_) => Ended::Spent,
            Err(payload) => Ended::Panicked(payload),
        })
    }

    /// Takes a chunk, but at least this many units; `None` when fewer are left.
    fn take(&self, least: u64) -> Option<u64> {
        let mut left = self.left.load(Ordering::Relaxed);
        loop {
            if left < least {
                return None;
            }
            let taken = least.max(CHUNK).min(left);
            match self.left.compare_exchange_weak(left, left - taken, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some(taken),
                Err(now) => left = now,
            }
        }
    }
}

/// Counts work that is about to be done. Does not return when this thread's meter is empty or canceled.
#[inline]
pub fn charge(units: u64) {
    let fuel = FUEL.get();
    match fuel.checked_sub(units) {
        Some(left) => FUEL.set(left),
        None => refill(units, fuel),
    }
}

/// The same for a number of things.
#[inline]
pub(crate) fn charge_for(things: usize) {
    charge(u64::try_from(things).unwrap_or(u64::MAX));
}

#[cold]
fn refill(units: u64, fuel: u64) {
    let Some(meter) = METER.with_borrow(Clone::clone) else {
        FUEL.set(u64::MAX);
        return;
    };
    // Destructors that run while unwinding must not unwind again.
    if std::thread::panicking() {
        return;
    }
    if meter.is_cancelled() {
        resume_unwind(Box::new(Stop { cancelled: true }));
    }
    match meter.take(units - fuel) {
        Some(taken) => FUEL.set(taken + fuel - units),
        None => resume_unwind(Box::new(Stop { cancelled: false })),
    }
}

/// Runs work and returns how many units it took, including those of helper threads.
pub(crate) fn measured<T>(work: impl FnOnce() -> T) -> (T, u64) {
    if METER.with_borrow(Option::is_none) {
        let meter = Meter::new(u64::MAX);
        return match meter.run(work) {
            Ok(done) => (done, u64::MAX - meter.left()),
            Err(Ended::Panicked(payload)) => resume_unwind(payload),
            Err(_) => resume_unwind(Box::new(Stop { cancelled: true })),
        };
    }
    let before = available();
    let done = work();
    (done, before.saturating_sub(available()))
}

/// Units that this thread can still spend.
fn available() -> u64 {
    let left = METER.with_borrow(|meter| meter.as_ref().map_or(0, |meter| meter.left()));
    left.saturating_add(FUEL.get())
}

/// The meter of this thread, to pass to helper threads.
pub(crate) fn current() -> Option<Arc<Meter>> {
    METER.with_borrow(Clone::clone)
}

/// Runs a part of metered work on a helper thread; unwinds as the work itself would.
pub(crate) fn share<T>(meter: Option<&Arc<Meter>>, work: impl FnOnce() -> T) -> T {
    let Some(meter) = meter else { return work() };
    meter.run(work).unwrap_or_else(|ended| match ended {
        Ended::Spent => resume_unwind(Box::new(Stop { cancelled: false })),
        Ended::Cancelled => resume_unwind(Box::new(Stop { cancelled: true })),
        Ended::Panicked(payload) => resume_unwind(payload),
    })
}

/// Fewest pieces of work for which a second thread is worth its start.
const PIECES_A_THREAD: usize = 16;

/// Maximum number of threads: with more, the engine is bound by memory.
const MAX_THREADS: usize = 8;

/// The number of threads for work that this many could share: at most one for each core, and [`MAX_THREADS`].
///
/// The system is asked for its cores once, and only if several threads are worth it: the answer takes several of its files, as
/// long as judging a small filter.
pub(crate) fn threads(worth: usize) -> usize {
    static CORES: LazyLock<usize> = LazyLock::new(|| std::thread::available_parallelism().map_or(1, NonZero::get));
    if worth < 2 { 1 } else { CORES.min(MAX_THREADS).min(worth) }
}

/// Runs the same function on every item, on all cores when there are many items. The order is kept.
pub(crate) fn spread<T: Sync, R: Send>(work: &[T], one: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = threads(work.len() / PIECES_A_THREAD);
    if threads == 1 {
        return work.iter().map(one).collect();
    }
    let (one, meter) = (&one, current());
    let meter = meter.as_ref();
    std::thread::scope(|scope| {
        // This thread takes the first part instead of waiting.
        let (own, others) = work.split_at(work.len().div_ceil(threads));
        let parts = others.chunks(own.len());
        let threads: Vec<_> =
            parts.map(|part| scope.spawn(move || share(meter, || part.iter().map(one).collect::<Vec<_>>()))).collect();
        let mut done: Vec<R> = own.iter().map(one).collect();
        for thread in threads {
            done.extend(thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done
    })
}

/// Stack of a helper thread: as much as the main thread has for the deepest values.
const STACK: usize = 64 << 20;

/// Runs the same function on every item, on this many threads. The items differ in cost, so a thread that is done takes the next
/// one. The order is kept.
pub(crate) fn deal<T: Sync, R: Send>(work: &[T], threads: usize, one: impl Fn(&T) -> R + Sync) -> Vec<R> {
    if threads < 2 || work.len() < 2 {
        return work.iter().map(one).collect();
    }
    let (meter, next) = (current(), AtomicUsize::new(0));
    let take = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = work.get(at) else { return done };
            done.push((at, one(item)));
        }
    };
    let (meter, take) = (meter.as_ref(), &take);
    let mut done = std::thread::scope(|scope| {
        let help = || std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, move || share(meter, take));
        // Without helpers, this thread does everything.
        let helpers: Vec<_> = (1..threads).filter_map(|_| help().ok()).collect();
        let mut done = take();
        for helper in helpers {
            done.extend(helper.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done
    });
    done.sort_unstable_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Fewest values for which a second thread is worth its start to drop them.
const DROPPED_A_THREAD: usize = 16;

/// Drops values that hold much, on several threads: somebody waits for what comes after.
pub(crate) fn discard<T: Send>(mut values: Vec<T>) {
    let threads = threads(values.len() / DROPPED_A_THREAD);
    let each = values.len().div_ceil(threads.max(1));
    std::thread::scope(|scope| {
        for _ in 1..threads {
            let part = values.split_off(values.len() - each);
            scope.spawn(move || drop(part));
        }
        drop(values);
    });
}

/// Runs work whose result is shared and kept: no meter may stop it halfway.
pub(crate) fn unmetered<T>(work: impl FnOnce() -> T) -> T {
    let (fuel, meter) = (FUEL.replace(u64::MAX), METER.take());
    let done = catch_unwind(AssertUnwindSafe(work));
    FUEL.set(fuel);
    METER.replace(meter);
    done.unwrap_or_else(|payload| resume_unwind(payload))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    fn endless() -> u64 {
        let mut done = 0;
        loop {
            charge(1);
            done += 1;
            if done == u64::MAX {
                return done;
            }
        }
    }

    #[test]
    fn work_ends_when_the_meter_is_empty() {
        let meter = Meter::new(100_000);
        assert!(matches!(meter.run(endless), Err(Ended::Spent)));
        assert!(meter.left() < CHUNK);
        // This thread works for other requests as before.
        charge(1 << 40);
        assert_eq!(Meter::new(10).run(|| 7).ok(), Some(7));
    }

    #[test]
    fn what_is_not_spent_is_left() {
        let meter = Meter::new(100_000);
        meter.run(|| charge(10)).unwrap();
        assert_eq!(meter.left(), 99_990);
        meter.run(|| charge(99_990)).unwrap();
        assert!(matches!(meter.run(|| charge(1)), Err(Ended::Spent)));
    }

    #[test]
    fn work_is_called_off_from_another_thread() {
        let meter = Meter::new(u64::MAX);
        let other = Arc::clone(&meter);
        let began = Instant::now();
        let worker = std::thread::spawn(move || matches!(other.run(endless), Err(Ended::Cancelled)));
        std::thread::sleep(Duration::from_millis(50));
        meter.cancel();
        assert!(worker.join().unwrap());
        assert!(began.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn threads_that_help_spend_from_the_same_meter() {
        let meter = Meter::new(1_000_000);
        let ended = meter.run(|| {
            let shared = current();
            std::thread::scope(|scope| {
                let helper = scope.spawn(|| share(shared.as_ref(), endless));
                helper.join().unwrap_or_else(|payload| resume_unwind(payload))
            })
        });
        assert!(matches!(ended, Err(Ended::Spent)));
    }

    #[test]
    fn work_is_measured_with_and_without_a_meter() {
        let work = || {
            charge(10);
            let shared = current();
            std::thread::scope(|scope| {
                scope.spawn(|| share(shared.as_ref(), || charge(3 * CHUNK))).join().unwrap();
            });
            charge(7 * CHUNK + 1);
        };
        let want = 10 * CHUNK + 11;
        assert_eq!(measured(work).1, want);
        let meter = Meter::new(1_000_000);
        assert_eq!(meter.run(|| measured(work).1).ok(), Some(want));
        assert_eq!(meter.left(), 1_000_000 - want);
        assert!(matches!(Meter::new(want - 1).run(|| measured(work)), Err(Ended::Spent)));
    }

    #[test]
    fn everything_that_is_discarded_is_dropped() {
        for number in [0, 1, DROPPED_A_THREAD, 100 * DROPPED_A_THREAD + 1] {
            let value = Arc::new(());
            discard(vec![Arc::clone(&value); number]);
            assert_eq!(Arc::strong_count(&value), 1, "{number}");
        }
    }

    #[test]
    fn work_is_spread_and_keeps_its_order() {
        for number in [0, 1, PIECES_A_THREAD, 100 * PIECES_A_THREAD + 1] {
            let work: Vec<usize> = (0..number).collect();
            assert_eq!(spread(&work, |&item| item), work);
        }
    }

    #[test]
    fn work_is_dealt_out_and_keeps_its_order() {
        let work: Vec<u64> = (0..100).collect();
        for threads in [1, 2, 8] {
            let (done, units) = measured(|| {
                deal(&work, threads, |&item| {
                    charge(item);
                    item * 2
                })
            });
            assert!(done.iter().zip(&work).all(|(done, item)| *done == item * 2), "{done:?}");
            assert_eq!((done.len(), units), (100, 4_950));
            // An empty meter ends all threads, and a panic of a helper is that of the work.
            assert!(matches!(Meter::new(4_000).run(|| deal(&work, threads, |&item| charge(item))), Err(Ended::Spent)));
            let panics = || deal(&work, threads, |_| resume_unwind(Box::new("oops")));
            assert!(matches!(Meter::new(10).run(panics), Err::<Vec<()>, _>(Ended::Panicked(_))));
        }
    }

    #[test]
    fn what_is_kept_for_all_is_not_ended() {
        let meter = Meter::new(10);
        assert_eq!(
            meter
                .run(|| unmetered(|| {
                    charge(1_000);
                    3
                }))
                .ok(),
            Some(3)
        );
    }

    #[test]
    fn a_panic_is_distinguished_from_an_exit() {
        let ended = Meter::new(10).run(|| resume_unwind(Box::new("oops")));
        assert!(matches!(ended, Err::<(), _>(Ended::Panicked(payload)) if payload.downcast_ref() == Some(&"oops")));
    }
}
