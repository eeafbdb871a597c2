//! Checks a file before it is run, so that mistakes get clear messages.

use super::Fault;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Refuses files that this machine cannot run.
pub(super) fn check(path: &Path) -> Result<(), Fault> {
    let found = fs::metadata(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Fault::NotFound(path.to_owned()),
        _ => Fault::NotStarted(path.to_owned(), error),
    })?;
    if !found.is_file() {
        return Err(Fault::NotAFile(path.to_owned()));
    }
    if !executable(&found) {
        return Err(Fault::NotExecutable(path.to_owned()));
    }
    let mut head = Vec::new();
    // Execute permission does not imply read permission: an unreadable file is left to the system.
    let _ = File::open(path).and_then(|file| file.take(20).read_to_end(&mut head));
    match Made::of(&head) {
        Some(made) if !made.runs_here() => {
            let here = format!("{} {}", system(std::env::consts::OS), processor(std::env::consts::ARCH));
            Err(Fault::OtherArchitecture { path: path.to_owned(), is_for: made.words(), here })
        }
        _ => Ok(()),
    }
}

#[cfg(unix)]
fn executable(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    found.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn executable(_: &fs::Metadata) -> bool {
    true
}

/// What a program is built for, according to its first bytes.
#[derive(Debug, PartialEq, Eq)]
enum Made {
    /// ELF, with the number of its processor (`e_machine`).
    Linux(u16),
    MacOs,
    Windows,
}

impl Made {
    fn of(head: &[u8]) -> Option<Made> {
        match head {
            [0x7f, b'E', b'L', b'F', _, order, ..] => {
                let number = [*head.get(18)?, *head.get(19)?];
                Some(Made::Linux(if *order == 2 { u16::from_be_bytes(number) } else { u16::from_le_bytes(number) }))
            }
            [0xcf | 0xce, 0xfa, 0xed, 0xfe, ..] | [0xca, 0xfe, 0xba, 0xbe, ..] => Some(Made::MacOs),
            [b'M', b'Z', ..] => Some(Made::Windows),
            _ => None,
        }
    }

    fn runs_here(&self) -> bool {
        match self {
            // An unlisted processor is left to the system.
            Made::Linux(number) => {
                cfg!(not(any(target_os = "macos", windows)))
                    && MACHINES
                        .iter()
                        .find(|(_, arch, _)| *arch == std::env::consts::ARCH)
                        .is_none_or(|(here, _, _)| here == number)
            }
            Made::MacOs => cfg!(target_os = "macos"),
            Made::Windows => cfg!(windows),
        }
    }

    fn words(&self) -> String {
        match self {
            Made::Linux(number) => {
                let known = MACHINES.iter().find(|(machine, _, _)| machine == number);
                known.map_or_else(|| format!("Linux on processor {number}"), |(_, _, name)| format!("Linux {name}"))
            }
            Made::MacOs => "macOS".to_owned(),
            Made::Windows => "Windows".to_owned(),
        }
    }
}

/// Processor numbers in ELF files, with their names in Rust and in container images.
const MACHINES: [(u16, &str, &str); 6] = [
    (62, "x86_64", "amd64"),
    (183, "aarch64", "arm64"),
    (3, "x86", "386"),
    (40, "arm", "arm"),
    (21, "powerpc64", "ppc64le"),
    (22, "s390x", "s390x"),
];

fn processor(arch: &str) -> &str {
    MACHINES.iter().find(|(_, name, _)| *name == arch).map_or(arch, |(_, _, name)| name)
}

fn system(os: &str) -> &str {
    match os {
        "linux" => "Linux",
        "macos" => "macOS",
        "windows" => "Windows",
        other => other,
    }
}

/// The first program of this name in the folders of `PATH`.
pub fn find(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| check(path).is_ok())
}

/// The peak memory of a process, in bytes.
pub(super) fn peak_memory(process: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

/// The memory that a process uses, in bytes.
pub(super) fn memory(process: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

/// Whether a thread of a process runs or waits for a processor, other than the calling one; among threads of this name only, if
/// one is given. `None` where the system does not report it.
pub(super) fn is_busy(process: u32, name: Option<&str>) -> Option<bool> {
    let own = fs::read_link("/proc/thread-self").ok();
    let own = own.as_deref().and_then(Path::file_name);
    for thread in fs::read_dir(format!("/proc/{process}/task")).ok()?.flatten() {
        // A thread that has ended since is not busy.
        let Ok(text) = fs::read_to_string(thread.path().join("stat")) else { continue };
        let Some((head, state)) = text.rsplit_once(") ") else { continue };
        let is_named = name.is_none_or(|name| head.split_once('(').is_some_and(|(_, found)| found == name));
        if state.starts_with(['R', 'D']) && is_named && own != Some(&*thread.file_name()) {
            return Some(true);
        }
    }
    Some(false)
}

/// Whether an environment variable names this path.
pub fn is_default(variable: &str, path: &Path) -> bool {
    std::env::var_os(variable).is_some_and(|value| path.as_os_str() == value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_thread_is_busy_until_it_waits() {
        let (send, receive) = std::sync::mpsc::channel::<()>();
        let works = move || while receive.try_recv().is_err() {};
        let thread = std::thread::Builder::new().name("works".to_owned()).spawn(works).unwrap();
        let within = |wanted: bool| {
            (0..1_000).any(|_| {
                std::thread::sleep(std::time::Duration::from_millis(5));
                is_busy(std::process::id(), Some("works")) == Some(wanted)
            })
        };
        assert!(within(true));
        send.send(()).unwrap();
        thread.join().unwrap();
        assert!(within(false));
        assert_eq!(is_busy(u32::MAX, None), None);
    }

    #[test]
    fn the_first_bytes_say_what_a_program_is_for() {
        let mut elf = [0u8; 20];
        elf[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1]);
        elf[18] = 183;
        assert_eq!(Made::of(&elf).map(|made| made.words()).as_deref(), Some("Linux arm64"));
        (elf[5], elf[18], elf[19]) = (2, 0, 22);
        assert_eq!(Made::of(&elf), Some(Made::Linux(22)));
        assert_eq!(Made::of(&[0xcf, 0xfa, 0xed, 0xfe]), Some(Made::MacOs));
        assert_eq!(Made::of(b"MZ"), Some(Made::Windows));
        assert_eq!(Made::of(b"#!/bin/sh"), None);
        assert_eq!(Made::of(&elf[..10]), None);
    }
}
