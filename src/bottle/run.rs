//! A running istiod: its start, readiness, queries and end.

use super::ads::{self, Configuration, Wanted};
use super::api::{self, ObjectStore};
use super::fault::Fault;
use super::grpc::{self, Channel};
use super::kinds;
use super::node::Node;
use super::objects::{Objects, list, text};
use super::ports::Ports;
use super::refusal;
use super::settle;
use super::texts::Texts;
use crate::budget;
use crate::model::istiod::{CLUSTER_ID, ISTIOD_VARIABLES};
use crate::model::proxy::ProxyKind;
use crate::model::release::Release;
use crate::process::{self, Folder, Program, Running};
use crate::proto::schema::Schema;
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// How long `version` may take: the first start of a large binary reads it from disk.
const VERSION_TIME: Duration = Duration::from_secs(30);

/// Number of last log lines that are reported.
const LAST: usize = 4;

/// How often istiod is restarted because another program took one of its ports.
const TRIES: usize = 3;

/// How long istiod may take to read changed filters.
const SETTLE: Duration = Duration::from_secs(10);

/// The name of the threads of our API server.
const API_SERVER: &str = "api-server";

/// How long istiod gets no update before its Gateways count as complete.
const QUIET: Duration = Duration::from_millis(200);

/// A namespace and a proxy that exist only to detect when a change has arrived.
const SENTINEL: &str = "envoyfilter-sentinel";

/// Resource limits of a run.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Time until it is ready.
    pub ready: Duration,
    /// Total time.
    pub time: Duration,
    /// Memory, in bytes.
    pub memory: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { ready: Duration::from_mins(1), time: Duration::from_mins(30), memory: 4 << 30 }
    }
}

/// An istiod binary that can run here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Istiod {
    /// Where it is.
    pub path: PathBuf,
    /// Its version, such as `1.31.0`; `unknown` for a build without a version.
    pub version: String,
    /// Its release; `None` if its version does not show it.
    pub release: Option<Release>,
}

impl Istiod {
    /// Inspects a binary. Fails if it is not an istiod of a known release.
    pub fn find(path: &Path) -> Result<Istiod, Fault> {
        if !cfg!(target_os = "linux") {
            return Err(Fault::OtherSystem);
        }
        let program = Program::new(path)?.args(["version", "-o", "json"]).capture_output(1 << 16).memory_limit(1 << 30);
        let finished = program.finish(VERSION_TIME)?;
        let none = |why: String| Fault::NotIstiod(path.to_owned(), why);
        let text = String::from_utf8_lossy(&finished.output);
        let json = text.find('{').and_then(|at| text.get(at..));
        let said: Option<Value> = json.and_then(|json| serde_json::from_str(json).ok());
        let version = said.as_ref().and_then(|said| said.get("clientVersion")?.get("version")?.as_str());
        let Some(version) = version else {
            return Err(none(format!("`version -o json` ends with {} and prints no version of Istio", finished.ended)));
        };
        let release: Option<Release> = version.parse().ok();
        if release.is_some_and(|release| release.minor < Release::OLDEST.minor) {
            return Err(Fault::TooOld(path.to_owned(), version.to_owned()));
        }
        Ok(Istiod { path: path.to_owned(), version: version.to_owned(), release })
    }
}

/// A running istiod that has read the objects.
#[derive(Debug)]
pub struct Bottle {
    /// The binary.
    pub istiod: Istiod,
    /// How long it took until it was ready.
    pub ready_after: Duration,
    schema: Schema,
    store: Arc<ObjectStore>,
    /// The decoded answers.
    texts: Arc<Texts>,
    /// Counts changes of filters.
    generation: u64,
    last: VecDeque<String>,
    /// Kind and reason, if it reported unreadable objects.
    unreadable: Option<(String, String)>,
    /// Dropped before the runtime, so that istiod ends before its API server.
    process: Running,
    /// Dropped after the process, so that the ports are released once nobody listens on them.
    ports: Ports,
    runtime: Runtime,
}

/// Settings of every istiod here: it opens no port to others, writes nothing, and creates no certificates.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("ENABLE_CA_SERVER", "false"),
    ("PILOT_CERT_PROVIDER", "none"),
    ("VALIDATION_WEBHOOK_CONFIG_NAME", ""),
    ("INJECTION_WEBHOOK_CONFIG_NAME", ""),
    ("INJECT_ENABLED", "false"),
    ("PILOT_ENABLE_STATUS", "false"),
    ("PILOT_ENABLE_ANALYSIS", "false"),
    ("PILOT_ENABLE_GATEWAY_API_STATUS", "false"),
    ("PILOT_ENABLE_GATEWAY_API_DEPLOYMENT_CONTROLLER", "false"),
    ("PILOT_ENABLE_GATEWAY_API_GATEWAYCLASS_CONTROLLER", "false"),
    ("ENABLE_LEADER_ELECTION", "false"),
    ("AMBIENT_ENABLE_STATUS", "false"),
    // A run makes few changes, all at once.
    ("PILOT_DEBOUNCE_AFTER", "10ms"),
    ("PILOT_DEBOUNCE_MAX", "1s"),
    ("PILOT_PUSH_THROTTLE", "100"),
    // Unset or 0, istiod admits 15 new proxies a second and 5 more for each core (features/tuning.go, 1.30 and 1.31).
    ("PILOT_MAX_REQUESTS_PER_SECOND", "100000"),
    ("XDS_AUTH", "false"),
    ("POD_NAME", "istiod"),
    ("HOME", "/nonexistent"),
];

/// The environment of istiod's Deployment or pod for the wanted revision; only literal values.
pub fn environment(objects: &Objects, revision: &str) -> BTreeMap<String, String> {
    let all = variables(objects, revision);
    all.into_iter().filter(|(name, _)| ISTIOD_VARIABLES.iter().any(|start| name.starts_with(start))).collect()
}

/// The cluster name in istiod's Deployment or pod.
pub(super) fn cluster_id(objects: &Objects, revision: &str) -> Option<String> {
    variables(objects, revision).remove(CLUSTER_ID).filter(|id| !id.is_empty())
}

fn variables(objects: &Objects, revision: &str) -> BTreeMap<String, String> {
    let wanted = if revision.is_empty() { "default" } else { revision };
    let of_revision = |object: &&Value| {
        let labels = ["metadata", "labels", "istio.io/rev"];
        text(object, &["metadata", "labels", "app"]) == "istiod"
            && matches!(text(object, &labels), found if found.is_empty() || found == wanted)
    };
    let deployment = objects.values("apps", "Deployment").find(of_revision);
    let containers = match deployment {
        Some(deployment) => list(deployment, &["spec", "template", "spec", "containers"]),
        None => objects.values("", "Pod").find(of_revision).map_or(&[][..], |pod| list(pod, &["spec", "containers"])),
    };
    let discovery = containers.iter().filter(|container| text(container, &["name"]) == "discovery");
    discovery
        .flat_map(|container| list(container, &["env"]))
        .filter_map(|variable| {
            let value = variable.get("value").and_then(Value::as_str)?;
            Some((text(variable, &["name"]).to_owned(), value.to_owned()))
        })
        .collect()
}

/// How to start istiod.
#[derive(Clone, Debug)]
pub struct Request {
    /// The binary.
    pub istiod: Istiod,
    /// The release whose types are used if the binary does not report its own.
    pub release: Release,
    /// The objects that it reads.
    pub objects: Objects,
    /// Its revision; empty for the default.
    pub revision: String,
    /// The namespace that it runs in, which contains its mesh config.
    pub namespace: String,
    /// Name of its cluster.
    pub cluster_id: String,
    /// The user's settings, which override the built-in ones.
    pub environment: BTreeMap<String, String>,
    /// Resource limits.
    pub limits: Limits,
}

impl Bottle {
    /// Starts istiod and waits until it has read everything.
    pub(crate) fn start(request: &Request) -> Result<Bottle, Fault> {
        match Bottle::tried(request) {
            Err(Fault::Unreadable(kind, why, _)) => {
                let start = |objects| Bottle::tried(&Request { objects, ..request.clone() }).err();
                Err(refusal::blame(&request.objects, &kind, &why, &start))
            }
            other => other,
        }
    }

    /// Starts it again if it ends: another program may have taken one of its ports.
    fn tried(request: &Request) -> Result<Bottle, Fault> {
        let mut tries = 1;
        loop {
            match Bottle::once(request) {
                Err(Fault::Ended(..)) if tries < TRIES => tries += 1,
                other => return other,
            }
        }
    }

    fn once(request: &Request) -> Result<Bottle, Fault> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(budget::threads(usize::MAX).max(2))
            .thread_name(API_SERVER)
            .enable_all()
            .build()
            .map_err(Fault::Server)?;
        let folder = Folder::new()?;
        let token = token();
        let store = ObjectStore::new(request.objects.clone(), token.clone());
        let server = runtime.block_on(api::serve(Arc::clone(&store))).map_err(Fault::Server)?;
        let ports = Ports::new().map_err(Fault::Server)?;
        let kubeconfig = folder.file("kubeconfig");
        let written = private_file(&kubeconfig, &kubeconfig_of(server, &token));
        written.map_err(|error| Fault::Folder(folder.path().to_owned(), error))?;
        let memory = request.limits.memory;
        let mut program = Program::new(&request.istiod.path)?
            .arg("discovery")
            .arg("--kubeconfig")
            .arg(&kubeconfig)
            .args(["--grpcAddr", &ports.grpc.to_string(), "--httpAddr", &ports.http.to_string()])
            .args(["--monitoringAddr", &ports.monitoring.to_string(), "--httpsAddr", "", "--secureGRPCAddr", ""])
            .args(["--ctrlz_port", "0", "--ctrlz_address", "127.0.0.1", "--profile=false"])
            .args(["--shutdownDuration", "0s", "--log_target", "stderr", "--log_output_level", "all:warn"])
            .args(["--clusterID", &request.cluster_id, "--namespace", &request.namespace])
            .args(["--kubernetesApiQPS", "10000", "--kubernetesApiBurst", "10000"])
            .args(["--keepaliveMaxServerConnectionAge", "24h"])
            .memory_limit(memory)
            .time_limit(request.limits.time);
        let mut environment: BTreeMap<&str, &str> =
            request.environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        environment.extend(ENVIRONMENT.iter().copied());
        environment.insert("POD_NAMESPACE", &request.namespace);
        environment.insert("CLUSTER_ID", &request.cluster_id);
        environment.insert("REVISION", if request.revision.is_empty() { "default" } else { &request.revision });
        // Go's garbage collector works harder before the limit ends the process.
        let soft = (memory / 10 * 8).to_string();
        environment.insert("GOMEMLIMIT", &soft);
        // Until then it should not collect: in a mesh of 5,000 services, collecting is a sixth of istiod's time.
        environment.entry("GOGC").or_insert("400");
        for (name, value) in environment {
            program = program.env(name, value);
        }
        let began = Instant::now();
        let process = program.start(folder)?;
        let schema = schema(request);
        let mut bottle = Bottle {
            istiod: request.istiod.clone(),
            ready_after: Duration::ZERO,
            schema,
            store,
            texts: Arc::default(),
            generation: 0,
            last: VecDeque::new(),
            unreadable: None,
            process,
            ports,
            runtime,
        };
        bottle.wait_until_ready(began, request.limits.ready)?;
        if request.objects.places().iter().any(|(group, ..)| *group == kinds::GATEWAY_API) {
            bottle.wait_until_settled(began.elapsed(), request.limits.ready)?;
        }
        bottle.ready_after = began.elapsed();
        Ok(bottle)
    }

    /// Waits until istiod gets no more updates. It is ready before its Gateways of the Gateway API are complete: each push makes
    /// istiod convert them again, with the services and endpoints known by then, and that is an update of its own.
    fn wait_until_settled(&mut self, ready_after: Duration, limit: Duration) -> Result<(), Fault> {
        // A slow machine needs longer for a conversion, too.
        let quiet = (ready_after / 4).clamp(QUIET, 10 * QUIET);
        if settle::wait(self, quiet, limit) {
            return Ok(());
        }
        self.listen();
        let last = self.last.iter().cloned().collect();
        Err(match self.process.ended() {
            Some(ended) => Fault::Ended(ended, last),
            None => Fault::NotSettled(limit, last),
        })
    }

    fn wait_until_ready(&mut self, began: Instant, limit: Duration) -> Result<(), Fault> {
        let mut pause = Duration::from_millis(5);
        loop {
            self.listen();
            if let Some(ended) = self.process.ended() {
                for line in self.process.lines(Duration::from_millis(100)) {
                    self.keep(line);
                }
                return Err(Fault::Ended(ended, self.last.iter().cloned().collect()));
            }
            if let Some((kind, why)) = self.unreadable.take() {
                return Err(Fault::Unreadable(kind, why, Vec::new()));
            }
            // The answering process is istiod itself only if it also listens for proxies.
            if is_ready(self.ports.http) && self.runtime.block_on(grpc::answers(self.ports.grpc)) {
                return Ok(());
            }
            if began.elapsed() > limit {
                return Err(Fault::NotReady(limit, self.last.iter().cloned().collect()));
            }
            std::thread::sleep(pause);
            pause = (pause * 3 / 2).min(Duration::from_millis(50));
        }
    }

    fn listen(&mut self) {
        for line in self.process.lines(Duration::ZERO) {
            self.keep(line);
        }
    }

    fn keep(&mut self, line: String) {
        const WIDTH: usize = 300;
        let line: String = line.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(WIDTH).collect();
        // It logs this for every readiness check, and there are many.
        if line.is_empty() || line.ends_with("discovery is not ready") {
            return;
        }
        // The stack of a panic follows it, and says less.
        if self.last.back().is_some_and(|last| last.starts_with("panic: ")) {
            return;
        }
        if self.unreadable.is_none() {
            self.unreadable = refusal::parse(&line);
        }
        if self.last.len() == LAST {
            self.last.pop_front();
        }
        self.last.push_back(line);
    }

    /// The configuration of one proxy.
    pub fn ask(&mut self, node: &Node, wanted: &Wanted) -> Result<Configuration, Fault> {
        let (grpc, schema, texts) = (self.ports.grpc, self.schema, Arc::clone(&self.texts));
        let answer = self.runtime.block_on(async move {
            let channel = Channel::open(grpc).await?;
            ads::ask(&channel, schema, &texts, node, wanted).await
        });
        answer.map_err(|fault| self.reason(fault))
    }

    /// The configurations of many proxies, requested concurrently; in the order of the nodes.
    pub fn ask_all(&mut self, nodes: &[Node], wanted: &Wanted) -> Vec<Result<Configuration, Fault>> {
        use futures::StreamExt as _;
        const AT_ONCE: usize = 8;
        let (grpc, schema, texts) = (self.ports.grpc, self.schema, &self.texts);
        let mut answers: Vec<_> = self.runtime.block_on(async move {
            let asked = nodes.iter().map(|node| {
                let (node, wanted, texts) = (node.clone(), wanted.clone(), Arc::clone(texts));
                // On all cores: most of the time is spent decoding.
                let task = async move {
                    // A separate connection each, as for real proxies.
                    let channel = Channel::open(grpc).await?;
                    ads::ask(&channel, schema, &texts, &node, &wanted).await
                };
                async move {
                    let answer = tokio::spawn(task).await;
                    answer.unwrap_or_else(|error| Err(Fault::Connection(error.to_string())))
                }
            });
            futures::stream::iter(asked).buffered(AT_ONCE).collect().await
        });
        for answer in &mut answers {
            // The first error gives the reason; the other connections broke with it.
            if matches!(answer, Err(Fault::Connection(_))) {
                *answer = std::mem::replace(answer, Ok(Configuration::default())).map_err(|fault| self.reason(fault));
            }
        }
        answers
    }

    /// If istiod ended, a broken connection is reported as its end.
    fn reason(&mut self, fault: Fault) -> Fault {
        if !matches!(fault, Fault::Connection(_)) {
            return fault;
        }
        std::thread::sleep(Duration::from_millis(50));
        self.listen();
        match self.process.ended() {
            Some(ended) => Fault::Ended(ended, self.last.iter().cloned().collect()),
            None => fault,
        }
    }

    /// Replaces all EnvoyFilters in the running istiod, and waits until it has processed them: events of one kind
    /// arrive in order, so it waits for a last one, which adds a cluster to the sentinel proxy.
    pub fn set_filters(&mut self, filters: Vec<Value>) -> Result<(), Fault> {
        let Some(kind) = kinds::by_name("networking.istio.io", "EnvoyFilter") else { return Ok(()) };
        self.generation += 1;
        let name = format!("{SENTINEL}-{}", self.generation);
        self.store.retain(kind, |_| false);
        self.store.upsert(filters.into_iter().chain([sentinel(&name)]), "default");
        let node = Node {
            kind: ProxyKind::Sidecar,
            name: SENTINEL.to_owned(),
            namespace: SENTINEL.to_owned(),
            addresses: vec!["240.0.0.1".to_owned()],
            domain: "cluster.local".to_owned(),
            metadata: [("NAMESPACE", SENTINEL), ("CLUSTER_ID", "Kubernetes"), ("INSTANCE_IPS", "240.0.0.1")]
                .map(|(key, value)| (key.to_owned(), Value::from(value)))
                .into_iter()
                .collect(),
        };
        let began = Instant::now();
        let (grpc, schema, texts) = (self.ports.grpc, self.schema, Arc::clone(&self.texts));
        loop {
            let seen = self.runtime.block_on(async {
                let channel = Channel::open(grpc).await?;
                ads::clusters(&channel, schema, &texts, &node).await
            });
            match seen {
                Ok(clusters) if clusters.contains_key(&name) => return Ok(()),
                Ok(_) if began.elapsed() > SETTLE => return Err(Fault::NoAnswer("changed EnvoyFilters", SETTLE)),
                Ok(_) => std::thread::sleep(Duration::from_millis(5)),
                Err(fault) => return Err(self.reason(fault)),
            }
        }
    }

    /// istiod's peak memory so far, in bytes.
    pub fn peak_memory(&self) -> Option<u64> {
        self.process.peak_memory()
    }

    /// istiod's process ID.
    pub fn process_id(&self) -> Option<u32> {
        self.process.id()
    }

    /// The folder that it runs in.
    pub fn folder(&self) -> &Path {
        self.process.folder().path()
    }
}

impl settle::Watched for Bottle {
    fn updates(&mut self) -> Option<Vec<String>> {
        updates(self.ports.monitoring)
    }

    /// It works, or the API server that it asks does: on a loaded machine they wait for a processor, and time alone does not
    /// show that nothing follows.
    fn is_busy(&mut self) -> bool {
        self.process.is_busy() == Some(true) || process::is_busy(API_SERVER) == Some(true)
    }

    fn runs(&mut self) -> bool {
        self.process.ended().is_none()
    }
}

/// An EnvoyFilter for the sentinel proxy only.
fn sentinel(cluster: &str) -> Value {
    serde_json::json!({
        "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
        "metadata": {"name": SENTINEL, "namespace": SENTINEL},
        "spec": {"configPatches": [{
            "applyTo": "CLUSTER", "patch": {"operation": "ADD", "value": {
                "name": cluster, "connect_timeout": "1s", "type": "STATIC",
            }},
        }]},
    })
}

fn schema(request: &Request) -> Schema {
    let release = request.istiod.release.unwrap_or(request.release);
    Schema::istiod(release.minor, release.patch)
}

fn kubeconfig_of(server: SocketAddr, token: &str) -> String {
    serde_json::json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "bottle",
        "clusters": [{"name": "bottle", "cluster": {"server": format!("http://{server}/{token}")}}],
        "users": [{"name": "bottle", "user": {}}],
        "contexts": [{"name": "bottle", "context": {"cluster": "bottle", "user": "bottle"}}],
    })
    .to_string()
}

#[cfg(unix)]
fn private_file(path: &Path, text: &str) -> std::io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())
}

#[cfg(not(unix))]
fn private_file(path: &Path, text: &str) -> std::io::Result<()> {
    fs::write(path, text)
}

/// 128 random bits: the standard library seeds its hash maps from the system's source of randomness.
fn token() -> String {
    use std::hash::{BuildHasher, RandomState};
    format!("{:016x}{:016x}", RandomState::new().hash_one(0), RandomState::new().hash_one(1))
}

/// Calls `/ready`.
fn is_ready(address: SocketAddr) -> bool {
    get(address, "/ready").is_ok_and(|answer| answer.split(' ').nth(1) == Some("200"))
}

/// How many updates and pushes istiod's metrics count.
fn updates(address: SocketAddr) -> Option<Vec<String>> {
    let counts = ["pilot_inbound_updates", "pilot_pushcontext_init_seconds_count"];
    let text = get(address, "/metrics").ok()?;
    Some(text.lines().filter(|line| counts.iter().any(|name| line.starts_with(name))).map(str::to_owned).collect())
}

/// istiod's answer, with its head.
fn get(address: SocketAddr, path: &str) -> std::io::Result<String> {
    const WAIT: Duration = Duration::from_secs(2);
    const MOST: u64 = 4 << 20;
    let mut stream = TcpStream::connect_timeout(&address, WAIT)?;
    stream.set_read_timeout(Some(WAIT))?;
    write!(stream, "GET {path} HTTP/1.0\r\nhost: istiod\r\n\r\n")?;
    let mut answer = String::new();
    stream.take(MOST).read_to_string(&mut answer)?;
    Ok(answer)
}
