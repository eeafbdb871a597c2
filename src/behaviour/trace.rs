//! Reads from Envoy's log what happened to one request: which HTTP filters ran, what each changed and logged, and which
//! path it took.

use super::chains::Chain;
use super::http1::Fields;
use super::listeners::FILLING;
use serde_json::Value;
use std::collections::BTreeMap;

/// A relevant line of the log.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Event {
    /// A probe saw these header fields.
    Probe { response: bool, chain: usize, index: usize, fields: Fields },
    /// A script or module logged something.
    Said { level: String, text: String },
    /// A request or connection is over.
    Access(Box<Access>),
    /// A line that Envoy itself did not log: an access log of the configuration.
    Logged(String),
}

/// An entry of our own access log.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Access {
    pub(super) stage: String,
    value: Value,
}

impl Access {
    fn text(&self, key: &str) -> String {
        match &self.value[key] {
            Value::String(text) if text != "-" => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => String::new(),
        }
    }

    fn number(&self, key: &str) -> Option<u64> {
        self.value[key].as_u64().or_else(|| self.value[key].as_str()?.parse().ok())
    }

    pub(super) fn chain(&self) -> Option<usize> {
        self.number("number").and_then(|number| usize::try_from(number).ok())
    }
}

/// The component, level and text of a line of Envoy's own log (`%n|%l|%v`); `None` for access logs.
pub(super) fn entry(line: &str) -> Option<(&str, &str, &str)> {
    const LEVELS: [&str; 7] = ["trace", "debug", "info", "warning", "error", "critical", "off"];
    let (component, rest) = line.split_once('|')?;
    let (level, text) = rest.split_once('|')?;
    let is_name = component.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    (is_name && LEVELS.contains(&level)).then_some((component, level, text))
}

/// Reads a line of the log; `None` if it is irrelevant.
pub(super) fn event(mark: &str, line: &str) -> Option<Event> {
    // A line of another thread may be written inside the filling.
    let line = line.strip_prefix(FILLING).unwrap_or(line).trim_start_matches('.');
    if line.is_empty() {
        return None;
    }
    let Some((component, level, text)) = entry(line) else {
        let value = serde_json::from_str(line).unwrap_or(Value::Null);
        return Some(match value["kubectl-envoyfilter"].as_str().map(str::to_owned) {
            Some(stage) => Event::Access(Box::new(Access { stage, value })),
            None => Event::Logged(line.to_owned()),
        });
    };
    if !matches!(component, "lua" | "wasm" | "golang" | "dynamic_modules") {
        return None;
    }
    if let Some(after) = text.split_once(mark).map(|(_, after)| after) {
        let mut words = after.trim_start().splitn(4, ' ');
        let response = match words.next()? {
            "req" => false,
            "res" => true,
            _ => return None,
        };
        let (chain, index) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        return Some(Event::Probe { response, chain, index, fields: fields(words.next().unwrap_or_default()) });
    }
    let said = text.split_once("script log: ").map(|(_, said)| said);
    let said = said.or_else(|| {
        text.split_once("wasm log").map(|(_, said)| said.trim_start_matches(|c| c != ':').trim_start_matches(": "))
    })?;
    Some(Event::Said { level: level.to_owned(), text: said.trim_end().to_owned() })
}

/// `name=value&name=value`, with bytes that a log line cannot contain percent-encoded.
fn fields(text: &str) -> Fields {
    let plain = |text: &str| {
        let mut out = Vec::new();
        let mut bytes = text.bytes();
        while let Some(byte) = bytes.next() {
            let code = (byte == b'%').then(|| {
                let digits = [bytes.next().unwrap_or(b'0'), bytes.next().unwrap_or(b'0')];
                std::str::from_utf8(&digits).ok().and_then(|digits| u8::from_str_radix(digits, 16).ok()).unwrap_or(b'?')
            });
            out.push(code.unwrap_or(byte));
        }
        // Bytes beyond ASCII become one character each.
        out.into_iter().map(char::from).collect::<String>()
    };
    let pair = |pair: &str| pair.split_once('=').map(|(name, value)| (plain(name), plain(value)));
    text.split('&').filter_map(pair).collect()
}

/// The change of a header field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its name.
    pub name: String,
    /// Its values before; empty if it is new.
    pub before: Vec<String>,
    /// Its values after; empty if it was removed.
    pub after: Vec<String>,
}

/// The differences between two lists of header fields, by name.
pub fn changes(before: &Fields, after: &Fields) -> Vec<Change> {
    let collect = |fields: &Fields| {
        let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, value) in fields {
            all.entry(name.to_ascii_lowercase()).or_default().push(value.clone());
        }
        all
    };
    let (old, new) = (collect(before), collect(after));
    let names: std::collections::BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let of = |all: &BTreeMap<String, Vec<String>>, name: &String| all.get(name).cloned().unwrap_or_default();
    names
        .into_iter()
        .map(|name| Change { name: name.clone(), before: of(&old, name), after: of(&new, name) })
        .filter(|change| change.before != change.after)
        .collect()
}

/// A log message of a script or module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Envoy's name of the level: `info`, `error` and so on.
    pub level: String,
    /// The text.
    pub text: String,
    /// Whether it was logged for the response.
    pub response: bool,
}

/// What an HTTP filter did to one request and its response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Number of the filter chain.
    pub chain: usize,
    /// Index of the filter in it.
    pub filter: usize,
    /// Whether the request reached it.
    pub reached: bool,
    /// Whether the request continued to the next filter.
    pub passed: bool,
    /// Whether the response passed through it.
    pub returned: bool,
    /// Its changes of the request's header fields.
    pub request: Vec<Change>,
    /// Its changes of the response's header fields.
    pub response: Vec<Change>,
    /// Its log messages.
    pub said: Vec<Said>,
}

/// The path of a request or a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// Number of the filter chain; `None` if none was found.
    pub chain: Option<usize>,
    /// The listener.
    pub listener: String,
    /// Index of the filter chain: a number, `default`, or empty.
    pub chain_index: String,
    /// Name of the filter chain.
    pub chain_name: String,
    /// Route configuration; empty without a route.
    pub route_config: String,
    /// The virtual host.
    pub vhost: String,
    /// Index of the route in the virtual host.
    pub route_index: Option<usize>,
    /// Name of the route.
    pub route: String,
    /// The patch that wrote something in the route.
    pub route_by: Option<u32>,
    /// The Istio object that made the route, as an API path; empty if the route does not contain it.
    pub object: String,
    /// The cluster; empty without one.
    pub cluster: String,
    /// Status that the proxy sent; 0 if none.
    pub status: u16,
    /// Envoy's details about the answer (`%RESPONSE_CODE_DETAILS%`).
    pub details: String,
    /// Envoy's flags for errors (`%RESPONSE_FLAGS%`); empty for none.
    pub flags: String,
    /// Why the connection was closed (`%CONNECTION_TERMINATION_DETAILS%`).
    pub closed: String,
    /// How often the upstream was tried.
    pub attempts: u64,
    /// Server name of the TLS handshake.
    pub sni: String,
    /// SPIFFE identity of the client, as the proxy verified it.
    pub peer: String,
    /// Why TLS with the client failed.
    pub tls_failure: String,
}

impl Path {
    pub(super) fn of(access: &Access, chains: &[Chain]) -> Path {
        let mark = &access.value["mark"];
        let text = |key: &str| mark[key].as_str().unwrap_or_default().to_owned();
        let chain = access.chain();
        let object = access.value["istio"]["config"].as_str().unwrap_or_default().to_owned();
        let name = access.text("chain_name");
        let known = chain.and_then(|number| chains.get(number));
        let plain = known.is_some_and(|chain| !chain.tls);
        let named = known.map(|chain| chain.name.clone()).filter(|name| !name.is_empty());
        Path {
            chain,
            listener: access.text("listener"),
            chain_index: access.text("chain"),
            chain_name: named.unwrap_or(name),
            route_config: text("config"),
            vhost: text("vhost"),
            route_index: text("index").parse().ok(),
            route: access.text("route"),
            route_by: text("by").parse().ok(),
            object,
            cluster: access.text("cluster"),
            status: access.number("status").and_then(|status| u16::try_from(status).ok()).unwrap_or(0),
            details: access.text("details"),
            flags: access.text("flags"),
            closed: access.text("closed"),
            attempts: access.number("attempts").unwrap_or(0),
            sni: access.text("sni"),
            peer: access.text("peer"),
            // If the filter chain accepts plaintext, this only comes from the TLS inspector.
            tls_failure: if plain { String::new() } else { access.text("tls_failure") },
        }
    }
}

/// Orders the events of one request: what each filter of its filter chains did.
pub(super) fn steps(events: &[Event], chains: &[Chain]) -> (Vec<Step>, Vec<Said>) {
    let mut met: Vec<usize> = Vec::new();
    let mut seen: BTreeMap<(usize, bool, usize), Fields> = BTreeMap::new();
    let mut said: Vec<(Option<(usize, usize)>, Said)> = Vec::new();
    let mut at: Option<(usize, usize)> = None;
    let mut back = false;
    for event in events {
        match event {
            Event::Probe { response, chain, index, fields } => {
                if !met.contains(chain) {
                    met.push(*chain);
                }
                back = *response;
                // Before the filter with its number on the request path; after it on the response path.
                at = if *response { index.checked_sub(1).map(|index| (*chain, index)) } else { Some((*chain, *index)) };
                seen.insert((*chain, *response, *index), fields.clone());
            }
            Event::Said { level, text } => {
                said.push((at, Said { level: level.clone(), text: text.clone(), response: back }));
            }
            Event::Access(_) | Event::Logged(_) => {}
        }
    }
    let mut steps = Vec::new();
    for chain in met {
        let filters = chains.get(chain).map_or(&[][..], |chain| &chain.http);
        for filter in 0..filters.len() {
            let get = |response: bool, index: usize| seen.get(&(chain, response, index));
            let (before, after) = (get(false, filter), get(false, filter + 1));
            let (from, to) = (get(true, filter + 1), get(true, filter));
            let between = |one: Option<&Fields>, other: Option<&Fields>| match (one, other) {
                (Some(one), Some(other)) => changes(one, other),
                _ => Vec::new(),
            };
            steps.push(Step {
                chain,
                filter,
                reached: before.is_some(),
                passed: after.is_some() || (before.is_some() && filter + 1 == filters.len()),
                returned: to.is_some(),
                request: between(before, after),
                response: between(from, to),
                said: said
                    .iter()
                    .filter(|(at, _)| *at == Some((chain, filter)))
                    .map(|(_, said)| said.clone())
                    .collect(),
            });
        }
    }
    let nobody = said.into_iter().filter(|(at, _)| at.is_none()).map(|(_, said)| said).collect();
    (steps, nobody)
}

#[cfg(test)]
mod tests {
    use super::super::chains::HttpFilter;
    use super::super::purpose::Purpose;
    use super::*;

    fn chain(names: &[&str]) -> Chain {
        let http = names.iter().map(|name| HttpFilter {
            name: (*name).to_owned(),
            type_name: String::new(),
            by: None,
            writers: Vec::new(),
            inserted: false,
            clusters: Vec::new(),
            purpose: Purpose::Other,
            asks: Vec::new(),
        });
        Chain {
            listener: "l".to_owned(),
            index: Some(0),
            name: String::new(),
            network: Vec::new(),
            changed: Vec::new(),
            http: http.collect(),
            tls: false,
            server_names: Vec::new(),
            protocols: Vec::new(),
            port: None,
            writers: Vec::new(),
        }
    }

    #[test]
    fn each_filter_gets_what_changed_between_its_probes_and_what_it_said() {
        let lines = [
            "lua|critical|script log: M req 0 0 :path=/&a=1",
            "lua|info|script log: hello",
            "http|trace|decode headers called: filter=x status=0",
            "lua|critical|script log: M req 0 1 :path=/&a=2&b=%26",
            "lua|error|script log: broken",
            "lua|critical|script log: M res 0 1 :status=200",
            "lua|critical|script log: M res 0 0 :status=200&c=3",
        ];
        let events: Vec<Event> = lines.iter().filter_map(|line| event("M", line)).collect();
        let (steps, nobody) = steps(&events, &[chain(&["first", "router"])]);
        assert!(nobody.is_empty());
        let change = |name: &str, before: &[&str], after: &[&str]| Change {
            name: name.to_owned(),
            before: before.iter().map(|it| (*it).to_owned()).collect(),
            after: after.iter().map(|it| (*it).to_owned()).collect(),
        };
        assert_eq!(steps[0].request, [change("a", &["1"], &["2"]), change("b", &[], &["&"])]);
        assert_eq!(steps[0].response, [change("c", &[], &["3"])]);
        assert_eq!((steps[0].said[0].text.as_str(), steps[1].said[0].text.as_str()), ("hello", "broken"));
        assert!(steps[0].passed && steps[1].passed && steps[0].returned);
    }

    #[test]
    fn lines_of_access_logs_are_told_from_envoys_own() {
        let logged = |line: &str| matches!(event("M", line), Some(Event::Logged(text)) if text == line);
        assert!(logged("[2026-01-01] \"GET / HTTP/1.1\" 200") && logged("{\"a\": 1}") && logged("GET|/|200"));
        assert!(event("M", "http|debug|anything").is_none());
        assert!(matches!(event("M", "{\"kubectl-envoyfilter\": \"http\"}"), Some(Event::Access(_))));
    }

    #[test]
    fn a_line_inside_the_filling_is_found() {
        let torn = format!("{FILLING}...lua|critical|script log: M req 0 1 a=1");
        assert!(matches!(event("M", &torn), Some(Event::Probe { index: 1, .. })));
        assert!(event("M", &format!("{FILLING}...")).is_none() && event("M", "...").is_none());
    }

    #[test]
    fn a_request_that_is_answered_within_did_not_pass() {
        let lines = ["lua|critical|script log: M req 0 0 a=1", "lua|critical|script log: M res 0 1 :status=403"];
        let events: Vec<Event> = lines.iter().filter_map(|line| event("M", line)).collect();
        let (steps, _) = steps(&events, &[chain(&["stops", "router"])]);
        assert!(steps[0].reached && !steps[0].passed && !steps[1].reached);
    }
}
