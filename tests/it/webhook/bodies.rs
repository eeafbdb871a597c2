//! Bodies that are too long, too slow or aborted, on a plain connection to the server's own routes.

use super::{builder, rules};
use kubectl_envoyfilter::admission::server::{Limits, Reviewer, webhook};
use kubectl_envoyfilter::admission::snapshot::Overrides;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

const MOST: usize = 10_000;

/// A separate server, in the runtime that is returned with it.
fn served() -> (Runtime, SocketAddr) {
    let limits = Limits { deadline: Duration::from_secs(1), max_bytes: MOST, at_once: 1, ..Limits::default() };
    let reviewer = Reviewer::new(limits, rules(), builder(Overrides::default(), &[]).snapshot(), Arc::default());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let runtime = Runtime::new().unwrap();
    runtime.spawn(async move {
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        axum::serve(listener, webhook(Arc::new(reviewer))).await.unwrap();
    });
    (runtime, address)
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

fn head(path: &str, length: usize) -> String {
    format!("POST {path} HTTP/1.1\r\nHost: webhook\r\nContent-Length: {length}\r\n\r\n")
}

/// One answer: its head, and its body by content length.
fn answer(stream: &mut TcpStream) -> String {
    let mut text = String::new();
    let mut byte = [0];
    while !text.ends_with("\r\n\r\n") {
        assert_eq!(stream.read(&mut byte).unwrap(), 1, "the connection ends after `{text}`");
        text.push(char::from(byte[0]));
    }
    let length = text
        .to_lowercase()
        .split_once("content-length: ")
        .map_or(0, |(_, rest)| rest.split("\r\n").next().unwrap().parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    text + &String::from_utf8(body).unwrap()
}

/// A client that writes more than is read still gets the answer, and the connection stays open.
#[test]
fn a_body_that_is_too_long_is_answered_after_it_was_sent() {
    let (_runtime, address) = served();
    let mut stream = connect(address);
    for length in [MOST + 1, MOST * 3, MOST * 16] {
        stream.write_all(head("/validate", length).as_bytes()).unwrap();
        stream.write_all(&vec![b' '; length - 5]).unwrap();
        std::thread::sleep(Duration::from_millis(50));
        stream.write_all(b"     ").unwrap();
        let said = answer(&mut stream);
        assert!(said.starts_with("HTTP/1.1 413 ") && said.contains("larger than 10000 bytes"), "{said}");
    }
    // A body just below the limit is read, but is not a review.
    stream.write_all(head("/validate", MOST).as_bytes()).unwrap();
    stream.write_all(&[b' '; MOST]).unwrap();
    let said = answer(&mut stream);
    assert!(said.starts_with("HTTP/1.1 400 ") && said.contains("not an AdmissionReview"), "{said}");
}

/// Chunks of one byte are not work for seconds.
#[test]
fn a_body_of_many_tiny_chunks_is_cut_off() {
    let (_runtime, address) = served();
    let mut stream = connect(address);
    let head = "POST /validate HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    // A few are fine.
    stream.write_all(format!("{head}{}0\r\n\r\n", "1\r\n \r\n".repeat(200)).as_bytes()).unwrap();
    let said = answer(&mut stream);
    assert!(said.contains("not an AdmissionReview"), "{said}");
    stream.write_all(format!("{head}{}", "1\r\n \r\n".repeat(MOST / 2)).as_bytes()).unwrap();
    let said = answer(&mut stream);
    assert!(said.starts_with("HTTP/1.1 400 ") && said.contains("too many small parts"), "{said}");
}

/// Endless requests are cut off.
#[test]
fn endless_requests_are_cut_off() {
    let (_runtime, address) = served();
    let mut stream = connect(address);
    stream.write_all(head("/validate", 1 << 40).as_bytes()).unwrap();
    let (began, mut written) = (Instant::now(), 0_usize);
    while stream.write_all(&[b' '; MOST]).is_ok() {
        written += MOST;
        assert!(written < 1 << 30 && began.elapsed() < Duration::from_secs(20), "{written} bytes are taken");
    }
}

#[test]
fn late_bodies_are_rejected() {
    let (_runtime, address) = served();
    let mut stream = connect(address);
    let began = Instant::now();
    stream.write_all(head("/validate?timeout=1s", 100).as_bytes()).unwrap();
    stream.write_all(b"{").unwrap();
    let said = answer(&mut stream);
    assert!(said.starts_with("HTTP/1.1 408 ") && said.contains("within 1000 ms"), "{said}");
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}
