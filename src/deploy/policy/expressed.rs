//! The rules that the API server itself can check, in CEL.
//!
//! A policy sees one object, as it is stored: fields that the API does not have are gone. It knows nothing of the cluster,
//! of proxies and of Envoy's types, and CEL has no recursion, so that values are looked at in the places named only.

use super::Policy;
use crate::engine::compat::{Behaviour, Compat};
use crate::envoy;
use crate::source::Severity;

/// What of a rule CEL says.
#[derive(Clone, Debug)]
pub struct Expressed {
    /// Code of the rule.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// Whether it is about each patch, called `p`, or about the filter.
    pub of_patch: bool,
    /// True for what the rule finds.
    pub finds: String,
    /// What is wrong.
    pub message: &'static str,
    /// What of the rule is left out; empty when nothing is.
    pub without: &'static str,
}

/// Shorthands: what may be missing is what istiod takes it for.
const SHORT: &[(&str, &str)] = &[
    ("@judged", "(!@waypoint && @to != \"INVALID\" && @op != \"INVALID\")"),
    (
        "@named",
        "(@to == \"LISTENER_FILTER\" ? (@listener && has(p.match.listener.listenerFilter) && p.match.listener.listenerFilter != \"\") : @to == \"NETWORK_FILTER\" ? @filter : (@filter && has(@f.subFilter)))",
    ),
    ("@waypoint", "(has(p.match) && has(p.match.context) && p.match.context == \"WAYPOINT\")"),
    ("@filters", "(@to in [\"LISTENER_FILTER\", \"NETWORK_FILTER\", \"HTTP_FILTER\"])"),
    ("@filter", "(@listener && has(p.match.listener.filterChain) && has(p.match.listener.filterChain.filter))"),
    ("@listener", "(has(p.match) && has(p.match.listener))"),
    ("@route", "(has(p.match) && has(p.match.routeConfiguration))"),
    ("@cluster", "(has(p.match) && has(p.match.cluster))"),
    (
        "@version",
        "(has(p.match) && has(p.match.proxy) && has(p.match.proxy.proxyVersion) ? p.match.proxy.proxyVersion : \"\")",
    ),
    (
        "@typed",
        "(has(p.patch) && has(p.patch.value) && has(p.patch.value.typed_config) && type(p.patch.value.typed_config) == map)",
    ),
    ("@url", "(@typed && \"@type\" in @t && type(@t[\"@type\"]) == string ? @t[\"@type\"] : \"\")"),
    ("@to", "(has(p.applyTo) ? p.applyTo : \"INVALID\")"),
    ("@op", "(has(p.patch) && has(p.patch.operation) ? p.patch.operation : \"INVALID\")"),
    ("@f", "p.match.listener.filterChain.filter"),
    ("@t", "p.patch.value.typed_config"),
    (
        "@labels",
        "(has(object.spec) && has(object.spec.workloadSelector) && has(object.spec.workloadSelector.labels) ? object.spec.workloadSelector.labels : {})",
    ),
    ("@targets", "(has(object.spec) && has(object.spec.targetRefs) ? object.spec.targetRefs : [])"),
    ("@selector", "(has(object.spec) && has(object.spec.workloadSelector))"),
];

/// An expression with its shorthands written out. `@type` within quotes is none.
fn long(short: &str) -> String {
    let mut text = short.to_owned();
    // Shorthands are made of others; none of itself.
    while let Some((word, meaning)) = SHORT.iter().find(|(word, _)| find(&text, word).is_some()) {
        while let Some(at) = find(&text, word) {
            text.replace_range(at..at + word.len(), meaning);
        }
    }
    text
}

/// Where a shorthand stands as a whole word.
fn find(text: &str, word: &str) -> Option<usize> {
    text.match_indices(word).map(|(at, _)| at).find(|&at| {
        let next = text[at + word.len()..].chars().next();
        !next.is_some_and(|next| next.is_ascii_alphabetic())
    })
}

const NETWORK: &str = r#"["LISTENER", "FILTER_CHAIN", "NETWORK_FILTER", "HTTP_FILTER"]"#;
const ROUTES: &str = r#"["ROUTE_CONFIGURATION", "VIRTUAL_HOST", "HTTP_ROUTE"]"#;
const VALUE: &str = "what is deeper in the value than its own typed_config";

fn list(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
    format!("[{}]", quoted.join(", "))
}

/// Every rule that CEL can express, by its code.
pub fn expressed(policy: &Policy<'_>) -> Vec<Expressed> {
    let mut all = Vec::new();
    let mut add = |code, severity, of_patch, finds: String, message, without| {
        all.push(Expressed { code, severity, of_patch, finds: long(&finds), message, without });
    };
    let compat = Compat { release: policy.release };
    let (error, warning) = (Severity::Error, Severity::Warning);
    let filter = |code, severity, finds: String, message, without| (code, severity, false, finds, message, without);
    let patch = |code, severity, finds: String, message, without| (code, severity, true, finds, message, without);
    let mut rules = vec![
        patch("EF016", error, r#"!@waypoint && @to == "INVALID""#.to_owned(), "this patch has no applyTo", ""),
        patch(
            "EF017",
            error,
            r#"!@waypoint && @to != "INVALID" && (@op == "INVALID" || (@op != "REMOVE" && !has(p.patch.value)))"#.to_owned(),
            "this patch has no `patch`, no operation or no value",
            "",
        ),
        filter(
            "EF019",
            error,
            r#"@labels.exists(key, key == "" || key.contains("*"))"#.to_owned(),
            "a label in the selector has no key, or a wildcard in it",
            "values of labels and their number: the CustomResourceDefinition refuses those",
        ),
        filter("EF020", warning, "size(variables.patches) == 0".to_owned(), "this EnvoyFilter has no config patches", ""),
        patch(
            "EF021",
            error,
            format!(
                r#"!@waypoint && ((@to in {NETWORK} && (@route || @cluster)) || (@to in {ROUTES} && (@listener || @cluster)) || (@to == "CLUSTER" && (@listener || @route)))"#
            ),
            "the match does not go with applyTo",
            "",
        ),
        patch(
            "EF021",
            warning,
            r#"!@waypoint && ((@to == "LISTENER_FILTER" && (@route || @cluster)) || (@to == "EXTENSION_CONFIG" && (@listener || @route || @cluster)))"#.to_owned(),
            "the match does not go with applyTo, and is ignored",
            "",
        ),
        patch(
            "EF022",
            error,
            format!(
                r#"!@waypoint && @to in {NETWORK} && @filter && (!has(@f.name) || @f.name == "" || (has(@f.subFilter) && (!has(@f.subFilter.name) || @f.subFilter.name == "")))"#
            ),
            "this filter or sub-filter match has no name to match on",
            "",
        ),
        patch(
            "EF023",
            error,
            format!(
                r#"!@waypoint && @to in {NETWORK} && @filter && has(@f.name) && @f.name != "" && has(@f.subFilter) && (@to != "HTTP_FILTER" || !(@f.name in ["envoy.filters.network.http_connection_manager", "envoy.http_connection_manager"]))"#
            ),
            "a sub-filter match goes only with applyTo: HTTP_FILTER and the HTTP connection manager",
            "",
        ),
        patch(
            "EF024",
            warning,
            r#"!@waypoint && @to in ["LISTENER", "FILTER_CHAIN"] && @filter"#.to_owned(),
            "a filter match has no effect for LISTENER and FILTER_CHAIN",
            "",
        ),
        patch(
            "EF026",
            warning,
            // To try the expression on versions would be exact, and takes the API server seconds for a hundred patches.
            r#"@version.matches("^\\^?1(\\\\\\.|\\.)[1-3](\\.\\*)?$")"#.to_owned(),
            "proxyVersion matches more releases than it names: end the minor version with an escaped dot",
            "every other form than 1.D without anything behind it",
        ),
        patch(
            "EF027",
            if compat.has(Behaviour::LongProxyVersionMatchesNothing) { error } else { warning },
            "size(bytes(@version)) > 1024".to_owned(),
            "proxyVersion has more than 1024 bytes",
            "",
        ),
        patch("EF107", error, r#"@typed && size(@t) > 0 && !("@type" in @t)"#.to_owned(), "a typed configuration without `@type`", VALUE),
        patch(
            "EF108",
            error,
            r#"@url.matches("^\\s*envoy\\.[A-Za-z0-9_.]+\\s*$")"#.to_owned(),
            "a type URL is written type.googleapis.com/NAME",
            VALUE,
        ),
        patch(
            "EF110",
            error,
            r#"@url.matches("/envoy\\.(api\\.v2|[a-z0-9_.]+\\.v2(alpha[0-9]*)?)\\.[A-Za-z0-9_.]+$")"#.to_owned(),
            "a type of Envoy's v2 API, which neither istiod nor the proxy knows",
            VALUE,
        ),
        patch(
            "EF111",
            error,
            "@filters && has(p.patch) && has(p.patch.value) && has(p.patch.value.config) && !has(p.patch.value.typed_config)".to_owned(),
            "filters have no `config` any more: write `typed_config` with its `@type`",
            "what is deeper in the value",
        ),
        patch(
            "EF127",
            warning,
            r#"@url.endsWith(".lua.v3.Lua") && (has(@t.inline_code) || has(@t.inlineCode))"#.to_owned(),
            "the Lua filter's inline_code is deprecated: write default_source_code",
            VALUE,
        ),
        filter(
            "EF206",
            warning,
            "@selector && size(@labels) == 0 && size(@targets) == 0".to_owned(),
            "this selector has no labels and selects every workload",
            "labels under another key: the API server has dropped them",
        ),
        patch("EF208", error, "@waypoint".to_owned(), "context WAYPOINT is applied by no release of Istio", ""),
        patch(
            "EF213",
            warning,
            old_names(),
            "an old filter name in a match, which matches nothing unless another filter was added under it",
            "a denial, as lint calls it an error: another EnvoyFilter may add a filter of that name; and patches with proxyVersion",
        ),
        patch(
            "EF224",
            warning,
            r#"@cluster && has(p.match.cluster.name) && p.match.cluster.name != "" && ((has(p.match.cluster.service) && p.match.cluster.service != "") || (has(p.match.cluster.subset) && p.match.cluster.subset != "") || (has(p.match.cluster.portNumber) && p.match.cluster.portNumber != 0))"#.to_owned(),
            "cluster.name decides alone: the other fields of the match are ignored",
            "",
        ),
        patch(
            "EF227",
            warning,
            r#"(@listener && has(p.match.listener.portName) && p.match.listener.portName != "") || (has(p.patch) && has(p.patch.filterClass) && p.patch.filterClass != "UNSPECIFIED")"#.to_owned(),
            "istiod never reads listener.portName and patch.filterClass",
            "filterChain.transportSocket: the API server has dropped it",
        ),
        patch(
            "EF301",
            error,
            r#"@judged && ((@to in ["LISTENER", "FILTER_CHAIN", "CLUSTER"] && !(@op in ["ADD", "REMOVE", "MERGE", "MERGE_AND_REPLACE_LIST"])) || (@to == "ROUTE_CONFIGURATION" && !(@op in ["MERGE", "MERGE_AND_REPLACE_LIST"])) || (@to == "HTTP_ROUTE" && @op == "REPLACE") || (@to == "EXTENSION_CONFIG" && @op != "ADD"))"#.to_owned(),
            "istiod does nothing with this operation for this applyTo",
            "",
        ),
        patch(
            "EF302",
            error,
            r#"@judged && @filters && @op == "MERGE_AND_REPLACE_LIST""#.to_owned(),
            "MERGE_AND_REPLACE_LIST does nothing for filters",
            "",
        ),
        patch(
            "EF304",
            error,
            r#"@judged && @to == "BOOTSTRAP""#.to_owned(),
            "BOOTSTRAP is applied by no supported release of Istio",
            "",
        ),
        patch(
            "EF305",
            error,
            if compat.has(Behaviour::ListenerFilterMerge) {
                r#"@judged && @filters && (@op in ["REMOVE", "REPLACE"] || (@op == "MERGE" && @to == "LISTENER_FILTER")) && !@named"#
            } else {
                r#"@judged && @filters && @op in ["REMOVE", "REPLACE"] && !@named"#
            }
            .to_owned(),
            "REMOVE, REPLACE or MERGE without a match that names the filter does nothing",
            "",
        ),
        patch(
            "EF308",
            warning,
            r#"@judged && @op in ["INSERT_BEFORE", "INSERT_AFTER"] && ((@filters && !@named) || (@to == "HTTP_ROUTE" && !(@route && has(p.match.routeConfiguration.vhost) && has(p.match.routeConfiguration.vhost.route))))"#.to_owned(),
            "INSERT_BEFORE or INSERT_AFTER without an anchor does the same as INSERT_FIRST or ADD",
            "",
        ),
        filter(
            "EF501",
            warning,
            format!(
                r#"object.metadata.namespace == {:?} && !@selector && size(@targets) == 0 && size(variables.patches) > 0 && !variables.patches.all(p, has(p.match) && has(p.match.context) && p.match.context == "GATEWAY") && variables.patches.exists(p, @version == "")"#,
                policy.root_namespace
            ),
            "this filter reaches every proxy of the mesh",
            "filters for gateways alone, of which lint only informs, and those with a proxyVersion in every patch: it may be one that no supported proxy has",
        ),
        patch(
            "EF506",
            warning,
            format!(
                r#"@judged && @op in ["REMOVE", "REPLACE"] && @filter && ((@to == "NETWORK_FILTER" && has(@f.name) && @f.name in {0}) || (@to == "HTTP_FILTER" && has(@f.subFilter) && has(@f.subFilter.name) && @f.subFilter.name in {0}))"#,
                list(&["envoy.filters.http.rbac", "envoy.filters.network.rbac", "envoy.filters.http.jwt_authn", "istio_authn", "envoy.filters.http.ext_authz", "envoy.filters.network.ext_authz"])
            ),
            "this patch removes or replaces a filter that authenticates or authorises requests",
            "whether it has an effect on a proxy",
        ),
        patch(
            "EF509",
            warning,
            r#"@url.endsWith(".ExtAuthz") && ((has(@t.failure_mode_allow) && @t.failure_mode_allow == true) || (has(@t.failureModeAllow) && @t.failureModeAllow == true))"#.to_owned(),
            "requests pass when the authorization service fails",
            VALUE,
        ),
        patch(
            "EF511",
            warning,
            r#"@typed && ((has(@t.forward_client_cert_details) && @t.forward_client_cert_details == "ALWAYS_FORWARD_ONLY") || (has(@t.forwardClientCertDetails) && @t.forwardClientCertDetails == "ALWAYS_FORWARD_ONLY"))"#.to_owned(),
            "a client's own x-forwarded-client-cert is passed on",
            VALUE,
        ),
    ];
    if compat.has(Behaviour::TargetRefs) {
        let group = r#""gateway.networking.k8s.io""#;
        rules.push(filter(
            "EF203",
            error,
            format!(
                r#"@targets.exists(t, !(t.kind in ["Gateway", "GatewayClass"]) || !has(t.group) || t.group != {group} || (t.kind == "GatewayClass" && (t.name != "istio-waypoint" || object.metadata.namespace != {:?})))"#,
                policy.root_namespace
            ),
            "a reference in targetRefs attaches to nothing",
            "references to other namespaces: the CustomResourceDefinition refuses those",
        ));
    }
    if !compat.has(Behaviour::ListenerFilterMerge) {
        rules.push(patch(
            "EF303",
            error,
            r#"@judged && @to == "LISTENER_FILTER" && @op == "MERGE""#.to_owned(),
            "this release of istiod does nothing with a MERGE of listener filters",
            "",
        ));
    }
    rules.sort_by_key(|(code, ..)| *code);
    for (code, severity, of_patch, finds, message, without) in rules {
        add(code, severity, of_patch, finds, message, without);
    }
    all
}

/// An old name in one of the three places of a match, that no patch of the same EnvoyFilter adds a filter under.
fn old_names() -> String {
    let places = [
        ("has(@f.name)", "@f.name", "network", "@filter"),
        ("has(@f.subFilter) && has(@f.subFilter.name)", "@f.subFilter.name", "http", "@filter"),
        ("has(p.match.listener.listenerFilter)", "p.match.listener.listenerFilter", "listener", "@listener"),
    ];
    let each = places.map(|(there, name, kind, before)| {
        let names = list(&envoy::legacy_filter_names(kind));
        let added = "variables.patches.exists(q, has(q.patch) && has(q.patch.value) && has(q.patch.value.name) && q.patch.value.name";
        format!("({before} && {there} && {name} in {names} && !{added} == {name}))")
    });
    format!(r#"@version == "" && ({})"#, each.join(" || "))
}
