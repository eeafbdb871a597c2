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

/// The words of a key in lower case and singular: `X-API-Keys`, `xApiKey` and `x_api_key` are the same.
fn words(key: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = None;
    let mut chars = key.chars().peekable();
    while let Some(c) = chars.next() {
        if !c.is_ascii_alphanumeric() {
            before = None;
            continue;
        }
        let lower_next = chars.peek().is_some_and(char::is_ascii_lowercase);
        let is_new = |before: char| {
            // The last of several capitals begins the next word: `JWTToken`.
            c.is_ascii_uppercase()
                && (before.is_ascii_lowercase()
                    || before.is_ascii_digit()
                    || (before.is_ascii_uppercase() && lower_next))
        };
        match words.last_mut() {
            Some(word) if before.is_some_and(|before| !is_new(before)) => word.push(c.to_ascii_lowercase()),
            _ => words.push(c.to_ascii_lowercase().to_string()),
        }
        before = Some(c);
    }
    for word in &mut words {
        // `credentials`, `tokens`; not `pass`, `address`.
        if word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") {
            word.pop();
        }
    }
    words
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
    let is_public = |word: &String| matches!(word.as_str(), "public" | "pub");
    (name_ends("key") || name_ends("keys"))
        && matches!(words(name).as_slice(), [before @ .., last] if last == "key" && !before.iter().any(is_public))
}

/// What a key says about its value.
pub(super) fn hint(key: &str) -> Hint {
    if key.len() < 2 || key.len() > 200 {
        return Hint::None;
    }
    let words = words(key);
    let mut about = words.last().is_some_and(|word| ABOUT.contains(&word.as_str()));
    // `access_key_id` is half of a credential, `session_id` all of one; `token_id` is neither.
    about |=
        words.len() > 1 && words.last().is_some_and(|word| word == "id") && !words.iter().any(|it| it == "session");
    // `max_tokens`, `tokens_per_fill`: amounts.
    about |= words.len() > 1 && words.first().is_some_and(|word| AMOUNTS.contains(&word.as_str()));
    about |= words.iter().any(|word| word == "per");
    // `from_cookies`: where a token is read.
    about |= words.len() > 1 && words.first().is_some_and(|word| word == "from");
    // Kubernetes: the name of a Secret.
    about |= words.windows(2).any(|pair| pair == ["pull", "secret"]);
    // An API group or a host, such as `rbac.authorization.k8s.io`.
    about |= key.rsplit_once('.').is_some_and(|(_, last)| DOMAINS.contains(&last));
    if about {
        return Hint::None;
    }
    let single = |word: &String| {
        SECRETS.contains(&word.as_str())
            || ENDINGS.iter().any(|ending| word.ends_with(ending))
            || MISSPELLED.iter().any(|secret| one_letter_apart(word, secret))
    };
    let pair = |pair: &[String]| match pair {
        [one, two] => PAIRS.contains(&(one.as_str(), two.as_str())),
        _ => false,
    };
    // `DB_PASS`, but not `pass` alone, `proxy_pass`.
    let pass = matches!(words.as_slice(), [.., before, last] if last == "pass" && !PASSES.contains(&before.as_str()));
    if pass || words.iter().any(single) || words.windows(2).any(pair) {
        return Hint::Secret;
    }
    let owned = |before: &String| OWNERS.contains(&before.as_str()) || words.first().is_some_and(|first| first == "x");
    match words.as_slice() {
        [.., last] if last == "pin" => Hint::Digits,
        [.., before, last] if last == "pass" && PASSES.contains(&before.as_str()) => Hint::None,
        [.., last] if MIXED.contains(&last.as_str()) => Hint::Mixed,
        [.., last] if RANDOM.contains(&last.as_str()) => Hint::Random,
        [.., before, last] if last == "key" && owned(before) => Hint::Random,
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
