//! EF707: an inserted external authorization filter that AuthorizationPolicy CUSTOM inserts.

use crate::declare_rule;
use crate::lint::better::{self, Candidate, Parts, put};
use crate::lint::manifest::{self, Instead};
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::release::Release;
use serde_json::{Map, Value as Json, json};

declare_rule! {
    /// An external authorization filter inserted by hand, which an AuthorizationPolicy with action CUSTOM inserts.
    ///
    /// # What it finds
    /// An inserted `ext_authz` filter whose every field exists in an extension provider of the mesh and whose server is a
    /// service that the mesh knows.
    ///
    /// # Why it matters
    /// istiod puts its own `ext_authz` before JWT and RBAC at the right place for every kind of proxy, waypoints included;
    /// an inserted one depends on anchors that change with releases, and where it is not inserted, nothing is checked.
    ///
    /// # How to fix
    /// Define the server as an extension provider and write the AuthorizationPolicy shown.
    ///
    /// # References
    /// Istio: External authorization task; MeshConfig `extensionProviders.envoyExtAuthzGrpc` and `envoyExtAuthzHttp`.
    "EF707" "ext-authz-beside-authorization-policy" Native Info => check
}

const MESSAGE: &str = "envoy.extensions.filters.http.ext_authz.v3.ExtAuthz";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for (candidate, config) in better::inserted(cx, MESSAGE) {
        if let Some(instead) = instead(cx, &candidate, config) {
            out.push(instead.finding(rule, &candidate.view, &["patch", "value"]));
        }
    }
}

fn instead(cx: &Context<'_>, candidate: &Candidate<'_>, mut config: Parts<'_>) -> Option<Instead> {
    let filter = candidate.view.filter;
    if !better::authorization_reaches(candidate) {
        return None;
    }
    let mut provider = Map::new();
    config.skip("transport_api_version");
    if let Some(true) = config.flag("failure_mode_allow") {
        provider.insert("failOpen".to_owned(), true.into());
    }
    if let Some(mut body) = config.sub("with_request_body") {
        for (from, to) in [
            ("max_request_bytes", "maxRequestBytes"),
            ("allow_partial_message", "allowPartialMessage"),
            ("pack_as_bytes", "packAsBytes"),
        ] {
            if let Some(value) = body.json(from) {
                put(&mut provider, &format!("includeRequestBodyInCheck/{to}"), value);
            }
        }
        if !body.done() {
            return None;
        }
    }
    if let Some(code) = config.text("status_on_error/code") {
        let number = cx.program.schema.enumeration("envoy.type.v3.StatusCode")?.by_name(&code)?;
        provider.insert("statusOnError".to_owned(), number.to_string().into());
    }
    let kind = if let Some(mut grpc) = config.sub("grpc_service") {
        let cluster = grpc.text("envoy_grpc/cluster_name")?;
        grpc.skip("envoy_grpc/authority");
        server(cx, &cluster, &mut provider)?;
        if let Some(timeout) = grpc.text("timeout") {
            provider.insert("timeout".to_owned(), timeout.into());
        }
        grpc.done().then_some("envoyExtAuthzGrpc")?
    } else {
        let mut http = config.sub("http_service")?;
        let cluster = http.text("server_uri/cluster")?;
        http.skip("server_uri/uri");
        server(cx, &cluster, &mut provider)?;
        for (from, to) in [("server_uri/timeout", "timeout"), ("path_prefix", "pathPrefix")] {
            if let Some(text) = http.text(from) {
                provider.insert(to.to_owned(), text.into());
            }
        }
        for (from, to) in [
            ("authorization_request/allowed_headers/patterns", "includeRequestHeadersInCheck"),
            ("authorization_response/allowed_upstream_headers/patterns", "headersToUpstreamOnAllow"),
            ("authorization_response/allowed_client_headers/patterns", "headersToDownstreamOnDeny"),
            ("authorization_response/allowed_client_headers_on_success/patterns", "headersToDownstreamOnAllow"),
        ] {
            headers(http.list(from), to, &mut provider)?;
        }
        headers(config.list("allowed_headers/patterns"), "includeRequestHeadersInCheck", &mut provider)?;
        for mut header in http.list("authorization_request/headers_to_add") {
            let (key, value) = (header.text("key")?, header.text("value")?);
            let added = provider.entry("includeAdditionalHeadersInCheck").or_insert_with(|| json!({}));
            added[key] = value.into();
        }
        http.done().then_some("envoyExtAuthzHttp")?
    };
    if !config.done() {
        return None;
    }
    let mut spec = Map::from_iter([
        ("action".to_owned(), json!("CUSTOM")),
        ("provider".to_owned(), json!({ "name": filter.name })),
    ]);
    let rule = match candidate.reach.port {
        Some(port) => json!({ "to": [{ "operation": { "ports": [port.to_string()] } }] }),
        None => json!({}),
    };
    spec.insert("rules".to_owned(), json!([rule]));
    let provider = json!({ "extensionProviders": [{ "name": filter.name, kind: provider }] });
    Some(Instead {
        message: "an AuthorizationPolicy with action CUSTOM can ask this authorization server".to_owned(),
        since: Release::OLDEST,
        manifests: vec![
            ("mesh configuration (ConfigMap istio, key mesh)".to_owned(), provider),
            (String::new(), manifest::object("security.istio.io/v1", "AuthorizationPolicy", filter, spec)),
        ],
        notes: vec![
            "istiod inserts the filter before its own JWT and RBAC filters, on gateways, sidecars and waypoints alike"
                .to_owned(),
        ],
    })
}

fn server(cx: &Context<'_>, cluster: &str, provider: &mut Map<String, Json>) -> Option<()> {
    let (service, port) = better::service_of_cluster(cx, cluster)?;
    provider.insert("service".to_owned(), service.into());
    provider.insert("port".to_owned(), port.into());
    Some(())
}

/// Exact and prefix header matches, as the provider writes them (`x-*`).
fn headers(patterns: Vec<Parts<'_>>, to: &str, provider: &mut Map<String, Json>) -> Option<()> {
    let mut names = Vec::new();
    for mut pattern in patterns {
        pattern.skip("ignore_case");
        let exact = pattern.text("exact");
        let name = exact.or_else(|| pattern.text("prefix").map(|prefix| format!("{prefix}*")))?;
        if !pattern.done() {
            return None;
        }
        names.push(Json::from(name));
    }
    if !names.is_empty() {
        provider.insert(to.to_owned(), names.into());
    }
    Some(())
}
