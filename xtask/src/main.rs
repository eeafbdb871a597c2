//! Regenerates the data that kubectl-envoyfilter embeds, and runs the fuzz targets. See README.md.

mod envoydb;
mod fuzz;
mod sbom;
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
        ["sbom"] => sbom::print(),
        ["sbom", "--check"] => sbom::check(),
        ["fuzz", seconds] => fuzz::run(seconds, None),
        ["fuzz", seconds, target] => fuzz::run(seconds, Some(target)),
        _ => Err("usage: xtask envoydb|tables|sbom [--check], xtask fuzz SECONDS [TARGET]".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
