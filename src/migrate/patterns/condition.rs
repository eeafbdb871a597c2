//! Conditions of RBAC filters as rules of an AuthorizationPolicy: alternatives, each with conditions that must all
//! hold.

use crate::migrate::base::value::{Fields, left};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// With more alternatives, nobody could review the policy.
const MAX_ALTERNATIVES: usize = 24;

/// Conditions that must all hold: fields of `source` or `operation`, or keys of `when` with a `when ` prefix; negated
/// ones have a `!` prefix.
type All = BTreeMap<Key, Vec<String>>;

/// What a condition is about, negated ones first.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    positive: bool,
    of: Property,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Property {
    /// A field of a source or an operation.
    Field(&'static str),
    /// The key of an entry of `when`.
    When(String),
}

impl Key {
    fn is(of: Property) -> Key {
        Key { positive: true, of }
    }
}

/// The rules for one Envoy policy, or why an AuthorizationPolicy has none.
pub(in crate::migrate) fn rules(policy: Fields, http: bool) -> Result<Vec<Json>, String> {
    let found = read(policy.clone(), http);
    found.ok_or_else(|| without_rule(policy, http))
}

/// Conditions that an AuthorizationPolicy has, in some forms.
const KNOWN: [&str; 9] = [
    "authenticated",
    "destination_ip",
    "destination_port",
    "direct_remote_ip",
    "header",
    "remote_ip",
    "requested_server_name",
    "source_ip",
    "url_path",
];

/// What an AuthorizationPolicy does not have: the first single condition, else how they are combined.
fn without_rule(mut policy: Fields, http: bool) -> String {
    let mut open: Vec<Fields> = ["principals", "permissions"].into_iter().flat_map(|side| policy.list(side)).collect();
    if !policy.is_empty() {
        return left("a rule of an AuthorizationPolicy", [&policy]);
    }
    open.reverse();
    while let Some(mut one) = open.pop() {
        let key = one.0.as_object().and_then(|map| map.keys().next()).cloned().unwrap_or_default();
        match key.as_str() {
            "and_rules" | "or_rules" => open.extend(one.list(&format!("{key}/rules")).into_iter().rev()),
            "and_ids" | "or_ids" => open.extend(one.list(&format!("{key}/ids")).into_iter().rev()),
            "not_rule" | "not_id" => open.extend(one.sub(&key)),
            _ if term(one, http).is_some() => {}
            known if KNOWN.contains(&known) && (http || !matches!(known, "header" | "url_path")) => {
                return format!(
                    "an AuthorizationPolicy does not have the condition on `{key}` in this form: it compares texts whole, by their start or by their end, case-sensitively, without stars and braces inside"
                );
            }
            _ => return format!("an AuthorizationPolicy has no condition for `{key}` here"),
        }
    }
    "a rule of an AuthorizationPolicy does not combine conditions in this way (it negates single ones, and lists values of which one must match), or not in so few alternatives that they can be reviewed".to_owned()
}

/// The rules for one Envoy policy: any of its permissions and any of its principals.
fn read(mut policy: Fields, http: bool) -> Option<Vec<Json>> {
    let side = |list: Vec<Fields>| any_of(list.into_iter().map(|item| term(item, http)));
    let operations = side(policy.list("permissions"))?;
    let sources = side(policy.list("principals"))?;
    if !policy.is_empty() || operations.is_empty() || sources.is_empty() {
        return None;
    }
    // Properties of an operation are not allowed among the sources.
    let of_operation = |key: &Key| matches!(key.of, Property::Field("paths" | "methods" | "hosts" | "ports"));
    if sources.iter().any(|all| all.keys().any(of_operation)) {
        return None;
    }
    let plain = |side: &[All]| side.iter().all(|all| !all.keys().any(|key| matches!(key.of, Property::When(_))));
    if plain(&operations) && plain(&sources) {
        return Some(vec![rule(&sources, &operations)]);
    }
    // `when` is next to `from` and `to`: each pair of alternatives becomes a rule.
    let pairs = sources.iter().flat_map(|source| operations.iter().map(move |operation| (source, operation)));
    Some(pairs.map(|(source, operation)| rule(std::slice::from_ref(source), std::slice::from_ref(operation))).collect())
}

fn rule(sources: &[All], operations: &[All]) -> Json {
    let mut rule = Map::new();
    let mut when = Vec::new();
    for (list, item, side) in [("from", "source", sources), ("to", "operation", operations)] {
        let mut entries = Vec::new();
        for all in side {
            let mut fields = Map::new();
            for (key, values) in all {
                match (&key.of, key.positive) {
                    (Property::When(key), positive) => {
                        let word = if positive { "values" } else { "notValues" };
                        when.push(json!({ "key": key, word: values }));
                    }
                    (Property::Field(name), true) => {
                        fields.insert((*name).to_owned(), json!(values));
                    }
                    (Property::Field(name), false) => {
                        fields.insert(negative(name), json!(values));
                    }
                }
            }
            entries.push(fields);
        }
        // An alternative without conditions does not restrict anything.
        if entries.iter().all(|fields| !fields.is_empty()) {
            let entries: Vec<Json> = entries.into_iter().map(|fields| json!({ item: fields })).collect();
            rule.insert(list.to_owned(), entries.into());
        }
    }
    if !when.is_empty() {
        rule.insert("when".to_owned(), when.into());
    }
    Json::Object(rule)
}

/// `methods` → `notMethods`.
fn negative(name: &str) -> String {
    let mut chars = name.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    format!("not{}{}", first.map(String::from).unwrap_or_default(), chars.as_str())
}

/// A permission or principal as alternatives.
fn term(mut part: Fields, http: bool) -> Option<Vec<All>> {
    let map = part.0.as_object().filter(|map| map.len() == 1)?;
    let field = map.keys().next()?.clone();
    let all = |of: Property, value: String| Some(vec![All::from([(Key::is(of), vec![value])])]);
    let one = |field: &'static str, value: String| all(Property::Field(field), value);
    let when = |key: &str, value: String| all(Property::When(key.to_owned()), value);
    let out = match field.as_str() {
        "any" => part.flag("any")?.then(|| vec![All::new()]),
        "and_rules" | "and_ids" => {
            let list = part.list(if field == "and_rules" { "and_rules/rules" } else { "and_ids/ids" });
            let mut sides = list.into_iter().map(|item| term(item, http));
            let first = sides.next()??;
            sides.try_fold(first, |left, right| both(&left, &right?))
        }
        "or_rules" => any_of(part.list("or_rules/rules").into_iter().map(|item| term(item, http))),
        "or_ids" => any_of(part.list("or_ids/ids").into_iter().map(|item| term(item, http))),
        "not_rule" | "not_id" => none_of(&term(part.sub(&field)?, http)?),
        "destination_port" => one("ports", part.number("destination_port")?.to_string()),
        "destination_ip" => when("destination.ip", block(part.sub("destination_ip")?)?),
        "requested_server_name" => when("connection.sni", pattern(part.sub("requested_server_name")?)?),
        "url_path" if http => {
            let mut path = part.sub("url_path")?;
            // Braces are templates in a policy.
            let text = pattern(path.sub("path")?).filter(|text| !text.contains(['{', '}']))?;
            path.is_empty().then(|| one("paths", text))?
        }
        "header" if http => header(part.sub("header")?),
        "authenticated" => {
            let mut peer = part.sub("authenticated")?;
            let mut name = peer.sub("principal_name");
            if let Some(namespace) = name.as_mut().and_then(namespace) {
                return (peer.is_empty() && part.is_empty()).then(|| one("namespaces", namespace))?;
            }
            let who = match name {
                // An identity is a URI in the certificate, but has no scheme in a policy.
                Some(name) => identity(&pattern(name)?)?,
                None => "*".to_owned(),
            };
            peer.is_empty().then(|| one("principals", who))?
        }
        "remote_ip" if http => one("remoteIpBlocks", block(part.sub("remote_ip")?)?),
        // For a connection, no header decides on the remote address.
        "direct_remote_ip" | "source_ip" | "remote_ip" => one("ipBlocks", block(part.sub(&field)?)?),
        _ => None,
    };
    out.filter(|_| part.is_empty())
}

/// Flattens nested alternatives; those of one field become a list of values.
fn any_of(sides: impl Iterator<Item = Option<Vec<All>>>) -> Option<Vec<All>> {
    let mut out: Vec<All> = Vec::new();
    for side in sides {
        for all in side? {
            let twin = out.iter_mut().find(|one| {
                let same = one.len() == 1 && all.len() == 1 && one.keys().eq(all.keys());
                same && one.keys().all(|key| key.positive)
            });
            match twin {
                Some(one) => all.into_iter().for_each(|(key, values)| one.entry(key).or_default().extend(values)),
                None => out.push(all),
            }
        }
    }
    (out.len() <= MAX_ALTERNATIVES).then_some(out)
}

/// Both of two sides: every pair. `None` if a field would have two lists that must both match.
fn both(left: &[All], right: &[All]) -> Option<Vec<All>> {
    let mut out = Vec::new();
    for (one, other) in left.iter().flat_map(|one| right.iter().map(move |other| (one, other))) {
        let mut all = one.clone();
        for (key, values) in other {
            if all.contains_key(key) && key.positive {
                return None;
            }
            all.entry(key.clone()).or_default().extend(values.iter().cloned());
        }
        out.push(all);
    }
    (out.len() <= MAX_ALTERNATIVES).then_some(out)
}

/// None of these alternatives; each must be a single condition.
fn none_of(sides: &[All]) -> Option<Vec<All>> {
    let mut out = vec![All::new()];
    for all in sides {
        let mut conditions = all.iter();
        let (Some((key, values)), None) = (conditions.next(), conditions.next()) else { return None };
        let key = Key { positive: !key.positive, of: key.of.clone() };
        out = both(&out, &[All::from([(key, values.clone())])])?;
    }
    Some(out)
}

/// A header's value: a method, a host, or any other header.
fn header(mut header: Fields) -> Option<Vec<All>> {
    let name = header.text("name")?.to_ascii_lowercase();
    // If the header is missing, an inverted match and a policy's negation may differ.
    if header.flag("invert_match") == Some(true) {
        return None;
    }
    let text = if let Some(matcher) = header.sub("string_match") {
        pattern(matcher)?
    } else if let Some(text) = header.text("exact_match") {
        plain(text)?
    } else if let Some(text) = header.text("prefix_match") {
        format!("{}*", plain(text)?)
    } else if let Some(text) = header.text("suffix_match") {
        format!("*{}", plain(text)?)
    } else {
        header.flag("present_match")?.then(|| "*".to_owned())?
    };
    if !header.is_empty() {
        return None;
    }
    let key = match name.as_str() {
        ":method" => Property::Field("methods"),
        ":authority" | "host" => Property::Field("hosts"),
        // `:path` contains the query, which AuthorizationPolicy ignores.
        _ if name.starts_with(':') => return None,
        _ => Property::When(format!("request.headers[{name}]")),
    };
    Some(vec![All::from([(Key::is(key), vec![text])])])
}

/// A StringMatcher in AuthorizationPolicy's notation: `text`, `text*`, `*text`.
fn pattern(mut matcher: Fields) -> Option<String> {
    let text = if let Some(text) = matcher.text("exact") {
        plain(text)?
    } else if let Some(text) = matcher.text("prefix") {
        format!("{}*", plain(text)?)
    } else {
        format!("*{}", plain(matcher.text("suffix")?)?)
    };
    matcher.is_empty().then_some(text)
}

/// A text without a `*` that could be read as a wildcard.
fn plain(text: String) -> Option<String> {
    (!text.is_empty() && !text.contains('*')).then_some(text)
}

/// The namespace of a matcher that accepts every identity there, in the form that istiod writes for `namespaces`.
fn namespace(matcher: &mut Fields) -> Option<String> {
    let regex = matcher.peek("safe_regex/regex")?.as_str()?;
    let name = regex.strip_prefix(".*/ns/")?.strip_suffix("/.*")?;
    let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    let name = plain.then(|| name.to_owned())?;
    // `google_re2` is the only engine.
    matcher.skip("safe_regex");
    matcher.is_empty().then_some(name)
}

fn identity(pattern: &str) -> Option<String> {
    if let Some(rest) = pattern.strip_prefix("spiffe://") {
        // A policy reads a star alone as any certificate, also one without a SPIFFE identity.
        return (rest != "*").then(|| rest.to_owned());
    }
    pattern.starts_with('*').then(|| pattern.to_owned())
}

/// A CIDR range such as `10.1.0.0/16`.
fn block(mut range: Fields) -> Option<String> {
    let address = range.text("address_prefix")?;
    let length = range.number("prefix_len");
    // Without a length, Envoy compares no bits, and never more than the address has; istiod drops such a rule.
    let most = if address.parse::<IpAddr>().ok()?.is_ipv4() { 32 } else { 128 };
    range.is_empty().then(|| format!("{address}/{}", length.unwrap_or(0).min(most)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: Json) -> Option<Json> {
        rules(Fields(value), true).ok().map(Json::Array)
    }

    #[test]
    fn alternatives_stay_alternatives() {
        let two = json!({
            "permissions": [
                { "url_path": { "path": { "prefix": "/a" } } },
                { "header": { "name": "x", "string_match": { "exact": "1" } } },
            ],
            "principals": [{ "any": true }],
        });
        let want = json!([
            { "to": [{ "operation": { "paths": ["/a*"] } }] },
            { "when": [{ "key": "request.headers[x]", "values": ["1"] }] },
        ]);
        assert_eq!(read(two), Some(want));
    }

    #[test]
    fn values_that_a_policy_reads_differently_are_rejected() {
        for path in
            [json!({ "exact": "/a*" }), json!({ "exact": "/a/{*}" }), json!({ "exact": "/a", "ignore_case": true })]
        {
            let policy = json!({ "permissions": [{ "url_path": { "path": path } }], "principals": [{ "any": true }] });
            assert_eq!(read(policy), None);
        }
        let named = json!({
            "permissions": [{ "any": true }],
            "principals": [{ "authenticated": { "principal_name": { "exact": "cluster.local/ns/a/sa/b" } } }],
        });
        assert_eq!(read(named), None, "a policy puts spiffe:// in front");
        let any = json!({
            "permissions": [{ "any": true }],
            "principals": [{ "authenticated": { "principal_name": { "prefix": "spiffe://" } } }],
        });
        assert_eq!(read(any), None, "a star alone also means certificates of other kinds");
        let method = json!({
            "permissions": [{ "any": true }],
            "principals": [{ "header": { "name": ":method", "string_match": { "exact": "GET" } } }],
        });
        assert_eq!(read(method), None);
    }

    #[test]
    fn every_identity_of_a_namespace_is_its_name() {
        let of = |regex: &str| {
            let name = json!({ "authenticated": { "principal_name": { "safe_regex": { "regex": regex } } } });
            read(json!({ "permissions": [{ "any": true }], "principals": [name] }))
        };
        assert_eq!(of(".*/ns/shop/.*"), Some(json!([{ "from": [{ "source": { "namespaces": ["shop"] } }] }])));
        for other in ["spiffe://.*/ns/shop/.*", ".*/ns/shop.*", ".*/ns/sh.p/.*", ".*/ns//.*"] {
            assert_eq!(of(other), None, "{other}");
        }
        let not =
            json!({ "not_id": { "authenticated": { "principal_name": { "safe_regex": { "regex": ".*/ns/a/.*" } } } } });
        let not = read(json!({ "permissions": [{ "any": true }], "principals": [not] }));
        assert_eq!(not, Some(json!([{ "from": [{ "source": { "notNamespaces": ["a"] } }] }])));
    }

    #[test]
    fn no_length_is_every_address() {
        let all = json!({ "permissions": [{ "any": true }], "principals": [{ "direct_remote_ip": { "address_prefix": "10.0.0.1" } }] });
        assert_eq!(read(all), Some(json!([{ "from": [{ "source": { "ipBlocks": ["10.0.0.1/0"] } }] }])));
        let long = json!({ "permissions": [{ "any": true }], "principals": [{ "remote_ip": { "address_prefix": "10.0.0.1", "prefix_len": 64 } }] });
        assert_eq!(read(long), Some(json!([{ "from": [{ "source": { "remoteIpBlocks": ["10.0.0.1/32"] } }] }])));
    }
}
