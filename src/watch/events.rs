//! Kubernetes Events on EnvoyFilters, so that `kubectl describe` shows what is wrong. They are limited, because everyone who
//! watches Events pays for each.

use super::metrics::Metrics;
use super::state::Key;
use crate::cluster::kinds::{ENVOY_FILTER, EVENT};
use crate::cluster::{Cluster, Fault};
use crate::report::watch::{Became, Notice};
use crate::source::escape;
use crate::words::fnv;
use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

/// The time, in RFC 3339.
pub(super) fn now() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Number of Events that may be written at once.
const BURST: u32 = 50;
/// Interval of further Events.
const EACH: Duration = Duration::from_secs(1);
/// Maximum number of waiting Events; more are dropped and counted.
const WAITING: usize = 500;
/// How often the Event about a persistent problem is written again: the API server deletes Events after an hour (`--event-ttl`
/// of kube-apiserver).
const AGAIN: Duration = Duration::from_secs(30 * 60);
/// Maximum number of characters of a message (`validateEvent` of the API server allows 1,024 bytes in `events.k8s.io/v1`).
const LONGEST: usize = 1_000;
/// Maximum number of characters of a name, including its suffix.
const LONGEST_NAME: usize = 230;

/// An Event to write.
pub(super) struct Wanted {
    pub(super) became: Became,
    pub(super) notice: Notice,
    /// `metadata.uid` of the EnvoyFilter.
    pub(super) uid: Option<String>,
    /// Distinguishes this Event from others about the same EnvoyFilter.
    pub(super) key: String,
}

/// When the Event about each problem was written.
#[derive(Debug, Default)]
pub(super) struct Written(BTreeMap<Key, Instant>);

impl Written {
    /// An Event was written: a problem exists, or no longer does.
    pub(super) fn note(&mut self, key: &Key, wrong: bool, at: Instant) {
        if wrong {
            self.0.insert(key.clone(), at);
        } else {
            self.0.remove(key);
        }
    }

    /// Some of those that are due to be written again, the oldest first.
    pub(super) fn due(&self, now: Instant, most: usize) -> Vec<Key> {
        let old = |at: &Instant| now.saturating_duration_since(*at) >= AGAIN;
        let mut due: Vec<(Instant, &Key)> =
            self.0.iter().filter(|(_, at)| old(at)).map(|(key, at)| (*at, key)).collect();
        due.sort();
        due.into_iter().take(most).map(|(_, key)| key.clone()).collect()
    }
}

/// Writes Events in the background.
pub(super) struct Events {
    sender: mpsc::Sender<Wanted>,
    task: JoinHandle<()>,
}

/// How long Events may take at the end.
const LAST: Duration = Duration::from_secs(5);

impl Events {
    /// Starts to write under the name of a replica.
    pub(super) fn start(cluster: Cluster, replica: String, metrics: Arc<Metrics>) -> Events {
        let (sender, mut receiver) = mpsc::channel::<Wanted>(WAITING);
        let task = tokio::spawn(async move {
            let (mut left, mut since) = (f64::from(BURST), Instant::now());
            while let Some(wanted) = receiver.recv().await {
                left = (left + since.elapsed().as_secs_f64() / EACH.as_secs_f64()).min(f64::from(BURST));
                since = Instant::now();
                if left < 1.0 {
                    sleep(EACH.mul_f64(1.0 - left)).await;
                    (left, since) = (1.0, Instant::now());
                }
                left -= 1.0;
                let written = write(&cluster, &wanted, &replica).await;
                if let Err(fault) = &written {
                    tracing::warn!(%fault, "cannot write an Event");
                }
                metrics.event(written.is_ok());
            }
        });
        Events { sender, task }
    }

    /// Queues an Event; returns whether there was room for it.
    pub(super) fn write(&self, wanted: Wanted) -> bool {
        self.sender.try_send(wanted).is_ok()
    }

    /// Writes waiting Events, for a moment.
    pub(super) async fn end(self) {
        drop(self.sender);
        let _ = timeout(LAST, self.task).await;
    }
}

async fn write(cluster: &Cluster, wanted: &Wanted, replica: &str) -> Result<(), Fault> {
    let Some(event) = event(wanted, replica) else { return Ok(()) };
    let (namespace, name) = (&event["metadata"]["namespace"], &event["metadata"]["name"]);
    let (Some(namespace), Some(name)) = (namespace.as_str(), name.as_str()) else { return Ok(()) };
    match cluster.create(EVENT, namespace, &event).await {
        // It was reported before, perhaps by an earlier process.
        Err(Fault::Status(409, _)) => {
            let fields = json!({
                "message": event["message"], "lastTimestamp": event["lastTimestamp"], "type": event["type"],
            });
            let known = cluster.merge(EVENT, namespace, name, &fields).await?.object;
            let count = known.get("count").and_then(Value::as_u64).unwrap_or(1).saturating_add(1);
            cluster.merge(EVENT, namespace, name, &json!({"count": count})).await.map(drop)
        }
        done => done.map(drop),
    }
}

/// The Event; `None` if it is about no EnvoyFilter.
fn event(wanted: &Wanted, replica: &str) -> Option<Value> {
    let Wanted { became, notice, uid, key } = wanted;
    let (namespace, name) = (notice.namespace.as_ref()?, notice.name.as_ref()?);
    let mut object = json!({
        "apiVersion": format!("{}/{}", ENVOY_FILTER.group, ENVOY_FILTER.version()), "kind": ENVOY_FILTER.kind,
        "namespace": namespace, "name": name,
    });
    if let Some(uid) = uid {
        object["uid"] = uid.as_str().into();
    }
    let cleared = *became == Became::Cleared;
    let (kind, reason) = if cleared { ("Normal", "Resolved") } else { ("Warning", notice.problem.reason()) };
    let patch = notice.patch.map_or(String::new(), |patch| format!("patch {patch} "));
    let place = match (&notice.workload_namespace, &notice.workload) {
        (Some(namespace), Some(workload)) => format!("on {namespace}/{workload}"),
        _ => String::new(),
    };
    let about = format!("{patch}{place}");
    let about = if about.is_empty() { String::new() } else { format!("{}: ", about.trim_end()) };
    let rule = notice.rule.map_or(String::new(), |rule| format!("{rule} "));
    let gone = if cleared { "resolved: " } else { "" };
    // It quotes names of filters and what proxies answer, and programs print Events as they are.
    let message = format!("{about}{gone}{rule}{}", notice.message);
    let message: String = escape::one_line(&message).chars().take(LONGEST).collect();
    let start: String = name.chars().take(LONGEST_NAME).collect();
    Some(json!({
        "apiVersion": "v1", "kind": EVENT.kind,
        "metadata": {
            // One Event for each problem and what happened to it: a repetition is not a new one.
            "name": format!("{start}.{:016x}", fnv(&format!("{key} {reason}"))), "namespace": namespace,
        },
        "involvedObject": object,
        "reason": reason, "message": message, "type": kind,
        "source": {"component": "envoyfilter-watch"},
        "firstTimestamp": now(), "lastTimestamp": now(), "count": 1,
        "reportingComponent": "envoyfilter.dev/watch", "reportingInstance": replica,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::state::Topic;

    #[test]
    fn messages_are_one_line_without_control_characters() {
        let notice = Notice {
            problem: crate::report::watch::Trouble::NoEffect,
            namespace: Some("shop".to_owned()),
            name: Some("timeout".to_owned()),
            patch: Some(0),
            workload_namespace: None,
            workload: None,
            rule: None,
            severity: None,
            message: "no cluster is named x\u{1b}[31m\n::error::y\u{202e}".to_owned(),
            short: None,
        };
        let wanted = Wanted { became: Became::Added, notice, uid: None, key: "k".to_owned() };
        let event = event(&wanted, "r").unwrap();
        assert_eq!(event["message"], "patch 0: no cluster is named x\\u001b[31m\\n::error::y\\u202e");
    }

    #[test]
    fn persisting_problems_are_rewritten_before_their_events_expire() {
        let key = |patch| Key {
            topic: Topic::Patch,
            filter: "shop/timeout".to_owned(),
            patch: Some(patch),
            place: None,
            detail: String::new(),
        };
        let patches = |keys: Vec<Key>| keys.into_iter().filter_map(|key| key.patch).collect::<Vec<_>>();
        let (start, mut written) = (Instant::now(), Written::default());
        for (patch, minutes) in [(0, 2), (1, 1), (2, 0), (3, 20)] {
            written.note(&key(patch), true, start + Duration::from_secs(60 * minutes));
        }
        let after = |minutes: u64| start + Duration::from_secs(60 * minutes);
        assert_eq!(patches(written.due(after(29), 9)), [0; 0]);
        assert_eq!(patches(written.due(after(40), 9)), [2, 1, 0]);
        assert_eq!(patches(written.due(after(40), 2)), [2, 1]);
        // What was written again, or is no longer wrong, is not due.
        written.note(&key(2), true, after(40));
        written.note(&key(1), false, after(40));
        assert_eq!(patches(written.due(after(45), 9)), [0]);
        assert!(AGAIN * 2 <= Duration::from_secs(3_600));
    }
}
