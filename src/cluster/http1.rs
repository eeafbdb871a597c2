//! The answer of an HTTP/1.1 server that closes after one request: Envoy's admin port behind a port-forward.

/// The request for a path.
pub(super) fn request(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nuser-agent: kubectl-envoyfilter\r\nconnection: close\r\n\r\n")
}

/// The body of a whole answer. Fails when the answer is cut or no 200.
pub(super) fn body(mut answer: Vec<u8>) -> Result<Vec<u8>, String> {
    let Some(end) = memchr::memmem::find(&answer, b"\r\n\r\n") else {
        return Err(if answer.is_empty() { "an empty answer".to_owned() } else { "no HTTP answer".to_owned() });
    };
    let head = String::from_utf8_lossy(&answer[..end]).into_owned();
    let mut lines = head.split("\r\n");
    let status = lines.next().unwrap_or_default();
    let code = status.split(' ').nth(1).unwrap_or_default();
    if !status.starts_with("HTTP/1.") || code != "200" {
        return Err(format!("the answer is {}", status.trim_start_matches("HTTP/1.1 ")));
    }
    let headers: Vec<(String, &str)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim()))
        .collect();
    let header = |name: &str| headers.iter().find(|(have, _)| have == name).map(|(_, value)| *value);
    let chunked = header("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked"));
    let length = header("content-length").and_then(|value| value.parse::<usize>().ok());
    answer.drain(..end + 4);
    match (chunked, length) {
        (true, _) => unchunk(answer),
        (false, Some(length)) if answer.len() < length => Err(cut(answer.len())),
        (false, Some(length)) => {
            answer.truncate(length);
            Ok(answer)
        }
        (false, None) => Ok(answer),
    }
}

fn cut(at: usize) -> String {
    format!("the connection ended after {at} bytes")
}

/// Takes the chunk sizes out, in place: a dump of 100 MB is not copied.
fn unchunk(mut body: Vec<u8>) -> Result<Vec<u8>, String> {
    let (mut read, mut written) = (0, 0);
    loop {
        let rest = body.get(read..).unwrap_or_default();
        let line = memchr::memmem::find(rest, b"\r\n").ok_or_else(|| cut(written))?;
        let size = std::str::from_utf8(&rest[..line]).unwrap_or_default();
        let size = size.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16).map_err(|_| format!("`{size}` is no size of a chunk"))?;
        let start = read + line + 2;
        if size == 0 {
            body.truncate(written);
            return Ok(body);
        }
        let end = start.checked_add(size).filter(|&end| end <= body.len()).ok_or_else(|| cut(written))?;
        body.copy_within(start..end, written);
        written += size;
        read = end + 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, String> {
        body(text.as_bytes().to_vec()).map(|body| String::from_utf8(body).unwrap())
    }

    #[test]
    fn reads_what_envoy_sends() {
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        assert_eq!(read(&format!("{chunked}5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n")).unwrap(), "hello world");
        assert_eq!(read("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nabc").unwrap(), "ab");
        assert_eq!(read("HTTP/1.0 200 OK\r\n\r\nabc").unwrap(), "abc");
    }

    #[test]
    fn half_an_answer_is_none() {
        for text in [
            "",
            "HTTP/1.1 200",
            "HTTP/1.1 503 Service Unavailable\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhel",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffff\r\nhello\r\n",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
            "SSH-2.0-x\r\n\r\n",
        ] {
            assert!(read(text).is_err(), "{text:?}");
        }
    }
}
