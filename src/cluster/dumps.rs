//! Many proxies' dumps, a few at a time, handed over one by one.

use super::api::Cluster;
use super::portals::{self, Ways};
use super::targets::Target;
use futures::{Stream, StreamExt, stream};
use std::sync::Arc;

pub use super::portals::Via;

/// How many replicas of one template are tried before it is given up.
const REPLICAS: usize = 3;

/// A dump, or why there is none.
#[derive(Debug)]
pub struct Delivery {
    /// The pod; of those that are alike, the one that answered, or else the first.
    pub target: Target,
    /// How many other pods it stands for.
    pub stands_for: usize,
    /// The text of the dump and the way it came; else a reason for each way that was tried.
    pub dump: Result<(String, Via), Vec<String>>,
}

/// Reads one dump a group, `at_once` at the same time, and hands them out in the order of the groups. `istiods`: namespaces
/// and names of istiod's pods, which are asked last.
pub fn deliver(
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
            // A task of its own goes on reading while the one before it is looked at.
            tokio::spawn(async move { first(&cluster, &group, &ways).await })
        })
        .buffered(at_once.max(1))
        .filter_map(|delivery| std::future::ready(delivery.ok().flatten()))
}

async fn first(cluster: &Cluster, group: &[Target], ways: &Ways) -> Option<Delivery> {
    let stands_for = group.len().saturating_sub(1);
    let mut failed: Option<Delivery> = None;
    for target in group.iter().take(REPLICAS) {
        let dump = portals::config_dump(cluster, &target.namespace, &target.pod, ways).await;
        let ended = dump.is_ok() || cluster.stop().is_set();
        let delivery = Delivery { target: target.clone(), stands_for, dump };
        if ended {
            return Some(delivery);
        }
        failed.get_or_insert(delivery);
    }
    failed
}
