//! The shards of proxies that this replica reads: one Lease for each, held by one replica at a time.

use crate::admission::lease::Lease;
use crate::cluster::Cluster;
use crate::words::fnv;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::Instant;

/// How often Leases are renewed, and free ones looked for.
pub(super) const RENEW: Duration = Duration::from_secs(5);
/// How long a replica with a shard waits before it takes another one, whose owner may come back.
const POLITE: Duration = Duration::from_secs(20);
/// How long a replica keeps a shard beyond its first before it offers it again.
const OFFER: Duration = Duration::from_secs(120);

/// How proxies are shared.
#[derive(Clone, Debug)]
pub(crate) struct Sharing {
    /// Namespace of the Leases.
    pub namespace: String,
    /// Prefix of their names, followed by `-0`, `-1` and so on.
    pub prefix: String,
    /// Name of this replica.
    pub replica: String,
    /// Number of shards.
    pub shards: u32,
}

/// The shards that this replica holds.
pub(super) struct Shards {
    leases: Vec<Lease>,
    /// When it may take another shard.
    polite: Option<Instant>,
    /// When it offers those beyond the first.
    offer: Option<Instant>,
    /// Number of shards; 1 without sharing.
    number: u32,
    /// What is wrong with the Leases.
    pub(super) trouble: Option<String>,
}

impl Shards {
    /// This replica reads everything.
    pub(super) fn all() -> Shards {
        Shards { leases: Vec::new(), polite: None, offer: None, number: 1, trouble: None }
    }

    /// Shards that other replicas may hold.
    pub(super) fn of(cluster: &Cluster, sharing: &Sharing) -> Shards {
        let Sharing { namespace, prefix, replica, shards } = sharing;
        let lease = |number| Lease::new(cluster.client(), namespace, &format!("{prefix}-{number}"), replica);
        Shards { leases: (0..*shards).map(lease).collect(), number: (*shards).max(1), ..Shards::all() }
    }

    /// Whether others may read the rest.
    pub(super) fn is_shared(&self) -> bool {
        !self.leases.is_empty()
    }

    /// Number of held shards, and of all.
    pub(super) fn held(&self) -> (usize, usize) {
        match self.leases.len() {
            0 => (1, 1),
            all => (self.leases.iter().filter(|lease| lease.held()).count(), all),
        }
    }

    /// Whether this replica owns something of this name.
    pub(super) fn owns(&self, name: &str) -> bool {
        let part = usize::try_from(fnv(name) % u64::from(self.number)).unwrap_or(0);
        self.leases.get(part).is_none_or(Lease::held)
    }

    /// Renews held Leases, takes free ones, offers surplus ones; returns whether the shards changed.
    pub(super) async fn renew(&mut self) -> bool {
        let parts = |leases: &[Lease]| -> BTreeSet<usize> {
            leases.iter().enumerate().filter(|(_, lease)| lease.held()).map(|(number, _)| number).collect()
        };
        let before = parts(&self.leases);
        self.trouble = None;
        let now = Instant::now();
        for lease in &mut self.leases {
            if lease.held()
                && let Err((_, words)) = lease.hold().await
            {
                self.trouble = Some(words);
            }
        }
        let held = parts(&self.leases).len();
        // A replica with a shard waits before it takes another one: others may start later.
        if held == 0 {
            self.polite = None;
        } else {
            self.polite.get_or_insert(now + POLITE);
        }
        if self.polite.is_none_or(|at| at <= now) {
            let free = self.leases.iter_mut().filter(|lease| !lease.held());
            for lease in free {
                match lease.hold().await {
                    Ok(true) => {
                        self.polite = Some(now + POLITE);
                        break;
                    }
                    Ok(false) => {}
                    Err((_, words)) => self.trouble = Some(words),
                }
            }
        }
        let held = parts(&self.leases).len();
        if held <= 1 {
            self.offer = None;
        } else if *self.offer.get_or_insert(now + OFFER) <= now {
            // A replica without a shard takes it first; if there is none, it comes back.
            if let Some(lease) = self.leases.iter_mut().rev().find(|lease| lease.held()) {
                lease.leave().await;
            }
            (self.polite, self.offer) = (Some(now + POLITE), None);
        }
        parts(&self.leases) != before
    }

    /// Releases everything.
    pub(super) async fn leave(&mut self) {
        for lease in &mut self.leases {
            lease.leave().await;
        }
    }
}
