//! `try`: one request through the patched proxy.

use super::istiod::IstiodOptions;
use super::options::{GET_ENVOY, NO_ENVOY, Proxies};
use super::session::{Exit, Session};
use super::subject::{Given, Source};
use crate::behaviour::{
    self, Error, Fields, Pattern, Protocol, Request, Rule, Service, Settings, Stub, Target, Tls, Try,
};
use crate::mesh::{Error as Failure, Scope};
use crate::model::proxy::ProxyKind;
use crate::model::resource::ProxyConfig;
use crate::report;
use crate::report::behaviour::view::{Shown, View};
use crate::source::ErrorMessage;
use clap::{Args, ValueEnum};
use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
pub(super) struct TryRequest {
    /// Pod of the cluster (unless --dump or --demo is given), then the path or URL to request
    #[arg(value_name = "POD] [REQUEST", num_args = 0..=2)]
    words: Vec<String>,
    /// EnvoyFilters and other objects: files, folders, - for the standard input
    #[arg(short, long = "filename", value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    proxies: Proxies,
    #[command(flatten)]
    istiod: IstiodOptions,
    #[command(flatten)]
    sandbox: SandboxOptions,
    #[command(flatten)]
    request: RequestOptions,
    /// Send the request this many times
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    repeat: u32,
    /// Compare with a run without this EnvoyFilter [default: without all of them]
    #[arg(long, value_name = "FILTER")]
    without: Vec<String>,
    /// Show times, random values and access logs, which differ from run to run
    #[arg(long)]
    times: bool,
    /// Output format
    #[arg(short, long, default_value = "human")]
    output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    Human,
    Json,
    Html,
}

/// How to set up a sandbox.
#[derive(Debug, Default, Args)]
pub(super) struct SandboxOptions {
    /// Envoy binary to run [default: `envoy` on the PATH]
    #[arg(long, value_name = "PATH", help_heading = "Sandbox")]
    pub(super) envoy: Option<PathBuf>,
    /// What an upstream answers: a status, `echo`, `reset`, or a file with the body; NAME is a cluster, a host, its first part, or `*`
    #[arg(long, value_name = "NAME=ANSWER", value_parser = stub, help_heading = "Sandbox")]
    pub(super) stub: Vec<(String, Stub)>,
    /// File with the module of a Wasm filter, by the name of the filter
    #[arg(long, value_name = "NAME=FILE", value_parser = pair, help_heading = "Sandbox")]
    pub(super) wasm: Vec<(String, String)>,
    /// Leave out the probes between HTTP filters: the answer then says nothing about single filters
    #[arg(long, help_heading = "Sandbox")]
    pub(super) no_probes: bool,
}

/// A request, with curl's option names.
#[derive(Debug, Args)]
pub(super) struct RequestOptions {
    /// Port of the workload that the request is for
    #[arg(long, value_name = "PORT", conflicts_with = "outbound", help_heading = "Request")]
    inbound: Option<u16>,
    /// Host and port that the workload calls; for a waypoint, the service behind it
    #[arg(long, value_name = "HOST:PORT", value_parser = host_and_port, help_heading = "Request")]
    outbound: Option<(String, u16)>,
    /// Method
    #[arg(short = 'X', long = "request", value_name = "METHOD", help_heading = "Request")]
    method: Option<String>,
    /// Header field; @FILE reads one from each line of a file
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE", value_parser = headers, help_heading = "Request")]
    header: Vec<Headers>,
    /// Body; @FILE reads it from a file
    #[arg(short, long, value_name = "BODY", help_heading = "Request")]
    data: Option<String>,
    /// Body of JSON, with its content type
    #[arg(long, value_name = "JSON", conflicts_with = "data", help_heading = "Request")]
    json: Option<String>,
    /// Send this many more bytes behind the body
    #[arg(long, value_name = "BYTES", default_value_t = 0, hide = true)]
    padding: u64,
    /// Use HTTP/2
    #[arg(long, help_heading = "Request")]
    http2: bool,
    /// Send a text over TCP instead of HTTP
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["grpc", "http2"], help_heading = "Request")]
    tcp: Option<String>,
    /// Call a gRPC method with an empty message
    #[arg(long, value_name = "SERVICE/METHOD", help_heading = "Request")]
    grpc: Option<String>,
    /// Client: an IP address, or a SPIFFE identity (implies mutual TLS)
    #[arg(long, value_name = "IP|spiffe://…", help_heading = "Request")]
    from: Vec<String>,
    /// Encrypt with mutual TLS
    #[arg(long, conflicts_with = "plain", help_heading = "Request")]
    mtls: bool,
    /// Encrypt with TLS, without a client certificate
    #[arg(long, conflicts_with_all = ["plain", "mtls"], help_heading = "Request")]
    tls: bool,
    /// Do not encrypt
    #[arg(long, help_heading = "Request")]
    plain: bool,
    /// Server name of the TLS handshake
    #[arg(long, value_name = "NAME", help_heading = "Request")]
    sni: Option<String>,
    /// Claims of a token to send, as JSON; the JWT filters of the sandbox trust it
    #[arg(long, value_name = "CLAIMS", value_parser = claims, help_heading = "Request")]
    jwt: Option<serde_json::Value>,
    /// Seconds to wait for the response
    #[arg(long, value_name = "SECONDS", default_value_t = 10, help_heading = "Request")]
    max_time: u64,
}

fn pair(text: &str) -> Result<(String, String), ErrorMessage> {
    let (name, value) = text.rsplit_once('=').ok_or_else(|| format!("`{text}` is not NAME=VALUE"))?;
    Ok((name.to_owned(), value.to_owned()))
}

/// The header fields of one `-H`.
#[derive(Clone, Debug)]
struct Headers(Fields);

/// The largest file that `-H` and `-d` read, in bytes.
const LARGEST_FILE: u64 = 1 << 30;

fn file(path: &str) -> Result<Vec<u8>, ErrorMessage> {
    crate::load::bytes(std::path::Path::new(path), LARGEST_FILE)
        .map_err(|error| format!("cannot read {path}: {error}").into())
}

fn headers(text: &str) -> Result<Headers, ErrorMessage> {
    let Some(path) = text.strip_prefix('@') else { return Ok(Headers(vec![header(text)?])) };
    let text = String::from_utf8(file(path)?).map_err(|_| format!("{path} is not UTF-8"))?;
    // A line of a file that is no header field is not quoted: the file may be any file.
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let fields = lines.map(|(number, line)| {
        header(line).map_err(|_| format!("line {} of {path} is not a header: write NAME: VALUE", number + 1))
    });
    Ok(Headers(fields.collect::<Result<_, _>>()?))
}

fn header(text: &str) -> Result<(String, String), ErrorMessage> {
    let (name, value) = text.split_once(':').ok_or_else(|| format!("`{text}` is not a header: write NAME: VALUE"))?;
    if name.trim().is_empty() || text.contains(['\r', '\n']) {
        return Err(format!("{text:?} is not a header: write NAME: VALUE").into());
    }
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

fn host_and_port(text: &str) -> Result<(String, u16), ErrorMessage> {
    let wrong = || ErrorMessage::from(format!("`{text}` is not HOST:PORT"));
    let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    if host.is_empty() { Err(wrong()) } else { Ok((host.to_owned(), port.parse().map_err(|_| wrong())?)) }
}

fn claims(text: &str) -> Result<serde_json::Value, ErrorMessage> {
    let value: serde_json::Value = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
    if value.is_object() { Ok(value) } else { Err("claims must be a JSON object, such as {\"iss\": \"me\"}".into()) }
}

fn stub(text: &str) -> Result<(String, Stub), ErrorMessage> {
    let (name, answer) = pair(text)?;
    let rule = match answer.as_str() {
        "echo" => Rule { echo: true, ..Rule::default() },
        "reset" => Rule { reset: true, ..Rule::default() },
        status if !status.is_empty() && status.chars().all(|c| c.is_ascii_digit()) => {
            let status = status.parse().ok().filter(|status| (100..600).contains(status));
            Rule { status: Some(status.ok_or_else(|| format!("{answer} is not an HTTP status"))?), ..Rule::default() }
        }
        file => {
            let body = crate::load::bytes(std::path::Path::new(file), 64 << 20);
            Rule { body: Some(body.map_err(|error| format!("cannot read {file}: {error}"))?), ..Rule::default() }
        }
    };
    let mut stub = Stub::always(Service::Http, rule.clone());
    // A status alone applies to authorization services too.
    if rule.status.is_some() || rule.reset {
        stub.rules.insert(Service::ExtAuthz, vec![rule.clone()]);
        stub.rules.insert(Service::ExtProc, vec![rule.clone()]);
        let over = rule.status == Some(429);
        stub.rules.insert(Service::RateLimit, vec![Rule { over_limit: over, reset: rule.reset, ..Rule::default() }]);
    }
    if rule.echo || rule.reset || rule.body.is_some() {
        stub.rules
            .insert(Service::Tcp, vec![Rule { when: vec![("data".to_owned(), Pattern("*".to_owned()))], ..rule }]);
    }
    Ok((name, stub))
}

impl SandboxOptions {
    /// The Envoy to run. Fails with the exit code of the command.
    pub(super) fn settings(&self, session: &mut Session<'_>) -> Result<Result<Settings, Exit>, Failure> {
        let Some(envoy) = self.envoy.clone().or_else(|| crate::process::find("envoy")) else {
            return session.usage(NO_ENVOY, Some(GET_ENVOY)).map(Err);
        };
        let mut stubs: BTreeMap<String, Stub> = BTreeMap::new();
        for (name, stub) in &self.stub {
            stubs.entry(name.clone()).or_default().extend(stub);
        }
        let wasm = self.wasm.iter().map(|(name, file)| {
            let file = std::path::absolute(file).unwrap_or_else(|_| PathBuf::from(file));
            (name.clone(), file.display().to_string())
        });
        Ok(Ok(Settings { envoy, probes: !self.no_probes, wasm: wasm.collect(), stubs }))
    }
}

impl TryRequest {
    pub(super) fn run(&mut self, session: &mut Session<'_>) -> Result<Exit, Failure> {
        let settings = match self.sandbox.settings(session)? {
            Ok(settings) => settings,
            Err(exit) => return Ok(exit),
        };
        let (pod, asked) = match (self.proxies.given().any(), self.words.as_slice()) {
            (true, []) => (None, None),
            (true, [request]) => (None, Some(request.as_str())),
            (true, _) => {
                return session.usage("only one path or URL is allowed: --dump and --demo name the proxy", None);
            }
            (false, []) => (None, None),
            (false, [pod]) => (Some(pod.as_str()), None),
            (false, [pod, request, ..]) => (Some(pod.as_str()), Some(request.as_str())),
        };
        let source = Source {
            proxies: &self.proxies,
            pod,
            capture: None,
            files: &self.files,
            without: &self.without,
            istiod: &self.istiod,
            named_by_file: false,
        };
        let mut answer: Option<View> = None;
        let (exit, scope) = source.one(session, &mut |session, given| {
            let request = match self.request.request(asked, given) {
                Ok(request) => request,
                Err(message) => return session.usage(&message, None),
            };
            match self.answer(given, &request, &settings) {
                Ok(view) => answer = Some(view),
                Err(error) => return failed(session, &error),
            }
            Ok(Exit::Ok)
        })?;
        if let Some(view) = answer {
            self.show(session, &view, &scope)?;
        }
        Ok(exit)
    }

    fn answer(&self, given: &Given<'_, '_>, request: &Request, settings: &Settings) -> Result<View, Error> {
        let report = behaviour::try_request(&Try {
            request,
            token: self.request.jwt.as_ref(),
            repeat: self.repeat as usize,
            with: given.with,
            without: Some(given.without),
            settings,
        })?;
        let shown = Shown {
            report: &report,
            request,
            proxy: &given.with.config.proxy,
            patches: &given.patches,
            compared_without: &self.without,
            times: self.times,
        };
        Ok(shown.view())
    }

    fn show(&self, session: &mut Session<'_>, view: &View, scope: &Scope) -> io::Result<()> {
        // Headers are on several lines of JSON, so their names do not stand beside their values.
        if let Ok(json) = serde_json::to_value(view) {
            session.global.secrets.with(|secrets| secrets.add_pairs(&json));
        }
        let verbose = session.verbose();
        match self.output {
            Output::Human => report::behaviour::human::write(session.out, session.around.out, view, verbose),
            Output::Json => report::scoped(session.out, view, scope),
            Output::Html => report::behaviour::page::write(session.out, view, scope),
        }
    }
}

/// Reports why there is no answer.
pub(super) fn failed(session: &mut Session<'_>, error: &Error) -> Result<Exit, Failure> {
    let exit = session.usage(&error.to_string(), error.help().as_deref())?;
    Ok(match error {
        _ if error.is_usage() => exit,
        // A rejection by Envoy is a finding; everything else is trouble.
        Error::Refused(_) => Exit::Findings,
        _ => Exit::Partial,
    })
}

impl RequestOptions {
    /// The listener that the options and a URL mean.
    fn target(&self, url: Option<&Url>, config: &ProxyConfig<'_>) -> Result<Target, ErrorMessage> {
        let of_url = url.map(|(encrypted, host)| {
            let port = if *encrypted { 443 } else { 80 };
            host_and_port(host).unwrap_or_else(|_| (host.clone(), port))
        });
        Ok(match (config.proxy.kind, self.inbound, &self.outbound, &of_url) {
            (ProxyKind::Sidecar, Some(port), _, _) => Target::Inbound(port),
            (ProxyKind::Sidecar, None, Some((host, port)), _)
            | (ProxyKind::Sidecar, None, None, Some((host, port))) => Target::Outbound(host.clone(), *port),
            (ProxyKind::Sidecar, None, None, None) => match behaviour::inbound_ports(config).as_slice() {
                [] => return Err("this sidecar has no inbound port; use --outbound HOST:PORT".into()),
                [port, ..] => Target::Inbound(*port),
            },
            (ProxyKind::Gateway, Some(port), _, _) => Target::Gateway(port),
            (ProxyKind::Gateway, None, _, url) => {
                let ports = behaviour::listening_ports(config);
                let wanted = url.as_ref().map(|(_, port)| *port);
                let near = wanted.and_then(|port| {
                    [port, port.saturating_add(8000), port.saturating_add(8363)]
                        .into_iter()
                        .find(|port| ports.contains(port))
                });
                let port = near.or_else(|| if wanted.is_none() { ports.first().copied() } else { None });
                Target::Gateway(port.or(wanted).ok_or("this gateway has no listener")?)
            }
            (ProxyKind::Waypoint, _, Some((host, port)), _) | (ProxyKind::Waypoint, _, None, Some((host, port))) => {
                Target::Waypoint(host.clone(), *port)
            }
            (ProxyKind::Waypoint, ..) => {
                return Err("name the service behind the waypoint: --outbound HOST:PORT or a URL".into());
            }
        })
    }

    /// The request that the options describe, for a proxy.
    fn request(&self, asked: Option<&str>, given: &Given<'_, '_>) -> Result<Request, ErrorMessage> {
        let kind = given.with.config.proxy.kind;
        let (url, path) = place(asked)?;
        let target = self.target(url.as_ref(), given.with.config)?;
        let mut request = Request::get(target, path);
        request.host = match (&url, kind) {
            (Some((_, host)), _) => Some(host.clone()),
            (None, _) => None,
        };
        request.headers = self.header.iter().flat_map(|one| one.0.clone()).collect();
        request.protocol = if self.http2 { Protocol::Http2 } else { Protocol::Http1 };
        if let Some(text) = self.data.as_ref().or(self.json.as_ref()) {
            request.body = match text.strip_prefix('@') {
                Some(path) => file(path)?,
                None => text.clone().into_bytes(),
            };
            "POST".clone_into(&mut request.method);
            let kind = if self.json.is_some() { "application/json" } else { "application/x-www-form-urlencoded" };
            default_header(&mut request.headers, "content-type", kind);
        }
        request.padding = self.padding;
        if self.padding > 0 {
            "POST".clone_into(&mut request.method);
        }
        if let Some(method) = &self.method {
            if method.is_empty() || !method.chars().all(|c| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c))
            {
                return Err(format!("{method:?} is not a method").into());
            }
            request.method.clone_from(method);
        }
        if let Some(text) = &self.tcp {
            request.protocol = Protocol::Tcp;
            request.body = text.clone().into_bytes();
        }
        if let Some(method) = &self.grpc {
            if !method.trim_start_matches('/').contains('/') {
                return Err(format!("`{method}` is not SERVICE/METHOD").into());
            }
            request.protocol = Protocol::Grpc;
            request.path = format!("/{}", method.trim_start_matches('/'));
        }
        for from in &self.from {
            if from.starts_with("spiffe://") {
                request.identity = Some(from.clone());
            } else {
                let address: IpAddr =
                    from.parse().map_err(|_| format!("`{from}` is neither an IP address nor a SPIFFE identity"))?;
                request.from = Some(address);
            }
        }
        request.tls = match (self.mtls, self.tls, self.plain) {
            (true, ..) => Tls::Mutual,
            (_, true, _) => Tls::Simple,
            (.., true) => Tls::Plain,
            _ if kind == ProxyKind::Gateway && url.as_ref().is_some_and(|(encrypted, _)| *encrypted) => Tls::Simple,
            _ => Tls::Auto,
        };
        request.sni.clone_from(&self.sni);
        request.timeout = Duration::from_secs(self.max_time.max(1));
        Ok(request)
    }
}

/// A URL without its path, whether it is encrypted and its host, and the path.
type Url = (bool, String);

/// What is asked for: a path, or a URL, whose path is returned apart.
fn place(asked: Option<&str>) -> Result<(Option<Url>, String), ErrorMessage> {
    Ok(match asked {
        Some(text) if text.contains("://") => {
            let (scheme, rest) = text.split_once("://").unwrap_or_default();
            if !matches!(scheme, "http" | "https") {
                return Err(format!("`{text}` is not a URL of http or https").into());
            }
            let at = rest.find(['/', '?']).unwrap_or(rest.len());
            let (host, path) = rest.split_at(at);
            let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
            (Some((scheme == "https", host.to_owned())), path)
        }
        Some(path) if path.starts_with('/') || path == "*" => (None, path.to_owned()),
        Some(text) => return Err(format!("`{text}` is neither a path, which begins with /, nor a URL").into()),
        None => (None, "/".to_owned()),
    })
}

fn default_header(headers: &mut Fields, name: &str, value: &str) {
    if !headers.iter().any(|(key, _)| key.eq_ignore_ascii_case(name)) {
        headers.push((name.to_owned(), value.to_owned()));
    }
}
