//! A running Envoy that serves a configuration from files and logs what happens.

use super::Error;
use super::listeners::{FILLING, Socket};
use super::setup::Setup;
use super::sockets::Place;
use super::trace::entry;
use crate::process::{Ended, Folder, Line, Program, Running};
use crate::proto::wire;
use crate::trial::sockets::{self, Sockets};
use crate::trial::{Known, Version, admin};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long Envoy may take to start, or to apply an update.
const TIME: Duration = Duration::from_secs(20);

/// How much memory Envoy may use, in bytes.
const MEMORY: u64 = 4 << 30;

/// Prefixes of the reason for a rejection in Envoy's log (`filesystem_subscription_impl.cc`; 1.36 to 1.40).
const REFUSED: [&str; 2] = ["Filesystem config update rejected: ", "Filesystem config update failure: "];

/// Writes each line of an access log immediately. Without it (before Envoy 1.37), lines wait for a timer with a coarse
/// clock: up to 4 ms per request if the kernel ticks 250 times per second. There, a line longer than the buffer follows.
const AT_ONCE: [&str; 2] = ["--file-flush-min-size-kb", "0"];

/// The size of the log buffer of an Envoy without that option (`access_log_manager_impl.cc`, 1.36), in bytes.
const COLLECTED: usize = 64 << 10;

/// A running Envoy.
pub(super) struct Envoy {
    running: Running,
    pub(super) sockets: Sockets,
    /// Ports of listeners by their names, if they have no sockets in the folder.
    ports: BTreeMap<String, u16>,
    pub(super) version: Version,
    pub(super) known: Known,
    /// Its last log lines, in case it dies.
    last: VecDeque<String>,
    updates: u64,
}

fn internal(what: &str, error: &dyn std::fmt::Display) -> Error {
    Error::Internal(format!("{what}: {error}"))
}

/// Why the admin interface does not answer.
fn silent(error: &io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            Error::Hangs("answer on its admin interface", admin::TIME)
        }
        _ => internal("cannot read from Envoy's admin interface", error),
    }
}

/// Writes a file of the sandbox, by its name.
type Write<'w> = dyn Fn(&str, &[u8]) -> Result<(), Error> + 'w;

impl Envoy {
    /// Starts one without any configuration.
    pub(super) fn start(binary: &Path, sockets: Option<Sockets>) -> Result<Starting, Error> {
        Starting::new(binary, sockets, true)
    }

    /// The folder it runs in.
    pub(super) fn folder(&self) -> &Path {
        self.running.folder().path()
    }

    /// Its process id.
    pub(super) fn id(&self) -> Option<u32> {
        self.running.id()
    }

    /// The most memory it held, in bytes.
    pub(super) fn peak_memory(&self) -> Option<u64> {
        self.running.peak_memory()
    }

    fn admin(&self, method: &str, path: &str) -> Result<String, Error> {
        sockets::ask(self.folder(), self.sockets, method, path).map_err(|error| silent(&error))
    }

    /// Loads a configuration, and waits until it is served.
    pub(super) fn load(&mut self, setup: &Setup) -> Result<(), Error> {
        let folder = self.running.folder().path().to_owned();
        let write = |name: &str, bytes: &[u8]| {
            let (new, file) = (folder.join("new"), folder.join(name));
            fs::write(&new, bytes)
                .and_then(|()| fs::rename(&new, &file))
                .map_err(|error| internal("cannot write the configuration", &error))
        };
        self.admin("POST", "/logging?paths=http:info,lua:info")?;
        for (file, json) in &setup.secrets {
            write(file, json.as_bytes())?;
        }
        for (file, bytes) in &setup.routes {
            write(file, &response(1, &[bytes]))?;
        }
        self.update("cds.pb", "cluster_manager.cds.update_", &setup.clusters, &write)?;
        self.update("lds.pb", "listener_manager.lds.update_", &setup.listeners, &write)?;
        self.wait_for_workers(setup)?;
        // At low levels, Envoy writes a hundred lines of its own for each request: enabled only for scripts that use
        // them.
        let uses = |word: &str| {
            let mut resources = setup.listeners.iter().chain(setup.routes.iter().map(|(_, bytes)| bytes));
            resources.any(|bytes| memchr::memmem::find(bytes, word.as_bytes()).is_some())
        };
        let level = if uses("logTrace") {
            "trace"
        } else if uses("logDebug") {
            "debug"
        } else {
            "info"
        };
        self.admin("POST", &format!("/logging?paths=http:info,lua:{level},wasm:trace"))?;
        self.drain();
        Ok(())
    }

    fn update(&mut self, file: &str, counters: &str, resources: &[Vec<u8>], write: &Write<'_>) -> Result<(), Error> {
        let before = self.counters(counters)?;
        self.updates += 1;
        let resources: Vec<&[u8]> = resources.iter().map(Vec::as_slice).collect();
        write(file, &response(self.updates, &resources))?;
        let began = Instant::now();
        let mut pause = Duration::from_millis(1);
        loop {
            self.alive()?;
            let now = self.counters(counters)?;
            if now[1] > before[1] || now[2] > before[2] {
                return Err(self.refusal());
            }
            if now[0] > before[0] {
                return Ok(());
            }
            if began.elapsed() > TIME {
                return Err(Error::Hangs("take its configuration", TIME));
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(8));
        }
    }

    /// A listener that waits for routes or secrets is not listed until it has them.
    fn wait_for_workers(&mut self, setup: &Setup) -> Result<(), Error> {
        let began = Instant::now();
        let mut pause = Duration::from_millis(1);
        let want = u64::try_from(setup.listeners.len()).unwrap_or(u64::MAX);
        loop {
            self.alive()?;
            let text = self.admin(
                "GET",
                "/stats?filter=%5Elistener_manager%5C.(total_listeners_(active|warming)|workers_started)",
            )?;
            let value = |name: &str| {
                let line = text
                    .lines()
                    .find_map(|line| line.strip_prefix("listener_manager.")?.strip_prefix(name)?.strip_prefix(": "));
                line.and_then(|number| number.trim().parse::<u64>().ok()).unwrap_or(0)
            };
            if value("total_listeners_active") >= want && value("total_listeners_warming") == 0 && self.listen(setup)? {
                return Ok(());
            }
            if began.elapsed() > TIME {
                return Err(Error::Hangs("serve its listeners", TIME));
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(8));
        }
    }

    /// Whether all listeners are listed, and their addresses.
    fn listen(&mut self, setup: &Setup) -> Result<bool, Error> {
        if self.sockets == Sockets::Loopback {
            let text = self.admin("GET", "/listeners?format=json")?;
            let known: Value =
                serde_json::from_str(&text).map_err(|error| internal("Envoy's listeners are not JSON", &error))?;
            for one in known["listener_statuses"].as_array().into_iter().flatten() {
                let port = one["local_address"]["socket_address"]["port_value"].as_u64().unwrap_or(0);
                if let (Some(name), Ok(port @ 1..)) = (one["name"].as_str(), u16::try_from(port)) {
                    self.ports.insert(name.to_owned(), port);
                }
            }
        }
        Ok(setup.sockets.iter().all(|socket| match self.place(socket) {
            Ok(Place::File(path)) => path.exists(),
            Ok(Place::Port(_)) => true,
            Err(_) => false,
        }))
    }

    /// Where a listener is.
    pub(super) fn place(&self, socket: &Socket) -> Result<Place, Error> {
        match self.sockets {
            Sockets::Folder => Ok(Place::File(self.folder().join(&socket.file))),
            Sockets::Loopback => {
                let port = self.ports.get(&socket.listener).copied().map(Place::Port);
                port.ok_or_else(|| Error::Internal(format!("listener {} has no port", socket.listener)))
            }
        }
    }

    /// Updates accepted, rejected, unreadable.
    fn counters(&self, names: &str) -> Result<[u64; 3], Error> {
        let text = self.admin("GET", &format!("/stats?filter=^{}", names.replace('.', "%5C.")))?;
        let value = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(names)?.strip_prefix(name)?.strip_prefix(": "));
            line.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
        };
        Ok([value("success"), value("rejected"), value("failure")])
    }

    /// Envoy's message about the update that it just rejected.
    fn refusal(&mut self) -> Error {
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(5) {
            match self.running.line(Duration::from_millis(200)) {
                Line::Text(line) => {
                    let line = unescape(&line);
                    if let Some(words) = REFUSED.iter().find_map(|start| line.split(start).nth(1)) {
                        // A readable message begins with a link that Envoy varies on purpose.
                        let useful = |word: &&str| !word.starts_with("goo.gle/debug");
                        let words = words.split_whitespace().filter(useful).collect::<Vec<_>>().join(" ");
                        return Error::Refused(words);
                    }
                    self.keep(line);
                }
                Line::NotYet => {}
                Line::Closed => break,
            }
        }
        Error::Refused("Envoy gives no reason".to_owned())
    }

    /// Fails when it is gone.
    pub(super) fn alive(&mut self) -> Result<(), Error> {
        match self.running.ended() {
            None => Ok(()),
            Some(ended) => Err(self.died(&ended)),
        }
    }

    /// Whether it answers.
    pub(super) fn listens(&self) -> bool {
        sockets::ask(self.folder(), self.sockets, "GET", "/ready").is_ok()
    }

    /// Waits until its main thread has done what it was given so far: the thread answers in turn.
    pub(super) fn settle(&mut self) -> Result<(), Error> {
        self.admin("GET", "/ready").map(drop).or_else(|error| self.alive().and(Err(error)))
    }

    /// Why its log ended: usually because the process ended, which becomes known a moment later.
    pub(super) fn gone(&mut self) -> Error {
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(2) {
            if let Err(error) = self.alive() {
                return error;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Error::Internal("Envoy closed its log".to_owned())
    }

    fn died(&mut self, ended: &Ended) -> Error {
        for line in self.running.lines(Duration::from_millis(50)) {
            self.keep(unescape(&line));
        }
        let last: Vec<&str> = self.last.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
        Error::Died(ended.to_string(), last.join(" | "))
    }

    fn keep(&mut self, line: String) {
        const LINES: usize = 4;
        if self.last.len() == LINES {
            self.last.pop_front();
        }
        self.last.push_back(line);
    }

    /// The next line of its log, unescaped.
    pub(super) fn line(&mut self, wait: Duration) -> Line {
        match self.running.line(wait) {
            // Access logs are not escaped.
            Line::Text(line) if entry(&line).is_none() => Line::Text(line),
            Line::Text(line) => {
                let line = unescape(&line);
                if line.contains("|critical|") || line.contains("|error|") {
                    self.keep(line.clone());
                }
                Line::Text(line)
            }
            other => other,
        }
    }

    /// Discards everything written until now.
    pub(super) fn drain(&mut self) {
        while let Line::Text(_) = self.line(Duration::ZERO) {}
    }

    /// The nonzero counters, without Envoy's internal ones.
    pub(super) fn counters_of(&self, filter: &str) -> Result<Vec<(String, u64)>, Error> {
        let text = self.admin("GET", &format!("/stats?usedonly&type=Counters&filter={filter}"))?;
        let parse = |line: &str| {
            let (name, value) = line.rsplit_once(": ")?;
            Some((name.to_owned(), value.trim().parse().ok()?))
        };
        Ok(text.lines().filter_map(parse).collect())
    }
}

/// An Envoy that may not be ready yet.
pub(super) struct Starting {
    running: Running,
    binary: PathBuf,
    sockets: Sockets,
    /// Whether it was told to write lines of access logs at once.
    at_once: bool,
    began: Instant,
}

impl Starting {
    fn new(binary: &Path, sockets: Option<Sockets>, at_once: bool) -> Result<Starting, Error> {
        let folder = Folder::new().map_err(Error::Process)?;
        let sockets = sockets.unwrap_or_else(|| Sockets::of(&folder));
        let write = |name: &str, bytes: &[u8]| {
            fs::write(folder.file(name), bytes).map_err(|error| internal("cannot write the configuration", &error))
        };
        write("boot.json", bootstrap(sockets).to_string().as_bytes())?;
        write("lds.pb", &response(0, &[]))?;
        write("cds.pb", &response(0, &[]))?;
        write("none.json", br#"{"version_info":"0"}"#)?;
        let program = Program::new(binary)
            .map_err(Error::Process)?
            .args(["--disable-hot-restart", "--concurrency", "1", "--drain-time-s", "1", "--log-level", "warning"])
            .args(["--file-flush-interval-msec", "1"])
            .args(AT_ONCE.into_iter().filter(|_| at_once))
            .args(sockets.arguments())
            .args(["--component-log-level", "http:info,lua:info,wasm:info", "--log-format", "%n|%l|%v"])
            .args(["--log-format-escaped", "-c", "boot.json"])
            .memory_limit(MEMORY);
        let program =
            if at_once { program } else { program.env(FILLING, format!("{FILLING}{}", ".".repeat(COLLECTED))) };
        let running = program.start(folder).map_err(Error::Process)?;
        Ok(Starting { running, binary: binary.to_owned(), sockets, at_once, began: Instant::now() })
    }

    /// Waits until it is ready.
    pub(super) fn ready(mut self) -> Result<Envoy, Error> {
        loop {
            if let Some(ended) = self.running.ended() {
                let (binary, sockets, at_once) = (self.binary.clone(), self.sockets, self.at_once);
                let mut envoy = self.envoy(Known::default(), Version { text: String::new(), minor: 0 });
                return match envoy.died(&ended) {
                    // An Envoy older than the option.
                    Error::Died(_, words) if at_once && words.contains(AT_ONCE[0]) => {
                        Starting::new(&binary, Some(sockets), false)?.ready()
                    }
                    error => Err(error),
                };
            }
            if self.ask("/ready").is_ok_and(|said| said.contains("LIVE")) {
                break;
            }
            if self.began.elapsed() > TIME {
                return Err(Error::Hangs("start", TIME));
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let dump = self
            .ask("/config_dump?mask=bootstrap.node")
            .or_else(|_| self.ask("/config_dump"))
            .map_err(|error| silent(&error))?;
        let dump: Value =
            serde_json::from_str(&dump).map_err(|error| internal("Envoy's config dump is not JSON", &error))?;
        let known = Known::of_dump(&dump);
        let version = version_of(&dump).ok_or_else(|| Error::NoEnvoy(self.binary.clone()))?;
        Ok(self.envoy(known, version))
    }

    fn ask(&self, path: &str) -> io::Result<String> {
        sockets::ask(self.running.folder().path(), self.sockets, "GET", path)
    }

    fn envoy(self, known: Known, version: Version) -> Envoy {
        let Starting { running, sockets, .. } = self;
        Envoy { running, sockets, ports: BTreeMap::new(), version, known, last: VecDeque::new(), updates: 0 }
    }
}

/// The version in the node of a bootstrap.
fn version_of(dump: &Value) -> Option<Version> {
    let sections = dump["configs"].as_array()?;
    let node = sections.iter().find_map(|it| it["bootstrap"]["node"].as_object())?;
    let of = &node.get("user_agent_build_version")?["version"];
    let number = |name: &str| of[name].as_u64().unwrap_or(0);
    let minor = u16::try_from(number("minor_number")).ok()?;
    Some(Version { text: format!("{}.{minor}.{}", number("major_number"), number("patch")), minor })
}

/// `envoy.service.discovery.v3.DiscoveryResponse`: version, resources.
fn response(version: u64, resources: &[&[u8]]) -> Vec<u8> {
    let mut out = Vec::new();
    wire::field(1, version.to_string().as_bytes(), &mut out);
    for resource in resources {
        wire::field(2, resource, &mut out);
    }
    out
}

fn bootstrap(sockets: Sockets) -> Value {
    let file = |name: &str| json!({"resource_api_version": "V3", "path_config_source": {"path": format!("./{name}")}});
    json!({
        "node": {"id": "sidecar~127.0.0.1~sandbox.sandbox~sandbox.svc.cluster.local", "cluster": "sandbox.sandbox"},
        "admin": {"address": sockets.admin()},
        "dynamic_resources": {"lds_config": file("lds.pb"), "cds_config": file("cds.pb")},
        "bootstrap_extensions": [{
            "name": "envoy.bootstrap.internal_listener",
            "typed_config": {
                "@type": "type.googleapis.com/envoy.extensions.bootstrap.internal_listener.v3.InternalListener",
            },
        }],
        "layered_runtime": {"layers": [
            {"name": "global config", "static_layer": {"re2.max_program_size.error_level": 32768}},
        ]},
    })
}

/// A line of the log with Envoy's escapes (`--log-format-escaped`, C style) undone.
fn unescape(line: &str) -> String {
    if !line.contains('\\') {
        return line.to_owned();
    }
    let mut out = Vec::with_capacity(line.len());
    let mut rest = line.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => out.push(b'\n'),
            Some(b'r') => out.push(b'\r'),
            Some(b't') => out.push(b'\t'),
            Some(digit @ b'0'..=b'7') => {
                let mut value = u32::from(digit - b'0');
                for _ in 0..2 {
                    if let Some(digit) = rest.next_if(|byte| (b'0'..=b'7').contains(byte)) {
                        value = value * 8 + u32::from(digit - b'0');
                    }
                }
                out.push(u8::try_from(value & 0xff).unwrap_or(b'?'));
            }
            Some(other) => out.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_undone() {
        assert_eq!(unescape(r#"a\nb\"c\303\244\\"#), "a\nb\"cä\\");
        assert_eq!(unescape("plain"), "plain");
        assert_eq!(unescape("end\\"), "end");
    }
}
