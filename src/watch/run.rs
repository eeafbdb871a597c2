//! The loop: handles watch events, schedules reads, judges results and reports changes.

use super::events::{Events, Written};
use super::findings;
use super::metrics::{Metrics, Outcome};
use super::moment::{Moment, digest};
pub(crate) use super::shards::Sharing;
use super::shards::{RENEW, Shards};
use super::state::{Change, Key, Pod, State, Topic, Value};
use super::tell::Teller;
pub(crate) use super::turns::Pace;
use super::turns::{Next, Turns};
use crate::admission::feed;
use crate::admission::health::Health;
use crate::admission::judge::Rules;
use crate::admission::metrics::response;
use crate::admission::run as serving;
use crate::admission::snapshot::{Overrides, Snapshot, kind_label};
use crate::cluster::dumps::Reader;
use crate::cluster::kinds;
use crate::cluster::targets::Target;
use crate::cluster::watch::until;
use crate::cluster::{Cluster, Via};
use crate::explain::Lenders;
use crate::mesh::survey::Place;
use crate::mesh::{Origin, ProxyScope, Scope, Unread};
use crate::model::proxy::ProxyKind;
use crate::model::redact::Keeper;
use crate::report::watch::{Line, Trouble};
use crate::source::{Code, ErrorMessage};
use crate::words::count;
use axum::Router;
use axum::extract::State as Shared;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{mpsc, watch};
use tokio::task::block_in_place;
use tokio::time::Instant;

/// The settings of a watch.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    /// Settings that override the cluster's.
    pub overrides: Overrides,
    /// Namespace of istiod.
    pub istio_namespace: String,
    /// The only way to read proxies; by default every way in turn.
    pub via: Option<Via>,
    /// Restricts reports to EnvoyFilters and workloads of this namespace.
    pub namespace: Option<String>,
    /// How often proxies are read.
    pub pace: Pace,
    /// The rules for EnvoyFilters.
    pub rules: Rules,
    /// Secrets that no Event repeats.
    pub secrets: Keeper,
    /// Address for Prometheus and kubelet.
    pub metrics: Option<SocketAddr>,
    /// Write Events, under this name of a replica.
    pub events: Option<String>,
    /// How proxies are shared; by default this process reads all of them.
    pub sharing: Option<Sharing>,
    /// Stop when every proxy was asked once.
    pub once: bool,
}

/// How a watch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    /// Whether something is wrong.
    pub wrong: bool,
    /// Whether everything relevant was read.
    pub complete: bool,
}

/// Changes of objects this soon after each other are handled together.
const GATHER: Duration = Duration::from_secs(2);
/// Minimum interval between two checks of EnvoyFilters.
const JUDGE: Duration = Duration::from_secs(10);
/// Minimum interval between two reports of the scope.
const SCOPE: Duration = Duration::from_secs(60);
/// Number of proxies read at the same time.
const AT_ONCE: usize = 4;
/// How long knowledge about the ways to read proxies is valid: rights may be granted.
const WAYS: Duration = Duration::from_secs(600);

/// A finished read: the proxy, the dump or why there is none, and the duration.
type Read = (Target, Result<(String, Via), Vec<String>>, Duration);

/// Watches until the user stops it. Fails with a message for the user.
pub(crate) async fn run(cluster: Cluster, watch: Watch, lines: mpsc::Sender<Line>) -> Result<Ended, ErrorMessage> {
    let mut terminate = signal(SignalKind::terminate()).map_err(|error| error.to_string())?;
    let (mut builder, health) = feed::builder(watch.overrides.clone());
    let metrics = Arc::new(Metrics::new(Arc::clone(&health)));
    let ready = Arc::new(AtomicBool::new(false));
    let server = match watch.metrics {
        Some(address) => {
            let router = routes(Arc::clone(&metrics), Arc::clone(&ready), Arc::clone(&health));
            Some(serving::beside("metrics", serving::listen(address)?, router)?)
        }
        None => None,
    };
    // Without the right to list anything, this must be reported: the first snapshot is empty and no kind is in it.
    let (publish, mut worlds) = watch::channel(Arc::new(builder.snapshot()));
    let (_, samples) = mpsc::channel(1);
    tokio::spawn(feed::follow_all(
        cluster.clone(),
        watch.istio_namespace.clone(),
        builder,
        Arc::clone(&health),
        samples,
        move |snapshot| drop(publish.send_replace(Arc::new(snapshot))),
    ));
    let mut shards = watch.sharing.as_ref().map_or_else(Shards::all, |sharing| Shards::of(&cluster, sharing));
    if shards.is_shared() {
        shards.renew().await;
    }
    let mut run = Run::new(&cluster, watch, shards, (Arc::clone(&metrics), Arc::clone(&health)), lines);
    let mut reads: FuturesUnordered<BoxFuture<'static, Read>> = FuturesUnordered::new();
    let (mut gather, mut tick) = (None, Instant::now());
    while run.listened {
        let turn = run.begin(&mut reads);
        ready.store(run.moment.is_some(), Ordering::Relaxed);
        if run.watch.once && run.round && reads.is_empty() && run.judge_at.is_none() {
            break;
        }
        tokio::select! {
            () = cluster.stop().wait() => break,
            _ = terminate.recv() => break,
            Ok(()) = worlds.changed(), if gather.is_none() => {
                gather = Some(if run.moment.is_none() { Instant::now() } else { Instant::now() + run.gather() });
            }
            () = until(gather) => {
                gather = None;
                let snapshot = Arc::clone(&worlds.borrow_and_update());
                run.see(&snapshot).await;
            }
            Some(read) = reads.next() => run.took(read).await,
            () = until(turn) => {}
            () = until(run.judge_at) => run.judge().await,
            () = until(Some(tick)) => {
                tick = Instant::now() + RENEW.min(run.gather());
                // A kind that cannot be listed would keep a snapshot incomplete forever: use what exists.
                if run.moment.is_none() {
                    let snapshot = Arc::clone(&worlds.borrow());
                    run.see(&snapshot).await;
                }
                run.tick().await;
            }
        }
    }
    // Before it gives its shards away.
    let asked_all = run.is_complete();
    run.shards.leave().await;
    if let Some(events) = run.teller.events.take() {
        events.end().await;
    }
    if let Some(server) = server {
        server.shutdown();
    }
    let known = run.moment.as_ref().is_some_and(|moment| moment.strangers.is_none());
    let complete = asked_all && known && health.troubled().is_empty() && run.state.reasons().is_empty();
    Ok(Ended { wrong: !run.state.wrong().is_empty(), complete })
}

struct Run {
    cluster: Cluster,
    watch: Watch,
    health: Arc<Health>,
    metrics: Arc<Metrics>,
    teller: Teller,
    shards: Shards,
    moment: Option<Moment>,
    state: State,
    turns: Turns,
    reader: Arc<Reader>,
    /// When the reader was created, and the istiods it knows.
    reader_of: (Instant, Vec<(String, String)>),
    /// For each proxy the digest of its filters, and of their source.
    filters: HashMap<Pod, (u64, u64)>,
    /// Clusters that sidecars lend to waypoints.
    lent: Arc<BTreeMap<String, String>>,
    /// When EnvoyFilters are judged next, and when they last were.
    judge_at: Option<Instant>,
    judged: Option<Instant>,
    /// Whether the next results existed before this process started.
    judge_present: bool,
    /// Whether every proxy that existed at the start was asked once.
    round: bool,
    /// Problems that this replica reported and then handed over.
    handed: BTreeMap<Key, Value>,
    /// The last reported scope, and when.
    reported: Option<(Scope, Instant)>,
    renewed: Instant,
    listened: bool,
}

impl Run {
    fn new(
        cluster: &Cluster,
        watch: Watch,
        shards: Shards,
        (metrics, health): (Arc<Metrics>, Arc<Health>),
        lines: mpsc::Sender<Line>,
    ) -> Run {
        let now = Instant::now();
        let state = State::of(watch.namespace.clone());
        let events = watch.events.clone();
        let events = events.map(|replica| Events::start(cluster.clone(), replica, Arc::clone(&metrics)));
        Run {
            reader: Arc::new(Reader::new(cluster.clone(), watch.via, Vec::new())),
            reader_of: (now, Vec::new()),
            teller: Teller {
                lines,
                metrics: Arc::clone(&metrics),
                events,
                written: Written::default(),
                secrets: watch.secrets.clone(),
            },
            turns: Turns::new(watch.pace, now),
            cluster: cluster.clone(),
            watch,
            health,
            metrics,
            shards,
            moment: None,
            state,
            filters: HashMap::new(),
            lent: Arc::default(),
            judge_at: None,
            judged: None,
            judge_present: true,
            round: false,
            handed: BTreeMap::new(),
            reported: None,
            renewed: now,
            listened: true,
        }
    }

    /// Whether every proxy of this replica was asked once: one without a shard has asked none.
    fn is_complete(&self) -> bool {
        self.round && self.shards.trouble.is_none() && self.shards.held().0 > 0
    }

    /// How long changes are collected.
    fn gather(&self) -> Duration {
        GATHER.min(self.watch.pace.settle)
    }

    /// Starts to read proxies whose turn it is; returns when the next turn is.
    fn begin(&mut self, reads: &mut FuturesUnordered<BoxFuture<'static, Read>>) -> Option<Instant> {
        let moment = self.moment.as_ref()?;
        while reads.len() < AT_ONCE {
            match self.turns.next(Instant::now()) {
                Next::Wait(at) => return Some(at),
                Next::Idle => return None,
                Next::Read(pod) => {
                    let Some(target) = moment.targets.get(&pod).cloned() else {
                        self.turns.done(&pod, Instant::now());
                        continue;
                    };
                    let reader = Arc::clone(&self.reader);
                    reads.push(Box::pin(async move {
                        let began = Instant::now();
                        let dump = reader.read(&target).await;
                        (target, dump, began.elapsed())
                    }));
                }
            }
        }
        None
    }

    /// Handles a new snapshot.
    async fn see(&mut self, snapshot: &Snapshot) {
        let troubled: BTreeSet<&str> = self.health.troubled().iter().map(|troubled| troubled.kind).collect();
        if self.moment.is_none() && snapshot.missing().any(|kind| !troubled.contains(kind)) {
            return;
        }
        let first = self.moment.is_none();
        self.moment = Some(block_in_place(|| Moment::of(snapshot, &self.watch.secrets)));
        self.place(first).await;
        if first {
            self.scope(true).await;
        }
    }

    /// Schedules every proxy of this replica; `present`: new ones existed before.
    async fn place(&mut self, present: bool) {
        let Some(moment) = &self.moment else { return };
        let now = Instant::now();
        let istiods = moment.istiods();
        if istiods != self.reader_of.1 || now.saturating_duration_since(self.reader_of.0) > WAYS {
            self.reader = Arc::new(Reader::new(self.cluster.clone(), self.watch.via, istiods.clone()));
            self.reader_of = (now, istiods);
        }
        let mut pods = BTreeSet::new();
        let ranks = moment.ranks();
        let mut filters = HashMap::with_capacity(moment.targets.len());
        for (pod, target) in &moment.targets {
            let place = Place::of(target);
            // Replicas of a workload are compared, so one process reads them all.
            if !self.shards.owns(&place.full_name()) || !self.wants(moment, target) {
                continue;
            }
            let made_of = digest(&(moment.digest, &target.labels, &target.revision));
            let of = match self.filters.get(pod) {
                Some((from, of)) if *from == made_of => *of,
                _ => moment.filters_of(target),
            };
            filters.insert(pod.clone(), (made_of, of));
            self.state.add(pod, &place, digest(&target.template()));
            self.turns.add(pod, of, ranks.get(pod).copied().unwrap_or_default(), present, now);
            pods.insert(pod.clone());
        }
        self.filters = filters;
        self.turns.keep(&pods);
        let gone = self.state.keep(&pods);
        self.tell(gone, false).await;
        let soonest = self.judged.map_or(now, |judged| judged + JUDGE.min(self.watch.pace.settle));
        self.judge_at.get_or_insert(soonest.max(now));
    }

    /// Whether a proxy is in scope.
    fn wants(&self, moment: &Moment, target: &Target) -> bool {
        let Some(wanted) = &self.watch.namespace else { return true };
        let filters = &moment.whole.inventory.envoy_filters;
        target.namespace == *wanted
            || filters.iter().any(|filter| filter.namespace == *wanted && moment.now().reaches(filter, target))
    }

    /// Handles the result of reading a proxy.
    async fn took(&mut self, (target, dump, took): Read) {
        let pod = (target.namespace.clone(), target.pod.clone());
        let Some(done) = self.turns.done(&pod, Instant::now()) else { return };
        let Some(moment) = &self.moment else { return };
        if !done.current {
            return;
        }
        let changes = match dump {
            Ok((text, via)) => {
                let lent = if target.kind == ProxyKind::Waypoint { &*self.lent } else { &BTreeMap::new() };
                let of = digest(&(&text, moment.digest, via.as_str(), lent));
                if self.state.is_same(&pod, of) {
                    self.metrics.read(Outcome::Unchanged, took);
                    return self.after().await;
                }
                let look = block_in_place(|| moment.now().look(&target, text, via, &self.lent));
                match look {
                    Ok(mut look) => {
                        self.metrics.read(Outcome::Read, took);
                        self.lend(std::mem::take(&mut look.lends));
                        self.state.read(&pod, look, via, (done.filters, of))
                    }
                    Err(reason) => {
                        self.metrics.read(Outcome::Failed, took);
                        self.state.unread(&pod, reason.replace(&target.pod, "POD"))
                    }
                }
            }
            Err(_) if self.cluster.stop().is_set() => return,
            Err(reasons) => {
                self.metrics.read(Outcome::Failed, took);
                let reason =
                    if target.ready { reasons.join("; ").replace(&target.pod, "POD") } else { "not ready".into() };
                self.state.unread(&pod, reason)
            }
        };
        self.tell(changes, done.present).await;
        self.after().await;
    }

    /// Keeps clusters that waypoints may need.
    fn lend(&mut self, lends: BTreeMap<String, String>) {
        if lends.iter().any(|(name, cluster)| self.lent.get(name) != Some(cluster)) {
            let mut lent = (*self.lent).clone();
            lent.extend(lends);
            self.lent = Arc::new(lent);
        }
    }

    /// After a proxy was read: returns whether that was the last of the first round.
    async fn after(&mut self) {
        if !self.round && self.turns.round_is_over() {
            self.round = true;
            self.scope(true).await;
        }
        self.settle().await;
    }

    /// Leaves what was offered to other replicas to them silently: the problems are not gone.
    fn hand_over(&mut self) {
        let handed = self.state.hand_over(|name| self.shards.owns(name));
        for key in handed.keys() {
            self.teller.written.note(key, false, Instant::now());
        }
        self.handed.extend(handed);
    }

    /// Reports changes, but not that a problem exists which this replica reported before it handed it over.
    async fn tell(&mut self, mut changes: Vec<Change>, present: bool) {
        changes.retain(|change| {
            let known = self.handed.remove(&change.key);
            change.before.is_some() || known.is_none() || known != change.now
        });
        self.listened &= self.teller.changes(changes, present, self.moment.as_ref()).await;
    }

    /// Reports which of the problems that were handed over and came back are gone, once all of this replica's was looked at.
    async fn settle(&mut self) {
        if self.handed.is_empty() || !self.round || self.judge_at.is_some() {
            return;
        }
        // The earlier problems of a workload that cannot be read may still exist.
        let unread = self.state.wrong().keys().filter(|key| key.topic == Topic::Proxies);
        let unread: BTreeSet<&Place> = unread.filter_map(|key| key.place.as_ref()).collect();
        let is_seen = |key: &Key| key.place.as_ref().is_none_or(|place| !unread.contains(place));
        let is_kept = |key: &Key| key.is_kept(|name| self.shards.owns(name));
        let back = self.handed.extract_if(.., |key, _| is_kept(key) && is_seen(key));
        let gone: Vec<Change> = back.map(|(key, before)| Change { key, before: Some(before), now: None }).collect();
        self.tell(gone, false).await;
    }

    /// Judges the EnvoyFilters themselves.
    async fn judge(&mut self) {
        (self.judge_at, self.judged) = (None, Some(Instant::now()));
        let Some(moment) = &self.moment else { return };
        let found = block_in_place(|| findings::find(moment, &self.watch.rules, |filter| self.shards.owns(filter)));
        let changes = self.state.set(findings::TOPICS, found);
        let present = std::mem::take(&mut self.judge_present);
        self.tell(changes, present).await;
        self.after().await;
    }

    /// Periodic work: Leases, unwatchable kinds, metrics, the scope.
    async fn tick(&mut self) {
        let now = Instant::now();
        if self.shards.is_shared() && now.saturating_duration_since(self.renewed) >= RENEW {
            self.renewed = now;
            if self.shards.renew().await {
                self.hand_over();
                // Another replica has already reported these, so they are not new.
                self.judge_present = true;
                self.round = false;
                self.place(true).await;
            }
        }
        let mut wrong = BTreeMap::new();
        for troubled in self.health.troubled() {
            let without = feed::watched().chain([kinds::CONFIG_MAP]).find(|one| kind_label(one) == troubled.kind);
            let without = without.map_or(String::new(), |kind| format!("; {}", kind.without));
            let key = Key {
                topic: Topic::Watching,
                filter: String::new(),
                patch: None,
                place: None,
                detail: troubled.subject(),
            };
            let message = format!("{troubled}{without}");
            wrong.insert(key, Value { trouble: Trouble::Unwatched, message, short: None, rule: None });
        }
        if let Some(trouble) = &self.shards.trouble {
            let key = Key {
                topic: Topic::Watching,
                filter: String::new(),
                patch: None,
                place: None,
                detail: "Lease".to_owned(),
            };
            let message = format!("cannot hold a Lease: {trouble}; the proxies of that shard are not read here");
            wrong.insert(key, Value { trouble: Trouble::Unwatched, message, short: None, rule: None });
        }
        let changes = self.state.set(&[Topic::Watching], wrong);
        self.listened &= self.teller.changes(changes, false, self.moment.as_ref()).await;
        self.teller.remind(&self.state, self.moment.as_ref());
        let namespace = self.watch.namespace.as_deref();
        let filters = self.moment.as_ref().map_or(0, |moment| moment.filters_for(namespace));
        let oldest = self.turns.oldest(now).filter(|_| self.moment.is_some());
        self.metrics.state(&self.state, filters, oldest, self.shards.held());
        self.scope(false).await;
    }

    /// Reports the scope: at once, or periodically if it differs from the last report.
    async fn scope(&mut self, at_once: bool) {
        let Some(moment) = &self.moment else { return };
        let count_of = self.state.count();
        let mut unread: Vec<Unread> = self
            .state
            .reasons()
            .into_iter()
            .map(|(reason, number)| {
                let message = format!("no config dump of {}: {reason}", count(number, "proxy", "proxies"));
                Unread { code: Code::NoDump, message }
            })
            .collect();
        let troubled = self.health.troubled().into_iter();
        unread.extend(troubled.map(|one| Unread { code: Code::CannotList, message: one.to_string() }));
        unread.extend(
            moment.strangers.iter().map(|problem| Unread { code: problem.code, message: problem.message.clone() }),
        );
        if let Some(trouble) = &self.shards.trouble {
            let message = format!("cannot hold a Lease: {trouble}; the proxies of that shard are not read here");
            unread.push(Unread { code: Code::NoDump, message });
        }
        let scope = Scope {
            origin: Origin::Cluster { context: self.cluster.context.clone() },
            namespaces: self.watch.namespace.clone().map(|only| vec![only]),
            control_planes: Scope::planes(&moment.whole.planes, &moment.whole.facts),
            filters: moment.filters_for(self.watch.namespace.as_deref()),
            proxies: ProxyScope { read: count_of.read, of: count_of.all, pods: count_of.all },
            unread,
            lenders: Lenders::None,
        };
        let tell = match &self.reported {
            None => true,
            Some(_) if at_once => true,
            Some((reported, at)) => {
                self.round && *reported != scope && at.elapsed() >= SCOPE.min(self.watch.pace.interval)
            }
        };
        if tell {
            let part = match self.shards.held() {
                (1, 1) => String::new(),
                (held, all) => format!("{held} of {all} shards of the proxies"),
            };
            self.teller.scope(scope.clone(), part, self.is_complete()).await;
            self.reported = Some((scope, Instant::now()));
        }
    }
}

/// What the address for Prometheus serves.
#[derive(Clone)]
struct Served {
    metrics: Arc<Metrics>,
    ready: Arc<AtomicBool>,
    health: Arc<Health>,
}

fn routes(metrics: Arc<Metrics>, ready: Arc<AtomicBool>, health: Arc<Health>) -> Router {
    Router::new()
        .route("/metrics", get(measures))
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(is_ready))
        .with_state(Served { metrics, ready, health })
}

async fn measures(Shared(served): Shared<Served>) -> Response {
    response(served.metrics.text())
}

async fn is_ready(Shared(served): Shared<Served>) -> Response {
    let mut lines: Vec<String> = served.health.troubled().iter().map(ToString::to_string).collect();
    lines.extend(served.health.stale());
    let ready = served.ready.load(Ordering::Relaxed);
    lines.insert(0, if ready { "ok" } else { "objects are not read yet" }.to_owned());
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, format!("{}\n", lines.join("\n"))).into_response()
}
