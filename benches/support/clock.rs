//! The CPU time of this process: other work on the machine does not change it.

use std::time::Duration;

/// The CPU time of all threads so far.
#[cfg(unix)]
pub(crate) fn cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// The time since the first call, where the system's clock is not within reach.
#[cfg(not(unix))]
pub(crate) fn cpu() -> Duration {
    use std::sync::LazyLock;
    use std::time::Instant;
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}
