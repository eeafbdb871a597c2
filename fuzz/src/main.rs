//! One program with all fuzz targets; `FUZZ_TARGET` names the one that runs. See README.md.

#![no_main]

mod targets;

use libfuzzer_sys::{Corpus, fuzz_target};
use std::sync::LazyLock;

static TARGET: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    let found = targets::ALL.iter().find(|(known, _)| *known == name);
    let names = || targets::ALL.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    found.map(|(_, target)| *target).unwrap_or_else(|| panic!("set FUZZ_TARGET to one of: {}", names()))
});

fuzz_target!(|data: &[u8]| -> Corpus {
    TARGET(data);
    Corpus::Keep
});
