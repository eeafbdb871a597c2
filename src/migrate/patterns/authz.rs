//! RBAC, external authorization and JWT filters: AuthorizationPolicy and RequestAuthentication.

use super::condition;
use super::extension::RENAMED;
use super::token;
use crate::migrate::base::reach::anchor;
use crate::migrate::base::step::{Cx, Move, Part};
use crate::migrate::base::value::{Fields, has_entry, left};
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::base::{catalog, filters};
use crate::migrate::guards::attach::{self, Directions};
use crate::migrate::guards::callers::{nested, trust_domains};
use crate::migrate::guards::decides::{Decides, earlier, narrow};
use crate::migrate::objects::mesh::Proxies;
use crate::migrate::objects::policy::{self, keep_off_tcp, with_ports};
use crate::migrate::output::draft::{Action, attachment, object};
use crate::migrate::proofs::forms::is_too_long;
use crate::model::envoy_filter::ApplyTo;
use crate::source::ErrorMessage;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

const RBAC: &str = "envoy.extensions.filters.http.rbac.v3.RBAC";
const NETWORK_RBAC: &str = "envoy.extensions.filters.network.rbac.v3.RBAC";
const JWT: &str = "envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication";

const API: &str = "security.istio.io/v1";

/// Finds inserted RBAC and JWT filters.
pub(in crate::migrate) fn find(cx: &Cx<'_>, parts: &mut [Part<'_>]) {
    for part in parts.iter_mut().filter(|part| part.found.is_none()) {
        if !part.inserts() {
            continue;
        }
        let found = match (part.apply_to(), part.config_type()) {
            (ApplyTo::HttpFilter, RBAC) => rbac(cx, part, RBAC),
            (ApplyTo::NetworkFilter, NETWORK_RBAC) => rbac(cx, part, NETWORK_RBAC),
            (ApplyTo::HttpFilter, JWT) => jwt(cx, part),
            _ => continue,
        };
        part.answer(found);
    }
}

const BOTH_COUNT: &str = "both count the requests that the rules would refuse; neither refuses any";
const BOTH_DECIDE: &str = "both decide: a connection must be allowed by both";

fn rbac(cx: &Cx<'_>, part: &Part<'_>, message: &str) -> Move {
    let mut value = part.value.clone();
    value.skip("name");
    let Some(mut config) = value.typed("typed_config", message) else {
        return Move::none(&catalog::RBAC, "the configuration cannot be read");
    };
    let mut found = Move::new(&catalog::RBAC).home("AuthorizationPolicy", "rules", 0);
    attach::check(cx, part, &mut found, Directions::Inbound);
    earlier(cx, part, &mut found, Decides::WithPolicies);
    found.difference(Kind::Name, RENAMED);
    found.difference(
        Kind::Name,
        "policies have different names, which appear in RESPONSE_CODE_DETAILS of refused requests and in metadata",
    );
    found.difference(Kind::Metadata, "the same condition in istiod's longer form (and, or)");
    found.difference(Kind::Metadata, "the stats prefix differs");
    ["rules_stat_prefix", "stat_prefix", "shadow_rules_stat_prefix"].iter().for_each(|prefix| config.skip(prefix));
    for (field, dry) in [("rules", false), ("shadow_rules", true)] {
        if let Some(rules) = config.sub(field)
            && let Err(reason) = rules_of(cx, part, rules, dry, &mut found)
        {
            return Move::none(&catalog::RBAC, reason);
        }
    }
    if found.actions.is_empty() {
        return Move::none(&catalog::RBAC, "the filter has no rules: it allows everything and can be deleted");
    }
    // A filter that does nothing decides nothing.
    if found.meanwhile.is_empty() {
        let counts = part.value.peek("typed_config/rules").is_none();
        found.meanwhile.extend(if counts {
            Some(BOTH_COUNT)
        } else {
            (message == NETWORK_RBAC).then_some(BOTH_DECIDE)
        });
    }
    if !config.is_empty() || !value.is_empty() {
        return Move::none(&catalog::RBAC, left("an AuthorizationPolicy", [&config, &value]));
    }
    found
}

fn rules_of(cx: &Cx<'_>, part: &Part<'_>, mut rules: Fields, dry: bool, found: &mut Move) -> Result<(), ErrorMessage> {
    // The default of the enum, ALLOW, is not in the value.
    let action = rules.text("action").unwrap_or_else(|| "ALLOW".to_owned());
    if action != "ALLOW" && action != "DENY" {
        return Err(format!("an AuthorizationPolicy that Envoy evaluates allows or denies; it has no {action}").into());
    }
    let Some(Json::Object(policies)) = rules.take("policies") else {
        return Err("the rules have no `policies`: an AuthorizationPolicy is written from those alone, not from `matcher`. ALLOW without policies refuses every request: that is an AuthorizationPolicy with an empty `spec`, which refuses TCP connections too".into());
    };
    if !rules.is_empty() {
        return Err(left("an AuthorizationPolicy", [&rules]).into());
    }
    let peers = Json::Object(policies.clone());
    let mut native = Vec::new();
    for (name, one) in policies {
        let rules = condition::rules(Fields(one), part.apply_to() == ApplyTo::HttpFilter)
            .map_err(|what| format!("policy {name}: {what}"))?;
        native.extend(rules);
    }
    let mut shadow = found.clone();
    let target = if dry { &mut shadow } else { &mut *found };
    hosts(&native, &action, target);
    trust_domains(cx, &native, &action, target);
    same_peers(&peers, part.apply_to() == ApplyTo::HttpFilter, target);
    let ports = if part.apply_to() == ApplyTo::NetworkFilter {
        of_connections(cx, part, &action, target);
        part.reach.port.into_iter().collect()
    } else if action == "DENY" {
        if let Some(other) = policy::existing(cx, "DENY").first() {
            let effect = format!(
                "the rule is in one filter with that of AuthorizationPolicy {}/{}: a request that either denies is denied",
                other.namespace, other.name
            );
            target.difference(Kind::Position, effect);
        }
        keep_off_tcp(cx, part, target)
    } else {
        allow(cx, part, target);
        part.reach.port.into_iter().collect()
    };
    if dry {
        found.add_home("AuthorizationPolicy", "annotation istio.io/dry-run", 0);
        found.difference(Kind::Metadata, "shadow rules also apply to TCP chains: they count requests and refuse none");
        if let Some(other) = policy::tried(cx, &action).first() {
            found.difference(
                Kind::Behavior,
                format!(
                    "its results are counted and logged together with the dry run of {}/{}",
                    other.namespace, other.name
                ),
            );
        }
    } else {
        found.guard(Concern::Authorization, State::Review, "an AuthorizationPolicy decides instead of the filter: test a request that it must refuse and one that it must allow");
    }
    // Shadow rules reject nothing, so they need not be kept off TCP.
    let ports = if dry { part.reach.port.into_iter().collect() } else { ports };
    if let Some(port) = policy::maybe_unnamed(cx, part) {
        found.difference(
            Kind::Behavior,
            format!(
                "the rule also applies to workloads whose Services do not name port {port}: it decides on their HTTP requests to that port too"
            ),
        );
    }
    if !ports.is_empty()
        && let Some(port) = policy::unnamed_port(cx, part, &native)
    {
        let reason = format!(
            "the filter decides on requests to port {port}, which no Service names: the policy would no longer decide on them"
        );
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Authorization, State::Broken, reason);
    }
    native.retain_mut(|rule| with_ports(rule, &ports));
    if native.is_empty() {
        return Err("the rules name ports that this filter does not serve".into());
    }
    let mut spec = attachment(cx.filter);
    spec.insert("action".to_owned(), action.into());
    spec.insert("rules".to_owned(), native.into());
    let mut policy = object(API, "AuthorizationPolicy", cx.filter, spec);
    if dry {
        policy["metadata"]["annotations"] = json!({ "istio.io/dry-run": "true" });
    }
    found.actions.push(Action::Object(policy));
    Ok(())
}

/// Conditions on the peer that a policy has only in a form that other peers meet.
fn same_peers(policies: &Json, http: bool, found: &mut Move) {
    let unnamed = |key: &str, value: &Json| key == "authenticated" && value.get("principal_name").is_none();
    for (is, reason) in [
        (
            has_entry(policies, &|key, _| key == "source_ip"),
            "`source_ip` is the address that the PROXY protocol names; the policy compares that of the connection itself",
        ),
        (
            !http && has_entry(policies, &|key, _| key == "remote_ip"),
            "`remote_ip` of a connection is the address that the PROXY protocol names; the policy compares that of the connection itself",
        ),
        (
            has_entry(policies, &unnamed),
            "`authenticated` without a name also matches TLS peers without a certificate, and those whose certificate has no name; the policy matches those with a name",
        ),
    ] {
        if is {
            found.difference(Kind::Behavior, reason);
            found.guard(Concern::Authorization, State::Undecided, reason);
        }
    }
}

/// A policy compares hosts case-insensitively and with any port.
fn hosts(rules: &[Json], action: &str, found: &mut Move) {
    let has = |keys: &[&str]| rules.iter().any(|rule| has_entry(rule, &|key, _| keys.contains(&key)));
    if !has(&["hosts", "notHosts"]) {
        return;
    }
    let reason = "a policy compares hosts case-insensitively; the filter is case-sensitive";
    found.difference(Kind::Behavior, reason);
    if action == "ALLOW" || has(&["notHosts"]) {
        found.guard(Concern::Authorization, State::Broken, format!("{reason}, so more hosts are allowed"));
    }
}

/// A network filter decides once per connection, a policy on HTTP filter chains for each request.
fn of_connections(cx: &Cx<'_>, part: &Part<'_>, action: &str, found: &mut Move) {
    found.difference(
        Kind::Behavior,
        "on HTTP ports the policy answers a refused request with 403; the filter closes the connection before any request",
    );
    let manager = crate::migrate::base::reach::names_manager(&part.built.object);
    let whole = crate::migrate::base::reach::names_filter(&part.built.object).is_none();
    if !whole {
        let reason = if manager {
            "the policy also applies to TCP ports; the filter is for HTTP ports only"
        } else {
            "the policy also applies to HTTP ports; the filter is only for chains with a single network filter"
        };
        found.difference(Kind::Behavior, reason);
        found.guard(Concern::TcpChains, State::Broken, reason);
    }
    if action == "ALLOW" {
        beside(cx, found);
        if part.reach.port.is_some() {
            let reason = "an ALLOW policy for one port refuses the connections to every other port";
            found.difference(Kind::Behavior, reason);
            found.guard(Concern::Ports, State::Broken, reason);
        }
    }
}

/// An ALLOW policy rejects everything that no ALLOW policy of the workload allows.
fn allow(cx: &Cx<'_>, part: &Part<'_>, found: &mut Move) {
    beside(cx, found);
    closes(cx, part, found);
}

/// With two ALLOW policies, a request that matches either is allowed.
fn beside(cx: &Cx<'_>, found: &mut Move) {
    if let Some(other) = policy::existing(cx, "ALLOW").first() {
        let reason = format!(
            "AuthorizationPolicy {}/{} also allows: requests that match either are allowed; with the filter, only those that match both",
            other.namespace, other.name
        );
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Authorization, State::Broken, reason);
    } else if !cx.mesh.described() {
        found.guard(
            Concern::Authorization,
            State::Undecided,
            "it is unknown whether another ALLOW policy exists for these workloads: two of them allow what matches either",
        );
    }
}

/// What an ALLOW policy rejects in addition to the filter.
fn closes(cx: &Cx<'_>, part: &Part<'_>, found: &mut Move) {
    let closes = "an ALLOW policy refuses every TCP connection that it does not match; the filter covers HTTP only";
    let tcp = match part.reach.proxies {
        Proxies::Gateway => cx.mesh.serves(cx.filter, policy::is_tcp),
        _ => Some(true),
    };
    match tcp {
        Some(false) => found.guard(Concern::TcpChains, State::Held, "these gateways serve no TCP"),
        Some(true) => {
            found.difference(Kind::Behavior, closes);
            found.guard(Concern::TcpChains, State::Broken, closes);
        }
        None => found.guard(Concern::TcpChains, State::Undecided, closes),
    }
    if part.reach.port.is_some() {
        let reason = "an ALLOW policy for one port refuses the requests to every other port";
        found.difference(Kind::Behavior, reason);
        found.guard(Concern::Ports, State::Broken, reason);
    }
}

/// What a rule of the JWT filter requires.
enum Wanted {
    /// A token of one of these providers.
    Token(BTreeSet<String>),
    TokenIfAny,
}

/// A rule of the JWT filter: its paths, and the providers one of which must have issued the token; none if it may be missing.
struct Demand {
    path: String,
    providers: Option<BTreeSet<String>>,
}

fn jwt(cx: &Cx<'_>, part: &Part<'_>) -> Move {
    let mut value = part.value.clone();
    value.skip("name");
    let Some(mut config) = value.typed("typed_config", JWT) else {
        return Move::none(&catalog::JWT, "the configuration cannot be read");
    };
    let mut found = Move::new(&catalog::JWT).home("RequestAuthentication", "jwtRules", 0);
    attach::check(cx, part, &mut found, Directions::Inbound);
    narrow(part, &mut found);
    crate::migrate::guards::anchor::check(cx, part, &mut found);
    if anchor(&part.built.object) != Some(filters::JWT) {
        found.difference(
            Kind::Position,
            "authentication runs right after metadata_exchange, before everything except phase AUTHN",
        );
    }
    found.difference(Kind::Name, RENAMED);
    found.difference(Kind::Name, "the provider has a different name, which only metadata and log lines use");
    found.difference(Kind::Metadata, "the claims are stored where policies look for them");
    found.guard(Concern::Authentication, State::Review, "istiod's JWT filter checks tokens instead of this one: test requests without a token, with an invalid one and with a valid one");
    let mut rules = Vec::new();
    let Some(Json::Object(providers)) = config.take("providers") else {
        return Move::none(&catalog::JWT, "the filter has no providers");
    };
    let mut issuers: BTreeMap<String, String> = BTreeMap::new();
    let mut audiences: BTreeMap<String, Vec<Json>> = BTreeMap::new();
    for (name, provider) in providers {
        token::readers(cx, part, &provider, &mut found);
        match token::provider_of(Fields(provider), &mut found) {
            Ok(rule) => {
                issuers.insert(name.clone(), rule["issuer"].as_str().unwrap_or_default().to_owned());
                audiences.insert(name, rule["audiences"].as_array().cloned().unwrap_or_default());
                rules.push(rule);
            }
            Err(reason) => return Move::none(&catalog::JWT, format!("provider {name}: {reason}")),
        }
    }
    if part.reach.proxies == Proxies::Gateway {
        found.difference(
            Kind::Behavior,
            "the route is selected again after the token is read, so routes can match claims",
        );
    }
    if config.flag("bypass_cors_preflight") != Some(true) {
        found.difference(Kind::Behavior, "CORS preflights pass the native filter without a token");
    }
    let mut spec = attachment(cx.filter);
    spec.insert("jwtRules".to_owned(), rules.into());
    found.actions.push(Action::Object(object(API, "RequestAuthentication", cx.filter, spec)));
    let named = config.sub("requirement_map").unwrap_or(Fields(json!({})));
    match wanted(config.list("rules"), &named, &audiences) {
        Ok((demands, skips)) => {
            if skips {
                found.difference(
                    Kind::Behavior,
                    "tokens are also checked on the paths that the filter skips: an invalid token is refused there with 401",
                );
            }
            demand(cx, part, &mut found, &demands, &issuers);
        }
        Err(reason) => return Move::none(&catalog::JWT, reason),
    }
    if !config.is_empty() || !value.is_empty() {
        return Move::none(&catalog::JWT, left("a RequestAuthentication", [&config, &value]));
    }
    found
}

/// The policy next to the RequestAuthentication, without which a request without a token is allowed.
fn demand(cx: &Cx<'_>, part: &Part<'_>, found: &mut Move, demands: &[Demand], issuers: &BTreeMap<String, String>) {
    if demands.is_empty() {
        found.difference(
            Kind::Behavior,
            "the filter's rules require no token, so it checks none; the native object refuses requests with an invalid token",
        );
        return;
    }
    if !demands.iter().any(|demand| demand.path == "/*") {
        found
            .difference(Kind::Behavior, "tokens are checked on every path: an invalid token is also refused elsewhere");
    }
    if demands.iter().all(|demand| demand.providers.is_none()) {
        return;
    }
    found.add_home("AuthorizationPolicy", "rules.from.source.notRequestPrincipals", 0);
    found.difference(
        Kind::Behavior,
        "a request without a token gets 403 `RBAC: access denied` from the policy instead of 401 with www-authenticate from \
         the JWT filter",
    );
    let ports = keep_off_tcp(cx, part, found);
    // A token of another issuer is a principal too.
    let other = cx.mesh.policies("RequestAuthentication", cx.filter);
    let single = issuers.len() == 1 && other.is_empty();
    if let Some(one) = other.first() {
        found.difference(
            Kind::Behavior,
            format!(
                "RequestAuthentication {}/{} may be for the same workloads: a request with a token of either issuer is authenticated, and an invalid token of one issuer is refused where the other one's is required",
                one.namespace, one.name
            ),
        );
    }
    let documents: Vec<Json> = other.iter().map(|one| one.document.to_json()).collect();
    let of_others = documents.iter().flat_map(|one| one["spec"]["jwtRules"].as_array().into_iter().flatten());
    let known: Vec<&str> =
        issuers.values().map(String::as_str).chain(of_others.filter_map(|rule| rule["issuer"].as_str())).collect();
    let wanted = demands.iter().filter_map(|one| one.providers.as_ref()).flatten().filter_map(|name| issuers.get(name));
    if !single && let Some((issuer, below)) = nested(wanted.map(String::as_str), &known) {
        let reason = format!(
            "a policy matches an issuer by a prefix of the principal: tokens of {below} would be accepted where those of {issuer} are required"
        );
        found.difference(Kind::Behavior, reason.clone());
        found.guard(Concern::Authentication, State::Broken, reason);
    }
    let mut rules: Vec<Json> = Vec::new();
    for (number, demand) in demands.iter().enumerate() {
        let Some(providers) = &demand.providers else { continue };
        let principals: Vec<String> = if single {
            vec!["*".to_owned()]
        } else {
            let of: BTreeSet<String> =
                providers.iter().filter_map(|name| issuers.get(name)).map(|issuer| format!("{issuer}/*")).collect();
            of.into_iter().collect()
        };
        let mut operation = json!({});
        if demand.path != "/*" {
            operation["paths"] = json!([demand.path]);
        }
        // The filter uses the first rule that matches.
        let earlier: Vec<&str> = demands[..number].iter().map(|one| one.path.as_str()).collect();
        if !earlier.is_empty() {
            operation["notPaths"] = json!(earlier);
        }
        let from = json!([{ "source": { "notRequestPrincipals": principals } }]);
        let same = rules.iter_mut().find(|rule| {
            rule["from"] == from && rule.pointer("/to/0/operation/paths").is_some() && demand.path != "/*"
        });
        match same {
            // An earlier rule with the same demand leaves nothing open.
            Some(rule)
                if rule.pointer("/to/0/operation/notPaths").is_none() && all_demand(&demands[..number], providers) =>
            {
                if let Some(paths) = rule["to"][0]["operation"]["paths"].as_array_mut() {
                    paths.push(demand.path.clone().into());
                }
            }
            _ => {
                let mut rule = json!({ "from": from });
                if operation.as_object().is_some_and(|map| !map.is_empty()) {
                    rule["to"] = json!([{ "operation": operation }]);
                }
                rules.push(rule);
            }
        }
    }
    for rule in &mut rules {
        let _ = with_ports(rule, &ports);
    }
    let mut spec = attachment(cx.filter);
    spec.insert("action".to_owned(), "DENY".into());
    spec.insert("rules".to_owned(), rules.into());
    found.actions.push(Action::Object(object(API, "AuthorizationPolicy", cx.filter, spec)));
}

/// Whether all of these rules demand a token of the same providers.
fn all_demand(demands: &[Demand], providers: &BTreeSet<String>) -> bool {
    demands.iter().all(|one| one.providers.as_ref() == Some(providers))
}

const PATHS: &str = "an AuthorizationPolicy matches a whole path or its start; the rule matches in another way, or a path with `*` or braces";

/// A requirement that rules refer to by its name.
fn of_name(named: &Fields, name: &str) -> Result<Fields, ErrorMessage> {
    let one = named.0.get(name).filter(|one| one.is_object());
    one.map(|one| Fields(one.clone()))
        .ok_or_else(|| format!("`requirement_map` has no {name}, which a rule names: Envoy rejects the filter").into())
}

/// The rules in their order, and whether some of them check nothing; `named` are requirements that they may name.
fn wanted(
    rules: Vec<Fields>,
    named: &Fields,
    audiences: &BTreeMap<String, Vec<Json>>,
) -> Result<(Vec<Demand>, bool), ErrorMessage> {
    if named.0.as_object().is_some_and(|all| !all.is_empty()) && is_too_long(&named.0, rules.len()) {
        return Err("`requirement_map` is too long to write its requirements into every rule".into());
    }
    let (mut demands, mut skips) = (Vec::new(), false);
    let mut used = BTreeSet::new();
    for mut rule in rules {
        let path = if let Some(prefix) = rule.text("match/prefix") {
            format!("{prefix}*")
        } else if let Some(path) = rule.text("match/path") {
            path
        } else {
            return Err(PATHS.into());
        };
        let requires = match rule.text("requirement_name") {
            Some(name) => {
                let one = of_name(named, &name)?;
                used.insert(name);
                Some(one)
            }
            None => rule.sub("requires"),
        };
        // In a policy, a star in the middle has another meaning, and braces are templates.
        let plain = path.strip_suffix('*').unwrap_or(&path);
        if !rule.is_empty() || plain.contains(['*', '{', '}']) {
            return Err(PATHS.into());
        }
        let free = requires.is_none();
        let providers = match requires.map(|requires| requirement(requires, audiences)).transpose()? {
            Some(Wanted::Token(providers)) => Some(providers),
            // Without a requirement, the filter checks nothing on these paths.
            Some(Wanted::TokenIfAny) | None => None,
        };
        skips |= free;
        demands.push(Demand { path, providers });
    }
    let mut names = named.0.as_object().into_iter().flat_map(|all| all.keys());
    if let Some(name) = names.find(|name| !used.contains(*name)) {
        return Err(format!(
            "no rule names requirement {name} of `requirement_map`, but settings of routes may, and a RequestAuthentication has none for routes: delete it if they do not"
        )
        .into());
    }
    // It checks nothing at all.
    if skips && demands.len() == 1 {
        demands.clear();
        skips = false;
    }
    Ok((demands, skips))
}

fn requirement(mut requires: Fields, audiences: &BTreeMap<String, Vec<Json>>) -> Result<Wanted, ErrorMessage> {
    if let Some(name) = requires.text("provider_name") {
        return if requires.is_empty() {
            Ok(Wanted::Token([name].into()))
        } else {
            Err(left("an AuthorizationPolicy", [&requires]).into())
        };
    }
    if let Some(mut one) = requires.sub("provider_and_audiences") {
        let name = one.text("provider_name").unwrap_or_default();
        let own: Vec<Json> = one.texts("audiences").into_iter().map(Json::from).collect();
        if !own.is_empty() && audiences.get(&name) != Some(&own) {
            return Err(
                "the rule accepts fewer audiences than the provider, which a RequestAuthentication has for all paths: more tokens would be accepted".into(),
            );
        }
        return Ok(Wanted::Token([name].into()));
    }
    if requires.peek("allow_missing").is_some() {
        return Ok(Wanted::TokenIfAny);
    }
    if requires.peek("requires_any").is_some() {
        let mut all = BTreeSet::new();
        let mut optional = false;
        for one in requires.list("requires_any/requirements") {
            match requirement(one, audiences)? {
                Wanted::TokenIfAny => optional = true,
                Wanted::Token(providers) => all.extend(providers),
            }
        }
        return Ok(if optional { Wanted::TokenIfAny } else { Wanted::Token(all) });
    }
    Err("an AuthorizationPolicy demands a token of one provider or of any of several; it has neither `requires_all` nor `allow_missing_or_failed`, which also lets requests with an invalid token pass".into())
}
