//! The ways from the API server to a proxy's config dump.

use super::api::{Cluster, Fault, fault};
use super::http1;
use super::kinds::quoted;
use super::limits::Limits;
use super::via::Via;
use crate::source::escape;
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::AttachParams;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::{Instant, timeout};

/// Envoy's admin port in Istio's proxies.
const ADMIN: u16 = 15000;
/// istiod's port for monitoring and debugging, which istioctl uses too.
const ISTIOD: u16 = 15014;
/// The container that runs the proxy.
const CONTAINER: &str = "istio-proxy";
/// Maximum number of proxies that do not answer on a way that never worked. Without a limit, a thousand silent proxies take
/// hours.
const SILENT: usize = 8;
/// How long the reason for a broken port-forward may take.
const WORDS: Duration = Duration::from_secs(1);

/// The ways that are still worth trying: one that is forbidden or never answers is not tried for the next thousand proxies.
#[derive(Debug)]
pub(super) struct Ways {
    forced: Option<Via>,
    forbidden: AtomicU8,
    /// For each way: how many proxies did not answer in time, and how many did.
    silent: [AtomicUsize; 4],
    answered: [AtomicUsize; 4],
    /// Namespaces and names of istiod's pods. Only the one that a proxy is connected to knows it.
    istiods: Vec<(String, String)>,
}

impl Ways {
    pub(super) fn new(forced: Option<Via>, istiods: Vec<(String, String)>) -> Ways {
        let (silent, answered) = Default::default();
        Ways { forced, forbidden: AtomicU8::new(0), silent, answered, istiods }
    }

    /// The ways to try, and why others are not tried.
    fn open(&self) -> (Vec<Via>, Vec<String>) {
        let forbidden = self.forbidden.load(Ordering::Relaxed);
        let mut not_tried = Vec::new();
        let ways = Via::ALL.into_iter().filter(|&via| {
            let wanted = self.forced.is_none_or(|forced| forced == via);
            if !wanted || (via == Via::Istiod && self.istiods.is_empty() && self.forced.is_none()) {
                return false;
            }
            if forbidden & (1 << via as u8) != 0 {
                not_tried.push(format!("{}: not allowed", via.as_str()));
                return false;
            }
            let silent = self.silent[via as usize].load(Ordering::Relaxed);
            if silent >= SILENT && self.answered[via as usize].load(Ordering::Relaxed) == 0 {
                not_tried.push(format!("{}: not tried, because {SILENT} other proxies did not answer", via.as_str()));
                return false;
            }
            true
        });
        (ways.collect(), not_tried)
    }

    fn count(&self, via: Via, answer: Result<(), &Fault>) {
        match answer {
            Ok(()) => {
                self.answered[via as usize].fetch_add(1, Ordering::Relaxed);
            }
            Err(Fault::TimedOut(_) | Fault::TooSlow(_)) => {
                self.silent[via as usize].fetch_add(1, Ordering::Relaxed);
            }
            Err(Fault::NotAllowed(_)) => {
                self.forbidden.fetch_or(1 << via as u8, Ordering::Relaxed);
            }
            Err(_) => {}
        }
    }
}

/// Why a proxy could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NoAnswer {
    /// A reason for each way.
    pub reasons: Vec<String>,
    /// Whether a way is not allowed, so that another role may help.
    pub forbidden: bool,
}

/// Reads a proxy's config dump by the first way that works, within one time limit for all ways. Fails with a reason for each
/// way.
pub(super) async fn config_dump(
    cluster: &Cluster,
    namespace: &str,
    pod: &str,
    ways: &Ways,
    end: Instant,
) -> Result<(String, Via), NoAnswer> {
    let (open, mut reasons) = ways.open();
    let mut forbidden = ways.forbidden.load(Ordering::Relaxed) != 0;
    if open.is_empty() && reasons.is_empty() {
        reasons.push("it cannot be read in any way".to_owned());
    }
    for (index, &via) in open.iter().enumerate() {
        if index > 0 && Instant::now() >= end {
            reasons.push(format!("{}: not tried, because no time was left", via.as_str()));
            continue;
        }
        cluster.count_request();
        let limits = Limits::until(end, cluster.proxy_timeout, open.len() - index);
        let read = async {
            match via {
                Via::PortForward => port_forward(cluster, namespace, pod, ADMIN, "/config_dump", limits).await,
                Via::Exec => exec(cluster, namespace, pod, limits).await,
                Via::PodProxy => pod_proxy(cluster, namespace, pod, limits).await,
                Via::Istiod => istiod(cluster, &ways.istiods, namespace, pod, limits).await,
            }
        };
        let answer = tokio::select! {
            () = cluster.stop().wait() => {
                return Err(NoAnswer { reasons: vec![Fault::Interrupted.to_string()], forbidden: false });
            }
            answer = read => answer,
        };
        ways.count(via, answer.as_ref().map(|_| ()));
        match answer.and_then(dump_text) {
            Ok(text) => return Ok((text, via)),
            Err(fault) => {
                forbidden |= matches!(fault, Fault::NotAllowed(_));
                reasons.push(format!("{}: {fault}", via.as_str()));
            }
        }
    }
    Err(NoAnswer { reasons, forbidden })
}

/// The text of a dump. Not every way passes on Envoy's status: `pilot-agent` may print the body of an error and succeed.
fn dump_text(answer: Vec<u8>) -> Result<String, Fault> {
    const SHOWN: usize = 80;
    let text = String::from_utf8(answer).map_err(|_| Fault::Garbled("it is not UTF-8".to_owned()))?;
    if text.trim_start().starts_with('{') {
        return Ok(text);
    }
    let line: String = text.lines().next().unwrap_or_default().trim().chars().take(SHOWN).collect();
    Err(Fault::Garbled(format!("it is not a config dump: {}", escape::one_line(&line))))
}

async fn port_forward(
    cluster: &Cluster,
    namespace: &str,
    pod: &str,
    port: u16,
    path: &str,
    limits: Limits,
) -> Result<Vec<u8>, Fault> {
    let pods: Api<Pod> = Api::namespaced(cluster.client.clone(), namespace);
    let mut forwarder = limits.first(pods.portforward(pod, &[port])).await?.map_err(|error| fault(&error))?;
    let error = forwarder.take_error(port);
    let stream = forwarder.take_stream(port).ok_or_else(|| Fault::Connection("no stream".to_owned()))?;
    let answer = http1::get(stream, path, limits).await;
    let answer = match (answer, error) {
        // The reason arrives separately from the stream.
        (Err(broken @ Fault::Connection(_)), Some(error)) => match timeout(WORDS, error).await {
            Ok(Some(words)) => Err(Fault::Connection(words.lines().next().unwrap_or_default().to_owned())),
            _ => Err(broken),
        },
        (answer, _) => answer,
    };
    forwarder.abort();
    answer
}

/// Asks each istiod until one knows the proxy.
async fn istiod(
    cluster: &Cluster,
    istiods: &[(String, String)],
    namespace: &str,
    pod: &str,
    limits: Limits,
) -> Result<Vec<u8>, Fault> {
    let (mut last, mut refused) = (None, None);
    let path = format!("/debug/config_dump?proxyID={}.{}", quoted(pod), quoted(namespace));
    for (istio_namespace, istiod) in istiods {
        match port_forward(cluster, istio_namespace, istiod, ISTIOD, &path, limits).await {
            Ok(dump) => return Ok(dump),
            Err(fault @ (Fault::TimedOut(_) | Fault::TooSlow(_))) => return Err(fault),
            // Rights may be for the control plane of one namespace; what it answers says more.
            Err(Fault::NotAllowed(reason)) => refused = Some(Fault::NotAllowed(reason)),
            Err(fault) => last = Some(fault),
        }
    }
    Err(match (last, refused) {
        (Some(last), Some(refused)) => Fault::NotFound(format!("{last}; another istiod: {refused}")),
        (last, refused) => last.or(refused).unwrap_or_else(|| Fault::NotFound("no istiod pod is known".to_owned())),
    })
}

async fn exec(cluster: &Cluster, namespace: &str, pod: &str, limits: Limits) -> Result<Vec<u8>, Fault> {
    let pods: Api<Pod> = Api::namespaced(cluster.client.clone(), namespace);
    let parameters = AttachParams::default().container(CONTAINER).stdin(false).stdout(true).stderr(true);
    let command = ["pilot-agent", "request", "GET", "config_dump"];
    let mut process = limits.first(pods.exec(pod, command, &parameters)).await?.map_err(|error| fault(&error))?;
    let (stdout, stderr, status) = (process.stdout(), process.stderr(), process.take_status());
    let missing = || Fault::Connection("no stream".to_owned());
    let (mut stdout, mut stderr) = (stdout.ok_or_else(missing)?, stderr.ok_or_else(missing)?);
    let (said, complaints) = tokio::join!(collect(&mut stdout, limits), collect(&mut stderr, limits));
    let said = said?;
    let status = match status {
        Some(status) => limits.rest(status).await.ok().flatten(),
        None => None,
    };
    process.abort();
    let failed = status.as_ref().is_some_and(|status| status.status.as_deref() == Some("Failure"));
    if failed || said.is_empty() {
        let complaints = complaints.unwrap_or_default();
        let complaints = String::from_utf8_lossy(&complaints);
        let words = complaints.lines().find(|line| !line.trim().is_empty()).map(str::trim);
        let message = status.and_then(|status| status.message);
        let words = words.map(str::to_owned).or(message).unwrap_or_else(|| "no output".to_owned());
        return Err(Fault::Garbled(format!("pilot-agent: {words}")));
    }
    Ok(said)
}

async fn pod_proxy(cluster: &Cluster, namespace: &str, pod: &str, limits: Limits) -> Result<Vec<u8>, Fault> {
    let path = format!("/api/v1/namespaces/{}/pods/{}:{ADMIN}/proxy/config_dump", quoted(namespace), quoted(pod));
    limits.rest(cluster.get(&path, false)).await?.map(String::into_bytes)
}

/// Reads to the end: the first bytes within the limit for this way, everything within the limit for the proxy.
async fn collect(stream: &mut (impl AsyncRead + Unpin), limits: Limits) -> Result<Vec<u8>, Fault> {
    let mut bytes = Vec::with_capacity(1 << 16);
    loop {
        let begun = !bytes.is_empty();
        let read = stream.read_buf(&mut bytes);
        let read = if begun { limits.rest(read).await? } else { limits.first(read).await? };
        match read {
            Ok(0) => return Ok(bytes),
            Ok(_) => limits.size(bytes.len())?,
            Err(error) => return Err(Fault::Connection(error.to_string())),
        }
    }
}
