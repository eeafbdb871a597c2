//! `migrate --prove traffic`: the same requests through a proxy with the filter and with its replacement, in a real Envoy.

use crate::behaviour::{
    self, Exchange, Failure, Host, Request, Sandbox, Subject, Target, Wanted, drafts, inbound_ports, listening_ports,
};
use crate::engine::program::Program;
use crate::engine::{self, MeshSettings, Options};
use crate::load::dump::{Dump, Identity};
use crate::migrate::proof::{Apart, Traffic};
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::proxy::ProxyKind;
use crate::model::redact::Redactor;
use crate::model::release::Release;
use crate::source::ErrorMessage;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

/// Maximum number of requests sent through a proxy.
const REQUESTS: usize = 96;

/// How long an answer may take.
const TIME: Duration = Duration::from_secs(3);

/// Header fields that differ between requests.
const NOISE: &[&str] = &[
    "date",
    "x-request-id",
    "x-envoy-upstream-service-time",
    "x-envoy-decorator-operation",
    "traceparent",
    "tracestate",
    "x-b3-traceid",
    "x-b3-spanid",
    "x-b3-parentspanid",
    "x-b3-sampled",
];

/// Sends requests.
pub(super) struct Sender {
    host: Host,
    settings: behaviour::Settings,
}

/// A proxy on both sides.
pub(super) struct Sides<'s> {
    /// Its name.
    pub proxy: String,
    /// What istiod generates without the filter.
    pub base: &'s Dump,
    /// The filter.
    pub filter: &'s [EnvoyFilter],
    /// What istiod generates with the replacement.
    pub native: &'s Dump,
    /// The release of istiod.
    pub release: Release,
    /// The settings of the mesh.
    pub mesh: &'s MeshSettings,
}

impl Sender {
    /// Sets up.
    pub(super) fn new(envoy: &Path) -> Result<Sender, behaviour::Error> {
        let settings = behaviour::Settings {
            envoy: envoy.to_owned(),
            probes: false,
            wasm: BTreeMap::new(),
            stubs: BTreeMap::new(),
        };
        Ok(Sender { host: Host::new()?, settings })
    }

    /// Sends the requests that reach the filter through both sides and records differences. Fails with the reason why nothing
    /// could be sent.
    pub(super) fn compare(&self, sides: &Sides<'_>, into: &mut Traffic) -> Result<(), ErrorMessage> {
        let words = |error: behaviour::Error| error.to_string();
        let config = sides.base.config(&Identity::default()).map_err(|problem| problem.message)?;
        let other = sides.native.config(&Identity::default()).map_err(|problem| problem.message)?;
        let options = Options::default();
        let program = Program::new(sides.filter, sides.release);
        let plan = program.plan(&config.proxy, sides.mesh);
        let patched = engine::run(&plan, &config, &options, &mut ());
        let nothing = Program::new(&[], sides.release);
        let empty = nothing.plan(&other.proxy, sides.mesh);
        let unpatched = engine::run(&empty, &other, &options, &mut ());
        let with = Subject { plan: &plan, config: &config, patched: &patched };
        let native = Subject { plan: &empty, config: &other, patched: &unpatched };
        let requests = requests(&with, sides.filter);
        if requests.is_empty() {
            return Err(format!("no request meets the filter on {}", sides.proxy).into());
        }
        let wanted = Wanted::of(requests.iter(), &config.proxy.workload);
        let open = |subject: &Subject<'_, '_>| {
            let coming = Sandbox::start(&self.settings)?;
            Sandbox::open(&self.host, coming, subject, &self.settings, &wanted, false)
        };
        let mut left = open(&with).map_err(words)?;
        let mut right = open(&native).map_err(words)?;
        left.version().clone_into(&mut into.envoy);
        into.proxies += 1;
        for request in &requests {
            let (one, two) = match (left.send(request), right.send(request)) {
                (Ok(one), Ok(two)) => (one, two),
                (Err(one), Err(_)) => {
                    into.unsent.insert(format!("{}: {one}", request.in_words()));
                    continue;
                }
                (Err(error @ behaviour::Error::Died(..)), _) | (_, Err(error @ behaviour::Error::Died(..))) => {
                    return Err(error.to_string().into());
                }
                (one, two) => {
                    let word = |side: Result<Exchange, behaviour::Error>| {
                        side.map_or_else(|error| error.to_string(), |exchange| outcome(&exchange))
                    };
                    into.apart.push(apart(sides, request, word(one), word(two)));
                    continue;
                }
            };
            into.requests += 1;
            into.sent.push(format!("{} on {}", request.in_words(), sides.proxy));
            if let Some((filter, native)) = compared(&one, &two) {
                into.apart.push(apart(sides, request, filter, native));
            }
        }
        Ok(())
    }
}

fn apart(sides: &Sides<'_>, request: &Request, filter: String, native: String) -> Apart {
    Apart { proxy: sides.proxy.clone(), request: request.in_words(), filter, native }
}

/// The requests that reach the patches, in the variants that authentication, CORS and bodies distinguish, and one to every port
/// of the proxy.
fn requests(subject: &Subject<'_, '_>, filters: &[EnvoyFilter]) -> Vec<Request> {
    let mut all: Vec<Request> = Vec::new();
    let mut add = |request: Request| {
        if all.len() < REQUESTS && !all.contains(&request) {
            all.push(request);
        }
    };
    let drafted: Vec<Request> = drafts(subject, &[]).into_iter().filter_map(|draft| draft.request).collect();
    if drafted.is_empty() {
        return Vec::new();
    }
    for request in &drafted {
        variants(request).into_iter().for_each(&mut add);
    }
    let mut asked = Asked::default();
    for filter in filters {
        asked.read(&filter.document.to_json()["spec"]["configPatches"]);
    }
    for request in drafted.iter().filter(|request| request.protocol != behaviour::Protocol::Tcp) {
        asked.requests(request).into_iter().for_each(&mut add);
    }
    let gateway = subject.config.proxy.kind == ProxyKind::Gateway;
    let ports = if gateway { listening_ports(subject.config) } else { inbound_ports(subject.config) };
    let hosts: BTreeSet<Option<String>> = drafted.iter().map(|request| request.host.clone()).collect();
    for port in ports {
        let target = if gateway { Target::Gateway(port) } else { Target::Inbound(port) };
        for host in &hosts {
            add(Request { host: host.clone(), timeout: TIME, ..Request::get(target.clone(), "/") });
        }
    }
    all
}

fn variants(drafted: &Request) -> Vec<Request> {
    let plain = Request { timeout: TIME, ..drafted.clone() };
    if plain.protocol == behaviour::Protocol::Tcp {
        return vec![plain];
    }
    let with = |method: &str, headers: &[(&str, &str)], body: &[u8]| Request {
        method: method.to_owned(),
        headers: headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        body: body.to_vec(),
        ..plain.clone()
    };
    let preflight = [("origin", "https://example.com"), ("access-control-request-method", "GET")];
    vec![
        plain.clone(),
        with("GET", &[], b""),
        with("GET", &[("authorization", "Bearer not-a-token")], b""),
        with("GET", &[("x-forwarded-for", "192.0.2.1, 198.51.100.7"), ("X-Mixed-Case", "1")], b""),
        with("OPTIONS", &preflight, b""),
        with("POST", &[("content-type", "application/json")], b"{\"a\": 1}"),
        Request { path: format!("/other{}", plain.path), ..with("GET", &[], b"") },
    ]
}

/// Maximum number of values of a kind to build requests from.
const VALUES: usize = 8;

/// The values of patches that requests must contain: paths, and header fields with values.
#[derive(Default)]
struct Asked {
    paths: BTreeSet<String>,
    headers: BTreeSet<(String, String)>,
}

impl Asked {
    fn read(&mut self, value: &Json) {
        match value {
            Json::String(text) => {
                let path =
                    text.starts_with('/') && text.len() < 200 && text.bytes().all(|byte| byte.is_ascii_graphic());
                if path && self.paths.len() < VALUES {
                    self.paths.insert(text.clone());
                }
            }
            Json::Array(items) => items.iter().for_each(|item| self.read(item)),
            Json::Object(map) => {
                let text = |path: &str| value.pointer(path).and_then(Json::as_str);
                let of = ["/string_match/exact", "/stringMatch/exact", "/exact_match", "/exactMatch"];
                let part = ["/string_match/prefix", "/stringMatch/prefix", "/prefix_match", "/string_match/suffix"];
                let wanted = of.iter().chain(&part).find_map(|path| text(path));
                let present = value.get("present_match").or_else(|| value.get("presentMatch")).map(|_| "1");
                if let (Some(name), Some(value)) = (text("/name"), wanted.or(present))
                    && self.headers.len() < VALUES
                {
                    self.headers.insert((name.to_owned(), value.to_owned()));
                }
                map.values().for_each(|one| self.read(one));
            }
            _ => {}
        }
    }

    fn requests(&self, like: &Request) -> Vec<Request> {
        let get =
            Request { method: "GET".to_owned(), headers: Vec::new(), body: Vec::new(), timeout: TIME, ..like.clone() };
        let mut all = Vec::new();
        for path in &self.paths {
            all.push(Request { path: path.clone(), ..get.clone() });
            all.push(Request { path: format!("{path}x"), ..get.clone() });
        }
        for (name, value) in &self.headers {
            all.push(match name.as_str() {
                ":method" => Request { method: value.clone(), ..get.clone() },
                ":authority" => Request { host: Some(value.clone()), ..get.clone() },
                _ if name.starts_with(':') => continue,
                _ => Request { headers: vec![(name.clone(), value.clone())], ..get.clone() },
            });
        }
        all
    }
}

fn failure(failure: &Failure) -> String {
    match failure {
        // Which of these a client sees when a connection ends early is random.
        Failure::Closed | Failure::Reset(_) | Failure::NotHttp(_) => "connection closed".to_owned(),
        Failure::Handshake(_) => "TLS refused".to_owned(),
        Failure::TimedOut => "no answer".to_owned(),
        Failure::Invalid(_) => "not sent".to_owned(),
        Failure::Tunnel(status) => format!("tunnel refused with {status}"),
    }
}

/// Status, or how the connection ended, and the upstream.
fn outcome(exchange: &Exchange) -> String {
    let status = exchange.client.status.map_or_else(
        || exchange.client.failure.as_ref().map_or_else(|| "no answer".to_owned(), failure),
        |status| status.to_string(),
    );
    match exchange.path().map(|path| path.cluster.as_str()).filter(|cluster| !cluster.is_empty()) {
        Some(cluster) if exchange.upstream().next().is_some() => format!("{status} from {cluster}"),
        _ => status,
    }
}

/// Both outcomes if they differ.
fn compared(one: &Exchange, two: &Exchange) -> Option<(String, String)> {
    let (left, right) = (outcome(one), outcome(two));
    if left != right {
        return Some((left, right));
    }
    let answers = (fields(&one.client.headers), fields(&two.client.headers));
    if let Some((a, b)) = differing(&answers.0, &answers.1) {
        return Some((format!("{left}, response {a}"), format!("{right}, response {b}")));
    }
    let asked = |exchange: &Exchange| exchange.upstream().next().map(|call| fields(&call.headers)).unwrap_or_default();
    let (a, b) = differing(&asked(one), &asked(two))?;
    Some((format!("{left}, request to the service {a}"), format!("{right}, request to the service {b}")))
}

fn fields(headers: &[(String, String)]) -> BTreeSet<(String, String)> {
    let noise = |name: &str| NOISE.iter().any(|one| name.eq_ignore_ascii_case(one));
    headers.iter().filter(|(name, _)| !noise(name)).cloned().collect()
}

fn differing(one: &BTreeSet<(String, String)>, two: &BTreeSet<(String, String)>) -> Option<(String, String)> {
    let text = |only: Option<&(String, String)>, other: Option<&(String, String)>| match (only, other) {
        (Some((name, value)), _) => {
            let mut text = format!("{name}: {value}");
            Redactor::plain().text(&mut text);
            format!("with `{text}`")
        }
        (None, Some((name, _))) => format!("without `{name}`"),
        (None, None) => String::new(),
    };
    let (left, right) = (one.difference(two).next(), two.difference(one).next());
    (left.is_some() || right.is_some()).then(|| (text(left, right), text(right, left)))
}
