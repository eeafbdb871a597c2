//! How CPU time grows with hostile input: from size 1 to 16 with an exponent of at most 1.2. Exits with 1 if a case grows
//! faster.
//!
//! `cargo bench --bench growth -- LISTENER` runs only the cases whose name contains `LISTENER`.

#![allow(clippy::disallowed_methods, reason = "benches and examples stand outside the layers")]
#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::format_collect,
    reason = "a bench prints, and fails by a panic"
)]

#[path = "support/clock.rs"]
mod clock;
#[path = "support/growth.rs"]
mod growth;

use std::process::ExitCode;

const SIZES: &[usize] = &[1, 2, 4, 8, 16];
const MOST: f64 = 1.2;

fn main() -> ExitCode {
    let folder = tempfile::tempdir().expect("a folder");
    let mut worst = 0.0_f64;
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    for case in growth::CASES {
        if !wanted.is_empty() && !wanted.iter().any(|wanted| case.name.contains(wanted)) {
            continue;
        }
        let (exponent, times) = case.exponent(clock::cpu, folder.path(), SIZES);
        let times: Vec<String> = times.iter().map(|time| format!("{:.1} ms", time.as_secs_f64() * 1e3)).collect();
        println!("{:<28} exponent {exponent:.2}   {}", case.name, times.join(", "));
        worst = worst.max(exponent);
    }
    if worst > MOST { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
