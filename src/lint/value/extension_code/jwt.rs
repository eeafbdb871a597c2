//! What the code of the JWT filter rejects. Tried with Envoy 1.36.4 and 1.39.3.

use super::object::{Refusal, child, holder, refusal};
use crate::lint::value::walk::get;
use crate::lint::value::{Object, PatchValue};
use crate::source::escape::one_line;
use crate::source::{Entry, Node, NodeValue};

const FILTER: &str = "envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication";

/// A requirement names a provider that the filter does not have.
pub(super) fn provider(value: &PatchValue<'_>, requirement: &Object<'_>) -> Option<Refusal> {
    let name = requirement.member("provider_name").map(|member| &member.entry.value)?;
    let wanted = name.as_str().filter(|wanted| !wanted.is_empty())?;
    let filter = value
        .objects
        .iter()
        .find(|object| object.whole && object.full_name() == FILTER && requirement.route.starts_with(&object.route))?;
    let providers = get(filter.node, "providers").map(Node::entries).unwrap_or_default();
    if providers.iter().any(|one| one.key == wanted) {
        return None;
    }
    let known: Vec<String> = providers.iter().map(|one| format!("`{}`", one_line(&one.key))).collect();
    let help = match known.as_slice() {
        [] => "add it to `providers`".to_owned(),
        known => format!("use {}, or add it to `providers`", known.join(" or ")),
    };
    Some(refusal(name.span, format!("the filter has no provider `{wanted}`"), help))
}

/// Keys inside the configuration that are none.
pub(super) fn keys(value: &PatchValue<'_>, provider: &Object<'_>) -> Option<Refusal> {
    let source = child(value, provider, "local_jwks")?;
    let text = source.member("inline_string").map(|member| &member.entry.value)?;
    let NodeValue::String(written) = &text.value else { return None };
    let read = serde_json::from_str::<serde_json::Value>(written);
    let message = match &read {
        Err(_) => "the keys are not JSON",
        Ok(keys) => match keys.get("keys").and_then(serde_json::Value::as_array) {
            None => "the keys have no list `keys`",
            Some(keys) if keys.is_empty() => "there is no key in this list",
            Some(_) => return None,
        },
    };
    Some(refusal(
        text.span,
        message,
        "inline_string: '{\"keys\": [{\"kty\": \"RSA\", \"n\": \"…\", \"e\": \"AQAB\"}]}'",
    ))
}

/// The keys of a provider are fetched from a URL.
pub(super) fn address(value: &PatchValue<'_>, provider: &Object<'_>) -> Option<Refusal> {
    let source = child(value, provider, "remote_jwks")?.member("http_uri")?;
    let uri = get(&source.entry.value, "uri")?;
    let written = uri.as_str().filter(|written| !written.is_empty() && !written.contains("://"))?;
    Some(refusal(
        uri.span,
        format!("`{written}` is not a URL: it has no scheme"),
        format!("uri: https://{}", one_line(written)),
    ))
}

/// A rule names a requirement that the filter does not have.
pub(super) fn requirement(value: &PatchValue<'_>, rule: &Object<'_>) -> Option<Refusal> {
    let name = rule.member("requirement_name").map(|member| &member.entry.value)?;
    let wanted = name.as_str().filter(|wanted| !wanted.is_empty())?;
    let (filter, _) = holder(value, rule, FILTER)?;
    let known = get(filter.node, "requirement_map").map(Node::entries).unwrap_or_default();
    if !filter.whole || known.iter().any(|one| one.key == wanted) {
        return None;
    }
    Some(refusal(name.span, format!("`requirement_map` has no requirement `{wanted}`"), named(known)))
}

/// What to write instead of a name that a map does not have.
fn named(known: &[Entry]) -> String {
    let known: Vec<String> = known.iter().take(6).map(|one| format!("`{}`", one_line(&one.key))).collect();
    match known.as_slice() {
        [] => "add it to `requirement_map`".to_owned(),
        known => format!("use {}, or add it to `requirement_map`", known.join(" or ")),
    }
}
