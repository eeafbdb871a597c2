//! Standard requests: a few ordinary ones for each patch in effect, and what they show to be wrong.

use super::answers::Service;
use super::draft::drafts;
use super::listeners::{Chain, HttpFilter, Route};
use super::purpose::{Bucket, Purpose, RouteSetting};
use super::request::{Protocol, Request, Wanted};
use super::sandbox::{Exchange, Host, Sandbox, Settings, Subject};
use super::{Error, Step};
use crate::engine::PatchId;
use crate::trial::{Observed, Shows, Sight};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Most requests that are sent for what patches wrote, without those that fill a limit.
const REQUESTS: usize = 256;

/// Largest bucket that is emptied.
const TOKENS: u64 = 100;

/// How long an answer may take.
const TIME: Duration = Duration::from_secs(3);

/// Envoy's counters of scripts that failed.
const SCRIPT_ERRORS: &str = "lua.*errors$";

/// A request with what was seen of it.
struct Sent {
    request: Request,
    exchange: Exchange,
}

/// Sends the standard requests through a configuration.
pub fn observe(host: &Host, settings: &Settings, subject: &Subject<'_, '_>) -> Result<Observed, Error> {
    let drafts = drafts(subject, &[]);
    let unmet: Vec<PatchId> = drafts.iter().filter(|it| it.request.is_none()).flat_map(|it| it.ids.clone()).collect();
    let drafted: Vec<&Request> = drafts.iter().filter_map(|draft| draft.request.as_ref()).collect();
    if drafted.is_empty() {
        return Ok(Observed { unmet, ..Observed::default() });
    }
    let coming = Sandbox::start(settings)?;
    let wanted = Wanted::of(drafted.iter().copied(), &subject.config.proxy.workload);
    let mut sandbox = Sandbox::open(host, coming, subject, settings, &wanted, false)?;
    let read = fields_read(&sandbox);
    let mut requests: Vec<Request> = Vec::new();
    for request in drafted.into_iter().flat_map(|request| variants(request, &read)) {
        if !requests.contains(&request) {
            requests.push(request);
        }
    }
    let mut unknown = Vec::new();
    if requests.len() > REQUESTS {
        unknown.push(format!("only the first {REQUESTS} of {} standard requests were sent", requests.len()));
        requests.truncate(REQUESTS);
    }
    let mut sent = Vec::new();
    for request in requests {
        match sandbox.send(&request) {
            Ok(exchange) => sent.push(Sent { request, exchange }),
            Err(error @ (Error::Died(..) | Error::Hangs(..))) => return Err(error),
            Err(error) => unknown.push(format!("{} was not sent: {error}", request.in_words())),
        }
    }
    let failed = sandbox.counters(SCRIPT_ERRORS)?.iter().any(|(_, count)| *count > 0);
    let mut found = Found { sandbox, sent, sights: BTreeMap::new() };
    if failed {
        found.scripts();
    }
    found.settings();
    found.services();
    unknown.extend(found.limits()?);
    let requests = found.sent.len();
    let sights = found.sights.into_iter().map(|((patch, shows), request)| Sight { patch, request, shows }).collect();
    Ok(Observed { sights, requests, unmet, unknown })
}

/// The requests that stand for a drafted one: as it is, with a body, and with the header fields that scripts read.
fn variants(drafted: &Request, read: &BTreeSet<String>) -> Vec<Request> {
    let plain = Request { timeout: TIME, ..drafted.clone() };
    if plain.protocol == Protocol::Tcp {
        return vec![plain];
    }
    let bare = Request { method: "GET".to_owned(), headers: Vec::new(), ..plain.clone() };
    let with = |mut request: Request, name: &str, value: &str| {
        if !request.headers.iter().any(|(key, _)| key.eq_ignore_ascii_case(name)) {
            request.headers.push((name.to_owned(), value.to_owned()));
        }
        request
    };
    let mut post = Request { method: "POST".to_owned(), body: b"{\"a\": 1}".to_vec(), ..plain.clone() };
    post = with(post, "content-type", "application/json");
    let mut full = plain.clone();
    for name in read.iter().filter(|name| *name != "host" && *name != "content-length") {
        full = with(full, name, "1");
    }
    vec![plain, bare, post, full]
}

/// The header fields that scripts of the configuration read.
fn fields_read(sandbox: &Sandbox<'_>) -> BTreeSet<String> {
    let filters = sandbox.chains.iter().flat_map(|chain| &chain.http).map(|filter| (&filter.writers, &filter.purpose));
    let routes = sandbox.routes.iter().flat_map(|route| &route.settings).map(|it| (&it.writers, &it.purpose));
    let mut names = BTreeSet::new();
    for (_, purpose) in filters.chain(routes).filter(|(writers, _)| !writers.is_empty()) {
        if let Purpose::Script(read) = purpose {
            names.extend(read.iter().cloned());
        }
    }
    names
}

struct Found<'h> {
    sandbox: Sandbox<'h>,
    sent: Vec<Sent>,
    /// What is wrong, with the first request that shows it.
    sights: BTreeMap<(PatchId, Shows), String>,
}

impl Found<'_> {
    fn add(&mut self, patch: PatchId, shows: Shows, request: String) {
        self.sights.entry((patch, shows)).or_insert(request);
    }

    /// The route that a request took.
    fn route(&self, exchange: &Exchange) -> Option<&Route> {
        let path = exchange.path()?;
        let index = path.route_index?;
        self.sandbox
            .routes
            .iter()
            .find(|it| it.index == index && it.vhost == path.vhost && it.config == path.route_config)
    }

    /// The filter chain that a request took.
    fn chain(&self, exchange: &Exchange) -> Option<&Chain> {
        self.sandbox.chains.get(exchange.path()?.chain?)
    }

    fn filter(&self, step: &Step) -> Option<&HttpFilter> {
        self.sandbox.chains.get(step.chain)?.http.get(step.filter)
    }

    /// What the route of a request says for an HTTP filter: what stands nearest counts.
    fn setting(&self, exchange: &Exchange, key: &str) -> Option<&RouteSetting> {
        self.route(exchange)?.settings.iter().find(|setting| setting.key == key)
    }

    /// Scripts that failed.
    fn scripts(&mut self) {
        let mut all = Vec::new();
        for Sent { request, exchange } in &self.sent {
            for step in &exchange.steps {
                let Some(filter) = self.filter(step) else { continue };
                let of_route = self.setting(exchange, &filter.name).map(|setting| setting.writers.as_slice());
                let writer = of_route.into_iter().flatten().chain(filter.by.iter()).chain(&filter.writers).next();
                let Some(&patch) = writer else { continue };
                for said in step.said.iter().filter(|said| said.level == "error") {
                    // What a script itself says of an error has no place of the script in front.
                    let Some((_, words)) = said.text.strip_prefix("[string \"").and_then(|it| it.split_once("\"]:"))
                    else {
                        continue;
                    };
                    let shows = Shows::ScriptFails {
                        filter: filter.name.clone(),
                        words: format!("line {words}"),
                        response: said.response,
                    };
                    all.push((patch, shows, request.in_words()));
                }
            }
        }
        all.into_iter().for_each(|(patch, shows, request)| self.add(patch, shows, request));
    }

    /// Settings of routes that no HTTP filter reads.
    fn settings(&mut self) {
        let mut all = Vec::new();
        for Sent { request, exchange } in &self.sent {
            let (Some(route), Some(chain)) = (self.route(exchange), self.chain(exchange)) else { continue };
            for (at, setting) in route.settings.iter().enumerate() {
                let Some(&patch) = setting.writers.first() else { continue };
                let key = setting.key.clone();
                if !chain.http.iter().any(|filter| filter.name == setting.key) {
                    let filters = chain.http.iter().map(|filter| filter.name.clone()).collect();
                    all.push((patch, Shows::NoFilter { key, filters }, request.in_words()));
                } else if let Some(nearer) = route.settings[..at].iter().find(|it| it.key == setting.key) {
                    let by = match nearer.level {
                        0 => format!("the route {}", if route.name.is_empty() { "it takes" } else { &route.name }),
                        _ => format!("virtual host {}", route.vhost),
                    };
                    all.push((patch, Shows::Overridden { key, by }, request.in_words()));
                }
            }
        }
        // A setting that some request meets is not without effect, though others miss it.
        let used = self.settings_used();
        all.retain(|(patch, shows, _)| match shows {
            Shows::NoFilter { key, .. } | Shows::Overridden { key, .. } => !used.contains(&(*patch, key.clone())),
            _ => true,
        });
        all.into_iter().for_each(|(patch, shows, request)| self.add(patch, shows, request));
    }

    /// The settings, by patch and key, that an HTTP filter read for some request.
    fn settings_used(&self) -> BTreeSet<(PatchId, String)> {
        let mut used = BTreeSet::new();
        for Sent { exchange, .. } in &self.sent {
            let (Some(route), Some(chain)) = (self.route(exchange), self.chain(exchange)) else { continue };
            for (at, setting) in route.settings.iter().enumerate() {
                let first = !route.settings[..at].iter().any(|it| it.key == setting.key);
                if first && chain.http.iter().any(|filter| filter.name == setting.key) {
                    used.extend(setting.writers.iter().map(|patch| (*patch, setting.key.clone())));
                }
            }
        }
        used
    }

    /// The requests that reached an HTTP filter that their route does not turn off.
    fn reached<'f>(&'f self, chain: usize, filter: usize, name: &str) -> Vec<(&'f Sent, &'f Step)> {
        let step = |sent: &'f Sent| {
            let step = sent.exchange.steps.iter().find(|it| it.chain == chain && it.filter == filter && it.reached)?;
            let off = self.setting(&sent.exchange, name).is_some_and(|setting| setting.disabled);
            (!off).then_some((sent, step))
        };
        self.sent.iter().filter_map(step).collect()
    }

    /// Filters that are to ask a service or for a token, and do not.
    fn services(&mut self) {
        let mut all = Vec::new();
        for (number, chain) in self.sandbox.chains.iter().enumerate() {
            for (at, filter) in chain.http.iter().enumerate() {
                let Some(patch) = filter.by.or_else(|| filter.writers.first().copied()) else { continue };
                let mut met = self.reached(number, at, &filter.name);
                if filter.purpose == Purpose::LimitService {
                    // A service is asked about what routes say; where one says something, only that one tells.
                    let any = self.sandbox.routes.iter().any(|route| route.limited);
                    met.retain(|(sent, _)| self.route(&sent.exchange).is_some_and(|route| route.limited || !any));
                }
                let Some((first, _)) = met.first() else { continue };
                let requests = met.len() as u64;
                let asks = |service: Service| {
                    met.iter().any(|(sent, _)| {
                        sent.exchange.asked().any(|call| {
                            call.service == service
                                || (service == Service::ExtAuthz && filter.clusters.contains(&call.cluster))
                        })
                    })
                };
                let name = filter.name.clone();
                let shows = match filter.purpose {
                    Purpose::Authorization if !asks(Service::ExtAuthz) => {
                        Shows::NeverAsks { filter: name, requests, token: false }
                    }
                    Purpose::LimitService if !asks(Service::RateLimit) => {
                        Shows::NeverLimits { filter: name, requests, tokens: None }
                    }
                    Purpose::Token if met.iter().all(|(_, step)| step.passed) => {
                        Shows::NeverAsks { filter: name, requests, token: true }
                    }
                    _ => continue,
                };
                all.push((patch, shows, first.request.in_words()));
            }
        }
        all.into_iter().for_each(|(patch, shows, request)| self.add(patch, shows, request));
    }

    /// Buckets with the request that meets each: patch, HTTP filter, bucket.
    fn buckets(&self) -> Vec<(PatchId, String, Bucket, Request)> {
        let mut all: Vec<(PatchId, String, Bucket, Request)> = Vec::new();
        for Sent { request, exchange } in &self.sent {
            for step in exchange.steps.iter().filter(|step| step.reached) {
                let Some(filter) = self.filter(step) else { continue };
                let setting = self.setting(exchange, &filter.name).filter(|it| it.purpose != Purpose::Other);
                let (purpose, writers) = match setting {
                    Some(setting) if setting.disabled => continue,
                    Some(setting) => (&setting.purpose, &setting.writers),
                    None => (&filter.purpose, &filter.writers),
                };
                let (Purpose::Limit(bucket), Some(&patch)) = (purpose, writers.first()) else { continue };
                if !all.iter().any(|(other, name, ..)| *other == patch && *name == filter.name) {
                    all.push((patch, filter.name.clone(), *bucket, request.clone()));
                }
            }
        }
        all
    }

    /// Limits that do not limit; what is not known of others, as sentences.
    fn limits(&mut self) -> Result<Vec<String>, Error> {
        let mut unknown = Vec::new();
        for (patch, filter, bucket, request) in self.buckets() {
            let words = request.in_words();
            let already = self.sent.iter().any(|sent| sent.request == request && limited(&sent.exchange));
            if already {
                continue;
            }
            if bucket.tokens > TOKENS {
                unknown.push(format!(
                    "not checked whether HTTP filter {filter} limits `{words}`: its bucket holds {} tokens, more than {TOKENS}",
                    bucket.tokens
                ));
                continue;
            }
            let (began, mut requests, mut bites) = (Instant::now(), 0, false);
            // A bucket that is filled once while this runs is empty after twice its tokens.
            while requests < 2 * bucket.tokens + 3 && !bites {
                bites = limited(&self.sandbox.send(&request)?);
                requests += 1;
            }
            let fills = began.elapsed().as_nanos().checked_div(bucket.interval.as_nanos()).unwrap_or(u128::MAX);
            let allowed = u128::from(bucket.tokens)
                .saturating_add(fills.saturating_add(1).saturating_mul(bucket.added.min(bucket.tokens).into()));
            if !bites && u128::from(requests) > allowed {
                self.add(patch, Shows::NeverLimits { filter, requests, tokens: Some(bucket.tokens) }, words);
            } else if !bites {
                unknown.push(format!(
                    "not checked whether HTTP filter {filter} limits `{words}`: its bucket fills faster than requests come"
                ));
            }
        }
        Ok(unknown)
    }
}

/// Whether a request was answered by a limit.
fn limited(exchange: &Exchange) -> bool {
    exchange.paths.iter().any(|path| path.details.contains("rate_limited"))
}
