//! The server as a process, and a proxy in front of it.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// A running `webhook serve`.
pub(super) struct Server {
    child: Child,
    /// The address for reviews.
    pub(super) address: SocketAddr,
    /// The address for Prometheus.
    pub(super) aside: SocketAddr,
    /// The address for the kubelet.
    pub(super) probes: SocketAddr,
    log: Arc<Mutex<Vec<Value>>>,
}

impl Server {
    /// Starts one and waits until it is ready.
    pub(super) fn start(kubeconfig: &Path, arguments: &[&str]) -> Server {
        let mut child = Command::new(env!("CARGO_BIN_EXE_kubectl-envoyfilter"))
            .args(["webhook", "serve", "--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"])
            .args(["--probe-listen", "127.0.0.1:0"])
            .args(["--shutdown-delay", "500ms"])
            .args(arguments)
            .env("KUBECONFIG", kubeconfig)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = Arc::new(Mutex::new(Vec::new()));
        let (lines, kept) = (BufReader::new(child.stderr.take().unwrap()), Arc::clone(&log));
        thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                let line = serde_json::from_str(&line).unwrap_or_else(|_| Value::String(line));
                kept.lock().unwrap().push(line);
            }
        });
        let address = |message: &str| {
            let found = wait(Duration::from_secs(60), || {
                let log = log.lock().unwrap();
                let line = log.iter().find(|line| line["message"] == message)?;
                line["address"].as_str()?.parse().ok()
            });
            found.unwrap_or_else(|| panic!("no `{message}`: {:?}", log.lock().unwrap()))
        };
        let (aside, probes, address) = (address("metrics"), address("probes"), address("listening"));
        let server = Server { child, address, aside, probes, log };
        let ready = wait(Duration::from_secs(60), || (server.get("/readyz").0 == 200).then_some(()));
        assert!(ready.is_some(), "not ready: {:?}\n{:?}", server.get("/readyz"), server.lines());
        server
    }

    /// Gets a path of the plain listener: status and body.
    pub(super) fn get(&self, path: &str) -> (u16, String) {
        let place = if path == "/metrics" { self.aside } else { self.probes };
        let Ok(mut stream) = TcpStream::connect(place) else { return (0, String::new()) };
        let _ = write!(stream, "GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        let mut text = String::new();
        let _ = stream.read_to_string(&mut text);
        let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
        (status, text.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default())
    }

    /// The value of a metric whose line has this prefix.
    pub(super) fn metric(&self, start: &str) -> f64 {
        let (_, text) = self.get("/metrics");
        let line = text.lines().find(|line| line.starts_with(start));
        line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or(0.0)
    }

    /// What it logged.
    pub(super) fn lines(&self) -> Vec<Value> {
        self.log.lock().unwrap().clone()
    }

    /// Resident memory, in KiB.
    pub(super) fn memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// Sends SIGTERM and waits for the end; returns whether it ended successfully.
    pub(super) fn terminate(mut self) -> bool {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        self.child.wait().unwrap().success()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Retries until there is an answer.
pub(super) fn wait<T>(longest: Duration, mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let began = Instant::now();
    loop {
        let answer = ask();
        if answer.is_some() || began.elapsed() > longest {
            return answer;
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// A proxy in front of some servers, like a Service: a connection goes to the first that accepts it.
pub(super) struct Front {
    pub(super) address: SocketAddr,
    backends: Arc<Mutex<Vec<SocketAddr>>>,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Front {
    pub(super) fn new(backends: &[SocketAddr]) -> Front {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let front = Front {
            address: listener.local_addr().unwrap(),
            backends: Arc::new(Mutex::new(backends.to_vec())),
            open: Arc::default(),
        };
        let (backends, open) = (Arc::clone(&front.backends), Arc::clone(&front.open));
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let backends = backends.lock().unwrap().clone();
                let Some(server) = backends.iter().find_map(|backend| TcpStream::connect(backend).ok()) else {
                    continue;
                };
                open.lock().unwrap().extend([client.try_clone().unwrap(), server.try_clone().unwrap()]);
                for (mut from, mut to) in [(client.try_clone().unwrap(), server.try_clone().unwrap()), (server, client)]
                {
                    thread::spawn(move || {
                        let _ = std::io::copy(&mut from, &mut to);
                        let _ = to.shutdown(Shutdown::Write);
                    });
                }
            }
        });
        front
    }

    /// Sets the servers for new connections.
    pub(super) fn lead_to(&self, backends: &[SocketAddr]) {
        *self.backends.lock().unwrap() = backends.to_vec();
    }

    /// Closes every open connection.
    pub(super) fn cut(&self) {
        for stream in self.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}
