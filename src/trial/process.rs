//! An Envoy process that takes updates from files, the way a proxy takes those of istiod.
//!
//! Not `--mode validate`, which reads a bootstrap: there Envoy refuses unknown fields and, before 1.39, accepts what is
//! disallowed by default. For updates it is the other way round. An update is a file of wire bytes, moved over another.

use super::sockets::{self, Sockets};
use super::{Answer, Judge, Judged, Known, Offer, Trouble, Version};
use crate::model::resource::{ResourceKind, STATIC_CLUSTERS};
use crate::process::{self, Ended, Fault, Folder, Line, Program};
use crate::proto::wire;
use serde_json::{Value, json};
use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long `--version` may take.
const VERSION_TIME: Duration = Duration::from_secs(20);

/// How long Envoy may take to start, or to answer an update.
const TIME: Duration = Duration::from_secs(20);

/// How long its log may lag behind its counters.
const WORDS_TIME: Duration = Duration::from_secs(5);

/// How long a process may take to end after its socket is closed.
const ENDING_TIME: Duration = Duration::from_secs(1);

/// What Envoy writes before the reason (`filesystem_subscription_impl.cc`; 1.36 to 1.40).
const REFUSED: &str = "Filesystem config update rejected: ";

/// The same when the file could not be read.
const FAILED: &str = "Filesystem config update failure: ";

/// The version of a binary. Fails when it is not an Envoy.
pub(crate) fn version(binary: &Path) -> Result<Version, Trouble> {
    let shown = binary.display();
    let none = |why: String| Trouble::usage(format!("{shown} is not an Envoy: {why}"));
    let program = Program::new(binary)?.arg("--version").capture_output(1 << 16);
    let finished = match program.finish(VERSION_TIME) {
        Err(Fault::TimedOut(_, limit)) => {
            return Err(none(format!("`--version` does not end within {} s", limit.as_secs())));
        }
        finished => finished?,
    };
    let said = String::from_utf8_lossy(&finished.output);
    parse_version(&said).ok_or_else(|| match said.split_whitespace().collect::<Vec<_>>().join(" ") {
        text if text.is_empty() => none("`--version` prints nothing".to_owned()),
        text => none(format!("`--version` prints {:?}", text.chars().take(80).collect::<String>())),
    })
}

/// Reads `envoy  version: <commit>/1.39.3/Clean/RELEASE/BoringSSL`.
fn parse_version(said: &str) -> Option<Version> {
    let text = said.split("version: ").nth(1)?.split('/').nth(1)?;
    let mut numbers = text.split('.');
    let (major, minor) = (numbers.next()?, numbers.next()?.parse().ok()?);
    (major == "1").then(|| Version { text: text.to_owned(), minor })
}

/// A running Envoy.
struct Running {
    process: process::Running,
    sockets: Sockets,
    /// The last lines of its log, in case it crashes.
    last: VecDeque<String>,
    updates: u64,
    /// The clusters it has.
    clusters: Option<BTreeSet<String>>,
}

/// An Envoy binary that answers updates; started again after a crash.
pub(crate) struct Envoy {
    binary: PathBuf,
    /// What it is built with.
    pub known: Known,
    running: Option<Running>,
}

/// The two kinds of updates.
#[derive(Clone, Copy)]
enum Channel {
    Listeners,
    Clusters,
}

impl Channel {
    const fn file(self) -> &'static str {
        match self {
            Channel::Listeners => "lds.pb",
            Channel::Clusters => "cds.pb",
        }
    }

    const fn counters(self) -> &'static str {
        match self {
            Channel::Listeners => "listener_manager.lds.update_",
            Channel::Clusters => "cluster_manager.cds.update_",
        }
    }
}

impl Envoy {
    /// Starts it.
    pub(crate) fn start(binary: &Path) -> Result<Envoy, Trouble> {
        let mut running = Running::start(binary)?;
        let known = running.known()?;
        Ok(Envoy { binary: binary.to_owned(), known, running: Some(running) })
    }
}

impl Judge for Envoy {
    fn judge(&mut self, offer: &Offer<'_>) -> Result<Judged, Trouble> {
        judge(&mut self.running, || Running::start(&self.binary), offer)
    }
}

/// A process that takes offers until it ends.
trait Process {
    /// Accepts or refuses an update; `None` when the process ended.
    fn take(&mut self, offer: &Offer<'_>) -> Result<Option<Answer>, Trouble>;

    /// How it ended, with the last lines of its log.
    fn epitaph(&mut self) -> String;
}

/// Asks the running process, or a new one.
///
/// The end of a process that was given other resources before need not be due to the last of them: Envoy destroys in the
/// background what an update replaces. Only a resource that also ends a new process is refused.
fn judge<P: Process>(
    running: &mut Option<P>,
    start: impl Fn() -> Result<P, Trouble>,
    offer: &Offer<'_>,
) -> Result<Judged, Trouble> {
    let mut ended = None;
    if let Some(mut process) = running.take() {
        if let Some(answer) = process.take(offer)? {
            *running = Some(process);
            return Ok(Judged { answer, ended });
        }
        ended = Some(process.epitaph());
    }
    let mut process = start()?;
    let Some(answer) = process.take(offer)? else {
        // The proxy would end, too.
        return Ok(Judged { answer: Answer::Refused(process.epitaph()), ended: None });
    };
    *running = Some(process);
    Ok(Judged { answer, ended })
}

impl Process for Running {
    fn take(&mut self, offer: &Offer<'_>) -> Result<Option<Answer>, Trouble> {
        if offer.kind == ResourceKind::Cluster {
            self.clusters = None;
            return self.update(Channel::Clusters, &[offer.bytes]);
        }
        if self.clusters.as_ref() != Some(offer.clusters) {
            let stand_ins: Vec<Vec<u8>> = offer.clusters.iter().map(|name| stand_in(name)).collect();
            let resources: Vec<&[u8]> = stand_ins.iter().map(Vec::as_slice).collect();
            match self.update(Channel::Clusters, &resources)? {
                Some(Answer::Accepted) => self.clusters = Some(offer.clusters.clone()),
                Some(Answer::Refused(words)) => return Err(Trouble::new(format!("stand-ins of clusters: {words}"))),
                None => return Ok(None),
            }
        }
        self.update(Channel::Listeners, &[offer.bytes])
    }

    fn epitaph(&mut self) -> String {
        for line in self.process.lines(Duration::from_millis(200)) {
            self.keep(&line);
        }
        let status = self.process.ended().unwrap_or(Ended::Unknown);
        let last: Vec<&str> = self.last.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
        format!("Envoy ends with {status}; its last words: {}", last.join(" | "))
    }
}

impl Running {
    fn start(binary: &Path) -> Result<Running, Trouble> {
        let folder = Folder::new()?;
        let trouble =
            |error: &dyn std::fmt::Display| Trouble::new(format!("cannot start {}: {error}", binary.display()));
        let sockets = Sockets::of(&folder);
        fs::write(folder.file("boot.json"), bootstrap(&folder, sockets).to_string())
            .map_err(|error| trouble(&error))?;
        fs::write(folder.file("eds.json"), r#"{"version_info":"0"}"#).map_err(|error| trouble(&error))?;
        for channel in [Channel::Listeners, Channel::Clusters] {
            fs::write(folder.file(channel.file()), response(0, &[])).map_err(|error| trouble(&error))?;
        }
        let config = folder.file("boot.json");
        let process = Program::new(binary)?
            .args(["--disable-hot-restart", "--concurrency", "1", "--drain-time-s", "1", "--log-level", "warning"])
            .args(["--log-format", "%v", "--log-format-escaped"])
            .args(sockets.arguments())
            .arg("-c")
            .arg(config)
            .start(folder)?;
        let mut running = Running { process, sockets, last: VecDeque::new(), updates: 0, clusters: None };
        let began = Instant::now();
        loop {
            if running.ended() {
                return Err(Trouble::new(format!("{} does not start: {}", binary.display(), running.epitaph())));
            }
            if running.ask("/ready").is_ok_and(|said| said.contains("LIVE")) {
                return Ok(running);
            }
            if began.elapsed() > TIME {
                let why = format!("is not ready after {} s", TIME.as_secs());
                return Err(Trouble::new(format!("{} {why}", binary.display())));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn ended(&mut self) -> bool {
        self.process.ended().is_some()
    }

    /// Whether it ended; its socket closes a moment before.
    fn ends_soon(&mut self) -> bool {
        let began = Instant::now();
        while !self.ended() {
            if began.elapsed() > ENDING_TIME {
                return false;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        true
    }

    fn keep(&mut self, line: &str) {
        const LINES: usize = 4;
        if self.last.len() == LINES {
            self.last.pop_front();
        }
        self.last.push_back(unescape(line));
    }

    fn ask(&self, path: &str) -> std::io::Result<String> {
        sockets::ask(self.process.folder().path(), self.sockets, "GET", path)
    }

    fn get(&self, path: &str) -> Result<String, Trouble> {
        self.ask(path).map_err(|error| Trouble::new(format!("Envoy's admin interface does not answer: {error}")))
    }

    /// The extensions it is built with, from the node of its bootstrap.
    fn known(&mut self) -> Result<Known, Trouble> {
        let text = self.get("/config_dump?resource=&mask=bootstrap").or_else(|_| self.get("/config_dump"))?;
        let dump: Value = serde_json::from_str(&text)
            .map_err(|error| Trouble::new(format!("Envoy's config dump is not JSON: {error}")))?;
        let mut known = Known::default();
        let sections = dump["configs"].as_array().into_iter().flatten();
        for extension in sections.filter_map(|it| it["bootstrap"]["node"]["extensions"].as_array()).flatten() {
            let category = extension["category"].as_str().unwrap_or_default();
            for message in extension["type_urls"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                known.add(message, category);
            }
        }
        Ok(known)
    }

    /// Moves a new file over the old one and waits for the counters.
    fn update(&mut self, channel: Channel, resources: &[&[u8]]) -> Result<Option<Answer>, Trouble> {
        for line in self.process.lines(Duration::ZERO) {
            self.keep(&line);
        }
        let before = match self.counters(channel) {
            // It ended after the update before this one.
            Err(_) if self.ends_soon() => return Ok(None),
            counters => counters?,
        };
        self.updates += 1;
        let (new, file) = (self.process.folder().file("new.pb"), self.process.folder().file(channel.file()));
        let written = fs::write(&new, response(self.updates, resources)).and_then(|()| fs::rename(&new, &file));
        written.map_err(|error| Trouble::new(format!("cannot write {}: {error}", file.display())))?;
        let began = Instant::now();
        let mut pause = Duration::from_millis(1);
        loop {
            if self.ended() {
                return Ok(None);
            }
            if let Ok([success, rejected, failed]) = self.counters(channel) {
                if rejected > before[1] || failed > before[2] {
                    return self.words().map(|words| Some(Answer::Refused(words)));
                }
                if success > before[0] {
                    return Ok(Some(Answer::Accepted));
                }
            }
            if began.elapsed() > TIME {
                return Err(Trouble::new(format!("Envoy does not answer an update within {} s", TIME.as_secs())));
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    /// Updates accepted, rejected, unreadable.
    fn counters(&self, channel: Channel) -> Result<[u64; 3], Trouble> {
        let names = channel.counters();
        let text = self.get(&format!("/stats?filter=^{}", names.replace('.', "%5C.")))?;
        let value = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(names)?.strip_prefix(name)?.strip_prefix(": "));
            line.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
        };
        Ok([value("success"), value("rejected"), value("failure")])
    }

    /// Its log about the update that it just rejected.
    fn words(&mut self) -> Result<String, Trouble> {
        let began = Instant::now();
        loop {
            match self.process.line(WORDS_TIME.saturating_sub(began.elapsed())) {
                Line::Text(line) => {
                    let said = unescape(&line);
                    if let Some(words) = said.split(REFUSED).nth(1).or_else(|| said.split(FAILED).nth(1)) {
                        return Ok(plain(words));
                    }
                    self.keep(&line);
                }
                Line::NotYet | Line::Closed => {
                    return Ok("Envoy gives no reason".to_owned());
                }
            }
        }
    }
}

/// The reason alone: without the name of the resource, and without the message that Envoy prints before a violated constraint.
fn plain(words: &str) -> String {
    const BROKEN: &str = "Proto constraint validation failed";
    let text = words.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some(at) = text.find(BROKEN) {
        return text[at..].to_owned();
    }
    let text = ["Error adding/updating listener(s) ", "Error adding/updating cluster(s) "]
        .iter()
        .find_map(|start| text.strip_prefix(start)?.split_once(": ").map(|(_, reason)| reason.to_owned()))
        .unwrap_or(text);
    text.trim_end_matches(',').to_owned()
}

/// A log line with Envoy's escapes (`--log-format-escaped`, C style) undone.
fn unescape(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        match (c, if c == '\\' { rest.next() } else { None }) {
            ('\\', Some('n' | 'r' | 't')) => out.push(' '),
            ('\\', Some(other)) => out.push(other),
            (c, _) => out.push(c),
        }
    }
    out
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

/// An empty cluster of this name as an `Any`: `name` is field 1, and STATIC is the default type.
fn stand_in(name: &str) -> Vec<u8> {
    let (mut cluster, mut out) = (Vec::new(), Vec::new());
    wire::field(1, name.as_bytes(), &mut cluster);
    wire::field(1, b"type.googleapis.com/envoy.config.cluster.v3.Cluster", &mut out);
    wire::field(2, &cluster, &mut out);
    out
}

/// What the agent gives a proxy, as far as configuration depends on it, with updates from files.
fn bootstrap(folder: &Folder, sockets: Sockets) -> Value {
    let file = |name: &str| json!({"resource_api_version": "V3", "path_config_source": {"path": folder.file(name)}});
    let http2 = json!({"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
        "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
        "explicit_http_config": {"http2_protocol_options": {}},
    }});
    let clusters = STATIC_CLUSTERS
        .map(|name| json!({"name": name, "type": "STATIC", "typed_extension_protocol_options": http2.clone()}));
    json!({
        "node": {"id": "sidecar~127.0.0.1~trial.trial~trial.svc.cluster.local", "cluster": "trial.trial"},
        "admin": {"address": sockets.admin()},
        "static_resources": {"clusters": clusters},
        "dynamic_resources": {
            "ads_config": {
                "api_type": "DELTA_GRPC", "transport_api_version": "V3",
                "grpc_services": [{"envoy_grpc": {"cluster_name": "xds-grpc"}}],
            },
            "lds_config": file(Channel::Listeners.file()),
            "cds_config": file(Channel::Clusters.file()),
        },
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::tree::Tree;

    #[test]
    fn versions_are_read_and_other_programs_told() {
        let said = "\n./envoy  version: 6eb0d2d/1.39.3-dev/Clean/RELEASE/BoringSSL\n\n";
        assert_eq!(parse_version(said), Some(Version { text: "1.39.3-dev".to_owned(), minor: 39 }));
        for other in ["", "bash version: 5", "x version: a/2.1.0/b", "x version: a/1.x/b"] {
            assert_eq!(parse_version(other), None, "{other}");
        }
        let none = version(Path::new("/nonexistent/envoy")).unwrap_err();
        assert!(none.usage && none.message == "/nonexistent/envoy: no such file", "{none}");
    }

    #[test]
    fn reasons_come_without_what_stands_before_them() {
        let line = unescape(
            r#"Error adding/updating listener(s) probe: script load error: [string \"x(\"]:1: \'=\' expected\n"#,
        );
        assert_eq!(plain(&line), r#"script load error: [string "x("]:1: '=' expected"#);
        let line = unescape(
            r"goo.gle/debugproto    \ntype: STATIC\n: Proto constraint validation failed (ClusterValidationError.Name: x)\n",
        );
        assert_eq!(plain(&line), "Proto constraint validation failed (ClusterValidationError.Name: x)");
    }

    /// Ends with its last answer.
    struct Scripted(Vec<Option<Answer>>);

    impl Process for Scripted {
        fn take(&mut self, _: &Offer<'_>) -> Result<Option<Answer>, Trouble> {
            Ok(self.0.pop().unwrap())
        }

        fn epitaph(&mut self) -> String {
            format!("ends with {} answers left", self.0.len())
        }
    }

    #[test]
    fn only_a_resource_that_ends_a_new_process_is_refused() {
        let (tree, clusters) = (Tree::empty(), BTreeSet::new());
        let offer = Offer { kind: ResourceKind::Cluster, tree: &tree, bytes: &[], clusters: &clusters };
        let accepts = || Ok(Scripted(vec![None, Some(Answer::Accepted)]));
        let ends = || Ok(Scripted(vec![None]));

        let mut running = None;
        let judged = judge(&mut running, accepts, &offer).unwrap();
        assert_eq!((judged.answer, judged.ended), (Answer::Accepted, None));
        // The one that runs ends, and the next one does not.
        let judged = judge(&mut running, accepts, &offer).unwrap();
        let end = "ends with 0 answers left".to_owned();
        assert_eq!((judged.answer, judged.ended), (Answer::Accepted, Some(end.clone())));
        // Both end: the resource is at fault, and nothing else is left to explain.
        let judged = judge(&mut running, ends, &offer).unwrap();
        assert_eq!((judged.answer, judged.ended), (Answer::Refused(end), None));
        assert!(running.is_none());
    }
}
