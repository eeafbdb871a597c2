//! What Envoy's code rejects in listeners: addresses, and filter chains that match the same connections.

use super::core::host_name;
use super::extensions::chains as chains_of;
use super::object::{Refusal, child, has, holder, is_set, refusal, span, text};
use crate::lint::value::chain_match::{self, Conditions};
use crate::lint::value::walk::{get, number};
use crate::lint::value::{Object, PatchValue};
use crate::source::{Node, NodeValue};
use std::collections::BTreeMap;

/// A listener has an IP address.
pub(super) fn address(value: &PatchValue<'_>, listener: &Object<'_>) -> Option<Refusal> {
    if has(listener, "api_listener") || has(listener, "internal_listener") {
        return None;
    }
    let Some(address) = child(value, listener, "address") else {
        let help = "address:\n  socket_address: {address: 0.0.0.0, port_value: …}";
        return Some(refusal(listener.span, "a listener needs an `address`", help));
    };
    let socket = child(value, address, "socket_address").filter(|socket| text(socket, "resolver_name").is_none())?;
    if let Some(named) = socket.member("named_port") {
        return Some(refusal(named.entry.key_span, "a listener cannot have a `named_port`", "write `port_value`"));
    }
    let written = &socket.member("address")?.entry.value;
    let name = host_name(written)?;
    let help = "write an IP address, such as `0.0.0.0` or `127.0.0.1`";
    Some(refusal(written.span, format!("a listener needs an IP address, and `{name}` is a host name"), help))
}

/// So has every other address of a listener.
pub(super) fn other_address(value: &PatchValue<'_>, socket: &Object<'_>) -> Option<Refusal> {
    let (outer, _) = holder(value, socket, "envoy.config.core.v3.Address")?;
    holder(value, outer, "envoy.config.listener.v3.AdditionalAddress")?;
    let written = &socket.member("address")?.entry.value;
    let name = host_name(written)?;
    let help = "write an IP address, such as `0.0.0.0` or `::`";
    Some(refusal(written.span, format!("a listener needs an IP address, and `{name}` is a host name"), help))
}

/// A field of a match that Envoy does not have.
pub(super) fn suffix(_: &PatchValue<'_>, conditions: &Object<'_>) -> Option<Refusal> {
    let field = ["address_suffix", "suffix_len"].into_iter().find(|name| is_set(conditions, name))?;
    let message = format!("Envoy does not implement `{field}`");
    Some(refusal(span(conditions, field), message, "match by `prefix_ranges`"))
}

/// No two chains of a listener match the same connections, and a matcher selects them by name.
pub(super) fn chains(value: &PatchValue<'_>, listener: &Object<'_>) -> Option<Refusal> {
    let named = |chain: &&Object<'_>| chain.parent.is_some_and(|(_, field)| field.name() == "filter_chains");
    let all: Vec<&Object<'_>> = chains_of(value, listener).filter(named).collect();
    if has(listener, "filter_chain_matcher") {
        let chain = all.into_iter().find(|chain| text(chain, "name").is_none())?;
        let message = "`filter_chain_matcher` selects chains by name, and this one has none";
        return Some(refusal(chain.span, message, "add a `name`"));
    }
    let mut known: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    for (at, chain) in all.iter().enumerate() {
        let conditions = chain.member("filter_chain_match").map(|member| &member.entry.value);
        for one in chain_match::combinations(&look(conditions)) {
            if let Some(other) = known.insert(one, at).filter(|other| *other != at) {
                let place = conditions.map_or(chain.span, |node| node.span);
                let name =
                    |at: usize| all.get(at).and_then(|chain| text(chain, "name")).map(|name| format!(" `{name}`"));
                let message = format!(
                    "filter chain{} matches the same connections as filter chain{}",
                    name(at).unwrap_or_else(|| format!(" {}", at + 1)),
                    name(other).unwrap_or_else(|| format!(" {}", other + 1))
                );
                return Some(refusal(place, message, "give each chain conditions of its own in `filter_chain_match`"));
            }
        }
    }
    None
}

fn look(node: Option<&Node>) -> Conditions {
    let plain = |node: &Node| match &node.value {
        NodeValue::String(text) | NodeValue::Number(text) => text.clone(),
        _ => String::new(),
    };
    let network = |range: &Node| {
        let length = get(range, "prefix_len").and_then(number).unwrap_or(0);
        chain_match::network(get(range, "address_prefix").and_then(Node::as_str).unwrap_or_default(), length)
    };
    let field = |name: &str| node.and_then(|node| get(node, name));
    chain_match::conditions(
        &|name| field(name).map(plain),
        &|name| field(name).map(|list| list.items().iter().map(plain).collect()).unwrap_or_default(),
        &|name| field(name).map(|list| list.items().iter().map(network).collect()).unwrap_or_default(),
    )
}
