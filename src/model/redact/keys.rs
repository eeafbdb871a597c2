//! Decides which names indicate a secret, and which only refer to one.

/// What a key says about its value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Hint {
    /// Nothing.
    #[default]
    None,
    /// It is a secret if it is nothing but random letters and digits: `valid_keys`. Only for names in code.
    Generated,
    /// It is a secret if it looks generated: `signature`, `x-tenant-key`.
    Random,
    /// It is a secret if it has a letter and a digit and is no name of an algorithm: `pass`, `salt`.
    Mixed,
    /// The same, or digits alone: `pin`.
    Digits,
    /// It is a secret.
    Secret,
}

/// Words that indicate a secret.
const SECRETS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "secret",
    "token",
    "credential",
    "authorization",
    "bearer",
    "cookie",
    "cred",
    "psk",
    "otp",
    "totp",
    "mnemonic",
    "userpass",
    "dbpass",
    "privkey",
    "passkey",
];
/// Last words of names that may hold a secret, depending on the value.
const MIXED: &[&str] = &["pass", "pw", "salt", "hmac"];
const RANDOM: &[&str] =
    &["jwt", "private", "auth", "sig", "signature", "nonce", "seed", "sid", "session", "ticket", "license", "dsn"];
/// Words before `key` that make it the key of somebody, so that its value may be a secret.
const OWNERS: &[&str] = &[
    "admin", "backend", "cipher", "crypto", "customer", "gateway", "internal", "kms", "login", "org", "partner",
    "project", "proxy", "root", "security", "service", "team", "tenant", "upstream", "user", "webhook",
];
/// Words that are also found with one letter wrong: rules report the misspelled keys themselves.
const MISSPELLED: &[&str] = &["password", "passphrase", "credential", "authorization"];
/// Last labels of API groups and hosts: a name that ends with one names no value.
const DOMAINS: &[&str] = &["io", "com", "dev", "net", "org", "local"];
/// Pairs of words that indicate a secret.
const PAIRS: &[(&str, &str)] = &[
    ("private", "key"),
    ("api", "key"),
    ("app", "key"),
    ("access", "key"),
    ("auth", "key"),
    ("signing", "key"),
    ("signature", "key"),
    ("encryption", "key"),
    ("hmac", "key"),
    ("master", "key"),
    ("shared", "key"),
    ("account", "key"),
    ("client", "key"),
    ("session", "key"),
    ("ticket", "key"),
    ("ssh", "key"),
    ("license", "key"),
    ("application", "key"),
    ("decryption", "key"),
    ("subscription", "key"),
    ("function", "key"),
    ("consumer", "key"),
    ("rapidapi", "key"),
    ("tls", "key"),
    ("ssl", "key"),
    ("rsa", "key"),
    ("aes", "key"),
    ("server", "key"),
    ("deploy", "key"),
    ("storage", "key"),
    ("pgp", "key"),
    ("gpg", "key"),
    ("unseal", "key"),
    ("recovery", "key"),
    ("recovery", "code"),
    ("json", "key"),
    ("pin", "code"),
    ("unlock", "code"),
    ("activation", "code"),
    ("priv", "key"),
    ("private", "pem"),
    ("key", "pem"),
    ("key", "material"),
    ("seed", "phrase"),
    ("session", "id"),
    ("pass", "word"),
    ("pass", "phrase"),
    ("basic", "auth"),
    ("connection", "string"),
];
/// Endings of words written in one piece: `dbpassword`, `XAPIKEY`.
const ENDINGS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "credential",
    "apikey",
    "accesskey",
    "privatekey",
    "secretkey",
    "signingkey",
    "authkey",
    "hmackey",
    "sessionid",
    "sessid",
];
/// Last words of a name that refers to a secret but does not hold it: `token_bucket`, `credentialName`.
const ABOUT: &[&str] = &[
    "name",
    "file",
    "filename",
    "path",
    "dir",
    "directory",
    "volume",
    "mount",
    "url",
    "uri",
    "endpoint",
    "host",
    "domain",
    "type",
    "kind",
    "bucket",
    "ttl",
    "age",
    "size",
    "length",
    "count",
    "max",
    "min",
    "limit",
    "per",
    "fill",
    "rate",
    "interval",
    "timeout",
    "provider",
    "ref",
    "reference",
    "policy",
    "header",
    "prefix",
    "suffix",
    "format",
    "mode",
    "cluster",
    "issuer",
    "audience",
    "location",
    "namespace",
    "version",
    "expiry",
    "expiration",
    "expires",
    "enabled",
    "lifetime",
    "algorithm",
    "matcher",
    "match",
    "config",
    "configuration",
    "duration",
    "param",
    "parameter",
    "field",
    "source",
    "store",
    "option",
    "setting",
    "spec",
    "status",
    "required",
    "validation",
    "rotation",
    "exchange",
    "introspection",
    "scope",
    "claim",
    "class",
    "attribute",
    "env",
    "var",
    "variable",
    "service",
    "manager",
    "server",
    "response",
    "request",
    "method",
    "strategy",
    "sha",
    "checksum",
    "flow",
    "samesite",
    "position",
];

/// Words before `pass` that make it another word.
const PASSES: &[&str] =
    &["proxy", "first", "second", "single", "one", "two", "multi", "last", "by", "full", "dry", "let"];

/// First words of a name that counts or limits secrets.
const AMOUNTS: &[&str] = &["max", "min", "num", "number", "count", "total", "initial"];

/// The words of a key in lower case, with spaces between: `X-API-Keys`, `xApiKeys` and `x_api_keys` are the same.
fn spaced(key: &str) -> String {
    let mut spaced = String::with_capacity(key.len() + 8);
    let mut before: Option<u8> = None;
    let bytes = key.as_bytes();
    for (at, &byte) in bytes.iter().enumerate() {
        if !byte.is_ascii_alphanumeric() {
            before = None;
            continue;
        }
        let lower_next = bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
        let is_new = before.is_none_or(|before| {
            // The last of several capitals begins the next word: `JWTToken`.
            byte.is_ascii_uppercase()
                && (before.is_ascii_lowercase()
                    || before.is_ascii_digit()
                    || (before.is_ascii_uppercase() && lower_next))
        });
        if is_new && !spaced.is_empty() {
            spaced.push(' ');
        }
        spaced.push(char::from(byte.to_ascii_lowercase()));
        before = Some(byte);
    }
    spaced
}

/// These words, in the singular: `credentials`, `tokens`; not `pass`, `address`.
fn words(spaced: &str) -> Vec<&str> {
    let singular = |word| match str::strip_suffix(word, 's') {
        Some(one) if one.len() > 2 && !one.ends_with('s') => one,
        _ => word,
    };
    spaced.split_ascii_whitespace().map(singular).collect()
}

/// Whether at most one letter is wrong, missing, too many, or swapped with its neighbor. The words are ASCII.
///
/// Every key of every dump is compared: a general edit distance was a tenth of the time of a capture.
fn one_letter_apart(word: &str, wanted: &str) -> bool {
    let (word, wanted) = (word.as_bytes(), wanted.as_bytes());
    if word.len().abs_diff(wanted.len()) > 1 {
        return false;
    }
    let start = word.iter().zip(wanted).take_while(|(one, other)| one == other).count();
    let (word, wanted) = (&word[start..], &wanted[start..]);
    let end = word.iter().rev().zip(wanted.iter().rev()).take_while(|(one, other)| one == other).count();
    match (&word[..word.len() - end], &wanted[..wanted.len() - end]) {
        ([] | [_], [] | [_]) => true,
        ([a, b], [c, d]) => a == d && b == c,
        _ => false,
    }
}

/// Whether a name is that of keys of any kind, as of `valid_keys` or of a variable `key`: some identify a caller, most an entry
/// of a table.
pub(super) fn is_of_keys(name: &str) -> bool {
    // Most words of a text are not, and are not taken apart.
    let name_ends = |with: &str| {
        let end = name.len().checked_sub(with.len()).and_then(|at| name.get(at..));
        end.is_some_and(|end| end.eq_ignore_ascii_case(with))
    };
    let is_public = |word: &&str| matches!(*word, "public" | "pub");
    (name_ends("key") || name_ends("keys"))
        && matches!(words(&spaced(name)).as_slice(), [before @ .., "key"] if !before.iter().any(is_public))
}

/// What a key says about its value.
pub(super) fn hint(key: &str) -> Hint {
    if key.len() < 2 || key.len() > 200 {
        return Hint::None;
    }
    let spaced = spaced(key);
    let words = words(&spaced);
    let (first, last) = (words.first().copied().unwrap_or_default(), words.last().copied().unwrap_or_default());
    let mut about = ABOUT.contains(&last);
    // `access_key_id` is half of a credential, `session_id` all of one; `token_id` is neither.
    about |= words.len() > 1 && last == "id" && !words.contains(&"session");
    // `max_tokens`, `tokens_per_fill`: amounts.
    about |= words.len() > 1 && AMOUNTS.contains(&first);
    about |= words.contains(&"per");
    // `from_cookies`: where a token is read.
    about |= words.len() > 1 && first == "from";
    // Kubernetes: the name of a Secret.
    about |= words.windows(2).any(|pair| pair == ["pull", "secret"]);
    // An API group or a host, such as `rbac.authorization.k8s.io`.
    about |= key.rsplit_once('.').is_some_and(|(_, last)| DOMAINS.contains(&last));
    if about {
        return Hint::None;
    }
    let single = |word: &str| {
        SECRETS.contains(&word)
            || ENDINGS.iter().any(|ending| word.ends_with(ending))
            || MISSPELLED.iter().any(|secret| one_letter_apart(word, secret))
    };
    let pair = |pair: &[&str]| matches!(*pair, [one, two] if PAIRS.contains(&(one, two)));
    // `DB_PASS`, but not `pass` alone, `proxy_pass`.
    let pass = matches!(*words.as_slice(), [.., before, "pass"] if !PASSES.contains(&before));
    if pass || words.iter().any(|word| single(word)) || words.windows(2).any(pair) {
        return Hint::Secret;
    }
    match *words.as_slice() {
        [.., "pin"] => Hint::Digits,
        [.., before, "pass"] if PASSES.contains(&before) => Hint::None,
        [.., last] if MIXED.contains(&last) => Hint::Mixed,
        [.., last] if RANDOM.contains(&last) => Hint::Random,
        [.., before, "key"] if OWNERS.contains(&before) || first == "x" => Hint::Random,
        _ => Hint::None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Hint, MISSPELLED, hint, one_letter_apart};

    #[test]
    fn one_letter_apart_is_an_edit_distance_of_one() {
        let mut compared = 0;
        for wanted in MISSPELLED {
            let letters: Vec<char> = wanted.chars().collect();
            let count = letters.len();
            let mut words: Vec<String> = vec![String::new(), (*wanted).to_owned(), "envoyfilter".to_owned()];
            for at in 0..count {
                let with = |change: &dyn Fn(&mut Vec<char>)| {
                    let mut letters = letters.clone();
                    change(&mut letters);
                    letters.into_iter().collect::<String>()
                };
                words.push(with(&|letters| {
                    letters.remove(at);
                }));
                words.push(with(&|letters| letters.insert(at, 's')));
                words.push(with(&|letters| letters[at] = 'o'));
                words.push(with(&|letters| letters.swap(at, (at + 1) % count)));
                words.push(with(&|letters| letters.swap(at, (at + 2) % count)));
            }
            for word in words {
                let near = strsim::damerau_levenshtein(&word, wanted) <= 1;
                assert_eq!(one_letter_apart(&word, wanted), near, "{word} {wanted}");
                compared += usize::from(near);
            }
        }
        assert!(compared > 100, "{compared}");
    }

    fn is_secret(key: &str) -> bool {
        hint(key) == Hint::Secret
    }

    #[test]
    fn names_whose_values_decide() {
        for (key, want) in [
            ("pass", Hint::Mixed),
            ("pw", Hint::Mixed),
            ("passwordSalt", Hint::Secret),
            ("salt", Hint::Mixed),
            ("HMAC", Hint::Mixed),
            ("user_pin", Hint::Digits),
            ("pin", Hint::Digits),
            ("jwt", Hint::Random),
            ("private", Hint::Random),
            ("x-hub-signature", Hint::Random),
            ("x-auth", Hint::Random),
            ("x-shop-key", Hint::Random),
            ("adminKey", Hint::Random),
            ("sid", Hint::Random),
            ("proxy_pass", Hint::None),
            ("spin", Hint::None),
            ("mapping", Hint::None),
            ("jwt_authn", Hint::None),
            ("hmac_algorithm", Hint::None),
            ("cache_key", Hint::None),
            ("routing-key", Hint::None),
            ("x-request-id", Hint::None),
            ("private_network", Hint::None),
            ("author", Hint::None),
            ("design", Hint::None),
        ] {
            assert_eq!(hint(key), want, "{key}");
        }
    }

    #[test]
    fn names_of_secrets_in_any_spelling() {
        for key in [
            "password",
            "PASSWORD",
            "db_password",
            "dbPassword",
            "dbpassword",
            "DB-PASSWD",
            "pwd",
            "redis.pwd",
            "passphrase",
            "secret",
            "client_secret",
            "clientSecret",
            "CLIENTSECRET",
            "token",
            "access-token",
            "JWTToken",
            "apiToken",
            "idtoken",
            "credential",
            "aws_credentials",
            "private_key",
            "privateKey",
            "PRIVATEKEY",
            "api-key",
            "apiKey",
            "API_KEY",
            "APIKEY",
            "x-api-key",
            "X_Api_Keys",
            "authorization",
            "proxy-authorization",
            "cookie",
            "set-cookie",
            "Set-Cookie",
            "x-auth-token",
            "x-vault-token",
            "session_id",
            "sessionKey",
            "signing-key",
            "aws_secret_access_key",
            "hmac_secret",
            "passwords",
            "auth_key",
            "basic_auth",
            "connectionString",
            "x-goog-api-key",
            "x-amz-security-token",
            "bearer",
            "master key",
            "DB_PASS",
            "smtpPass",
            "creds",
            "aws_creds",
            "wpa_psk",
            "totp_otp",
            "mnemonic",
            "tls_key",
            "sslKey",
            "Ocp-Apim-Subscription-Key",
            "x-functions-key",
            "x-rapidapi-key",
            "DD_APPLICATION_KEY",
            "consumer_key",
            "deployKey",
            "unseal_keys",
            "recovery_code",
            "json_key",
            "JSESSIONID",
            "PHPSESSID",
            // Misspelled.
            "pasword",
            "passwrod",
            "db_pasword",
            "credental",
            "authorisation",
        ] {
            assert!(is_secret(key), "{key}");
        }
    }

    #[test]
    fn names_that_only_talk_about_secrets() {
        for key in [
            "token_bucket",
            "tokenBucket",
            "max_tokens",
            "tokens_per_fill",
            "secret_name",
            "secretName",
            "credentialName",
            "credential_name",
            "cookie_name",
            "cookie_ttl",
            "private_key_provider",
            "password_filename",
            "token_url",
            "token_endpoint",
            "tokenType",
            "authorization_endpoint",
            "authorization_policy",
            "key",
            "keys",
            "name",
            "monkey",
            "keyboard",
            "author",
            "authority",
            "secretary",
            "tokenizer",
            "cookies_enabled",
            "path",
            "pass_through",
            "proxy_pass",
            "first_pass",
            "credit",
            "tls_key_file",
            "server_key_exchange",
            "twilio_sid",
            "compass",
            "public_key",
            "primary_key",
            "key_id",
            "client_id",
            "x-request-id",
            "user",
            "stat_prefix",
            "address",
            "access_log",
            "access_key_id",
            "token_id",
            "imagePullSecret",
            "imagePullSecrets",
            "json_web_tokens_path",
            "cookie_domain",
            "from_cookies",
        ] {
            assert!(!is_secret(key), "{key}");
        }
    }
}
