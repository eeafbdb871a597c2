//! Providers of the JWT filter as rules of a RequestAuthentication.

use crate::migrate::base::names::ALL_CLAIMS;
use crate::migrate::base::step::{Cx, Move, Part};
use crate::migrate::base::value::{Fields, left};
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::source::ErrorMessage;
use serde_json::{Map, Value as Json, json};

/// The key under which istiod stores the claims of a token.
const PAYLOAD: &str = "payload";
/// Claims whose words istiod makes a list of.
const WORDS: [&str; 2] = ["permission", "scope"];
const LISTED: &str =
    "the claims `permission` and `scope` are lists in the metadata, not texts: filters that read them must change too";
const MOVED: &str = "the claims are in the metadata under a different key: filters that read them must change too";

/// The rule for a provider, or why it has none.
pub(super) fn provider_of(mut provider: Fields, found: &mut Move) -> Result<Json, ErrorMessage> {
    let mut rule = Map::new();
    let issuer = provider.text("issuer").ok_or("a RequestAuthentication needs an issuer")?;
    rule.insert("issuer".to_owned(), issuer.into());
    let audiences = provider.texts("audiences");
    if !audiences.is_empty() {
        rule.insert("audiences".to_owned(), audiences.into());
    }
    if let Some(keys) = provider.text("local_jwks/inline_string") {
        rule.insert("jwks".to_owned(), keys.into());
    } else if let Some(mut remote) = provider.sub("remote_jwks") {
        let uri = remote.text("http_uri/uri").ok_or("the JWKS has no URI")?;
        rule.insert("jwksUri".to_owned(), uri.into());
        for field in ["http_uri/cluster", "http_uri/timeout", "cache_duration", "async_fetch", "retry_policy"] {
            remote.skip(field);
        }
        found.difference(
            Kind::Behavior,
            "istiod fetches the keys and sends them inside the configuration; the proxy no longer fetches them itself",
        );
        if !remote.is_empty() {
            return Err(left("`jwksUri` of a RequestAuthentication", [&remote]).into());
        }
    } else {
        return Err("a RequestAuthentication has its keys in `jwks` or fetches them from `jwksUri`; those of the filter are in a file or an environment variable of the proxy: serve them at a URL, or write them into the filter (`inline_string`)".into());
    }
    if provider.flag("forward") == Some(true) {
        rule.insert("forwardOriginalToken".to_owned(), true.into());
    }
    if let Some(header) = provider.text("forward_payload_header") {
        rule.insert("outputPayloadToHeader".to_owned(), header.into());
    }
    let headers: Vec<Json> = provider
        .list("from_headers")
        .into_iter()
        .map(|mut header| {
            let mut one = json!({ "name": header.text("name").unwrap_or_default() });
            if let Some(prefix) = header.text("value_prefix") {
                one["prefix"] = prefix.into();
            }
            one
        })
        .collect();
    if !headers.is_empty() {
        rule.insert("fromHeaders".to_owned(), headers.into());
    }
    for (from, to) in [("from_params", "fromParams"), ("from_cookies", "fromCookies")] {
        let names = provider.texts(from);
        if !names.is_empty() {
            rule.insert(to.to_owned(), names.into());
        }
    }
    let claims: Vec<Json> = provider
        .list("claim_to_headers")
        .into_iter()
        .map(|mut one| {
            json!({ "header": one.text("header_name").unwrap_or_default(), "claim": one.text("claim_name").unwrap_or_default() })
        })
        .collect();
    if !claims.is_empty() {
        rule.insert("outputClaimToHeaders".to_owned(), claims.into());
    }
    if let Some(key) = provider.text("payload_in_metadata") {
        found.difference(Kind::Behavior, if key == PAYLOAD { LISTED } else { MOVED });
    }
    if provider.is_empty() { Ok(Json::Object(rule)) } else { Err(left("a RequestAuthentication", [&provider]).into()) }
}

/// Patches that read the claims where the provider stores them, in a form that istiod's JWT filter does not have.
pub(super) fn readers(cx: &Cx<'_>, part: &Part<'_>, provider: &Json, found: &mut Move) {
    let Some(key) = provider["payload_in_metadata"].as_str() else { return };
    let same = key == PAYLOAD;
    let lost = if same { WORDS.to_vec() } else { vec![key, ALL_CLAIMS] };
    let reader = |text: &str| cx.names.reader_of_claims(text, cx.index, part.built.patch.context);
    let Some((read, user)) = lost.into_iter().find_map(|text| Some((text, reader(text)?))) else { return };
    let reads = format!("configPatches[{}] of {}", user.patch, cx.names.title(user.filter));
    let reason = if same {
        format!(
            "{reads} reads the claim `{read}` in the metadata, which istiod stores as a list: a condition on its text would no longer hold"
        )
    } else if read == ALL_CLAIMS {
        format!(
            "{reads} sends the claims in the metadata to its service under `{key}`, and istiod stores them under `{PAYLOAD}`: the service would no longer find them"
        )
    } else {
        format!(
            "{reads} reads claims in the metadata under `{key}`, and istiod stores them under `{PAYLOAD}`: a condition on them would no longer hold"
        )
    };
    found.difference(Kind::Behavior, reason.clone());
    found.guard(Concern::Existing, State::Broken, reason);
}
