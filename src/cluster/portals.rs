//! The ways from the API server to a proxy's configuration.

use super::api::{Cluster, Fault, fault};
use super::http1;
use super::kinds::quoted;
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::AttachParams;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

/// Envoy's admin port in Istio's proxies.
const ADMIN: u16 = 15000;
/// istiod's port for monitoring and debugging, which istioctl asks too.
const ISTIOD: u16 = 15014;
/// The container that runs the proxy.
const CONTAINER: &str = "istio-proxy";
/// The largest dump that is taken, in bytes.
const LARGEST: usize = 1 << 30;

/// A way to a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Via {
    /// Port-forward to Envoy's admin port.
    PortForward,
    /// `pilot-agent request GET config_dump` inside the proxy's container.
    Exec,
    /// The API server's own proxy to the pod; only an admin port that listens on the pod's address answers.
    PodProxy,
    /// Port-forward to istiod and its `/debug/config_dump`: what it would send now, without what the proxy refused. From
    /// 1.28.4 and 1.29 on these endpoints ask strangers for their rights; a port-forward comes from the local host, which
    /// no release asks (`pilot/pkg/xds/debug.go`, `allowAuthenticatedOrLocalhost`).
    Istiod,
}

impl Via {
    /// Every way, in the order they are tried.
    pub const ALL: [Via; 4] = [Via::PortForward, Via::Exec, Via::PodProxy, Via::Istiod];

    /// The word on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Via::PortForward => "port-forward",
            Via::Exec => "exec",
            Via::PodProxy => "pod-proxy",
            Via::Istiod => "istiod",
        }
    }

    /// The subresource of pods and the verbs it needs. Since Kubernetes 1.35 a port-forward or exec over WebSocket needs
    /// `create` like one over SPDY; before, `get`.
    pub const fn permission(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Via::PortForward | Via::Istiod => ("pods/portforward", &["get", "create"]),
            Via::Exec => ("pods/exec", &["get", "create"]),
            Via::PodProxy => ("pods/proxy", &["get"]),
        }
    }
}

/// Which ways are still worth trying; one that is not allowed for one pod is not tried for the next thousand.
#[derive(Debug)]
pub(super) struct Ways {
    forced: Option<Via>,
    closed: AtomicU8,
    /// Namespaces and names of istiod's pods. A proxy is known to the one that it is connected to.
    istiods: Vec<(String, String)>,
}

impl Ways {
    pub(super) fn new(forced: Option<Via>, istiods: Vec<(String, String)>) -> Ways {
        Ways { forced, closed: AtomicU8::new(0), istiods }
    }

    fn open(&self) -> Vec<Via> {
        let closed = self.closed.load(Ordering::Relaxed);
        if let Some(via) = self.forced {
            return vec![via];
        }
        let known = |via: &Via| *via != Via::Istiod || !self.istiods.is_empty();
        Via::ALL.into_iter().filter(known).filter(|via| closed & (1 << *via as u8) == 0).collect()
    }

    fn close(&self, via: Via) {
        self.closed.fetch_or(1 << via as u8, Ordering::Relaxed);
    }
}

/// Reads a proxy's dump by the first way that leads there. Fails with a reason for each way.
pub(super) async fn config_dump(
    cluster: &Cluster,
    namespace: &str,
    pod: &str,
    ways: &Ways,
) -> Result<(String, Via), Vec<String>> {
    let mut reasons = Vec::new();
    let open = ways.open();
    if open.is_empty() {
        reasons.push("no way to a proxy is allowed".to_owned());
    }
    for via in open {
        cluster.count_request();
        let read = async {
            match via {
                Via::PortForward => port_forward(cluster, namespace, pod, ADMIN, "/config_dump").await,
                Via::Exec => exec(cluster, namespace, pod).await,
                Via::PodProxy => pod_proxy(cluster, namespace, pod).await,
                Via::Istiod => istiod(cluster, &ways.istiods, namespace, pod).await,
            }
        };
        let answer = tokio::select! {
            () = cluster.stop().wait() => return Err(vec![Fault::Interrupted.to_string()]),
            answer = read => answer,
        };
        match answer.and_then(|bytes| String::from_utf8(bytes).map_err(|_| Fault::Garbled("not UTF-8".to_owned()))) {
            Ok(text) => return Ok((text, via)),
            Err(fault) => {
                if matches!(fault, Fault::NotAllowed(_)) {
                    ways.close(via);
                }
                reasons.push(format!("{}: {fault}", via.word()));
            }
        }
    }
    Err(reasons)
}

async fn port_forward(cluster: &Cluster, namespace: &str, pod: &str, port: u16, path: &str) -> Result<Vec<u8>, Fault> {
    let pods: Api<Pod> = Api::namespaced(cluster.client.clone(), namespace);
    let mut forwarder =
        within(cluster.timeout, pods.portforward(pod, &[port])).await?.map_err(|error| fault(&error))?;
    let error = forwarder.take_error(port);
    let broken = |words: &str| Fault::Connection(words.to_owned());
    let mut stream = forwarder.take_stream(port).ok_or_else(|| broken("no stream"))?;
    let read = async {
        let request = http1::request(path);
        stream.write_all(request.as_bytes()).await.map_err(|error| broken(&error.to_string()))?;
        collect(&mut stream, cluster.timeout, |bytes| bytes.ends_with(b"\r\n0\r\n\r\n")).await
    };
    let answer = read.await;
    let read = match answer {
        Ok(bytes) if !bytes.is_empty() => Ok(bytes),
        // The reason comes beside the stream.
        other => match error {
            Some(error) => match timeout(Duration::from_secs(1), error).await {
                Ok(Some(words)) => Err(broken(words.lines().next().unwrap_or_default())),
                _ => other,
            },
            None => other,
        },
    };
    forwarder.abort();
    read.and_then(|bytes| http1::body(bytes).map_err(Fault::Garbled))
}

/// Asks each istiod until one knows the proxy.
async fn istiod(cluster: &Cluster, istiods: &[(String, String)], namespace: &str, pod: &str) -> Result<Vec<u8>, Fault> {
    let mut last = Fault::NotFound("no pod of istiod is known".to_owned());
    let path = format!("/debug/config_dump?proxyID={}.{}", quoted(pod), quoted(namespace));
    for (istio_namespace, istiod) in istiods {
        match port_forward(cluster, istio_namespace, istiod, ISTIOD, &path).await {
            Ok(dump) => return Ok(dump),
            Err(fault @ Fault::NotAllowed(_)) => return Err(fault),
            Err(fault) => last = fault,
        }
    }
    Err(last)
}

async fn exec(cluster: &Cluster, namespace: &str, pod: &str) -> Result<Vec<u8>, Fault> {
    let pods: Api<Pod> = Api::namespaced(cluster.client.clone(), namespace);
    let parameters = AttachParams::default().container(CONTAINER).stdin(false).stdout(true).stderr(true);
    let command = ["pilot-agent", "request", "GET", "config_dump"];
    let mut process =
        within(cluster.timeout, pods.exec(pod, command, &parameters)).await?.map_err(|error| fault(&error))?;
    let (stdout, stderr, status) = (process.stdout(), process.stderr(), process.take_status());
    let missing = || Fault::Connection("no stream".to_owned());
    let (mut stdout, mut stderr) = (stdout.ok_or_else(missing)?, stderr.ok_or_else(missing)?);
    let (said, complaints) = tokio::join!(
        collect(&mut stdout, cluster.timeout, |_| false),
        collect(&mut stderr, cluster.timeout, |_| false)
    );
    let said = said?;
    let status = match status {
        Some(status) => timeout(cluster.timeout, status).await.ok().flatten(),
        None => None,
    };
    process.abort();
    let failed = status.as_ref().is_some_and(|status| status.status.as_deref() == Some("Failure"));
    if failed || said.is_empty() {
        let complaints = complaints.unwrap_or_default();
        let complaints = String::from_utf8_lossy(&complaints);
        let words = complaints.lines().find(|line| !line.trim().is_empty()).map(str::trim);
        let message = status.and_then(|status| status.message);
        let words = words.map(str::to_owned).or(message).unwrap_or_else(|| "it says nothing".to_owned());
        return Err(Fault::Garbled(format!("pilot-agent: {words}")));
    }
    Ok(said)
}

async fn pod_proxy(cluster: &Cluster, namespace: &str, pod: &str) -> Result<Vec<u8>, Fault> {
    let path = format!("/api/v1/namespaces/{}/pods/{}:{ADMIN}/proxy/config_dump", quoted(namespace), quoted(pod));
    cluster.get(&path, false).await.map(String::into_bytes)
}

async fn within<T>(limit: Duration, work: impl Future<Output = T>) -> Result<T, Fault> {
    timeout(limit, work).await.map_err(|_| Fault::TimedOut(limit))
}

/// Reads to the end, or to what is known to be the end. A large dump may take long, but not stand still.
async fn collect(
    stream: &mut (impl AsyncRead + Unpin),
    limit: Duration,
    end: impl Fn(&[u8]) -> bool,
) -> Result<Vec<u8>, Fault> {
    let mut bytes = Vec::with_capacity(1 << 16);
    loop {
        match within(limit, stream.read_buf(&mut bytes)).await? {
            Ok(0) => return Ok(bytes),
            Ok(_) if end(&bytes) => return Ok(bytes),
            Ok(_) if bytes.len() > LARGEST => {
                return Err(Fault::Garbled(format!("the dump is larger than {} MiB", LARGEST >> 20)));
            }
            Ok(_) => {}
            Err(error) => return Err(Fault::Connection(error.to_string())),
        }
    }
}
