//! What Envoy's code rejects in connection managers, access logs, tracing and discovery.

use super::core::items;
use super::object::{Refusal, has, is, is_set, refusal, span, text};
use crate::lint::value::expression::unfinished;
use crate::lint::value::walk::{get, number};
use crate::lint::value::{Object, PatchValue};
use crate::source::Node;
use std::collections::BTreeMap;

/// The version of the gRPC service that is called.
pub(super) fn version(_: &PatchValue<'_>, service: &Object<'_>) -> Option<Refusal> {
    let written = service.member("transport_api_version").filter(|_| is(service, "transport_api_version", "V2"))?;
    let message = "Envoy no longer supports `transport_api_version: V2`";
    Some(refusal(written.entry.value.span, message, "transport_api_version: V3"))
}

/// An expression is complete: its brackets and quotes are closed, and no operator is last.
pub(super) fn expression(_: &PatchValue<'_>, filter: &Object<'_>) -> Option<Refusal> {
    let written = filter.member("expression").map(|member| &member.entry.value);
    let trouble = unfinished(written.map_or(Some(""), Node::as_str)?)?;
    let place = written.map_or(filter.span, |node| node.span);
    Some(refusal(
        place,
        format!("the CEL expression {trouble}"),
        "write a complete expression, such as `response.code >= 400`",
    ))
}

/// Attributes for a processor are expressions too.
pub(super) fn attributes(_: &PatchValue<'_>, processor: &Object<'_>) -> Option<Refusal> {
    ["request_attributes", "response_attributes"].into_iter().flat_map(|list| items(processor, list)).find_map(|node| {
        let trouble = unfinished(node.as_str()?)?;
        Some(refusal(
            node.span,
            format!("the attribute {trouble}"),
            "write the name of an attribute, such as `request.path`",
        ))
    })
}

/// Zipkin's first format, which is the default, is gone.
pub(super) fn collector(_: &PatchValue<'_>, tracer: &Object<'_>) -> Option<Refusal> {
    // Since a service can be given with all that belongs to it, only the old way to name the collector needs it.
    (!has(tracer, "collector_service") && !is_set(tracer, "collector_endpoint_version")).then(|| {
        let message = "`ZipkinConfig` needs `collector_endpoint_version`: Envoy no longer supports the default";
        refusal(tracer.span, message, "collector_endpoint_version: HTTP_JSON")
    })
}

/// Routes come from somewhere.
pub(super) fn route_source(_: &PatchValue<'_>, rds: &Object<'_>) -> Option<Refusal> {
    let by_name = text(rds, "route_config_name").is_some_and(|name| name.starts_with("xdstp:"));
    (!has(rds, "config_source") && !by_name).then(|| {
        refusal(rds.span, "`rds` needs a `config_source`", "config_source: {ads: {}, resource_api_version: V3}")
    })
}

/// What does not wait for its configuration starts with another one.
pub(super) fn without_warming(_: &PatchValue<'_>, source: &Object<'_>) -> Option<Refusal> {
    let [field, needed] = ["apply_default_config_without_warming", "default_config"];
    (is_set(source, field) && !has(source, needed)).then(|| {
        refusal(
            span(source, field),
            format!("`{field}` needs a `{needed}`"),
            format!("add `{needed}`, or remove `{field}`"),
        )
    })
}

/// Envoy is built without these extensions.
pub(super) fn header_validation(_: &PatchValue<'_>, manager: &Object<'_>) -> Option<Refusal> {
    const FIELD: &str = "typed_header_validation_config";
    has(manager, FIELD).then(|| {
        let message = format!("Envoy is built without the extensions for `{FIELD}`");
        refusal(span(manager, FIELD), message, "remove it")
    })
}

/// SETTINGS of HTTP/2 with fields of their own, by identifier (RFC 9113, section 6.5.2).
const NAMED: [(u64, &str); 3] =
    [(1, "hpack_table_size"), (3, "max_concurrent_streams"), (4, "initial_stream_window_size")];

/// A SETTINGS parameter is given once.
pub(super) fn settings(_: &PatchValue<'_>, options: &Object<'_>) -> Option<Refusal> {
    let mut known: BTreeMap<u64, u64> = BTreeMap::new();
    for parameter in items(options, "custom_settings_parameters") {
        let read = |name: &str| get(parameter, name).and_then(number);
        let Some((identifier, value)) = read("identifier").zip(read("value")) else { continue };
        let place = parameter.span;
        match identifier {
            2 if value == 1 => {
                return Some(refusal(place, "Envoy does not support server push", "remove the parameter 2"));
            }
            8 => {
                let help = "write `allow_connect: true` instead";
                return Some(refusal(place, "parameter 8 has a field of its own", help));
            }
            _ => {}
        }
        if let Some((_, field)) = NAMED.iter().find(|(id, field)| *id == identifier && has(options, field)) {
            let message = format!("parameter {identifier} is also set by `{field}`");
            return Some(refusal(place, message, "remove one of them"));
        }
        if known.insert(identifier, value).is_some_and(|before| before != value) {
            let message = format!("parameter {identifier} is set twice, to different values");
            return Some(refusal(place, message, "remove one of them"));
        }
    }
    None
}
