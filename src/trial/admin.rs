//! Envoy's admin interface, on a socket in a folder of our own or on a port of 127.0.0.1.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

/// How long an answer may take.
pub(crate) const TIME: Duration = Duration::from_secs(10);

/// The body of the response to a request. Fails when nobody listens, or when the status is not 200.
#[cfg(unix)]
pub(super) fn send(socket: &Path, method: &str, path: &str) -> io::Result<String> {
    let stream = std::os::unix::net::UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(TIME))?;
    stream.set_write_timeout(Some(TIME))?;
    exchange(stream, method, path)
}

/// The same over a port.
pub(super) fn send_to(address: SocketAddr, method: &str, path: &str) -> io::Result<String> {
    let stream = std::net::TcpStream::connect(address)?;
    stream.set_read_timeout(Some(TIME))?;
    stream.set_write_timeout(Some(TIME))?;
    exchange(stream, method, path)
}

fn exchange(mut stream: impl io::Read + io::Write, method: &str, path: &str) -> io::Result<String> {
    write!(stream, "{method} {path} HTTP/1.1\r\nhost: envoy\r\nconnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let text = String::from_utf8_lossy(&answer);
    let (head, body) = text.split_once("\r\n\r\n").ok_or_else(|| io::Error::other("no answer"))?;
    if !head.starts_with("HTTP/1.1 200") {
        return Err(io::Error::other(head.lines().next().unwrap_or_default().to_owned()));
    }
    let chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
    Ok(if chunked { joined(body) } else { body.to_owned() })
}

#[cfg(not(unix))]
pub(super) fn send(_: &Path, _: &str, _: &str) -> io::Result<String> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "Envoy runs on Linux and macOS only"))
}

/// The chunks of a body without their lengths, up to the first broken one.
fn joined(mut body: &str) -> String {
    let mut out = String::new();
    while let Some((length, rest)) = body.split_once("\r\n") {
        let Ok(length) = usize::from_str_radix(length.trim(), 16) else { break };
        let Some(chunk) = rest.get(..length).filter(|chunk| !chunk.is_empty()) else { break };
        out.push_str(chunk);
        body = rest.get(length + 2..).unwrap_or_default();
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn chunks_are_joined_as_far_as_they_are_whole() {
        assert_eq!(super::joined("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"), "abcde");
        assert_eq!(super::joined("3\r\nabc\r\nff\r\nde"), "abc");
        assert_eq!(super::joined("x\r\n"), "");
    }
}
