//! The peak memory of a run of the program.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Runs the program and returns its peak resident memory, in bytes, as last seen at most 2 ms before its end.
pub(crate) fn of(arguments: &[&str]) -> u64 {
    let binary = env!("CARGO_BIN_EXE_kubectl-envoyfilter");
    let mut child = Command::new(binary).args(arguments).stdout(Stdio::null()).spawn().expect("the program starts");
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    let mut most = 0;
    let ended = loop {
        if let Some(ended) = child.try_wait().expect("it can be waited for") {
            break ended;
        }
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok());
        most = most.max(line.unwrap_or(0u64));
        std::thread::sleep(Duration::from_millis(2));
    };
    assert!(ended.success(), "{arguments:?} ends with {ended}");
    most * 1024
}
