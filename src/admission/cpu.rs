//! The CPU time of a thread, read from another one.
#![allow(clippy::disallowed_methods, reason = "Linux has these figures in files")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Linux gives times in hundredths of a second (`USER_HZ`), on every architecture.
const TICK: Duration = Duration::from_millis(10);

/// The figures of the calling thread; `None` on systems other than Linux.
pub(super) fn this_thread() -> Option<PathBuf> {
    let thread = fs::read_link("/proc/thread-self").ok()?;
    Some(Path::new("/proc").join(thread).join("stat"))
}

/// The CPU time that a thread has used so far; `None` if it has ended.
pub(super) fn time(thread: &Path) -> Option<Duration> {
    let stat = fs::read_to_string(thread).ok()?;
    // After the name, which may contain anything: the state is field 3, the two times are fields 14 and 15 (proc(5)).
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
    let ticks = fields.next()?.parse::<u32>().ok()?.saturating_add(fields.next()?.parse().ok()?);
    Some(TICK.saturating_mul(ticks))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn another_thread_sees_what_a_busy_one_uses() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let busy = std::thread::spawn(move || {
            let own = this_thread().unwrap();
            let mut sum = 0_u64;
            while time(&own).unwrap() < 5 * TICK {
                (0..100_000).for_each(|one| sum = black_box(sum.wrapping_add(one)));
            }
            sender.send(own).unwrap();
            std::thread::park();
        });
        let thread = receiver.recv().unwrap();
        assert!(time(&thread).unwrap() >= 5 * TICK);
        busy.thread().unpark();
        busy.join().unwrap();
        assert_eq!(time(&thread), None);
    }
}
