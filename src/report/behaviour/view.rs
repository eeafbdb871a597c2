//! The JSON of `try`: schemas/try.json. The other formats are derived from it.

use crate::behaviour::trying::{Report, Run};
use crate::behaviour::{
    Call, Change, Exchange, Failure, Fields, Protocol, Request, Said, Step, Why, changes, status_name,
};
use crate::engine::PatchId;
use crate::model::proxy::Proxy;
use serde::Serialize;
use std::collections::BTreeMap;

/// Version of this form.
pub(crate) const API_VERSION: &str = "envoyfilter.dev/v1";

/// The result of `try`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct View {
    /// [`API_VERSION`].
    pub api_version: &'static str,
    /// `TryReport`.
    pub kind: &'static str,
    /// Version of Envoy.
    pub envoy: String,
    /// The proxy, `namespace/name`.
    pub proxy: String,
    /// `sidecar`, `gateway` or `waypoint`.
    pub proxy_type: String,
    /// Where the request enters.
    pub target: String,
    /// The request in a line.
    pub request: String,
    /// How often it was sent.
    pub repeat: usize,
    /// With the filters.
    pub with: Side,
    /// Without them, or without the given ones.
    pub without: Option<Side>,
    /// The EnvoyFilters omitted in the comparison; empty for all.
    pub compared_without: Vec<String>,
    /// What all filters together changed for the client.
    pub client_changes: Vec<ChangeView>,
    /// What all filters together changed for the upstream.
    pub upstream_changes: Vec<ChangeView>,
    /// Differences from the mesh.
    pub left_out: Vec<LeftOutView>,
    /// How much of the configuration was loaded.
    pub loaded: LoadedView,
}

/// One configuration.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Side {
    /// Number of responses by status, for gRPC with the gRPC status; without a status `answered` (TCP), `closed`,
    /// `timed out` or `failed`.
    pub statuses: BTreeMap<String, usize>,
    /// The exchange that is shown, from 1.
    pub shown: usize,
    /// Whether that exchange is a complete answer without an error status, for gRPC with status 0.
    #[serde(skip)]
    pub succeeded: bool,
    /// The client's view.
    pub client: ClientView,
    /// The path.
    pub path: Option<PathView>,
    /// HTTP filters in the order of the request.
    pub filters: Vec<FilterView>,
    /// The upstream's view.
    pub upstream: Vec<CallView>,
    /// Calls by filters.
    pub asked: Vec<CallView>,
    /// Log lines of scripts outside of known filters.
    pub said: Vec<SaidView>,
    /// Lines of the configuration's own access logs.
    pub access_log: Vec<String>,
}

/// The client's view.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ClientView {
    /// Status.
    pub status: Option<u16>,
    /// Status of gRPC; only for a gRPC request that has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grpc_status: Option<u16>,
    /// Header fields in their order.
    pub headers: Fields,
    /// The body as text.
    pub body: String,
    /// Length of the body in bytes.
    pub body_length: u64,
    /// Trailers.
    pub trailers: Fields,
    /// Why the response is not complete.
    pub failure: Option<String>,
    /// Time in microseconds; only if times are requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub micros: Option<u64>,
}

/// The path of a request.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PathView {
    /// The listener.
    pub listener: String,
    /// Name of the filter chain, and its place in the listener.
    pub filter_chain: String,
    /// Place of the filter chain: a number, or `default`.
    pub filter_chain_index: String,
    /// Network filters of the chain.
    pub network_filters: Vec<String>,
    /// Route configuration.
    pub route_config: String,
    /// Virtual host.
    pub virtual_host: String,
    /// Name of the route.
    pub route: String,
    /// Place of the route in the virtual host.
    pub route_index: Option<usize>,
    /// The EnvoyFilter patch that wrote something in the route.
    pub route_by: Option<String>,
    /// The Istio object behind the route.
    pub object: String,
    /// The cluster.
    pub cluster: String,
    /// Envoy's response code details.
    pub details: String,
    /// Envoy's flags.
    pub flags: String,
    /// Why the connection was closed.
    pub closed: String,
    /// Number of attempts at the upstream.
    pub attempts: u64,
    /// Server name of the handshake.
    pub sni: String,
    /// Verified identity of the client.
    pub peer: String,
    /// Why TLS failed.
    pub tls_failure: String,
}

impl PathView {
    /// What is shown for a filter chain that Envoy does not name: Envoy logs the name only once the chain has a request.
    pub(crate) fn no_chain(&self) -> &'static str {
        if self.details == "filter_chain_not_found" || (self.tls_failure.is_empty() && self.closed.is_empty()) {
            "none matched"
        } else {
            "unknown: the connection ended before a request"
        }
    }
}

/// An HTTP filter.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FilterView {
    /// Its name.
    pub name: String,
    /// The message that configures it.
    pub r#type: String,
    /// Its listener.
    pub listener: String,
    /// The EnvoyFilter patch that inserted or changed it.
    pub by: Option<String>,
    /// Whether a patch inserted it.
    pub inserted: bool,
    /// Whether the request reached it.
    pub reached: bool,
    /// Whether the request passed it.
    pub passed: bool,
    /// Whether it sent the response.
    pub stopped: bool,
    /// What it did to the request.
    pub request: Vec<ChangeView>,
    /// What it did to the response.
    pub response: Vec<ChangeView>,
    /// Its log lines.
    pub said: Vec<SaidView>,
    /// Calls to the clusters that it names.
    pub asked: Vec<CallView>,
}

/// A header field that changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ChangeView {
    /// Its name.
    pub name: String,
    /// Values before.
    pub before: Vec<String>,
    /// Values after.
    pub after: Vec<String>,
}

/// A log line of a script.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct SaidView {
    /// The level.
    pub level: String,
    /// The text.
    pub text: String,
    /// `request` or `response`.
    pub phase: &'static str,
}

/// A call to a stub.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallView {
    /// The cluster.
    pub cluster: String,
    /// The called service: `http`, `ext_authz` and so on.
    pub service: String,
    /// Protocol.
    pub protocol: String,
    /// Method.
    pub method: String,
    /// Path.
    pub path: String,
    /// Header fields.
    pub headers: Fields,
    /// Body as text.
    pub body: String,
    /// Its length.
    pub body_length: u64,
    /// The request, in one line.
    pub asked: String,
    /// The response, in one line.
    pub answer: String,
    /// Time in microseconds; only if times are requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub micros: Option<u64>,
}

/// A difference from the mesh.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LeftOutView {
    /// The reason, as a keyword.
    pub reason: &'static str,
    /// The reason, for people.
    pub description: &'static str,
    /// What.
    pub what: Vec<String>,
    /// The EnvoyFilters that use it.
    pub by: Vec<String>,
}

/// How much was loaded, of how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LoadedView {
    /// Number of loaded listeners, and of all.
    pub listeners: (usize, usize),
    /// Number of loaded route configurations, and of all.
    pub routes: (usize, usize),
    /// Number of loaded clusters, and of all.
    pub clusters: (usize, usize),
}

/// The input of a view.
pub(crate) struct Shown<'v> {
    /// What was seen.
    pub report: &'v Report,
    /// The request.
    pub request: &'v Request,
    /// The proxy.
    pub proxy: &'v Proxy,
    /// Names of patches by index.
    pub patches: &'v [String],
    /// EnvoyFilters omitted in the comparison; empty for all.
    pub compared_without: &'v [String],
    /// Whether times and random values are shown.
    pub times: bool,
}

/// Header fields whose values differ from run to run.
const VARYING: [&str; 12] = [
    "date",
    "x-request-id",
    "x-envoy-upstream-service-time",
    "x-b3-traceid",
    "x-b3-spanid",
    "x-b3-parentspanid",
    "traceparent",
    "age",
    "x-ratelimit-reset",
    "x-envoy-expected-rq-timeout-ms",
    "x-envoy-attempt-count-time",
    "etag-time",
];

/// What is shown for a value that differs between runs.
pub(crate) const VARIES: &str = "(varies)";

impl Shown<'_> {
    /// The whole view.
    pub(crate) fn view(&self) -> View {
        let (with, without) = (&self.report.with, self.report.without.as_ref());
        let kind = match self.proxy.kind {
            crate::model::proxy::ProxyKind::Sidecar => "sidecar",
            crate::model::proxy::ProxyKind::Gateway => "gateway",
            crate::model::proxy::ProxyKind::Waypoint => "waypoint",
        };
        let sides = (self.side(with), without.map(|run| self.side(run)));
        let between = |old: Fields, new: Fields| {
            changes(&old, &new)
                .into_iter()
                .map(|change| self.change(&change))
                .filter(|it| it.before != it.after)
                .collect()
        };
        let upstream = |side: &Side| side.upstream.last().map(|call| call.headers.clone()).unwrap_or_default();
        let (client_changes, upstream_changes) = match &sides.1 {
            Some(other) => {
                let both = !other.upstream.is_empty() && !sides.0.upstream.is_empty();
                let upstream = if both { between(upstream(other), upstream(&sides.0)) } else { Vec::new() };
                (between(other.client.headers.clone(), sides.0.client.headers.clone()), upstream)
            }
            None => (Vec::new(), Vec::new()),
        };
        View {
            api_version: API_VERSION,
            kind: "TryReport",
            envoy: self.report.envoy.clone(),
            proxy: self.proxy.full_name(),
            proxy_type: kind.to_owned(),
            target: self.request.target.to_string(),
            request: self.request.summary(&self.proxy.workload),
            repeat: with.exchanges.len(),
            client_changes,
            upstream_changes,
            left_out: self.left_out(),
            loaded: LoadedView {
                listeners: with.scope.listeners,
                routes: with.scope.routes,
                clusters: with.scope.clusters,
            },
            compared_without: self.compared_without.to_vec(),
            with: sides.0,
            without: sides.1,
        }
    }

    fn patch(&self, id: Option<PatchId>) -> Option<String> {
        id.and_then(|id| self.patches.get(id.index())).cloned()
    }

    fn side(&self, run: &Run) -> Side {
        let mut statuses: BTreeMap<String, usize> = BTreeMap::new();
        for exchange in &run.exchanges {
            let word = outcome(self.request, exchange);
            *statuses.entry(word).or_default() += 1;
        }
        // The first one that differs from the one before it is the most informative; else use the first.
        let outcome = |exchange: &Exchange| outcome(self.request, exchange);
        let other =
            run.exchanges.windows(2).position(|pair| outcome(&pair[0]) != outcome(&pair[1])).map_or(0, |at| at + 1);
        let empty = Exchange::default();
        let exchange = run.exchanges.get(other).unwrap_or(&empty);
        Side {
            statuses,
            shown: other + 1,
            succeeded: succeeded(self.request, exchange),
            client: ClientView {
                status: exchange.client.status,
                grpc_status: exchange.client.grpc_status().filter(|_| self.request.protocol == Protocol::Grpc),
                headers: self.fields(&exchange.client.headers),
                body: exchange.client.body.text(),
                body_length: exchange.client.body.length,
                trailers: self.fields(&exchange.client.trailers),
                failure: exchange.client.failure.as_ref().map(Failure::to_string),
                micros: self.times.then_some(exchange.client.micros),
            },
            path: self.path(run, exchange),
            filters: exchange.steps.iter().filter_map(|step| self.filter(run, exchange, step)).collect(),
            upstream: exchange.upstream().map(|call| self.call(call)).collect(),
            asked: exchange.asked().map(|call| self.call(call)).collect(),
            said: exchange.said.iter().map(said).collect(),
            access_log: if self.times { exchange.access_log.clone() } else { Vec::new() },
        }
    }

    fn path(&self, run: &Run, exchange: &Exchange) -> Option<PathView> {
        let path = exchange.path()?;
        let chain = path.chain.and_then(|chain| run.chains.get(chain));
        Some(PathView {
            listener: path.listener.clone(),
            filter_chain: path.chain_name.clone(),
            filter_chain_index: path.chain_index.clone(),
            network_filters: chain.map(|chain| chain.network.clone()).unwrap_or_default(),
            route_config: path.route_config.clone(),
            virtual_host: path.vhost.clone(),
            route: path.route.clone(),
            route_index: path.route_index,
            route_by: self.patch(path.route_by.map(PatchId)),
            object: path.object.clone(),
            cluster: path.cluster.clone(),
            details: path.details.clone(),
            flags: path.flags.clone(),
            closed: path.closed.clone(),
            attempts: path.attempts,
            sni: path.sni.clone(),
            peer: path.peer.clone(),
            tls_failure: path.tls_failure.clone(),
        })
    }

    fn filter(&self, run: &Run, exchange: &Exchange, step: &Step) -> Option<FilterView> {
        let chain = run.chains.get(step.chain)?;
        let filter = chain.http.get(step.filter)?;
        let stopped =
            exchange.stopped().is_some_and(|stopped| (stopped.chain, stopped.filter) == (step.chain, step.filter));
        let names = |call: &&Call| filter.clusters.contains(&call.cluster);
        let router = filter.type_name.ends_with(".router.v3.Router");
        Some(FilterView {
            name: filter.name.clone(),
            r#type: filter.type_name.clone(),
            listener: chain.listener.clone(),
            by: self.patch(filter.by),
            inserted: filter.inserted,
            reached: step.reached,
            passed: step.passed,
            stopped,
            request: step.request.iter().map(|change| self.change(change)).collect(),
            response: step.response.iter().map(|change| self.change(change)).collect(),
            said: step.said.iter().map(said).collect(),
            asked: if router || !step.reached {
                Vec::new()
            } else {
                exchange.asked().filter(names).map(|call| self.call(call)).collect()
            },
        })
    }

    fn fields(&self, fields: &Fields) -> Fields {
        fields.iter().map(|(name, value)| (name.clone(), self.value(name, value))).collect()
    }

    fn value(&self, name: &str, value: &str) -> String {
        let own = || self.request.headers.iter().any(|(key, of)| key.eq_ignore_ascii_case(name) && of == value);
        let varies = VARYING.iter().any(|varying| name.eq_ignore_ascii_case(varying));
        if self.times {
            return value.to_owned();
        }
        if varies && !own() {
            return VARIES.to_owned();
        }
        // The certificate of the client is new in each run.
        let hash =
            value.find("Hash=").filter(|_| name.eq_ignore_ascii_case("x-forwarded-client-cert")).map(|at| at + 5);
        match hash.and_then(|at| Some((value.get(..at)?, value.get(at..)?))) {
            Some((start, rest)) => {
                format!("{start}{VARIES}{}", rest.trim_start_matches(|c: char| c.is_ascii_hexdigit()))
            }
            None => value.to_owned(),
        }
    }

    fn change(&self, change: &Change) -> ChangeView {
        let values = |values: &Vec<String>| values.iter().map(|value| self.value(&change.name, value)).collect();
        ChangeView { name: change.name.clone(), before: values(&change.before), after: values(&change.after) }
    }

    fn call(&self, call: &Call) -> CallView {
        CallView {
            cluster: call.cluster.clone(),
            service: call.service.to_string(),
            protocol: call.protocol.to_owned(),
            method: call.method.clone(),
            path: call.path.clone(),
            headers: self.fields(&call.headers),
            body: call.body.text(),
            body_length: call.body.length,
            asked: call.asked.clone(),
            answer: call.answer.clone(),
            micros: self.times.then_some(call.micros),
        }
    }

    fn left_out(&self) -> Vec<LeftOutView> {
        let mut by_reason: BTreeMap<Why, (Vec<String>, Vec<String>)> = BTreeMap::new();
        for one in &self.report.with.left_out {
            let (what, by) = by_reason.entry(one.why).or_default();
            if !what.contains(&one.what) {
                what.push(one.what.clone());
            }
            by.extend(self.patch(one.by).filter(|name| !by.contains(name)));
        }
        let of = |(why, (what, by)): (Why, (Vec<String>, Vec<String>))| LeftOutView {
            reason: why.as_str(),
            description: why.words(),
            what,
            by,
        };
        by_reason.into_iter().map(of).collect()
    }
}

/// Whether a body is nothing that people read, such as a message of gRPC.
pub(super) fn is_binary(body: &str) -> bool {
    body.contains(|c: char| c == '\u{fffd}' || (c.is_control() && !c.is_whitespace()))
}

/// The status in a word; for TCP, whether there was an answer. A failed gRPC call has HTTP status 200, too.
fn outcome(request: &Request, exchange: &Exchange) -> String {
    match (exchange.client.status, &exchange.client.failure) {
        (Some(status), _) if request.protocol == Protocol::Grpc => match exchange.client.grpc_status() {
            Some(code) => format!("{status}, grpc-status {code} {}", status_name(code)),
            None => format!("{status}, no grpc-status"),
        },
        (Some(status), _) => status.to_string(),
        (None, None) if request.protocol == Protocol::Tcp => "answered".to_owned(),
        (None, Some(Failure::TimedOut)) => "timed out".to_owned(),
        (None, Some(Failure::Closed)) => "closed".to_owned(),
        (None, _) => "failed".to_owned(),
    }
}

fn succeeded(request: &Request, exchange: &Exchange) -> bool {
    let seen = &exchange.client;
    let grpc = request.protocol != Protocol::Grpc || seen.grpc_status() == Some(0);
    seen.failure.is_none() && seen.status.is_none_or(|status| status < 400) && grpc
}

fn said(said: &Said) -> SaidView {
    let phase = if said.response { "response" } else { "request" };
    SaidView { level: said.level.clone(), text: said.text.clone(), phase }
}
