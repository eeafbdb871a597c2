//! The gRPC services that filters call: ext_authz, rate limit, ext_proc, and any other method.

use super::answers::{Rule, Service};
use super::calls::{Answer, Call, Shared, micros};
use super::http1::Fields;
use super::protobuf::{Fields as Read, Message, Value, all, inner, text};
use bytes::{Bytes, BytesMut};
use std::sync::Arc;
use std::time::Instant;

/// The complete messages in a gRPC body: a flag, a length of four bytes, the message.
fn messages(mut body: &[u8]) -> Vec<&[u8]> {
    let mut out = Vec::new();
    while let Some((head, rest)) = body.split_at_checked(5) {
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
        let Some((message, rest)) = rest.split_at_checked(length) else { break };
        out.push(message);
        body = rest;
    }
    out
}

/// A framed gRPC message, as clients send it.
pub(super) fn frame(message: &[u8]) -> Vec<u8> {
    let mut out = vec![0];
    out.extend_from_slice(&u32::try_from(message.len()).unwrap_or(u32::MAX).to_be_bytes());
    out.extend_from_slice(message);
    out
}

fn respond(message: Message) -> Answer {
    let headers = vec![field("content-type", "application/grpc"), field("grpc-status", "0")];
    Answer { status: 200, headers, body: frame(&message.into_bytes()) }
}

/// The name of a gRPC status, as gRPC's status codes page lists them.
pub(crate) fn status_name(status: u16) -> &'static str {
    const NAMES: [&str; 17] = [
        "OK",
        "CANCELLED",
        "UNKNOWN",
        "INVALID_ARGUMENT",
        "DEADLINE_EXCEEDED",
        "NOT_FOUND",
        "ALREADY_EXISTS",
        "PERMISSION_DENIED",
        "RESOURCE_EXHAUSTED",
        "FAILED_PRECONDITION",
        "ABORTED",
        "OUT_OF_RANGE",
        "UNIMPLEMENTED",
        "INTERNAL",
        "UNAVAILABLE",
        "DATA_LOSS",
        "UNAUTHENTICATED",
    ];
    NAMES.get(usize::from(status)).copied().unwrap_or("unknown code")
}

fn field(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

/// The answer to a call, recorded in the call; `None` breaks the stream.
pub(super) async fn answer(call: &mut Call, shared: &Arc<Shared>) -> Option<Answer> {
    let body = call.body.bytes.clone();
    let asked = messages(&body).first().copied().unwrap_or_default().to_vec();
    let service = call.service;
    let properties = match service {
        Service::ExtAuthz => check(&asked),
        Service::RateLimit => descriptors(&asked),
        _ => Vec::new(),
    };
    call.asked = match service {
        Service::ExtAuthz => {
            let of = |key: &str| properties.iter().find(|(name, _)| name == key).map_or("", |(_, value)| value);
            // A network filter checks a connection.
            let method = of("method");
            if method.is_empty() { format!("TCP from {}", of("source")) } else { format!("{method} {}", of("path")) }
        }
        Service::RateLimit => {
            let words: Vec<String> = properties.iter().map(|(key, value)| format!("{key}={value}")).collect();
            words.join(" ")
        }
        _ => call.path.clone(),
    };
    let named = |key: &str| {
        let of = properties.iter().filter(|(name, _)| name.eq_ignore_ascii_case(key));
        let mut values: Vec<String> = of.map(|(_, value)| value.clone()).collect();
        if values.is_empty() && service == Service::Grpc {
            values = match key {
                "path" => vec![call.path.clone()],
                name => call
                    .headers
                    .iter()
                    .filter(|(key, _)| key.eq_ignore_ascii_case(name))
                    .map(|(_, value)| value.clone())
                    .collect(),
            };
        }
        values
    };
    let rule = shared.rule(&call.cluster, service, &named).unwrap_or_default();
    if let Some(delay) = rule.delay {
        tokio::time::sleep(delay).await;
    }
    if rule.reset {
        "the stream is broken".clone_into(&mut call.answer);
        return None;
    }
    call.status = 200;
    match service {
        Service::ExtAuthz => Some(respond(authorize(&rule, call))),
        Service::RateLimit => {
            if rule.over_limit { "OVER_LIMIT" } else { "OK" }.clone_into(&mut call.answer);
            let mut message = Message::new().number(1, if rule.over_limit { 2 } else { 1 });
            for (name, value) in &rule.headers {
                message = message.message(3, &Message::new().bytes(1, name.as_bytes()).bytes(2, value.as_bytes()));
            }
            if let Some(body) = &rule.body {
                message = message.bytes(5, body);
            }
            Some(respond(message))
        }
        _ => Some(any_method(&rule, call)),
    }
}

fn any_method(rule: &Rule, call: &mut Call) -> Answer {
    let status = rule.status.unwrap_or(0);
    call.answer = format!("grpc-status {status}");
    let mut headers = vec![field("content-type", "application/grpc")];
    headers.extend(rule.headers.iter().cloned());
    headers.push(field("grpc-status", &status.to_string()));
    let body = if status == 0 { frame(rule.body.as_deref().unwrap_or_default()) } else { Vec::new() };
    Answer { status: 200, headers, body }
}

/// The content of a `CheckRequest`: method, path, host, caller and address, header fields, body.
fn check(asked: &[u8]) -> Vec<(String, String)> {
    let attributes = inner(asked, 1);
    let http = inner(inner(attributes, 4), 2);
    let address = |peer: u32| text(inner(inner(inner(attributes, peer), 1), 1), 2);
    let mut out = vec![
        field("source", &address(1)),
        field("destination", &address(2)),
        field("method", &text(http, 2)),
        field("path", &text(http, 4)),
        field("host", &text(http, 5)),
        field("principal", &text(inner(attributes, 1), 4)),
        field("body", &text(http, 11)),
    ];
    for entry in all(http, 3) {
        out.push((text(entry, 1), text(entry, 2)));
    }
    // Since Envoy 1.31 header fields may come as a list instead of a map.
    for entry in all(inner(http, 13), 1) {
        let raw = text(entry, 3);
        out.push((text(entry, 1), if raw.is_empty() { text(entry, 2) } else { raw }));
    }
    for entry in all(attributes, 10) {
        out.push((text(entry, 1), text(entry, 2)));
    }
    out
}

/// `CheckResponse`.
fn authorize(rule: &Rule, call: &mut Call) -> Message {
    let status = rule.status.unwrap_or(200);
    let options = |message: Message, number: u32| {
        rule.headers.iter().fold(message, |message, (name, value)| message.message(number, &set(name, value, false)))
    };
    if status == 200 {
        "allowed".clone_into(&mut call.answer);
        let mut ok = options(Message::new(), 2);
        for name in &rule.remove {
            ok = ok.bytes(5, name.as_bytes());
        }
        return Message::new().message(1, &Message::new()).message(3, &ok);
    }
    call.answer = format!("denied with {status}");
    let code = Message::new().number(1, u64::from(status));
    let mut denied = options(Message::new().message(1, &code), 2);
    if let Some(body) = &rule.body {
        denied = denied.bytes(3, body);
    }
    // 7: PERMISSION_DENIED
    Message::new().message(1, &Message::new().number(1, 7)).message(2, &denied)
}

/// `HeaderValueOption` that overwrites.
fn set(name: &str, value: &str, raw: bool) -> Message {
    let header = Message::new().bytes(1, name.as_bytes()).bytes(if raw { 3 } else { 2 }, value.as_bytes());
    Message::new().message(1, &header).number(3, 2)
}

/// The entries of all descriptors, with the domain first.
fn descriptors(asked: &[u8]) -> Vec<(String, String)> {
    let mut out = vec![field("domain", &text(asked, 1))];
    for descriptor in all(asked, 2) {
        out.extend(all(descriptor, 1).map(|entry| (text(entry, 1), text(entry, 2))));
    }
    out
}

/// The phases of ext_proc: number in the request, number in the response, name.
const PHASES: [(u32, u32, &str); 6] = [
    (2, 1, "request_headers"),
    (3, 2, "response_headers"),
    (4, 3, "request_body"),
    (5, 4, "response_body"),
    (6, 5, "request_trailers"),
    (7, 6, "response_trailers"),
];

/// A stream of an external processor: every phase gets an answer.
pub(super) async fn process(
    mut call: Call,
    mut incoming: h2::RecvStream,
    mut respond: h2::server::SendResponse<Bytes>,
    shared: &Arc<Shared>,
) -> Result<(), h2::Error> {
    let began = Instant::now();
    let mut response = http::Response::new(());
    response.headers_mut().insert("content-type", http::HeaderValue::from_static("application/grpc"));
    let mut out = respond.send_response(response, false)?;
    let mut buffer = BytesMut::new();
    let (mut asked, mut answered) = (Vec::new(), Vec::new());
    call.status = 200;
    let mut broken = false;
    let mut number = None;
    'stream: while let Some(data) = incoming.data().await {
        // Envoy resets the stream when the request is over.
        let Ok(data) = data else { break };
        incoming.flow_control().release_capacity(data.len())?;
        buffer.extend_from_slice(&data);
        while let Some(head) = buffer.get(..5) {
            let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
            let Some(message) = buffer.get(5..5 + length) else { break };
            let phase = Read(message).find_map(|(number, value)| match value {
                Value::Bytes(bytes) => PHASES.iter().find(|phase| phase.0 == number).map(|phase| (*phase, bytes)),
                Value::Number(_) => None,
            });
            if let Some((phase, content)) = phase {
                asked.push(phase.2);
                let properties = properties(phase.2, content);
                let named = |key: &str| {
                    let of = properties.iter().filter(|(name, _)| name.eq_ignore_ascii_case(key));
                    of.map(|(_, value)| value.clone()).collect()
                };
                let rule = shared.rule(&call.cluster, Service::ExtProc, &named).unwrap_or_default();
                if let Some(delay) = rule.delay {
                    tokio::time::sleep(delay).await;
                }
                if rule.reset {
                    broken = true;
                    break 'stream;
                }
                let (message, word) = processed(&rule, phase);
                answered.push(word);
                // Recorded before the answer, so that whoever waits for its effect finds the call.
                (call.asked, call.answer) = (asked.join(", "), answered.join(", "));
                call.micros = micros(began);
                match number {
                    None => number = Some(shared.record(call.clone())),
                    Some(number) => shared.amend(number, &call),
                }
                out.send_data(frame(&message.into_bytes()).into(), false)?;
            }
            let _ = buffer.split_to(5 + length);
        }
    }
    call.asked = asked.join(", ");
    call.answer = if broken { "the stream is broken".to_owned() } else { answered.join(", ") };
    match number {
        None => drop(shared.record(call)),
        Some(number) if broken => shared.amend(number, &call),
        Some(_) => {}
    }
    if broken {
        out.send_reset(h2::Reason::INTERNAL_ERROR);
        return Ok(());
    }
    let mut trailers = http::HeaderMap::new();
    trailers.insert("grpc-status", http::HeaderValue::from_static("0"));
    out.send_trailers(trailers)
}

fn properties(phase: &str, content: &[u8]) -> Vec<(String, String)> {
    let mut out = vec![field("phase", phase)];
    if phase.ends_with("_body") {
        out.push(field("body", &text(content, 1)));
    } else {
        for header in all(inner(content, 1), 1) {
            let raw = text(header, 3);
            let value = if raw.is_empty() { text(header, 2) } else { raw };
            let name = text(header, 1);
            let plain = match name.as_str() {
                ":path" => Some("path"),
                ":method" => Some("method"),
                _ => None,
            };
            out.extend(plain.map(|plain| field(plain, &value)));
            out.push((name, value));
        }
    }
    out
}

/// `ProcessingResponse` to a phase, and a word for it.
fn processed(rule: &Rule, phase: (u32, u32, &'static str)) -> (Message, String) {
    let mutation = |headers: &Fields| {
        let message =
            headers.iter().fold(Message::new(), |message, (name, value)| message.message(1, &set(name, value, true)));
        rule.remove.iter().fold(message, |message, name| message.bytes(2, name.as_bytes()))
    };
    if let Some(status) = rule.status.filter(|&status| status != 200) {
        let mut at_once = Message::new().message(1, &Message::new().number(1, u64::from(status)));
        if !rule.headers.is_empty() {
            at_once = at_once.message(2, &mutation(&rule.headers));
        }
        if let Some(body) = &rule.body {
            at_once = at_once.bytes(3, body);
        }
        return (Message::new().message(7, &at_once), format!("{} answered with {status}", phase.2));
    }
    let changes = !rule.headers.is_empty() || !rule.remove.is_empty();
    let mut words = Vec::new();
    if phase.2.ends_with("_trailers") {
        let trailers = if changes { Message::new().message(1, &mutation(&rule.headers)) } else { Message::new() };
        return (Message::new().message(phase.1, &trailers), format!("{} taken", phase.2));
    }
    let mut common = Message::new();
    if changes {
        common = common.message(2, &mutation(&rule.headers));
        words.push("headers");
    }
    if let (Some(body), true) = (&rule.body, phase.2.ends_with("_body")) {
        common = common.message(3, &Message::new().bytes(1, body));
        words.push("body");
    }
    let inner = Message::new().message(1, &common);
    let word = if words.is_empty() {
        format!("{} taken", phase.2)
    } else {
        format!("{}: new {}", phase.2, words.join(" and "))
    };
    (Message::new().message(phase.1, &inner), word)
}
