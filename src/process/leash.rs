//! Holding a program: it ends with us, however we end.
//!
//! Without `unsafe`, no code can run in a child between `fork` and `exec`, so this program is its own helper. We start
//! `kubectl-envoyfilter __leash hold …` with a pipe as its standard input. It starts `kubectl-envoyfilter __leash exec …`,
//! which sets its limits, asks the kernel to kill it when its parent dies (Linux), and becomes the program. The holder watches
//! the limits. When the pipe closes, on request or because we are gone, it kills the program with its children and removes its
//! folder.

use super::{Ended, Program};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

/// The argument that makes this program the holder. Not a user command.
pub(crate) const ARGUMENT: &str = "__leash";

/// Prefix of the holder's lines among those of the program.
const MARK: &str = "\u{1}leash ";

/// The binary that can hold programs.
static HOLDER: OnceLock<PathBuf> = OnceLock::new();

/// Sets the binary that holds programs: one whose `main` calls [`entered`]. Without one, in a program that links this library,
/// held programs end when [`super::Running`] is dropped but not when that program is killed, and limits of time and memory do
/// not apply. The first call counts.
pub fn held_by(binary: &Path) {
    let _ = HOLDER.set(binary.to_owned());
}

/// Whether a binary that holds programs is set.
pub(super) fn is_held() -> bool {
    cfg!(unix) && HOLDER.get().is_some()
}

/// What the holder reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum News {
    /// The process id of the program.
    Runs(u32),
    /// How it ended.
    Ended(Ended),
}

impl News {
    pub(super) fn parse(line: &str) -> Option<News> {
        let (what, number) = line.strip_prefix(MARK)?.split_once(' ')?;
        Some(match what {
            "pid" => News::Runs(number.parse().ok()?),
            "code" => News::Ended(Ended::Code(number.parse().ok()?)),
            "signal" => News::Ended(Ended::Signal(number.parse().ok()?)),
            "memory" => News::Ended(Ended::Memory(number.parse().ok()?)),
            "time" => News::Ended(Ended::Time(Duration::from_millis(number.parse().ok()?))),
            "refused" => News::Ended(Ended::Refused(number.parse().ok()?)),
            _ => return None,
        })
    }
}

/// The command that starts a program, held if possible.
pub(super) fn command(program: &Program, folder: &Path) -> Command {
    let holder = HOLDER.get().filter(|_| is_held());
    let Some(holder) = holder else {
        let mut command = Command::new(&program.path);
        command.args(&program.arguments).stdin(Stdio::null());
        return command;
    };
    let mut command = Command::new(holder);
    let time = program.time.map_or(0, |time| time.as_millis());
    command
        .args([ARGUMENT, "hold"])
        .arg(folder)
        .args([program.memory.unwrap_or(0).to_string(), time.to_string()])
        .arg(&program.path)
        .args(&program.arguments)
        .stdin(Stdio::piped());
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        // Ctrl-C in a terminal goes to the whole group: the holder must outlive us.
        command.process_group(0);
    }
    command
}

/// How a program ended that was not held, or whose holder reported nothing.
pub(super) fn plain(status: Option<ExitStatus>) -> Ended {
    let Some(status) = status else { return Ended::Unknown };
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        if let Some(signal) = status.signal() {
            return Ended::Signal(signal);
        }
    }
    status.code().map_or(Ended::Unknown, Ended::Code)
}

/// Acts as the helper when the arguments (without the program's name) ask for it, and returns the exit code; `None` for all
/// other arguments. Must be the first call in `main`.
pub fn entered(arguments: &mut dyn Iterator<Item = OsString>) -> Option<u8> {
    (arguments.next()? == ARGUMENT).then(|| role::play(arguments).unwrap_or(2))
}

/// Makes the running program the one that holds others. For a `main` that calls [`entered`].
pub fn held_by_this_program() {
    // This path leads to the running program even after an update has replaced its file.
    let own = Path::new("/proc/self/exe");
    match std::env::current_exe() {
        _ if cfg!(target_os = "linux") && own.exists() => held_by(own),
        Ok(path) => held_by(&path),
        Err(_) => {}
    }
}

#[cfg(unix)]
pub(super) use role::kill_group;

#[cfg(not(unix))]
pub(super) fn kill_group(_: u32) {}

#[cfg(unix)]
mod role {
    use super::MARK;
    use crate::process::look;
    use rustix::process::{Pid, Resource, Rlimit, Signal, getppid, kill_process_group, setrlimit};
    use std::ffi::OsString;
    use std::io::{Read, Write};
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::path::{Path, PathBuf};
    use std::process::{Command, ExitStatus, Stdio};
    use std::sync::mpsc::{RecvTimeoutError, channel};
    use std::time::{Duration, Instant};

    /// How often the program's memory is checked.
    const LOOK: Duration = Duration::from_millis(100);

    /// What the holder waits for.
    enum Event {
        /// The program ended.
        Ended(Option<ExitStatus>),
        /// It is no longer needed.
        Unwanted,
    }

    pub(super) fn play(arguments: &mut dyn Iterator<Item = OsString>) -> Option<u8> {
        let number = |text: OsString| text.to_str()?.parse::<u64>().ok();
        match arguments.next()?.to_str()? {
            "hold" => {
                let folder = PathBuf::from(arguments.next()?);
                let (memory, time) = (number(arguments.next()?)?, number(arguments.next()?)?);
                Some(hold(&folder, memory, Duration::from_millis(time), &arguments.collect::<Vec<_>>()))
            }
            "exec" => {
                let (parent, memory) = (number(arguments.next()?)?, number(arguments.next()?)?);
                Some(exec(parent, memory, &arguments.next()?, arguments))
            }
            _ => None,
        }
    }

    /// We may be gone and not reading: a failed write must not end the holder before its work is done.
    fn say(what: &str, number: impl std::fmt::Display) {
        let _ = std::io::stderr().write_all(format!("\n{MARK}{what} {number}\n").as_bytes());
    }

    pub(in crate::process) fn kill_group(program: u32) {
        if let Some(id) = i32::try_from(program).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(id, Signal::KILL);
        }
    }

    fn hold(folder: &Path, memory: u64, time: Duration, program: &[OsString]) -> u8 {
        let own = if cfg!(target_os = "linux") { Ok(PathBuf::from("/proc/self/exe")) } else { std::env::current_exe() };
        let child = own.and_then(|own| {
            Command::new(own)
                .args([super::ARGUMENT, "exec"])
                .args([std::process::id().to_string(), memory.to_string()])
                .args(program)
                .stdin(Stdio::null())
                .process_group(0)
                .spawn()
        });
        let mut child = match child {
            Ok(child) => child,
            Err(error) => {
                say("refused", error.raw_os_error().unwrap_or(0));
                return 1;
            }
        };
        let id = child.id();
        say("pid", id);
        let (send, events) = channel();
        let unwanted = send.clone();
        std::thread::spawn(move || {
            let (mut pipe, mut nothing) = (std::io::stdin(), [0; 64]);
            while pipe.read(&mut nothing).is_ok_and(|count| count > 0) {}
            let _ = unwanted.send(Event::Unwanted);
        });
        std::thread::spawn(move || {
            let _ = send.send(Event::Ended(child.wait().ok()));
        });
        let began = Instant::now();
        let status = loop {
            let limited = memory > 0 || !time.is_zero();
            let wait = if limited { LOOK } else { Duration::from_secs(3600) };
            match events.recv_timeout(wait) {
                Ok(Event::Ended(status)) => break status,
                Ok(Event::Unwanted) | Err(RecvTimeoutError::Disconnected) => kill_group(id),
                Err(RecvTimeoutError::Timeout) if !time.is_zero() && began.elapsed() > time => {
                    say("time", time.as_millis());
                    kill_group(id);
                }
                Err(RecvTimeoutError::Timeout) if memory > 0 && look::memory(id).is_some_and(|now| now > memory) => {
                    say("memory", memory);
                    kill_group(id);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        };
        // Also kill what it started.
        kill_group(id);
        if let Some(signal) = status.and_then(|status| status.signal()) {
            say("signal", signal);
        } else if let Some(code) = status.and_then(|status| status.code()) {
            say("code", code);
        }
        // Close our output although we keep running: the parent still reads the program's files.
        if let Ok(nowhere) = std::fs::File::options().write(true).open("/dev/null") {
            let _ = rustix::stdio::dup2_stdout(&nowhere);
            let _ = rustix::stdio::dup2_stderr(&nowhere);
        }
        if !matches!(events.recv(), Ok(Event::Ended(_))) {
            let _ = std::fs::remove_dir_all(folder);
        }
        0
    }

    /// Becomes the program.
    fn exec(parent: u64, memory: u64, program: &OsString, arguments: &mut dyn Iterator<Item = OsString>) -> u8 {
        #[cfg(target_os = "linux")]
        let asked = rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).is_ok();
        #[cfg(not(target_os = "linux"))]
        let asked = true;
        // The parent may have died before the request.
        let alive = getppid().is_some_and(|id| u64::try_from(id.as_raw_nonzero().get()) == Ok(parent));
        if !asked || !alive {
            return 1;
        }
        // A core file would contain the program's input.
        let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
        if memory > 0 {
            // The holder reports the limit; this only stops programs that grow faster than it checks.
            let hard = memory.saturating_mul(2).saturating_add(1 << 30);
            let _ = setrlimit(Resource::Data, Rlimit { current: Some(hard), maximum: Some(hard) });
        }
        let error = Command::new(program).args(arguments).exec();
        say("refused", error.raw_os_error().unwrap_or(0));
        126
    }
}

#[cfg(not(unix))]
mod role {
    use std::ffi::OsString;

    pub(super) fn play(_: &mut dyn Iterator<Item = OsString>) -> Option<u8> {
        None
    }
}
