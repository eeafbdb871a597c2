//! Settings of routes as rules of an HTTPRoute, as far as istiod's conversion of the Gateway API reads them
//! (`convertHTTPRoute` in istiod's `pilot/pkg/config/kube/gateway/conversion.go`, 1.22 to 1.31).

use super::route_value::Setting;
use crate::migrate::base::verdict::{Difference, Kind};
use crate::model::release::Release;
use crate::proto::decode::parse_go_duration;
use crate::source::ErrorMessage;
use serde_json::{Map, Value as Json, json};

/// What istiod retries on for every HTTPRoute with `retry`.
const RETRY_ON: [&str; 4] = ["connect-failure", "refused-stream", "unavailable", "cancelled"];

/// The expression that istiod writes for the origin `*`.
const ANY_ORIGIN: &str = r"^[a-zA-Z][a-zA-Z0-9+.-]*://[^/\s?#]+$";

/// The methods that the API server accepts in a CORS filter.
const METHODS: [&str; 10] = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "*"];

/// How many filters the API server accepts in a rule, and headers in a list of a filter.
pub(in crate::migrate) const MOST: usize = 16;

/// Whether a rule has a list that is longer than the API server accepts.
pub(in crate::migrate) fn is_too_long(rule: &Json) -> bool {
    let filters = rule["filters"].as_array().map_or(&[][..], Vec::as_slice);
    let long = |list: &Json| list.as_array().is_some_and(|list| list.len() > MOST);
    let modifiers = filters.iter().flat_map(|one| [&one["requestHeaderModifier"], &one["responseHeaderModifier"]]);
    filters.len() > MOST || modifiers.flat_map(|one| [&one["set"], &one["add"], &one["remove"]]).any(long)
}

/// A setting as a part of an HTTPRoute's rule.
#[derive(Debug, Default)]
pub(in crate::migrate) struct KubeRule {
    /// What to merge into the rule.
    pub value: Json,
    /// The fields and the first minor release of istiod that reads them, 0 for all.
    pub fields: Vec<(&'static str, u16)>,
    /// Differences of this form.
    pub differences: Vec<Difference>,
    /// The definitions that the cluster must have.
    pub notes: Vec<&'static str>,
}

/// Converts a setting of a VirtualService's rule; the reason if an HTTPRoute cannot express it.
pub(in crate::migrate) fn of_setting(setting: &Setting, to: Release) -> Result<KubeRule, ErrorMessage> {
    let mut rule = KubeRule { value: json!({}), ..KubeRule::default() };
    let mut filters = Vec::new();
    for (key, value) in setting.value.as_object().into_iter().flatten() {
        match key.as_str() {
            "headers" => headers(value, &mut rule, &mut filters)?,
            "timeout" => {
                // istiod ignores a timeout of zero in an HTTPRoute; without one there is none.
                if value.is_null() && setting.value.pointer("/retries/perTryTimeout").is_some() {
                    return Err(
                        "one edit cannot both remove `timeouts` of an HTTPRoute and set the timeout of each try".into(),
                    );
                }
                match value.as_str() {
                    Some(text) => rule.value["timeouts"]["request"] = duration(text)?.into(),
                    None => rule.value["timeouts"] = Json::Null,
                }
                rule.fields.push(("rules.timeouts.request", 0));
            }
            "retries" => retries(value, setting.beside_retries, &mut rule)?,
            "corsPolicy" => cors(value, to, &mut rule, &mut filters)?,
            "rewrite" => rewrite(value, &mut rule, &mut filters)?,
            "mirrors" => mirrors(value, &mut rule, &mut filters)?,
            "fault" => return Err("an HTTPRoute has no field for faults".into()),
            other => return Err(format!("an HTTPRoute has no field for `{other}`").into()),
        }
    }
    if !filters.is_empty() {
        rule.value["filters"] = filters.into();
    }
    Ok(rule)
}

/// A duration as the Gateway API writes it (GEP-2257): whole milliseconds, without fractions.
fn duration(text: &str) -> Result<String, ErrorMessage> {
    let refused =
        || ErrorMessage::from(format!("an HTTPRoute cannot express a duration of {text}: it takes whole milliseconds"));
    let nanos = parse_go_duration(text).ok_or_else(refused)?;
    let millis = nanos / 1_000_000;
    if nanos % 1_000_000 != 0 || millis < 0 {
        return Err(refused());
    }
    let (seconds, rest) = (millis / 1000, millis % 1000);
    // At most five digits for each unit.
    match (seconds, rest) {
        (0, _) => Ok(format!("{rest}ms")),
        (_, 0) if seconds < 100_000 => Ok(format!("{seconds}s")),
        (_, 0) if seconds % 60 == 0 && seconds / 60 < 100_000 => Ok(format!("{}m", seconds / 60)),
        _ if seconds < 100_000 => Ok(format!("{seconds}s{rest}ms")),
        _ => Err(refused()),
    }
}

fn is_name(name: &str) -> bool {
    let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !name.is_empty() && name.len() <= 256 && name.chars().all(token)
}

fn headers(value: &Json, rule: &mut KubeRule, filters: &mut Vec<Json>) -> Result<(), ErrorMessage> {
    for (direction, kind, field) in [
        ("request", "RequestHeaderModifier", "requestHeaderModifier"),
        ("response", "ResponseHeaderModifier", "responseHeaderModifier"),
    ] {
        let Some(one) = value.get(direction) else { continue };
        let mut native = Map::new();
        for list in ["set", "add"] {
            let Some(pairs) = one[list].as_object() else { continue };
            let mut items = Vec::new();
            for (name, text) in pairs {
                let text = text.as_str().unwrap_or_default();
                let valid = |c: char| c == '\t' || !c.is_control();
                if !is_name(name) || text.is_empty() || text.len() > 4096 || !text.chars().all(valid) {
                    return Err(format!("an HTTPRoute does not accept the header {name} with this value").into());
                }
                if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
                    let effect = "header names are written in lower case, as Envoy reads them anyway";
                    differ(rule, Kind::Metadata, effect);
                }
                items.push(json!({ "name": name, "value": text }));
            }
            native.insert(list.to_owned(), items.into());
        }
        if let Some(remove) = one.get("remove") {
            native.insert("remove".to_owned(), remove.clone());
        }
        if native.values().any(|list| list.as_array().is_some_and(|list| list.len() > MOST)) {
            return Err(format!("an HTTPRoute changes at most {MOST} headers of a kind").into());
        }
        rule.fields.push((
            if direction == "request" {
                "rules.filters.requestHeaderModifier"
            } else {
                "rules.filters.responseHeaderModifier"
            },
            0,
        ));
        filters.push(json!({ "type": kind, field: native }));
    }
    Ok(())
}

fn differ(rule: &mut KubeRule, kind: Kind, effect: &str) {
    let difference = Difference::new(kind, effect);
    if !rule.differences.contains(&difference) {
        rule.differences.push(difference);
    }
}

/// Retries; `beside` if every rule has `retry` already, whose other fields stay.
fn retries(value: &Json, beside: bool, rule: &mut KubeRule) -> Result<(), ErrorMessage> {
    let attempts = value["attempts"].as_u64();
    if attempts == Some(0) || attempts.is_none() && !beside {
        return Err("an HTTPRoute cannot turn retries off: it has at least 1 attempt".into());
    }
    let unknown =
        ["retryIgnorePreviousHosts", "retryRemoteLocalities"].into_iter().find(|field| value.get(field).is_some());
    if let Some(field) = unknown {
        return Err(format!(
            "the mesh's `defaultHttpRetryPolicy` has `{field}`, which an HTTPRoute with `retry` would replace and cannot repeat"
        ).into());
    }
    let mut native = json!({});
    if let Some(attempts) = attempts {
        native["attempts"] = attempts.into();
    }
    match value["retryOn"].as_str() {
        None if beside => {}
        None => differ(
            rule,
            Kind::Behavior,
            "istiod writes its own list of conditions for an HTTPRoute, without `retriable-status-codes`: the request header x-envoy-retriable-status-codes and status codes that another patch adds no longer count",
        ),
        Some(on) => {
            let (codes, mut conditions): (Vec<&str>, Vec<&str>) = on
                .split(',')
                .map(str::trim)
                .filter(|one| !one.is_empty())
                .partition(|one| one.bytes().all(|byte| byte.is_ascii_digit()));
            let numbers: Vec<u64> = codes.iter().filter_map(|code| code.parse().ok()).collect();
            if numbers.iter().any(|code| !(400..600).contains(code)) {
                return Err("an HTTPRoute retries status codes from 400 to 599 only".into());
            }
            let by_code = conditions.iter().position(|one| *one == "retriable-status-codes");
            if let Some(at) = by_code {
                conditions.remove(at);
            }
            let same = conditions.len() == RETRY_ON.len() && RETRY_ON.iter().all(|one| conditions.contains(one));
            if !same || by_code.is_some() == numbers.is_empty() {
                return Err(format!(
                    "an HTTPRoute retries {} and status codes; it has no field for other conditions (`{on}`)",
                    RETRY_ON.join(", ")
                )
                .into());
            }
            if conditions != RETRY_ON || by_code.is_some_and(|at| at != RETRY_ON.len()) {
                differ(rule, Kind::Metadata, "the same retry conditions in a different order");
            }
            if !numbers.is_empty() {
                native["codes"] = numbers.into();
            }
        }
    }
    if let Some(backoff) = value["backoff"].as_str() {
        native["backoff"] = duration(backoff)?.into();
    }
    rule.fields.push(("rules.retry", 25));
    rule.notes.push(
        "`retry` of an HTTPRoute is only in the experimental channel of the Gateway API (1.2 and later): with the CustomResourceDefinitions of the standard channel the API server rejects the field, or drops it without strict validation",
    );
    rule.value["retry"] = native;
    if let Some(text) = value["perTryTimeout"].as_str() {
        rule.value["timeouts"]["backendRequest"] = duration(text)?.into();
        rule.fields.push(("rules.timeouts.backendRequest", 0));
    }
    Ok(())
}

/// An origin of an HTTPRoute for a matcher: those that istiod converts to the same matcher.
fn origin(matcher: &Json) -> Option<String> {
    let of = |key: &str| matcher[key].as_str();
    let text = if let Some(exact) = of("exact").filter(|text| !text.contains('*')) {
        exact.to_owned()
    } else if let Some(prefix) = of("prefix") {
        format!("{prefix}*")
    } else {
        let regex = of("regex")?;
        if regex == ANY_ORIGIN {
            return Some("*".to_owned());
        }
        let inner = regex.strip_prefix('^')?.strip_suffix('$')?;
        let text = inner.split(".*").map(unescape).collect::<Option<Vec<_>>>()?.join("*");
        (text.contains('*') && !text.ends_with('*')).then_some(text)?
    };
    is_origin(&text).then_some(text)
}

/// A literal expression as text; `None` if it is more than a literal.
fn unescape(regex: &str) -> Option<String> {
    let mut text = String::new();
    let mut chars = regex.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => text.push(chars.next().filter(|next| r"\.+*?()|[]{}^$".contains(*next))?),
            c if r".+*?()|[]{}^$".contains(c) => return None,
            c => text.push(c),
        }
    }
    Some(text)
}

/// Whether the API server accepts an origin: a scheme, a host that may start with `*.` or be `*`, and a port.
fn is_origin(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")) else { return false };
    let (host, port) = rest.split_once(':').map_or((rest, None), |(host, port)| (host, Some(port)));
    let number = |port: &str| (1..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit());
    let label = |label: &str| !label.is_empty() && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let named = host.strip_prefix("*.").unwrap_or(host);
    text.len() <= 253 && port.is_none_or(number) && (host == "*" || named.split('.').all(label))
}

fn cors(value: &Json, to: Release, rule: &mut KubeRule, filters: &mut Vec<Json>) -> Result<(), ErrorMessage> {
    let mut native = Map::new();
    if let Some(list) = value["allowOrigins"].as_array() {
        let mut origins = Vec::new();
        for matcher in list {
            let one = origin(matcher)
                .filter(|one| one != "*" || (to >= Release::minor(30) && list.len() == 1))
                .ok_or_else(|| format!("an HTTPRoute has no origin that istiod converts to {matcher}"))?;
            origins.push(one);
        }
        native.insert("allowOrigins".to_owned(), origins.into());
    }
    for key in ["allowMethods", "allowHeaders", "exposeHeaders"] {
        let Some(list) = value[key].as_array() else { continue };
        let names: Vec<&str> = list.iter().filter_map(Json::as_str).collect();
        let fits = |name: &&str| if key == "allowMethods" { METHODS.contains(name) } else { is_name(name) };
        let star = key != "exposeHeaders" && names.contains(&"*") && names.len() > 1;
        if star || names.len() > 64 || !names.iter().all(fits) {
            return Err(format!("an HTTPRoute does not accept this `{key}`").into());
        }
        native.insert(key.to_owned(), list.clone().into());
    }
    if value["allowCredentials"] == true {
        native.insert("allowCredentials".to_owned(), true.into());
    } else if value["allowCredentials"] == false {
        differ(rule, Kind::Metadata, "`allow_credentials: false`, the default, is not written");
    }
    let age = value["maxAge"].as_str().map(|age| age.trim_end_matches('s').parse::<u32>());
    match age {
        Some(Ok(seconds @ 1..=2_147_483_647)) => drop(native.insert("maxAge".to_owned(), seconds.into())),
        Some(_) => return Err("an HTTPRoute needs a `maxAge` of at least 1 s".into()),
        None => {
            native.insert("maxAge".to_owned(), 5.into());
            differ(
                rule,
                Kind::Behavior,
                "answers to preflights say `access-control-max-age: 5`, the default of the field; browsers use 5 s without the header too",
            );
        }
    }
    let ignores = value["unmatchedPreflights"] == "IGNORE";
    if to >= Release::minor(30) && !ignores {
        differ(
            rule,
            Kind::Behavior,
            "the proxy answers preflights of other origins itself; with the filter they are forwarded to the service",
        );
    } else if to < Release::minor(30) && ignores {
        return Err(format!(
            "istiod {}.{} forwards preflights of other origins for an HTTPRoute; the filter does not",
            to.major, to.minor
        )
        .into());
    }
    rule.fields.push(("rules.filters.cors", 26));
    rule.notes.push(
        "the CORS filter of an HTTPRoute is in the standard channel of the Gateway API since 1.5, and in the experimental channel since 1.3",
    );
    filters.push(json!({ "type": "CORS", "cors": native }));
    Ok(())
}

fn rewrite(value: &Json, rule: &mut KubeRule, filters: &mut Vec<Json>) -> Result<(), ErrorMessage> {
    let mut native = Map::new();
    if let Some(host) = value["authority"].as_str() {
        let label = |label: &str| {
            let inner = label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
            inner && !label.is_empty() && !label.starts_with('-') && !label.ends_with('-')
        };
        if host.len() > 253 || !host.split('.').all(label) {
            return Err(format!("an HTTPRoute does not accept the host name {host}").into());
        }
        native.insert("hostname".to_owned(), host.into());
    }
    if let Some(uri) = value["uri"].as_str() {
        if uri.ends_with('/') || !uri.starts_with('/') {
            return Err("istiod removes the last slash of a prefix in an HTTPRoute".into());
        }
        native.insert("path".to_owned(), json!({ "type": "ReplacePrefixMatch", "replacePrefixMatch": uri }));
    }
    if let Some(regex) = value.get("uriRegexRewrite") {
        if regex["match"] != "/.*" {
            return Err("an HTTPRoute replaces the whole path or its prefix, not an expression".into());
        }
        native.insert("path".to_owned(), json!({ "type": "ReplaceFullPath", "replaceFullPath": regex["rewrite"] }));
    }
    rule.fields.push(("rules.filters.urlRewrite", 0));
    filters.push(json!({ "type": "URLRewrite", "urlRewrite": native }));
    Ok(())
}

fn mirrors(value: &Json, rule: &mut KubeRule, filters: &mut Vec<Json>) -> Result<(), ErrorMessage> {
    for mirror in value.as_array().into_iter().flatten() {
        let to = &mirror["destination"];
        let host = to["host"].as_str().unwrap_or_default();
        let service = host.strip_suffix(".svc.cluster.local").and_then(|name| name.split_once('.'));
        let Some((name, namespace)) = service.filter(|(_, namespace)| !namespace.contains('.')) else {
            return Err(format!("an HTTPRoute mirrors to Services, not to {host}").into());
        };
        if to.get("subset").is_some() {
            return Err("an HTTPRoute has no field for a subset".into());
        }
        let mut native =
            json!({ "backendRef": { "name": name, "namespace": namespace, "port": to["port"]["number"] } });
        if let Some(percent) = mirror["percentage"]["value"].as_f64() {
            // In millionths, as istiod writes it for Envoy.
            let millionths = (percent * 10_000.0).round();
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and a million")]
            let numerator = millionths as u64;
            native["fraction"] = json!({ "numerator": numerator, "denominator": 1_000_000 });
            rule.fields.push(("rules.filters.requestMirror.fraction", 24));
        } else {
            rule.fields.push(("rules.filters.requestMirror", 0));
        }
        filters.push(json!({ "type": "RequestMirror", "requestMirror": native }));
    }
    Ok(())
}

/// A rule in the form of a VirtualService's, as far as it says what the rule already sets.
pub(in crate::migrate) fn as_virtual(rule: &Json) -> Json {
    let mut native = json!({});
    put_headers(&mut native, &rule["filters"]);
    let mut routes = Vec::new();
    for backend in rule["backendRefs"].as_array().into_iter().flatten() {
        let mut route = json!({});
        put_headers(&mut route, &backend["filters"]);
        routes.push(route);
    }
    for filter in rule["filters"].as_array().into_iter().flatten() {
        match filter["type"].as_str() {
            Some("CORS") => native["corsPolicy"] = filter["cors"].clone(),
            Some("RequestRedirect") => native["redirect"] = filter["requestRedirect"].clone(),
            Some("URLRewrite") => native["rewrite"] = filter["urlRewrite"].clone(),
            _ => {}
        }
    }
    if let Some(retry) = rule.get("retry") {
        native["retries"] = json!({
            "attempts": retry["attempts"].as_u64().unwrap_or(2),
            "retryOn": RETRY_ON.join(","),
            "codes": retry["codes"],
        });
    }
    let weighs = |backend: &Json| backend["weight"].as_u64() != Some(0);
    if native.get("redirect").is_none() {
        if rule["backendRefs"].as_array().is_some_and(|all| all.iter().any(weighs)) {
            native["route"] = routes.into();
        } else {
            // istiod answers with 500 where a rule has no destination.
            native["directResponse"] = json!({ "status": 500 });
        }
    }
    native
}

fn put_headers(into: &mut Json, filters: &Json) {
    for filter in filters.as_array().into_iter().flatten() {
        let (direction, field) = match filter["type"].as_str() {
            Some("RequestHeaderModifier") => ("request", "requestHeaderModifier"),
            Some("ResponseHeaderModifier") => ("response", "responseHeaderModifier"),
            _ => continue,
        };
        for list in ["set", "add"] {
            for item in filter[field][list].as_array().into_iter().flatten() {
                let name = item["name"].as_str().unwrap_or_default();
                into["headers"][direction][list][name] = item["value"].clone();
            }
        }
        if let Some(remove) = filter[field].get("remove") {
            into["headers"][direction]["remove"] = remove.clone();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_whole_milliseconds() {
        assert_eq!(duration("1.5s").as_deref(), Ok("1s500ms"));
        assert_eq!(duration("7s").as_deref(), Ok("7s"));
        assert_eq!(duration("0.250s").as_deref(), Ok("250ms"));
        assert_eq!(duration("600000s").as_deref(), Ok("10000m"));
        assert!(duration("0.0001s").is_err());
    }

    #[test]
    fn origins_are_those_that_istiod_converts_back() {
        let of = |matcher: Json| origin(&matcher);
        assert_eq!(of(json!({ "exact": "https://a.example.com" })).as_deref(), Some("https://a.example.com"));
        assert_eq!(of(json!({ "prefix": "https://" })).as_deref(), Some("https://*"));
        assert_eq!(of(json!({ "prefix": "https://a" })), None);
        assert_eq!(of(json!({ "regex": r"^https://.*\.example\.com$" })).as_deref(), Some("https://*.example.com"));
        assert_eq!(of(json!({ "regex": r"https://.*\.example\.com" })), None);
        assert_eq!(of(json!({ "regex": r"^https://.*.example\.com$" })), None);
        assert_eq!(of(json!({ "regex": ANY_ORIGIN })).as_deref(), Some("*"));
        assert_eq!(of(json!({ "exact": "null" })), None);
    }
}
