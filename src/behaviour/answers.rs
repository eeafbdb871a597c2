//! The answers of stubs: rules with conditions; the first match decides.

use super::Error;
use super::http1::Fields;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

/// A text pattern; `*` matches any characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(pub String);

impl Pattern {
    /// Whether it matches a text.
    pub(crate) fn matches(&self, text: &str) -> bool {
        let mut parts = self.0.split('*');
        let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else { return false };
        let mut last = None;
        for part in parts {
            if let Some(previous) = last.replace(part) {
                let Some(at) = str::find(rest, previous) else { return false };
                rest = &rest[at + previous.len()..];
            }
        }
        match last {
            None => rest.is_empty(),
            Some(part) => rest.ends_with(part),
        }
    }
}

/// The protocol of a stub: plain HTTP, or one of the services that Envoy's filters call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Service {
    /// HTTP/1.1 and HTTP/2.
    Http,
    /// `envoy.service.auth.v3.Authorization`.
    ExtAuthz,
    /// `envoy.service.ratelimit.v3.RateLimitService`.
    RateLimit,
    /// `envoy.service.ext_proc.v3.ExternalProcessor`.
    ExtProc,
    /// Any other gRPC method.
    Grpc,
    /// A JSON Web Key Set with the key of minted tokens.
    Jwks,
    /// Bytes.
    Tcp,
}

impl Service {
    /// Every service.
    pub(crate) const ALL: [Service; 7] = [
        Service::Http,
        Service::ExtAuthz,
        Service::RateLimit,
        Service::ExtProc,
        Service::Grpc,
        Service::Jwks,
        Service::Tcp,
    ];

    /// Its name in test files and reports.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Service::Http => "http",
            Service::ExtAuthz => "ext_authz",
            Service::RateLimit => "ratelimit",
            Service::ExtProc => "ext_proc",
            Service::Grpc => "grpc",
            Service::Jwks => "jwks",
            Service::Tcp => "tcp",
        }
    }

    /// The service of a gRPC path.
    pub(crate) fn of_grpc(path: &str) -> Service {
        match path.trim_start_matches('/').split('/').next().unwrap_or_default() {
            "envoy.service.auth.v3.Authorization" => Service::ExtAuthz,
            "envoy.service.ratelimit.v3.RateLimitService" => Service::RateLimit,
            "envoy.service.ext_proc.v3.ExternalProcessor" => Service::ExtProc,
            _ => Service::Grpc,
        }
    }
}

impl fmt::Display for Service {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// An answer with its conditions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// Conditions: `path`, `method`, `phase` (ext_proc), the name of a header field or the key of a rate limit descriptor.
    pub when: Vec<(String, Pattern)>,
    /// Status: of HTTP; for `grpc` that of gRPC; for ext_authz and ext_proc, 200 continues and others answer
    /// immediately.
    pub status: Option<u16>,
    /// Header fields: of the answer; for ext_authz and ext_proc those to set.
    pub headers: Fields,
    /// Header fields to remove (ext_authz, ext_proc).
    pub remove: Vec<String>,
    /// Body of the answer, or the new body (ext_proc).
    pub body: Option<Vec<u8>>,
    /// Whether the rate limit is exceeded.
    pub over_limit: bool,
    /// Whether to answer with the request as JSON.
    pub echo: bool,
    /// How long to wait before the answer.
    pub delay: Option<Duration>,
    /// Whether to close the connection instead of answering.
    pub reset: bool,
    /// How many calls the rule answers before the next matching one takes over.
    pub times: Option<u64>,
}

/// The answers of one upstream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stub {
    /// Rules for each service.
    pub rules: BTreeMap<Service, Vec<Rule>>,
}

impl Stub {
    /// A stub that answers every call the same way.
    pub(crate) fn always(service: Service, rule: Rule) -> Stub {
        Stub { rules: BTreeMap::from([(service, vec![rule])]) }
    }

    /// Appends the rules of another stub.
    pub(crate) fn extend(&mut self, other: &Stub) {
        for (service, rules) in &other.rules {
            self.rules.entry(*service).or_default().extend(rules.iter().cloned());
        }
    }
}

/// The stub of each cluster: the closest name wins.
pub(super) fn resolve(
    stubs: &BTreeMap<String, Stub>,
    clusters: &[String],
    keys: &BTreeSet<String>,
    strict: bool,
) -> Result<BTreeMap<String, Stub>, Error> {
    let host = |cluster: &str| cluster.split('|').nth(3).unwrap_or_default().to_owned();
    let near = |name: &str, cluster: &str| {
        let host = host(cluster);
        if name == cluster {
            Some(0)
        } else if !host.is_empty() && name == host {
            Some(1)
        } else if !host.is_empty() && host.split('.').next() == Some(name)
            || host.split('.').take(2).collect::<Vec<_>>().join(".") == name
        {
            Some(2)
        } else if name == "upstream" && cluster.starts_with("inbound|") {
            Some(3)
        } else {
            (name == "*").then_some(4)
        }
    };
    let nobody = |name: &&String| *name != "upstream" && !clusters.iter().any(|cluster| near(name, cluster).is_some());
    if let Some(name) = stubs.keys().find(nobody).filter(|_| strict) {
        return Err(Error::UnknownStub(name.clone(), clusters.to_vec()));
    }
    let mut out: BTreeMap<String, Stub> = BTreeMap::new();
    for cluster in clusters {
        let mut of: Vec<(u8, &Stub)> =
            stubs.iter().filter_map(|(name, stub)| Some((near(name, cluster)?, stub))).collect();
        of.sort_by_key(|(near, _)| *near);
        let mut all = Stub::default();
        of.iter().for_each(|(_, stub)| all.extend(stub));
        if keys.contains(cluster) {
            all.rules.entry(Service::Jwks).or_default();
        }
        out.insert(cluster.clone(), all);
    }
    Ok(out)
}

/// Rules that count their answers.
#[derive(Debug, Default)]
pub(super) struct Counted {
    stub: Stub,
    used: BTreeMap<(Service, usize), u64>,
}

impl Counted {
    pub(super) fn new(stub: Stub) -> Counted {
        Counted { stub, used: BTreeMap::new() }
    }

    /// Whether there are rules for a service.
    pub(super) fn has(&self, service: Service) -> bool {
        self.stub.rules.contains_key(&service)
    }

    /// The rule for a call; `value` returns the call's properties.
    pub(super) fn rule(&mut self, service: Service, value: &dyn Fn(&str) -> Vec<String>) -> Option<Rule> {
        let rules = self.stub.rules.get(&service)?;
        for (index, rule) in rules.iter().enumerate() {
            let used = self.used.entry((service, index)).or_default();
            if rule.times.is_some_and(|times| *used >= times) {
                continue;
            }
            let holds = |(key, pattern): &(String, Pattern)| value(key).iter().any(|value| pattern.matches(value));
            if rule.when.iter().all(holds) {
                *used += 1;
                return Some(rule.clone());
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_anything() {
        for (pattern, text, matches) in [
            ("/deny*", "/deny/1", true),
            ("/deny*", "/den", false),
            ("*.example", "a.example", true),
            ("a*b*c", "a-b-c", true),
            ("a*b*c", "a-c", false),
            ("a*a", "a", false),
            ("/", "/", true),
            ("/", "/x", false),
            ("*", "", true),
        ] {
            assert_eq!(Pattern(pattern.to_owned()).matches(text), matches, "{pattern} {text}");
        }
    }

    #[test]
    fn a_rule_answers_the_configured_number_of_times() {
        let rules = vec![
            Rule { status: Some(503), times: Some(1), ..Rule::default() },
            Rule { when: vec![("path".to_owned(), Pattern("/a".to_owned()))], status: Some(201), ..Rule::default() },
        ];
        let mut counted = Counted::new(Stub { rules: BTreeMap::from([(Service::Http, rules)]) });
        let mut ask = |path: &str| {
            let value = |key: &str| if key == "path" { vec![path.to_owned()] } else { Vec::new() };
            counted.rule(Service::Http, &value).and_then(|rule| rule.status)
        };
        assert_eq!([ask("/b"), ask("/a"), ask("/b")], [Some(503), Some(201), None]);
    }
}
