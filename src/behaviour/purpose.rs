//! The purpose of HTTP filters and route settings, as far as requests can check it.

use super::asks::{self, Ask, Written, is_true, list};
use crate::engine::PatchId;
use crate::proto::decode::parse_go_duration;
use crate::proto::tree::Tree;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::time::Duration;

/// The purpose of a filter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// Nothing that a sandbox can check.
    #[default]
    Other,
    /// Limits requests with token buckets.
    Limit(Limit),
    /// Calls a rate limit service.
    LimitService,
    /// Calls an authorization service.
    Authorization,
    /// Allows only requests with a token.
    Token,
    /// Runs a script, which reads these header fields.
    Script(BTreeSet<String>),
}

/// A local rate limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The bucket of all requests; a limit with only descriptors has none.
    pub bucket: Option<Bucket>,
    /// Buckets of requests with these descriptors.
    pub descriptors: Vec<(Vec<(String, String)>, Bucket)>,
    /// Descriptors that the filter itself produces instead of the route.
    pub written: Vec<Option<Written>>,
}

/// A bucket of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// How many tokens it holds.
    pub tokens: u64,
    /// How many are added at a time.
    pub added: u64,
    /// The interval between additions.
    pub interval: Duration,
}

/// A setting of a route, its virtual host or its route configuration for one HTTP filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteSetting {
    /// Name of the HTTP filter that it is for.
    pub key: String,
    /// Every patch that wrote something in it.
    pub writers: Vec<PatchId>,
    /// The purpose of the filter.
    pub purpose: Purpose,
    /// Whether it turns the filter off.
    pub disabled: bool,
    /// The requests derived from it.
    pub asks: Vec<Ask>,
    /// Where it is written: 0 the route, 1 the virtual host, 2 the route configuration.
    pub level: usize,
}

const FILTERS: &str = "envoy.extensions.filters.http.";
const NETWORK: &str = "envoy.extensions.filters.network.";

impl Purpose {
    /// The purpose of a configuration in an `Any`.
    pub(super) fn of(any: &Tree<'_>) -> Purpose {
        let (name, config) = any.message();
        let set = |key: &str| config.get(key).is_some();
        match name.strip_prefix(FILTERS).unwrap_or_default() {
            "local_ratelimit.v3.LocalRateLimit" => limit(&config).map_or(Purpose::Other, Purpose::Limit),
            "ratelimit.v3.RateLimit" => Purpose::LimitService,
            // No request can make another filter set the metadata that this requires.
            "ext_authz.v3.ExtAuthz" if set("filter_enabled_metadata") => Purpose::Other,
            "ext_authz.v3.ExtAuthz" if set("http_service") || set("grpc_service") => Purpose::Authorization,
            "jwt_authn.v3.JwtAuthentication" if set("providers") && !lenient(&config) && coverable(&config) => {
                Purpose::Token
            }
            "lua.v3.Lua" | "lua.v3.LuaPerRoute" => {
                let mut names = BTreeSet::new();
                read_fields(&config, &mut names);
                Purpose::Script(names)
            }
            _ => Purpose::Other,
        }
    }

    /// The purpose of a network filter's configuration.
    pub(super) fn of_network(any: &Tree<'_>) -> Purpose {
        let (name, config) = any.message();
        match name.strip_prefix(NETWORK).unwrap_or_default() {
            "local_ratelimit.v3.LocalRateLimit" => bucket(&config).map_or(Purpose::Other, |bucket| {
                Purpose::Limit(Limit { bucket: Some(bucket), descriptors: Vec::new(), written: Vec::new() })
            }),
            "ratelimit.v3.RateLimit" => Purpose::LimitService,
            "ext_authz.v3.ExtAuthz" if config.get("filter_enabled_metadata").is_none() => Purpose::Authorization,
            _ => Purpose::Other,
        }
    }
}

/// Whether a request can be constructed that a rule of a JWT filter matches; without rules, any request.
fn coverable(config: &Tree<'_>) -> bool {
    let rules = list(config, "rules");
    let asking = |rule: &&Tree<'_>| rule.get("requires").is_some() || rule.get("requirement_name").is_some();
    let reached =
        |rule: &Tree<'_>| rule.get("match").is_none_or(|matched| Ask::of_match(&matched.readable()).is_some());
    config.get("filter_state_rules").is_none()
        && (!rules.iter().any(|rule| asking(&rule)) || rules.iter().filter(asking).any(reached))
}

fn limit(config: &Tree<'_>) -> Option<Limit> {
    let of_descriptor = |one: &Tree<'_>| {
        one.get("entries")?;
        let entry = |entry: &Tree<'_>| (entry.str_at("key").to_owned(), entry.str_at("value").to_owned());
        Some((list(one, "entries").iter().map(entry).collect(), bucket(one)?))
    };
    let limit = Limit {
        bucket: bucket(config),
        descriptors: list(config, "descriptors").iter().filter_map(of_descriptor).collect(),
        written: list(config, "rate_limits").iter().map(asks::written).collect(),
    };
    (limit.bucket.is_some() || !limit.descriptors.is_empty()).then_some(limit)
}

fn bucket(config: &Tree<'_>) -> Option<Bucket> {
    let bucket = config.get("token_bucket")?.readable();
    let number = |key: &str, absent: u64| {
        let value = bucket.get(key)?.readable().into_owned();
        // A wrapped number is a plain number in JSON.
        Some(value.as_u64().or_else(|| value.get("value").and_then(Tree::as_u64)).unwrap_or(absent))
    };
    let interval = parse_go_duration(bucket.str_at("fill_interval")).and_then(|nanos| u64::try_from(nanos).ok())?;
    let tokens = number("max_tokens", 0)?;
    let added = number("tokens_per_fill", 1).unwrap_or(1);
    Some(Bucket { tokens, added, interval: Duration::from_nanos(interval) })
}

/// Whether a token requirement allows requests without one.
fn lenient(config: &Tree<'_>) -> bool {
    let here = config
        .entries()
        .iter()
        .any(|(key, value)| key == "allow_missing" || key == "allow_missing_or_failed" || lenient(&value.readable()));
    here || config.items().iter().any(|item| lenient(&item.readable()))
}

/// Names of header fields that scripts in a value read: `:get("name")`.
fn read_fields(tree: &Tree<'_>, into: &mut BTreeSet<String>) {
    let Some(text) = tree.as_str() else {
        tree.entries().iter().for_each(|(_, value)| read_fields(&value.readable(), into));
        tree.items().iter().for_each(|item| read_fields(&item.readable(), into));
        return;
    };
    for after in text.split(":get(").skip(1) {
        let after = after.trim_start();
        let Some(quote) = after.chars().next().filter(|c| matches!(c, '"' | '\'')) else { continue };
        let name = after[1..].split(quote).next().unwrap_or_default();
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if !name.is_empty() && name.chars().all(fits) {
            into.insert(name.to_ascii_lowercase());
        }
    }
}

/// The settings for HTTP filters at one level of a route configuration.
pub(super) fn route_settings(owner: &Tree<'_>, level: usize) -> Vec<RouteSetting> {
    let Some(all) = owner.get("typed_per_filter_config") else { return Vec::new() };
    let of = |(key, any): &(Cow<'_, str>, Tree<'_>)| {
        let (name, config) = any.message();
        let wrapped = name == "envoy.config.route.v3.FilterConfig";
        let inner = if wrapped { config.get("config") } else { Some(any) };
        RouteSetting {
            key: key.to_string(),
            writers: any.origins().into_iter().filter_map(PatchId::of).collect(),
            purpose: inner.map(Purpose::of).unwrap_or_default(),
            disabled: is_true(&config, "disabled"),
            asks: inner.map(asks::asks).unwrap_or_default(),
            level,
        }
    };
    all.readable().entries().iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::json::from_json;
    use serde_json::json;

    fn purpose(value: &serde_json::Value) -> Purpose {
        Purpose::of(&from_json(value))
    }

    #[test]
    fn configurations_say_what_they_are_there_for() {
        let of = |name: &str| format!("type.googleapis.com/{FILTERS}{name}");
        let bucket = json!({"max_tokens": 10, "tokens_per_fill": 5, "fill_interval": "60s"});
        let limit = json!({"@type": of("local_ratelimit.v3.LocalRateLimit"), "token_bucket": bucket});
        let expected = Bucket { tokens: 10, added: 5, interval: Duration::from_secs(60) };
        let expected = Limit { bucket: Some(expected), descriptors: Vec::new(), written: Vec::new() };
        assert_eq!(purpose(&limit), Purpose::Limit(expected));
        let none = json!({"@type": of("local_ratelimit.v3.LocalRateLimit"), "stat_prefix": "a"});
        assert_eq!(purpose(&none), Purpose::Other);
        let any_of = json!({"requires_any": {"requirements": [{"allow_missing": {}}]}});
        let jwt = |requires| json!({"@type": of("jwt_authn.v3.JwtAuthentication"), "providers": {"a": {}}, "rules": [{"requires": requires}]});
        assert_eq!(purpose(&jwt(any_of)), Purpose::Other);
        assert_eq!(purpose(&jwt(json!({"provider_name": "a"}))), Purpose::Token);
        // No request can be constructed for a regular expression.
        let rule = json!({"match": {"safe_regex": {"regex": "/(a|b)"}}, "requires": {"provider_name": "a"}});
        let never = json!({"@type": of("jwt_authn.v3.JwtAuthentication"), "providers": {"a": {}}, "rules": [rule]});
        assert_eq!(purpose(&never), Purpose::Other);
        let script = "local a = handle:headers():get(\"X-User\") or handle:headers():get( 'b' )";
        let lua = json!({"@type": of("lua.v3.Lua"), "default_source_code": {"inline_string": script}});
        assert_eq!(purpose(&lua), Purpose::Script(["b".to_owned(), "x-user".to_owned()].into()));
    }

    #[test]
    fn routes_say_what_they_set_for_which_filter() {
        let tree = from_json(&json!({"typed_per_filter_config": {"authz": {
            "@type": "type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthzPerRoute", "disabled": true,
        }}}));
        let settings = route_settings(&tree, 1);
        assert_eq!(settings.len(), 1);
        assert!(settings[0].key == "authz" && settings[0].disabled && settings[0].level == 1);
    }
}
