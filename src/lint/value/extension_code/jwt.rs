//! What the code of the JWT filter rejects. Tried with Envoy 1.36.4 and 1.39.3.

use super::object::{Refusal, child, refusal};
use crate::lint::value::walk::get;
use crate::lint::value::{Object, PatchValue};
use crate::source::{Node, NodeValue};

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
    let known: Vec<String> = providers.iter().map(|one| format!("`{}`", one.key)).collect();
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
    // A PEM key is taken in another place; what is redacted or rendered later cannot be judged.
    if written.trim_start().starts_with("-----BEGIN") {
        return None;
    }
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
