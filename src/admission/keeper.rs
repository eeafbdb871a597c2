//! The Secret with the server's own certificates, the Lease of the replica that renews them, and the `caBundle`.
//!
//! This Secret is the only one that is ever read or written, by name. Replicas agree through the API server: it rejects a write
//! based on an outdated object (`resourceVersion`), and the replica reads again.

use super::certificates::{Lifetimes, Store, advance};
use super::lease::{Fault, Lease, call};
use super::metrics::Metrics;
use crate::cluster::Cluster;
use crate::source::ErrorMessage;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Where certificates are stored, and for which names.
#[derive(Clone, Debug)]
pub(crate) struct Keeping {
    /// Namespace of Secret, Lease and Service.
    pub namespace: String,
    /// Name of the Secret.
    pub secret: String,
    /// Name of the Lease.
    pub lease: String,
    /// Name of the Service that the API server calls.
    pub service: String,
    /// The `ValidatingWebhookConfiguration` whose `caBundle` is maintained.
    pub configuration: Option<String>,
    /// How long certificates live.
    pub lifetimes: Lifetimes,
    /// Additional names of the server.
    pub names: Vec<String>,
    /// Name of this replica.
    pub replica: String,
}

/// Key of the Secret that the replicas read.
const STATE: &str = "state.json";

/// Maintains certificates and provides the newest.
pub(crate) struct Keeper {
    cluster: kube::Client,
    keeping: Keeping,
    /// The Lease of the replica that may write.
    lease: Lease,
    /// The certificate in use.
    serving: Option<String>,
}

/// Result of checking the Secret.
#[derive(Debug)]
pub(crate) enum Served {
    /// A new certificate.
    New(Box<Store>),
    /// The certificate in use.
    Same,
    /// None yet.
    None,
}

impl Keeper {
    /// A keeper that has checked nothing yet.
    pub(crate) fn new(cluster: &Cluster, keeping: Keeping) -> Keeper {
        let lease = Lease::new(cluster.client(), &keeping.namespace, &keeping.lease, &keeping.replica);
        Keeper { cluster: cluster.client(), keeping, lease, serving: None }
    }

    /// How often to check: several times within the shortest relevant lifetime.
    pub(crate) fn interval(&self) -> Duration {
        let lives = &self.keeping.lifetimes;
        let shortest = (lives.serving / 10).min(lives.overlap / 3);
        shortest.clamp(Duration::from_millis(200), Duration::from_secs(5))
    }

    /// Checks the Secret and does what is due. Fails with a message for the log.
    pub(crate) async fn look(&mut self, metrics: &Metrics) -> Result<Served, ErrorMessage> {
        let leads = self.lease.hold().await.unwrap_or_else(|(_, words)| {
            tracing::warn!(words, "cannot read or write the Lease");
            false
        });
        metrics.leader(leads);
        let (mut secret, mut store) =
            self.read().await.map_err(|(_, words)| format!("cannot read the Secret: {words}"))?;
        if leads {
            // A certificate is served only once the API server trusts its authority.
            let mut trusted = match &store {
                Some(store) => self.trust(store).await,
                None => false,
            };
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
            let after = advance(store.clone(), now, &self.names(), self.keeping.lifetimes, trusted)?;
            if store.as_ref() != Some(&after) {
                match self.write(secret.take(), &after).await {
                    Ok(()) => {
                        tracing::info!(serving_until = after.serving.until, "certificates renewed");
                        trusted = self.trust(&after).await;
                        tracing::info!(trusted, "caBundle");
                        store = Some(after);
                    }
                    // Another replica was faster; its result is as good.
                    Err((409, _)) => store = self.read().await.map_err(|(_, words)| words)?.1,
                    Err((_, words)) => return Err(format!("cannot write the Secret: {words}").into()),
                }
            }
        }
        let Some(store) = store else { return Ok(Served::None) };
        metrics.certificate(store.serving.until);
        if self.serving.as_ref() == Some(&store.serving.cert) {
            return Ok(Served::Same);
        }
        self.serving = Some(store.serving.cert.clone());
        Ok(Served::New(Box::new(store)))
    }

    /// Releases the Lease, so that another replica need not wait.
    pub(crate) async fn leave(&mut self) {
        self.lease.leave().await;
    }

    /// The names that the API server calls, the full one first.
    fn names(&self) -> Vec<String> {
        let (service, namespace) = (&self.keeping.service, &self.keeping.namespace);
        let mut names = vec![
            format!("{service}.{namespace}.svc"),
            format!("{service}.{namespace}.svc.cluster.local"),
            format!("{service}.{namespace}"),
        ];
        names.extend(self.keeping.names.iter().cloned());
        names
    }

    fn secret_path(&self) -> String {
        let (namespace, name) = (&self.keeping.namespace, &self.keeping.secret);
        format!("/api/v1/namespaces/{namespace}/secrets/{name}")
    }

    /// The Secret if it exists, and its content if valid.
    async fn read(&self) -> Result<(Option<Value>, Option<Store>), Fault> {
        let secret = match self.call("GET", &self.secret_path(), None).await {
            Ok(secret) => secret,
            Err((404, _)) => return Ok((None, None)),
            Err(fault) => return Err(fault),
        };
        let data = secret.get("data").and_then(|data| data.get(STATE)).and_then(Value::as_str);
        let bytes = data.and_then(|data| STANDARD.decode(data).ok());
        let store = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Ok((Some(secret), store))
    }

    async fn write(&self, secret: Option<Value>, store: &Store) -> Result<(), Fault> {
        let state = serde_json::to_string(store).map_err(|error| (0, error.to_string()))?;
        let data = json!({
            STATE: STANDARD.encode(state),
            "ca.crt": STANDARD.encode(store.bundle()),
            "tls.crt": STANDARD.encode(&store.serving.cert),
            "tls.key": STANDARD.encode(&store.serving.key),
        });
        let path = self.secret_path();
        if let Some(mut secret) = secret {
            secret["data"] = data;
            return self.call("PUT", &path, Some(&secret)).await.map(drop);
        }
        let (namespace, name) = (&self.keeping.namespace, &self.keeping.secret);
        let metadata = json!({"name": name, "namespace": namespace});
        let secret =
            json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "Opaque", "data": data});
        let all = path.rsplit_once('/').map_or("", |(all, _)| all);
        self.call("POST", all, Some(&secret)).await.map(drop)
    }

    /// Writes the caBundle; returns whether the API server trusts it.
    async fn trust(&self, store: &Store) -> bool {
        let Some(name) = &self.keeping.configuration else { return true };
        let path = format!("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/{name}");
        let mut configuration = match self.call("GET", &path, None).await {
            Ok(configuration) => configuration,
            // It may be created later.
            Err((404, _)) => return false,
            Err((_, words)) => {
                tracing::warn!(words, "the caBundle cannot be read");
                return false;
            }
        };
        let bundle = STANDARD.encode(store.bundle());
        let mut changed = false;
        for webhook in configuration.get_mut("webhooks").and_then(Value::as_array_mut).into_iter().flatten() {
            let Some(client) = webhook.get_mut("clientConfig").and_then(Value::as_object_mut) else { continue };
            if client.get("caBundle").and_then(Value::as_str) != Some(&bundle) {
                client.insert("caBundle".to_owned(), bundle.clone().into());
                changed = true;
            }
        }
        if !changed {
            return true;
        }
        match self.call("PUT", &path, Some(&configuration)).await {
            Ok(_) => true,
            Err((_, words)) => {
                tracing::warn!(words, "the caBundle cannot be written");
                false
            }
        }
    }

    async fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value, Fault> {
        call(&self.cluster, method, path, body).await
    }
}
