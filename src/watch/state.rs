//! Problems by workload and by proxy, and how they differ from those reported before.

use crate::cluster::Via;
use crate::mesh::single::Look;
use crate::mesh::survey::{Place, What};
use crate::report::status;
use crate::report::watch::{Notice, Trouble};
use crate::words::few;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Namespace and name of a pod.
pub(crate) type Pod = (String, String);

/// Identifies a problem.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The subject.
    pub topic: Topic,
    /// `namespace/name` of the EnvoyFilter; empty if it is about none.
    pub filter: String,
    /// The patch.
    pub patch: Option<usize>,
    /// The workload.
    pub place: Option<Place>,
    /// Distinguishes it from others.
    pub detail: String,
}

impl Key {
    /// Whether it is about an EnvoyFilter or a workload of a namespace, or about neither.
    pub(crate) fn is_of(&self, namespace: &str) -> bool {
        let of_filter = self.filter.split_once('/').map(|(namespace, _)| namespace);
        let of_place = self.place.as_ref().map(|place| place.namespace.as_str());
        let all = [of_filter, of_place];
        all == [None, None] || all.contains(&Some(namespace))
    }

    /// Whether a replica that keeps what `keeps` names looks after this problem. What is about no workload and no EnvoyFilter is
    /// the replica's own.
    pub(crate) fn is_kept(&self, keeps: impl Fn(&str) -> bool) -> bool {
        match &self.place {
            Some(place) => keeps(&place.full_name()),
            None => self.filter.is_empty() || keeps(&self.filter),
        }
    }
}

/// A subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// A patch on a workload.
    Patch,
    /// Replicas of a workload.
    Replicas,
    /// A resource that a proxy rejects.
    Update,
    /// A leftover.
    Leftover,
    /// Reading the proxies of a workload.
    Proxies,
    /// What an EnvoyFilter selects.
    Selection,
    /// Whether an EnvoyFilter can be judged.
    Judging,
    /// What rules find.
    Finding,
    /// Whether objects can be watched.
    Watching,
}

/// The content of a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// What.
    pub trouble: Trouble,
    /// In words.
    pub message: String,
    /// The same without Envoy's message, if it contains one.
    pub short: Option<String>,
    /// The rule and its severity.
    pub rule: Option<(&'static str, &'static str)>,
}

/// A problem that appeared, changed or disappeared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its subject.
    pub key: Key,
    /// What was wrong before.
    pub before: Option<Value>,
    /// What is wrong now.
    pub now: Option<Value>,
}

impl Change {
    /// The problem to report: the present one, or the last one.
    pub(crate) fn notice(&self) -> Option<Notice> {
        self.now.as_ref().or(self.before.as_ref()).map(|value| notice(&self.key, value))
    }
}

/// A problem as reported.
pub(crate) fn notice(key: &Key, value: &Value) -> Notice {
    let (namespace, name) = key.filter.split_once('/').map(|(a, b)| (a.to_owned(), b.to_owned())).unzip();
    Notice {
        problem: value.trouble,
        namespace,
        name,
        patch: key.patch,
        workload_namespace: key.place.as_ref().map(|place| place.namespace.clone()),
        workload: key.place.as_ref().map(|place| place.workload.clone()),
        rule: value.rule.map(|(code, _)| code),
        severity: value.rule.map(|(_, severity)| severity),
        message: value.message.clone(),
        short: value.short.clone(),
    }
}

/// The kept result of reading a proxy.
#[derive(Clone, Debug)]
struct Reading {
    /// Digest of the filters that attach to it.
    filters: u64,
    /// Digest of the dump and of everything it was judged by.
    digest: u64,
    /// Whether the proxy itself was read.
    running: bool,
    look: Look,
}

/// A proxy.
#[derive(Clone, Debug)]
struct Known {
    place: Arc<Place>,
    /// Digest of its pod's template.
    template: u64,
    reading: Option<Reading>,
    /// Why the last attempt to read it failed.
    unread: Option<String>,
    /// Whether it was asked at all.
    asked: bool,
}

/// The current problems.
#[derive(Debug, Default)]
pub struct State {
    /// The namespace of what is reported; `None`: all of them.
    namespace: Option<String>,
    proxies: HashMap<Pod, Known>,
    workloads: BTreeMap<Arc<Place>, BTreeSet<Pod>>,
    wrong: BTreeMap<Key, Value>,
}

/// Numbers of proxies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    /// All of them.
    pub all: usize,
    /// Those whose state is known.
    pub read: usize,
    /// Those that were asked at all.
    pub asked: usize,
}

impl State {
    /// No problems yet; later only those of a namespace.
    pub(crate) fn of(namespace: Option<String>) -> State {
        State { namespace, ..State::default() }
    }

    /// A proxy exists.
    pub(crate) fn add(&mut self, pod: &Pod, place: &Place, template: u64) {
        if let Some(known) = self.proxies.get_mut(pod)
            && *known.place == *place
        {
            known.template = template;
            return;
        }
        self.forget(pod);
        let place = Arc::new(place.clone());
        self.workloads.entry(Arc::clone(&place)).or_default().insert(pod.clone());
        let known = Known { place, template, reading: None, unread: None, asked: false };
        self.proxies.insert(pod.clone(), known);
    }

    /// Removes all other proxies; returns problems that disappear with them.
    pub(crate) fn keep(&mut self, pods: &BTreeSet<Pod>) -> Vec<Change> {
        let gone: Vec<Pod> = self.proxies.keys().filter(|pod| !pods.contains(*pod)).cloned().collect();
        let places: BTreeSet<Arc<Place>> = gone.iter().filter_map(|pod| self.forget(pod)).collect();
        places.iter().flat_map(|place| self.reassess(place)).collect()
    }

    /// Drops what another replica looks after from now on, and returns those problems: they are not gone. `keeps`: whether this
    /// replica keeps something of this name.
    pub(crate) fn hand_over(&mut self, keeps: impl Fn(&str) -> bool) -> BTreeMap<Key, Value> {
        let gone: Vec<Pod> = self
            .proxies
            .iter()
            .filter(|(_, known)| !keeps(&known.place.full_name()))
            .map(|(pod, _)| pod.clone())
            .collect();
        for pod in gone {
            self.forget(&pod);
        }
        self.wrong.extract_if(.., |key, _| !key.is_kept(&keeps)).collect()
    }

    fn forget(&mut self, pod: &Pod) -> Option<Arc<Place>> {
        let known = self.proxies.remove(pod)?;
        if let Some(pods) = self.workloads.get_mut(&known.place) {
            pods.remove(pod);
            if pods.is_empty() {
                self.workloads.remove(&known.place);
            }
        }
        Some(known.place)
    }

    /// Whether a proxy was already judged with this digest.
    pub(crate) fn is_same(&mut self, pod: &Pod, digest: u64) -> bool {
        let Some(known) = self.proxies.get_mut(pod) else { return false };
        known.unread.is_none() && known.reading.as_ref().is_some_and(|reading| reading.digest == digest)
    }

    /// Records what a proxy shows; `filters` is the digest of the filters that attach to it, `digest` that of everything it was
    /// judged by.
    pub fn read(&mut self, pod: &Pod, look: Look, via: Via, (filters, digest): (u64, u64)) -> Vec<Change> {
        let Some(known) = self.proxies.get_mut(pod) else { return Vec::new() };
        let running = via != Via::Istiod;
        known.reading = Some(Reading { filters, digest, running, look });
        (known.unread, known.asked) = (None, true);
        let place = Arc::clone(&known.place);
        self.reassess(&place)
    }

    /// Records that a proxy cannot be read. Its earlier problems stay, because they may still exist.
    pub(crate) fn unread(&mut self, pod: &Pod, reason: String) -> Vec<Change> {
        let Some(known) = self.proxies.get_mut(pod) else { return Vec::new() };
        (known.unread, known.asked) = (Some(reason), true);
        let place = Arc::clone(&known.place);
        self.reassess(&place)
    }

    /// Replaces all problems of these topics.
    pub fn set(&mut self, topics: &[Topic], all: BTreeMap<Key, Value>) -> Vec<Change> {
        let of = |key: &Key| topics.contains(&key.topic);
        self.replace(of, all)
    }

    /// What is wrong, by key.
    pub(crate) fn wrong(&self) -> &BTreeMap<Key, Value> {
        &self.wrong
    }

    /// Numbers of proxies that exist, were read and were asked.
    pub(crate) fn count(&self) -> Count {
        let of = |is: fn(&Known) -> bool| self.proxies.values().filter(|known| is(known)).count();
        Count {
            all: self.proxies.len(),
            read: of(|known| known.reading.is_some() && known.unread.is_none()),
            asked: of(|known| known.asked),
        }
    }

    /// Why proxies could not be read, with the number for each reason.
    pub(crate) fn reasons(&self) -> BTreeMap<&str, usize> {
        let mut reasons = BTreeMap::new();
        for reason in self.proxies.values().filter_map(|known| known.unread.as_deref()) {
            *reasons.entry(reason).or_insert(0) += 1;
        }
        reasons
    }

    fn replace(&mut self, of: impl Fn(&Key) -> bool, mut all: BTreeMap<Key, Value>) -> Vec<Change> {
        all.retain(|key, _| self.namespace.as_ref().is_none_or(|namespace| key.is_of(namespace)));
        let mut changes = Vec::new();
        let old: Vec<Key> = self.wrong.keys().filter(|key| of(key) && !all.contains_key(key)).cloned().collect();
        for key in old {
            let before = self.wrong.remove(&key);
            changes.push(Change { key, before, now: None });
        }
        for (key, value) in all {
            let before = self.wrong.insert(key.clone(), value.clone());
            if before.as_ref() != Some(&value) {
                changes.push(Change { key, before, now: Some(value) });
            }
        }
        changes
    }

    /// Updates the problems of a workload.
    fn reassess(&mut self, place: &Arc<Place>) -> Vec<Change> {
        let all = self.of_workload(place);
        self.replace(|key| key.place.as_ref() == Some(&**place), all)
    }

    fn of_workload(&self, place: &Arc<Place>) -> BTreeMap<Key, Value> {
        let pods: Vec<(&Pod, &Known)> =
            self.workloads.get(place).into_iter().flatten().filter_map(|pod| self.proxies.get_key_value(pod)).collect();
        let mut all = BTreeMap::new();
        let key = |topic, filter: &str, patch, detail: &str| Key {
            topic,
            filter: filter.to_owned(),
            patch,
            place: Some((**place).clone()),
            detail: detail.to_owned(),
        };
        for (_, known) in &pods {
            if let Some(reason) = &known.unread {
                all.entry(key(Topic::Proxies, "", None, reason)).or_insert_with(|| simple(Trouble::Unread, reason));
            }
            let Some(look) = known.reading.as_ref().map(|reading| &reading.look) else { continue };
            for (patch, what) in &look.wrong {
                let new = Value {
                    trouble: trouble(what),
                    message: words(what, look.instead.get(patch)),
                    short: match what {
                        What::Rejected { kind, resource, .. } => Some(format!("rejected: {kind} {resource}")),
                        _ => None,
                    },
                    rule: None,
                };
                let value = all.entry(key(Topic::Patch, &patch.0, Some(patch.1), "")).or_insert_with(|| new.clone());
                // If replicas differ, report the worst.
                if new.trouble < value.trouble {
                    *value = new;
                }
            }
            for ((kind, name), details) in &look.refused {
                let short = format!("rejected: {kind} {name}");
                let message = format!("{short}: {}", crate::report::style::quoted(details, usize::MAX));
                let value = Value { trouble: Trouble::Rejected, message, short: Some(short), rule: None };
                all.entry(key(Topic::Update, "", None, &format!("{kind} {name}"))).or_insert(value);
            }
            for leftover in &look.leftovers {
                let value = simple(Trouble::Leftover, leftover);
                all.entry(key(Topic::Leftover, "", None, leftover)).or_insert(value);
            }
        }
        for ((filter, patch), message) in differing(&pods) {
            all.insert(key(Topic::Replicas, &filter, Some(patch), ""), simple(Trouble::ReplicasDiffer, &message));
        }
        all
    }
}

fn simple(trouble: Trouble, message: &str) -> Value {
    Value { trouble, message: message.to_owned(), short: None, rule: None }
}

/// Patches that only some replicas of one template show, once all of them were read with the same filters.
fn differing(pods: &[(&Pod, &Known)]) -> BTreeMap<(String, usize), String> {
    let mut groups: BTreeMap<u64, Vec<(&Pod, Option<&Reading>)>> = BTreeMap::new();
    for (pod, known) in pods {
        groups
            .entry(known.template)
            .or_default()
            .push((pod, known.reading.as_ref().filter(|_| known.unread.is_none())));
    }
    let mut found = BTreeMap::new();
    for group in groups.values() {
        let Some(read) = group.iter().map(|(pod, reading)| Some((*pod, (*reading)?))).collect::<Option<Vec<_>>>()
        else {
            continue;
        };
        let same = |one: &(&Pod, &Reading)| read.first().is_some_and(|first| first.1.filters == one.1.filters);
        if read.len() < 2 || !read.iter().all(|one| same(one) && one.1.running) {
            continue;
        }
        let patches: BTreeSet<&(String, usize)> =
            read.iter().flat_map(|(_, reading)| reading.look.wrong.keys()).collect();
        for patch in patches {
            let lacks = |reading: &Reading| reading.look.wrong.get(patch).is_some_and(|what| !is_idle(what));
            let lacking: Vec<&str> = read.iter().filter(|one| lacks(one.1)).map(|(pod, _)| pod.1.as_str()).collect();
            let holds =
                |reading: &Reading| !reading.look.wrong.contains_key(patch) && !reading.look.unknown.contains(patch);
            let holding = read.iter().filter(|one| holds(one.1)).count();
            if !lacking.is_empty() && holding > 0 {
                let names = few(&lacking, lacking.len(), FEW);
                let message = format!("in effect on {holding} of {} replicas, not on {names}", read.len());
                found.insert(patch.clone(), message);
            }
        }
    }
    found
}

/// Maximum number of listed pods.
const FEW: usize = 3;

/// Whether nothing is known to be missing on the proxy.
const fn is_idle(what: &What) -> bool {
    matches!(what, What::Idle { .. } | What::Unknown { .. })
}

const fn trouble(what: &What) -> Trouble {
    match what {
        What::Rejected { .. } => Trouble::Rejected,
        What::NotInEffect => Trouble::NotInEffect,
        What::PartlyInEffect => Trouble::PartlyInEffect,
        What::Idle { .. } => Trouble::NoEffect,
        What::Unknown { .. } => Trouble::UnknownEffect,
    }
}

fn words(what: &What, instead: Option<&String>) -> String {
    let words = status::what(what, usize::MAX);
    match instead {
        Some(instead) if !is_idle(what) => format!("{words}; {instead}"),
        _ => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Outcome;

    fn place() -> Place {
        Place { namespace: "shop".to_owned(), workload: "deployment/cart".to_owned() }
    }

    fn pod(number: usize) -> Pod {
        ("shop".to_owned(), format!("cart-{number}"))
    }

    fn wrong(what: What) -> Look {
        Look { wrong: BTreeMap::from([(("shop/timeout".to_owned(), 0), what)]), ..Look::default() }
    }

    fn changes(changes: &[Change]) -> Vec<String> {
        let describe = |change: &Change| match (&change.before, &change.now) {
            (None, Some(now)) => format!("+{}", now.trouble.as_str()),
            (Some(before), None) => format!("-{}", before.trouble.as_str()),
            (Some(before), Some(now)) => format!("{}>{}", before.trouble.as_str(), now.trouble.as_str()),
            (None, None) => String::new(),
        };
        changes.iter().map(describe).collect()
    }

    #[test]
    fn each_change_is_reported_once_and_replicas_are_compared_when_all_were_read() {
        let mut state = State::default();
        for number in 1..=3 {
            state.add(&pod(number), &place(), 7);
        }
        let via = Via::PortForward;
        assert_eq!(changes(&state.read(&pod(1), wrong(What::NotInEffect), via, (1, 1))), ["+not-in-effect"]);
        assert_eq!(changes(&state.read(&pod(2), Look::default(), via, (1, 2))), [""; 0]);
        assert_eq!(changes(&state.read(&pod(3), Look::default(), via, (1, 3))), ["+replicas-differ"]);
        let differ = state.wrong().values().find(|value| value.trouble == Trouble::ReplicasDiffer).unwrap();
        assert_eq!(differ.message, "in effect on 2 of 3 replicas, not on cart-1");
        assert!(state.is_same(&pod(1), 1) && !state.is_same(&pod(1), 9));
        // One that was read with other filters is not compared.
        assert_eq!(changes(&state.read(&pod(3), Look::default(), via, (2, 4))), ["-replicas-differ"]);
        let refused = What::Rejected { kind: "cluster", resource: "c".into(), details: "bad\nvalue".into() };
        assert_eq!(changes(&state.read(&pod(1), wrong(refused), via, (2, 5))), ["not-in-effect>rejected"]);
        assert!(state.wrong().values().any(|value| value.message == "rejected: cluster c: bad value"));
    }

    #[test]
    fn an_unknown_effect_is_not_counted_as_none() {
        let mut state = State::default();
        for number in 1..=2 {
            state.add(&pod(number), &place(), 7);
        }
        let (unknown, via) = (What::Unknown { reason: Some("no dump shows it".to_owned()) }, Via::PortForward);
        assert_eq!(changes(&state.read(&pod(1), wrong(unknown), via, (1, 1))), ["+unknown-effect"]);
        let unknown = state.wrong().values().next().unwrap();
        assert_eq!(unknown.message, "unknown: no dump shows it");
        // A replica where it is known to do nothing is worse.
        let idle = What::Idle { outcome: Outcome::NoMatch, reason: None };
        assert_eq!(changes(&state.read(&pod(2), wrong(idle), via, (1, 2))), ["unknown-effect>no-effect"]);
    }

    #[test]
    fn what_can_no_longer_be_read_is_not_an_all_clear() {
        let mut state = State::default();
        state.add(&pod(1), &place(), 7);
        state.read(&pod(1), wrong(What::NotInEffect), Via::PortForward, (1, 1));
        assert_eq!(changes(&state.unread(&pod(1), "no answer within 10 s".to_owned())), ["+unread"]);
        assert_eq!(state.count(), Count { all: 1, read: 0, asked: 1 });
        assert_eq!(state.reasons(), BTreeMap::from([("no answer within 10 s", 1)]));
        assert!(!state.is_same(&pod(1), 1), "it is read again in full");
        assert_eq!(state.wrong().len(), 2, "the patch is still told");
        assert_eq!(changes(&state.keep(&BTreeSet::new())), ["-not-in-effect", "-unread"]);
        assert!(state.proxies.is_empty() && state.workloads.is_empty() && state.wrong().is_empty());
    }
}
