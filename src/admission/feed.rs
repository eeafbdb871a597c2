//! Turns watch events into the snapshots of the cluster that reviews use.

use super::health::Health;
use super::server::Reviewer;
use super::snapshot::{Change, Overrides, Sampled, Snapshot, SnapshotBuilder, kind_label};
use crate::cluster::Cluster;
use crate::cluster::dumps::{self, Delivery};
use crate::cluster::facts::{DEFAULT_REVISION, mesh_config_name};
use crate::cluster::kinds::{self, Kind};
use crate::cluster::watch::{Seen, Within, follow, until};
use crate::load::dump::Dump;
use futures::StreamExt;
use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::block_in_place;
use tokio::time::{Instant, sleep};

/// How long changes of EnvoyFilters are collected before reviews see them.
const SOON: Duration = Duration::from_millis(20);
/// How long other changes are collected: a busy mesh replaces pods all the time.
const LATER: Duration = Duration::from_millis(500);
/// Watch events buffered between the watches and the builder.
const WAITING: usize = 256;
/// Watch events applied at a time.
const AT_ONCE: usize = 64;

/// The kinds that are watched.
pub(crate) fn watched() -> impl Iterator<Item = &'static Kind> {
    kinds::WEBHOOK.kinds.iter().copied()
}

/// A builder for these kinds, and the health that waits for them.
pub fn builder(overrides: Overrides) -> (SnapshotBuilder, Arc<Health>) {
    let health = Arc::new(Health::default());
    let all: Vec<&'static Kind> = watched().chain([kinds::CONFIG_MAP]).collect();
    for kind in &all {
        health.expect(kind_label(kind));
    }
    (SnapshotBuilder::new(overrides, &all), health)
}

/// How often proxies are sampled for their extensions.
const SAMPLE: Duration = Duration::from_secs(600);
/// Config dumps read at the same time; nothing waits for them.
const DUMPS: usize = 2;

/// Samples the extensions of some proxies: one of each kind and version first, then more.
async fn sample(cluster: Cluster, proxies: usize, reviewer: Arc<Reviewer>, sender: mpsc::Sender<Sampled>) {
    loop {
        if reviewer.snapshot().missing().next().is_some() {
            sleep(LATER).await;
            continue;
        }
        let snapshot = reviewer.snapshot();
        let (mut seen, mut first, mut more) = (BTreeSet::new(), Vec::new(), Vec::new());
        for group in block_in_place(|| snapshot.proxies()) {
            let Some(target) = group.first() else { continue };
            let list = if seen.insert((target.kind, target.version.clone())) { &mut first } else { &mut more };
            list.push(group);
        }
        drop(snapshot);
        first.append(&mut more);
        first.truncate(proxies);
        let asked = first.len();
        let mut sampled = Sampled::new();
        let mut dumps = pin!(dumps::deliver(cluster.clone(), first, None, Vec::new(), DUMPS));
        while let Some(Delivery { target, dump, .. }) = dumps.next().await {
            let dump = dump.ok().and_then(|(text, _)| block_in_place(|| Dump::from_text(target.full_name(), text).0));
            let Some(proxy) = dump.as_ref().and_then(Dump::proxy) else { continue };
            let list = sampled.entry(target.kind).or_default();
            list.extend(proxy.extensions.iter().cloned());
            list.sort_unstable();
            list.dedup();
        }
        tracing::info!(asked, kinds = sampled.len(), "extensions of running proxies read");
        if !sampled.is_empty() && sender.send(sampled).await.is_err() {
            return;
        }
        sleep(SAMPLE).await;
    }
}

/// Watches a cluster and publishes snapshots forever; samples the extensions of this many proxies.
pub(crate) async fn run(
    cluster: Cluster,
    istio_namespace: String,
    proxies: usize,
    builder: SnapshotBuilder,
    reviewer: Arc<Reviewer>,
) {
    let health = Arc::clone(&reviewer.health);
    let (samples, extensions) = mpsc::channel::<Sampled>(1);
    if proxies > 0 {
        tokio::spawn(sample(cluster.clone(), proxies, Arc::clone(&reviewer), samples.clone()));
    }
    follow_all(cluster, istio_namespace, builder, health, extensions, |snapshot| reviewer.publish(snapshot)).await;
}

/// Watches a cluster and publishes snapshots forever, with extensions sampled elsewhere.
pub(crate) async fn follow_all(
    cluster: Cluster,
    istio_namespace: String,
    mut builder: SnapshotBuilder,
    health: Arc<Health>,
    mut extensions: mpsc::Receiver<Sampled>,
    mut publish: impl FnMut(Snapshot),
) {
    let (sender, mut receiver) = mpsc::channel::<(Followed, Seen)>(WAITING);
    for kind in watched() {
        tokio::spawn(follow(cluster.clone(), kind, None, Followed::Kind(kind), sender.clone()));
    }
    let mut settings: BTreeSet<(String, String)> = BTreeSet::new();
    let mut look = |namespace: &str, revision: &str| {
        let namespace = if namespace.is_empty() { &istio_namespace } else { namespace };
        if !settings.insert((namespace.to_owned(), revision.to_owned())) {
            return None;
        }
        let name = mesh_config_name(revision);
        let full_name = format!("{namespace}/{name}");
        let within = Within { namespace: namespace.to_owned(), name: Some(name) };
        let tag = Followed::Settings(full_name.clone());
        tokio::spawn(follow(cluster.clone(), kinds::CONFIG_MAP, Some(within), tag, sender.clone()));
        Some(full_name)
    };
    let mut unanswered: BTreeSet<String> = look("", DEFAULT_REVISION).into_iter().collect();
    let first = unanswered.clone();
    let (mut seen, mut read): (Vec<(Followed, Seen)>, Vec<&'static Kind>) = (Vec::new(), Vec::new());
    let (mut soon_at, mut later_at) = (None, None);
    // Later, a new control plane is judged by default settings until its own arrive.
    let mut complete = false;
    loop {
        let next = [soon_at, later_at].into_iter().flatten().min();
        let received = tokio::select! {
            received = receiver.recv_many(&mut seen, AT_ONCE) => received,
            Some(lists) = extensions.recv() => {
                builder.set_sampled(lists);
                publish(builder.snapshot());
                continue;
            }
            () = until(next) => {
                (soon_at, later_at) = (None, None);
                let mut snapshot = block_in_place(|| builder.snapshot());
                let planes = snapshot.control_planes();
                unanswered.extend(planes.filter_map(|(namespace, revision)| look(namespace, revision)));
                complete |= unanswered.is_empty() && snapshot.missing().next().is_none();
                if !complete && !unanswered.is_empty() {
                    snapshot = snapshot.lacking(kinds::CONFIG_MAP);
                }
                publish(snapshot);
                // A kind counts as read once reviews use it.
                read.drain(..).for_each(|kind| health.synced(kind_label(kind)));
                continue;
            }
        };
        if received == 0 {
            return;
        }
        block_in_place(|| {
            for (followed, seen) in seen.drain(..) {
                let kind = followed.kind();
                if let Followed::Settings(name) = &followed
                    && unanswered.remove(name)
                {
                    soon_at.get_or_insert(Instant::now() + SOON);
                }
                let decides = followed.decides(&first);
                let Some(change) = change(&followed, decides, seen, &health) else { continue };
                let all = matches!(change, Change::All(_));
                read.extend(all.then_some(kind));
                builder.apply(kind, change);
                let soon = all || kind == kinds::ENVOY_FILTER;
                let (at, wait) = if soon { (&mut soon_at, SOON) } else { (&mut later_at, LATER) };
                at.get_or_insert(Instant::now() + wait);
            }
        });
    }
}

/// What a watch follows.
#[derive(Clone, Debug)]
enum Followed {
    /// All objects of a kind.
    Kind(&'static Kind),
    /// The settings of a control plane: the ConfigMap's namespace and name.
    Settings(String),
}

impl Followed {
    fn kind(&self) -> &'static Kind {
        match self {
            Followed::Kind(kind) => kind,
            Followed::Settings(_) => kinds::CONFIG_MAP,
        }
    }

    /// Whether nothing is answered before it was read.
    fn decides(&self, first: &BTreeSet<String>) -> bool {
        match self {
            Followed::Kind(_) => true,
            Followed::Settings(name) => first.contains(name),
        }
    }
}

/// The change that a watch event makes, if any. Records the state of the watch.
fn change(followed: &Followed, decides: bool, seen: Seen, health: &Health) -> Option<Change> {
    let name = kind_label(followed.kind());
    if let Followed::Settings(object) = followed {
        let known = match &seen {
            Seen::Broken(fault) | Seen::Forbidden(fault) => health.unread(object, fault),
            Seen::Put(_) | Seen::Gone(..) | Seen::All(_) | Seen::Absent(_) => {
                health.was_read(object);
                true
            }
        };
        if !known && !decides {
            tracing::warn!(kind = name, object, "mesh settings not read");
            return None;
        }
    }
    let change = match seen {
        Seen::Put(object) => Change::Put(object),
        Seen::Gone(namespace, name) => Change::Gone(namespace, name),
        Seen::All(names) => {
            tracing::info!(kind = name, objects = names.len(), "read");
            Change::All(names)
        }
        Seen::Broken(fault) | Seen::Forbidden(fault) => {
            tracing::warn!(kind = name, fault, "watch broken");
            health.broken(name, &fault);
            return None;
        }
        Seen::Absent(reason) => {
            // Nobody can create objects of a kind that the cluster does not serve: nothing is missing.
            tracing::info!(kind = name, reason, "the cluster does not have this kind");
            Change::All(Vec::new())
        }
    };
    health.works(name);
    Some(change)
}
