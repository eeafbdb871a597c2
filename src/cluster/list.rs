//! Lists of one kind, page by page.

use super::api::Cluster;
use super::api::Fault;
use super::deep::{self, Page};
use super::kinds::{Kind, quoted};
use serde_json::Value;

/// Objects on one page: what kubectl asks for.
const PAGE: usize = 500;
/// How often a list is restarted when its continue token has expired.
const RESTARTS: usize = 3;

/// The result of a list.
#[derive(Debug)]
pub(super) struct Listed<T> {
    /// What was kept of the objects; complete unless there is a fault.
    pub(super) objects: Vec<T>,
    /// What ended it early.
    pub(super) fault: Option<Fault>,
}

/// Selects the objects of a kind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Selection<'s> {
    pub(super) namespace: Option<&'s str>,
    pub(super) labels: Option<&'s str>,
    pub(super) fields: Option<&'s str>,
}

/// Lists the objects of a kind. Each is passed to `keep` as soon as its page arrives, so that only the result of `keep` stays
/// in memory.
pub(super) async fn list<T>(
    cluster: &Cluster,
    kind: &Kind,
    selection: Selection<'_>,
    keep: impl Fn(Value) -> Option<T>,
) -> Listed<T> {
    let mut listed = Listed { objects: Vec::new(), fault: None };
    for version in kind.versions {
        listed = of_version(cluster, kind, version, selection, &keep).await;
        // The group may be served under another version only.
        if !matches!(listed.fault, Some(Fault::NotFound(_))) {
            break;
        }
    }
    listed
}

async fn of_version<T>(
    cluster: &Cluster,
    kind: &Kind,
    version: &str,
    selection: Selection<'_>,
    keep: &impl Fn(Value) -> Option<T>,
) -> Listed<T> {
    let mut path = format!("{}?limit={PAGE}", kind.path(version, selection.namespace, None));
    for (key, value) in [("labelSelector", selection.labels), ("fieldSelector", selection.fields)] {
        path.extend(value.map(|value| format!("&{key}={}", quoted(value))));
    }
    let mut listed = Listed { objects: Vec::new(), fault: None };
    let (mut token, mut restarts) = (String::new(), 0);
    loop {
        let page = if token.is_empty() { path.clone() } else { format!("{path}&continue={}", quoted(&token)) };
        let text = match cluster.get(&page, kind.metadata_only).await {
            Ok(text) => text,
            Err(Fault::Expired) if restarts < RESTARTS => {
                // Half a list of one moment and half of another are inconsistent.
                listed.objects.clear();
                token.clear();
                restarts += 1;
                continue;
            }
            Err(fault) => {
                listed.fault = Some(fault);
                return listed;
            }
        };
        let api_version = if kind.group.is_empty() { version.to_owned() } else { format!("{}/{version}", kind.group) };
        let read = deep::page(&text, &mut |mut object| {
            name_kind(&mut object, kind.kind, &api_version);
            keep(object)
        });
        let next = match read {
            Ok(Page { items: Some(items), next }) => {
                listed.objects.extend(items);
                next
            }
            Ok(Page { items: None, .. }) => {
                listed.fault = Some(Fault::Garbled(format!("a list of {} without items", kind.plural)));
                return listed;
            }
            Err(error) => {
                listed.fault = Some(Fault::Garbled(error.to_string()));
                return listed;
            }
        };
        if next.is_empty() {
            return listed;
        }
        if next == token {
            listed.fault = Some(Fault::Garbled("the same continue token again".to_owned()));
            return listed;
        }
        token = next;
    }
}

/// Items of a list have no kind, and those of a metadata list the wrong one.
pub(super) fn name_kind(object: &mut Value, kind: &str, api_version: &str) {
    if let Value::Object(map) = object {
        let mut named = serde_json::Map::new();
        named.insert("apiVersion".to_owned(), api_version.into());
        named.insert("kind".to_owned(), kind.into());
        map.retain(|key, _| key != "apiVersion" && key != "kind");
        named.append(map);
        *map = named;
    }
}
