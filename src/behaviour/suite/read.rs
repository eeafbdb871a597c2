//! Reads a test file and reports the place of every error in it.

use super::{Expectation, Of, ProxySource, Suite, Test, Wanted};
use crate::behaviour::answers::{Pattern, Rule, Service, Stub};
use crate::behaviour::client::proxy_protocol;
use crate::behaviour::request::{Protocol, Request, Target, Tls};
use crate::source::{Code, Entry, Node, NodeValue, Problem, Severity, Span, alike};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

/// `kind` of a test file.
pub const KIND: &str = "EnvoyFilterTest";

/// Maximum length of a text that `{repeat: …}` produces, in bytes.
const LONGEST_TEXT: usize = 64 << 20;

/// Reads a document. On errors, there is nothing to run.
pub fn read(document: &Node) -> Result<Suite, Vec<Problem>> {
    let mut reader = Reader { problems: Vec::new() };
    let suite = reader.suite(document);
    match suite {
        Some(suite) if reader.problems.is_empty() => Ok(suite),
        _ => Err(reader.problems),
    }
}

struct Reader {
    problems: Vec<Problem>,
}

impl Reader {
    fn wrong(&mut self, span: Span, message: impl Into<String>, help: Option<String>) {
        let (code, severity) = (Code::TestFile, Severity::Error);
        self.problems.push(Problem { code, severity, span: Some(span), message: message.into(), help });
    }

    /// Reports unknown keys.
    fn only(&mut self, node: &Node, known: &[&str]) {
        if !matches!(node.value, NodeValue::Map(_)) {
            self.wrong(node.span, "expected a mapping", None);
        }
        for entry in node.entries() {
            if !known.contains(&entry.key.as_str()) {
                let help = match alike::keyword(&entry.key, known.iter().copied()).map(|near| near.name) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("allowed keys: {}", known.join(", ")),
                };
                self.wrong(entry.key_span, format!("unknown key `{}`", entry.key), Some(help));
            }
        }
    }

    fn text(&mut self, node: &Node) -> String {
        match &node.value {
            NodeValue::String(text) | NodeValue::Number(text) => text.clone(),
            NodeValue::Bool(value) => value.to_string(),
            _ => {
                self.wrong(node.span, "expected a string", None);
                String::new()
            }
        }
    }

    fn number(&mut self, node: &Node) -> u64 {
        let number = match &node.value {
            NodeValue::Number(text) => text.parse().ok(),
            _ => None,
        };
        number.unwrap_or_else(|| {
            self.wrong(node.span, "expected a whole number", None);
            0
        })
    }

    fn port(&mut self, node: &Node) -> u16 {
        let number = self.number(node);
        u16::try_from(number).ok().filter(|port| *port > 0).unwrap_or_else(|| {
            self.wrong(node.span, format!("{number} is not a port"), None);
            1
        })
    }

    fn flag(&mut self, node: &Node) -> bool {
        if let NodeValue::Bool(value) = node.value {
            value
        } else {
            self.wrong(node.span, "expected true or false", None);
            false
        }
    }

    fn duration(&mut self, node: &Node) -> Duration {
        let text = self.text(node);
        if let Some(nanos) = crate::proto::decode::parse_go_duration(&text).and_then(|nanos| u64::try_from(nanos).ok())
        {
            Duration::from_nanos(nanos)
        } else {
            self.wrong(node.span, format!("`{text}` is not a duration, such as 200ms or 2s"), None);
            Duration::ZERO
        }
    }

    fn texts(&mut self, node: &Node) -> Vec<String> {
        if matches!(node.value, NodeValue::List(_)) {
            node.items().iter().map(|item| self.text(item)).collect()
        } else {
            vec![self.text(node)]
        }
    }

    /// A text as written, or `{repeat: TEXT, times: N}` for one that is larger than a test file may be.
    fn long_text(&mut self, node: &Node) -> String {
        if !matches!(node.value, NodeValue::Map(_)) {
            return self.text(node);
        }
        self.only(node, &["repeat", "times"]);
        let (Some(text), Some(times)) = (node.get("repeat"), node.get("times")) else {
            self.wrong(node.span, "expected a string or `{repeat: TEXT, times: N}`", None);
            return String::new();
        };
        let (text, count) = (self.text(text), self.number(times));
        match usize::try_from(count).ok().and_then(|count| count.checked_mul(text.len()).map(|length| (count, length)))
        {
            Some((count, length)) if length <= LONGEST_TEXT => text.repeat(count),
            _ => {
                let limit = format!("at most {} MiB", LONGEST_TEXT >> 20);
                self.wrong(times.span, "the repeated text is too long", Some(limit));
                String::new()
            }
        }
    }

    fn fields(&mut self, node: &Node) -> Vec<(String, String)> {
        self.fields_of(node, Reader::text)
    }

    fn fields_of(&mut self, node: &Node, text: fn(&mut Reader, &Node) -> String) -> Vec<(String, String)> {
        if !matches!(node.value, NodeValue::Map(_)) {
            self.wrong(node.span, "expected a mapping of header names to values", None);
        }
        let mut all = Vec::new();
        for entry in node.entries() {
            let values = match &entry.value.value {
                NodeValue::List(items) => &items[..],
                _ => std::slice::from_ref(&entry.value),
            };
            all.extend(values.iter().map(|value| (entry.key.clone(), text(self, value))));
        }
        all
    }

    fn suite(&mut self, document: &Node) -> Option<Suite> {
        self.only(document, &["apiVersion", "kind", "metadata", "proxy", "filters", "stubs", "wasm", "tests"]);
        match document.get("kind").and_then(Node::as_str) {
            Some(KIND) => {}
            _ => self.wrong(
                document.key_span(&["kind".into()]),
                format!("not a test file: `kind: {KIND}` is missing"),
                None,
            ),
        }
        let proxy = if let Some(node) = document.get("proxy") {
            self.proxy(node)
        } else {
            self.wrong(
                document.span,
                "no proxy is given",
                Some("write `proxy: {dump: cart.json}` or `proxy: {demo: true}`".to_owned()),
            );
            None
        };
        let filters = document.get("filters").map(|node| self.texts(node)).unwrap_or_default();
        let wasm = document.get("wasm").map(|node| self.fields(node).into_iter().collect()).unwrap_or_default();
        let stubs = document.get("stubs").map(|node| self.stubs(node)).unwrap_or_default();
        let mut tests = Vec::new();
        match document.get("tests") {
            Some(list) if !list.items().is_empty() => {
                for item in list.items() {
                    tests.extend(self.test(item));
                }
            }
            _ => self.wrong(document.key_span(&["tests".into()]), "the file has no tests", None),
        }
        Some(Suite { proxy: proxy?, filters, wasm, stubs, tests })
    }

    fn proxy(&mut self, node: &Node) -> Option<ProxySource> {
        self.only(node, &["dump", "demo", "pod", "capture", "manifests"]);
        if let Some(manifests) = node.get("manifests") {
            let alone = ["dump", "demo", "capture"].iter().all(|key| node.get(key).is_none());
            if let (Some(pod), true) = (node.get("pod"), alone) {
                return Some(ProxySource::Manifests { pod: self.text(pod), files: self.texts(manifests) });
            }
            let help = "write `{pod: shop/cart-1, manifests: [mesh/]}`".to_owned();
            self.wrong(manifests.span, "`manifests` needs `pod`, and no other key", Some(help));
            return None;
        }
        let [dump, demo, pod, capture] = ["dump", "demo", "pod", "capture"].map(|key| node.get(key));
        match (dump, demo, pod, capture) {
            (Some(dump), None, None, None) => Some(ProxySource::Dump(self.text(dump))),
            (None, Some(_), None, None) => Some(ProxySource::Demo),
            (None, None, Some(pod), capture) => {
                let capture = capture.map(|capture| self.text(capture));
                Some(ProxySource::Pod { name: self.text(pod), capture })
            }
            (None, None, None, Some(capture)) => {
                let help = "write `{capture: mesh.tar.gz, pod: shop/cart-1}`".to_owned();
                self.wrong(capture.span, "`capture` needs `pod`", Some(help));
                None
            }
            _ => {
                let help = "a pod may come from a capture: `{capture: mesh.tar.gz, pod: shop/cart-1}`".to_owned();
                self.wrong(node.span, "proxy needs one of dump, demo and pod", Some(help));
                None
            }
        }
    }

    fn stubs(&mut self, node: &Node) -> BTreeMap<String, Stub> {
        let mut all = BTreeMap::new();
        let known = Service::ALL.map(Service::as_str);
        if !matches!(node.value, NodeValue::Map(_)) {
            let help = "write `stubs: {cart: {http: {status: 503}}}`, by the name of a cluster or a host".to_owned();
            self.wrong(node.span, "expected a mapping", Some(help));
        }
        for entry in node.entries() {
            self.only(&entry.value, &known);
            let mut stub = Stub::default();
            for one in entry.value.entries() {
                let Some(service) = Service::ALL.into_iter().find(|service| service.as_str() == one.key) else {
                    continue;
                };
                let rules = match &one.value.value {
                    NodeValue::List(items) => items.iter().map(|item| self.rule(item, service)).collect(),
                    // A value that is not a mapping is reported there.
                    _ => vec![self.rule(&one.value, service)],
                };
                stub.rules.insert(service, rules);
            }
            all.insert(entry.key.clone(), stub);
        }
        all
    }

    fn rule(&mut self, node: &Node, service: Service) -> Rule {
        self.only(
            node,
            &[
                "when", "status", "headers", "remove", "body", "base64", "code", "echo", "delay", "reset", "times",
                "send",
            ],
        );
        let mut rule = Rule::default();
        for entry in node.entries() {
            let value = &entry.value;
            match entry.key.as_str() {
                "when" => {
                    rule.when = self.fields(value).into_iter().map(|(key, value)| (key, Pattern(value))).collect();
                }
                "status" => {
                    let number = self.number(value);
                    let fits = if service == Service::Grpc { number <= 16 } else { (100..600).contains(&number) };
                    if !fits {
                        self.wrong(value.span, format!("{number} is not a status of {service}"), None);
                    }
                    rule.status = u16::try_from(number).ok();
                }
                "headers" => rule.headers = self.fields(value),
                "remove" => rule.remove = self.texts(value),
                "body" | "send" => rule.body = Some(self.text(value).into_bytes()),
                "base64" => rule.body = Some(self.base64(value)),
                "code" => match self.text(value).as_str() {
                    "OVER_LIMIT" => rule.over_limit = true,
                    "OK" => {}
                    other => self.wrong(
                        value.span,
                        format!("unknown rate limit code `{other}`"),
                        Some("OK or OVER_LIMIT".to_owned()),
                    ),
                },
                "echo" => rule.echo = self.flag(value),
                "delay" => rule.delay = Some(self.duration(value)),
                "reset" => rule.reset = self.flag(value),
                "times" => rule.times = Some(self.number(value)),
                _ => {}
            }
        }
        rule
    }

    fn base64(&mut self, node: &Node) -> Vec<u8> {
        let text = self.text(node);
        BASE64_STANDARD.decode(text.trim()).unwrap_or_else(|error| {
            self.wrong(node.span, format!("not base64: {error}"), None);
            Vec::new()
        })
    }

    fn test(&mut self, node: &Node) -> Option<Test> {
        self.only(node, &["name", "request", "repeat", "parallel", "fresh", "stubs", "expect", "without-filters"]);
        let name = if let Some(name) = node.get("name") {
            self.text(name)
        } else {
            self.wrong(node.span, "a test has no name", None);
            String::new()
        };
        let Some(asked) = node.get("request") else {
            self.wrong(node.span, format!("test `{name}` has no request"), None);
            return None;
        };
        let (request, token) = self.request(asked)?;
        let mut count = |key: &str| {
            node.get(key).map_or(1, |node| usize::try_from(self.number(node)).unwrap_or(1).clamp(1, 100_000))
        };
        let (repeat, parallel) = (count("repeat"), count("parallel"));
        let fresh = node.get("fresh").is_some_and(|node| self.flag(node));
        let stubs = node.get("stubs").map(|node| self.stubs(node)).unwrap_or_default();
        let expect = node.get("expect").map(|node| self.expect(node)).unwrap_or_default();
        let without = match node.get("without-filters") {
            Some(node) => {
                self.only(node, &["expect"]);
                node.get("expect").map(|node| self.expect(node)).unwrap_or_default()
            }
            None => Vec::new(),
        };
        if expect.is_empty() && without.is_empty() {
            self.wrong(
                node.span,
                format!("test `{name}` expects nothing"),
                Some("add `expect: {status: 200}`".to_owned()),
            );
        }
        let span = node.get("name").map_or(node.span, |name| name.span);
        Some(Test { name, span, request, token, repeat, parallel, fresh, stubs, expect, without })
    }

    fn target(&mut self, node: &Node) -> Option<Target> {
        let host_port = |reader: &mut Reader, node: &Node| -> Option<(String, u16)> {
            let text = reader.text(node);
            let pair = text.rsplit_once(':').and_then(|(host, port)| Some((host.to_owned(), port.parse().ok()?)));
            if pair.is_none() {
                reader.wrong(node.span, format!("`{text}` is not HOST:PORT"), None);
            }
            pair
        };
        let targets: Vec<&Entry> = node
            .entries()
            .iter()
            .filter(|entry| ["inbound", "outbound", "gateway", "waypoint"].contains(&entry.key.as_str()))
            .collect();
        if let [one] = targets.as_slice() {
            match one.key.as_str() {
                "inbound" => Some(Target::Inbound(self.port(&one.value))),
                "gateway" => Some(Target::Gateway(self.port(&one.value))),
                "outbound" => host_port(self, &one.value).map(|(host, port)| Target::Outbound(host, port)),
                _ => host_port(self, &one.value).map(|(host, port)| Target::Waypoint(host, port)),
            }
        } else {
            let help =
                "write `inbound: 8080`, `outbound: host:port`, `gateway: 8080` or `waypoint: host:port`".to_owned();
            self.wrong(node.span, "a request needs one of inbound, outbound, gateway and waypoint", Some(help));
            None
        }
    }

    fn request(&mut self, node: &Node) -> Option<(Request, Option<serde_json::Value>)> {
        self.only(
            node,
            &[
                "inbound",
                "outbound",
                "gateway",
                "waypoint",
                "method",
                "path",
                "host",
                "headers",
                "body",
                "base64",
                "json",
                "padding",
                "trailers",
                "http2",
                "grpc",
                "tcp",
                "from",
                "tls",
                "sni",
                "alpn",
                "jwt",
                "timeout",
                "proxy-protocol",
            ],
        );
        let mut request = Request::get(self.target(node)?, "/");
        let mut token = None;
        for Entry { key, value, .. } in node.entries() {
            match key.as_str() {
                "method" => request.method = self.text(value),
                "path" => request.path = self.text(value),
                "host" => request.host = Some(self.text(value)),
                "headers" => request.headers.extend(self.fields_of(value, Reader::long_text)),
                "trailers" => request.trailers = self.fields_of(value, Reader::long_text),
                "body" => request.body = self.long_text(value).into_bytes(),
                "base64" => request.body = self.base64(value),
                "json" => {
                    request.body = value.to_json().to_string().into_bytes();
                    request.headers.push(("content-type".to_owned(), "application/json".to_owned()));
                }
                "padding" => request.padding = self.number(value),
                "http2" if self.flag(value) => request.protocol = Protocol::Http2,
                "grpc" => {
                    request.protocol = Protocol::Grpc;
                    request.path = format!("/{}", self.text(value).trim_start_matches('/'));
                }
                "tcp" => {
                    request.protocol = Protocol::Tcp;
                    request.body = self.text(value).into_bytes();
                }
                "from" => {
                    for from in self.texts(value) {
                        match from.parse::<IpAddr>() {
                            Ok(address) => request.from = Some(address),
                            Err(_) if from.starts_with("spiffe://") => request.identity = Some(from),
                            Err(_) => self.wrong(
                                value.span,
                                format!("`{from}` is neither an IP address nor a SPIFFE identity"),
                                None,
                            ),
                        }
                    }
                }
                "tls" => match self.text(value).as_str() {
                    "auto" => request.tls = Tls::Auto,
                    "plain" => request.tls = Tls::Plain,
                    "simple" => request.tls = Tls::Simple,
                    "mutual" => request.tls = Tls::Mutual,
                    other => {
                        self.wrong(value.span, format!("`{other}` is not one of auto, plain, simple, mutual"), None);
                    }
                },
                "sni" => request.sni = Some(self.text(value)),
                "alpn" => request.alpn = self.texts(value),
                "jwt" => token = Some(value.to_json()),
                "timeout" => request.timeout = self.duration(value).max(Duration::from_millis(1)),
                "proxy-protocol" => {
                    let text = self.text(value);
                    match text.parse::<IpAddr>() {
                        Ok(address) => {
                            request.preamble =
                                proxy_protocol((address, 40_001), (IpAddr::from([10, 0, 0, 2]), request.target.port()));
                        }
                        Err(_) => self.wrong(value.span, format!("`{text}` is not an IP address"), None),
                    }
                }
                _ => {}
            }
        }
        if node.get("method").is_none()
            && (!request.body.is_empty() || request.padding > 0)
            && request.protocol != Protocol::Tcp
        {
            "POST".clone_into(&mut request.method);
        }
        Some((request, token))
    }

    fn expect(&mut self, node: &Node) -> Vec<Expectation> {
        const PLAIN: [(&str, Of); 15] = [
            ("body", Of::Body),
            ("failure", Of::Failure),
            ("stopped-by", Of::StoppedBy),
            ("details", Of::Details),
            ("flags", Of::Flags),
            ("closed", Of::Closed),
            ("listener", Of::Listener),
            ("filter-chain", Of::FilterChain),
            ("virtual-host", Of::VirtualHost),
            ("route", Of::Route),
            ("object", Of::Object),
            ("peer", Of::Peer),
            ("log", Of::Log),
            ("access-log", Of::AccessLog),
            ("attempts", Of::Attempts),
        ];
        let mut known: Vec<&str> = PLAIN.iter().map(|(key, _)| *key).collect();
        known.extend(["status", "headers", "trailers", "upstream", "asked", "at-least"]);
        self.only(node, &known);
        let mut all = Vec::new();
        for entry in node.entries() {
            let (key, value) = (entry.key.as_str(), &entry.value);
            if let Some((_, of)) = PLAIN.iter().find(|(name, _)| *name == key) {
                if matches!(value.value, NodeValue::List(_)) {
                    all.extend(value.items().iter().map(|item| self.wanted(of.clone(), item)).collect::<Vec<_>>());
                } else {
                    all.push(self.wanted(of.clone(), value));
                }
                continue;
            }
            match key {
                "status" if matches!(value.value, NodeValue::Map(_)) => {
                    let counts =
                        value.entries().iter().map(|entry| (entry.key.clone(), self.number(&entry.value))).collect();
                    all.push(Expectation { span: value.span, of: Of::Statuses, wanted: Wanted::Counts(counts) });
                }
                "status" => all.push(self.wanted(Of::Status, value)),
                "headers" => all.extend(self.named(value, &|name| Of::Header(name.to_owned()))),
                "trailers" => all.extend(self.named(value, &|name| Of::Trailer(name.to_owned()))),
                "asked" => all.extend(self.named(value, &|name| Of::Asked(name.to_owned()))),
                "at-least" => {
                    let millis = u64::try_from(self.duration(value).as_millis()).unwrap_or(u64::MAX);
                    all.push(Expectation { span: value.span, of: Of::AtLeast, wanted: Wanted::Number(millis) });
                }
                "upstream" => all.extend(self.upstream(value)),
                _ => {}
            }
        }
        all
    }

    fn upstream(&mut self, node: &Node) -> Vec<Expectation> {
        if !matches!(node.value, NodeValue::Map(_)) {
            // `upstream: absent` and `upstream: present`: whether it was called.
            return vec![self.wanted(Of::UpstreamCalls, node)];
        }
        self.only(node, &["cluster", "headers", "method", "path", "body", "calls"]);
        let mut all = Vec::new();
        for entry in node.entries() {
            let of = match entry.key.as_str() {
                "cluster" => Of::Cluster,
                "method" => Of::UpstreamMethod,
                "path" => Of::UpstreamPath,
                "body" => Of::UpstreamBody,
                "calls" => Of::UpstreamCalls,
                "headers" => {
                    all.extend(self.named(&entry.value, &|name| Of::UpstreamHeader(name.to_owned())));
                    continue;
                }
                _ => continue,
            };
            all.push(self.wanted(of, &entry.value));
        }
        all
    }

    fn named(&mut self, node: &Node, of: &dyn Fn(&str) -> Of) -> Vec<Expectation> {
        if !matches!(node.value, NodeValue::Map(_)) {
            self.wrong(node.span, "expected a mapping of names to expectations", None);
        }
        node.entries().iter().map(|entry| self.wanted(of(&entry.key), &entry.value)).collect()
    }

    fn wanted(&mut self, of: Of, node: &Node) -> Expectation {
        let counted = matches!(of, Of::UpstreamCalls | Of::Asked(_) | Of::Attempts);
        let wanted = match &node.value {
            NodeValue::Map(_) => {
                self.only(node, &["equals", "not"]);
                match (node.get("equals"), node.get("not")) {
                    (Some(text), None) => Wanted::Is(Pattern(self.text(text))),
                    (None, Some(text)) => Wanted::IsNot(Pattern(self.text(text))),
                    _ => {
                        self.wrong(node.span, "expected either `equals` or `not`", None);
                        Wanted::Present
                    }
                }
            }
            NodeValue::String(text) if text == "absent" => Wanted::Absent,
            NodeValue::String(text) if text == "present" => Wanted::Present,
            NodeValue::Number(_) if counted => Wanted::Number(self.number(node)),
            _ if counted => {
                self.wrong(node.span, "expected a number, `present` or `absent`", None);
                Wanted::Present
            }
            _ => Wanted::Is(Pattern(self.text(node))),
        };
        Expectation { span: node.span, of, wanted }
    }
}
