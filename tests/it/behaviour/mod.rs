//! `try` and `test`: requests through a real Envoy.

mod cases;
mod faults;
mod forms;
mod limits;
mod listed;
mod probes;
mod standard;

use std::path::{Path, PathBuf};
use std::process::Output;

/// The Envoy for most of these tests.
pub(crate) fn envoy() -> String {
    crate::envoy::binary("1.39.3").to_str().unwrap().to_owned()
}

pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

pub(crate) fn said(arguments: &[&str]) -> Said {
    let Output { status, stdout, stderr } = crate::cli::run(Path::new(env!("CARGO_MANIFEST_DIR")), arguments);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Said { code: status.code().unwrap(), out: text(stdout), err: text(stderr) }
}

/// The folders of cases, sorted.
pub(crate) fn case_folders() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/behaviour");
    let entries = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}
