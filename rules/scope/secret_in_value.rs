//! EF513: a key, password or token written into a value.

use crate::declare_rule;
use crate::lint::{Context, Findings, RuleInfo, lua_use, walk};
use crate::lua;
use crate::model::redact;
use crate::source::{Severity, Step};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use regex::Regex;
use std::sync::LazyLock;

declare_rule! {
    /// A private key, password or token in a value.
    ///
    /// # What it finds
    /// PEM private keys, inline text where Envoy expects a private key, password or secret, `Basic` and `Bearer`
    /// credentials, keys and tokens with a known form (`AKIA…`, `ghp_…`, `xoxb-…`, signed JSON Web Tokens), and the values
    /// of headers and variables such as `x-api-key`, also in Lua scripts; as a warning, the `users` of Basic authentication.
    /// The finding never prints the secret. Template markers and filler words such as `changeme` are not reported.
    ///
    /// # Why it matters
    /// Everyone who can read the namespace can read its EnvoyFilters; they are kept in Git, and appear in config dumps.
    ///
    /// # How to fix
    /// Mount a Secret and use `filename:`, or let Envoy fetch it over SDS (`sds_config`).
    ///
    /// # References
    /// Envoy `config.core.v3.DataSource`, `extensions.transport_sockets.tls.v3.SdsSecretConfig`.
    "EF513" "secret-in-value" Scope Error => check
}

const SECRET_FIELDS: &[&str] = &[
    "private_key",
    "password",
    "auth_password",
    "generic_secret",
    "token_secret",
    "hmac_secret",
    "client_secret",
    "hmac",
    "session_ticket_keys",
];

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for view in cx.patches() {
        let Some(value) = view.patch.body.as_ref().and_then(|body| body.value.as_ref()) else { continue };
        // A header with a credential is found as such, and again by the form of its value.
        let mut reported: Vec<Vec<Step>> = Vec::new();
        walk::fields(value, &mut |field| {
            let found = match field.node.as_str() {
                Some(text) => secret(field, text).map(|what| (what, field.route())),
                None => of_header(field).map(|route| (Secret::Credential, route)),
            };
            let script = || field.node.as_str().is_some_and(|text| in_script(field, text));
            let (what, route, scripted) = match found {
                Some((what, route)) => (what, route, false),
                None if script() => (Secret::Credential, field.route(), true),
                None => return,
            };
            if reported.contains(&route) {
                return;
            }
            reported.push(route.clone());
            let place = if scripted { "script" } else { "value" };
            let (severity, note) = match what {
                Secret::Hashes => {
                    (Severity::Warning, "SHA-1 without a salt: whoever reads it finds weak passwords by trying")
                }
                _ => (Severity::Error, "rotate the secret: everyone who could read it may still know it"),
            };
            out.push(
                view.finding(rule, view.value_route_span(&route), format!("{} is in this {place}", what.name()))
                    .secret()
                    .label("visible to everyone who can read the EnvoyFilter")
                    .severity(severity)
                    .note(note)
                    .help(if scripted {
                        "remove it from the script: `envoy.filters.http.credential_injector` adds such a header and reads it from a file or over SDS"
                    } else if field.is("inline_string") || field.is("inline_bytes") {
                        "filename: /etc/secrets/<key> # from a mounted Secret, or an sds_config"
                    } else if what == Secret::Credential {
                        "remove it: `envoy.filters.http.credential_injector` adds such a header and reads it from a file or over SDS"
                    } else {
                        "remove it, and read it from a mounted Secret where it is needed"
                    }),
            );
        });
    }
}

/// What was found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Secret {
    PrivateKey,
    /// The content of a field for secrets.
    Content,
    /// What an `authorization` header has.
    Credential,
    /// A text with the form of a known kind of token.
    Token,
    /// What Basic authentication compares passwords with.
    Hashes,
}

impl Secret {
    const fn name(self) -> &'static str {
        match self {
            Secret::PrivateKey => "a private key",
            Secret::Content => "a secret",
            Secret::Credential => "a credential",
            Secret::Token => "a key or token",
            Secret::Hashes => "a list of password hashes",
        }
    }
}

fn secret(field: &walk::Field<'_, '_>, text: &str) -> Option<Secret> {
    if text.len() > 120 && text.contains("-----BEGIN ") && text.contains("PRIVATE KEY-----") {
        return Some(Secret::PrivateKey);
    }
    looks_secret(field, text).filter(|_| !filled_in_later(text))
}

/// Whether an inline Lua script contains a credential: as its own text, or with a name that identifies it.
fn in_script(field: &walk::Field<'_, '_>, text: &str) -> bool {
    let lua = field.message.ends_with(".lua.v3.Lua") || field.message.ends_with(".lua.v3.LuaPerRoute");
    if !lua || !(field.is("inline_string") || field.is("inline_code")) {
        return false;
    }
    let Ok(chunk) = lua::parse(text) else { return false };
    let found = chunk.strings.iter().any(|text| looks_secret(field, text).is_some() && !filled_in_later(text));
    let given = || lua_use::read(text).texts;
    found || given().iter().any(|(name, text)| is_credential(name, text))
}

/// A header with a constant credential that is added to messages, or that requests are compared with: the route to it.
fn of_header(field: &walk::Field<'_, '_>) -> Option<Vec<Step>> {
    let texts = |path: &[&str]| {
        let mut node = field.node;
        for part in path {
            node = walk::get(node, part)?;
        }
        node.as_str()
    };
    let added: (_, &[&[&str]]) = ("key", &[&["value"]]);
    let compared: (_, &[&[&str]]) = ("name", &[&["string_match", "exact"], &["exact_match"]]);
    for (name, values) in [added, compared] {
        let Some(name) = texts(&[name]) else { continue };
        let given = |path: &&&[&str]| texts(path).is_some_and(|text| is_credential(name, text));
        if let Some(path) = values.iter().find(given) {
            return Some(field.route().into_iter().chain(path.iter().map(|part| Step::from(*part))).collect());
        }
    }
    None
}

/// Whether a text is a credential by the name of its variable or header, and looks like one.
fn is_credential(name: &str, text: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('-', "_");
    let words = ["password", "passwd", "secret", "apikey", "api_key", "token", "authorization"];
    let good = |c: char| c.is_ascii_alphanumeric() || "+/=._-~!@#$".contains(c);
    words.iter().any(|word| name.ends_with(word))
        && text.len() >= 10
        && text.chars().all(good)
        && text.chars().any(|c| c.is_ascii_digit())
        && !filled_in_later(text)
}

fn looks_secret(field: &walk::Field<'_, '_>, text: &str) -> Option<Secret> {
    let inline = field.is("inline_string") || field.is("inline_bytes");
    if inline && SECRET_FIELDS.iter().any(|name| field.inside(name)) && text.trim().len() >= 6 {
        return Some(Secret::Content);
    }
    if inline && field.inside("users") && text.contains(":{SHA}") {
        return Some(Secret::Hashes);
    }
    let credentials = ["Basic ", "Bearer "].iter().find_map(|scheme| text.strip_prefix(scheme));
    let opaque = |text: &str| {
        text.len() >= 12
            && text.chars().all(|c| c.is_ascii_alphanumeric() || "+/=._-~".contains(c))
            && text.chars().any(|c| c.is_ascii_digit())
    };
    if credentials.is_some_and(opaque) || text.strip_prefix("Basic ").is_some_and(is_user_and_password) {
        return Some(Secret::Credential);
    }
    redact::tokens(text).any(|token| !filled_in_later(token)).then_some(Secret::Token)
}

/// Whether a text is a name and a password as encoded for Basic authentication.
fn is_user_and_password(text: &str) -> bool {
    let decoded = STANDARD.decode(text.trim()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    decoded.is_some_and(|pair| {
        pair.split_once(':')
            .is_some_and(|(user, password)| !user.is_empty() && !password.is_empty() && !filled_in_later(&pair))
    })
}

/// What a text has in place of a secret: template markers, and words.
static FILLED_IN_LATER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let marks = r"\{\{|\$\{|<|%|x{3}|\*{3}|\.{3}";
    let words = "change-?me|example|your|replace|todo|place-?holder|dummy";
    Regex::new(&format!("(?i){marks}|{words}")).ok()
});

/// Whether a text only says where a secret goes.
fn filled_in_later(text: &str) -> bool {
    FILLED_IN_LATER.as_ref().is_some_and(|known| known.is_match(text))
}
