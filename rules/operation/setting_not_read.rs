//! EF343: a setting of a cluster or route that Envoy does not read.

use crate::declare_rule;
use crate::engine::trace::Place;
use crate::lint::callers::clusters_of;
use crate::lint::context::PatchRun;
use crate::lint::value::{Object, PatchValue};
use crate::lint::walk::get;
use crate::lint::{Context, Finding, Findings, PatchView, RuleInfo, names};
use crate::model::envoy_filter::{ApplyTo, Operation};
use crate::model::resource::ResourceKind;
use crate::proto::tree::{Tree, Value};
use crate::source::escape::one_line;
use crate::source::{NodeValue, Severity, Span};
use std::collections::BTreeSet;

declare_rule! {
    /// A setting of a cluster or route that Envoy does not read because of another one.
    ///
    /// # What it finds
    /// In the cluster that results: `consecutive_gateway_failure`, `failure_percentage_threshold` and `consecutive_local_origin_failure`
    /// of outlier detection without the setting that makes them eject; `round_robin_lb_config` and the like with another `lb_policy`, any of them beside
    /// `load_balancing_policy`; `http_protocol_options`, `http2_protocol_options`, `common_http_protocol_options` and
    /// `upstream_http_protocol_options` beside `HttpProtocolOptions` in `typed_extension_protocol_options`; DNS settings of a cluster whose
    /// type resolves no names; `dns_refresh_rate` with `respect_dns_ttl`. On routes: `hash_policy` if every cluster of the
    /// route balances load without hashes; `retriable_status_codes` and `retriable_headers` without their condition in `retry_on`;
    /// `num_retries` without `retry_on` in values that are not merged; `hedge_on_per_try_timeout` without `per_try_timeout`;
    /// `per_try_timeout` that is not shorter than `timeout`; `auto_host_rewrite` if the endpoints come from istiod over EDS;
    /// `redirect_response_codes` that are no redirects; for information, `idle_timeout` that is shorter than `timeout`; `cipher_suites` of TLS 1.3.
    /// Patches of existing objects need config dumps.
    ///
    /// # Why it matters
    /// istiod and Envoy accept the setting, and nothing changes. istiod gives clusters LEAST_REQUEST, `respect_dns_ttl` and
    /// often `HttpProtocolOptions`.
    ///
    /// # How to fix
    /// Set what is read: the settings of the cluster's load balancer, the fields inside `HttpProtocolOptions`; or use a
    /// DestinationRule, which sets both sides.
    ///
    /// # References
    /// Envoy `config.cluster.v3.Cluster` (`lb_policy`, `respect_dns_ttl`), `HttpProtocolOptions`, `RouteAction.auto_host_rewrite`,
    /// `InternalRedirectPolicy`; protocols tested with Envoy 1.38.2; istiod `endpoint_builder.go`, which sets no `hostname`.
    "EF343" "setting-not-read" Operation Warning => check,
    explains: &["EF114"]
}

/// Settings of each load balancer, with the `lb_policy` that reads them.
const BALANCERS: &[(&str, &str)] = &[
    ("least_request_lb_config", "LEAST_REQUEST"),
    ("maglev_lb_config", "MAGLEV"),
    ("ring_hash_lb_config", "RING_HASH"),
    ("round_robin_lb_config", "ROUND_ROBIN"),
];
/// Settings that `HttpProtocolOptions` replaces as a whole.
const PROTOCOLS: &[&str] = &[
    "common_http_protocol_options",
    "http2_protocol_options",
    "http_protocol_options",
    "upstream_http_protocol_options",
];
/// Settings of clusters that resolve names.
const DNS: &[&str] =
    &["dns_failure_refresh_rate", "dns_jitter", "dns_lookup_family", "dns_refresh_rate", "use_tcp_for_dns_lookups"];
/// Statuses that an internal redirect follows; others in its list are skipped.
const REDIRECTS: [&str; 5] = ["301", "302", "303", "307", "308"];
const HTTP: &str = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";

/// Settings of outlier detection that only count unless another one, whose default is off, makes them eject.
const OUTLIERS: &[(&str, &str)] = &[
    ("consecutive_gateway_failure", "enforcing_consecutive_gateway_failure"),
    ("consecutive_local_origin_failure", "split_external_local_origin_errors"),
    ("failure_percentage_threshold", "enforcing_failure_percentage"),
];

/// Why a setting is not read.
#[derive(Clone, PartialEq)]
enum Unread {
    Balancer(String),
    Extension,
    Protocol,
    NoNames(String),
    Ttl,
    NoHash(String),
    NotEnforced(&'static str),
    NoTryLimit,
    Ended(String),
    NoHostName,
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    in_values(rule, cx, out);
    for view in cx.patches() {
        let Some(built) = view.built else { continue };
        let Some(value) = &built.value else { continue };
        match view.patch.apply_to {
            ApplyTo::Cluster => {
                let fields = BALANCERS.iter().map(|(field, _)| *field).chain(PROTOCOLS.iter().chain(DNS).copied());
                let outliers = OUTLIERS.iter().filter(|(field, _)| value.path(&["outlier_detection", field]).is_some());
                for (field, switch) in outliers {
                    let why = Unread::NotEnforced(switch);
                    let field = format!("outlier_detection.{field}");
                    if built.operation == Operation::Add {
                        if !enforced(value, switch) {
                            out.push(report(rule, &view, &field, &why));
                        }
                    } else {
                        in_dumps(rule, cx, &view, &field, &|run| unenforced(run, switch), out);
                    }
                }
                for field in fields.filter(|field| value.get(field).is_some()) {
                    if built.operation == Operation::Add {
                        if let Some(why) = unread(value, field) {
                            out.push(report(rule, &view, field, &why));
                        }
                    } else {
                        in_dumps(rule, cx, &view, field, &|run| clusters(run, field), out);
                    }
                }
            }
            ApplyTo::HttpRoute => {
                if value.path(&["route", "hash_policy"]).is_some() {
                    in_dumps(rule, cx, &view, "route.hash_policy", &unhashed, out);
                }
                if value.path(&["route", "auto_host_rewrite"]).is_some_and(|it| matches!(it.value, Value::Bool(true))) {
                    in_dumps(rule, cx, &view, "route.auto_host_rewrite", &nameless, out);
                }
                if !built.operation.is_merge() {
                    continue;
                }
                // Values that say it themselves are read above.
                let given = |path: &[&str]| value.path(path).is_some();
                if given(&["route", "retry_policy", "per_try_timeout"]) && !given(&["route", "timeout"]) {
                    let find = |run: &PatchRun<'_, '_>| routes(run, ended);
                    in_dumps(rule, cx, &view, "route.retry_policy.per_try_timeout", &find, out);
                }
                if given(&["route", "hedge_policy", "hedge_on_per_try_timeout"]) {
                    let find = |run: &PatchRun<'_, '_>| routes(run, unlimited);
                    in_dumps(rule, cx, &view, "route.hedge_policy.hedge_on_per_try_timeout", &find, out);
                }
            }
            _ => {}
        }
    }
}

/// Settings that another one in the same value switches off.
fn in_values(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for value in cx.values() {
        for object in &value.objects {
            let mut report = |span: Span, field: &str, because: String, help: String| {
                let message = format!("Envoy does not read `{field}` here: {because}");
                out.push(value.finding(rule, span, message).label("without effect").snippet(help));
            };
            match object.full_name() {
                "envoy.config.route.v3.RetryPolicy" => {
                    let Some(on) = object.text("retry_on") else {
                        // istiod gives its own routes conditions, which a MERGE keeps.
                        if object.whole
                            && let Some(member) = object.member("num_retries")
                        {
                            let because = "without `retry_on` there is no retry".to_owned();
                            let help = "retry_on: connect-failure,refused-stream,unavailable".to_owned();
                            report(member.entry.key_span, "num_retries", because, help);
                        }
                        continue;
                    };
                    let lists = [
                        ("retriable_status_codes", "retriable-status-codes"),
                        ("retriable_headers", "retriable-headers"),
                    ];
                    for (field, condition) in lists {
                        let Some(member) = object.member(field).filter(|_| !on.contains(condition)) else { continue };
                        let because = format!("`retry_on` has no `{condition}`");
                        report(
                            member.entry.key_span,
                            field,
                            because,
                            format!("retry_on: {},{condition}", one_line(on)),
                        );
                    }
                }
                "envoy.config.route.v3.HedgePolicy" => {
                    let Some(member) = object.member("hedge_on_per_try_timeout").filter(|_| object.whole) else {
                        continue;
                    };
                    let route = object.parent.and_then(|(parent, _)| value.objects.get(parent));
                    let policy = route.and_then(|route| route.member("retry_policy"));
                    if policy.is_none_or(|policy| get(&policy.entry.value, "per_try_timeout").is_none()) {
                        let (because, help) = reason(&Unread::NoTryLimit);
                        report(member.entry.key_span, "hedge_on_per_try_timeout", because, help);
                    }
                }
                "envoy.config.route.v3.RouteAction" => {
                    if let Some((span, whole)) = last_try(object) {
                        let because = format!("`timeout` ends the request after {whole}");
                        let help = "a timeout that leaves time for several tries".to_owned();
                        report(span, "per_try_timeout", because, help);
                    }
                    out.extend(idle_first(rule, value, object));
                }
                "envoy.config.route.v3.InternalRedirectPolicy" => {
                    let codes = object.member("redirect_response_codes");
                    let codes = codes.map(|member| member.entry.value.items()).unwrap_or_default();
                    for code in codes {
                        let NodeValue::Number(text) = &code.value else { continue };
                        if !REDIRECTS.contains(&text.as_str()) {
                            let because = format!("{text} is no redirect that it follows");
                            let help = REDIRECTS.join(", ");
                            report(code.span, "redirect_response_codes", because, help);
                        }
                    }
                }
                "envoy.extensions.transport_sockets.tls.v3.TlsParameters" => {
                    let only = object.text("tls_minimum_protocol_version") == Some("TLSv1_3");
                    if let Some(member) = object.member("cipher_suites").filter(|_| only) {
                        let because = "it is for TLS 1.2 and older, and the minimum is TLS 1.3".to_owned();
                        report(member.entry.key_span, "cipher_suites", because, "remove it".to_owned());
                    }
                }
                _ => {}
            }
        }
    }
}

/// A duration in seconds.
fn seconds(text: &str) -> Option<f64> {
    text.strip_suffix('s')?.parse().ok()
}

/// The limit of a try that lasts as long as the whole request may.
fn last_try<'a>(action: &Object<'a>) -> Option<(Span, &'a str)> {
    let (whole, policy) = (action.text("timeout")?, action.member("retry_policy")?);
    let each = get(&policy.entry.value, "per_try_timeout")?;
    let (limit, of_try) = (seconds(whole)?, seconds(each.as_str()?)?);
    (limit > 0.0 && of_try >= limit).then_some((each.span, whole))
}

/// A `timeout` that a request which only waits never reaches: `idle_timeout` ends it before.
fn idle_first(rule: &'static RuleInfo, value: &PatchValue<'_>, action: &Object<'_>) -> Option<Finding> {
    let (whole, idle) = (action.text("timeout")?, action.text("idle_timeout")?);
    let (limit, pause) = (seconds(whole)?, seconds(idle)?);
    let member = action.member("idle_timeout").filter(|_| pause > 0.0 && pause < limit)?;
    let message =
        format!("`idle_timeout: {idle}` ends a request that waits for its response before `timeout: {whole}`");
    // A response that is streamed may need both.
    let finding = value.finding(rule, member.entry.key_span, message).severity(Severity::Info);
    let note = format!("only a request or response that keeps sending lasts longer than {idle}; the others get 504");
    Some(finding.label("the shorter limit").note(note).help("remove `idle_timeout`, or make it longer than `timeout`"))
}

/// What a patch changed on a proxy and that does not read the setting, with the reason; `None` if anything does.
type Found = Option<(BTreeSet<String>, Unread)>;

fn in_dumps<'a>(
    rule: &'static RuleInfo,
    cx: &Context<'a>,
    view: &PatchView<'a>,
    field: &str,
    find: &dyn Fn(&PatchRun<'_, '_>) -> Found,
    out: &mut Findings,
) {
    let Some(seen) = cx
        .seen(view, |run| run.changes() && find(run).is_some())
        .filter(|seen| seen.certain() && seen.runs.len() == seen.attached)
    else {
        return;
    };
    let found: Vec<(BTreeSet<String>, Unread)> = seen.runs.iter().filter_map(find).collect();
    let Some((_, why)) = found.first().cloned() else { return };
    let objects: BTreeSet<String> = found.into_iter().flat_map(|(objects, _)| objects).collect();
    let what = if field.starts_with("route.") { "routes" } else { "clusters" };
    let note = format!("{what}: {}", names::listed(objects.iter().map(String::as_str), 6));
    out.push(seen.tell(report(rule, view, field, &why).note(note)).objects(objects));
}

/// Why a setting is not read, and what to write instead.
fn reason(why: &Unread) -> (String, String) {
    match why {
        Unread::Balancer(policy) => (
            format!("the load balancer is {policy}"),
            match BALANCERS.iter().find(|(_, own)| own == policy) {
                Some((own, _)) => format!("{own}, or a DestinationRule with trafficPolicy.loadBalancer"),
                None => "a DestinationRule with trafficPolicy.loadBalancer".to_owned(),
            },
        ),
        Unread::Extension => (
            "`load_balancing_policy` replaces it".to_owned(),
            "set it inside load_balancing_policy".to_owned(),
        ),
        Unread::Protocol => (
            "the cluster has HttpProtocolOptions, which replace it".to_owned(),
            format!("typed_extension_protocol_options:\n  {HTTP}:\n    \"@type\": type.googleapis.com/{HTTP}\n    …"),
        ),
        Unread::NoNames(kind) => (
            format!("a cluster of type {kind} does not resolve names"),
            "remove it; ServiceEntry with resolution: DNS gives a cluster that resolves names".to_owned(),
        ),
        Unread::Ttl => (
            "`respect_dns_ttl` is set, so the TTL of each answer decides".to_owned(),
            "remove it; MERGE cannot reset respect_dns_ttl, and the DNS server sets the TTL".to_owned(),
        ),
        Unread::NotEnforced(switch) => (
            format!("`{switch}` is missing, which means off"),
            match *switch {
                "split_external_local_origin_errors" => format!("{switch}: true"),
                _ => format!("{switch}: 100, or a DestinationRule with trafficPolicy.outlierDetection, which sets it"),
            },
        ),
        Unread::NoTryLimit => {
            ("no try has a time limit".to_owned(), "retry_policy:\n  retry_on: 5xx\n  per_try_timeout: 1s".to_owned())
        }
        Unread::NoHostName => (
            "the endpoints of its cluster come from istiod, without host names".to_owned(),
            "host_rewrite_literal: <host>, or rewrite.authority of a VirtualService; only endpoints that DNS finds have host names".to_owned(),
        ),
        Unread::Ended(whole) => (
            format!("`timeout` ends the request after {whole}"),
            "a shorter one, or a longer `timeout`".to_owned(),
        ),
        Unread::NoHash(policy) => (
            format!("the load balancer of its cluster is {policy}"),
            "kind: DestinationRule\nspec:\n  host: <service>\n  trafficPolicy:\n    loadBalancer:\n      consistentHash:\n        httpHeaderName: <header>".to_owned(),
        ),
    }
}

fn report(rule: &'static RuleInfo, view: &PatchView<'_>, field: &str, why: &Unread) -> Finding {
    let (because, help) = reason(why);
    let name = field.rsplit('.').next().unwrap_or(field);
    let message = match why {
        Unread::NotEnforced(_) => format!("`{name}` ejects no host: {because}"),
        Unread::NoHostName => format!("`{name}` leaves the host of requests as it is: {because}"),
        _ => format!("Envoy does not read `{name}` here: {because}"),
    };
    view.finding(rule, view.value_path_span(field), message).label("without effect").snippet(help)
}

/// Whether outlier detection of a cluster ejects because of a setting with this switch.
fn enforced(cluster: &Tree<'_>, switch: &str) -> bool {
    let written = cluster.path(&["outlier_detection", switch]);
    written.is_some_and(|it| it.as_u64().is_none_or(|percent| percent > 0) && !matches!(it.value, Value::Bool(false)))
}

/// The clusters that a patch changed, if none of them ejects because of the setting.
fn unenforced(run: &PatchRun<'_, '_>, switch: &'static str) -> Found {
    let mut found: Found = None;
    for (place, _) in run.trace.effects.iter().filter(|(_, effect)| effect.changes()) {
        if enforced(&*run.run.after(ResourceKind::Cluster, &place.resource)?, switch) {
            return None;
        }
        let found = found.get_or_insert_with(|| (BTreeSet::new(), Unread::NotEnforced(switch)));
        found.0.insert(place.resource.to_string());
    }
    found
}

/// The clusters that a patch changed, if none of them reads the setting.
fn clusters(run: &PatchRun<'_, '_>, field: &str) -> Found {
    let changed = run.trace.effects.iter().filter(|(_, effect)| effect.changes());
    let mut found: Found = None;
    for (place, _) in changed {
        let why = unread(&*run.run.after(ResourceKind::Cluster, &place.resource)?, field)?;
        found.get_or_insert_with(|| (BTreeSet::new(), why)).0.insert(place.resource.to_string());
    }
    found
}

/// Why a cluster does not read a setting.
fn unread(cluster: &Tree<'_>, field: &str) -> Option<Unread> {
    let named = |field: &str, default: &str| match cluster.str_at(field) {
        "" => default.to_owned(),
        name => name.to_owned(),
    };
    if let Some((_, policy)) = BALANCERS.iter().find(|(own, _)| *own == field) {
        if cluster.get("load_balancing_policy").is_some() {
            return Some(Unread::Extension);
        }
        let own = named("lb_policy", "ROUND_ROBIN");
        return (own != *policy).then_some(Unread::Balancer(own));
    }
    if PROTOCOLS.contains(&field) {
        return cluster.path(&["typed_extension_protocol_options", HTTP]).is_some().then_some(Unread::Protocol);
    }
    // Clusters of custom types may resolve names.
    if cluster.get("cluster_type").is_some() {
        return None;
    }
    let kind = named("type", "STATIC");
    if !matches!(&*kind, "STRICT_DNS" | "LOGICAL_DNS") {
        return Some(Unread::NoNames(kind));
    }
    let by_ttl = field == "dns_refresh_rate"
        && cluster.get("respect_dns_ttl").is_some_and(|it| matches!(it.value, Value::Bool(true)));
    by_ttl.then_some(Unread::Ttl)
}

/// A route with its virtual host.
fn route_name(place: &Place) -> String {
    let route = place.route.as_ref().map_or("", |(_, name)| name);
    [place.vhost.as_deref().unwrap_or(&place.resource), route].join("/").trim_end_matches('/').to_owned()
}

/// The routes that a patch changed, if none of them reads the setting.
fn routes(run: &PatchRun<'_, '_>, why: fn(&Tree<'_>) -> Option<Unread>) -> Found {
    let mut found: Found = None;
    for (place, _) in run.trace.effects.iter().filter(|(_, effect)| effect.changes()) {
        let why = why(&run.run.object(place)?)?;
        found.get_or_insert_with(|| (BTreeSet::new(), why)).0.insert(route_name(place));
    }
    found
}

/// A try that may last as long as the whole request.
fn ended(route: &Tree<'_>) -> Option<Unread> {
    let whole = route.path(&["route", "timeout"])?.as_str()?;
    let each = route.path(&["route", "retry_policy", "per_try_timeout"])?.as_str()?;
    let (limit, of_try) = (seconds(whole)?, seconds(each)?);
    (limit > 0.0 && of_try >= limit).then(|| Unread::Ended(whole.to_owned()))
}

/// No try of the route ends before the request.
fn unlimited(route: &Tree<'_>) -> Option<Unread> {
    route.path(&["route", "retry_policy", "per_try_timeout"]).is_none().then_some(Unread::NoTryLimit)
}

/// The routes that a patch changed, and the first reason, if each of their clusters gives one.
fn by_clusters(run: &PatchRun<'_, '_>, why: fn(&Tree<'_>) -> Option<Unread>) -> Found {
    let changed = run.trace.effects.iter().filter(|(_, effect)| effect.changes());
    let mut found: Found = None;
    for (place, _) in changed {
        let route = run.run.object(place)?;
        let action = route.get("route")?;
        let mut clusters = clusters_of(action).peekable();
        clusters.peek()?;
        for cluster in clusters {
            let why = why(&*run.run.after(ResourceKind::Cluster, cluster)?)?;
            found.get_or_insert_with(|| (BTreeSet::new(), why)).0.insert(route_name(place));
        }
    }
    found
}

/// The routes that a patch changed, if none of their clusters balances load by hashes.
fn unhashed(run: &PatchRun<'_, '_>) -> Found {
    by_clusters(run, |cluster| {
        let policy = cluster.str_at("lb_policy");
        let hashes = matches!(policy, "RING_HASH" | "MAGLEV") || cluster.get("load_balancing_policy").is_some();
        let policy = if policy.is_empty() { "ROUND_ROBIN" } else { policy };
        (!hashes && cluster.get("cluster_type").is_none()).then(|| Unread::NoHash(policy.to_owned()))
    })
}

/// The routes that a patch changed, if no endpoint of their clusters has a host name: istiod sends none over EDS.
fn nameless(run: &PatchRun<'_, '_>) -> Found {
    by_clusters(run, |cluster| {
        (cluster.str_at("type") == "EDS" && cluster.get("cluster_type").is_none()).then_some(Unread::NoHostName)
    })
}
