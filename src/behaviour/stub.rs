//! Replaces every upstream: one socket for each cluster, which detects TLS, HTTP/1.1, HTTP/2, gRPC services and TCP from
//! the received bytes.

use super::answers::Service;
use super::calls::{Answer, Call, Shared, micros};
use super::grpc;
use super::http1::{self, Body, Fields};
use super::identity::Pair;
use super::sockets::{Connection, Listener};
use bytes::Bytes;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::server::Acceptor;

/// Answers the calls of a cluster until the runtime ends.
pub(super) fn serve(listener: Listener, cluster: String, shared: Arc<Shared>) {
    let cluster: Arc<str> = cluster.into();
    tokio::spawn(async move {
        while let Ok(stream) = listener.accept().await {
            let (cluster, shared) = (Arc::clone(&cluster), Arc::clone(&shared));
            tokio::spawn(async move {
                // Envoy reports broken connections.
                let _ = connection(stream, &cluster, &shared).await;
            });
        }
    });
}

/// The first bytes of HTTP/2.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

async fn connection(mut stream: Connection, cluster: &str, shared: &Arc<Shared>) -> io::Result<()> {
    let mut beginning = Vec::new();
    let mut encrypted = false;
    let kind = loop {
        if let Some(kind) = kind(&beginning) {
            // A stub for TCP answers the bytes of the handshake.
            if matches!(kind, Kind::Tls) && !encrypted && !shared.has(cluster, Service::Tcp) {
                stream = decrypt(stream, std::mem::take(&mut beginning), &shared.certificate).await?;
                encrypted = true;
                continue;
            }
            break kind;
        }
        let read = stream.read_buf(&mut beginning);
        match tokio::time::timeout(QUIET, read).await {
            Ok(Ok(0)) => break Kind::Tcp,
            Ok(read) => read.map(|_| ())?,
            // A client that waits for a greeting.
            Err(_) if beginning.is_empty() && shared.has(cluster, Service::Tcp) => break Kind::Tcp,
            Err(_) if beginning.is_empty() => {}
            Err(_) => break Kind::Tcp,
        }
    };
    let (reader, writer) = tokio::io::split(stream);
    let reader = io::Cursor::new(beginning).chain(reader);
    match kind {
        Kind::Http2 => http2(tokio::io::join(reader, writer), cluster, shared).await,
        Kind::Http1 => http1(BufReader::new(reader), writer, cluster, shared).await,
        Kind::Tls | Kind::Tcp => tcp(reader, writer, cluster, shared).await,
    }
}

/// How long a connection may be silent before the server is expected to speak first.
const QUIET: Duration = Duration::from_millis(150);

#[derive(Clone, Copy)]
enum Kind {
    Http1,
    Http2,
    Tls,
    Tcp,
}

/// The protocol of a connection, if its first bytes decide.
fn kind(beginning: &[u8]) -> Option<Kind> {
    // A handshake record of TLS 1.0 or later.
    if beginning.first() == Some(&0x16) {
        return (beginning.len() > 1).then(|| if beginning[1] == 3 { Kind::Tls } else { Kind::Tcp });
    }
    if PREFACE.starts_with(&beginning[..beginning.len().min(PREFACE.len())]) {
        return (beginning.len() >= PREFACE.len()).then_some(Kind::Http2);
    }
    if let Some(end) = memchr::memmem::find(beginning, b"\r\n") {
        let line = &beginning[..end];
        return Some(if line.ends_with(b"HTTP/1.1") || line.ends_with(b"HTTP/1.0") { Kind::Http1 } else { Kind::Tcp });
    }
    let method = beginning.iter().position(|&byte| byte == b' ').unwrap_or(beginning.len());
    let may_be = method <= 16 && beginning[..method].iter().all(u8::is_ascii_uppercase) && beginning.len() < 1 << 20;
    (!may_be).then_some(Kind::Tcp)
}

/// Takes the server's part in a handshake that began with these bytes, for whatever name the client asks for. Of the
/// protocols that the client offers, HTTP/2 is taken first, then HTTP/1.1, then the client's own first choice.
async fn decrypt(stream: Connection, beginning: Vec<u8>, certificate: &Pair) -> io::Result<Connection> {
    let (reader, writer) = tokio::io::split(stream);
    let stream = tokio::io::join(io::Cursor::new(beginning).chain(reader), writer);
    let handshake = LazyConfigAcceptor::new(Acceptor::default(), stream).await?;
    let offered: Vec<Vec<u8>> = handshake.client_hello().alpn().into_iter().flatten().map(<[u8]>::to_vec).collect();
    let taken = [&b"h2"[..], b"http/1.1"].into_iter().find(|known| offered.iter().any(|one| one == known));
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(certificate.key_der.clone()));
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| {
            let chain = vec![CertificateDer::from(certificate.der.clone())];
            builder.with_no_client_auth().with_single_cert(chain, key)
        })
        .map_err(io::Error::other)?;
    config.alpn_protocols = taken.map(<[u8]>::to_vec).or_else(|| offered.first().cloned()).into_iter().collect();
    Ok(Box::pin(handshake.into_stream(Arc::new(config)).await?))
}

async fn http1(
    mut reader: impl tokio::io::AsyncBufRead + Unpin,
    mut writer: impl tokio::io::AsyncWrite + Unpin,
    cluster: &str,
    shared: &Arc<Shared>,
) -> io::Result<()> {
    while let Some(head) = http1::head(&mut reader).await? {
        let began = Instant::now();
        let mut words = head.first.split(' ');
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        if head.get("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
            writer.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
        }
        let mut body = Body::default();
        let read = http1::body(&mut reader, http1::request_length(&head), &mut body).await;
        let mut call = Call {
            cluster: cluster.to_owned(),
            service: Service::Http,
            protocol: "HTTP/1.1",
            method: method.to_owned(),
            path: path.to_owned(),
            headers: head.fields.clone(),
            body,
            trailers: read.as_ref().cloned().unwrap_or_default(),
            asked: String::new(),
            answer: String::new(),
            status: 0,
            micros: 0,
        };
        if let Err(error) = read {
            "the request ended early".clone_into(&mut call.answer);
            shared.record(call);
            return Err(error);
        }
        let answer = answer(&mut call, shared).await;
        call.micros = micros(began);
        let Some(answer) = answer else {
            shared.record(call);
            return Ok(());
        };
        let (method, answer) = (call.method.clone(), answer);
        shared.record(call);
        let mut fields = answer.headers;
        let without_body = method == "HEAD" || answer.status == 204 || answer.status == 304;
        if http1::get(&fields, "content-length").is_none() && answer.status != 204 {
            fields.push(("content-length".to_owned(), answer.body.len().to_string()));
        }
        http1::write_head(&mut writer, &format!("HTTP/1.1 {} {}", answer.status, reason(answer.status)), &fields)
            .await?;
        if !without_body {
            writer.write_all(&answer.body).await?;
        }
        writer.flush().await?;
    }
    Ok(())
}

fn reason(status: u16) -> &'static str {
    http::StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason()).unwrap_or("Status")
}

/// The answer to a plain HTTP call, recorded in the call; `None` closes the connection.
async fn answer(call: &mut Call, shared: &Arc<Shared>) -> Option<Answer> {
    let named = |key: &str| match key {
        "path" => vec![call.path.clone()],
        "method" => vec![call.method.clone()],
        "body" => vec![call.body.text()],
        name => {
            let of = call.headers.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name));
            of.map(|(_, value)| value.clone()).collect()
        }
    };
    let keys = shared.has(&call.cluster, Service::Jwks);
    let rule = shared.rule(&call.cluster, Service::Http, &named);
    if rule.is_none() && keys {
        call.service = Service::Jwks;
        (call.status, call.answer) = (200, "200, the key of minted tokens".to_owned());
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        return Some(Answer { status: 200, headers, body: shared.jwks().into_bytes() });
    }
    let rule = rule.unwrap_or_default();
    if let Some(delay) = rule.delay {
        tokio::time::sleep(delay).await;
    }
    if rule.reset {
        "the connection is closed".clone_into(&mut call.answer);
        return None;
    }
    let status = rule.status.unwrap_or(200);
    let mut headers = rule.headers;
    let (body, content) = if rule.echo {
        (echo(call).into_bytes(), "application/json")
    } else {
        let body = rule.body.unwrap_or_else(|| {
            if status == 204 { Vec::new() } else { format!("hello from {}\n", call.cluster).into_bytes() }
        });
        (body, "text/plain")
    };
    if http1::get(&headers, "content-type").is_none() && !body.is_empty() {
        headers.push(("content-type".to_owned(), content.to_owned()));
    }
    (call.status, call.answer) = (status, status.to_string());
    Some(Answer { status, headers, body })
}

/// A request as JSON.
fn echo(call: &Call) -> String {
    let mut headers = serde_json::Map::new();
    for (name, value) in &call.headers {
        let name = name.to_ascii_lowercase();
        match headers.get_mut(&name) {
            Some(serde_json::Value::String(old)) => *old = format!("{old},{value}"),
            _ => {
                headers.insert(name, value.as_str().into());
            }
        }
    }
    let echo =
        serde_json::json!({"method": call.method, "path": call.path, "headers": headers, "body": call.body.text()});
    format!("{echo}\n")
}

async fn http2(
    stream: impl tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
    cluster: &str,
    shared: &Arc<Shared>,
) -> io::Result<()> {
    let mut builder = h2::server::Builder::new();
    builder.initial_window_size(1 << 20).initial_connection_window_size(8 << 20).max_header_list_size(4 << 20);
    let mut connection = builder.handshake::<_, Bytes>(stream).await.map_err(io::Error::other)?;
    while let Some(request) = connection.accept().await {
        let (request, respond) = request.map_err(io::Error::other)?;
        let (cluster, shared) = (cluster.to_owned(), Arc::clone(shared));
        tokio::spawn(async move {
            let _ = stream2(request, respond, cluster, &shared).await;
        });
    }
    Ok(())
}

async fn stream2(
    request: http::Request<h2::RecvStream>,
    mut respond: h2::server::SendResponse<Bytes>,
    cluster: String,
    shared: &Arc<Shared>,
) -> Result<(), h2::Error> {
    let began = Instant::now();
    let (parts, mut incoming) = request.into_parts();
    let path = parts.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
    let mut headers: Fields = vec![(":method".to_owned(), parts.method.to_string())];
    headers.extend(parts.uri.authority().map(|authority| (":authority".to_owned(), authority.to_string())));
    headers.push((":path".to_owned(), path.clone()));
    headers.extend(parts.uri.scheme_str().map(|scheme| (":scheme".to_owned(), scheme.to_owned())));
    headers.extend(fields(&parts.headers));
    let of_grpc =
        parts.headers.get("content-type").is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc"));
    let service = if of_grpc { Service::of_grpc(&path) } else { Service::Http };
    let mut call = Call {
        cluster,
        service,
        protocol: "HTTP/2",
        method: parts.method.to_string(),
        path,
        headers,
        body: Body::default(),
        trailers: Fields::new(),
        asked: String::new(),
        answer: String::new(),
        status: 0,
        micros: 0,
    };
    if service == Service::ExtProc {
        return grpc::process(call, incoming, respond, shared).await;
    }
    while let Some(data) = incoming.data().await {
        let data = data?;
        call.body.push(&data);
        incoming.flow_control().release_capacity(data.len())?;
    }
    if let Some(trailers) = incoming.trailers().await? {
        call.trailers = fields(&trailers);
    }
    let grpc = service != Service::Http;
    let answer = if grpc { grpc::answer(&mut call, shared).await } else { answer(&mut call, shared).await };
    call.micros = micros(began);
    let is_head = call.method == "HEAD";
    shared.record(call);
    let Some(answer) = answer else {
        respond.send_reset(h2::Reason::INTERNAL_ERROR);
        return Ok(());
    };
    let mut response = http::Response::new(());
    *response.status_mut() = http::StatusCode::from_u16(answer.status).unwrap_or_default();
    let mut trailers = http::HeaderMap::new();
    for (name, value) in &answer.headers {
        let of_end = grpc && (name == "grpc-status" || name == "grpc-message");
        let map = if of_end { &mut trailers } else { response.headers_mut() };
        if let (Ok(name), Ok(value)) =
            (http::HeaderName::try_from(name.as_str()), http::HeaderValue::try_from(value.as_str()))
        {
            map.append(name, value);
        }
    }
    if is_head || (answer.body.is_empty() && trailers.is_empty()) {
        respond.send_response(response, true)?;
        return Ok(());
    }
    let mut out = respond.send_response(response, false)?;
    out.send_data(answer.body.into(), trailers.is_empty())?;
    if !trailers.is_empty() {
        out.send_trailers(trailers)?;
    }
    Ok(())
}

/// Header fields as text, with bytes beyond ASCII as one character each.
pub(super) fn fields(headers: &http::HeaderMap) -> Fields {
    let text = |value: &http::HeaderValue| value.as_bytes().iter().map(|&byte| char::from(byte)).collect();
    headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect()
}

async fn tcp(
    mut reader: impl tokio::io::AsyncRead + Unpin,
    mut writer: impl tokio::io::AsyncWrite + Unpin,
    cluster: &str,
    shared: &Arc<Shared>,
) -> io::Result<()> {
    let began = Instant::now();
    let mut call = Call {
        cluster: cluster.to_owned(),
        service: Service::Tcp,
        protocol: "TCP",
        method: String::new(),
        path: String::new(),
        headers: Fields::new(),
        body: Body::default(),
        trailers: Fields::new(),
        asked: String::new(),
        answer: String::new(),
        status: 0,
        micros: 0,
    };
    let mut buffer = vec![0; 1 << 16];
    let mut sent = 0;
    let ended = loop {
        let first = match tokio::time::timeout(QUIET, reader.read(&mut buffer)).await {
            Ok(Ok(0)) => break Ok(()),
            Ok(Ok(read)) => {
                call.body.push(&buffer[..read]);
                false
            }
            Ok(Err(error)) => break Err(error),
            Err(_) => true,
        };
        let body = call.body.text();
        let named = |key: &str| match key {
            "data" | "body" => vec![body.clone()],
            _ => Vec::new(),
        };
        // Silence is answered once, by a rule with a greeting.
        if first && (sent > 0 || call.body.length > 0) {
            continue;
        }
        let rule = shared.rule(cluster, Service::Tcp, &named);
        if first && rule.is_none() {
            continue;
        }
        let rule = rule.unwrap_or_default();
        if let Some(delay) = rule.delay {
            tokio::time::sleep(delay).await;
        }
        if rule.reset {
            "the connection is closed".clone_into(&mut call.answer);
            break Ok(());
        }
        let bytes = if rule.echo {
            call.body.bytes.clone()
        } else {
            rule.body.unwrap_or_else(|| format!("hello from {cluster}\n").into_bytes())
        };
        sent += bytes.len();
        writer.write_all(&bytes).await?;
        writer.flush().await?;
    };
    if call.answer.is_empty() {
        call.answer = format!("{sent} bytes");
    }
    call.micros = micros(began);
    if call.body.length > 0 || sent > 0 || ended.is_err() {
        shared.record(call);
    }
    let _ = writer.shutdown().await;
    ended
}
