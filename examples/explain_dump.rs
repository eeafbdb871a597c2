//! Explains what EnvoyFilters do to a proxy whose config dump is at hand: `explain_dump [FILTERS DUMP]`, or the demo.

#![allow(clippy::disallowed_methods, reason = "benches and examples stand outside the layers")]

use kubectl_envoyfilter::load::dump::{Dump, Identity, Layout};
use kubectl_envoyfilter::load::{self, Loaded};
use kubectl_envoyfilter::{Program, Release, demo, study};
use std::io::{self, Write};
use std::path::Path;

/// The verdict on every patch that attaches, as `namespace/name patch N: verdict`.
pub(crate) fn outcomes(filters: &Loaded, dump: &Dump) -> Vec<String> {
    let Ok(config) = dump.config(&Identity::default()) else { return Vec::new() };
    let program = Program::new(&filters.inventory.envoy_filters, Release::NEWEST);
    study(&program, &config, &study::Settings::default(), |study| {
        let line = |id| {
            let (filter, patch) = (study.plan.filter(id), study.plan.get(id).built.patch);
            format!("{} patch {}: {}", filter.full_name(), patch.index, study.outcome(id))
        };
        study.plan.ids().map(line).collect()
    })
}

#[allow(dead_code, reason = "a test calls the function above instead")]
fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let options = load::Options::default();
    let (filters, dump) = match arguments.as_slice() {
        [filters, dump] => (load::read(&[filters.into()], &options), Dump::read(Path::new(dump), Layout::Dropped).0),
        _ => (load::read_text(demo::FILTERS_NAME, demo::FILTERS, &options), demo::dump().0),
    };
    let Some(dump) = dump else { return writeln!(out, "the config dump cannot be read") };
    outcomes(&filters, &dump).iter().try_for_each(|line| writeln!(out, "{line}"))
}
