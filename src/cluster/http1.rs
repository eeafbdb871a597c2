//! One HTTP/1.1 request over an open stream: Envoy's admin interface behind a port-forward.

use super::api::Fault;
use super::limits::Limits;
use http::{Request, StatusCode, header};
use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper::client::conn::http1::handshake;
use hyper_util::rt::TokioIo;
use std::error::Error as _;
use tokio::io::{AsyncRead, AsyncWrite};

/// Gets a path. Fails if the status is not 200, or if the answer is truncated or not complete in time.
pub(super) async fn get(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    path: &str,
    limits: Limits,
) -> Result<Vec<u8>, Fault> {
    let (mut sender, connection) = limits.first(handshake(TokioIo::new(stream))).await?.map_err(|error| of(&error))?;
    // The connection is driven concurrently with the request, and ends with it.
    let mut driver = tokio::task::JoinSet::new();
    driver.spawn(connection);
    let request = Request::get(path)
        .header(header::HOST, "localhost")
        .header(header::USER_AGENT, "kubectl-envoyfilter")
        .header(header::CONNECTION, "close")
        .body(Empty::<Bytes>::new())
        .map_err(|error| Fault::Garbled(error.to_string()))?;
    let answer = limits.first(sender.send_request(request)).await?.map_err(|error| of(&error))?;
    if answer.status() != StatusCode::OK {
        return Err(Fault::Answer(answer.status().as_u16()));
    }
    let mut body = answer.into_body();
    // Joined once: a vector that grows with them would copy most of a dump again and end with room for another.
    let (mut parts, mut length) = (Vec::new(), 0);
    while let Some(frame) = limits.rest(body.frame()).await? {
        if let Ok(data) = frame.map_err(|error| of(&error))?.into_data() {
            length += data.len();
            limits.size(length)?;
            parts.push(data);
        }
    }
    Ok(parts.concat())
}

/// The meaning of the library's errors here.
fn of(error: &hyper::Error) -> Fault {
    if error.is_incomplete_message() || error.is_closed() || error.is_canceled() {
        return Fault::Connection("the connection ended before the answer was complete".to_owned());
    }
    if error.is_parse() {
        return Fault::Garbled("it is not an HTTP response".to_owned());
    }
    Fault::Connection(error.source().map_or_else(|| error.to_string(), ToString::to_string))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::io::AsyncWriteExt;

    fn soon(seconds: u64) -> Limits {
        let total = Duration::from_secs(seconds);
        Limits::until(tokio::time::Instant::now() + total, total, 1)
    }

    /// The result for these bytes from a server that then closes.
    async fn read(text: &str) -> Result<String, Fault> {
        let (near, mut far) = tokio::io::duplex(1 << 16);
        let text = text.to_owned();
        tokio::spawn(async move {
            let mut request = vec![0; 1 << 10];
            let _ = tokio::io::AsyncReadExt::read(&mut far, &mut request).await;
            far.write_all(text.as_bytes()).await.unwrap();
        });
        get(near, "/config_dump", soon(5)).await.map(|body| String::from_utf8(body).unwrap())
    }

    #[tokio::test]
    async fn reads_what_envoy_sends() {
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        assert_eq!(read(&format!("{chunked}5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n")).await.unwrap(), "hello world");
        assert_eq!(read("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nab").await.unwrap(), "ab");
        assert_eq!(read("HTTP/1.0 200 OK\r\n\r\nabc").await.unwrap(), "abc");
    }

    #[tokio::test]
    async fn half_an_answer_is_none() {
        assert_eq!(
            read("HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n").await,
            Err(Fault::Answer(503))
        );
        for text in [
            "",
            "HTTP/1.1 200",
            "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhel",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffff\r\nhello\r\n",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
            "SSH-2.0-x\r\n\r\n",
        ] {
            assert!(read(text).await.is_err(), "{text:?}");
        }
    }

    #[tokio::test]
    async fn a_body_that_drips_is_late() {
        let (near, mut far) = tokio::io::duplex(1 << 16);
        tokio::spawn(async move {
            let mut request = vec![0; 1 << 10];
            let _ = tokio::io::AsyncReadExt::read(&mut far, &mut request).await;
            far.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n").await.unwrap();
            loop {
                tokio::time::sleep(Duration::from_millis(20)).await;
                if far.write_all(b"x").await.is_err() {
                    break;
                }
            }
        });
        let total = Duration::from_millis(200);
        let limits = Limits::until(tokio::time::Instant::now() + total, total, 1);
        assert_eq!(get(near, "/config_dump", limits).await, Err(Fault::TooSlow(total)));
    }
}
