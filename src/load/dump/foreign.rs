//! Recognizes texts that are not an Envoy's dump, so that the message can say what they are.

use super::index::Index;
use crate::source::{Code, Problem, Severity};

/// The problem with a text that contains no part of a dump.
pub(super) fn problem(name: &str, text: &str, index: &Index) -> Problem {
    let (message, help) = describe(text, index);
    Problem {
        code: Code::NotADump,
        severity: Severity::Error,
        span: None,
        message: format!("{name} is not an Envoy config dump: {message}"),
        help: Some(help.to_owned()),
    }
}

/// The problem with bytes that are not text.
pub(super) fn binary(name: &str, bytes: &[u8]) -> Option<Problem> {
    let (message, help) = match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => (
            "the text is UTF-16, as PowerShell's `>` writes it",
            "use `| Out-File -Encoding utf8`, or redirect in another shell",
        ),
        [b'P', b'K', 3, 4, ..] => ("this is a zip archive", "unpack it and name the file inside"),
        _ if bytes.get(257..262) == Some(b"ustar") => ("this is a tar archive", "unpack it and name the file inside"),
        _ if memchr::memchr(0, bytes.get(..bytes.len().min(4096)).unwrap_or_default()).is_some() => {
            ("the file is binary", DUMP)
        }
        _ => return None,
    };
    Some(Problem {
        code: Code::NotADump,
        severity: Severity::Error,
        span: None,
        message: format!("{name} is not an Envoy config dump: {message}"),
        help: Some(help.to_owned()),
    })
}

/// The problem with a dump of ztunnel.
pub(super) fn ztunnel(name: &str) -> Problem {
    Problem {
        code: Code::DumpOfZtunnel,
        severity: Severity::Error,
        span: None,
        message: format!("{name} is a dump of ztunnel, which is not an Envoy: EnvoyFilters do not apply to it"),
        help: Some("in ambient mode, EnvoyFilters apply to waypoints and gateways: dump one of those".to_owned()),
    }
}

const DUMP: &str = "dump with `istioctl proxy-config all POD -o json` or Envoy's /config_dump";
const JSON: &str = "ask for JSON: `istioctl proxy-config all POD -o json`";

fn describe(text: &str, index: &Index) -> (String, &'static str) {
    let seen = &index.seen;
    let slice = |range: &std::ops::Range<usize>| text.get(range.clone()).unwrap_or_default();
    let trimmed = text.trim_start_matches('\u{feff}').trim();
    let first = trimmed.lines().next().unwrap_or_default();
    let plain = |words: &str| words.to_owned();
    match trimmed.as_bytes().first() {
        None => (plain("it is empty"), DUMP),
        Some(b'<') => (plain("this is an HTML or XML page, perhaps an error page or a login"), DUMP),
        Some(b'{' | b'[') => {
            let kind = seen.kind.as_ref().map(slice);
            if let (Some("Status"), Some(message)) = (kind, seen.message.as_ref().map(slice)) {
                return (format!("the Kubernetes API answered \"{}\"", shorten(message)), DUMP);
            }
            if let Some(kind) = kind {
                return (format!("this is a Kubernetes object of kind {}", shorten(kind)), DUMP);
            }
            if seen.secrets {
                return (plain("it contains only secrets, which are not read"), DUMP);
            }
            if seen.endpoints {
                return (plain("it contains only endpoints, which EnvoyFilters do not change"), DUMP);
            }
            if seen.keys.is_empty() {
                return (plain("it contains no listener, cluster, route or extension configuration"), DUMP);
            }
            let keys: Vec<&str> = seen.keys.iter().take(5).map(|key| shorten(slice(key))).collect();
            (format!("this is JSON with the keys {}, and no configuration in them", keys.join(", ")), DUMP)
        }
        Some(b'"') => (plain("it is a single JSON string"), DUMP),
        Some(_) if is_table(first) => (plain("this is a table that istioctl prints for people"), JSON),
        Some(_) if is_yaml(trimmed) => (plain("this is YAML"), JSON),
        // The message of the program that should have written it. Other text may be any file of this machine: a test file of
        // a change request can name it.
        Some(_) if is_error(first) => (format!("it starts with \"{}\"", shorten(first)), DUMP),
        Some(_) => (plain("it is text, not JSON"), DUMP),
    }
}

fn is_yaml(text: &str) -> bool {
    text.lines().find(|line| !line.starts_with('#')).is_some_and(|line| {
        let key = line.trim_start_matches("- ").split_once(':').map(|(key, _)| key);
        line.starts_with("---") || key.is_some_and(|key| !key.is_empty() && !key.contains(' '))
    })
}

/// Whether a line is an error message of kubectl or istioctl.
fn is_error(line: &str) -> bool {
    let line = line.trim_start_matches("command terminated with ").to_ascii_lowercase();
    ["error", "usage:", "unable to ", "failed to ", "unknown ", "exit code"].iter().any(|start| line.starts_with(start))
}

/// The headers of istioctl's summaries.
fn is_table(line: &str) -> bool {
    ["SERVICE FQDN", "ADDRESSES", "ADDRESS ", "NAME ", "ENDPOINT ", "RESOURCE NAME", "Istio Version:"]
        .iter()
        .any(|head| line.starts_with(head))
}

fn shorten(text: &str) -> &str {
    text.char_indices().nth(80).map_or(text, |(end, _)| text.get(..end).unwrap_or_default())
}
