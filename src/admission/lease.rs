//! One Lease of the API server, held by one replica at a time.

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// How long a silent holder keeps a Lease.
pub(crate) const LEASE: Duration = Duration::from_secs(15);

/// Why a request failed: the status (0 without one) and a message.
pub(crate) type Fault = (u16, String);

/// A Lease that a replica may hold.
pub(crate) struct Lease {
    client: kube::Client,
    namespace: String,
    name: String,
    /// Name of this replica.
    replica: String,
    /// The Lease as last written by another replica, and when that was first seen.
    seen: Option<(String, Instant)>,
    held: bool,
}

impl Lease {
    /// A Lease about which nothing is known yet.
    pub(crate) fn new(client: kube::Client, namespace: &str, name: &str, replica: &str) -> Lease {
        let text = str::to_owned;
        Lease { client, namespace: text(namespace), name: text(name), replica: text(replica), seen: None, held: false }
    }

    /// Whether this replica held it when it last looked.
    pub(crate) fn held(&self) -> bool {
        self.held
    }

    fn path(&self) -> String {
        format!("/apis/coordination.k8s.io/v1/namespaces/{}/leases/{}", self.namespace, self.name)
    }

    /// Acquires or renews the Lease, creating it if necessary; returns whether this replica holds it.
    pub(crate) async fn hold(&mut self) -> Result<bool, Fault> {
        let held = self.look().await;
        self.held = *held.as_ref().unwrap_or(&false);
        held
    }

    async fn look(&mut self) -> Result<bool, Fault> {
        let path = self.path();
        let mut lease = match call(&self.client, "GET", &path, None).await {
            Ok(lease) => lease,
            Err((404, _)) => {
                let lease = json!({
                    "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                    "metadata": {"name": self.name, "namespace": self.namespace}, "spec": {},
                });
                let all = path.rsplit_once('/').map_or("", |(all, _)| all);
                match call(&self.client, "POST", all, Some(&lease)).await {
                    Err((409, _)) => return Ok(false),
                    made => made?,
                }
            }
            Err(fault) => return Err(fault),
        };
        let text = |key: &str| lease.pointer(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (holder, renewed) = (text("/spec/holderIdentity"), text("/spec/renewTime"));
        let own = holder == self.replica;
        if !own && !holder.is_empty() {
            // By the local clock: those of other machines may be wrong.
            let key = format!("{holder} {renewed}");
            match &self.seen {
                Some((seen, since)) if *seen == key && since.elapsed() > LEASE => {}
                Some((seen, _)) if *seen == key => return Ok(false),
                _ => {
                    self.seen = Some((key, Instant::now()));
                    return Ok(false);
                }
            }
        }
        let now = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string();
        let transitions = lease.pointer("/spec/leaseTransitions").and_then(Value::as_u64).unwrap_or_default();
        let Some(spec) = lease.as_object_mut().map(|lease| lease.entry("spec").or_insert_with(|| json!({}))) else {
            return Ok(false);
        };
        if !own {
            spec["acquireTime"] = now.clone().into();
            spec["leaseTransitions"] = (transitions + 1).into();
        }
        spec["holderIdentity"] = self.replica.clone().into();
        spec["leaseDurationSeconds"] = LEASE.as_secs().into();
        spec["renewTime"] = now.into();
        match call(&self.client, "PUT", &path, Some(&lease)).await {
            Err((409, _)) => Ok(false),
            done => done.map(|_| true),
        }
    }

    /// Releases the Lease, so that another replica need not wait.
    pub(crate) async fn leave(&mut self) {
        if self.held
            && let Ok(mut lease) = call(&self.client, "GET", &self.path(), None).await
            && lease.pointer("/spec/holderIdentity").and_then(Value::as_str) == Some(&self.replica)
        {
            lease["spec"]["holderIdentity"] = "".into();
            let _ = call(&self.client, "PUT", &self.path(), Some(&lease)).await;
        }
        self.held = false;
    }
}

/// One request without retries: those of `Cluster::call` could outlast the Lease.
pub(super) async fn call(
    client: &kube::Client,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> Result<Value, Fault> {
    let body = body.map(|body| body.to_string().into_bytes()).unwrap_or_default();
    let path = if method == "GET" { path.to_owned() } else { format!("{path}?fieldManager=envoyfilter-webhook") };
    let request = http::Request::builder().method(method).uri(path).header("content-type", "application/json");
    let request = request.body(body).map_err(|error| (0, error.to_string()))?;
    let answer = tokio::time::timeout(LEASE, client.request::<Value>(request)).await;
    match answer {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(kube::Error::Api(status))) => Err((status.code, status.message.clone())),
        Ok(Err(error)) => Err((0, error.to_string())),
        Err(_) => Err((0, format!("no answer within {} s", LEASE.as_secs()))),
    }
}
