//! The few writes to a cluster: what `webhook install` and `webhook report` create, the Events of `watch`, and the dry runs of
//! `diff --server-side`. Nothing else calls this.

use super::api::Fault;
use super::api::{Ask, Cluster};
use super::kinds::Kind;
use super::list::{Selection, list};
use http::Method;
use serde_json::Value;

/// The owner of written fields, for the API server.
pub(crate) const FIELD_MANAGER: &str = "kubectl-envoyfilter";

/// The result of writing an object.
#[derive(Clone, Debug)]
pub(crate) struct Applied {
    /// The object as stored.
    pub object: Value,
    /// Warnings of the API server.
    pub warnings: Vec<String>,
}

/// Whether changes are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dry {
    /// They are.
    No,
    /// The API server checks everything and stores nothing.
    Server,
}

impl Dry {
    const fn query(self) -> &'static str {
        match self {
            Dry::No => "",
            Dry::Server => "&dryRun=All",
        }
    }
}

/// The path of an object to write; `None` for kinds that are never written.
fn path(object: &Value) -> Option<String> {
    let kind = Kind::of(object)?;
    let metadata = |key: &str| object.get("metadata").and_then(|metadata| metadata.get(key)).and_then(Value::as_str);
    Some(kind.place(metadata("namespace"), Some(metadata("name")?)))
}

impl Cluster {
    /// Server-side apply: creates the object, or sets the fields it contains, taking over fields that others own.
    pub(crate) async fn apply(&self, object: &Value, dry: Dry) -> Result<Applied, Fault> {
        let Some(path) = path(object) else { return Err(Fault::Garbled("an object of an unknown kind".to_owned())) };
        let path = format!("{path}?fieldManager={FIELD_MANAGER}&force=true{}", dry.query());
        let ask = Ask {
            method: Method::PATCH,
            metadata: false,
            path: &path,
            content: "application/apply-patch+yaml",
            body: object.to_string().into_bytes(),
        };
        self.written(&ask).await
    }

    /// Asks the API server, its policies and its webhooks to check a new object; nothing is stored.
    pub(crate) async fn try_create(&self, kind: &Kind, namespace: &str, object: &Value) -> Result<Applied, Fault> {
        let path = kind.place(Some(namespace), None);
        let path = format!("{path}?fieldManager={FIELD_MANAGER}{}", Dry::Server.query());
        let body = object.to_string().into_bytes();
        self.written(&Ask { method: Method::POST, metadata: false, path: &path, content: "application/json", body })
            .await
    }

    /// The same for a new or changed object.
    pub(crate) async fn try_put(
        &self,
        kind: &Kind,
        namespace: &str,
        name: &str,
        mut object: Value,
    ) -> Result<Applied, Fault> {
        let Some(current) = self.object(kind, Some(namespace), name).await? else {
            return self.try_create(kind, namespace, &object).await;
        };
        let version = current.get("metadata").and_then(|metadata| metadata.get("resourceVersion")).cloned();
        if let (Some(Value::Object(metadata)), Some(version)) = (object.get_mut("metadata"), version) {
            metadata.insert("resourceVersion".to_owned(), version);
        }
        let path = kind.place(Some(namespace), Some(name));
        let path = format!("{path}?fieldManager={FIELD_MANAGER}{}", Dry::Server.query());
        let body = object.to_string().into_bytes();
        self.written(&Ask { method: Method::PUT, metadata: false, path: &path, content: "application/json", body })
            .await
    }

    /// The same for the deletion of an object.
    pub(crate) async fn try_delete(&self, kind: &Kind, namespace: &str, name: &str) -> Result<Applied, Fault> {
        let path = format!("{}?dryRun=All", kind.place(Some(namespace), Some(name)));
        self.written(&Ask { method: Method::DELETE, ..Ask::get(&path) }).await
    }

    /// Sends a write request and reads the result.
    async fn written(&self, ask: &Ask<'_>) -> Result<Applied, Fault> {
        let answer = self.call(ask).await?;
        let object = serde_json::from_str(&answer.text).map_err(|error| Fault::Garbled(error.to_string()))?;
        Ok(Applied { object, warnings: answer.warnings })
    }

    /// Creates a new object.
    pub(crate) async fn create(&self, kind: &Kind, namespace: &str, object: &Value) -> Result<Applied, Fault> {
        let path = format!("{}?fieldManager={FIELD_MANAGER}", kind.place(Some(namespace), None));
        let body = object.to_string().into_bytes();
        self.written(&Ask { method: Method::POST, metadata: false, path: &path, content: "application/json", body })
            .await
    }

    /// Changes the given fields of an object (RFC 7386).
    pub(crate) async fn merge(
        &self,
        kind: &Kind,
        namespace: &str,
        name: &str,
        fields: &Value,
    ) -> Result<Applied, Fault> {
        let path = format!("{}?fieldManager={FIELD_MANAGER}", kind.place(Some(namespace), Some(name)));
        let (content, body) = ("application/merge-patch+json", fields.to_string().into_bytes());
        self.written(&Ask { method: Method::PATCH, metadata: false, path: &path, content, body }).await
    }

    /// Deletes an object; returns whether it existed.
    pub(crate) async fn delete(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        name: &str,
        dry: Dry,
    ) -> Result<bool, Fault> {
        let path = format!("{}?propagationPolicy=Background{}", kind.place(namespace, Some(name)), dry.query());
        match self.call(&Ask { method: Method::DELETE, ..Ask::get(&path) }).await {
            Ok(_) => Ok(true),
            Err(Fault::NotFound(_)) => Ok(false),
            Err(fault) => Err(fault),
        }
    }

    /// One object; `None` when the object or its kind does not exist.
    pub(crate) async fn object(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        name: &str,
    ) -> Result<Option<Value>, Fault> {
        match self.json(&kind.place(namespace, Some(name)), false).await {
            Ok(object) => Ok(Some(object)),
            Err(Fault::NotFound(_)) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// The text of a path below the API server's own: a proxied service, metrics.
    pub async fn text(&self, path: &str) -> Result<String, Fault> {
        self.get(path, false).await
    }

    /// Whether the API server knows a kind.
    pub(crate) async fn serves(&self, kind: &Kind) -> Result<bool, Fault> {
        let root = if kind.group.is_empty() { "/api".to_owned() } else { format!("/apis/{}", kind.group) };
        let resources = match self.json(&format!("{root}/{}", kind.version()), false).await {
            Ok(resources) => resources,
            Err(Fault::NotFound(_)) => return Ok(false),
            Err(fault) => return Err(fault),
        };
        let resources = resources.get("resources").and_then(Value::as_array);
        Ok(resources.into_iter().flatten().any(|one| one.get("name").and_then(Value::as_str) == Some(kind.plural)))
    }

    /// The complete objects of a kind with these labels; none when the kind does not exist.
    pub(crate) async fn whole(&self, kind: &Kind, namespace: Option<&str>, labels: &str) -> Result<Vec<Value>, Fault> {
        let whole = Kind { metadata_only: false, ..*kind };
        self.labelled(&whole, namespace, labels).await
    }

    /// The objects of a kind with these labels, in one or all namespaces; none when the kind does not exist.
    pub(crate) async fn labelled(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        labels: &str,
    ) -> Result<Vec<Value>, Fault> {
        let listed = list(self, kind, Selection { namespace, labels: Some(labels), fields: None }, Some).await;
        match listed.fault {
            None | Some(Fault::NotFound(_)) => Ok(listed.objects),
            Some(fault) => Err(fault),
        }
    }
}
