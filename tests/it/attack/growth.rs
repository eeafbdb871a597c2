//! The cost of hostile input is proportional to its size; `benches/growth.rs` has the exact figures.

use crate::support::Share;
#[path = "../../../benches/support/growth.rs"]
mod cases;

/// Far below quadratic, with a margin for a busy machine.
const MOST: f64 = 1.5;

fn hostile_input_costs_what_its_size_says_by(share: Share) {
    let folder = tempfile::tempdir().unwrap();
    let mut slow = Vec::new();
    for case in share.of(cases::CASES) {
        let (mut exponent, mut times) = case.exponent(folder.path(), &[2, 16]);
        for _ in 0..3 {
            if exponent <= MOST {
                break;
            }
            (exponent, times) = case.exponent(folder.path(), &[2, 16]);
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
