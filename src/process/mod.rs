//! The one place that starts foreign programs (Envoy, istiod, helm): their input, their limits, and their end.
//!
//! A program gets only the environment variables it is given, no standard input, and a private folder to work in. A second copy
//! of this program (see [`leash`]) holds it, and outlives us just long enough to end it and to remove its folder, even when we
//! are killed with SIGKILL.

#![allow(clippy::disallowed_methods, reason = "this is the one place that starts programs")]

mod folder;
pub mod leash;
mod lines;
mod look;

pub(crate) use folder::Folder;
pub(crate) use lines::Line;
pub use look::{find, is_default};

use leash::News;
use lines::{LINES, Log, collect};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long a held program may take to end when asked to.
const END_TIME: Duration = Duration::from_secs(5);

/// Size of the pipe of standard error, in bytes: the most that Linux allows a user (`fs.pipe-max-size`).
#[cfg(target_os = "linux")]
const PIPE: usize = 1 << 20;

/// Why a program could not be started or did not finish.
#[derive(Debug)]
pub enum Fault {
    /// No file at this path.
    NotFound(PathBuf),
    /// A folder, a socket or the like.
    NotAFile(PathBuf),
    /// A file without the right to execute it.
    NotExecutable(PathBuf),
    /// A program for another processor or operating system.
    OtherArchitecture {
        /// The file.
        path: PathBuf,
        /// What it is built for, such as `Linux arm64`.
        is_for: String,
        /// What this machine is.
        here: String,
    },
    /// The system refused to start it.
    NotStarted(PathBuf, io::Error),
    /// No private folder could be made below this one.
    NoFolder(PathBuf, io::Error),
    /// It did not end within this time and was stopped.
    TimedOut(PathBuf, Duration),
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::NotFound(path) => write!(out, "{}: no such file", path.display()),
            Fault::NotAFile(path) => write!(out, "{} is not a file", path.display()),
            Fault::NotExecutable(path) => write!(out, "{0} is not executable (try chmod +x {0})", path.display()),
            Fault::OtherArchitecture { path, is_for, here } => {
                write!(out, "{} is a program for {is_for}; this machine is {here}", path.display())
            }
            Fault::NotStarted(path, error) => write!(out, "cannot start {}: {error}", path.display()),
            Fault::NoFolder(path, error) => write!(out, "cannot make a folder in {}: {error}", path.display()),
            Fault::TimedOut(path, limit) => {
                write!(out, "{} did not end within {} s and was stopped", path.display(), limit.as_secs())
            }
        }
    }
}

impl std::error::Error for Fault {}

impl Fault {
    /// Whether the file cannot be run at all, which is an error of the command line.
    pub(crate) const fn is_usage(&self) -> bool {
        !matches!(self, Fault::NoFolder(..) | Fault::TimedOut(..))
    }
}

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// With this exit code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// Stopped because it used more memory than it may, in bytes.
    Memory(u64),
    /// Stopped because it ran longer than it may.
    Time(Duration),
    /// The system refused to run the file, with this error number.
    Refused(i32),
    /// Ended in an unknown way.
    Unknown,
}

impl fmt::Display for Ended {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ended::Code(code) => write!(out, "exit code {code}"),
            Ended::Signal(signal) => write!(out, "signal {signal}"),
            Ended::Memory(bytes) => write!(out, "the memory limit of {} MB", bytes / 1_000_000),
            Ended::Time(limit) => write!(out, "the time limit of {} s", limit.as_secs()),
            Ended::Refused(number) => write!(out, "{}", io::Error::from_raw_os_error(*number)),
            Ended::Unknown => out.write_str("no exit code"),
        }
    }
}

/// A program to start, with everything it will see.
#[derive(Debug)]
pub struct Program {
    path: PathBuf,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    memory: Option<u64>,
    time: Option<Duration>,
    output: Option<usize>,
}

impl Program {
    /// The program at a path. Fails when the file does not exist or cannot run on this machine.
    pub(crate) fn new(path: &Path) -> Result<Program, Fault> {
        // Its working folder is not ours.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        look::check(&path)?;
        let (arguments, environment) = (Vec::new(), Vec::new());
        Ok(Program { path, arguments, environment, memory: None, time: None, output: None })
    }

    /// Adds an argument.
    #[must_use]
    pub(crate) fn arg(mut self, argument: impl AsRef<OsStr>) -> Program {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub(crate) fn args<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Program {
        self.arguments.extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// Sets a variable of its environment, which is empty otherwise.
    #[must_use]
    pub(crate) fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Program {
        self.environment.push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Passes on a variable of our own environment, if it is set.
    #[must_use]
    pub(crate) fn keep_env(self, name: &str) -> Program {
        match std::env::var_os(name) {
            Some(value) => self.env(name, value),
            None => self,
        }
    }

    /// Stops it when it uses more memory than this, in bytes (Linux).
    #[must_use]
    pub(crate) fn memory_limit(mut self, bytes: u64) -> Program {
        self.memory = Some(bytes);
        self
    }

    /// Stops it when it runs longer than this.
    #[must_use]
    pub(crate) fn time_limit(mut self, limit: Duration) -> Program {
        self.time = Some(limit);
        self
    }

    /// Keeps its standard output up to this many bytes; by default it is dropped.
    #[must_use]
    pub(crate) fn capture_output(mut self, bytes: usize) -> Program {
        self.output = Some(bytes);
        self
    }

    /// Starts it in a folder, which is removed when it ends.
    pub(crate) fn start(self, folder: Folder) -> Result<Running, Fault> {
        let mut command = leash::command(&self, folder.path());
        command
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(folder.path())
            .stdout(if self.output.is_some() { Stdio::piped() } else { Stdio::null() })
            .stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| Fault::NotStarted(self.path.clone(), error))?;
        let log = Arc::new(Log::default());
        if let Some(stderr) = child.stderr.take() {
            // A line that does not fit into the pipe is torn apart by lines of other threads. With the default size,
            // lines are torn more often, but nothing else changes.
            #[cfg(target_os = "linux")]
            let _ = rustix::pipe::fcntl_setpipe_size(&stderr, PIPE);
            let log = Arc::clone(&log);
            std::thread::spawn(move || log.read(stderr));
        }
        let output = Arc::new(Mutex::new(Vec::new()));
        let reader = child.stdout.take().zip(self.output).map(|(stdout, limit)| {
            let output = Arc::clone(&output);
            std::thread::spawn(move || collect(stdout, limit, &output))
        });
        Ok(Running { path: self.path, child, log, folder, output, reader, ended: None })
    }

    /// Runs it to its end in a folder of its own, within a time limit.
    pub(crate) fn finish(self, limit: Duration) -> Result<Finished, Fault> {
        let mut running = self.start(Folder::new()?)?;
        let began = Instant::now();
        let mut pause = Duration::from_millis(1);
        while running.ended().is_none() {
            if began.elapsed() > limit {
                return Err(Fault::TimedOut(running.path.clone(), limit));
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        }
        let ended = running.ended().unwrap_or(Ended::Unknown);
        if let Ended::Refused(number) = ended {
            return Err(Fault::NotStarted(running.path.clone(), io::Error::from_raw_os_error(number)));
        }
        let errors = running.lines(Duration::from_millis(200));
        Ok(Finished { ended, output: running.output(), errors })
    }
}

/// A program that ran to its end.
#[derive(Debug)]
pub(crate) struct Finished {
    /// How it ended.
    pub ended: Ended,
    /// Its standard output, as far as it was kept.
    pub output: Vec<u8>,
    /// The last lines of its standard error.
    pub errors: Vec<String>,
}

/// A running program. Dropping it ends it and removes its folder.
#[derive(Debug)]
pub(crate) struct Running {
    path: PathBuf,
    child: Child,
    log: Arc<Log>,
    folder: Folder,
    output: Arc<Mutex<Vec<u8>>>,
    reader: Option<std::thread::JoinHandle<()>>,
    ended: Option<Ended>,
}

impl Running {
    /// The folder it runs in.
    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Its process id; `None` before it is known.
    pub(crate) fn id(&self) -> Option<u32> {
        if leash::is_held() { self.log.program() } else { Some(self.child.id()) }
    }

    /// Its peak memory so far, in bytes; `None` where the system does not report it.
    pub(crate) fn peak_memory(&self) -> Option<u64> {
        look::peak_memory(self.id()?)
    }

    /// Whether it runs or waits for a processor; `None` where the system does not report it.
    pub(crate) fn is_busy(&self) -> Option<bool> {
        look::is_busy(self.id()?, None)
    }

    /// How it ended; `None` while it runs.
    pub(crate) fn ended(&mut self) -> Option<Ended> {
        if self.ended.is_none() {
            // The holder reports how the program ended. Without a holder, or when the holder was killed, ask the process
            // itself.
            let mut news = self.log.news();
            if news.is_none() {
                let status = match self.child.try_wait() {
                    Ok(None) => return None,
                    Ok(Some(status)) => Some(status),
                    Err(_) => None,
                };
                // The last line may still be in the pipe.
                self.log.closed_within(Duration::from_millis(500));
                news = self.log.news().or_else(|| Some(News::Ended(leash::plain(status))));
            }
            self.ended = match news {
                Some(News::Ended(ended)) => Some(ended),
                _ => Some(Ended::Unknown),
            };
        }
        self.ended.clone()
    }

    /// The lines of its standard error until none arrives within this time, but no more than are kept unread: a program that
    /// writes faster than they are read must not hold up its reader.
    pub(crate) fn lines(&self, wait: Duration) -> Vec<String> {
        let texts = std::iter::from_fn(|| match self.line(wait) {
            Line::Text(line) => Some(line),
            Line::NotYet | Line::Closed => None,
        });
        texts.take(LINES).collect()
    }

    /// The next line of its standard error, waiting at most this long.
    pub(crate) fn line(&self, wait: Duration) -> Line {
        self.log.next(wait)
    }

    /// Its standard output so far; all of it once it has ended.
    pub(crate) fn output(&mut self) -> Vec<u8> {
        if self.ended.is_some()
            && let Some(reader) = self.reader.take()
        {
            // A panic in the reader loses nothing we could report.
            let _ = reader.join();
        }
        self.output.lock().map(|mut output| std::mem::take(&mut *output)).unwrap_or_default()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The holder sees the end of this pipe, ends the program and exits.
        let held = self.child.stdin.take().is_some();
        let began = Instant::now();
        while held && began.elapsed() < END_TIME {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        if let Some(program) = self.log.program().filter(|_| held && self.ended.is_none()) {
            leash::kill_group(program);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether a thread of this program with this name, other than the calling one, runs or waits for a processor; `None` where the
/// system does not report it.
pub(crate) fn is_busy(name: &str) -> Option<bool> {
    look::is_busy(std::process::id(), Some(name))
}
