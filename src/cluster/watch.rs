//! Watches: all objects of a kind, then every change, until the receiver is dropped.

use super::api::{Cluster, Fault, fault};
use super::deep::Whole;
use super::facts::TAG;
use super::kinds::{Kind, REVISION_TAG};
use super::list::name_kind;
use super::login::describe;
use super::objects::{Reader, keep, name_of};
use futures::StreamExt;
use kube::Api;
use kube::core::{ApiResource, DynamicObject, PartialObjectMeta};
use kube::runtime::WatchStreamExt;
use kube::runtime::utils::Backoff;
use kube::runtime::watcher::{self, Event, watcher};
use serde_json::Value;
use std::pin::pin;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until};

/// An event of a watch.
#[derive(Debug)]
pub(crate) enum Seen {
    /// An object was created or changed.
    Put(Value),
    /// An object was deleted: its namespace and name.
    Gone(String, String),
    /// All objects were reported: exactly those with these namespaces and names exist.
    All(Vec<(String, String)>),
    /// The watch broke, for this reason; it is restarted.
    Broken(String),
    /// The user may not watch, with the API server's message; it is retried.
    Forbidden(String),
    /// There is nothing to watch, for this reason: the cluster does not have the kind.
    Absent(String),
}

/// Restricts a watch to some objects of a kind.
#[derive(Clone, Debug)]
pub(crate) struct Within {
    /// Their namespace.
    pub namespace: String,
    /// The name of the only one.
    pub name: Option<String>,
}

/// The first wait between attempts.
const FIRST_WAIT: Duration = Duration::from_millis(250);
/// The longest wait between attempts. A watch that does not break within this time plus that of a request works.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// How long to wait before checking again for a missing kind.
const ABSENT: Duration = Duration::from_secs(30);

/// Watches the objects of a kind and passes on what it sees under a tag, until the receiver is dropped. Only the parts of
/// objects that questions need are kept.
pub(crate) async fn follow<T: Clone>(
    cluster: Cluster,
    kind: &'static Kind,
    within: Option<Within>,
    tag: T,
    sender: mpsc::Sender<(T, Seen)>,
) {
    let mut version = 0;
    loop {
        let Some(name) = kind.versions.get(version % kind.versions.len().max(1)) else { return };
        let resource = ApiResource {
            group: kind.group.to_owned(),
            version: (*name).to_owned(),
            api_version: if kind.group.is_empty() { (*name).to_owned() } else { format!("{}/{name}", kind.group) },
            kind: kind.kind.to_owned(),
            plural: kind.plural.to_owned(),
        };
        match of_version(&cluster, kind, &resource, within.as_ref(), &tag, &sender).await {
            End::NobodyListens => return,
            // The group may be served under another version.
            End::Absent(_) if (version + 1) % kind.versions.len() != 0 => version += 1,
            End::Absent(reason) => {
                if sender.send((tag.clone(), Seen::Absent(reason))).await.is_err() {
                    return;
                }
                version += 1;
                tokio::select! {
                    () = sleep(ABSENT) => {}
                    () = sender.closed() => return,
                }
            }
            End::Ended => sleep(FIRST_WAIT).await,
        }
    }
}

enum End {
    NobodyListens,
    Absent(String),
    Ended,
}

async fn of_version<T: Clone>(
    cluster: &Cluster,
    kind: &'static Kind,
    resource: &ApiResource,
    within: Option<&Within>,
    tag: &T,
    sender: &mpsc::Sender<(T, Seen)>,
) -> End {
    let mut config = watcher::Config::default();
    if let Some(name) = within.and_then(|within| within.name.as_ref()) {
        config = config.fields(&format!("metadata.name={name}"));
    }
    if kind == REVISION_TAG {
        config = config.labels(TAG);
    }
    let json = |object: Result<Value, serde_json::Error>| {
        let mut object = object.unwrap_or_default();
        name_kind(&mut object, kind.kind, &resource.api_version);
        object
    };
    // Both kinds of streams as one of JSON.
    let stream = if kind.metadata_only {
        let api: Api<PartialObjectMeta<DynamicObject>> = api(cluster, resource, within);
        watcher(api, config).map(|event| event.map(|event| map(event, |it| json(serde_json::to_value(it))))).boxed()
    } else {
        let api: Api<Whole> = api(cluster, resource, within);
        watcher(api, config).map(|event| event.map(|event| map(event, |it| json(Ok(it.value))))).boxed()
    };
    let mut stream = pin!(stream.backoff(Waits(FIRST_WAIT)));
    // Objects are passed on as they arrive: a large mesh is never in memory twice.
    let mut all: Vec<(String, String)> = Vec::new();
    loop {
        let event = tokio::select! {
            event = stream.next() => event,
            () = sender.closed() => return End::NobodyListens,
        };
        let seen = match event {
            None => return End::Ended,
            Some(Ok(Event::Init)) => {
                all.clear();
                continue;
            }
            Some(Ok(Event::InitApply(mut object))) => {
                if !keep(&mut object, Reader::Questions) {
                    continue;
                }
                all.push(name_of(&object));
                Seen::Put(object)
            }
            Some(Ok(Event::InitDone)) => Seen::All(std::mem::take(&mut all)),
            Some(Ok(Event::Apply(mut object))) => {
                if keep(&mut object, Reader::Questions) {
                    Seen::Put(object)
                } else {
                    gone(&object)
                }
            }
            Some(Ok(Event::Delete(object))) => gone(&object),
            Some(Err(error)) => match (not_there(&error), reason(&error)) {
                (Some(reason), _) => return End::Absent(reason),
                (None, Fault::NotAllowed(reason)) => Seen::Forbidden(reason),
                (None, fault) => Seen::Broken(fault.to_string()),
            },
        };
        if sender.send((tag.clone(), seen)).await.is_err() {
            return End::NobodyListens;
        }
    }
}

fn api<K>(cluster: &Cluster, resource: &ApiResource, within: Option<&Within>) -> Api<K>
where
    K: kube::Resource<DynamicType = ApiResource, Scope = kube::core::DynamicResourceScope>,
{
    match within {
        Some(within) => Api::namespaced_with(cluster.client.clone(), &within.namespace, resource),
        None => Api::all_with(cluster.client.clone(), resource),
    }
}

/// Waits until a time; forever without one.
pub(crate) async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// Why a watch ended.
fn reason(error: &watcher::Error) -> Fault {
    match error {
        watcher::Error::InitialListFailed(cause)
        | watcher::Error::WatchStartFailed(cause)
        | watcher::Error::WatchFailed(cause) => fault(cause),
        watcher::Error::WatchError(status) => Fault::Status(status.code, status.message.clone()),
        watcher::Error::NoResourceVersion => Fault::Garbled(describe(error)),
    }
}

/// The API server's message when it does not know a kind.
fn not_there(error: &watcher::Error) -> Option<String> {
    let (watcher::Error::InitialListFailed(cause) | watcher::Error::WatchStartFailed(cause)) = error else {
        return None;
    };
    match cause {
        kube::Error::Api(status) if status.code == 404 => Some(describe(cause)),
        _ => None,
    }
}

fn gone(object: &Value) -> Seen {
    let (namespace, name) = name_of(object);
    Seen::Gone(namespace, name)
}

fn map<K>(event: Event<K>, json: impl Fn(K) -> Value) -> Event<Value> {
    match event {
        Event::Apply(object) => Event::Apply(json(object)),
        Event::Delete(object) => Event::Delete(json(object)),
        Event::Init => Event::Init,
        Event::InitApply(object) => Event::InitApply(json(object)),
        Event::InitDone => Event::InitDone,
    }
}

/// Waits between attempts, each twice as long as the one before.
struct Waits(Duration);

impl Iterator for Waits {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        let wait = self.0;
        self.0 = (wait * 2).min(LONGEST_WAIT);
        Some(wait)
    }
}

impl Backoff for Waits {
    fn reset(&mut self) {
        self.0 = FIRST_WAIT;
    }
}
