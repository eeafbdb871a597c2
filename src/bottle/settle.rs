//! When an istiod that is ready has also finished its own updates.

use std::time::{Duration, Instant};

/// How often it is checked whether istiod works.
const STEP: Duration = Duration::from_millis(10);

/// What is known about a running istiod.
pub(super) trait Watched {
    /// Its counts of updates and pushes; `None` if it did not report them.
    fn updates(&mut self) -> Option<Vec<String>>;
    /// Whether it has something to do.
    fn is_busy(&mut self) -> bool;
    /// Whether it still runs.
    fn runs(&mut self) -> bool;
}

/// Waits until istiod gets no update for the time `quiet`. `false` if that does not happen within the limit: what it answers
/// then may be incomplete.
pub(super) fn wait(istiod: &mut impl Watched, quiet: Duration, limit: Duration) -> bool {
    let began = Instant::now();
    while began.elapsed() < limit && istiod.runs() {
        let seen = istiod.updates();
        let mut since = Instant::now();
        while since.elapsed() < quiet {
            if began.elapsed() >= limit || !istiod.runs() {
                return false;
            }
            std::thread::sleep(STEP);
            if istiod.is_busy() {
                since = Instant::now();
            }
        }
        if seen.is_some() && istiod.updates() == seen {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: Duration = Duration::from_millis(20);
    const LIMIT: Duration = Duration::from_millis(400);

    /// Counts that grow this often, the calls that find it busy, and whether it reports its counts and runs.
    struct Fake(u32, u32, bool, bool);

    impl Watched for Fake {
        fn updates(&mut self) -> Option<Vec<String>> {
            self.0 = self.0.saturating_sub(1);
            self.2.then(|| vec![self.0.to_string()])
        }

        fn is_busy(&mut self) -> bool {
            self.1 = self.1.saturating_sub(1);
            self.1 > 0
        }

        fn runs(&mut self) -> bool {
            self.3
        }
    }

    #[test]
    fn it_has_settled_once_nothing_changes() {
        assert!(wait(&mut Fake(0, 0, true, true), QUIET, LIMIT));
        let mut later = Fake(3, 3, true, true);
        assert!(wait(&mut later, QUIET, 50 * LIMIT) && later.0 == 0 && later.1 == 0);
    }

    #[test]
    fn it_has_not_settled_when_the_time_is_over() {
        assert!(!wait(&mut Fake(u32::MAX, 0, true, true), QUIET, LIMIT), "it gets updates");
        assert!(!wait(&mut Fake(0, u32::MAX, true, true), QUIET, LIMIT), "it works");
        assert!(!wait(&mut Fake(0, 0, false, true), QUIET, LIMIT), "it does not report what it does");
        assert!(!wait(&mut Fake(0, 0, true, false), QUIET, 50 * LIMIT), "it ended");
    }
}
