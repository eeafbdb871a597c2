//! One Envoy with one configuration: requests go in, and observations come out.

use super::Error;
use super::answers::{Service, Stub, resolve};
use super::calls::{Call, Shared};
use super::chains::{Chain, Route};
use super::client::{self, Handshake, Seen, Way};
use super::envoy::{Envoy, Starting};
use super::identity::{Authority, Pair};
use super::listeners::Socket;
use super::neutral::{LeftOut, StandIns, Why};
use super::request::{Protocol, Request, Target, Tls, Wanted};
use super::setup::{INBOUND, OUTBOUND, Scope, Setup, Source};
use super::stub;
use super::trace::{self, Event, Path, Said, Step};
use crate::engine::{PatchId, Patched, Plan};
use crate::model::proxy::{Proxy, ProxyKind};
use crate::model::resource::ProxyConfig;
use crate::process::Line;
use crate::trial::sockets::Sockets;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// How long Envoy's log may take to report a finished request.
const LOG_TIME: Duration = Duration::from_millis(700);

/// A configuration with the patches under test.
#[derive(Clone, Copy)]
pub struct Subject<'s, 'a> {
    /// The plan that was run.
    pub plan: &'s Plan<'a>,
    /// The configuration before the patches.
    pub config: &'a ProxyConfig<'a>,
    /// The result.
    pub patched: &'s Patched<'a>,
}

/// Settings of a sandbox.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The Envoy binary.
    pub envoy: PathBuf,
    /// Whether probes are inserted between the HTTP filters; without them a report has no information about single
    /// filters.
    pub probes: bool,
    /// Files of Wasm modules by the name of their filter or plugin.
    pub wasm: BTreeMap<String, String>,
    /// What upstreams answer, by the name of a cluster, a host, the first part of a host, or `*`.
    pub stubs: BTreeMap<String, Stub>,
}

/// Shared by the sandboxes of a run: the tasks of stubs and clients, and the signer of certificates and tokens.
pub struct Host {
    runtime: Runtime,
    authority: Authority,
    certificates: Mutex<BTreeMap<Vec<String>, Arc<Pair>>>,
}

impl Host {
    /// Creates a host.
    pub fn new() -> Result<Host, Error> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("sandbox")
            .enable_all()
            .build()
            .map_err(|error| Error::Internal(format!("cannot start threads: {error}")))?;
        Ok(Host { runtime, authority: Authority::new()?, certificates: Mutex::default() })
    }

    /// The certificate for these names, cached so that two runs see the same client.
    fn certificate(&self, names: &[String]) -> Result<Arc<Pair>, Error> {
        let mut known = self.certificates.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pair) = known.get(names) {
            return Ok(Arc::clone(pair));
        }
        let pair = Arc::new(self.authority.certificate(names.iter().map(String::as_str))?);
        known.insert(names.to_vec(), Arc::clone(&pair));
        Ok(pair)
    }

    /// A token with these claims that the JWT filters of sandboxes trust; without `exp` it does not expire.
    pub(crate) fn token(&self, claims: &serde_json::Value) -> Result<String, Error> {
        let mut claims = claims.clone();
        if let Some(claims) = claims.as_object_mut() {
            // 2100: later ones overflow 32 bits.
            claims.entry("exp").or_insert_with(|| 4_102_444_800u64.into());
        }
        self.authority.token(&claims)
    }
}

/// All observations of one request.
#[derive(Clone, Debug, Default)]
pub struct Exchange {
    /// What the client saw.
    pub client: Seen,
    /// The paths it took, the outermost listener first; the last one is the proxied request itself.
    pub paths: Vec<Path>,
    /// What each HTTP filter did, in the order of the request.
    pub steps: Vec<Step>,
    /// The calls to stubs, in the order of their answers.
    pub calls: Vec<Call>,
    /// Log messages of scripts outside any known filter.
    pub said: Vec<Said>,
    /// Lines of access logs that the configuration itself writes.
    pub access_log: Vec<String>,
}

impl Exchange {
    /// The path of the request itself.
    pub fn path(&self) -> Option<&Path> {
        self.paths.last()
    }

    /// The filter that stopped the request, if it reached a filter but not the upstream.
    pub(crate) fn stopped(&self) -> Option<&Step> {
        let chain = self.path()?.chain?;
        self.steps.iter().find(|step| step.chain == chain && step.reached && !step.passed)
    }

    /// Calls of the request's own cluster, excluding calls that filters made there.
    pub fn upstream(&self) -> impl Iterator<Item = &Call> {
        let cluster = self.path().map_or("", |path| path.cluster.as_str());
        let plain = |call: &&Call| matches!(call.service, Service::Http | Service::Grpc | Service::Tcp | Service::Jwks);
        self.calls.iter().filter(move |call| call.cluster == cluster && !cluster.is_empty()).filter(plain)
    }

    /// Calls other than the request itself: calls by filters, and copies.
    pub(crate) fn asked(&self) -> impl Iterator<Item = &Call> {
        let cluster = self.path().map_or("", |path| path.cluster.as_str());
        let plain = |call: &&Call| matches!(call.service, Service::Http | Service::Grpc | Service::Tcp | Service::Jwks);
        self.calls.iter().filter(move |call| !(call.cluster == cluster && plain(call)))
    }
}

/// An Envoy with a configuration, ready for requests.
pub struct Sandbox<'h> {
    host: &'h Host,
    envoy: Envoy,
    proxy: Proxy,
    /// Filter chains, numbered as steps and paths name them.
    pub chains: Vec<Chain>,
    /// Routes that requests can meet.
    pub routes: Vec<Route>,
    /// Clusters that patches wrote something in.
    pub written_clusters: Vec<(String, Vec<PatchId>)>,
    /// Differences from the mesh.
    pub left_out: BTreeSet<LeftOut>,
    /// How much of the configuration was loaded.
    pub scope: Scope,
    sockets: Vec<Socket>,
    addresses: BTreeMap<(String, u16), String>,
    clusters: Vec<String>,
    /// Clusters that serve token keys.
    keys: BTreeSet<String>,
    shared: Arc<Shared>,
    mark: String,
    strict: bool,
}

/// An Envoy that is starting in the background.
pub struct Coming {
    starting: Starting,
}

impl<'h> Sandbox<'h> {
    /// Starts an Envoy, which comes up while the configuration is computed.
    pub fn start(settings: &Settings) -> Result<Coming, Error> {
        Ok(Coming { starting: Envoy::start(&settings.envoy, None)? })
    }

    /// The same on ports of 127.0.0.1, for folders that cannot hold sockets.
    pub fn start_on_loopback(settings: &Settings) -> Result<Coming, Error> {
        Ok(Coming { starting: Envoy::start(&settings.envoy, Some(Sockets::Loopback))? })
    }

    /// Loads everything in a configuration that these requests can reach. With `strict`, the name of a stub must match
    /// a cluster; a configuration without the filters may lack that cluster.
    pub fn open(
        host: &'h Host,
        coming: Coming,
        subject: &Subject<'_, '_>,
        settings: &Settings,
        wanted: &Wanted,
        strict: bool,
    ) -> Result<Sandbox<'h>, Error> {
        let mut envoy = coming.starting.ready()?;
        let proxy = subject.config.proxy.clone();
        let names = std::iter::once(identity_of(&proxy)).chain(wanted.hosts.iter().cloned());
        let names: Vec<String> = names.map(|name| bare(&name).to_owned()).collect();
        let pair = host.certificate(&names)?;
        let stand_ins = StandIns {
            chain: pair.chain.clone(),
            key: pair.key.clone(),
            authority: host.authority.pem().to_owned(),
            jwks: host.authority.jwks(),
            wasm: settings.wasm.clone(),
        };
        let mark = format!("probe-{}-{}", std::process::id(), envoy.id().unwrap_or(0));
        let source = Source {
            plan: subject.plan,
            config: subject.config,
            patched: subject.patched,
            known: &envoy.known,
            envoy: envoy.version.minor,
            stand_ins: &stand_ins,
            sockets: envoy.sockets,
            probes: settings.probes,
            mark: &mark,
        };
        let mut setup = source.setup(wanted)?;
        let shared = Arc::new(Shared::new(host.certificate(&["sandbox.invalid".to_owned()])?));
        shared.keys(host.authority.jwks());
        let clusters: Vec<String> = setup.stubs.iter().map(|(_, cluster)| cluster.clone()).collect();
        {
            let _inside = host.runtime.enter();
            for (endpoint, cluster) in setup.stubs.drain(..) {
                let listener = endpoint
                    .listen(envoy.folder())
                    .map_err(|error| Error::Internal(format!("cannot listen for calls to {cluster}: {error}")))?;
                stub::serve(listener, cluster, Arc::clone(&shared));
            }
        }
        shared.answer(&resolve(&settings.stubs, &clusters, &setup.keys, strict)?);
        envoy.load(&setup)?;
        let Setup { chains, marked, written_clusters, left_out, scope, sockets, addresses, keys, .. } = setup;
        Ok(Sandbox {
            host,
            envoy,
            proxy,
            chains,
            routes: marked,
            written_clusters,
            left_out,
            scope,
            sockets,
            addresses,
            clusters,
            keys,
            shared,
            mark,
            strict,
        })
    }

    /// Version of the Envoy, such as `1.39.3`.
    pub(crate) fn version(&self) -> &str {
        &self.envoy.version.text
    }

    /// The most memory that Envoy held, in bytes.
    pub fn peak_memory(&self) -> Option<u64> {
        self.envoy.peak_memory()
    }

    /// Process id of Envoy.
    pub fn process(&self) -> Option<u32> {
        self.envoy.id()
    }

    /// Nonzero counters whose names match a regular expression.
    pub(crate) fn counters(&self, filter: &str) -> Result<Vec<(String, u64)>, Error> {
        self.envoy.counters_of(filter)
    }

    /// The socket where a request enters, with the filter chains that its port can reach.
    fn entry(&self, request: &Request) -> Result<(Socket, Vec<&Chain>), Error> {
        let port = request.target.port();
        let of = |name: &str| self.sockets.iter().find(|socket| socket.listener == name).cloned();
        let by_port = || self.sockets.iter().find(|socket| socket.port == port).cloned();
        let socket = match (&request.target, self.proxy.kind) {
            (Target::Inbound(_), ProxyKind::Sidecar) => of(INBOUND).or_else(by_port),
            (Target::Outbound(..), ProxyKind::Sidecar) => by_port().or_else(|| of(OUTBOUND)),
            (Target::Gateway(_), ProxyKind::Gateway) => by_port(),
            (Target::Waypoint(..), ProxyKind::Waypoint) => of("connect_terminate"),
            _ => None,
        };
        let Some(socket) = socket else { return Err(Error::NoListener(request.target.clone(), self.takes())) };
        let own = |chain: &&Chain| chain.listener == socket.listener;
        let ported: Vec<&Chain> = self.chains.iter().filter(own).filter(|chain| chain.port == Some(port)).collect();
        let chains = if ported.is_empty() {
            self.chains.iter().filter(own).filter(|it| it.port.is_none()).collect()
        } else {
            ported
        };
        Ok((socket, chains))
    }

    /// The requests that this proxy accepts.
    fn takes(&self) -> Vec<String> {
        match self.proxy.kind {
            ProxyKind::Sidecar => {
                let ports: BTreeSet<u16> = self
                    .chains
                    .iter()
                    .filter(|chain| chain.listener == INBOUND)
                    .filter_map(|chain| chain.port)
                    .collect();
                let inbound =
                    ports.iter().filter(|port| !matches!(port, 15001 | 15006)).map(|port| format!("--inbound {port}"));
                inbound.chain(["--outbound HOST:PORT".to_owned()]).collect()
            }
            ProxyKind::Gateway => {
                let ports: BTreeSet<u16> = self.sockets.iter().map(|socket| socket.port).collect();
                ports.iter().map(|port| format!("port {port}")).collect()
            }
            ProxyKind::Waypoint => self.addresses.keys().map(|(host, port)| format!("{host}:{port}")).collect(),
        }
    }

    fn way(&self, request: &Request) -> Result<Way, Error> {
        let (socket, chains) = self.entry(request)?;
        let (tls, alpn) = client::encryption(request, &chains);
        let (source, destination) = client::addresses(request, &|host, port| self.address(host, port));
        let authority = request.authority(&self.proxy.workload);
        let sni = match (&request.sni, &request.target) {
            (Some(sni), _) => sni.clone(),
            (None, Target::Waypoint(..)) => String::new(),
            (None, _) => bare(&authority).to_owned(),
        };
        let sni = if sni.parse::<IpAddr>().is_ok() || !sni.contains(|c: char| c.is_ascii_alphabetic()) {
            String::new()
        } else {
            sni
        };
        let tunnel = match &request.target {
            Target::Waypoint(host, port) => {
                let address = host.parse().ok().or_else(|| self.vip(host, *port));
                Some((address.ok_or_else(|| Error::NoListener(request.target.clone(), self.takes()))?, *port))
            }
            _ => None,
        };
        let alpn = if tunnel.is_some() { vec!["h2".to_owned()] } else { alpn };
        let certificate = match tls {
            Tls::Mutual => {
                let name = request
                    .identity
                    .clone()
                    .unwrap_or_else(|| "spiffe://cluster.local/ns/default/sa/client".to_owned());
                Some(self.host.certificate(&[name])?)
            }
            _ => None,
        };
        let tls = (tls != Tls::Plain).then_some(Handshake { sni, alpn, certificate });
        let place = self.envoy.place(&socket)?;
        Ok(Way { place, source, destination, tls, tunnel, host: authority })
    }

    /// The address of a host, resolved as in a pod of the proxy's namespace: its full name, or a name that the search
    /// domains complete.
    fn address(&self, host: &str, port: u16) -> Option<IpAddr> {
        let mut begins = vec![format!("{host}.{}.svc.", self.proxy.namespace), format!("{host}.svc.")];
        if host.split('.').nth(2) == Some("svc") {
            begins.push(format!("{host}."));
        }
        let with = |begin: String| {
            let mut names = self.addresses.iter().filter(|((_, at), _)| *at == port);
            names.find(|((name, _), _)| name.starts_with(&begin)).map(|(_, address)| address)
        };
        let found = self.addresses.get(&(host.to_owned(), port)).or_else(|| begins.into_iter().find_map(with));
        found.and_then(|address| address.parse().ok())
    }

    /// Reports a host at a made-up address if the request took the way of unknown destinations: with the real address,
    /// a listener might have taken it.
    fn note_address(&mut self, request: &Request, exchange: &Exchange) {
        let Target::Outbound(host, port) = &request.target else { return };
        let unknown = host.parse::<IpAddr>().is_err() && self.address(host, *port).is_none();
        if unknown && exchange.path().is_some_and(|path| path.listener == OUTBOUND) {
            let what = format!("{host}:{port}");
            self.left_out.insert(LeftOut { why: Why::Address, what, by: None });
        }
    }

    /// The address of a service in a waypoint's matcher.
    fn vip(&self, host: &str, port: u16) -> Option<IpAddr> {
        let full = |name: &str| name == host || name.starts_with(&format!("{host}."));
        let found = self.addresses.iter().find(|((name, at), _)| *at == port && full(name));
        found.and_then(|(_, address)| address.parse().ok())
    }

    /// Sets the answers of upstreams from now on, and resets their counts.
    pub(crate) fn answer(&self, stubs: &BTreeMap<String, Stub>) -> Result<(), Error> {
        self.shared.answer(&resolve(stubs, &self.clusters, &self.keys, self.strict)?);
        Ok(())
    }

    /// Sends a request and waits until the log reports it.
    pub fn send(&mut self, request: &Request) -> Result<Exchange, Error> {
        let way = self.way(request)?;
        self.shared.take();
        self.envoy.drain();
        let (sender, done) = std::sync::mpsc::channel();
        let sent = request.clone();
        let task = self.host.runtime.spawn(async move {
            let _ = sender.send(client::send(&sent, &way).await);
        });
        let mut events = Vec::new();
        // The log is read while the request runs: a long request writes more than is kept.
        let client = loop {
            match done.try_recv() {
                Ok(seen) => break seen,
                Err(std::sync::mpsc::TryRecvError::Disconnected) => {
                    return Err(Error::Internal("the client ended without an answer".to_owned()));
                }
                Err(std::sync::mpsc::TryRecvError::Empty) => {}
            }
            match self.envoy.line(Duration::from_micros(200)) {
                Line::Text(line) => events.extend(trace::event(&self.mark, &line)),
                Line::NotYet => {}
                Line::Closed => {
                    task.abort();
                    return Err(self.envoy.gone());
                }
            }
        };
        self.rest(request, &client, &mut events)?;
        let exchange = self.exchange(client, &events);
        self.note_address(request, &exchange);
        Ok(exchange)
    }

    /// Sends a request several times, one after another, each when Envoy has done what the one before gave it to do: its main
    /// thread ejects hosts, and tells the worker, after the answer was sent (`outlier_detection_impl.cc`).
    pub(crate) fn send_in_turn(&mut self, request: &Request, times: usize) -> Result<Vec<Exchange>, Error> {
        let send = |turn| {
            if turn > 0 {
                self.envoy.settle()?;
            }
            self.send(request)
        };
        (0..times.max(1)).map(send).collect()
    }

    /// Sends a request several times concurrently. The actions of filters cannot be attributed then and are left out.
    pub(crate) fn send_together(&mut self, request: &Request, times: usize) -> Result<Vec<Exchange>, Error> {
        let way = self.way(request)?;
        self.shared.take();
        self.envoy.drain();
        let (sender, done) = std::sync::mpsc::channel();
        for _ in 0..times {
            let (request, way, sender) = (request.clone(), way.clone(), sender.clone());
            self.host.runtime.spawn(async move {
                let _ = sender.send(client::send(&request, &way).await);
            });
        }
        drop(sender);
        let mut events = Vec::new();
        let mut seen = Vec::new();
        while seen.len() < times {
            match done.try_recv() {
                Ok(one) => seen.push(one),
                Err(std::sync::mpsc::TryRecvError::Disconnected) => break,
                Err(std::sync::mpsc::TryRecvError::Empty) => {}
            }
            if let Line::Text(line) = self.envoy.line(Duration::from_micros(200)) {
                events.extend(trace::event(&self.mark, &line));
            }
        }
        let began = Instant::now();
        let access = |events: &[Event]| {
            events.iter().filter(|event| matches!(event, Event::Access(access) if access.stage != "connection")).count()
        };
        while access(&events) < times && began.elapsed() < LOG_TIME {
            match self.envoy.line(Duration::from_millis(20)) {
                Line::Text(line) => events.extend(trace::event(&self.mark, &line)),
                Line::NotYet => self.envoy.alive()?,
                Line::Closed => {
                    self.envoy.alive()?;
                    break;
                }
            }
        }
        let mut ways = events.iter().filter_map(|event| match event {
            Event::Access(access) if access.stage != "connection" => Some(Path::of(access, &self.chains)),
            _ => None,
        });
        let mut calls = self.shared.take().into_iter();
        let of = |client: Seen| Exchange {
            // Each answer gets one of the paths that end with its status.
            paths: ways.next().into_iter().collect(),
            calls: calls.next().into_iter().collect(),
            client,
            ..Exchange::default()
        };
        Ok(seen.into_iter().map(of).collect())
    }

    /// Reads the log until it reports the request.
    fn rest(&mut self, request: &Request, client: &Seen, events: &mut Vec<Event>) -> Result<(), Error> {
        let http = request.protocol != Protocol::Tcp;
        let expected = match (http, client.status.is_some()) {
            (true, true) => "http",
            (true, false) if client.failure == Some(client::Failure::TimedOut) => "http",
            (false, _) if client.failure.is_none() => "tcp",
            _ => "",
        };
        let inner = matches!(request.target, Target::Waypoint(..));
        let belongs = |event: &Event, chains: &[Chain]| match event {
            Event::Access(access) => {
                let outer = access
                    .chain()
                    .and_then(|chain| chains.get(chain))
                    .is_some_and(|chain| chain.listener == "connect_terminate");
                let here = !inner || !outer;
                here && if expected.is_empty() { true } else { access.stage == expected }
            }
            _ => false,
        };
        if events.iter().any(|event| belongs(event, &self.chains)) {
            return Ok(());
        }
        let began = Instant::now();
        while began.elapsed() < LOG_TIME {
            match self.envoy.line(Duration::from_millis(20)) {
                Line::Text(line) => {
                    if let Some(event) = trace::event(&self.mark, &line) {
                        let over = belongs(&event, &self.chains);
                        events.push(event);
                        if over {
                            break;
                        }
                    }
                }
                Line::NotYet => self.envoy.alive()?,
                Line::Closed => return Err(self.envoy.gone()),
            }
        }
        // A connection that ends without a message may mean that Envoy ended, which becomes known a moment later.
        let ended = matches!(client.failure, Some(client::Failure::Closed | client::Failure::Reset(_)));
        if ended && !self.envoy.listens() { Err(self.envoy.gone()) } else { self.envoy.alive() }
    }

    fn exchange(&mut self, client: Seen, events: &[Event]) -> Exchange {
        let (steps, said) = trace::steps(events, &self.chains);
        let of = |stage: &str| {
            let own = events.iter().filter_map(|event| match event {
                Event::Access(access) if access.stage == stage => Some(Path::of(access, &self.chains)),
                _ => None,
            });
            own.collect::<Vec<Path>>()
        };
        let mut paths = of("http");
        paths.extend(of("tcp"));
        if paths.is_empty() {
            paths = of("connection");
        }
        // The outermost listener first.
        paths.sort_by_key(|path| path.listener != "connect_terminate");
        if paths.is_empty()
            && let Some(step) = steps.last()
        {
            let chain = self.chains.get(step.chain);
            paths.push(Path {
                chain: Some(step.chain),
                listener: chain.map(|chain| chain.listener.clone()).unwrap_or_default(),
                chain_name: chain.map(|chain| chain.name.clone()).unwrap_or_default(),
                ..Path::default()
            });
        }
        let logged = events.iter().filter_map(|event| match event {
            Event::Logged(line) => Some(line.clone()),
            _ => None,
        });
        let access_log = logged.collect();
        Exchange { client, paths, steps, calls: self.shared.take(), said, access_log }
    }
}

/// The SPIFFE identity of a proxy: its service account, if the dump contains it.
pub(super) fn identity_of(proxy: &Proxy) -> String {
    let account = proxy.metadata.get("SERVICE_ACCOUNT").and_then(serde_json::Value::as_str).unwrap_or("default");
    format!("spiffe://cluster.local/ns/{}/sa/{account}", proxy.namespace)
}

/// A host without its port.
fn bare(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((bare, port)) if port.parse::<u16>().is_ok() && !bare.contains(':') => bare,
        _ => host,
    }
}
