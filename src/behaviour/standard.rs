//! Standard requests: a few ordinary ones for each patch in effect, and the problems that they show.

use super::answers::Service;
use super::asks::Ask;
use super::chains::{Chain, HttpFilter, Route};
use super::draft::drafts;
use super::purpose::{Purpose, RouteSetting};
use super::request::{Protocol, Request, Wanted};
use super::sandbox::{Exchange, Host, Sandbox, Settings, Subject};
use super::{Error, Step};
use crate::engine::PatchId;
use crate::trial::{Observed, Shows, Sight};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Maximum number of requests for what patches wrote, not counting those that exhaust a limit.
const REQUESTS: usize = 256;

/// How long an answer may take.
const TIME: Duration = Duration::from_secs(3);

/// Envoy's counters of scripts that failed.
const SCRIPT_ERRORS: &str = "lua.*errors$";

/// A request with its observations.
pub(super) struct Sent {
    pub(super) request: Request,
    pub(super) exchange: Exchange,
}

/// Sends the standard requests through a configuration.
pub fn observe(host: &Host, settings: &Settings, subject: &Subject<'_, '_>) -> Result<Observed, Error> {
    let drafts = drafts(subject, &[]);
    let unmet: Vec<PatchId> = drafts.iter().filter(|it| it.request.is_none()).flat_map(|it| it.ids.clone()).collect();
    let drafted: Vec<(&Request, &[PatchId])> =
        drafts.iter().filter_map(|draft| Some((draft.request.as_ref()?, draft.ids.as_slice()))).collect();
    if drafted.is_empty() {
        return Ok(Observed { unmet, ..Observed::default() });
    }
    let coming = Sandbox::start(settings)?;
    let wanted = Wanted::of(drafted.iter().map(|(request, _)| *request), &subject.config.proxy.workload);
    let mut sandbox = Sandbox::open(host, coming, subject, settings, &wanted, false)?;
    let read = fields_read(&sandbox);
    let mut requests: Vec<Request> = Vec::new();
    for (request, patches) in drafted {
        let asked = asked(&sandbox, patches);
        for request in variants(request, &read, &asked) {
            if !requests.contains(&request) {
                requests.push(request);
            }
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
    found.network_services();
    unknown.extend(found.limits()?);
    let requests = found.sent.len();
    let sights = found.sights.into_iter().map(|((patch, shows), request)| Sight { patch, request, shows }).collect();
    Ok(Observed { sights, requests, unmet, unknown })
}

/// The requests derived from what these patches wrote.
fn asked(sandbox: &Sandbox<'_>, patches: &[PatchId]) -> Vec<Ask> {
    let of = |writers: &[PatchId]| writers.iter().any(|writer| patches.contains(writer));
    let filters = sandbox.chains.iter().flat_map(|chain| &chain.http);
    let of_filters = filters.filter(|filter| of(&filter.writers)).flat_map(|filter| &filter.asks);
    let settings = sandbox.routes.iter().flat_map(|route| &route.settings);
    let of_settings = settings.filter(|setting| of(&setting.writers)).flat_map(|setting| &setting.asks);
    let mut all: Vec<Ask> = Vec::new();
    for ask in of_filters.chain(of_settings) {
        if !all.contains(ask) {
            all.push(ask.clone());
        }
    }
    all
}

/// Variants of a drafted request: unchanged, bare, with a body, with the header fields that scripts read, and one for
/// each match under test.
fn variants(drafted: &Request, read: &BTreeSet<String>, asked: &[Ask]) -> Vec<Request> {
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
    let matched: Vec<Request> = asked.iter().map(|ask| ask.put_in(&plain)).collect();
    [vec![plain, bare, post, full], matched].concat()
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

pub(super) struct Found<'h> {
    pub(super) sandbox: Sandbox<'h>,
    pub(super) sent: Vec<Sent>,
    /// Problems, with the first request that shows each.
    sights: BTreeMap<(PatchId, Shows), String>,
}

impl Found<'_> {
    pub(super) fn add(&mut self, patch: PatchId, shows: Shows, request: String) {
        self.sights.entry((patch, shows)).or_insert(request);
    }

    /// The route that a request took.
    pub(super) fn route(&self, exchange: &Exchange) -> Option<&Route> {
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

    pub(super) fn filter(&self, step: &Step) -> Option<&HttpFilter> {
        self.sandbox.chains.get(step.chain)?.http.get(step.filter)
    }

    /// The setting of a request's route for an HTTP filter: the closest one wins.
    pub(super) fn setting(&self, exchange: &Exchange, key: &str) -> Option<&RouteSetting> {
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
                    // A script's own error message has no script location in front.
                    let place = said.text.strip_prefix("[string \"").and_then(|it| it.split_once("\"]:"));
                    let Some((line, words)) = place.and_then(|(_, words)| words.split_once(": ")) else { continue };
                    let Ok(line) = line.parse() else { continue };
                    let shows = Shows::ScriptFails {
                        filter: filter.name.clone(),
                        line,
                        words: words.to_owned(),
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
        // A setting that some request uses has an effect, even if others do not.
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

    /// Network filters that should call a service but do not.
    fn network_services(&mut self) {
        let mut all = Vec::new();
        for (number, chain) in self.sandbox.chains.iter().enumerate() {
            let met = |sent: &&Sent| sent.exchange.paths.iter().any(|path| path.chain == Some(number));
            let met: Vec<&Sent> = self.sent.iter().filter(met).collect();
            let (Some(first), requests) = (met.first(), met.len() as u64) else { continue };
            for one in &chain.changed {
                let Some(&patch) = one.writers.first() else { continue };
                let asked = |service| met.iter().any(|sent| sent.exchange.asked().any(|call| call.service == service));
                let filter = one.name.clone();
                let shows = match one.purpose {
                    Purpose::Authorization if !asked(Service::ExtAuthz) => {
                        Shows::NeverAsks { filter, network: true, requests, token: false }
                    }
                    Purpose::LimitService if !asked(Service::RateLimit) => {
                        Shows::NeverLimits { filter, network: true, descriptor: None, requests, tokens: None }
                    }
                    _ => continue,
                };
                all.push((patch, shows, first.request.in_words()));
            }
        }
        all.into_iter().for_each(|(patch, shows, request)| self.add(patch, shows, request));
    }

    /// Filters that should call a service or require a token but do not.
    fn services(&mut self) {
        let mut all = Vec::new();
        for (number, chain) in self.sandbox.chains.iter().enumerate() {
            for (at, filter) in chain.http.iter().enumerate() {
                let Some(patch) = filter.by.or_else(|| filter.writers.first().copied()) else { continue };
                let mut met = self.reached(number, at, &filter.name);
                if filter.purpose == Purpose::LimitService {
                    // A service is called for the descriptors of routes; if one has any, only that route counts.
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
                        Shows::NeverAsks { filter: name, network: false, requests, token: false }
                    }
                    Purpose::LimitService if !asks(Service::RateLimit) => {
                        Shows::NeverLimits { filter: name, network: false, descriptor: None, requests, tokens: None }
                    }
                    Purpose::Token if met.iter().all(|(_, step)| step.passed) => {
                        Shows::NeverAsks { filter: name, network: false, requests, token: true }
                    }
                    _ => continue,
                };
                all.push((patch, shows, first.request.in_words()));
            }
        }
        all.into_iter().for_each(|(patch, shows, request)| self.add(patch, shows, request));
    }
}
