//! An istiod of an older release that does not know a value of an EnvoyFilter, which a newer definition accepts.

use super::Cluster;
use crate::bottle;
use serde_json::{Value, json};
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const FILTERS: &str = "/apis/networking.istio.io/v1alpha3/namespaces/shop/envoyfilters";

/// The API of Istio 1.31 has it, that of 1.30 does not.
const NEW: &str = "MERGE_AND_REPLACE_LIST";

/// An istiod that reads a cluster; it ends with this value.
struct Istiod {
    process: Child,
    http: u16,
    log: PathBuf,
}

impl Istiod {
    fn start(program: &Path, cluster: &Cluster, name: &str) -> Istiod {
        let free = [0; 3].map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
        let [http, grpc, monitoring] = free.map(|one| one.local_addr().unwrap().port());
        let log = cluster.folder.path().join(name);
        let process = Command::new(program)
            .arg("discovery")
            .arg("--kubeconfig")
            .arg(cluster.kubeconfig("admin", "istio-system"))
            .args(["--httpAddr", &format!("127.0.0.1:{http}"), "--grpcAddr", &format!("127.0.0.1:{grpc}")])
            .args(["--monitoringAddr", &format!("127.0.0.1:{monitoring}"), "--httpsAddr", "", "--secureGRPCAddr", ""])
            .args(["--ctrlz_port", "0", "--shutdownDuration", "0s", "--clusterID", "Kubernetes"])
            .args(["--namespace", "istio-system", "--log_output_level", "all:warn", "--log_target", "stderr"])
            .env("POD_NAMESPACE", "istio-system")
            .env("CLUSTER_ID", "Kubernetes")
            .env("REVISION", "default")
            .env("UNSAFE_ENABLE_ADMIN_ENDPOINTS", "true")
            .env("ENABLE_CA_SERVER", "false")
            .envs([("VALIDATION_WEBHOOK_CONFIG_NAME", ""), ("INJECTION_WEBHOOK_CONFIG_NAME", "")])
            .current_dir(cluster.folder.path())
            .stdout(Stdio::null())
            .stderr(fs::File::create(&log).unwrap())
            .spawn()
            .unwrap();
        Istiod { process, http, log }
    }

    /// Status and body, once it listens.
    fn get(&self, path: &str) -> Option<(u16, String)> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.http)).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        write!(stream, "GET {path} HTTP/1.0\r\n\r\n").ok()?;
        let mut said = String::new();
        stream.read_to_string(&mut said).ok()?;
        let status = said.split(' ').nth(1)?.parse().ok()?;
        Some((status, said.split_once("\r\n\r\n")?.1.to_owned()))
    }

    fn is_ready(&self) -> bool {
        self.get("/ready").is_some_and(|(status, _)| status == 200)
    }

    /// Whether its configuration contains a text.
    fn holds(&self, text: &str) -> bool {
        self.config().is_some_and(|config| config.contains(text))
    }

    /// What it has read.
    fn config(&self) -> Option<String> {
        self.get("/debug/configz").filter(|(status, _)| *status == 200).map(|(_, body)| body)
    }

    /// The timeouts of filters that it has read.
    fn timeouts(&self) -> Vec<&'static str> {
        let config = self.config().expect("istiod tells its configuration");
        ["11s", "22s", "33s", "44s"].into_iter().filter(|timeout| config.contains(timeout)).collect()
    }

    /// How often it could not read the EnvoyFilters.
    fn failures(&self) -> usize {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        log.lines().filter(|line| line.contains("EnvoyFilter: unknown value") && line.contains(NEW)).count()
    }

    /// It lists again after pauses that grow to half a minute.
    fn wait(&self, what: &str, so: impl Fn(&Istiod) -> bool) {
        let began = Instant::now();
        while !so(self) {
            let late = began.elapsed() > Duration::from_secs(120);
            assert!(!late, "{what}: {}", fs::read_to_string(&self.log).unwrap_or_default());
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Istiod {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn filter(name: &str, operation: &str, timeout: &str) -> Value {
    json!({
        "apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"configPatches": [{
            "applyTo": "CLUSTER",
            "match": {"context": "SIDECAR_OUTBOUND"},
            "patch": {"operation": operation, "value": {"connect_timeout": timeout}},
        }]},
    })
}

/// EF030, EF607 and `explain` say so.
#[test]
#[ignore = "needs Go: .ci/run"]
fn an_unknown_value_keeps_an_older_istiod_from_reading_any_filter() {
    let program = bottle::istiod("1.30");
    // A separate cluster, since istiod reads all of it; its definitions are those of the newest release.
    let cluster = Cluster::start();
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
    cluster.create(&[namespace, filter("before", "MERGE", "11s")]);
    let istiod = Istiod::start(&program, &cluster, "istiod-1");
    istiod.wait("start", |one| one.is_ready() && one.holds("11s"));

    cluster.create(&[filter("new", NEW, "33s")]);
    istiod.wait("the new filter", |one| one.failures() > 0);
    let change = json!({"spec": filter("before", "MERGE", "22s")["spec"]});
    cluster.send("PATCH", &format!("{FILTERS}/before"), "application/merge-patch+json", &change).unwrap();
    let egress = json!({
        "apiVersion": "networking.istio.io/v1", "kind": "Sidecar", "metadata": {"name": "marker", "namespace": "shop"},
        "spec": {"egress": [{"hosts": ["istio-system/*"]}]},
    });
    cluster.create(&[filter("after", "MERGE", "44s"), egress]);
    // It goes on reading what is not an EnvoyFilter, and tries those again.
    let before = istiod.failures();
    istiod.wait("other kinds", |one| one.holds("marker") && one.failures() > before);
    assert_eq!(istiod.timeouts(), ["11s"]);

    drop(istiod);
    let istiod = Istiod::start(&program, &cluster, "istiod-2");
    istiod.wait("restart", |one| one.failures() >= 3);
    assert_eq!(istiod.get("/ready").map(|(status, _)| status), Some(503));
    assert_eq!(istiod.timeouts(), [""; 0]);

    cluster.send("DELETE", &format!("{FILTERS}/new"), "application/json", &Value::Null).unwrap();
    istiod.wait("deletion", |one| one.is_ready() && one.timeouts() == ["22s", "44s"]);
}
