//! What requests through a real Envoy showed about the runs, for the rules that report it.

use crate::lint::facts::context::{ProxyRun, Requests};
use crate::lint::facts::names::{count, listed};
use crate::source::ErrorMessage;
use crate::trial::{Observed, Shows, Sight, Trial};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Maximum number of proxies that requests are sent through.
const PROXIES: usize = 24;

/// Sends requests through a patched proxy configuration.
pub trait Observer {
    /// Sends the standard requests. Fails with the reason if none could be sent.
    fn observe(&self, run: &ProxyRun<'_>) -> Result<Observed, ErrorMessage>;

    /// The `try` arguments that select the proxy of a run and its filters.
    fn arguments(&self, run: &ProxyRun<'_>) -> String;
}

/// The real Envoys that a run asks.
#[derive(Clone, Copy, Default)]
pub struct RealEnvoy<'r> {
    /// Checks whether it accepts the patched configuration.
    pub trial: Option<&'r Trial>,
    /// Observes what happens to requests.
    pub observer: Option<&'r dyn Observer>,
}

impl<'r> From<Option<&'r Trial>> for RealEnvoy<'r> {
    fn from(trial: Option<&'r Trial>) -> RealEnvoy<'r> {
        RealEnvoy { trial, observer: None }
    }
}

/// Sends requests through every run that patches changed; shared runs are observed once.
pub(super) fn all(observer: &dyn Observer, runs: &[ProxyRun<'_>]) -> Requests {
    let mut requests = Requests::default();
    let mut known: BTreeMap<usize, Option<Arc<Observed>>> = BTreeMap::new();
    for run in runs {
        requests.arguments.push(observer.arguments(run));
        let key = Arc::as_ptr(&run.judged).addr();
        if let Some(observed) = known.get(&key) {
            requests.runs.push(observed.clone());
            continue;
        }
        let changed = !run.judged.patched.resources.is_empty();
        let observed = if !changed {
            None
        } else if known.values().flatten().count() >= PROXIES {
            requests.passed_over.insert(run.label().to_owned());
            None
        } else {
            match observer.observe(run) {
                Ok(observed) => Some(Arc::new(observed)),
                Err(why) => {
                    requests.failed.insert(format!("no requests were sent through {}: {why}", run.label()));
                    None
                }
            }
        };
        known.insert(key, observed.clone());
        requests.runs.push(observed);
    }
    requests
}

impl Requests {
    /// What is unknown, as sentences.
    pub(crate) fn unknown(&self, runs: &[ProxyRun<'_>]) -> Vec<String> {
        let mut all: Vec<String> = self.failed.iter().cloned().collect();
        if !self.passed_over.is_empty() {
            let names = listed(self.passed_over.iter().map(String::as_str), 3);
            let proxies = count(self.passed_over.len(), "proxy", "proxies");
            all.push(format!("no requests were sent through {proxies} beyond the first {PROXIES}: {names}"));
        }
        let (mut met, mut unmet, mut unknown) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for (run, observed) in runs.iter().zip(&self.runs) {
            let Some(observed) = observed else { continue };
            for id in run.plan.ids() {
                let planned = run.plan.get(id);
                let name = format!("{} patch {}", run.plan.filter(id).full_name(), planned.built.patch.index);
                if observed.unmet.contains(&id) {
                    unmet.insert(name)
                } else {
                    met.insert(name)
                };
            }
            unknown.extend(observed.unknown.iter().cloned());
        }
        let unmet: Vec<&str> = unmet.difference(&met).map(String::as_str).collect();
        if !unmet.is_empty() {
            all.push(format!("no request meets {}", listed(unmet.iter().copied(), 3)));
        }
        all.extend(unknown);
        all
    }

    /// How many requests were sent.
    pub(crate) fn sent(&self) -> usize {
        let mut seen = BTreeSet::new();
        let runs = self.runs.iter().flatten().filter(|observed| seen.insert(Arc::as_ptr(observed).addr()));
        runs.map(|observed| observed.requests).sum()
    }
}

/// Recorded observations of a real Envoy: the observer of cases and examples.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    sights: Vec<Record>,
}

/// A recorded observation about a patch.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    /// Name of the EnvoyFilter.
    filter: String,
    /// Number of the patch.
    patch: usize,
    /// The request, as options and arguments of `try`.
    request: String,
    /// What it shows.
    shows: Shows,
}

impl Recorded {
    /// Reads records, each a JSON object. Fails with the reason if one cannot be read.
    pub fn read<'t>(records: impl IntoIterator<Item = &'t str>) -> Result<Recorded, serde_json::Error> {
        let sights = records.into_iter().map(serde_json::from_str).collect::<Result<_, _>>()?;
        Ok(Recorded { sights })
    }

    /// One record in the form that [`Recorded::read`] reads.
    pub fn write(filter: &str, patch: usize, sight: &Sight) -> String {
        let Sight { request, shows, .. } = sight;
        serde_json::json!({"filter": filter, "patch": patch, "request": request, "shows": shows}).to_string()
    }
}

impl Observer for Recorded {
    fn observe(&self, run: &ProxyRun<'_>) -> Result<Observed, ErrorMessage> {
        let find = |record: &Record| {
            let ids = run.plan.ids().filter(|id| run.by_id(*id).changes());
            let mut ids = ids.filter(|id| {
                let planned = run.plan.get(*id);
                run.plan.filter(*id).name == record.filter && planned.built.patch.index == record.patch
            });
            let (request, shows) = (record.request.clone(), record.shows.clone());
            ids.next().map(|patch| Sight { patch, request, shows })
        };
        let sights: Vec<Sight> = self.sights.iter().filter_map(find).collect();
        Ok(Observed { requests: sights.len(), sights, ..Observed::default() })
    }

    fn arguments(&self, _: &ProxyRun<'_>) -> String {
        "--dump DUMP -f FILTERS".to_owned()
    }
}
