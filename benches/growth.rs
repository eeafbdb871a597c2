//! How time grows with hostile input: from size 1 to 16 with an exponent of at most 1.2. Exits with 1 if a case grows
//! faster.

#![allow(clippy::disallowed_methods, reason = "benches and examples stand outside the layers")]
#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::format_collect,
    reason = "a bench prints, and fails by a panic"
)]

#[path = "support/growth.rs"]
mod growth;

use std::process::ExitCode;

const SIZES: &[usize] = &[1, 2, 4, 8, 16];
const MOST: f64 = 1.2;

fn main() -> ExitCode {
    let folder = tempfile::tempdir().expect("a folder");
    let mut worst = 0.0_f64;
    for case in growth::CASES {
        let (exponent, times) = case.exponent(folder.path(), SIZES);
        let times: Vec<String> = times.iter().map(|time| format!("{:.1} ms", time.as_secs_f64() * 1e3)).collect();
        println!("{:<28} exponent {exponent:.2}   {}", case.name, times.join(", "));
        worst = worst.max(exponent);
    }
    if worst > MOST { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
