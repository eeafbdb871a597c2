//! Requests: their properties, targets and senders.

use super::http1::Fields;
use std::collections::BTreeSet;
use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

/// Where a request enters the proxy.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// A port of the sidecar's workload.
    Inbound(u16),
    /// A host and port that the sidecar's workload calls.
    Outbound(String, u16),
    /// A port of the gateway's workload.
    Gateway(u16),
    /// A host and port behind the waypoint.
    Waypoint(String, u16),
}

impl Target {
    /// The port.
    pub(crate) const fn port(&self) -> u16 {
        match self {
            Target::Inbound(port) | Target::Outbound(_, port) | Target::Gateway(port) | Target::Waypoint(_, port) => {
                *port
            }
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Inbound(port) => write!(out, "inbound port {port}"),
            Target::Outbound(host, port) => write!(out, "outbound to {host}:{port}"),
            Target::Gateway(port) => write!(out, "gateway port {port}"),
            Target::Waypoint(host, port) => write!(out, "waypoint, service {host}:{port}"),
        }
    }
}

/// The protocol above the connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.1.
    Http1,
    /// HTTP/2, without TLS from the first byte.
    Http2,
    /// gRPC: HTTP/2 with a message as the body.
    Grpc,
    /// Bytes.
    Tcp,
}

/// Whether the connection is encrypted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tls {
    /// As the port requires: plaintext if it accepts that.
    #[default]
    Auto,
    /// Plaintext.
    Plain,
    /// TLS without a client certificate.
    Simple,
    /// TLS with a client certificate, as in Istio's mutual TLS.
    Mutual,
}

/// One request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Where it enters the proxy.
    pub target: Target,
    /// The protocol.
    pub protocol: Protocol,
    /// Method.
    pub method: String,
    /// Path with query.
    pub path: String,
    /// The host; defaults to what the target implies.
    pub host: Option<String>,
    /// Header fields, with names as written.
    pub headers: Fields,
    /// Body, or the bytes for TCP.
    pub body: Vec<u8>,
    /// Number of padding bytes after the body.
    pub padding: u64,
    /// Trailers.
    pub trailers: Fields,
    /// Source address of the connection.
    pub from: Option<IpAddr>,
    /// SPIFFE identity of the client, for mutual TLS.
    pub identity: Option<String>,
    /// Whether the connection is encrypted.
    pub tls: Tls,
    /// Server name; defaults to the host.
    pub sni: Option<String>,
    /// Offered application protocols; if empty, the client's usual ones.
    pub alpn: Vec<String>,
    /// Bytes that the client sends first, such as its own PROXY protocol header.
    pub preamble: Vec<u8>,
    /// How long the answer may take.
    pub timeout: Duration,
}

impl Request {
    /// `GET` of a path.
    pub fn get(target: Target, path: impl Into<String>) -> Request {
        Request {
            target,
            protocol: Protocol::Http1,
            method: "GET".to_owned(),
            path: path.into(),
            host: None,
            headers: Fields::new(),
            body: Vec::new(),
            padding: 0,
            trailers: Fields::new(),
            from: None,
            identity: None,
            tls: Tls::Auto,
            sni: None,
            alpn: Vec::new(),
            preamble: Vec::new(),
            timeout: Duration::from_secs(10),
        }
    }

    /// The host of the request: its own, or the one that its target implies for a proxy of this workload and namespace.
    pub(crate) fn authority(&self, workload: &str) -> String {
        if let Some(host) = &self.host {
            return host.clone();
        }
        match &self.target {
            Target::Inbound(port) => format!("{}:{port}", if workload.is_empty() { "localhost" } else { workload }),
            Target::Outbound(host, port) | Target::Waypoint(host, port) => {
                if *port == 80 {
                    host.clone()
                } else {
                    format!("{host}:{port}")
                }
            }
            Target::Gateway(_) => "localhost".to_owned(),
        }
    }

    /// The request on one line, as on a command line.
    pub(crate) fn summary(&self, workload: &str) -> String {
        match self.protocol {
            Protocol::Tcp => format!("TCP, {} bytes", self.body.len()),
            Protocol::Grpc => format!("gRPC {}", self.path.trim_start_matches('/')),
            Protocol::Http1 => format!("{} {} (host {})", self.method, self.path, self.authority(workload)),
            Protocol::Http2 => format!("{} {} (host {}) over HTTP/2", self.method, self.path, self.authority(workload)),
        }
    }
}

/// The request in other notations.
impl Request {
    /// In the notation of a test file, without braces.
    pub(crate) fn in_file(&self) -> String {
        let target = match &self.target {
            Target::Inbound(port) => format!("inbound: {port}"),
            Target::Outbound(host, port) => format!("outbound: {}", quoted(&format!("{host}:{port}"))),
            Target::Gateway(port) => format!("gateway: {port}"),
            Target::Waypoint(host, port) => format!("waypoint: {}", quoted(&format!("{host}:{port}"))),
        };
        let mut parts = vec![target];
        parts.extend(self.host.iter().map(|host| format!("host: {}", quoted(host))));
        match self.tls {
            Tls::Auto => {}
            Tls::Plain => parts.push("tls: plain".to_owned()),
            Tls::Simple => parts.push("tls: simple".to_owned()),
            Tls::Mutual => parts.push("tls: mutual".to_owned()),
        }
        let body = String::from_utf8_lossy(&self.body);
        if self.protocol == Protocol::Tcp {
            parts.push(format!("tcp: {}", quoted(&body)));
            return parts.join(", ");
        }
        if self.method != "GET" {
            parts.push(format!("method: {}", quoted(&self.method)));
        }
        let path = if self.path == "/" { self.path.clone() } else { quoted(&self.path) };
        parts.push(format!("path: {path}"));
        if !self.headers.is_empty() {
            let fields = self.headers.iter().map(|(name, value)| format!("{}: {}", quoted(name), quoted(value)));
            parts.push(format!("headers: {{{}}}", fields.collect::<Vec<_>>().join(", ")));
        }
        if !body.is_empty() {
            parts.push(format!("body: {}", quoted(&body)));
        }
        parts.join(", ")
    }

    /// As options and arguments of `try`.
    pub(crate) fn in_words(&self) -> String {
        let mut words = Vec::new();
        let tcp = self.protocol == Protocol::Tcp;
        let url = match (&self.target, &self.host) {
            (Target::Gateway(port), Some(host)) if !tcp => {
                let (scheme, usual) = if self.tls == Tls::Simple { ("https", 443) } else { ("http", 80) };
                let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
                let port = if has_port || *port == usual { String::new() } else { format!(":{port}") };
                Some(format!("{scheme}://{host}{port}{}", self.path))
            }
            _ => None,
        };
        match &self.target {
            Target::Gateway(_) if url.is_some() => {}
            Target::Inbound(port) | Target::Gateway(port) => words.push(format!("--inbound {port}")),
            Target::Outbound(host, port) | Target::Waypoint(host, port) => {
                words.push(format!("--outbound {}", shell(&format!("{host}:{port}"))));
            }
        }
        if let (None, Some(host)) = (&url, &self.host) {
            words.push(format!("-H {}", shell(&format!("host: {host}"))));
        }
        match self.tls {
            Tls::Simple if url.is_none() => words.push("--tls".to_owned()),
            Tls::Mutual => words.push("--mtls".to_owned()),
            Tls::Plain => words.push("--plain".to_owned()),
            Tls::Auto | Tls::Simple => {}
        }
        let body = String::from_utf8_lossy(&self.body);
        if tcp {
            words.push(format!("--tcp {}", shell(&body)));
            return words.join(" ");
        }
        if self.method != if body.is_empty() { "GET" } else { "POST" } {
            words.push(format!("-X {}", shell(&self.method)));
        }
        words.extend(self.headers.iter().map(|(name, value)| format!("-H {}", shell(&format!("{name}: {value}")))));
        if !body.is_empty() {
            words.push(format!("-d {}", shell(&body)));
        }
        words.push(shell(url.as_deref().unwrap_or(&self.path)));
        words.join(" ")
    }
}

/// A text in YAML quotes.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A text as one word of a shell.
pub fn shell(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+,=".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// What a set of requests can reach.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    pub(super) targets: Vec<Target>,
    pub(super) hosts: BTreeSet<String>,
    /// Values that can name a cluster.
    pub(super) texts: BTreeSet<String>,
}

impl Wanted {
    /// What these requests can reach, for a workload of this name.
    pub fn of<'r>(requests: impl IntoIterator<Item = &'r Request>, workload: &str) -> Wanted {
        let mut wanted = Wanted::default();
        for request in requests {
            if !wanted.targets.contains(&request.target) {
                wanted.targets.push(request.target.clone());
            }
            wanted.hosts.insert(request.authority(workload));
            wanted.hosts.extend(
                request
                    .headers
                    .iter()
                    .filter(|(name, _)| name.eq_ignore_ascii_case("host"))
                    .map(|(_, value)| value.clone()),
            );
            wanted.texts.extend(request.headers.iter().map(|(_, value)| value.clone()));
        }
        wanted
    }
}
