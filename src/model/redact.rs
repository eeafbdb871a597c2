//! What must not leave a cluster, in a capture or in a report: keys, certificates, tokens, passwords, wherever they stand in objects and dumps.
//!
//! Values are replaced, never names or structure, so that what is asked of a capture has the answer the cluster gives.

use crate::source::{Node, NodeValue, Span};
use regex::{Regex, RegexSet};
use serde_json::{Map, Value};

/// What stands in place of a secret.
pub const REDACTED: &str = "[redacted]";

/// Keys whose texts are secrets.
const SECRET_KEYS: &[&str] = &[
    "accesskey",
    "accesstoken",
    "apikey",
    "apitoken",
    "authtoken",
    "authorization",
    "bearer",
    "bearertoken",
    "clientkey",
    "clientkeydata",
    "clientsecret",
    "credential",
    "credentials",
    "hmacsecret",
    "idtoken",
    "passphrase",
    "password",
    "passwd",
    "privatekey",
    "pwd",
    "refreshtoken",
    "secret",
    "secretaccesskey",
    "secretkey",
    "sessiontoken",
    "signingkey",
    "token",
    "xapikey",
    "cookie",
    "setcookie",
    "proxyauthorization",
    "xauthtoken",
    "xvaulttoken",
];
/// Keys below which every inline text and every inline byte is one.
const SECRET_SOURCES: &[&str] = &[
    "privatekey",
    "password",
    "certificatechain",
    "trustedca",
    "ocspstaple",
    "keys",
    "sessionticketkeys",
    "hmacsecret",
    "tokensecret",
    "clientsecret",
    "inlinejwks",
    "localjwks",
];
/// Sections of a dump that hold nothing else.
const SECRET_SECTION: &str = "envoy.admin.v3.SecretsConfigDump";

/// Finds secrets in texts.
pub struct Redactor {
    /// With what stands in place of what they find.
    patterns: Vec<(Regex, &'static str)>,
    /// All of them, to pass over what has none in one go.
    any: RegexSet,
}

/// What stands in place of a secret inside a text: code and URLs stay what they are around it.
const INSIDE: &str = "${1}[redacted]${2}";

/// Texts that are secrets by their form, what is to stay around them in groups: PEM blocks (also in base64), JSON Web Tokens, credentials of `Authorization`,
/// passwords in URLs, keys of clouds and forges.
const PATTERNS: &[&str] = &[
    r"-----BEGIN [A-Z0-9 ]+-----(?s:.*?)(?:-----END [A-Z0-9 ]+-----|\z)",
    r"LS0tLS1CRUdJTi[A-Za-z0-9+/=\s]*",
    r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.?[A-Za-z0-9_-]*",
    r"(?i)\b((?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{8,}",
    r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    r"\bgh[pousr]_[A-Za-z0-9]{20,}\b",
    r"\bxox[abprs]-[A-Za-z0-9-]{10,}",
    r"\bAIza[A-Za-z0-9_-]{30,}",
    r"(://)[^/\s:@]+:[^/\s@]+(@)",
    r#"(?i)(\b(?:password|passwd|secret|token|api[-_]?key)["']?\s*[:=]\s*["'])[^"'\s]{4,}(["'])"#,
];

impl Redactor {
    /// With further patterns. Fails with what is wrong with one of them.
    pub fn new(more: &[String]) -> Result<Redactor, String> {
        let own = PATTERNS.iter().map(|pattern| (*pattern, INSIDE));
        // A group in a pattern of the user's means nothing: all that it finds goes.
        let all = own.chain(more.iter().map(|pattern| (pattern.as_str(), REDACTED)));
        let patterns = all.map(|(pattern, instead)| {
            Regex::new(pattern).map(|pattern| (pattern, instead)).map_err(|error| error.to_string())
        });
        let patterns: Vec<(Regex, &str)> = patterns.collect::<Result<_, _>>()?;
        let any = RegexSet::new(patterns.iter().map(|(pattern, _)| pattern.as_str()));
        Ok(Redactor { any: any.map_err(|error| error.to_string())?, patterns })
    }

    /// The places of the texts in a document that hold secrets, in their order, and whether all of the text is one.
    pub fn places(&self, document: &Node) -> Vec<(Span, bool)> {
        fn compare(node: &Node, value: &Value, into: &mut Vec<(Span, bool)>) {
            match (&node.value, value) {
                (NodeValue::String(text), Value::String(now)) if text != now => into.push((node.span, now == REDACTED)),
                (NodeValue::List(items), Value::Array(values)) => {
                    items.iter().zip(values).for_each(|(item, value)| compare(item, value, into));
                }
                (NodeValue::Map(entries), Value::Object(map)) => {
                    let values = entries.iter().filter_map(|entry| Some((&entry.value, map.get(&entry.key)?)));
                    values.for_each(|(node, value)| compare(node, value, into));
                }
                _ => {}
            }
        }
        let mut value = document.to_json();
        let mut places = Vec::new();
        if self.redact(&mut value) > 0 {
            compare(document, &value, &mut places);
        }
        places
    }

    /// Replaces the secrets in a value; how many there were.
    pub fn redact(&self, value: &mut Value) -> usize {
        self.walk(value, false)
    }

    fn walk(&self, value: &mut Value, secret: bool) -> usize {
        match value {
            Value::String(text) => self.text(text),
            Value::Array(items) => {
                let before = items.len();
                items.retain(|item| !is_secret_section(item));
                before - items.len() + items.iter_mut().map(|item| self.walk(item, secret)).sum::<usize>()
            }
            Value::Object(map) => self.object(map, secret),
            _ => 0,
        }
    }

    fn object(&self, map: &mut Map<String, Value>, secret: bool) -> usize {
        // A header is a pair: its name says what its value is.
        let named = ["key", "name", "headerName", "header_name", "header"]
            .iter()
            .filter_map(|key| map.get(*key).and_then(Value::as_str))
            .any(|name| SECRET_KEYS.contains(&plain(name).as_str()));
        let mut found = 0;
        for (key, value) in map.iter_mut() {
            let word = plain(key);
            let inside = secret || SECRET_SOURCES.contains(&word.as_str());
            let inline = matches!(word.as_str(), "inlinestring" | "inlinebytes" | "inline");
            let header = named && matches!(word.as_str(), "value" | "rawvalue" | "stringvalue" | "exact" | "prefix");
            match value {
                Value::String(text)
                    if (SECRET_KEYS.contains(&word.as_str()) || (inside && inline) || header)
                        && !text.is_empty()
                        && !is_substitution(text) =>
                {
                    REDACTED.clone_into(text);
                    found += 1;
                }
                value => found += self.walk(value, inside),
            }
        }
        found
    }

    /// Replaces what is a secret by its form in a text; how many kinds there were.
    pub fn text(&self, text: &mut String) -> usize {
        let mut found = 0;
        if !self.any.is_match(text) {
            return found;
        }
        for (pattern, instead) in &self.patterns {
            if pattern.is_match(text) {
                *text = pattern.replace_all(text, *instead).into_owned();
                found += 1;
            }
        }
        found
    }
}

/// A key without case and separators: `x-api-key`, `apiKey` and `API_KEY` are one.
fn plain(key: &str) -> String {
    key.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// `%REQ(authorization)%` names a secret and is none.
fn is_substitution(text: &str) -> bool {
    text.starts_with('%') && text.ends_with('%') && text.len() > 2
}

fn is_secret_section(item: &Value) -> bool {
    item.get("@type").and_then(Value::as_str).is_some_and(|name| name.ends_with(SECRET_SECTION))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn secrets_go_and_everything_else_stays() {
        let mut value = json!({
            "spec": {
                "header": {"key": "Authorization", "value": "canary"},
                "harmless": {"key": "x-user", "value": "kept"},
                "from": {"key": "authorization", "value": "%REQ(authorization)%"},
                "api_key": "canary", "x-api-key": "canary", "clientSecret": "canary",
                "private_key": {"inline_string": "canary", "filename": "/etc/kept"},
                "sds": {"secret": {"name": "kept"}, "token_bucket": {"max_tokens": 10}},
                "lua": "local t = 'kept'\nlocal token = \"canary-token\"\nreturn t",
                "pem": "a\n-----BEGIN RSA PRIVATE KEY-----\ncanary\n-----END RSA PRIVATE KEY-----\nb",
                "jwt": "eyJhbGciOiJub25lIn0.canary.canary", "url": "http://user:canary@host/kept",
                "code": "h:add('authorization', 'Bearer canary-0123')",
            },
            "configs": [
                {"@type": "type.googleapis.com/envoy.admin.v3.SecretsConfigDump", "x": "canary"},
                {"@type": "type.googleapis.com/envoy.admin.v3.ClustersConfigDump", "x": "kept"},
            ],
        });
        let found = Redactor::new(&[]).unwrap().redact(&mut value);
        let text = value.to_string();
        assert!(!text.contains("canary"), "{text}");
        assert_eq!(text.matches("kept").count(), 6, "{text}");
        assert!(text.contains("%REQ(authorization)%") && text.contains("\"max_tokens\":10"), "{text}");
        assert_eq!(found, 11);
        assert!(
            text.contains("local token = \\\"[redacted]\\\"") && text.contains("http://[redacted]@host/kept"),
            "{text}"
        );
        let mut again = value.clone();
        Redactor::new(&[]).unwrap().redact(&mut again);
        assert_eq!(again, value);
    }

    #[test]
    fn further_patterns() {
        let mut value = json!({"a": "ACME-1234 and more"});
        Redactor::new(&["ACME-[0-9]+".to_owned()]).unwrap().redact(&mut value);
        assert_eq!(value, json!({"a": "[redacted] and more"}));
        assert!(Redactor::new(&["(".to_owned()]).is_err());
    }
}
