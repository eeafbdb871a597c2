//! A read-only Kubernetes API on loopback with the parts that istiod needs, served from objects.
//!
//! Lists, watches, watch lists (`sendInitialEvents`, with the final bookmark), metadata only (`PartialObjectMetadata`),
//! discovery. Writes are answered but not stored. Every `Accept` is answered with JSON, which the client accepts even
//! if it prefers protobuf.

use super::kinds::{self, KINDS, Kind};
use super::objects::{Object, Objects};
use super::selectors::Selectors;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::stream::{self, StreamExt};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::net::TcpListener;
use tokio::sync::broadcast;

/// Maximum size of a write's body that is read, in bytes.
const BODY: usize = 4 << 20;

/// How many changes a slow watch may lag behind before it is ended and must list again.
const BEHIND: usize = 4_096;

/// A change of an object.
#[derive(Clone, Debug)]
struct Change {
    what: &'static str,
    object: Arc<Object>,
}

/// The objects, and their watchers.
#[derive(Debug)]
pub(super) struct ObjectStore {
    objects: Mutex<Objects>,
    changes: broadcast::Sender<Change>,
    token: String,
}

impl ObjectStore {
    /// Creates a server for these objects; clients need the token.
    pub(super) fn new(objects: Objects, token: String) -> Arc<ObjectStore> {
        Arc::new(ObjectStore { objects: Mutex::new(objects), changes: broadcast::channel(BEHIND).0, token })
    }

    fn objects(&self) -> MutexGuard<'_, Objects> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds or replaces objects, and notifies watches.
    pub(super) fn upsert(&self, documents: impl IntoIterator<Item = Value>, namespace: &str) {
        let mut objects = self.objects();
        for document in documents {
            let before = objects.version();
            if let Some(object) = objects.upsert(document, namespace) {
                debug_assert!(objects.version() > before);
                // Fails if nobody watches this kind.
                let _ = self.changes.send(Change { what: "MODIFIED", object });
            }
        }
    }

    /// Removes all objects of a kind except those to keep, and notifies watches.
    pub(super) fn retain(&self, kind: &'static Kind, keep: impl Fn(&Object) -> bool) {
        let mut objects = self.objects();
        let gone: Vec<_> = objects.of(kind).filter(|object| !keep(object)).cloned().collect();
        for object in gone {
            if let Some(object) = objects.remove(kind, &object.namespace, &object.name) {
                let _ = self.changes.send(Change { what: "DELETED", object });
            }
        }
    }
}

/// Starts to serve, and returns the address. Ends with the runtime.
pub(super) async fn serve(store: Arc<ObjectStore>) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    let app = Router::new().fallback(answer).with_state(store);
    tokio::spawn(async move {
        // Fails only when the runtime ends.
        let _ = axum::serve(listener, app).await;
    });
    Ok(address)
}

/// The target of a path.
struct Target<'p> {
    kind: &'static Kind,
    api_version: String,
    namespace: Option<&'p str>,
    name: Option<&'p str>,
}

impl<'p> Target<'p> {
    /// Parses `/api/v1/…` and `/apis/GROUP/VERSION/…`.
    fn parse(path: &'p str) -> Option<Target<'p>> {
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        let (group, version, rest) = match *parts.as_slice() {
            ["api", version, ref rest @ ..] => ("", version, rest.to_vec()),
            ["apis", group, version, ref rest @ ..] => (group, version, rest.to_vec()),
            _ => return None,
        };
        let (namespace, rest) = match *rest.as_slice() {
            ["namespaces", namespace, ref rest @ ..]
                if !rest.is_empty() && !matches!(rest, ["status" | "finalize"]) =>
            {
                (Some(namespace), rest.to_vec())
            }
            ref rest => (None, rest.to_vec()),
        };
        let kind = kinds::by_plural(group, rest.first()?)?;
        let api_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
        Some(Target { kind, api_version, namespace, name: rest.get(1).copied() })
    }
}

async fn answer(State(store): State<Arc<ObjectStore>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    // Without TLS, clients send no token in a header, so every path starts with it.
    let path = parts.uri.path().strip_prefix('/').and_then(|path| path.strip_prefix(store.token.as_str()));
    let Some(path) = path.filter(|path| path.starts_with('/')) else {
        return status(StatusCode::UNAUTHORIZED, "Unauthorized", "the token of this run is missing");
    };
    if parts.method != Method::GET {
        return write(&store, &parts.method, path, body).await;
    }
    if let Some(answer) = discovery(path) {
        return json_body(StatusCode::OK, answer.to_string());
    }
    let Some(target) = Target::parse(path) else {
        return status(StatusCode::NOT_FOUND, "NotFound", "the server could not find the requested resource");
    };
    let accept = parts.headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let metadata_only = accept.contains("as=PartialObjectMetadata");
    let query = Query::parse(parts.uri.query().unwrap_or_default());
    if let Some(name) = target.name {
        let objects = store.objects();
        return match objects.get(target.kind, target.namespace.unwrap_or_default(), name) {
            Some(object) => json_body(StatusCode::OK, object.write(&target.api_version, metadata_only)),
            None => status(StatusCode::NOT_FOUND, "NotFound", &format!("{} \"{name}\" not found", target.kind.plural)),
        };
    }
    let selectors = Selectors::new(target.namespace, &query.fields, &query.labels);
    if query.watch {
        return watch(&store, &target, selectors, &query, metadata_only);
    }
    let objects = store.objects();
    let items: Vec<String> = objects
        .of(target.kind)
        .filter(|object| selectors.want(object))
        .map(|object| object.write(&target.api_version, metadata_only))
        .collect();
    let (version, items) = (objects.version(), items.join(","));
    let (kind, api_version) = if metadata_only {
        ("PartialObjectMetadata", "meta.k8s.io/v1")
    } else {
        (target.kind.kind, &*target.api_version)
    };
    json_body(
        StatusCode::OK,
        format!(
            r#"{{"kind":"{kind}List","apiVersion":"{api_version}","metadata":{{"resourceVersion":"{version}"}},"items":[{items}]}}"#
        ),
    )
}

/// The options of a list or watch.
#[derive(Debug, Default)]
struct Query {
    watch: bool,
    initial: bool,
    version: String,
    fields: String,
    labels: String,
}

impl Query {
    fn parse(text: &str) -> Query {
        let mut query = Query::default();
        for pair in text.split('&') {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = unquote(value);
            match key {
                "watch" => query.watch = value != "false" && value != "0",
                "sendInitialEvents" => query.initial = value == "true",
                "resourceVersion" => query.version = value,
                "fieldSelector" => query.fields = value,
                "labelSelector" => query.labels = value,
                _ => {}
            }
        }
        query
    }
}

/// Undoes percent encoding.
fn unquote(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::new(), 0);
    while let Some(&byte) = bytes.get(at) {
        let code = (byte == b'%')
            .then(|| bytes.get(at + 1..at + 3))
            .flatten()
            .and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        out.push(code.unwrap_or(if byte == b'+' { b' ' } else { byte }));
        at += if code.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn watch(
    store: &Arc<ObjectStore>,
    target: &Target<'_>,
    selectors: Selectors,
    query: &Query,
    metadata_only: bool,
) -> Response {
    let (kind, api_version) = (target.kind, target.api_version.clone());
    let event = move |what: &str, object: &Object| {
        Bytes::from(format!("{{\"type\":\"{what}\",\"object\":{}}}\n", object.write(&api_version, metadata_only)))
    };
    let mut first = Vec::new();
    let changes;
    {
        let objects = store.objects();
        // Under the same lock, so that no change falls between the initial objects and the watch.
        changes = store.changes.subscribe();
        if query.initial || matches!(query.version.as_str(), "" | "0") {
            first.extend(objects.of(kind).filter(|object| selectors.want(object)).map(|object| event("ADDED", object)));
        }
        if query.initial {
            // The client checks the kind of the object even if the list is empty; without it, it retries forever.
            let (kind, api_version) = if metadata_only {
                ("PartialObjectMetadata", "meta.k8s.io/v1")
            } else {
                (kind.kind, target.api_version.as_str())
            };
            let bookmark = json!({"type": "BOOKMARK", "object": {
                "kind": kind, "apiVersion": api_version,
                "metadata": {
                    "resourceVersion": objects.version().to_string(),
                    "annotations": {"k8s.io/initial-events-end": "true"},
                },
            }});
            first.push(Bytes::from(format!("{bookmark}\n")));
        }
    }
    let later = stream::unfold((changes, selectors, event), move |(mut changes, selectors, event)| async move {
        loop {
            // A watch that lags too far behind ends, and so does one when the run ends.
            let change = changes.recv().await.ok()?;
            if std::ptr::eq(change.object.kind, kind) && selectors.want(&change.object) {
                let bytes = event(change.what, &change.object);
                return Some((bytes, (changes, selectors, event)));
            }
        }
    });
    let all = stream::iter(first).chain(later).map(Ok::<Bytes, Infallible>);
    ([(header::CONTENT_TYPE, "application/json")], Body::from_stream(all)).into_response()
}

/// Answers a write like an API server that accepted it.
async fn write(store: &ObjectStore, method: &Method, path: &str, body: Body) -> Response {
    let Ok(body) = axum::body::to_bytes(body, BODY).await else {
        return status(StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLarge", "the request is too large");
    };
    let sent: Option<Value> = serde_json::from_slice(&body).ok();
    // Access reviews: istiod may do everything here.
    if path.contains("accessreviews") {
        let mut review = sent.unwrap_or_else(|| json!({}));
        if let Some(review) = review.as_object_mut() {
            review.insert("status".to_owned(), json!({"allowed": true}));
        }
        return json_body(StatusCode::CREATED, review.to_string());
    }
    let Some(target) = Target::parse(path) else {
        return status(StatusCode::NOT_FOUND, "NotFound", "the server could not find the requested resource");
    };
    let kept = |name: &str| {
        let objects = store.objects();
        let object = objects.get(target.kind, target.namespace.unwrap_or_default(), name);
        object.map(|object| object.write(&target.api_version, false))
    };
    match (target.name, sent) {
        (Some(name), _) if *method == Method::PATCH || *method == Method::DELETE => match kept(name) {
            Some(object) => json_body(StatusCode::OK, object),
            None => status(StatusCode::NOT_FOUND, "NotFound", &format!("{} \"{name}\" not found", target.kind.plural)),
        },
        (name, Some(mut object)) => {
            if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
                metadata.insert("resourceVersion".to_owned(), "1".into());
                metadata.entry("uid").or_insert_with(|| "stand-in".into());
            }
            let code = if name.is_none() { StatusCode::CREATED } else { StatusCode::OK };
            json_body(code, object.to_string())
        }
        (_, None) => status(StatusCode::FORBIDDEN, "Forbidden", "this API server is read-only"),
    }
}

/// The served API, for clients that use discovery.
fn discovery(path: &str) -> Option<Value> {
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let group = |group: &str| {
        let versions: BTreeSet<&str> =
            KINDS.iter().filter(|kind| kind.group == group).flat_map(|kind| kind.versions.iter().copied()).collect();
        let versions: Vec<Value> = versions
            .iter()
            .map(|version| json!({"groupVersion": format!("{group}/{version}"), "version": version}))
            .collect();
        json!({"name": group, "versions": versions, "preferredVersion": versions.first()})
    };
    Some(match *parts.as_slice() {
        ["version"] => json!({"major": "1", "minor": "34", "gitVersion": "v1.34.0", "platform": "linux/amd64"}),
        ["api"] => json!({"kind": "APIVersions", "versions": ["v1"]}),
        ["apis"] => {
            let groups: BTreeSet<&str> =
                KINDS.iter().map(|kind| kind.group).filter(|group| !group.is_empty()).collect();
            let groups: Vec<Value> = groups.into_iter().map(group).collect();
            json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
        }
        ["api", version] => resources("", version),
        ["apis", name, version] => resources(name, version),
        _ => return None,
    })
}

fn resources(group: &str, version: &str) -> Value {
    let served = KINDS.iter().filter(|kind| kind.group == group && kind.versions.contains(&version));
    let resources: Vec<Value> = served
        .map(|kind| {
            json!({"name": kind.plural, "singularName": "", "namespaced": kind.namespaced, "kind": kind.kind,
                   "verbs": ["get", "list", "watch"]})
        })
        .collect();
    let name = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": name, "resources": resources})
}

fn json_body(code: StatusCode, body: String) -> Response {
    (code, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

fn status(code: StatusCode, reason: &str, message: &str) -> Response {
    let body = json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code.as_u16(), "reason": reason,
        "message": message,
    });
    json_body(code, body.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_what_kubernetes_means() {
        let target = Target::parse("/apis/networking.istio.io/v1/namespaces/shop/gateways/a").unwrap();
        assert_eq!((target.kind.kind, target.namespace, target.name), ("Gateway", Some("shop"), Some("a")));
        assert_eq!(target.api_version, "networking.istio.io/v1");
        let target = Target::parse("/api/v1/namespaces/shop").unwrap();
        assert_eq!((target.kind.kind, target.namespace, target.name), ("Namespace", None, Some("shop")));
        let target = Target::parse("/api/v1/namespaces").unwrap();
        assert_eq!((target.kind.kind, target.namespace, target.name), ("Namespace", None, None));
        assert!(Target::parse("/apis/x/v1/things").is_none());
        assert!(Target::parse("/healthz").is_none());
    }

    #[test]
    fn queries_are_unquoted() {
        let query = Query::parse(
            "watch=true&fieldSelector=metadata.name%3Dx&labelSelector=a+in+%28b%29&sendInitialEvents=true",
        );
        assert!(query.watch && query.initial);
        assert_eq!((query.fields.as_str(), query.labels.as_str()), ("metadata.name=x", "a in (b)"));
        assert_eq!(unquote("%zz%2"), "%zz%2");
    }
}
