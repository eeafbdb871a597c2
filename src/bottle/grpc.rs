//! The parts of gRPC that one stream to istiod needs: length-prefixed messages on one HTTP/2 stream.
//!
//! kube and axum already depend on `h2`; tonic would add code generation, a tower stack and, with envoy-types, all of
//! Envoy's messages as Rust types (minutes of compilation), although only five are read.

use super::fault::Fault;
use bytes::{Buf, BufMut, Bytes, BytesMut};
use h2::client::{self, SendRequest};
use h2::{Ping, RecvStream, SendStream};
use http::{Request, Uri};
use prost::Message;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Flow control window; a sidecar of a large mesh gets tens of megabytes.
const WINDOW: u32 = 64 << 20;

/// Maximum size of a message, in bytes.
const MESSAGE: usize = 1 << 30;

/// How long an answer to a ping may take: it comes from this machine.
const ANSWER: Duration = Duration::from_secs(1);

/// A connection.
#[derive(Clone)]
pub(super) struct Channel {
    send: SendRequest<Bytes>,
    authority: String,
}

fn broken(error: &dyn std::fmt::Display) -> Fault {
    Fault::Connection(error.to_string())
}

impl Channel {
    /// Connects.
    pub(super) async fn open(address: SocketAddr) -> Result<Channel, Fault> {
        let stream = TcpStream::connect(address).await.map_err(|error| broken(&error))?;
        stream.set_nodelay(true).map_err(|error| broken(&error))?;
        let (send, connection) = client::Builder::new()
            .initial_window_size(WINDOW)
            .initial_connection_window_size(WINDOW)
            .max_frame_size(1 << 20)
            .handshake(stream)
            .await
            .map_err(|error| broken(&error))?;
        tokio::spawn(async move {
            // Every stream on it reports its errors.
            let _ = connection.await;
        });
        Ok(Channel { send, authority: address.to_string() })
    }

    /// Starts a bidirectional streaming call.
    pub(super) async fn call(&self, method: &str) -> Result<Stream, Fault> {
        let mut send = self.send.clone().ready().await.map_err(|error| broken(&error))?;
        let uri = Uri::builder().scheme("http").authority(self.authority.as_str()).path_and_query(method).build();
        let request = Request::post(uri.map_err(|error| broken(&error))?)
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .body(())
            .map_err(|error| broken(&error))?;
        let (response, out) = send.send_request(request, false).map_err(|error| broken(&error))?;
        Ok(Stream { out, response: Some(response), input: None, buffer: BytesMut::new() })
    }
}

/// Whether a server of gRPC answers: a program that has taken the port and only listens does not.
pub(super) async fn answers(address: SocketAddr) -> bool {
    let pong = async {
        let stream = TcpStream::connect(address).await.ok()?;
        // Without it, the connection ends.
        let (_send, mut connection) = client::handshake(stream).await.ok()?;
        let mut ping = connection.ping_pong()?;
        tokio::select! {
            pong = ping.ping(Ping::opaque()) => pong.ok(),
            _ = &mut connection => None,
        }
    };
    timeout(ANSWER, pong).await.is_ok_and(|pong| pong.is_some())
}

/// A running call.
pub(super) struct Stream {
    out: SendStream<Bytes>,
    /// Until the response headers arrive, which the server sends with its first message.
    response: Option<client::ResponseFuture>,
    input: Option<RecvStream>,
    buffer: BytesMut,
}

impl Stream {
    /// Sends a message.
    pub(super) fn send(&mut self, message: &impl Message) -> Result<(), Fault> {
        let length = message.encoded_len();
        let mut frame = BytesMut::with_capacity(length + 5);
        frame.put_u8(0);
        frame.put_u32(u32::try_from(length).map_err(|error| broken(&error))?);
        message.encode(&mut frame).map_err(|error| broken(&error))?;
        self.out.send_data(frame.freeze(), false).map_err(|error| broken(&error))
    }

    /// Waits for the next wanted message; all others together must not take longer than that one may.
    pub(super) async fn next<M: Message + Default>(
        &mut self,
        what: &'static str,
        limit: Duration,
        wanted: impl Fn(&M) -> bool,
    ) -> Result<M, Fault> {
        let read = async {
            loop {
                let message = M::decode(self.read().await?).map_err(|error| broken(&error))?;
                if wanted(&message) {
                    return Ok(message);
                }
                // A timeout is only noticed when the task pauses.
                tokio::task::yield_now().await;
            }
        };
        timeout(limit, read).await.unwrap_or(Err(Fault::NoAnswer(what, limit)))
    }

    async fn read(&mut self) -> Result<Bytes, Fault> {
        if let Some(response) = self.response.take() {
            let (head, body) = response.await.map_err(|error| broken(&error))?.into_parts();
            refused(&head.headers)?;
            self.input = Some(body);
        }
        let Some(input) = &mut self.input else { return Err(broken(&"the call ended")) };
        loop {
            if let Some(message) = take(&mut self.buffer)? {
                return Ok(message);
            }
            match input.data().await {
                Some(Ok(data)) => {
                    // Without this, the server stops when the window is full.
                    let _ = input.flow_control().release_capacity(data.len());
                    self.buffer.extend_from_slice(&data);
                }
                Some(Err(error)) => return Err(broken(&error)),
                None => {
                    if let Ok(Some(trailers)) = input.trailers().await {
                        refused(&trailers)?;
                    }
                    return Err(broken(&"istiod ended the call"));
                }
            }
        }
    }
}

/// The first complete message in the buffer.
fn take(buffer: &mut BytesMut) -> Result<Option<Bytes>, Fault> {
    let Some(&[packed, a, b, c, d]) = buffer.first_chunk::<5>() else { return Ok(None) };
    let length = u32::from_be_bytes([a, b, c, d]) as usize;
    if packed != 0 {
        return Err(broken(&"received a compressed message that was not requested"));
    }
    if length > MESSAGE {
        return Err(broken(&format!("received a message of {length} bytes")));
    }
    if buffer.len() < length + 5 {
        buffer.reserve(length + 5 - buffer.len());
        return Ok(None);
    }
    buffer.advance(5);
    Ok(Some(buffer.split_to(length).freeze()))
}

fn refused(headers: &http::HeaderMap) -> Result<(), Fault> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    match text("grpc-status").and_then(|status| status.parse().ok()) {
        None | Some(0) => Ok(()),
        Some(status) => Err(Fault::Refused(status, text("grpc-message").unwrap_or_default().to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that answers every call with this message, forever.
    async fn repeating(message: Vec<u8>) -> SocketAddr {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let mut connection = h2::server::handshake(listener.accept().await.unwrap().0).await.unwrap();
            while let Some(Ok((_, mut respond))) = connection.accept().await {
                let mut out = respond.send_response(http::Response::new(()), false).unwrap();
                let message = Bytes::from(message.clone());
                tokio::spawn(async move {
                    loop {
                        out.reserve_capacity(message.len());
                        match std::future::poll_fn(|cx| out.poll_capacity(cx)).await {
                            Some(Ok(room)) if room < message.len() => tokio::task::yield_now().await,
                            Some(Ok(_)) if out.send_data(message.clone(), false).is_ok() => {}
                            _ => return,
                        }
                    }
                });
            }
        });
        address
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn unwanted_messages_without_end_are_no_answer() {
        const LIMIT: Duration = Duration::from_millis(300);
        let mut frame = vec![0, 0, 0, 0, 5];
        frame.extend(prost_types::Any { type_url: "abc".to_owned(), value: Vec::new() }.encode_to_vec());
        let channel = Channel::open(repeating(frame).await).await.unwrap();
        let mut stream = channel.call("/a/b").await.unwrap();
        // What does come has as long as a busy machine needs.
        let first: prost_types::Any = stream.next("letters", 100 * LIMIT, |_| true).await.unwrap();
        assert_eq!(first.type_url, "abc");
        let began = std::time::Instant::now();
        let none = stream.next("letters", LIMIT, |any: &prost_types::Any| any.type_url == "x").await;
        assert!(matches!(none, Err(Fault::NoAnswer("letters", LIMIT))), "{none:?}");
        assert!(began.elapsed() < 50 * LIMIT, "{:?}", began.elapsed());
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_program_that_only_listens_does_not_answer() {
        assert!(answers(repeating(Vec::new()).await).await);
        let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        assert!(!answers(other.local_addr().unwrap()).await);
    }

    #[test]
    fn messages_come_in_any_pieces() {
        let mut buffer = BytesMut::from(&[0, 0, 0, 0, 2, 7][..]);
        assert!(take(&mut buffer).unwrap().is_none());
        buffer.extend_from_slice(&[8, 0, 0, 0, 0, 0, 9]);
        assert_eq!(take(&mut buffer).unwrap().as_deref(), Some(&[7, 8][..]));
        assert_eq!(take(&mut buffer).unwrap().as_deref(), Some(&[][..]));
        assert!(take(&mut buffer).unwrap().is_none());
        assert!(take(&mut BytesMut::from(&[1, 0, 0, 0, 0][..])).is_err());
        assert!(take(&mut BytesMut::from(&[0, 255, 0, 0, 0][..])).is_err());
    }
}
