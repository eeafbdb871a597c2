//! From watches to moments of the cluster that reviews are made on.

use super::health::Health;
use super::server::Reviewer;
use super::world::{Change, Library, Said, Sampled, words};
use crate::cluster::Cluster;
use crate::cluster::dumps::{self, Delivery};
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

/// How long changes of EnvoyFilters are gathered before reviews see them.
const FILTERS: Duration = Duration::from_millis(20);
/// How long all other changes are: a busy mesh replaces pods all the time.
const OTHERS: Duration = Duration::from_millis(500);
/// What is told before anybody takes it in.
const WAITING: usize = 1024;

/// The kinds that are watched.
pub fn watched() -> impl Iterator<Item = &'static Kind> {
    kinds::WEBHOOK.kinds.iter().copied().filter(|kind| *kind != kinds::REVISION_TAG)
}

/// A library for all of them, and the health that waits for them.
pub fn library(said: Said) -> (Library, Arc<Health>) {
    let health = Arc::new(Health::default());
    let all: Vec<&'static Kind> = watched().chain([kinds::CONFIG_MAP]).collect();
    for kind in &all {
        health.expect(words(kind));
    }
    (Library::new(said, &all), health)
}

/// How often proxies are asked for their extensions.
const SAMPLE: Duration = Duration::from_secs(600);
/// Dumps read at the same time: nobody waits for them.
const DUMPS: usize = 2;

/// Asks some proxies for their extensions: of each kind and version one first, then more.
async fn sample(cluster: Cluster, proxies: usize, reviewer: Arc<Reviewer>, sender: mpsc::Sender<Sampled>) {
    loop {
        if reviewer.world().missing().next().is_some() {
            sleep(OTHERS).await;
            continue;
        }
        let world = reviewer.world();
        let (mut seen, mut first, mut more) = (BTreeSet::new(), Vec::new(), Vec::new());
        for group in block_in_place(|| world.proxies()) {
            let Some(target) = group.first() else { continue };
            let list = if seen.insert((target.kind, target.version.clone())) { &mut first } else { &mut more };
            list.push(group);
        }
        drop(world);
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

/// Watches a cluster and publishes what it sees, for ever; so many proxies are asked for their extensions.
pub async fn run(
    cluster: Cluster,
    istio_namespace: String,
    proxies: usize,
    mut library: Library,
    reviewer: Arc<Reviewer>,
) {
    let health = Arc::clone(&reviewer.health);
    let (sender, mut receiver) = mpsc::channel::<(&'static Kind, Seen)>(WAITING);
    for kind in watched() {
        tokio::spawn(follow(cluster.clone(), kind, None, kind, sender.clone()));
    }
    let (samples, mut extensions) = mpsc::channel::<Sampled>(1);
    if proxies > 0 {
        tokio::spawn(sample(cluster.clone(), proxies, Arc::clone(&reviewer), samples.clone()));
    }
    let mut revisions: BTreeSet<String> = BTreeSet::new();
    let mut look = |revision: &str| {
        if revisions.insert(revision.to_owned()) {
            let name = if revision == "default" { "istio".to_owned() } else { format!("istio-{revision}") };
            let within = Within { namespace: istio_namespace.clone(), name: Some(name) };
            tokio::spawn(follow(cluster.clone(), kinds::CONFIG_MAP, Some(within), kinds::CONFIG_MAP, sender.clone()));
        }
    };
    look("default");
    let mut waiting: Vec<(&'static Kind, Change)> = Vec::new();
    let (mut filters_at, mut others_at) = (None, None);
    loop {
        let next = [filters_at, others_at].into_iter().flatten().min();
        let seen = tokio::select! {
            seen = receiver.recv() => seen,
            Some(lists) = extensions.recv() => {
                library.sampled(lists);
                reviewer.publish(library.world());
                continue;
            }
            () = until(next) => {
                let now = Instant::now();
                if others_at.is_some_and(|at| at <= now) {
                    let changes = std::mem::take(&mut waiting);
                    block_in_place(|| changes.into_iter().for_each(|(kind, change)| library.apply(kind, change)));
                    others_at = None;
                }
                filters_at = None;
                let world = block_in_place(|| library.world());
                world.revisions().for_each(&mut look);
                reviewer.publish(world);
                continue;
            }
        };
        let Some((kind, seen)) = seen else { return };
        let change = match seen {
            Seen::Put(object) => Change::Put(object),
            Seen::Gone(namespace, name) => Change::Gone(namespace, name),
            Seen::All(objects) => {
                tracing::info!(kind = words(kind), objects = objects.len(), "read");
                health.synced(words(kind));
                Change::All(objects)
            }
            Seen::Broken(fault) | Seen::Forbidden(fault) => {
                tracing::warn!(kind = words(kind), fault, "watch broken");
                health.broken(words(kind), &fault);
                continue;
            }
            Seen::Absent(reason) => {
                // Nobody can create what the cluster does not have, so that nothing is missing.
                tracing::info!(kind = words(kind), reason, "the cluster does not have this kind");
                health.synced(words(kind));
                Change::All(Vec::new())
            }
        };
        health.stands(words(kind));
        if kind == kinds::ENVOY_FILTER {
            block_in_place(|| library.apply(kind, change));
            filters_at.get_or_insert(Instant::now() + FILTERS);
        } else {
            waiting.push((kind, change));
            others_at.get_or_insert(Instant::now() + OTHERS);
        }
    }
}
