//! The downstream: connects as the network would, encrypts as the port requires, and sends one request.

use super::chains::Chain;
use super::http1::{self, Body, Fields};
use super::identity::Pair;
use super::request::{Protocol, Request, Target, Tls};
use super::sockets::{Connection, Place};
use super::stub::fields;
use bytes::Bytes;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use tokio_rustls::rustls::{self, ClientConfig, DigitallySignedStruct, SignatureScheme};

/// What the client saw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Status; `None` without an HTTP answer.
    pub status: Option<u16>,
    /// Header fields, with names as received.
    pub headers: Fields,
    /// Body, or the bytes received over TCP.
    pub body: Body,
    /// Trailers.
    pub trailers: Fields,
    /// What ended the exchange early.
    pub failure: Option<Failure>,
    /// The negotiated application protocol; `None` without TLS.
    pub alpn: Option<String>,
    /// Duration in microseconds.
    pub micros: u64,
}

impl Seen {
    /// The gRPC status: the trailer `grpc-status`, which is a header field in a response without a message
    /// (gRPC over HTTP/2, "Trailers-Only"). `None` without one, or where it is no number.
    pub(crate) fn grpc_status(&self) -> Option<u16> {
        let value = http1::get(&self.trailers, "grpc-status").or_else(|| http1::get(&self.headers, "grpc-status"));
        value.and_then(|value| value.trim().parse().ok())
    }
}

/// Why there is no complete answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The proxy closed the connection without an answer.
    Closed,
    /// The proxy reset the connection or the stream, with the protocol's error text.
    Reset(String),
    /// TLS was rejected, with the reason.
    Handshake(String),
    /// No complete answer within the timeout.
    TimedOut,
    /// The answer is not HTTP.
    NotHttp(String),
    /// The request cannot be sent.
    Invalid(String),
    /// A waypoint rejected the tunnel with this status.
    Tunnel(u16),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Closed => out.write_str("the proxy closed the connection without an answer"),
            Failure::Reset(words) => write!(out, "the proxy reset the connection: {words}"),
            Failure::Handshake(words) => write!(out, "the TLS handshake failed: {words}"),
            Failure::TimedOut => out.write_str("no complete response within the time limit"),
            Failure::NotHttp(words) => write!(out, "the answer is not HTTP: {words}"),
            Failure::Invalid(words) => write!(out, "the request cannot be sent: {words}"),
            Failure::Tunnel(status) => write!(out, "the waypoint refused the tunnel with status {status}"),
        }
    }
}

/// How a request reaches its listener.
#[derive(Clone, Debug)]
pub(super) struct Way {
    pub(super) place: Place,
    pub(super) source: (IpAddr, u16),
    pub(super) destination: (IpAddr, u16),
    /// The handshake, with TLS.
    pub(super) tls: Option<Handshake>,
    /// The service behind a waypoint's tunnel.
    pub(super) tunnel: Option<(IpAddr, u16)>,
    /// The host of the request.
    pub(super) host: String,
}

/// The properties of a TLS handshake.
#[derive(Clone)]
pub(super) struct Handshake {
    pub(super) sni: String,
    pub(super) alpn: Vec<String>,
    pub(super) certificate: Option<Arc<Pair>>,
}

impl std::fmt::Debug for Handshake {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "TLS {} {:?}", self.sni, self.alpn)
    }
}

/// The address of a client without a given address.
const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));

/// The address of the proxy's own pod.
const POD: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));

/// An address that no service has: the range that Istio assigns to hosts without one (240.240.0.0/16).
const ANYWHERE: IpAddr = IpAddr::V4(Ipv4Addr::new(240, 240, 0, 1));

/// The client's source port.
const PORT: u16 = 40_000;

/// Source and destination of a request.
pub(super) fn addresses(
    request: &Request,
    known: &dyn Fn(&str, u16) -> Option<IpAddr>,
) -> ((IpAddr, u16), (IpAddr, u16)) {
    let of = |host: &str, port: u16| host.parse().ok().or_else(|| known(host, port)).unwrap_or(ANYWHERE);
    let (from, to) = match &request.target {
        Target::Inbound(port) | Target::Gateway(port) => (CLIENT, (POD, *port)),
        Target::Outbound(host, port) => (POD, (of(host, *port), *port)),
        Target::Waypoint(_, _) => (CLIENT, (POD, 15008)),
    };
    let from = request.from.unwrap_or(from);
    // Both must be of the same family.
    let to = match (from, to.0) {
        (IpAddr::V6(_), IpAddr::V4(four)) => (IpAddr::V6(four.to_ipv6_mapped()), to.1),
        (IpAddr::V4(_), IpAddr::V6(_)) if request.from.is_some() => (ANYWHERE, to.1),
        _ => to,
    };
    ((from, PORT), to)
}

/// Whether a request is encrypted, given the filter chains that it can reach, and the protocols that its client offers.
pub(super) fn encryption(request: &Request, chains: &[&Chain]) -> (Tls, Vec<String>) {
    let plain = chains.iter().any(|chain| !chain.tls);
    let mesh = matches!(request.target, Target::Inbound(_));
    let tls = match request.tls {
        Tls::Auto if request.identity.is_some() || matches!(request.target, Target::Waypoint(..)) => Tls::Mutual,
        Tls::Auto if request.sni.is_some() && !mesh => Tls::Simple,
        Tls::Auto if chains.is_empty() || plain => Tls::Plain,
        Tls::Auto if mesh => Tls::Mutual,
        Tls::Auto => Tls::Simple,
        tls => tls,
    };
    let http2 = matches!(request.protocol, Protocol::Http2 | Protocol::Grpc);
    let offered: &[&str] = match (&request.protocol, mesh && tls == Tls::Mutual) {
        (Protocol::Tcp, true) => &["istio-peer-exchange", "istio"],
        (Protocol::Tcp, false) => &[],
        (_, true) if http2 => &["istio-h2", "istio"],
        (_, true) => &["istio-http/1.1", "istio"],
        (_, false) if http2 => &["h2"],
        (_, false) => &["http/1.1"],
    };
    let alpn =
        if request.alpn.is_empty() { offered.iter().map(|&it| it.to_owned()).collect() } else { request.alpn.clone() };
    (tls, alpn)
}

/// Sends a request and reads the answer.
pub(super) async fn send(request: &Request, way: &Way) -> Seen {
    let began = std::time::Instant::now();
    let mut seen = Seen::default();
    let failure = match tokio::time::timeout(request.timeout, exchange(request, way, &mut seen)).await {
        Ok(Ok(())) => None,
        Ok(Err(failure)) => Some(failure),
        Err(_) => Some(Failure::TimedOut),
    };
    // A complete answer counts, even if the connection breaks afterwards.
    if seen.status.is_none() || failure != Some(Failure::Closed) {
        seen.failure = failure;
    }
    seen.micros = super::calls::micros(began);
    seen
}

async fn exchange(request: &Request, way: &Way, seen: &mut Seen) -> Result<(), Failure> {
    let mut stream = way.place.connect().await.map_err(|error| broken(&error))?;
    stream.write_all(&proxy_protocol(way.source, way.destination)).await.map_err(|error| broken(&error))?;
    if !request.preamble.is_empty() && way.tunnel.is_none() {
        stream.write_all(&request.preamble).await.map_err(|error| broken(&error))?;
    }
    if let Some(handshake) = &way.tls {
        let (encrypted, alpn) = encrypt(stream, handshake).await?;
        seen.alpn = Some(alpn);
        stream = encrypted;
    }
    if let Some(service) = way.tunnel {
        stream = tunnel(stream, service).await?;
    }
    match request.protocol {
        Protocol::Tcp => tcp(request, stream, seen).await,
        Protocol::Http1 => one(request, way, stream, seen).await,
        Protocol::Http2 | Protocol::Grpc => two(request, way, stream, seen).await,
    }
}

fn broken(error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe => Failure::Closed,
        io::ErrorKind::ConnectionReset => Failure::Closed,
        io::ErrorKind::InvalidData => Failure::NotHttp(error.to_string()),
        _ => Failure::Reset(error.to_string()),
    }
}

/// The header of the PROXY protocol: version 1 for IPv4, version 2 for IPv6.
pub(super) fn proxy_protocol(source: (IpAddr, u16), destination: (IpAddr, u16)) -> Vec<u8> {
    if let (IpAddr::V4(from), IpAddr::V4(to)) = (source.0, destination.0) {
        return format!("PROXY TCP4 {from} {to} {} {}\r\n", source.1, destination.1).into_bytes();
    }
    let octets = |address: IpAddr| match address {
        IpAddr::V4(four) => four.to_ipv6_mapped().octets(),
        IpAddr::V6(six) => six.octets(),
    };
    let mut out = b"\r\n\r\n\0\r\nQUIT\n\x21\x21\0\x24".to_vec();
    out.extend(octets(source.0));
    out.extend(octets(destination.0));
    out.extend(source.1.to_be_bytes());
    out.extend(destination.1.to_be_bytes());
    out
}

/// Accepts any certificate: the sandbox talks only to its own Envoy.
#[derive(Debug)]
struct Trusting(Arc<CryptoProvider>);

impl ServerCertVerifier for Trusting {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

async fn encrypt(stream: Connection, handshake: &Handshake) -> Result<(Connection, String), Failure> {
    let provider = Arc::new(ring::default_provider());
    let refused = |error: &dyn std::fmt::Display| Failure::Handshake(error.to_string());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| refused(&error))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Trusting(provider)));
    let mut config = match &handshake.certificate {
        None => builder.with_no_client_auth(),
        Some(pair) => {
            let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(pair.key_der.clone()));
            let chain = vec![CertificateDer::from(pair.der.clone())];
            builder.with_client_auth_cert(chain, key).map_err(|error| refused(&error))?
        }
    };
    config.alpn_protocols = handshake.alpn.iter().map(|it| it.as_bytes().to_vec()).collect();
    config.enable_sni = !handshake.sni.is_empty();
    let name = if handshake.sni.is_empty() { "sandbox.invalid" } else { &handshake.sni };
    let name = ServerName::try_from(name.to_owned())
        .map_err(|_| Failure::Invalid(format!("{name} is not a valid server name")))?;
    let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.map_err(|error| {
        let early = matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset);
        if early { Failure::Handshake("the proxy closed the connection".to_owned()) } else { refused(&error) }
    })?;
    let alpn = stream.get_ref().1.alpn_protocol().map(|it| String::from_utf8_lossy(it).into_owned());
    Ok((Box::pin(stream), alpn.unwrap_or_default()))
}

async fn one(request: &Request, way: &Way, stream: Connection, seen: &mut Seen) -> Result<(), Failure> {
    let (reader, mut writer) = tokio::io::split(stream);
    let mut fields: Fields = Vec::new();
    let has = |name: &str| http1::get(&request.headers, name).is_some();
    if !has("host") {
        fields.push(("host".to_owned(), way.host.clone()));
    }
    fields.extend(request.headers.iter().cloned());
    let length = request.body.len() as u64 + request.padding;
    let chunked = !request.trailers.is_empty();
    if chunked && !has("transfer-encoding") {
        fields.push(("transfer-encoding".to_owned(), "chunked".to_owned()));
    } else if !has("content-length")
        && !has("transfer-encoding")
        && (length > 0 || matches!(request.method.as_str(), "POST" | "PUT" | "PATCH"))
    {
        fields.push(("content-length".to_owned(), length.to_string()));
    }
    let line = format!("{} {} HTTP/1.1", request.method, request.path);
    let write = async {
        http1::write_head(&mut writer, &line, &fields).await?;
        if chunked {
            writer.write_all(format!("{:x}\r\n", request.body.len().max(1)).as_bytes()).await?;
            writer.write_all(if request.body.is_empty() { b" " } else { &request.body }).await?;
            writer.write_all(b"\r\n0\r\n").await?;
            let mut text = String::new();
            for (name, value) in &request.trailers {
                text.push_str(&format!("{name}: {value}\r\n"));
            }
            writer.write_all(format!("{text}\r\n").as_bytes()).await?;
        } else {
            writer.write_all(&request.body).await?;
            pad(&mut writer, request.padding).await?;
        }
        writer.flush().await
    };
    let read = async {
        let mut reader = BufReader::new(reader);
        loop {
            let head = http1::head(&mut reader).await.map_err(|error| broken(&error))?.ok_or(Failure::Closed)?;
            let status = head.status().ok_or_else(|| Failure::NotHttp(head.first.chars().take(60).collect()))?;
            if status / 100 == 1 && status != 101 {
                continue;
            }
            let length = http1::response_length(&head, &request.method);
            (seen.status, seen.headers) = (Some(status), head.fields);
            seen.trailers = http1::body(&mut reader, length, &mut seen.body).await.map_err(|error| broken(&error))?;
            return Ok(());
        }
    };
    // An answer may arrive before the body is sent; then nobody reads the rest of it.
    tokio::pin!(read);
    tokio::select! {
        done = &mut read => done,
        written = write => match written {
            Ok(()) => read.await,
            // A request that failed while it was sent may still have been answered.
            Err(error) => read.await.map_err(|_| broken(&error)),
        },
    }
}

async fn pad(writer: &mut (impl AsyncWrite + Unpin), mut bytes: u64) -> io::Result<()> {
    let piece = vec![b'x'; 1 << 16];
    while bytes > 0 {
        let now = piece.len().min(usize::try_from(bytes).unwrap_or(usize::MAX));
        writer.write_all(&piece[..now]).await?;
        bytes -= now as u64;
    }
    Ok(())
}

fn reset(error: &h2::Error) -> Failure {
    if error.is_io() || error.is_go_away() && error.reason() == Some(h2::Reason::NO_ERROR) {
        return Failure::Closed;
    }
    Failure::Reset(error.to_string())
}

async fn two(request: &Request, way: &Way, stream: Connection, seen: &mut Seen) -> Result<(), Failure> {
    let mut builder = h2::client::Builder::new();
    builder.initial_window_size(1 << 20).initial_connection_window_size(8 << 20).max_header_list_size(4 << 20);
    let (client, connection) = builder.handshake::<_, Bytes>(stream).await.map_err(|error| reset(&error))?;
    let driver = tokio::spawn(async move {
        let _ = connection.await;
    });
    let done = stream2(request, way, client, seen).await;
    driver.abort();
    done
}

async fn stream2(
    request: &Request,
    way: &Way,
    client: h2::client::SendRequest<Bytes>,
    seen: &mut Seen,
) -> Result<(), Failure> {
    let invalid = |error: &dyn std::fmt::Display| Failure::Invalid(error.to_string());
    let mut client = client.ready().await.map_err(|error| reset(&error))?;
    let grpc = request.protocol == Protocol::Grpc;
    let host = http1::get(&request.headers, "host").or(http1::get(&request.headers, ":authority")).unwrap_or(&way.host);
    let scheme = if way.tls.is_some() && way.tunnel.is_none() { "https" } else { "http" };
    let uri = http::Uri::builder().scheme(scheme).authority(host).path_and_query(request.path.as_str());
    let method = if grpc { "POST" } else { &request.method };
    let mut head = http::Request::builder().method(method).uri(uri.build().map_err(|error| invalid(&error))?);
    if grpc {
        head = head.header("content-type", "application/grpc").header("te", "trailers");
    }
    for (name, value) in &request.headers {
        let hop = ["host", ":authority", "connection", "transfer-encoding", "keep-alive", "upgrade"];
        if !hop.contains(&name.to_ascii_lowercase().as_str()) {
            head = head.header(name.as_str(), value.as_str());
        }
    }
    let head = head.body(()).map_err(|error| invalid(&error))?;
    let body = if grpc { super::grpc::frame(&request.body) } else { request.body.clone() };
    let empty = body.is_empty() && request.padding == 0 && request.trailers.is_empty();
    let (response, mut out) = client.send_request(head, empty).map_err(|error| reset(&error))?;
    let write = async {
        if empty {
            return Ok(());
        }
        send_data(&mut out, body.into(), request.padding == 0 && request.trailers.is_empty()).await?;
        let mut left = request.padding;
        while left > 0 {
            let now = left.min(1 << 16);
            left -= now;
            let piece = Bytes::from(vec![b'x'; usize::try_from(now).unwrap_or(0)]);
            send_data(&mut out, piece, left == 0 && request.trailers.is_empty()).await?;
        }
        if !request.trailers.is_empty() {
            let mut trailers = http::HeaderMap::new();
            for (name, value) in &request.trailers {
                if let (Ok(name), Ok(value)) =
                    (http::HeaderName::try_from(name.as_str()), http::HeaderValue::try_from(value.as_str()))
                {
                    trailers.append(name, value);
                }
            }
            out.send_trailers(trailers)?;
        }
        Ok::<(), h2::Error>(())
    };
    let read = async {
        let response = response.await.map_err(|error| reset(&error))?;
        seen.status = Some(response.status().as_u16());
        seen.headers = fields(response.headers());
        let mut body = response.into_body();
        while let Some(data) = body.data().await {
            let data = data.map_err(|error| reset(&error))?;
            seen.body.push(&data);
            let _ = body.flow_control().release_capacity(data.len());
        }
        if let Some(trailers) = body.trailers().await.map_err(|error| reset(&error))? {
            seen.trailers = fields(&trailers);
        }
        Ok(())
    };
    tokio::pin!(read);
    tokio::select! {
        done = &mut read => done,
        _ = write => read.await,
    }
}

/// Sends as fast as the other side's flow control allows.
async fn send_data(out: &mut h2::SendStream<Bytes>, mut data: Bytes, end: bool) -> Result<(), h2::Error> {
    loop {
        out.reserve_capacity(data.len());
        if data.is_empty() {
            return out.send_data(data, end);
        }
        let room = match std::future::poll_fn(|context| out.poll_capacity(context)).await {
            Some(room) => room?,
            None => return Ok(()),
        };
        let piece = data.split_to(room.min(data.len()));
        let last = data.is_empty();
        out.send_data(piece, end && last)?;
        if last {
            return Ok(());
        }
    }
}

/// How long a TCP client waits for the first bytes of an answer before it closes its half of the connection.
const FIRST: Duration = Duration::from_millis(1_500);

/// How long it waits for more.
const MORE: Duration = Duration::from_millis(30);

async fn tcp(request: &Request, stream: Connection, seen: &mut Seen) -> Result<(), Failure> {
    let (mut reader, mut writer) = tokio::io::split(stream);
    let mut buffer = vec![0; 1 << 16];
    let written = async {
        writer.write_all(&request.body).await?;
        pad(&mut writer, request.padding).await?;
        writer.flush().await
    }
    .await;
    let mut open = written.is_ok();
    loop {
        let wait = if !open {
            request.timeout
        } else if seen.body.length == 0 {
            FIRST
        } else {
            MORE
        };
        match tokio::time::timeout(wait, reader.read(&mut buffer)).await {
            Ok(Ok(0)) => break,
            Ok(Ok(read)) => seen.body.push(&buffer[..read]),
            Ok(Err(error)) if error.kind() == io::ErrorKind::UnexpectedEof => break,
            Ok(Err(error)) if seen.body.length == 0 => return Err(broken(&error)),
            Ok(Err(_)) => break,
            // A client that has nothing more to send closes its half.
            Err(_) if open => {
                open = false;
                let _ = writer.shutdown().await;
            }
            Err(_) => return Err(Failure::TimedOut),
        }
    }
    if seen.body.length == 0 { Err(Failure::Closed) } else { Ok(()) }
}

/// Opens an HBONE tunnel: CONNECT over HTTP/2.
async fn tunnel(stream: Connection, service: (IpAddr, u16)) -> Result<Connection, Failure> {
    let (client, connection) = h2::client::handshake(stream).await.map_err(|error| reset(&error))?;
    tokio::spawn(async move {
        let _ = connection.await;
    });
    let mut client = client.ready().await.map_err(|error| reset(&error))?;
    let authority = std::net::SocketAddr::new(service.0, service.1).to_string();
    let head = http::Request::builder().method("CONNECT").uri(authority).body(());
    let head = head.map_err(|error| Failure::Invalid(error.to_string()))?;
    let (response, mut out) = client.send_request(head, false).map_err(|error| reset(&error))?;
    let response = response.await.map_err(|error| reset(&error))?;
    if !response.status().is_success() {
        return Err(Failure::Tunnel(response.status().as_u16()));
    }
    let mut body = response.into_body();
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (mut reader, mut writer) = tokio::io::split(theirs);
    tokio::spawn(async move {
        let mut buffer = vec![0; 1 << 15];
        while let Ok(read) = reader.read(&mut buffer).await {
            let piece = Bytes::copy_from_slice(&buffer[..read]);
            if send_data(&mut out, piece, read == 0).await.is_err() || read == 0 {
                break;
            }
        }
    });
    tokio::spawn(async move {
        // The tunnel lasts as long as its client.
        let _client = client;
        while let Some(Ok(data)) = body.data().await {
            let _ = body.flow_control().release_capacity(data.len());
            if writer.write_all(&data).await.is_err() {
                break;
            }
        }
        let _ = writer.shutdown().await;
    });
    Ok(Box::pin(ours))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_in_the_version_that_has_them() {
        let four = proxy_protocol((CLIENT, 1), (POD, 8080));
        assert_eq!(four, b"PROXY TCP4 10.0.0.1 10.0.0.2 1 8080\r\n");
        let six = proxy_protocol(("2001:db8::1".parse().unwrap(), 1), (POD, 80));
        assert_eq!((six.len(), &six[12..16], &six[50..]), (52, &b"\x21\x21\0\x24"[..], &[0, 80][..]));
    }
}
