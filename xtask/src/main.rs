//! Regenerates the data that kubectl-envoyfilter embeds. See README.md.

mod envoydb;
mod tables;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments[..] {
        ["envoydb"] => envoydb::write(),
        ["envoydb", "--check"] => envoydb::check(),
        ["tables"] => tables::write(),
        ["tables", "--check"] => tables::check(),
        _ => Err("usage: xtask envoydb|tables [--check]".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
