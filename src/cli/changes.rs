//! Waits until something changes in a cluster, for `get --watch`.

use super::session::Session;
use crate::cluster::Cluster;
use crate::cluster::kinds::{self, Kind, Needs};
use crate::cluster::objects::name_of;
use crate::cluster::read::places;
use crate::cluster::watch::{Seen, Within, follow, until};
use crate::mesh::Error;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// Changes come in bursts: a change this soon after another is handled together with it.
const BURST: Duration = Duration::from_secs(1);
/// The longest that istiod collects changes before it sends them to proxies (`PILOT_DEBOUNCE_MAX`, Istio 1.31).
const PUSHED: Duration = Duration::from_secs(10);
/// Maximum number of unread events.
const WAITING: usize = 256;

/// What is watched: a kind, and the namespace unless it is all of them.
type Place = (&'static Kind, Option<String>);

/// Watches what a command reads from a cluster.
pub(super) struct Changes {
    runtime: Runtime,
    cluster: Cluster,
    sender: mpsc::Sender<(usize, Seen)>,
    receiver: mpsc::Receiver<(usize, Seen)>,
    places: Vec<Place>,
    /// The objects of each place that answered, by namespace and name.
    known: Vec<Option<BTreeMap<(String, String), Value>>>,
    /// When proxies will have received the last change.
    pushed: Option<Instant>,
    /// Messages that were already printed.
    said: BTreeSet<String>,
}

/// The next event.
pub(super) enum Next {
    /// Something changed.
    Changed,
    /// The user wants to stop.
    Ended,
    /// EnvoyFilters cannot be watched, for this reason.
    Refused(String),
}

/// A watch that failed.
struct Trouble {
    kind: &'static Kind,
    reason: String,
    /// Whether waiting is pointless.
    lasting: bool,
}

impl Changes {
    /// Connects, without watching anything yet.
    pub(super) fn connect(session: &Session<'_>) -> Result<Changes, Error> {
        let (runtime, cluster) = session.connect()?;
        let (sender, receiver) = mpsc::channel(WAITING);
        let (places, known, said) = (Vec::new(), Vec::new(), BTreeSet::new());
        Ok(Changes { runtime, cluster, sender, receiver, places, known, pushed: None, said })
    }

    /// On its first call, starts to watch what a command needs.
    pub(super) fn begin(&mut self, session: &Session<'_>, needs: &Needs, roots: &BTreeSet<String>) {
        if !self.places.is_empty() {
            return;
        }
        let own = session.global.namespace.as_deref().unwrap_or(&self.cluster.namespace).to_owned();
        let namespace = Some(own).filter(|_| !session.global.cluster.all_namespaces);
        let places = places(needs, namespace.as_deref(), roots);
        self.places = places.into_iter().map(|(kind, namespace)| (kind, namespace.map(str::to_owned))).collect();
        self.known = vec![None; self.places.len()];
        for (number, (kind, namespace)) in self.places.iter().enumerate() {
            let within = namespace.clone().map(|namespace| Within { namespace, name: None });
            self.runtime.spawn(follow(self.cluster.clone(), kind, within, number, self.sender.clone()));
        }
    }

    /// Waits for a change of an object, or of the proxies after it. All objects that exist when the watch starts count as a
    /// change, because they may have changed since they were read.
    pub(super) fn next(&mut self, session: &mut Session<'_>) -> io::Result<Next> {
        let mut burst: Option<Instant> = None;
        loop {
            let at = [burst, self.pushed].into_iter().flatten().min();
            let (receiver, stop) = (&mut self.receiver, self.cluster.stop());
            let seen = self.runtime.block_on(async {
                tokio::select! {
                    () = stop.wait() => Err(Next::Ended),
                    () = until(at) => Err(Next::Changed),
                    seen = receiver.recv() => seen.ok_or(Next::Ended),
                }
            });
            let (number, seen) = match seen {
                Ok(seen) => seen,
                Err(next) => {
                    // Proxies receive the change a little later.
                    self.pushed = burst.map(|_| Instant::now() + PUSHED);
                    return Ok(next);
                }
            };
            match self.take(number, seen) {
                Ok(changed) if changed && self.known.iter().all(Option::is_some) => {
                    burst.get_or_insert(Instant::now() + BURST);
                }
                Ok(_) => {}
                Err(Trouble { kind, reason, lasting: true }) if *kind == *kinds::ENVOY_FILTER => {
                    return Ok(Next::Refused(reason));
                }
                Err(Trouble { kind, reason, .. }) => {
                    let message = format!("cannot watch {}: {reason}; trying again", kind.plural);
                    if self.said.insert(message.clone()) {
                        session.warn(&message)?;
                    }
                    // Changes of the others are reported all the same.
                    if let Some(known) = self.known.get_mut(number) {
                        known.get_or_insert_default();
                    }
                }
            }
        }
    }

    /// Processes a watch event; returns whether anything changed.
    fn take(&mut self, number: usize, seen: Seen) -> Result<bool, Trouble> {
        let Some(known) = self.known.get_mut(number) else { return Ok(false) };
        let kind = self.places.get(number).map_or(kinds::ENVOY_FILTER, |(kind, _)| kind);
        match seen {
            Seen::Put(object) => {
                let before = known.get_or_insert_default().insert(name_of(&object), object.clone());
                Ok(before.as_ref() != Some(&object))
            }
            Seen::Gone(namespace, name) => Ok(known.get_or_insert_default().remove(&(namespace, name)).is_some()),
            Seen::All(names) => {
                let first = known.is_none();
                let known = known.get_or_insert_default();
                let (before, names) = (known.len(), names.into_iter().collect::<BTreeSet<_>>());
                known.retain(|name, _| names.contains(name));
                Ok(first || known.len() != before)
            }
            Seen::Broken(reason) => Err(Trouble { kind, reason, lasting: false }),
            Seen::Forbidden(reason) | Seen::Absent(reason) => Err(Trouble { kind, reason, lasting: true }),
        }
    }
}
