//! Secrets recognized by their form: keys of clouds and forges, tokens, credentials in URLs, commands and sentences.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use regex::Regex;
use regex_automata::{meta, util};
use std::sync::{LazyLock, OnceLock};

/// Keys and tokens of clouds, forges and other services, which nothing but a credential looks like.
const TOKENS: &[&str] = &[
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
    r"\bhv[sbr]\.[A-Za-z0-9_-]{16,}",
    r"\bnpm_[A-Za-z0-9]{30,}",
    r"\bpypi-[A-Za-z0-9_-]{30,}",
    r"\bdckr_[po]at_[A-Za-z0-9_-]{16,}",
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
    r"\bAT[AC]TT3[A-Za-z0-9_=-]{30,}",
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
    r"\bfigd_[A-Za-z0-9_-]{30,}",
    r"\b(?:gsk|tfp|phc|phx|r8)_[A-Za-z0-9]{30,}",
    r"\bsbp_[a-f0-9]{40}\b",
    r"\b(?:xai|pplx|nvapi|CFPAT)-[A-Za-z0-9_-]{30,}",
    r"\bdapi[a-f0-9]{32}\b",
    r"\bEAA[A-Z][A-Za-z0-9]{36,}",
    r"\bsecret-token:[A-Za-z0-9_%.~-]{8,}",
    r"\.atlasv1\.[A-Za-z0-9_=-]{40,}",
    // A signed JSON Web Token.
    r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}",
];
/// Other forms of secrets.
const FORMS: &[&str] = &[
    // PEM in base64.
    r"LS0tLS1CRUdJTi[A-Za-z0-9+/=]*",
    // Keys in DER without the lines around PEM: PKCS #8 and #1, elliptic curves, Ed25519.
    r"\bMII[A-Za-z0-9+/]{2,6}IBADANBgkqhkiG9w0BAQEFAASC[A-Za-z0-9+/=]+",
    r"\b(?:MII[A-Za-z0-9+/]{3}IBAAKC|MHcCAQEE|MC4CAQAwBQYDK2VwBCIE|MIGHAgEAMBMGByqGSM49)[A-Za-z0-9+/=]{30,}",
    // The second part of an encrypted token is empty.
    r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]*)*",
    r"\beyJrIjoi[A-Za-z0-9_+/=-]{16,}",
    // Hashes of passwords as crypt(3) writes them; a weak password is guessed from one.
    r"\$2[abxy]\$\d\d\$[A-Za-z0-9./]{40,}",
    r"\$(?:apr1|[156y])\$[A-Za-z0-9./=$]{1,40}\$[A-Za-z0-9./]{20,}",
    r"\$argon2(?:id|i|d)\$[A-Za-z0-9./$=,+]{40,}",
];
/// Forms of texts that contain a secret: the group `s`, or `d` if it looks random, `t` if it looks like a long token, `m` if
/// it has a letter and a digit. Compiling all of them takes longer than most runs, so each names texts one of which is in
/// everything that it finds, in any case.
static AROUND: [Around; 37] = [
    // HashiCorp Vault up to 1.9.
    around(&["s.", "b.", "r."], r"\b(?P<d>[sbr]\.[A-Za-z0-9]{24})\b"),
    // Sentences.
    around(
        &["passw", "passphrase", "passcode", "pwd"],
        r#"(?i)\b(?:password|passwd|passphrase|passcode|pwd)(?:\s+(?:for|of)\s+[^\s:=]+)?(?:\s+(?:is|was|=)|:)\s+\\*["'`]?(?P<m>[^\s"'`\\,;]{6,})"#,
    ),
    around(
        &["passw", "passphrase", "passcode", "pwd"],
        r#"(?i)\b(?:password|passwd|passphrase|passcode|pwd)\s+\\*["'`]?(?P<d>[^\s"'`\\,;:=]{6,})"#,
    ),
    // The same in other languages.
    around(
        &["passwort", "kennwort", "contrase", "mot de passe", "senha", "wachtwoord"],
        r#"(?i)\b(?:passwort|kennwort|contrase(?:ñ|n)a|mot de passe|senha|wachtwoord)\s*(?:\s(?:ist|es|est|é|is|=)\s|[:=])\s*\\*["'`]?(?P<m>[^\s"'`\\,;]{6,})"#,
    ),
    around(&["api key", "api-key"], r#"(?i)\bapi[ -]key(?:\s+(?:is|was))?\s*[:=]\s*\\*["'`]?(?P<m>[^\s"'`\\,;]{8,})"#),
    around(
        &[
            "secret",
            "token",
            "apikey",
            "api key",
            "api_key",
            "api-key",
            "accesskey",
            "access key",
            "access_key",
            "access-key",
            "credential",
        ],
        r#"(?i)(?:\b|_)(?:secret|token|api[ _-]?key|access[ _-]?key|credential)(?:\s+(?:for|of)\s+[^\s:=]+)?(?:\s+(?:is|was|=)|:)?\s+\\*["'`]?(?P<t>[^\s"'`\\,;:=()]{10,})"#,
    ),
    // SQL.
    around(
        &["identified", "password"],
        r#"(?i)\b(?:identified\s+(?:with\s+\S+\s+)?(?:by|as)|password)\s+\\*['"](?P<s>[^'"\\\s]{3,})"#,
    ),
    // Programs that take a password.
    around(
        &["mysql", "mariadb"],
        r#"\b(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n|;,{}]*?\s-p["']?(?P<s>[^\s"'\\-][^\s"'\\]{2,})"#,
    ),
    around(&["sshpass"], r#"\bsshpass\s+-p\s*["']?(?P<s>[^\s"'\\]{3,})"#),
    around(
        &["login"],
        r#"\b(?:docker|podman|nerdctl|oras|crane|helm\s+registry)\s+login\b[^\n|;,{}]*?\s(?:-p|--password)[ =]["']?(?P<s>[^\s"'\\]{3,})"#,
    ),
    around(&["redis-cli"], r#"\bredis-cli\b[^\n|;,{}]*?\s(?:-a|--pass)\s+["']?(?P<s>[^\s"'\\]{3,})"#),
    around(&["login"], r#"\bvault\s+login\s+(?:token=)?(?P<m>[^\s"'\\-][^\s"'\\]{7,})"#),
    // `base64("user:pw")` of code, `user:pw@tcp(host)` of Go's MySQL driver.
    around(&["base64", "base_64"], r#"(?i)base_?64[a-z_]*\(\s*\\*["'][^"'\\:\s]+:(?P<s>[^"'\\\s]{3,})"#),
    around(&["@tcp(", "@unix("], r#"[A-Za-z0-9_.-]+:(?P<s>[^\s:@/"'\\]{3,})@(?:tcp|unix)\("#),
    // A token in place of a user, with a password that says so.
    around(&["://"], r"://(?P<d>[A-Za-z0-9_-]{20,}):[^/\s@]*@"),
    // `headers:get("x-api-key") == "…"`
    around(
        &["get("],
        r#"(?i)\bget\(\s*\\*["'](?:[a-z0-9]+-)*(?:key|token|secret|authorization|cookie|password|signature|auth)\\*["']\s*\)\s*(?:==|~=|!=)\s*\\*["'](?:bearer |basic )?(?P<m>[^\s"'\\]{6,})"#,
    ),
    around(&["private-lines"], r"Private-Lines: \d+\s+(?P<s>[A-Za-z0-9+/=\s]{16,})"),
    around(&["begin ssh2"], r"---- BEGIN SSH2 [A-Z ]*PRIVATE KEY ----\s+(?P<s>[^-]{16,})"),
    around(&["bearer", "basic"], r"(?i)\b(?:bearer|basic)(?:\s|%20|\+)+(?P<s>[A-Za-z0-9._~+/=-]{8,})"),
    around(&["bearer", "basic"], r#"(?i)\b(?:bearer|basic)\s*\\*["']\s*(?:\.\.|\+)\s*\\*["'](?P<s>[^"'\\]{4,})"#),
    around(&["sk-"], r"\b(?P<d>sk-[A-Za-z0-9_-]{32,})"),
    around(&["hooks.slack"], r"https://hooks\.slack\.com/[a-z]+/(?P<s>[A-Za-z0-9_/-]{16,})"),
    around(&["discord"], r"https://[a-z.]*discord(?:app)?\.com/api/webhooks/(?P<s>[A-Za-z0-9_/-]{16,})"),
    // Schemes of the header other than Basic and Bearer.
    around(
        &["authorization"],
        r#"(?i)\bauthorization["']?:[ \t]*(?:token|apikey|api-key|negotiate|ntlm|digest|hawk|oauth|dpop|aws4-hmac-sha256)[ \t]+(?P<s>[^\n\\]{8,})"#,
    ),
    around(&["cookie"], r#"(?i)\bcookie["']?:[ \t]*["']?(?P<s>[A-Za-z0-9_.-]+=[^\s"'\\]{4,}[^\n"'\\]*)"#),
    around(&["curl"], r#"\bcurl\b[^\n|]*?\s(?:-u|--user)[ =]?["']?[^\s:"'\\]+:(?P<s>[^\s"'\\]{3,})"#),
    around(
        &["--"],
        r#"(?i)--(?:[a-z0-9]+-)*(?:password|passwd|pass|token|secret|api-?key|access-key|secret-key)[ =]["']?(?P<d>[^\s"'\\]{6,})"#,
    ),
    // The same in a list of arguments: `[--token, "…"]`.
    around(
        &["--"],
        r#"(?i)--(?:[a-z0-9]+-)*(?:password|passwd|pass|token|secret|api-?key|access-key|secret-key)\\*["']?\s*,\s*\\*["']?(?P<d>[^\s"'\\,\]]{6,})"#,
    ),
    around(&["login"], r"(?i)\blogin\s+\S+\s+password\s+(?P<s>\S{4,})"),
    around(
        &["password>", "passwd>", "secret>", "token>", "apikey>", "api-key>"],
        r"(?i)<[a-z:._-]*(?:password|passwd|secret|token|api-?key)>(?P<s>[^<\s]{4,})<",
    ),
    // Docker and npm.
    around(&["auth"], r#"\b_?auth\\*["']?\s*[:=]\s*\\*["'](?P<d>[A-Za-z0-9+/]{12,}={0,2})"#),
    // A token in place of a user: https://TOKEN@host
    around(&["://"], r"://(?P<d>[A-Za-z0-9_-]{20,})@"),
    // redis://user:pw@host, amqp://:pw@host
    around(&["://"], r#"://[^/\s:@"'\\]*:(?P<s>[^/\s@"'\\]+)@"#),
    around(
        &["access_token=", "api_key=", "apikey=", "token=", "password=", "secret=", "sig=", "signature="],
        r#"(?i)[?&;#](?:access_token|api_?key|token|password|secret|sig|signature)=(?P<s>[^&\s"'\\#]{4,})"#,
    ),
    around(
        &["x-amz", "x-goog"],
        r#"(?i)\bx-(?:amz|goog)-(?:signature|credential|security-token)=(?P<s>[^&\s"'\\#]{4,})"#,
    ),
    around(&["response="], r#"\bresponse=\\*"(?P<d>[A-Za-z0-9]{16,})"#),
    around(
        &["key=", "code=", "auth=", "session=", "sid=", "jwt=", "assertion=", "ticket="],
        r"(?i)[?&;#](?:key|code|auth|session|sid|jwt|assertion|ticket)=(?P<d>[A-Za-z0-9_.~+/=-]{20,})",
    ),
];

/// Words in texts and keys that are or indicate a secret, in any case; `?` is nothing, `-`, `_`, `.` or a blank. One of these,
/// [`MARKS`] and [`HINTS`] occurs in all of them; the other patterns run only on texts that contain one.
const WORDS: &str = "pass?word passwd passcode pass?phrase -pass _pass .pass pwd secret token cred authorization bearer basic cookie \
    jwks users kty psk otp mnemonic sess?id session?id connection?string certificate trustedca trusted_ca ocsp inline sig= \
    signature= recovery?code seed?phrase pin?code private?key api?key app?key application?key access?key auth?key signing?key \
    signature?key encryption?key decryption?key hmac?key master?key shared?key account?key client?key session?key ticket?key \
    ssh?key license?key subscription?key function?key functions?key consumer?key tls?key ssl?key rsa?key aes?key server?key \
    deploy?key storage?key pgp?key gpg?key unseal?key recovery?key json?key passwort kennwort contrase mot?de?passe senha \
    wachtwoord";
/// What keys, tokens and hashes begin with, and programs that take a password, in this case.
const MARKS: &str = "github_pat_ -----BEGIN LS0tLS1 eyJ AKIA ASIA ABIA ACCA ghp_ gho_ ghu_ ghs_ ghr_ glpat- gldt- glrt- glptt- \
    glsoat- glimt- glagent- gloas- glffct- glcbt- glft- sk_live_ sk_test_ rk_live_ rk_test_ xox xapp- AIza ya29. SG. hvs. hvb. \
    hvr. npm_ pypi- dckr_ hf_ shpat_ shpca_ shppa_ shpss_ AGE-SECRET GOCSPX- 1//0 sk- doo_v1_ dop_v1_ dor_v1_ NRAK- lin_api_ \
    ATATT3 ATCTT3 glsa_ glc_ dp.pt. dp.st. dp.sa. dp.ct. PMAK- rubygems_ sntrys_ sntryu_ xkeysib- EAACEd sq0csp- sq0atp- \
    shippo_ ops_eyJ tskey- pscale_ hooks.slack /webhooks/ whsec_ figd_ $2a$ $2b$ $2x$ $2y$ $apr1$ $1$ $5$ $6$ $y$ $argon2id$ \
    $argon2i$ $argon2d$ gsk_ tfp_ phc_ phx_ r8_ sbp_ xai- pplx- nvapi- CFPAT- atlasv1 mysql mariadb sshpass redis-cli @tcp( \
    @unix( BAQEFAASC IBAAKC MHcCAQEE MC4CAQAw MIGHAgEA Private-Lines";
/// The same where no word is enough. Without `\b`: Unicode word boundaries have no automaton, others make it larger, and every
/// printed line is searched.
const HINTS: &[&str] = &[
    r"[a-z]Pass|(?i: pass)|curl |BEGIN SSH2|://[^/\s]*@|key-[a-f0-9]{32}|SK[a-f0-9]{32}|pul-[a-f0-9]|dapi[a-f0-9]|EAA[A-Z]",
    r"_auth[ =:]|['\x22]auth['\x22\\]|[?&;#](?:key|code|auth|session|sid|jwt|assertion|ticket)=|[sbr]\.[A-Za-z0-9]{24}",
    r"\slogin\s|(?i:identified\s|base_?64[a-z_]*\()",
    r#"(?:^|[^0-9A-Za-z])(?i:pass|pw|pin|jwt|salt|hmac|private|auth|sig|signature|nonce|seed|sid|session|ticket|license|dsn|keys?)(?:\\*["'])?\s*[)\]]*\s*[:=,~(<\n]"#,
    r#"[a-z](?:Pass|Pw|PW|Pin|PIN|Jwt|JWT|Salt|Hmac|HMAC|Private|Auth|Sig|Signature|Nonce|Seed|Sid|SID|Session|Ticket|License|Dsn|DSN|Keys?)(?:\\*["'])?\s*[)\]]*\s*[:=,~(<\n]"#,
];

/// A form of texts around a secret.
struct Around {
    needles: &'static [&'static str],
    pattern: &'static str,
    regex: OnceLock<Option<Regex>>,
}

const fn around(needles: &'static [&'static str], pattern: &'static str) -> Around {
    Around { needles, pattern, regex: OnceLock::new() }
}

/// Finds the needles of all forms, each with the number of its form.
static NEEDLES: LazyLock<Option<(AhoCorasick, Vec<usize>)>> = LazyLock::new(|| {
    let needles =
        || AROUND.iter().enumerate().flat_map(|(form, around)| around.needles.iter().map(move |it| (form, it)));
    let kind = Some(AhoCorasickKind::ContiguousNFA);
    let finder =
        AhoCorasick::builder().ascii_case_insensitive(true).kind(kind).build(needles().map(|(_, needle)| needle));
    Some((finder.ok()?, needles().map(|(form, _)| form).collect()))
});

/// The forms of texts around a secret that a text may contain.
pub(super) fn surrounding(text: &str) -> impl Iterator<Item = &'static Regex> {
    let mut may = [NEEDLES.is_none(); AROUND.len()];
    for (finder, forms) in NEEDLES.iter() {
        finder.find_overlapping_iter(text).for_each(|found| may[forms[found.pattern().as_usize()]] = true);
    }
    let forms = AROUND.iter().zip(may).filter(|(_, may)| *may);
    forms.filter_map(|(around, _)| around.regex.get_or_init(|| Regex::new(around.pattern).ok()).as_ref())
}

/// What finds a hint. An automaton of the words is ready sooner than an expression of them, each new state of which follows all that
/// may come next.
struct Hints {
    words: AhoCorasick,
    marks: AhoCorasick,
    other: meta::Regex,
}

static HINT: LazyLock<Option<Hints>> = LazyLock::new(|| {
    let finder = |words: Vec<String>, any_case: bool| {
        let kind = Some(AhoCorasickKind::DFA);
        let leftmost = MatchKind::LeftmostFirst;
        AhoCorasick::builder().match_kind(leftmost).kind(kind).ascii_case_insensitive(any_case).build(words).ok()
    };
    let spelled = |word: &str| {
        let mut parts = word.split('?').map(str::to_owned);
        let first = parts.next().into_iter().collect::<Vec<_>>();
        parts.fold(first, |begun, part| {
            let joined = |begin: &String| ["", "-", "_", ".", " "].map(|between| [begin, between, &part].concat());
            begun.iter().flat_map(joined).collect()
        })
    };
    // Without literals to search for first: there are too many to be of use, and finding them takes longer than a short run.
    let no_literals = meta::Config::new().auto_prefilter(false);
    let bytes = util::syntax::Config::new().unicode(false).utf8(false);
    Some(Hints {
        words: finder(WORDS.split(' ').flat_map(spelled).collect(), true)?,
        marks: finder(MARKS.split(' ').map(str::to_owned).collect(), false)?,
        other: meta::Regex::builder().configure(no_literals).syntax(bytes).build(&HINTS.join("|")).ok()?,
    })
});

/// All forms at once.
pub(super) static FORM: LazyLock<Option<Regex>> = LazyLock::new(|| any_of(&[FORMS, TOKENS]));

/// Credentials whoever sees them recognizes, without a name beside them.
pub(super) static TOKEN: LazyLock<Option<Regex>> = LazyLock::new(|| any_of(&[TOKENS]));

fn any_of(lists: &[&[&str]]) -> Option<Regex> {
    Regex::new(&format!("(?-u:{})", lists.concat().join("|"))).ok()
}

/// Keys in the JSON of Envoy whose secrets may be on another line than the key or the name that indicates them.
const APART: &str = r#""(?:key|name|header|header_?[nN]ame)":\s*"[^"]*(?i:passw|secret|token|credential|authorization|cookie|api[-_.]?key|private[-_.]?key|x-[a-z-]*(?:auth|key|session|signature))|api_key_auth|"kty"|"inline_?[bB]"#;
/// Keys above inline texts that make them secrets. Inline texts alone are formats of access logs, which every listener has.
const ABOVE: &str = r#"(?i:passw|passphrase|passcode|pass_|_pass|pwd|secret|token|cred|authori[sz]|bearer|cookie|psk|otp|mnemonic|certificate|trusted_?ca|ocsp|jwks|users|auth_?user|phrase|pem|pkcs|material|(?:recovery|pin|unlock|activation)_?code|session_?id|connection_?string|basic_?auth|(?:private|priv|api|app|application|access|auth|signing|signature|encryption|decryption|hmac|master|shared|account|client|session|ticket|ssh|license|subscription|functions?|consumer|tls|ssl|rsa|aes|server|deploy|storage|pgp|gpg|unseal|recovery|json|pass)_?keys?)[^"]*"\s*:\s*[\[{]"#;

static IS_APART: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(APART).ok());
static IS_ABOVE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(ABOVE).ok());

/// Whether JSON may contain secrets that no single line of it shows; cheap.
pub(super) fn may_hold_apart(json: &str) -> bool {
    let is_match = |regex: &LazyLock<Option<Regex>>| regex.as_ref().is_none_or(|regex| regex.is_match(json));
    is_match(&IS_APART) || (has_inline_text(json) && is_match(&IS_ABOVE))
}

/// Whether JSON contains inline texts other than formats, which are public wherever they are.
fn has_inline_text(json: &str) -> bool {
    let is_format = |at: usize| {
        let before = json[..at].trim_ascii_end().strip_suffix('{').map(str::trim_ascii_end);
        let key = before.and_then(|before| before.strip_suffix(':')).map(str::trim_ascii_end);
        key.is_some_and(|key| key.ends_with("\"text_format_source\""))
    };
    memchr::memmem::find_iter(json.as_bytes(), b"\"inline").any(|at| !is_format(at))
}

/// Whether a text may contain something that [`places`] finds; cheap.
pub(super) fn may_hold(text: &str) -> bool {
    let hints = |hint: &Hints| hint.words.is_match(text) || hint.marks.is_match(text) || hint.other.is_match(text);
    text.len() >= 6 && HINT.as_ref().is_none_or(hints)
}

/// A search for the first place of something.
pub(crate) type Search = fn(&[u8]) -> Option<usize>;

/// Where something begins that [`may_hold`] reports, by each of its searches: one that finds much is not to repeat another that finds
/// nothing for a long way. In a text of several lines, it may end in a later one.
pub(super) const SEARCHES: [Search; 3] = [
    |text| HINT.as_ref().map_or(Some(0), |hint| hint.words.find(text).map(|found| found.start())),
    |text| HINT.as_ref().and_then(|hint| hint.marks.find(text)).map(|found| found.start()),
    |text| HINT.as_ref().and_then(|hint| hint.other.find(text)).map(|found| found.start()),
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::strategy::{Strategy, ValueTree};
    use proptest::string::string_regex;
    use proptest::test_runner::TestRunner;

    /// Texts without a hint are not searched for tokens, so every token must have one.
    #[test]
    fn every_token_has_a_hint() {
        let mut runner = TestRunner::deterministic();
        for pattern in TOKENS {
            let tokens = string_regex(&pattern.replace(r"\b", "")).unwrap();
            for _ in 0..100 {
                let token = tokens.new_tree(&mut runner).unwrap().current();
                assert!(may_hold(&token), "{token}");
            }
        }
    }

    /// Words are hints in any case and with anything between their parts, marks only as they are written.
    #[test]
    fn words_are_found_in_any_spelling() {
        for text in [
            "x-apikey=",
            "API_KEY:",
            "the Api.Key",
            "api key",
            "mot-de_passe",
            "MOTDEPASSE",
            "xox-12",
            "(AKIA12)",
            "1//0ab",
        ] {
            assert!(may_hold(text), "{text}");
        }
        for text in ["api  key", "api/key", "mot de  pas", "(akia12)", "XOX-12", "Mysql 8", "listener", "cluster"] {
            assert!(!may_hold(text), "{text}");
        }
    }

    /// The needles of a form are in everything that it finds, so no secret is missed without a search.
    #[test]
    fn forms_find_only_texts_with_their_needles() {
        let mut found = 0;
        for line in include_str!("tests.rs").lines() {
            let lower = line.to_ascii_lowercase();
            let searched: Vec<*const Regex> = surrounding(line).map(std::ptr::from_ref).collect();
            for around in &AROUND {
                let regex = around.regex.get_or_init(|| Regex::new(around.pattern).ok()).as_ref().unwrap();
                let is_searched = searched.contains(&std::ptr::from_ref(regex));
                assert_eq!(is_searched, around.needles.iter().any(|needle| lower.contains(needle)), "{line}");
                if regex.is_match(line) {
                    assert!(is_searched, "{} in {line}", around.pattern);
                    found += 1;
                }
            }
        }
        assert!(found > 60, "{found}");
    }
}
