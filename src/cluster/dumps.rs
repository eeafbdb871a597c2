//! Config dumps of many proxies, read a few at a time and passed on one by one.

use super::api::Cluster;
use super::portals::{self, NoAnswer, Ways};
use super::targets::Target;
use super::via::Via;
use futures::stream::FuturesUnordered;
use futures::{Stream, StreamExt, stream};
use std::sync::Arc;
use tokio::time::{Instant, sleep};

/// How many replicas of one template to try before giving up.
const REPLICAS: usize = 3;

/// Number of parts of a proxy's time limit: after each, another replica is asked in addition to a silent one.
const HEDGES: u32 = 3;

/// A config dump, or why there is none.
#[derive(Debug)]
pub(crate) struct Delivery {
    /// The pod; of several replicas, the one that answered, or else the first.
    pub target: Target,
    /// The text of the dump and how it was read; otherwise a reason for each way that was tried.
    pub dump: Result<(String, Via), NoAnswer>,
}

/// Reads one dump per group, `at_once` at the same time, and passes them on in the order of the groups. `istiods`: namespaces
/// and names of istiod's pods, which are asked last.
pub(crate) fn deliver(
    cluster: Cluster,
    groups: Vec<Vec<Target>>,
    via: Option<Via>,
    istiods: Vec<(String, String)>,
    at_once: usize,
) -> impl Stream<Item = Delivery> + Send {
    let ways = Arc::new(Ways::new(via, istiods));
    stream::iter(groups)
        .map(move |group| {
            let (cluster, ways) = (cluster.clone(), Arc::clone(&ways));
            // A task of its own continues reading while earlier dumps are processed.
            tokio::spawn(async move { first(&cluster, &group, &ways).await })
        })
        .buffered(at_once.max(1))
        .filter_map(|delivery| std::future::ready(delivery.ok().flatten()))
}

/// Reads proxies one by one, and remembers which ways do not work.
pub(crate) struct Reader {
    cluster: Cluster,
    ways: Ways,
}

impl Reader {
    /// A new reader. `istiods`: namespaces and names of istiod's pods.
    pub(crate) fn new(cluster: Cluster, via: Option<Via>, istiods: Vec<(String, String)>) -> Reader {
        Reader { cluster, ways: Ways::new(via, istiods) }
    }

    /// Reads the dump of one pod.
    pub(crate) async fn read(&self, target: &Target) -> Result<(String, Via), Vec<String>> {
        let end = Instant::now() + self.cluster.proxy_timeout;
        let dump = portals::config_dump(&self.cluster, &target.namespace, &target.pod, &self.ways, end).await;
        dump.map_err(|no_answer| no_answer.reasons)
    }
}

/// Reads the first replica that answers. The next one is asked when one failed, or in addition to a silent one, so that one
/// time limit is enough for all.
async fn first(cluster: &Cluster, group: &[Target], ways: &Ways) -> Option<Delivery> {
    let end = Instant::now() + cluster.proxy_timeout;
    let mut replicas = group.iter().take(REPLICAS).enumerate();
    let mut asked = FuturesUnordered::new();
    let mut failed: Option<(usize, Delivery)> = None;
    let mut next = replicas.next();
    loop {
        if let Some((index, target)) = next.take() {
            asked.push(async move {
                let dump = portals::config_dump(cluster, &target.namespace, &target.pod, ways, end).await;
                (index, Delivery { target: target.clone(), dump })
            });
        }
        if asked.is_empty() {
            return failed.map(|(_, delivery)| delivery);
        }
        tokio::select! {
            Some((index, delivery)) = asked.next() => {
                if delivery.dump.is_ok() || cluster.stop().is_set() {
                    return Some(delivery);
                }
                // Which one fails first is random, so the failure of the first replica is reported.
                if failed.as_ref().is_none_or(|(first, _)| index < *first) {
                    failed = Some((index, delivery));
                }
                next = replicas.next();
            }
            () = sleep(cluster.proxy_timeout / HEDGES), if replicas.len() > 0 => next = replicas.next(),
        }
    }
}
