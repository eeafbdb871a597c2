//! The cost of hostile input is proportional to its size; `benches/growth.rs` has the exact figures.

use crate::support::Share;
use std::sync::LazyLock;
use std::time::{Duration, Instant};
#[path = "../../../benches/support/growth.rs"]
mod cases;

/// Far below quadratic, with a margin for a busy machine.
const MOST: f64 = 1.5;

/// The CPU time of this process contains that of other tests.
fn wall() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}

fn hostile_input_costs_what_its_size_says_by(share: Share) {
    let folder = tempfile::tempdir().unwrap();
    let mut slow = Vec::new();
    let sizes: &[usize] = if share == Share::Whole { &[2, 16] } else { &[1, 8] };
    for case in share.of(cases::CASES) {
        let (mut exponent, mut times) = case.exponent(wall, folder.path(), sizes);
        for _ in 0..3 {
            if exponent <= MOST {
                break;
            }
            (exponent, times) = case.exponent(wall, folder.path(), sizes);
        }
        println!("{:<28} exponent {exponent:.2} {times:?}", case.name);
        if exponent > MOST {
            slow.push(format!("{}: exponent {exponent:.2}, {times:?}", case.name));
        }
    }
    assert!(slow.is_empty(), "{}", slow.join("\n"));
}

in_part_and_in_full!(
    hostile_input_costs_what_its_size_says,
    hostile_input_costs_what_its_size_says_in_full,
    hostile_input_costs_what_its_size_says_by
);
