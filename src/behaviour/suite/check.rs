//! Compares observations with expectations.

use super::{Expectation, Mismatch, Of, Wanted};
use crate::behaviour::http1::get;
use crate::behaviour::sandbox::{Exchange, Sandbox};
use crate::behaviour::{Failure, Fields, Protocol, Request, Service};
use std::collections::BTreeMap;

/// The mismatches.
pub(super) fn check(
    expectations: &[Expectation],
    exchanges: &[Exchange],
    sandbox: &Sandbox<'_>,
    request: &Request,
    without: bool,
) -> Vec<Mismatch> {
    let wrong = |one: &Expectation| {
        let found = Found { exchanges, sandbox, request };
        let actual = found.values(&one.of);
        let wanted = &one.wanted;
        (!holds(&one.of, wanted, &actual)).then(|| Mismatch {
            span: one.span,
            what: name(&one.of),
            expected: words(&one.of, wanted),
            actual: shown(&actual),
            header: header(&one.of, &actual),
            without,
        })
    };
    expectations.iter().filter_map(wrong).collect()
}

/// An observation: texts, or numbers by name.
enum Actual {
    Texts(Vec<String>),
    Number(u64),
    Counts(BTreeMap<String, u64>),
}

struct Found<'f, 'h> {
    exchanges: &'f [Exchange],
    sandbox: &'f Sandbox<'h>,
    request: &'f Request,
}

/// The test file's name for an exchange that ended early.
pub(super) fn failure_word(failure: Option<&Failure>) -> &'static str {
    match failure {
        None => "none",
        Some(Failure::Closed) => "closed",
        Some(Failure::Reset(_)) => "reset",
        Some(Failure::Handshake(_)) => "tls",
        Some(Failure::TimedOut) => "timed-out",
        Some(Failure::NotHttp(_)) => "not-http",
        Some(Failure::Invalid(_)) => "invalid",
        Some(Failure::Tunnel(_)) => "tunnel",
    }
}

impl Found<'_, '_> {
    fn last(&self) -> Option<&Exchange> {
        self.exchanges.last()
    }

    fn texts(&self, of: impl Fn(&Exchange) -> Vec<String>) -> Actual {
        Actual::Texts(self.last().map(of).unwrap_or_default())
    }

    fn path(&self, of: impl Fn(&crate::behaviour::Path) -> String) -> Actual {
        self.texts(|exchange| exchange.path().map(&of).filter(|text| !text.is_empty()).into_iter().collect())
    }

    fn upstream(&self, of: impl Fn(&crate::behaviour::Call) -> Vec<String>) -> Actual {
        self.texts(|exchange| exchange.upstream().last().map(&of).unwrap_or_default())
    }

    fn values(&self, of: &Of) -> Actual {
        let all = |fields: &Fields, name: &str| -> Vec<String> {
            let of = fields.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name));
            // A name with capital letters must match in case.
            let cased = name.chars().any(|c| c.is_ascii_uppercase());
            of.filter(|(key, _)| !cased || key == name).map(|(_, value)| value.clone()).collect()
        };
        match of {
            Of::Status => {
                self.texts(|exchange| exchange.client.status.map(|status| status.to_string()).into_iter().collect())
            }
            Of::Statuses => {
                let mut counts: BTreeMap<String, u64> = BTreeMap::new();
                for exchange in self.exchanges {
                    let word = exchange.client.status.map_or_else(
                        || failure_word(exchange.client.failure.as_ref()).to_owned(),
                        |status| status.to_string(),
                    );
                    *counts.entry(word).or_default() += 1;
                }
                Actual::Counts(counts)
            }
            Of::Header(name) => self.texts(|exchange| all(&exchange.client.headers, name)),
            Of::Trailer(name) => self.texts(|exchange| {
                let own = all(&exchange.client.trailers, name);
                // A gRPC response without a message has its trailers in the header.
                if own.is_empty() && self.request.protocol == Protocol::Grpc {
                    all(&exchange.client.headers, name)
                } else {
                    own
                }
            }),
            Of::Body => self.texts(|exchange| vec![exchange.client.body.text()]),
            Of::Failure => self.texts(|exchange| vec![failure_word(exchange.client.failure.as_ref()).to_owned()]),
            Of::UpstreamCalls => {
                Actual::Number(self.exchanges.iter().map(|exchange| exchange.upstream().count() as u64).sum())
            }
            Of::Cluster => self.path(|path| path.cluster.clone()),
            Of::UpstreamMethod => self.upstream(|call| vec![call.method.clone()]),
            Of::UpstreamPath => self.upstream(|call| vec![call.path.clone()]),
            Of::UpstreamBody => self.upstream(|call| vec![call.body.text()]),
            Of::UpstreamHeader(name) => self.upstream(|call| {
                let own = all(&call.headers, name);
                if own.is_empty() && name.eq_ignore_ascii_case("host") {
                    get(&call.headers, ":authority").map(str::to_owned).into_iter().collect()
                } else {
                    own
                }
            }),
            Of::StoppedBy => self.texts(|exchange| {
                let of = |step: &crate::behaviour::Step| {
                    let chain = self.sandbox.chains.get(step.chain)?;
                    chain.http.get(step.filter).map(|filter| filter.name.clone())
                };
                vec![exchange.stopped().and_then(of).unwrap_or_else(|| "none".to_owned())]
            }),
            Of::Details => self.path(|path| path.details.clone()),
            Of::Flags => self.path(|path| path.flags.clone()),
            Of::Closed => self.path(|path| path.closed.clone()),
            Of::Listener => self.path(|path| path.listener.clone()),
            Of::FilterChain => self.path(|path| path.chain_name.clone()),
            Of::VirtualHost => self.path(|path| path.vhost.clone()),
            Of::Route => self.path(|path| path.route.clone()),
            Of::Object => self.path(|path| path.object.clone()),
            Of::Peer => self.path(|path| path.peer.clone()),
            Of::Log => Actual::Texts(
                self.exchanges
                    .iter()
                    .flat_map(|exchange| exchange.steps.iter().flat_map(|step| &step.said).chain(&exchange.said))
                    .map(|said| said.text.clone())
                    .collect(),
            ),
            Of::AccessLog => {
                Actual::Texts(self.exchanges.iter().flat_map(|exchange| exchange.access_log.clone()).collect())
            }
            Of::Asked(name) => {
                let means = |cluster: &str| {
                    let host = cluster.split('|').nth(3).unwrap_or_default();
                    cluster == name || host == name || host.split('.').next() == Some(name.as_str())
                };
                let service = Service::ALL.into_iter().find(|service| service.as_str() == name);
                let of = |exchange: &Exchange| {
                    exchange.asked().filter(|call| means(&call.cluster) || service == Some(call.service)).count() as u64
                };
                Actual::Number(self.exchanges.iter().map(of).sum())
            }
            Of::AtLeast => Actual::Number(self.last().map_or(0, |exchange| exchange.client.micros / 1_000)),
            Of::Attempts => Actual::Number(self.last().and_then(Exchange::path).map_or(0, |path| path.attempts)),
        }
    }
}

fn holds(of: &Of, wanted: &Wanted, actual: &Actual) -> bool {
    match (wanted, actual) {
        (Wanted::Absent, Actual::Texts(texts)) => texts.is_empty(),
        (Wanted::Absent, Actual::Number(number)) => *number == 0,
        (Wanted::Present, Actual::Texts(texts)) => texts.iter().any(|text| !text.is_empty()),
        (Wanted::Present, Actual::Number(number)) => *number > 0,
        (Wanted::Is(pattern), Actual::Texts(texts)) => match of {
            // Any of the lines may match.
            Of::Log | Of::AccessLog => texts
                .iter()
                .any(|text| pattern.matches(text) || (!pattern.0.contains('*') && text.contains(&pattern.0))),
            Of::Body | Of::UpstreamBody => {
                texts.iter().any(|text| pattern.matches(text) || pattern.matches(text.trim_end()))
            }
            Of::Flags => texts.iter().any(|text| text.split(',').any(|flag| pattern.matches(flag))),
            _ => {
                texts.iter().any(|text| pattern.matches(text)) || pattern.matches(&texts.join(",")) && !texts.is_empty()
            }
        },
        (Wanted::IsNot(pattern), Actual::Texts(texts)) => !texts.iter().any(|text| {
            pattern.matches(text)
                || (matches!(of, Of::Log | Of::AccessLog) && !pattern.0.contains('*') && text.contains(&pattern.0))
        }),
        (Wanted::Number(wanted), Actual::Number(actual)) if *of == Of::AtLeast => actual >= wanted,
        (Wanted::Number(wanted), Actual::Number(actual)) => wanted == actual,
        (Wanted::Number(wanted), Actual::Texts(texts)) => texts.iter().any(|text| *text == wanted.to_string()),
        (Wanted::Counts(wanted), Actual::Counts(actual)) => wanted == actual,
        _ => false,
    }
}

/// The report's name of an expectation: the keys of the test file.
pub(super) fn name(of: &Of) -> String {
    match of {
        Of::Status | Of::Statuses => "status".to_owned(),
        Of::Header(name) => format!("headers.{name}"),
        Of::Trailer(name) => format!("trailers.{name}"),
        Of::Body => "body".to_owned(),
        Of::Failure => "failure".to_owned(),
        Of::UpstreamCalls => "upstream.calls".to_owned(),
        Of::Cluster => "upstream.cluster".to_owned(),
        Of::UpstreamMethod => "upstream.method".to_owned(),
        Of::UpstreamPath => "upstream.path".to_owned(),
        Of::UpstreamBody => "upstream.body".to_owned(),
        Of::UpstreamHeader(name) => format!("upstream.headers.{name}"),
        Of::StoppedBy => "stopped-by".to_owned(),
        Of::Details => "details".to_owned(),
        Of::Flags => "flags".to_owned(),
        Of::Closed => "closed".to_owned(),
        Of::Listener => "listener".to_owned(),
        Of::FilterChain => "filter-chain".to_owned(),
        Of::VirtualHost => "virtual-host".to_owned(),
        Of::Route => "route".to_owned(),
        Of::Object => "object".to_owned(),
        Of::Peer => "peer".to_owned(),
        Of::Log => "log".to_owned(),
        Of::AccessLog => "access-log".to_owned(),
        Of::Asked(name) => format!("asked.{name}"),
        Of::AtLeast => "at-least".to_owned(),
        Of::Attempts => "attempts".to_owned(),
    }
}

fn words(of: &Of, wanted: &Wanted) -> String {
    let lines = matches!(of, Of::Log | Of::AccessLog);
    match wanted {
        Wanted::Is(pattern) if lines => format!("a line with {:?}", pattern.0),
        Wanted::Is(pattern) => format!("{:?}", pattern.0),
        Wanted::IsNot(pattern) if lines => format!("no line with {:?}", pattern.0),
        Wanted::IsNot(pattern) => format!("not {:?}", pattern.0),
        Wanted::Present => "present".to_owned(),
        Wanted::Absent => "absent".to_owned(),
        Wanted::Number(number) if *of == Of::AtLeast => format!("at least {number} ms"),
        Wanted::Number(number) => number.to_string(),
        Wanted::Counts(counts) => of_counts(counts),
    }
}

fn of_counts(counts: &BTreeMap<String, u64>) -> String {
    counts.iter().map(|(word, times)| format!("{word} × {times}")).collect::<Vec<_>>().join(", ")
}

fn shown(actual: &Actual) -> String {
    match actual {
        Actual::Texts(texts) if texts.is_empty() => "absent".to_owned(),
        Actual::Texts(texts) => texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", "),
        Actual::Number(number) => number.to_string(),
        Actual::Counts(counts) => of_counts(counts),
    }
}

/// A text in quotes, or the start of a long one.
fn quoted(text: &str) -> String {
    const LENGTH: usize = 300;
    let text = format!("{text:?}");
    if text.chars().count() > LENGTH { text.chars().take(LENGTH).chain(['…']).collect() } else { text }
}

/// The name and the values of a header field, as they are shown.
fn header(of: &Of, actual: &Actual) -> Option<(String, Vec<String>)> {
    let (Of::Header(name) | Of::Trailer(name) | Of::UpstreamHeader(name), Actual::Texts(texts)) = (of, actual) else {
        return None;
    };
    let inner = |text: &String| quoted(text).trim_start_matches('"').trim_end_matches(['"', '…']).to_owned();
    Some((name.clone(), texts.iter().map(inner).collect()))
}
