//! EF709: an inserted RBAC filter that AuthorizationPolicy expresses.

use crate::declare_rule;
use crate::lint::better::{self, Candidate, Parts};
use crate::lint::manifest::{self, Instead};
use crate::lint::{Context, Findings, RuleInfo};
use crate::model::release::Release;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

declare_rule! {
    /// An RBAC filter inserted by hand, which an AuthorizationPolicy inserts.
    ///
    /// # What it finds
    /// An inserted `envoy.filters.http.rbac` or `envoy.filters.network.rbac` of which AuthorizationPolicy has every
    /// permission and every principal.
    ///
    /// # Why it matters
    /// istiod places its own RBAC filters after authentication on every kind of proxy, tests the policies when they are
    /// applied, and shows them in `istioctl x authz check`. An inserted filter depends on anchors that change with
    /// releases; where it is not inserted, everything is allowed.
    ///
    /// # How to fix
    /// Write the AuthorizationPolicy shown and delete the patch.
    ///
    /// # References
    /// Istio: AuthorizationPolicy (`security.istio.io/v1`). Envoy: `config.rbac.v3.RBAC`.
    "EF709" "rbac-beside-authorization-policy" Native Info => check
}

const HTTP: &str = "envoy.extensions.filters.http.rbac.v3.RBAC";
const NETWORK: &str = "envoy.extensions.filters.network.rbac.v3.RBAC";

/// Beyond so many alternatives no one would write the policy by hand.
const MAX_ALTERNATIVES: usize = 24;

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let http = better::inserted(cx, HTTP).map(|(candidate, config)| (candidate, config, true));
    let network = better::inserted_network(cx, NETWORK).map(|(candidate, config)| (candidate, config, false));
    for (candidate, config, http) in http.chain(network) {
        if let Some(instead) = instead(&candidate, config, http) {
            out.push(instead.finding(rule, &candidate.view, &["patch", "value"]));
        }
    }
}

fn instead(candidate: &Candidate<'_>, mut config: Parts<'_>, http: bool) -> Option<Instead> {
    let filter = candidate.view.filter;
    if !better::authorization_reaches(candidate) {
        return None;
    }
    config.skip("rules_stat_prefix");
    config.skip("stat_prefix");
    let mut rbac = config.sub("rules")?;
    let action = rbac.text("action").unwrap_or_else(|| "ALLOW".to_owned());
    if action != "ALLOW" && action != "DENY" {
        return None;
    }
    let mut rules = Vec::new();
    if let Some(mut policies) = rbac.sub("policies") {
        let names: Vec<String> = policies.tree.entries().iter().map(|(name, _)| name.to_string()).collect();
        for name in names {
            rules.extend(policy(policies.sub(&name)?, candidate.reach.port, http)?);
        }
    }
    // An empty policy of either action is a statement of its own; that is seldom what an inserted filter means.
    if !config.done() || !rbac.done() || rules.is_empty() {
        return None;
    }
    let mut notes = Vec::new();
    if action == "ALLOW" {
        notes.push(
            "an inserted filter is one more condition; of several AuthorizationPolicies with action ALLOW one is enough"
                .to_owned(),
        );
    }
    if rules.iter().any(|rule| rule.to_string().contains("osts\":")) {
        notes.push("`hosts` is compared without case and port".to_owned());
    }
    let spec = Map::from_iter([("action".to_owned(), action.into()), ("rules".to_owned(), rules.into())]);
    Some(Instead {
        message: "an AuthorizationPolicy can express these rules".to_owned(),
        since: Release::OLDEST,
        manifests: vec![(String::new(), manifest::object("security.istio.io/v1", "AuthorizationPolicy", filter, spec))],
        notes,
    })
}

/// Conditions that all must hold: fields of `source` or `operation`, or keys of `when` with a `when ` before them; what
/// must not be has a `!` in front.
type All = BTreeMap<String, Vec<String>>;

/// The rules for one policy of Envoy: any of its permissions and any of its principals.
fn policy(mut policy: Parts<'_>, port: Option<u32>, http: bool) -> Option<Vec<Json>> {
    let read = |list: Vec<Parts<'_>>| any_of(list.into_iter().map(|item| term(item, http)));
    let mut operations = read(policy.list("permissions"))?;
    let sources = read(policy.list("principals"))?;
    if !policy.done() || operations.is_empty() || sources.is_empty() {
        return None;
    }
    if let Some(port) = port {
        let here = vec![All::from([("ports".to_owned(), vec![port.to_string()])])];
        operations = both(&operations, &here)?;
    }
    let plain = |side: &[All]| side.iter().all(|all| !all.keys().any(|key| key.contains("when ")));
    if plain(&operations) && plain(&sources) {
        return Some(vec![rule(&sources, &operations)]);
    }
    // `when` is beside `from` and `to`: each pair of alternatives becomes a rule.
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
                let (not, name) = key.strip_prefix('!').map_or((false, key.as_str()), |name| (true, name));
                if let Some(key) = name.strip_prefix("when ") {
                    let word = if not { "notValues" } else { "values" };
                    when.push(json!({ "key": key, word: values }));
                } else {
                    fields.insert(if not { negative(name) } else { name.to_owned() }, json!(values));
                }
            }
            entries.push(fields);
        }
        // An alternative without conditions is no restriction.
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
fn term(mut part: Parts<'_>, http: bool) -> Option<Vec<All>> {
    let [(field, _)] = part.tree.entries() else { return None };
    let field = field.to_string();
    let one = |key: &str, value: String| Some(vec![All::from([(key.to_owned(), vec![value])])]);
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
        "destination_ip" => one("when destination.ip", block(part.sub("destination_ip")?)?),
        "requested_server_name" => one("when connection.sni", pattern(part.sub("requested_server_name")?)?),
        "url_path" if http => {
            let mut path = part.sub("url_path")?;
            let text = pattern(path.sub("path")?)?;
            path.done().then(|| one("paths", text))?
        }
        "header" if http => header(part.sub("header")?),
        "authenticated" => {
            let mut peer = part.sub("authenticated")?;
            let name = peer.sub("principal_name");
            let who = match name {
                // An identity is a URI in the certificate, and without its scheme in a policy.
                Some(name) => identity(&pattern(name)?)?,
                None => "*".to_owned(),
            };
            peer.done().then(|| one("principals", who))?
        }
        "direct_remote_ip" | "source_ip" => one("ipBlocks", block(part.sub(&field)?)?),
        "remote_ip" if http => one("remoteIpBlocks", block(part.sub("remote_ip")?)?),
        _ => None,
    };
    out.filter(|_| part.done())
}

/// Alternatives of alternatives; those of one field become a list of values.
fn any_of(sides: impl Iterator<Item = Option<Vec<All>>>) -> Option<Vec<All>> {
    let mut out: Vec<All> = Vec::new();
    for side in sides {
        for all in side? {
            let twin = out.iter_mut().find(|one| {
                let same = one.len() == 1 && all.len() == 1 && one.keys().eq(all.keys());
                same && !one.keys().any(|key| key.starts_with('!'))
            });
            match twin {
                Some(one) => all.into_iter().for_each(|(key, values)| one.entry(key).or_default().extend(values)),
                None => out.push(all),
            }
        }
    }
    (out.len() <= MAX_ALTERNATIVES).then_some(out)
}

/// Both of two sides: every pair. `None` where a field would have two lists that must both fit.
fn both(left: &[All], right: &[All]) -> Option<Vec<All>> {
    let mut out = Vec::new();
    for (one, other) in left.iter().flat_map(|one| right.iter().map(move |other| (one, other))) {
        let mut all = one.clone();
        for (key, values) in other {
            if all.contains_key(key) && !key.starts_with('!') {
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
        let key = key.strip_prefix('!').map_or_else(|| format!("!{key}"), str::to_owned);
        out = both(&out, &[All::from([(key, values.clone())])])?;
    }
    Some(out)
}

/// A header's value: a method, a host, or any other header.
fn header(mut header: Parts<'_>) -> Option<Vec<All>> {
    let name = header.text("name")?.to_ascii_lowercase();
    let not = header.flag("invert_match").unwrap_or_default();
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
    if !header.done() {
        return None;
    }
    let key = match name.as_str() {
        ":method" => "methods".to_owned(),
        ":authority" | "host" => "hosts".to_owned(),
        // `:path` holds the query, which AuthorizationPolicy leaves out.
        _ if name.starts_with(':') => return None,
        _ => format!("when request.headers[{name}]"),
    };
    let key = if not { format!("!{key}") } else { key };
    Some(vec![All::from([(key, vec![text])])])
}

/// A StringMatcher as AuthorizationPolicy writes it: `text`, `text*`, `*text`.
fn pattern(mut matcher: Parts<'_>) -> Option<String> {
    let text = if let Some(text) = matcher.text("exact") {
        plain(text)?
    } else if let Some(text) = matcher.text("prefix") {
        format!("{}*", plain(text)?)
    } else {
        format!("*{}", plain(matcher.text("suffix")?)?)
    };
    matcher.done().then_some(text)
}

/// A text in which no `*` could be taken for a wildcard.
fn plain(text: String) -> Option<String> {
    (!text.is_empty() && !text.contains('*')).then_some(text)
}

fn identity(pattern: &str) -> Option<String> {
    if let Some(rest) = pattern.strip_prefix("spiffe://") {
        return Some(rest.to_owned());
    }
    pattern.starts_with('*').then(|| pattern.to_owned())
}

/// A range of addresses as `10.1.0.0/16`.
fn block(mut range: Parts<'_>) -> Option<String> {
    let address = range.text("address_prefix")?;
    let length = range.number("prefix_len");
    range.done().then(|| length.map_or_else(|| address.clone(), |length| format!("{address}/{length}")))
}
