//! A mock API server with faults on demand: plain HTTP, given and written objects; watches, Events, Leases.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What happens instead of an answer.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// A status with a Kubernetes Status as its body.
    Status(u16, &'static str),
    /// The same, with `Retry-After`.
    Later(u16, u32),
    /// No answer.
    Hang,
    /// The connection is closed without an answer.
    Reset,
}

/// A fault for requests whose path has a prefix.
#[derive(Clone, Debug)]
struct Rule {
    path: String,
    fault: Fault,
    /// The number of failing requests; then requests are answered again.
    times: usize,
}

/// The state of the server.
#[derive(Clone, Default)]
pub(crate) struct World {
    objects: Vec<Value>,
    /// Config dumps by `namespace/pod`.
    dumps: BTreeMap<String, String>,
    rules: Vec<Rule>,
    /// How many continue tokens expire.
    expire: usize,
    /// The server behind this one, if this is only a proxy.
    behind: Option<Behind>,
    /// API groups with their versions that it serves besides the usual ones.
    serving: Vec<&'static str>,
    /// Changes since the start, for watches.
    log: Vec<(&'static str, Value)>,
}

/// Answers a path with a status and a body.
type Behind = Arc<dyn Fn(&str) -> (u16, String) + Send + Sync>;

/// The running server.
pub(crate) struct Mock {
    pub(crate) address: SocketAddr,
    world: Arc<Mutex<World>>,
    requests: Arc<Mutex<Vec<Request>>>,
    folder: tempfile::TempDir,
}

/// A received request.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) path: String,
    pub(crate) headers: Vec<String>,
}

impl World {
    /// Objects of YAML texts.
    pub(crate) fn new(text: &str) -> World {
        let file = kubectl_envoyfilter::source::Sources::default().add("world", text);
        let (documents, problems) = kubectl_envoyfilter::load::yaml::documents(file, text);
        assert!(problems.is_empty(), "{problems:?}");
        World {
            objects: documents.iter().map(kubectl_envoyfilter::source::Node::to_json).collect(),
            ..World::default()
        }
    }

    pub(crate) fn add(&mut self, object: Value) {
        self.objects.push(object);
    }

    pub(crate) fn dump(mut self, pod: &str, text: String) -> World {
        self.dumps.insert(pod.to_owned(), text);
        self
    }

    pub(crate) fn fault(mut self, path: &str, fault: Fault, times: usize) -> World {
        self.rules.push(Rule { path: path.to_owned(), fault, times });
        self
    }

    /// Also serves an API group in a version.
    pub(crate) fn serving(mut self, api_version: &'static str) -> World {
        self.serving.push(api_version);
        self
    }

    /// A proxy for another server, which answers requests without a fault.
    pub(crate) fn in_front_of(behind: impl Fn(&str) -> (u16, String) + Send + Sync + 'static) -> World {
        World { behind: Some(Arc::new(behind)), ..World::default() }
    }

    pub(crate) fn expire(mut self, times: usize) -> World {
        self.expire = times;
        self
    }

    pub(crate) fn start(self) -> Mock {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (world, requests) = (Arc::new(Mutex::new(self)), Arc::new(Mutex::new(Vec::new())));
        let (log, held) = (Arc::clone(&requests), Arc::clone(&world));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (world, log) = (Arc::clone(&world), Arc::clone(&log));
                thread::spawn(move || serve(&world, &log, stream));
            }
        });
        Mock { address, world: held, requests, folder: tempfile::tempdir().unwrap() }
    }

    /// Adds or updates an object.
    pub(crate) fn store(&mut self, object: Value) {
        let key =
            |one: &Value| (one["kind"].clone(), one["metadata"]["namespace"].clone(), one["metadata"]["name"].clone());
        let old = self.objects.iter().position(|one| key(one) == key(&object));
        match old {
            Some(at) => self.objects[at] = object.clone(),
            None => self.objects.push(object.clone()),
        }
        self.log.push((if old.is_some() { "MODIFIED" } else { "ADDED" }, object));
    }

    /// Removes the objects of a kind with this name.
    pub(crate) fn remove(&mut self, kind: &str, name: &str) {
        let is = |one: &Value| one["kind"] == kind && one["metadata"]["name"] == name;
        let gone: Vec<Value> = self.objects.iter().filter(|one| is(one)).cloned().collect();
        self.objects.retain(|one| !is(one));
        self.log.extend(gone.into_iter().map(|one| ("DELETED", one)));
    }

    /// An object of a kind.
    pub(crate) fn find(&self, kind: &str, name: &str) -> Value {
        let is = |one: &&Value| one["kind"] == kind && one["metadata"]["name"] == name;
        self.objects.iter().find(is).unwrap_or_else(|| panic!("no {kind} {name}")).clone()
    }

    /// Changes the dump of a pod.
    pub(crate) fn show(&mut self, pod: &str, dump: String) {
        self.dumps.insert(pod.to_owned(), dump);
    }

    /// Removes all faults.
    pub(crate) fn heal(&mut self) {
        self.rules.clear();
    }

    /// Accepts a write.
    fn write(&mut self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let path = path.split('?').next().unwrap();
        let mut object: Value = serde_json::from_str(body).unwrap_or_default();
        if method == "POST" {
            let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            if self.object(&format!("{path}/{name}")).0 == 200 {
                return status(409, "it is there already");
            }
            self.store(object.clone());
            return (201, object);
        }
        let (code, mut old) = self.object(path);
        // An apply creates what does not exist.
        if code == 404 && method == "PATCH" && object["apiVersion"].is_string() {
            self.store(object.clone());
            return (201, object);
        }
        if code != 200 {
            return (code, old);
        }
        if method == "PATCH" {
            for (key, value) in object.as_object().unwrap() {
                old[key] = value.clone();
            }
            object = old;
        } else {
            // A write based on an outdated object is rejected.
            if old["metadata"]["resourceVersion"] != object["metadata"]["resourceVersion"] {
                return status(409, "the object has been modified");
            }
            object["metadata"]["resourceVersion"] = (self.log.len() + 1).to_string().into();
        }
        self.store(object.clone());
        (200, object)
    }

    /// Changes of a kind after a version, one JSON per line, and the current version.
    fn since(&self, path: &str, version: usize) -> (String, usize) {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let field = query.split('&').find_map(|pair| pair.strip_prefix("fieldSelector=")).unwrap_or_default();
        let name = field.rsplit("%3D").next().unwrap_or_default();
        let mut only = World { objects: Vec::new(), ..World::default() };
        let mut text = String::new();
        for (what, object) in self.log.iter().skip(version) {
            only.objects = vec![object.clone()];
            let of_kind = only.object(path).1["items"].as_array().is_some_and(|items| items.len() == 1);
            if of_kind && (name.is_empty() || object["metadata"]["name"] == name) {
                text += &format!("{}\n", json!({"type": what, "object": object}));
            }
        }
        (text, self.log.len())
    }

    fn answer(&mut self, path: &str) -> (u16, String) {
        let (code, body) = match self.dump_of(path) {
            Some(dump) => return (200, dump),
            None => self.object(path),
        };
        (code, body.to_string())
    }

    /// The dump for a path of the pod proxy, returned unparsed; or the metrics of a pod, kept under `namespace/http:pod`.
    fn dump_of(&self, path: &str) -> Option<String> {
        let (namespace, pod) = path.strip_prefix("/api/v1/namespaces/")?.split_once("/pods/")?;
        let pod = pod.strip_suffix(":15000/proxy/config_dump").or_else(|| pod.strip_suffix(":8080/proxy/metrics"))?;
        self.dumps.get(&format!("{namespace}/{pod}")).cloned()
    }

    fn object(&mut self, path: &str) -> (u16, Value) {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let query: BTreeMap<&str, &str> = query.split('&').filter_map(|pair| pair.split_once('=')).collect();
        if path == "/version" {
            return (200, json!({"gitVersion": "v1.36.3"}));
        }
        let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        let (api_version, rest) = match parts.as_slice() {
            ["api", version, rest @ ..] => ((*version).to_owned(), rest),
            ["apis", group, version, rest @ ..] => (format!("{group}/{version}"), rest),
            _ => return status(404, "no such path"),
        };
        let (namespace, plural, name) = match rest {
            ["namespaces", namespace, plural, rest @ ..] => (Some(*namespace), *plural, rest.first().copied()),
            [plural, rest @ ..] => (None, *plural, rest.first().copied()),
            [] if self.serving.contains(&api_version.as_str()) => {
                let resource = |name: &str| json!({"name": name, "namespaced": !name.starts_with("cluster")});
                return (200, json!({"resources": [resource("policyreports"), resource("clusterpolicyreports")]}));
            }
            [] => return status(404, "no such path"),
        };
        if rest.len() > 4 && plural == "pods" {
            return status(400, "this server upgrades nothing");
        }
        let text = |object: &Value, keys: &[&str]| {
            let value = keys.iter().try_fold(object, |value, key| value.get(key));
            value.and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let of_kind = |object: &&Value| {
            text(object, &["apiVersion"]) == api_version
                && plural_of(&text(object, &["kind"])) == plural
                && namespace.is_none_or(|namespace| text(object, &["metadata", "namespace"]) == namespace)
        };
        if let Some(name) = name {
            let called = |object: &&Value| text(object, &["metadata", "name"]) == name;
            let found = self.objects.iter().filter(of_kind).find(called);
            return found.map_or_else(|| status(404, "not found"), |object| (200, object.clone()));
        }
        let known = [
            "v1",
            "networking.istio.io/v1alpha3",
            "networking.istio.io/v1beta1",
            "extensions.istio.io/v1alpha1",
            "apps/v1",
            "coordination.k8s.io/v1",
            "gateway.networking.k8s.io/v1",
            "security.istio.io/v1beta1",
            "telemetry.istio.io/v1",
            "extensions.istio.io/v1alpha1",
            "discovery.k8s.io/v1",
            "networking.k8s.io/v1",
            "admissionregistration.k8s.io/v1",
        ];
        if !known.contains(&api_version.as_str()) && !self.serving.contains(&api_version.as_str()) {
            return status(404, "the server could not find the requested resource");
        }
        let labels = query
            .get("labelSelector")
            .copied()
            .unwrap_or_default()
            .replace("%3D", "=")
            .replace("%2C", ",")
            .replace("%2F", "/");
        let selected = |object: &&Value| {
            labels.split(',').all(|label| match label.split_once('=') {
                Some((key, value)) => text(object, &["metadata", "labels", key]) == value,
                None => label.is_empty(),
            })
        };
        let all: Vec<&Value> = self.objects.iter().filter(of_kind).filter(selected).collect();
        let start: usize = query.get("continue").map_or(0, |token| token.parse().unwrap());
        if start > 0 && self.expire > 0 {
            self.expire -= 1;
            return status(410, "the provided continue parameter is too old");
        }
        let end = all.len().min(start + query.get("limit").map_or(usize::MAX, |limit| limit.parse().unwrap()));
        let next = if end < all.len() { end.to_string() } else { String::new() };
        let items: Vec<Value> = all[start.min(end)..end].iter().map(|object| (*object).clone()).collect();
        let field = query.get("fieldSelector").copied().unwrap_or_default();
        let wanted = field.rsplit("%3D").next().unwrap_or_default();
        let items: Vec<Value> =
            items.into_iter().filter(|one| wanted.is_empty() || one["metadata"]["name"] == wanted).collect();
        let metadata = json!({"continue": next, "resourceVersion": self.log.len().to_string()});
        (200, json!({"kind": "List", "apiVersion": api_version, "metadata": metadata, "items": items}))
    }
}

fn plural_of(kind: &str) -> String {
    match kind.strip_suffix('y') {
        Some(stem) if stem.ends_with(['c', 'r']) => format!("{}ies", stem.to_lowercase()),
        None if kind.ends_with("ss") => format!("{}es", kind.to_lowercase()),
        _ => format!("{}s", kind.to_lowercase()),
    }
}

fn status(code: u16, message: &str) -> (u16, Value) {
    (code, json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "message": message}))
}

fn text((code, body): (u16, Value)) -> (u16, String) {
    (code, body.to_string())
}

fn serve(world: &Mutex<World>, log: &Mutex<Vec<Request>>, stream: TcpStream) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    if reader.read_line(&mut line).unwrap_or(0) == 0 {
        return;
    }
    let method = line.split(' ').next().unwrap_or_default().to_owned();
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header).unwrap_or(0) == 0 || header.trim().is_empty() {
            break;
        }
        headers.push(header.trim().to_owned());
    }
    let length = headers.iter().find_map(|header: &String| {
        let (key, value) = header.split_once(':')?;
        key.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().unwrap())
    });
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).unwrap();
    let body = String::from_utf8(body).unwrap();
    log.lock().unwrap().push(Request { path: path.clone(), headers });
    let fault = {
        let mut world = world.lock().unwrap();
        let rule = world.rules.iter_mut().find(|rule| rule.times > 0 && path.starts_with(&rule.path));
        rule.map(|rule| {
            rule.times -= 1;
            rule.fault.clone()
        })
    };
    let mut extra = String::new();
    let (code, body) = match fault {
        Some(Fault::Reset) => return,
        Some(Fault::Hang) => {
            thread::sleep(Duration::from_secs(60));
            return;
        }
        Some(Fault::Status(code, message)) => text(status(code, message)),
        Some(Fault::Later(code, seconds)) => {
            extra = format!("retry-after: {seconds}\r\n");
            text(status(code, "too many requests"))
        }
        None if method != "GET" => text(world.lock().unwrap().write(&method, &path, &body)),
        None if path.contains("watch=true") => return follow(world, &path, stream),
        None => {
            let behind = world.lock().unwrap().behind.clone();
            behind.map_or_else(|| world.lock().unwrap().answer(&path), |behind| behind(&path))
        }
    };
    let mut stream = stream;
    let _ = write!(
        stream,
        "HTTP/1.1 {code} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n{extra}connection: close\r\n\r\n{body}",
        body.len()
    );
}

/// Sends changes until nobody listens.
fn follow(world: &Mutex<World>, path: &str, mut stream: TcpStream) {
    let query = path.split_once('?').map_or("", |(_, query)| query);
    let version = query.split('&').find_map(|pair| pair.strip_prefix("resourceVersion="));
    let mut version: usize = version.and_then(|text| text.parse().ok()).unwrap_or(0);
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n";
    if stream.write_all(head.as_bytes()).and_then(|()| stream.flush()).is_err() {
        return;
    }
    loop {
        let (text, now) = world.lock().unwrap().since(path, version);
        version = now;
        if !text.is_empty() && stream.write_all(text.as_bytes()).and_then(|()| stream.flush()).is_err() {
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

impl Mock {
    /// Changes the state while the server runs.
    pub(crate) fn change(&self, change: impl FnOnce(&mut World)) {
        change(&mut self.world.lock().unwrap());
    }

    /// The objects of a kind.
    pub(crate) fn objects(&self, kind: &str) -> Vec<Value> {
        let world = self.world.lock().unwrap();
        world.objects.iter().filter(|one| one["kind"] == kind).cloned().collect()
    }

    /// A kubeconfig for this server, whose contexts `mock` and `other` have this namespace.
    pub(crate) fn kubeconfig(&self, namespace: &str) -> PathBuf {
        let path = self.folder.path().join("config");
        let text = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: mock\nclusters: [{{name: c, cluster: {{server: \"http://{}\"}}}}]\n\
             users: [{{name: u, user: {{token: canary-token}}}}]\n\
             contexts: [{{name: mock, context: {{cluster: c, user: u, namespace: {namespace}}}}}, \
             {{name: other, context: {{cluster: c, user: u, namespace: {namespace}}}}}]\n",
            self.address
        );
        std::fs::write(&path, text).unwrap();
        path
    }

    /// The requests so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// Their paths without query strings, sorted and unique.
    pub(crate) fn paths(&self) -> Vec<String> {
        let mut paths: Vec<String> =
            self.requests().iter().map(|request| request.path.split('?').next().unwrap().to_owned()).collect();
        paths.sort();
        paths.dedup();
        paths
    }
}
