//! EF708: an inserted JWT filter that RequestAuthentication inserts.

use crate::declare_rule;
use crate::lint::better::{self, Candidate, Parts, put};
use crate::lint::manifest::{self, Instead};
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::envoy_filter::PatchContext;
use crate::model::release::Release;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

declare_rule! {
    /// A JWT filter inserted by hand, which a RequestAuthentication inserts.
    ///
    /// # What it finds
    /// An inserted `jwt_authn` filter whose providers RequestAuthentication can describe and whose rules ask one provider
    /// for the paths under a prefix.
    ///
    /// # Why it matters
    /// istiod's own JWT filter fetches and rotates keys itself, stands before RBAC, and fills the principals and claims
    /// that AuthorizationPolicy reads; a second filter fills other metadata, which no policy sees.
    ///
    /// # How to fix
    /// Write the two objects shown: RequestAuthentication rejects bad tokens, the AuthorizationPolicy missing ones.
    ///
    /// # References
    /// Istio: RequestAuthentication (`security.istio.io/v1`).
    "EF708" "jwt-authn-beside-request-authentication" Native Info => check
}

const MESSAGE: &str = "envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for (candidate, config) in better::inserted(cx, MESSAGE) {
        if let Some(instead) = instead(&candidate, config) {
            out.push(instead.finding(rule, &candidate.view, &["patch", "value"]));
        }
    }
}

fn instead(candidate: &Candidate<'_>, mut config: Parts<'_>) -> Option<Instead> {
    let filter = candidate.view.filter;
    let fits = match candidate.reach.context {
        PatchContext::SidecarInbound => true,
        PatchContext::Gateway => better::is_narrow(filter),
        _ => false,
    };
    // RequestAuthentication has no port.
    if !fits || candidate.reach.port.is_some() {
        return None;
    }
    let mut providers = config.sub("providers")?;
    let names: Vec<String> = providers.tree.entries().iter().map(|(name, _)| name.to_string()).collect();
    let mut issuers = BTreeMap::new();
    let mut jwt_rules = Vec::new();
    for name in names {
        let (issuer, rule) = provider(providers.sub(&name)?)?;
        issuers.insert(name, issuer);
        jwt_rules.push(rule);
    }
    // A request without the token is rejected where a rule requires it.
    let mut required = Vec::new();
    for mut rule in config.list("rules") {
        let prefix = rule.text("match/prefix")?;
        let issuer = issuers.get(&rule.text("requires/provider_name")?)?;
        if !rule.done() {
            return None;
        }
        let mut deny = Map::new();
        put(&mut deny, "from", json!([{ "source": { "notRequestPrincipals": [format!("{issuer}/*")] } }]));
        if prefix != "/" {
            put(&mut deny, "to", json!([{ "operation": { "paths": [format!("{prefix}*")] } }]));
        }
        required.push(Json::Object(deny));
    }
    if !config.done() || jwt_rules.is_empty() {
        return None;
    }
    let authentication = Map::from_iter([("jwtRules".to_owned(), Json::from(jwt_rules))]);
    let mut manifests = vec![(
        String::new(),
        manifest::object("security.istio.io/v1", "RequestAuthentication", filter, authentication),
    )];
    if !required.is_empty() {
        let deny = Map::from_iter([("action".to_owned(), json!("DENY")), ("rules".to_owned(), required.into())]);
        manifests.push((String::new(), manifest::object("security.istio.io/v1", "AuthorizationPolicy", filter, deny)));
    }
    Some(Instead {
        message: "a RequestAuthentication can check these tokens".to_owned(),
        since: Release::OLDEST,
        manifests,
        notes: vec!["istiod fetches the keys of `jwksUri` itself: no cluster for the key server is needed".to_owned()],
    })
}

/// A provider as a rule of RequestAuthentication, with its issuer.
fn provider(mut provider: Parts<'_>) -> Option<(String, Json)> {
    let mut rule = Map::new();
    let issuer = provider.text("issuer")?;
    rule.insert("issuer".to_owned(), issuer.clone().into());
    if let Some(mut remote) = provider.sub("remote_jwks") {
        put(&mut rule, "jwksUri", remote.text("http_uri/uri")?);
        remote.skip("http_uri/cluster");
        remote.skip("http_uri/timeout");
        remote.skip("cache_duration");
        remote.skip("async_fetch");
        if !remote.done() {
            return None;
        }
    } else {
        put(&mut rule, "jwks", provider.text("local_jwks/inline_string")?);
    }
    for (from, to) in [
        ("audiences", "audiences"),
        ("from_params", "fromParams"),
        ("forward_payload_header", "outputPayloadToHeader"),
        ("forward", "forwardOriginalToken"),
    ] {
        if let Some(value) = provider.json(from) {
            rule.insert(to.to_owned(), value);
        }
    }
    let mut from = Vec::new();
    for mut header in provider.list("from_headers") {
        let mut one = Map::from_iter([("name".to_owned(), Json::from(header.text("name")?))]);
        if let Some(prefix) = header.text("value_prefix") {
            one.insert("prefix".to_owned(), prefix.into());
        }
        if !header.done() {
            return None;
        }
        from.push(Json::Object(one));
    }
    if !from.is_empty() {
        rule.insert("fromHeaders".to_owned(), from.into());
    }
    // The payload's key in the metadata stays: another filter reads it there, and istiod has its own key.
    provider.done().then_some((issuer, Json::Object(rule)))
}
