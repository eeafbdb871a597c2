//! The cost of hostile input is proportional to its size; `benches/growth.rs` has the exact figures.

#[path = "../../../benches/support/growth.rs"]
mod cases;

/// Far below quadratic, with a margin for a busy machine.
const MOST: f64 = 1.5;

#[test]
fn hostile_input_costs_what_its_size_says() {
    let folder = tempfile::tempdir().unwrap();
    let mut slow = Vec::new();
    for case in cases::CASES {
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
