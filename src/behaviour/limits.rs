//! Rate limits under standard requests: a bucket is emptied and must then reject requests.

use super::Error;
use super::asks::Written;
use super::client::Failure;
use super::purpose::{Bucket, Limit, Purpose};
use super::request::Request;
use super::sandbox::Exchange;
use super::standard::{Found, Sent};
use crate::engine::PatchId;
use crate::trial::Shows;
use std::time::Instant;

/// Size of the largest bucket that is emptied.
const TOKENS: u64 = 100;

/// A bucket, and the request that takes from it.
struct Under {
    patch: PatchId,
    filter: String,
    network: bool,
    descriptor: Option<String>,
    bucket: Bucket,
    request: Request,
}

impl Under {
    /// The display name of the filter.
    fn name(&self) -> String {
        let kind = if self.network { "network" } else { "HTTP" };
        let descriptor = self.descriptor.as_ref().map(|one| format!(", descriptor {one},")).unwrap_or_default();
        format!("{kind} filter {}{descriptor}", self.filter)
    }

    fn same(&self, other: &Under) -> bool {
        self.patch == other.patch && self.filter == other.filter && self.descriptor == other.descriptor
    }
}

/// The buckets to check, and what is known about others.
#[derive(Default)]
struct Buckets {
    all: Vec<Under>,
    sights: Vec<(PatchId, Shows, String)>,
    unknown: Vec<String>,
}

fn words(descriptor: &[(String, String)]) -> String {
    let entry = |(key, value): &(String, String)| {
        if value.is_empty() { key.clone() } else { format!("{key}={value}") }
    };
    descriptor.iter().map(entry).collect::<Vec<_>>().join(", ")
}

impl Buckets {
    fn add(&mut self, one: Under) {
        if !self.all.iter().any(|other| other.same(&one)) {
            self.all.push(one);
        }
    }

    /// The buckets of an HTTP filter that a request reached.
    fn of_limit(&mut self, patch: PatchId, filter: &str, limit: &Limit, route: &[Option<Written>], request: &Request) {
        let under = |descriptor, bucket, request| Under {
            patch,
            filter: filter.to_owned(),
            network: false,
            descriptor,
            bucket,
            request,
        };
        if let Some(bucket) = limit.bucket {
            self.add(under(None, bucket, request.clone()));
        }
        let written = if limit.written.is_empty() { route } else { &limit.written };
        for (descriptor, bucket) in &limit.descriptors {
            let name = words(descriptor);
            let met = written.iter().flatten().find_map(|one| one.meets(descriptor));
            if let Some(ask) = met {
                self.add(under(Some(name), *bucket, ask.put_in(request)));
            } else if written.iter().any(Option::is_none) {
                self.unknown.push(format!(
                    "not checked whether HTTP filter {filter} limits descriptor {name}: its actions depend on more than the request"
                ));
            } else {
                let written = written.iter().flatten().map(Written::in_words).collect();
                let shows = Shows::NoDescriptor { filter: filter.to_owned(), descriptor: name, written };
                self.sights.push((patch, shows, request.in_words()));
            }
        }
    }
}

impl Found<'_> {
    /// The buckets that the requests reached.
    fn buckets(&self) -> Buckets {
        let mut found = Buckets::default();
        for Sent { request, exchange } in &self.sent {
            for step in exchange.steps.iter().filter(|step| step.reached) {
                let Some(filter) = self.filter(step) else { continue };
                let setting = self.setting(exchange, &filter.name).filter(|it| it.purpose != Purpose::Other);
                let (purpose, writers) = match setting {
                    Some(setting) if setting.disabled => continue,
                    Some(setting) => (&setting.purpose, &setting.writers),
                    None => (&filter.purpose, &filter.writers),
                };
                let (Purpose::Limit(limit), Some(&patch)) = (purpose, writers.first()) else { continue };
                let route = self.route(exchange).map_or(&[][..], |route| route.written.as_slice());
                found.of_limit(patch, &filter.name, limit, route, request);
            }
            let chains = exchange.paths.iter().filter_map(|path| self.sandbox.chains.get(path.chain?));
            for one in chains.flat_map(|chain| &chain.changed) {
                if let (Purpose::Limit(Limit { bucket: Some(bucket), .. }), Some(&patch)) =
                    (&one.purpose, one.writers.first())
                {
                    let (filter, request) = (one.name.clone(), request.clone());
                    found.add(Under { patch, filter, network: true, descriptor: None, bucket: *bucket, request });
                }
            }
        }
        // A descriptor that another request produces has an effect.
        let met: Vec<(PatchId, String)> =
            found.all.iter().filter_map(|one| Some((one.patch, one.descriptor.clone()?))).collect();
        found.sights.retain(|(patch, shows, _)| match shows {
            Shows::NoDescriptor { descriptor, .. } => !met.contains(&(*patch, descriptor.clone())),
            _ => true,
        });
        found
    }

    /// Limits that do not limit; what is unknown about others, as sentences.
    pub(super) fn limits(&mut self) -> Result<Vec<String>, Error> {
        let Buckets { all, sights, mut unknown } = self.buckets();
        sights.into_iter().for_each(|(patch, shows, request)| self.add(patch, shows, request));
        for one in all {
            let (name, bucket, words) = (one.name(), one.bucket, one.request.in_words());
            let bites = |exchange: &Exchange| if one.network { closed(exchange) } else { limited(exchange) };
            if self.sent.iter().any(|sent| sent.request == one.request && bites(&sent.exchange)) {
                continue;
            }
            if bucket.tokens > TOKENS {
                unknown.push(format!(
                    "not checked whether {name} limits `{words}`: its bucket holds {} tokens, more than {TOKENS}",
                    bucket.tokens
                ));
                continue;
            }
            let (began, mut requests, mut bitten) = (Instant::now(), 0, false);
            // A bucket that is refilled once during the test is empty after twice its tokens.
            while requests < 2 * bucket.tokens + 3 && !bitten {
                bitten = bites(&self.sandbox.send(&one.request)?);
                requests += 1;
            }
            let fills = began.elapsed().as_nanos().checked_div(bucket.interval.as_nanos()).unwrap_or(u128::MAX);
            let allowed = u128::from(bucket.tokens)
                .saturating_add(fills.saturating_add(1).saturating_mul(bucket.added.min(bucket.tokens).into()));
            if !bitten && u128::from(requests) > allowed {
                let Under { filter, network, descriptor, .. } = one;
                let tokens = Some(bucket.tokens);
                self.add(one.patch, Shows::NeverLimits { filter, network, descriptor, requests, tokens }, words);
            } else if !bitten {
                unknown.push(format!(
                    "not checked whether {name} limits `{words}`: its bucket fills faster than requests come"
                ));
            }
        }
        unknown.dedup();
        Ok(unknown)
    }
}

/// Whether a rate limit answered a request.
fn limited(exchange: &Exchange) -> bool {
    exchange.paths.iter().any(|path| path.details.contains("rate_limited"))
}

/// Whether a connection ended before an answer.
fn closed(exchange: &Exchange) -> bool {
    matches!(exchange.client.failure, Some(Failure::Closed | Failure::Reset(_)))
}
