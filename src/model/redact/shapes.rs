//! Secrets recognized by their form: keys of clouds and forges, tokens, PEM, credentials in URLs, and assignments in code,
//! YAML, JSON and environment files inside a text.

use super::{REDACTED, keys};
use regex::Regex;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

/// Forms of secrets.
const FORMS: &[&str] = &[
    // PEM in base64.
    r"LS0tLS1CRUdJTi[A-Za-z0-9+/=]*",
    // Keys in DER without the lines around PEM: PKCS #8 and #1, elliptic curves, Ed25519.
    r"\bMII[A-Za-z0-9+/]{2,6}IBADANBgkqhkiG9w0BAQEFAASC[A-Za-z0-9+/=]+",
    r"\b(?:MII[A-Za-z0-9+/]{3}IBAAKC|MHcCAQEE|MC4CAQAwBQYDK2VwBCIE|MIGHAgEAMBMGByqGSM49)[A-Za-z0-9+/=]{30,}",
    // The second part of an encrypted token is empty.
    r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]*)*",
    r"\beyJrIjoi[A-Za-z0-9_+/=-]{16,}",
    r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b",
    r"\bgh[pousr]_[A-Za-z0-9]{20,}",
    r"\bgithub_pat_[A-Za-z0-9_]{20,}",
    r"\bgl(?:pat|dt|rt|ptt|soat|imt|agent|oas|ffct|cbt|ft)-[A-Za-z0-9_-]{16,}",
    r"\b[sr]k_(?:live|test)_[A-Za-z0-9]{8,}",
    r"\bwhsec_[A-Za-z0-9+/=]{16,}",
    r"\bxox[abeprs]-[A-Za-z0-9-]{8,}",
    r"\bxapp-[0-9]-[A-Za-z0-9-]{8,}",
    r"\bAIza[A-Za-z0-9_-]{30,}",
    r"\bya29\.[A-Za-z0-9_-]{16,}",
    r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    r"\bhv[sb]\.[A-Za-z0-9_-]{16,}",
    r"\bnpm_[A-Za-z0-9]{30,}",
    r"\bpypi-[A-Za-z0-9_-]{30,}",
    r"\bdckr_pat_[A-Za-z0-9_-]{16,}",
    r"\bhf_[A-Za-z0-9]{30,}",
    r"\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",
    r"\bAGE-SECRET-KEY-1[A-Z0-9]{40,}",
    r"\bGOCSPX-[A-Za-z0-9_-]{20,}",
    r"\b1//0[A-Za-z0-9_-]{40,}",
    r"\bdo[opr]_v1_[a-f0-9]{40,}",
    r"\bkey-[a-f0-9]{32}\b",
    r"\bSK[a-f0-9]{32}\b",
    r"\bNRAK-[A-Z0-9]{20,}",
    r"\blin_api_[A-Za-z0-9]{30,}",
    r"\bATATT3[A-Za-z0-9_=-]{40,}",
    r"\bgl(?:sa|c)_[A-Za-z0-9_=+/-]{24,}",
    r"\bdp\.(?:pt|st|sa|ct)\.[A-Za-z0-9_.-]{30,}",
    r"\bPMAK-[A-Za-z0-9-]{40,}",
    r"\brubygems_[a-f0-9]{40,}",
    r"\bsntry[su]_[A-Za-z0-9_=+/-]{30,}",
    r"\bxkeysib-[A-Za-z0-9-]{40,}",
    r"\bEAACEdEose0cBA[A-Za-z0-9]+",
    r"\bsq0(?:csp|atp)-[A-Za-z0-9_-]{20,}",
    r"\bshippo_(?:live|test)_[A-Za-z0-9]{30,}",
    r"\bops_eyJ[A-Za-z0-9_-]{40,}",
    r"\btskey-[a-z]+-[A-Za-z0-9-]{16,}",
    r"\bpscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{30,}",
    r"\bpul-[a-f0-9]{40}\b",
];
/// Forms of texts that contain a secret: the group `s`, or the group `d` if it looks random.
const AROUND: &[&str] = &[
    r"Private-Lines: \d+\s+(?P<s>[A-Za-z0-9+/=\s]{16,})",
    r"---- BEGIN SSH2 [A-Z ]*PRIVATE KEY ----\s+(?P<s>[^-]{16,})",
    r"(?i)\b(?:bearer|basic)(?:\s|%20|\+)+(?P<s>[A-Za-z0-9._~+/=-]{8,})",
    r#"(?i)\b(?:bearer|basic)\s*\\*["']\s*(?:\.\.|\+)\s*\\*["'](?P<s>[^"'\\]{4,})"#,
    r"\b(?P<d>sk-[A-Za-z0-9_-]{32,})",
    r"https://hooks\.slack\.com/[a-z]+/(?P<s>[A-Za-z0-9_/-]{16,})",
    r"https://[a-z.]*discord(?:app)?\.com/api/webhooks/(?P<s>[A-Za-z0-9_/-]{16,})",
    // Schemes of the header other than Basic and Bearer.
    r#"(?i)\bauthorization["']?:[ \t]*(?:token|apikey|api-key|negotiate|ntlm|digest|hawk|oauth|dpop|aws4-hmac-sha256)[ \t]+(?P<s>[^\n\\]{8,})"#,
    r#"(?i)\bcookie["']?:[ \t]*["']?(?P<s>[A-Za-z0-9_.-]{1,80}=[^\s"'\\]{4,}[^\n"'\\]*)"#,
    r#"\bcurl\b[^\n|]*?\s(?:-u|--user)[ =]?["']?[^\s:"'\\]+:(?P<s>[^\s"'\\]{3,})"#,
    r#"(?i)--(?:[a-z0-9]+-)*(?:password|passwd|pass|token|secret|api-?key|access-key|secret-key)[ =]["']?(?P<d>[^\s"'\\]{6,})"#,
    r"(?i)\blogin\s+\S+\s+password\s+(?P<s>\S{4,})",
    r"(?i)<[a-z:._-]*(?:password|passwd|secret|token|api-?key)>(?P<s>[^<\s]{4,})<",
    // Docker and npm.
    r#"\b_?auth\\*["']?\s*[:=]\s*\\*["'](?P<d>[A-Za-z0-9+/]{12,}={0,2})"#,
    // A token in place of a user: https://TOKEN@host
    r"://(?P<d>[A-Za-z0-9_-]{20,})@",
    // redis://user:pw@host, amqp://:pw@host
    r#"://[^/\s:@"'\\]*:(?P<s>[^/\s@"'\\]+)@"#,
    r#"(?i)[?&;#](?:access_token|api_?key|token|password|secret|sig|signature)=(?P<s>[^&\s"'\\#]{4,})"#,
    r#"(?i)\bx-(?:amz|goog)-(?:signature|credential|security-token)=(?P<s>[^&\s"'\\#]{4,})"#,
    r#"\bresponse=\\*"(?P<d>[A-Za-z0-9]{16,})"#,
    r"(?i)[?&;#](?:key|code|auth|session|sid|jwt|assertion|ticket)=(?P<d>[A-Za-z0-9_.~+/=-]{20,})",
];

/// The text between a name that indicates a secret and the quotes around it: `"k": "v"`, `k = 'v'`, `h["k"] = "v"`, `add("k",
/// "v")`, `k = [[v]]` of Lua, `k: !!str "v"` of YAML. Quotes may be escaped: the text may be JSON inside a
/// string.
const QUOTE: &str = r#"^\\*["']?\s*\]?\s*(?::=|=>?|:|,)\s*(?:[!&][^\s"'\\]*\s+)*(?P<s>\\{0,7}["'`]|\[=*\[)"#;
/// The text between two parts of a concatenation: `"a" .. "b"`, `"a" .. name .. "b"`.
const NEXT: &str = r#"^\\*["'`]\s*(?:\.\.|\+)\s*(?:[A-Za-z_][\w.:]*\s*(?:\.\.|\+)\s*)?(?P<s>\\{0,7}["'`])"#;
/// A variable as the value: `add("k", v)`.
const VARIABLE: &str = r#"^["']\s*,\s*(?P<s>[A-Za-z_]\w*)\s*\)"#;
/// `k: v` of YAML, to the end of the line.
const PLAIN: &str = r#"^\\*["']?:[ \t]+(?:[!&][^\s"'\\]*[ \t]+)*(?P<s>[^\s"'\\{}\[\],|>&*#(!][^\s"'\\,{}]{2,})[ \t]*(?:$|[\n#,}"']|\\n)"#;
/// The same with spaces in the value.
const WORDS: &str = r#"^["']?:[ \t]+(?P<s>[^\s"'\\{}\[\],|>&*#!][^\n"\\]{2,})(?:$|\n)"#;
/// `k:` of YAML with its value on the lines below.
const BELOW: &str = r#"^["']?:[ \t]*(?:[!&][^\s"'\\]*[ \t]*)*(?P<s>[|>][0-9+-]{0,2})?[ \t]*(?:#[^\n]*)?\n"#;
/// `K=v` of environment files and connection strings, `K = v` of INI files.
const SET: &str = r#"^(?:=|[ \t]+=[ \t]+)(?P<s>[^\s"'\\$(){}\[\],;&=][^\s"'\\(){}\[\],;&]{3,})"#;
/// The value after a name that is itself a value: `{"name": "x-api-key", "value": "…"}`, and `value: …` below `key: x-api-key`.
const BESIDE: &str = r#"(?i)^\\*["']?(?:\s|\\n|,|--|[#]|//)*\\*["']?(?:raw_?)?value\\*["']?\s*[:=]\s*\\*["']?(?P<s>[^\s"'\\{},][^"'\\{},\n]{2,})"#;

/// Substrings, one of which occurs in every text or key that is or indicates a secret; the other patterns run only on texts
/// that contain one. Without `\b`: Unicode word boundaries have no automaton, and every printed line is searched.
const HINTS: &[&str] = &[
    r"(?i)pass(?:word|wd|code|[-_. ]?phrase)|[-_. ]pass|pwd|secret|token|cred|authorization|bearer|basic|cookie|jwks|users|kty|psk|otp|mnemonic",
    r"(?i)(?:private|api|app|application|access|auth|signing|signature|encryption|decryption|hmac|master|shared|account|client|session|ticket|ssh|license|subscription|functions?|consumer|tls|ssl|rsa|aes|server|deploy|storage|pgp|gpg|unseal|recovery|json)[-_. ]?key",
    r"github_pat_|(?i)sess(?:ion)?[-_. ]?id|pass[-_. ]word|connection[-_. ]?string|certificate|trusted_?ca|ocsp|inline|sig=|signature=|recovery[-_. ]?code|seed[-_. ]?phrase|pin[-_. ]?code",
    r"(?-i)[a-z]Pass|-----BEGIN|LS0tLS1|eyJ|A(?:KIA|SIA|BIA|CCA)|gh[pousr]_|gl(?:pat|dt|rt|ptt|soat|imt|agent|oas|ffct|cbt|ft)-|[sr]k_(?:live|test)_|xox|xapp-|AIza|ya29\.|SG\.",
    r"hv[sb]\.|npm_|pypi-|dckr_|hf_|shp(?:at|ca|pa|ss)_|AGE-SECRET|://[^/\s]*@|GOCSPX-|1//0|sk-|do[opr]_v1_|key-[a-f0-9]{32}|SK[a-f0-9]{32}|NRAK-|lin_api_|ATATT3|glsa_|glc_|dp\.(?:pt|st|sa|ct)\.|PMAK-",
    r"rubygems_|sntry[su]_|xkeysib-|EAACEd|sq0(?:csp|atp)-|shippo_|ops_eyJ|tskey-|pscale_|pul-[a-f0-9]|hooks\.slack|/webhooks/|curl |_auth[ =:]|['\x22]auth['\x22\\]|[?&;#](?:key|code|auth|session|sid|jwt|assertion|ticket)=",
    r"BAQEFAASC|IBAAKC|MHcCAQEE|MC4CAQAw|MIGHAgEA|Private-Lines|BEGIN SSH2",
];

static HINT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let groups: Vec<String> = HINTS.iter().map(|hint| format!("(?:{hint})")).collect();
    Regex::new(&groups.join("|")).ok()
});

/// All forms at once.
static FORM: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(&FORMS.join("|")).ok());
static SURROUNDED: LazyLock<Vec<Regex>> =
    LazyLock::new(|| AROUND.iter().filter_map(|it| Regex::new(it).ok()).collect());
/// What follows a name.
struct Follows {
    beside: Regex,
    quote: Regex,
    next: Regex,
    variable: Regex,
    plain: Regex,
    words: Regex,
    below: Regex,
    set: Regex,
}

static FOLLOWS: LazyLock<Option<Follows>> = LazyLock::new(|| {
    Some(Follows {
        beside: Regex::new(BESIDE).ok()?,
        quote: Regex::new(QUOTE).ok()?,
        next: Regex::new(NEXT).ok()?,
        variable: Regex::new(VARIABLE).ok()?,
        plain: Regex::new(PLAIN).ok()?,
        words: Regex::new(WORDS).ok()?,
        below: Regex::new(BELOW).ok()?,
        set: Regex::new(SET).ok()?,
    })
});

/// A text in quotes, and an assignment to a variable, on one line of code.
static LITERAL: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r#"["'](?P<s>[^"'\\\s]{4,})["']"#).ok());
static ASSIGN: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?P<k>[A-Za-z_]\w*)[ \t]*=[ \t]*(?P<s>[^=\s][^\n]*)").ok());
/// Private members of a JSON Web Key (RFC 7518) in a text.
static JWK: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"\b(?:k|d|p|q|dp|dq|qi)\\*["']?\s*:\s*\\*["']?(?P<s>[A-Za-z0-9_-]{16,})"#).ok());

/// A word that may be a name.
static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("[A-Za-z][A-Za-z0-9_.-]{2,80}").ok());

/// Keys in the JSON of Envoy whose secrets may be on another line than the key or the name that indicates them.
const APART: &str = r#""inline_?[sSbB]|"(?:key|name|header|header_?[nN]ame)":\s*"[^"]*(?i:passw|secret|token|credential|authorization|cookie|api[-_.]?key|private[-_.]?key)|api_key_auth|"kty""#;

static IS_APART: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(APART).ok());

/// Whether JSON may contain secrets that no single line of it shows; cheap.
pub(super) fn may_hold_apart(json: &str) -> bool {
    IS_APART.as_ref().is_none_or(|apart| apart.is_match(json))
}

/// Whether a text may contain something that [`places`] finds; cheap.
pub(super) fn may_hold(text: &str) -> bool {
    text.len() >= 6 && HINT.as_ref().is_none_or(|hint| hint.is_match(text))
}

/// The places of secrets in a text, sorted, without overlaps.
pub(super) fn places(text: &str, more: &[Regex]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for pattern in more {
        found.extend(pattern.find_iter(text).map(|one| one.range()).filter(|range| !range.is_empty()));
    }
    if may_hold(text) {
        found.extend(FORM.iter().flat_map(|form| form.find_iter(text)).map(|one| one.range()));
        for pattern in SURROUNDED.iter() {
            let secrets = pattern
                .captures_iter(text)
                .filter_map(|one| one.name("s").or_else(|| one.name("d").filter(|random| is_random(random.as_str()))));
            found.extend(
                secrets.filter(|one| !is_stand_in(one.as_str()) && !is_scheme_talk(text, one)).map(|one| one.range()),
            );
        }
        pem(text, &mut found);
        if let Some(members) = JWK.as_ref().filter(|_| text.contains("kty")) {
            found.extend(members.captures_iter(text).filter_map(|one| one.name("s")).map(|one| one.range()));
        }
        assigned(text, &mut found);
    }
    found.sort_unstable_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    let mut apart: Vec<Range<usize>> = Vec::with_capacity(found.len());
    for range in found {
        match apart.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => apart.push(range),
        }
    }
    // Redacted text stays as it is, so that redaction is idempotent.
    apart.retain(|range| text.get(range.clone()) != Some(REDACTED));
    apart
}

/// Finds PEM blocks, also in a JSON string; for one without an end, the part that looks like its content.
fn pem(text: &str, found: &mut Vec<Range<usize>>) {
    let mut at = 0;
    let mut ends = true;
    while let Some(start) = text[at..].find("-----BEGIN ").map(|start| at + start) {
        let inside = start + "-----BEGIN ".len();
        let end = if ends { text[inside..].find("-----END ") } else { None };
        ends = end.is_some();
        at = if let Some(end) = end {
            let after = inside + end + "-----END ".len();
            after + text[after..].find("-----").filter(|length| *length < 64).map_or(0, |length| length + 5)
        } else {
            let label = text[inside..].find("-----").filter(|length| *length < 64).map_or(0, |length| length + 5);
            let content = |c: char| !(c.is_ascii_alphanumeric() || "+/=\\ \t\r\n".contains(c));
            let rest = &text[inside + label..];
            // The line ends here, whatever follows.
            inside + label + rest[..rest.find(content).unwrap_or(rest.len())].trim_end().len()
        };
        found.push(start..at);
    }
}

/// How much of the text after a name is searched first, in bytes.
const NEAR: usize = 512;

/// The beginning of a text, at most [`NEAR`] bytes.
fn head(text: &str) -> &str {
    let end = (0..=NEAR.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

/// The text before a byte on its line; `None` if the line began more than [`NEAR`] bytes before.
fn line_before(text: &str, at: usize) -> Option<&str> {
    let start = (at.saturating_sub(NEAR)..=at).find(|&start| text.is_char_boundary(start))?;
    match text[start..at].rsplit_once('\n') {
        Some((_, line)) => Some(line),
        None => (start == 0).then(|| &text[..at]),
    }
}

/// Finds the values of names that indicate a secret. Each part of the text is searched once: a value that was found is skipped.
fn assigned(text: &str, found: &mut Vec<Range<usize>>) {
    let (Some(words), Some(follows)) = (WORD.as_ref(), FOLLOWS.as_ref()) else { return };
    let mut at = 0;
    let mut searched = 0;
    let mut variables: HashSet<&str> = HashSet::new();
    while let Some(word) = words.find_at(text, at) {
        at = word.end();
        // The word may be the end of a sentence.
        let key = word.as_str().trim_end_matches('.');
        if !keys::is_secret(key) {
            continue;
        }
        let start = word.start() + key.len();
        let rest = &text[start..];
        let values = follow(follows, text, word.start(), key);
        let variable = follows.variable.captures(head(rest)).and_then(|it| it.name("s"));
        variables.extend(variable.map(|one| &rest[one.range()]));
        beside_in_code(text, word.start(), start, &mut searched, found);
        for value in values {
            let (start, end) = (start + value.start, start + value.end);
            let secret = &text[start..end];
            let is_secret = !is_stand_in(secret) && !secret.starts_with("..");
            if is_secret {
                found.push(start..start + secret.trim_end().len());
            }
            // A long value is searched only once, whatever it is.
            if is_secret || end - start > NEAR {
                at = at.max(end);
            }
        }
    }
    if !variables.is_empty() {
        traced(text, &variables, found);
    }
}

/// The values after a name that indicates a secret, relative to the end of the name.
fn follow(follows: &Follows, text: &str, name: usize, key: &str) -> Vec<Range<usize>> {
    let rest = &text[name + key.len()..];
    let before = text[..name].trim_end_matches([' ', '\t']);
    let starts = before.is_empty()
        || before.ends_with(['\n', '-', '{', ',', '"', '\'', '\\', ';', '│'])
        || before.ends_with("\\n")
        || before.ends_with("export");
    let of = |pattern: &Regex, text: &str| pattern.captures(text)?.name("s").map(|one| one.range());
    let digits = |range: &Range<usize>| rest[range.clone()].bytes().any(|byte| byte.is_ascii_digit());
    let call = |range: &Range<usize>| rest[range.end..].starts_with(['(', '[', '{']);
    let upper = !key.bytes().any(|byte| byte.is_ascii_lowercase());
    // Only an accepted match is followed to its end; otherwise every name would search all the text after it.
    let near = head(rest);
    let whole = |pattern: &Regex, range: Range<usize>| {
        if range.end == near.len() && near.len() < rest.len() { of(pattern, rest) } else { Some(range) }
    };
    if let Some(range) = of(&follows.beside, near).and_then(|range| whole(&follows.beside, range)) {
        return vec![range];
    }
    if let Some(open) = of(&follows.quote, near) {
        let mut values = Vec::new();
        let mut next = Some(open);
        while let Some(open) = next {
            let value = quoted(rest, open);
            let tail = &rest[value.end..];
            next = of(&follows.next, head(tail)).map(|range| value.end + range.start..value.end + range.end);
            if value.len() >= 3 {
                values.push(value);
            }
        }
        return values;
    }
    let line = line_before(text, name);
    let begins_line =
        line.is_some_and(|line| line.trim_start_matches(['-', '"', '\'']).trim().is_empty() && !line.contains("--"));
    let indentation = line.map_or(0, str::len);
    if begins_line && let Some(values) = below(follows, rest, indentation) {
        return values;
    }
    let plain = of(&follows.plain, near).filter(|range| starts || is_random(&rest[range.clone()]));
    if let Some(range) = plain.and_then(|range| whole(&follows.plain, range)) {
        return vec![range];
    }
    let any = key.to_ascii_lowercase();
    let any = any.contains("pass") || any.contains("pwd");
    let random = |range: &Range<usize>| any || rest[range.clone()].split([' ', '\t']).any(is_random);
    if begins_line && let Some(range) = of(&follows.words, near).filter(random) {
        return vec![range];
    }
    let set = of(&follows.set, near).filter(|range| (upper || digits(range)) && !call(range));
    let spaced = rest.starts_with([' ', '\t']);
    let set = set.filter(|range| !spaced || is_random(&rest[range.clone()]));
    set.and_then(|range| whole(&follows.set, range)).into_iter().collect()
}

/// The content of a text in quotes that begin at `open`. Quotes with more backslashes than the first belong to the content.
fn quoted(rest: &str, open: Range<usize>) -> Range<usize> {
    let (quote, start) = (&rest[open.clone()], open.end);
    let content = &rest[start..];
    if let Some(level) = quote.strip_prefix('[') {
        let end = content.find(&format!("]{}]", level.trim_end_matches('[')));
        return start..start + end.or_else(|| content.find(']')).unwrap_or(content.len());
    }
    let level = quote.len() - 1;
    let mark = quote.as_bytes().last().copied().unwrap_or(b'"');
    let mut backslashes = 0;
    let mut skip = false;
    for (at, byte) in content.bytes().enumerate() {
        match byte {
            _ if std::mem::take(&mut skip) => {}
            b'\n' => break,
            b'\\' => {
                backslashes += 1;
                continue;
            }
            // `'it''s'` of YAML
            b'\'' if mark == b'\'' && at > 0 && content[at + 1..].starts_with('\'') => skip = true,
            _ if byte == mark => {
                let ends = backslashes <= level || (backslashes - level).is_multiple_of(2 * (level + 1));
                if ends {
                    return start..start + at - backslashes.min(at);
                }
            }
            _ => {}
        }
        backslashes = 0;
    }
    let end = content.find(['"', '\'', '\\', '\n']);
    start..start + end.unwrap_or(content.len())
}

/// The lines below `k:` or `k: |` of YAML that are indented more than the key. Without `|`, a mapping is no value, and the
/// items of a list are values of their own.
fn below(follows: &Follows, rest: &str, indentation: usize) -> Option<Vec<Range<usize>>> {
    let head = follows.below.captures(head(rest))?;
    let is_block = head.name("s").is_some();
    let mut at = head.get(0)?.end();
    let mut values: Vec<Range<usize>> = Vec::new();
    for line in rest[at..].split_inclusive('\n') {
        let content = line.trim();
        let indented = line.len() - line.trim_start().len();
        let item = content.strip_prefix("- ").filter(|_| !is_block);
        let value = item.unwrap_or(content).trim_matches(['"', '\'']);
        let ends = !content.is_empty() && indented <= indentation && item.is_none();
        let is_map = !is_block && (value.contains(": ") || value.ends_with(':') || value.starts_with(['{', '[', '#']));
        if ends || is_map || (!is_block && content.is_empty()) {
            break;
        }
        let from = at + line.find(value).unwrap_or(0);
        match values.last_mut() {
            // All lines of a block are one value.
            Some(block) if is_block => block.end = from + value.len(),
            _ if value.len() >= 3 => values.push(from..from + value.len()),
            _ => {}
        }
        at += line.len();
    }
    (!values.is_empty()).then_some(values)
}

/// Finds random texts in quotes on the same line of code as a name that indicates a secret: `token = get() or "…"`,
/// `"…" == get("x-api-key")`. `searched` is the end of the part that was searched already.
fn beside_in_code(text: &str, name: usize, end: usize, searched: &mut usize, found: &mut Vec<Range<usize>>) {
    let after = text[end..].trim_start_matches(['"', '\'']);
    let is_code = after.starts_with(['(', ')', ']', ',']) || after.trim_start_matches(' ').starts_with(['=', '~']);
    if end < *searched || !is_code {
        return;
    }
    let Some(literal) = LITERAL.as_ref() else { return };
    let from = line_before(text, name).map_or(name.saturating_sub(NEAR), |line| name - line.len()).max(*searched);
    let from = (from..=name).find(|&at| text.is_char_boundary(at)).unwrap_or(name);
    let line = head(&text[end..]);
    let to = end + line.find('\n').unwrap_or(line.len());
    *searched = to;
    let literals = literal.captures_iter(&text[from..to]).filter_map(|one| one.name("s"));
    let random = literals.filter(|one| one.len() >= 10 && is_random(one.as_str()) && !is_stand_in(one.as_str()));
    found.extend(random.map(|one| from + one.start()..from + one.end()));
}

/// Finds the texts that are assigned to variables which are values of names that indicate a secret.
fn traced(text: &str, variables: &HashSet<&str>, found: &mut Vec<Range<usize>>) {
    let (Some(assign), Some(literal)) = (ASSIGN.as_ref(), LITERAL.as_ref()) else { return };
    for line in assign.captures_iter(text) {
        let (Some(name), Some(value)) = (line.name("k"), line.name("s")) else { continue };
        if !variables.contains(name.as_str()) {
            continue;
        }
        for one in literal.captures_iter(value.as_str()).filter_map(|one| one.name("s")) {
            // The argument of a call is the name of what is read.
            let is_argument = value.as_str()[..one.start() - 1].ends_with(['(', '[']);
            if !is_argument && !is_stand_in(one.as_str()) {
                found.push(value.start() + one.start()..value.start() + one.end());
            }
        }
    }
}

/// Whether a text looks like a generated secret: letters with digits that are not the end of a word, as in
/// `sha256` or `x-b3-traceid`.
fn is_random(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
    let is_word = |word: &str| {
        let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
        word.bytes().all(|byte| byte.is_ascii_alphabetic())
            && word.bytes().skip(1).all(|byte| byte.is_ascii_lowercase())
    };
    let enough = digits >= 2 || (digits == 1 && text.len() >= 16);
    enough && letters >= 2 && text.len() >= 6 && !text.split(['-', '_', '.', '|', ':', '/']).all(is_word)
}

/// Whether a match after `Basic` or `Bearer` is prose, as in "Basic authentication is required": credentials of both schemes
/// are encoded, so they contain a digit, a capital or a symbol.
fn is_scheme_talk(text: &str, secret: &regex::Match<'_>) -> bool {
    let before = text[..secret.start()].trim_end().to_ascii_lowercase();
    let word = secret.as_str().trim_end_matches('.');
    (before.ends_with("basic") || before.ends_with("bearer"))
        && word.starts_with("auth")
        && word.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Whether a text only refers to a secret or names one: `%REQ(authorization)%`, `$(TOKEN)`, `{{ .token }}`, a file path,
/// a word such as `true`.
pub(super) fn is_stand_in(text: &str) -> bool {
    let text = text.trim();
    let around =
        |start: &str, end: &str| text.len() > start.len() + end.len() && text.starts_with(start) && text.ends_with(end);
    let word = matches!(
        text.to_ascii_lowercase().as_str(),
        "" | "true"
            | "false"
            | "yes"
            | "no"
            | "none"
            | "null"
            | "nil"
            | "on"
            | "off"
            | "string"
            | "bearer"
            | "basic"
            | "strict"
            | "lax"
    );
    let path = text.starts_with('/')
        && text.matches('/').count() > 1
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c))
        && !text.contains("//");
    let url = text.split_once("://").is_some_and(|(scheme, rest)| {
        scheme.chars().all(|c| c.is_ascii_alphanumeric()) && !rest.contains('@') && !rest.contains('?')
    });
    text == REDACTED
        // The same between Lua's long brackets.
        || text == REDACTED.trim_end_matches(']')
        || text == "W3JlZGFjdGVkXQ=="
        || word
        || path
        || url
        || around("%", "%")
        || around("${", "}")
        || around("$(", ")")
        || around("{{", "}}")
        || around("<", ">")
}
