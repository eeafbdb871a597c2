//! HTTP/1.1 as bytes: what a client sends and reads, and what a stub reads and answers, with header names as written.

use std::io;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Header fields in order, with names as written.
pub(crate) type Fields = Vec<(String, String)>;

/// Maximum total length of the lines before a body.
const HEAD: usize = 4 << 20;

/// How many bytes of a body are kept; further bytes are only counted.
pub(super) const KEPT: usize = 1 << 20;

/// A body, as far as it is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body {
    /// The first bytes, at most 1 MiB.
    pub bytes: Vec<u8>,
    /// How many bytes there were.
    pub length: u64,
}

impl Body {
    /// Appends received bytes.
    pub(crate) fn push(&mut self, more: &[u8]) {
        let room = KEPT.saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(&more[..more.len().min(room)]);
        self.length += more.len() as u64;
    }

    /// The kept text, with invalid characters replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// The lines before a body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    /// `GET / HTTP/1.1` or `HTTP/1.1 200 OK`.
    pub(super) first: String,
    /// The header fields.
    pub(super) fields: Fields,
}

impl Head {
    /// The value of the first field with a name, case-insensitively.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        get(&self.fields, name)
    }

    /// The status of a response.
    pub(super) fn status(&self) -> Option<u16> {
        self.first.split(' ').nth(1)?.parse().ok()
    }
}

/// The value of the first field with a name, case-insensitively.
pub(super) fn get<'f>(fields: &'f [(String, String)], name: &str) -> Option<&'f str> {
    fields.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

fn broken(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why.to_owned())
}

async fn line(from: &mut (impl AsyncBufRead + Unpin), room: &mut usize) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    let read = from.take(*room as u64).read_until(b'\n', &mut bytes).await?;
    *room -= read;
    if read == 0 {
        return if *room == 0 { Err(broken("the header is too long")) } else { Ok(None) };
    }
    if bytes.pop() != Some(b'\n') {
        return Err(broken("the connection ends within the header"));
    }
    if bytes.last() == Some(&b'\r') {
        bytes.pop();
    }
    // Bytes beyond ASCII become one character each.
    Ok(Some(bytes.iter().map(|&byte| char::from(byte)).collect()))
}

/// Reads the lines before a body; `None` if the connection ends first.
pub(super) async fn head(from: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Head>> {
    let mut room = HEAD;
    let first = match line(from, &mut room).await? {
        Some(first) if first.is_empty() => line(from, &mut room).await?,
        first => first,
    };
    let Some(first) = first else { return Ok(None) };
    let fields = fields(from, &mut room).await?;
    Ok(Some(Head { first, fields }))
}

async fn fields(from: &mut (impl AsyncBufRead + Unpin), room: &mut usize) -> io::Result<Fields> {
    let mut fields = Fields::new();
    loop {
        let Some(line) = line(from, room).await? else {
            return Err(broken("the connection ends within the header"));
        };
        if line.is_empty() {
            return Ok(fields);
        }
        let (name, value) = line.split_once(':').ok_or_else(|| broken("a header field has no colon"))?;
        fields.push((name.to_owned(), value.trim().to_owned()));
    }
}

/// How a body ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    /// After this many bytes.
    Bytes(u64),
    /// With a chunk of length zero.
    Chunked,
    /// With the connection.
    Close,
}

/// How the body of a request ends.
pub(super) fn request_length(head: &Head) -> Length {
    length(head).unwrap_or(Length::Bytes(0))
}

/// How the body of the response to a method ends.
pub(super) fn response_length(head: &Head, method: &str) -> Length {
    let status = head.status().unwrap_or(0);
    if method == "HEAD" || status == 204 || status == 304 || (method == "CONNECT" && status / 100 == 2) {
        return Length::Bytes(0);
    }
    length(head).unwrap_or(Length::Close)
}

fn length(head: &Head) -> Option<Length> {
    if head.get("transfer-encoding").is_some_and(|coding| coding.to_ascii_lowercase().contains("chunked")) {
        return Some(Length::Chunked);
    }
    head.get("content-length").and_then(|length| length.parse().ok()).map(Length::Bytes)
}

/// Reads a body into `body`, and returns the trailers after it. Bytes read before an error stay in `body`.
pub(super) async fn body(
    from: &mut (impl AsyncBufRead + Unpin),
    length: Length,
    body: &mut Body,
) -> io::Result<Fields> {
    match length {
        Length::Bytes(bytes) => {
            copy(from, bytes, body).await?;
            Ok(Fields::new())
        }
        Length::Close => {
            while read(from, u64::MAX, body).await? > 0 {}
            Ok(Fields::new())
        }
        Length::Chunked => {
            let mut room = HEAD;
            loop {
                let Some(size) = line(from, &mut room).await? else {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                };
                let size = size.split(';').next().unwrap_or_default().trim();
                let size = u64::from_str_radix(size, 16).map_err(|_| broken("a chunk has no length"))?;
                if size == 0 {
                    return fields(from, &mut room).await;
                }
                room = HEAD;
                copy(from, size, body).await?;
                line(from, &mut room).await?;
            }
        }
    }
}

async fn copy(from: &mut (impl AsyncBufRead + Unpin), mut bytes: u64, body: &mut Body) -> io::Result<()> {
    while bytes > 0 {
        match read(from, bytes, body).await? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => bytes -= read,
        }
    }
    Ok(())
}

async fn read(from: &mut (impl AsyncBufRead + Unpin), limit: u64, body: &mut Body) -> io::Result<u64> {
    let more = from.fill_buf().await?;
    let take = more.len().min(usize::try_from(limit).unwrap_or(usize::MAX));
    body.push(&more[..take]);
    from.consume(take);
    Ok(take as u64)
}

/// Writes the lines before a body.
pub(super) async fn write_head(
    to: &mut (impl AsyncWrite + Unpin),
    first: &str,
    fields: &[(String, String)],
) -> io::Result<()> {
    let mut text = latin(first);
    text.extend_from_slice(b"\r\n");
    for (name, value) in fields {
        text.extend(latin(name));
        text.extend_from_slice(b": ");
        text.extend(latin(value));
        text.extend_from_slice(b"\r\n");
    }
    text.extend_from_slice(b"\r\n");
    to.write_all(&text).await
}

/// The bytes of a text whose characters are bytes; others in UTF-8.
fn latin(text: &str) -> Vec<u8> {
    if text.chars().all(|c| u32::from(c) < 256) {
        text.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect()
    } else {
        text.as_bytes().to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
    }

    #[test]
    fn chunks_and_their_trailers_are_read() {
        let mut text: &[u8] = b"HTTP/1.1 200 OK\r\nX-Case: Kept\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\nabc\r\n2\r\nde\r\n0\r\nX-End: 1\r\n\r\nrest";
        run(async {
            let head = head(&mut text).await.unwrap().unwrap();
            assert_eq!((head.status(), head.fields[0].0.as_str()), (Some(200), "X-Case"));
            let mut got = Body::default();
            let trailers = body(&mut text, response_length(&head, "GET"), &mut got).await.unwrap();
            assert_eq!((got.text().as_str(), trailers.len()), ("abcde", 1));
            assert_eq!(text, b"rest");
        });
    }

    #[test]
    fn a_body_that_ends_early_is_an_error_and_stays() {
        let mut text: &[u8] = b"abc";
        let mut got = Body::default();
        let error = run(body(&mut text, Length::Bytes(10), &mut got)).unwrap_err();
        assert_eq!((error.kind(), got.text().as_str()), (io::ErrorKind::UnexpectedEof, "abc"));
    }

    #[test]
    fn broken_heads_are_errors() {
        for text in ["GET / HTTP/1.1\r\nno colon\r\n\r\n", "GET / HTTP/1.1\r\nhost: x\r\n", "GET"] {
            assert!(run(head(&mut text.as_bytes())).is_err(), "{text:?}");
        }
        assert_eq!(run(head(&mut "".as_bytes())).unwrap(), None);
    }

    #[test]
    fn only_the_beginning_of_a_large_body_is_kept() {
        let mut body = Body::default();
        for _ in 0..3 {
            body.push(&vec![b'x'; KEPT / 2]);
        }
        assert_eq!((body.bytes.len(), body.length), (KEPT, KEPT as u64 * 3 / 2));
    }
}
