//! Rules that name ports: the filter chain that they are in decides which of them can match.

use serde_json::Value as Json;
use std::collections::BTreeSet;

/// What is known about the destination ports of the connections of a filter chain.
#[derive(Clone, Debug, Default)]
pub(in crate::migrate) struct Chain {
    /// The only one.
    own: Option<u64>,
    /// Those that have a chain of their own.
    elsewhere: BTreeSet<u64>,
}

impl Chain {
    /// Of the filter chain at a path of a listener.
    pub(in crate::migrate) fn of(listener: &Json, path: &str) -> Chain {
        let chain = path.split("/filters/").next().and_then(|path| listener.pointer(path));
        let of_chain = |chain: &Json| chain.pointer("/filter_chain_match/destination_port").and_then(Json::as_u64);
        let chains = listener["filter_chains"].as_array().map_or(&[][..], Vec::as_slice);
        // A listener for connections that iptables redirects has a port of its own, which is not theirs.
        let redirected = listener["name"] == "virtualInbound";
        let bound = || listener.pointer("/address/socket_address/port_value").and_then(Json::as_u64);
        Chain {
            own: chain.and_then(of_chain).or_else(|| if redirected { None } else { bound() }),
            elsewhere: chains.iter().filter_map(of_chain).collect(),
        }
    }

    /// Whether its connections are for a port; `None` if it is unknown.
    pub(in crate::migrate) fn is_for(&self, port: u64) -> Option<bool> {
        match self.own {
            Some(own) => Some(own == port),
            None if self.elsewhere.contains(&port) => Some(false),
            None => None,
        }
    }

    /// Whether they are all for one port.
    pub(in crate::migrate) const fn has_one(&self) -> bool {
        self.own.is_some()
    }
}

/// Whether what only the native side has at a path of a listener is an RBAC filter with a rule that names the port of its chain.
pub(in crate::migrate) fn names_its_own(listener: &Json, path: &str, added: &Json) -> bool {
    const RBAC: [&str; 2] = ["envoy.filters.network.rbac", "envoy.filters.http.rbac"];
    let is_rbac = added.get("name").and_then(Json::as_str).is_some_and(|name| RBAC.contains(&name));
    if !is_rbac {
        return false;
    }
    let chain = path.split("/filters/").next().and_then(|path| listener.pointer(path));
    let of_chain = chain.and_then(|chain| chain.pointer("/filter_chain_match/destination_port"));
    let port = of_chain.or_else(|| listener.pointer("/address/socket_address/port_value"));
    port.is_some_and(|port| names(added, port))
}

/// Whether a rule names a port.
fn names(rule: &Json, port: &Json) -> bool {
    match rule {
        Json::Object(map) => {
            map.iter().any(|(key, value)| key == "destination_port" && value == port || names(value, port))
        }
        Json::Array(items) => items.iter().any(|item| names(item, port)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::migrate::base::verdict::Class;
    use crate::migrate::proofs::compare::{Resources, class, differences, explain};
    use serde_json::json;
    use std::collections::BTreeMap;

    /// A rule that names the port of a TCP chain decides there; in a chain of another port it never does.
    #[test]
    fn a_rule_decides_in_the_chain_of_its_port() {
        let of = |filters: Json| {
            let chain = json!({ "filter_chain_match": { "destination_port": 8080 }, "filters": filters });
            let listener =
                json!({ "filter_chains": [chain], "address": { "socket_address": { "port_value": 15006 } } });
            Resources::from([("listener".to_owned(), BTreeMap::from([("virtualInbound".to_owned(), listener)]))])
        };
        let tcp = json!({ "name": "envoy.filters.network.tcp_proxy" });
        let deny = |port: u32| {
            let rules =
                json!({ "action": "DENY", "policies": { "p": { "permissions": [{ "destination_port": port }] } } });
            json!({ "name": "envoy.filters.network.rbac", "typed_config": { "rules": rules } })
        };
        let class_of = |port| {
            let found = differences(&of(json!([tcp])), &of(json!([deny(port), tcp])), &BTreeMap::new());
            class(&found.iter().map(|one| explain("cart", one, &[])).collect::<Vec<_>>())
        };
        assert_eq!(class_of(8080), Class::Differs);
        assert_eq!(class_of(9090), Class::SameBut);
    }
    /// In the chain of a port, a condition on another port never holds; elsewhere, only if that port has a chain.
    #[test]
    fn the_chain_decides_conditions_on_ports() {
        let of = |port: Json, policies: Json| {
            let filter =
                json!({ "name": "envoy.filters.http.rbac", "typed_config": { "rules": { "policies": policies } } });
            let chain = |port: Json, filters: Json| json!({ "filter_chain_match": { "destination_port": port }, "filters": [{ "http_filters": filters }] });
            let chains = json!([chain(port, json!([filter])), chain(json!(9000), json!([]))]);
            let listener = json!({ "name": "virtualInbound", "filter_chains": chains });
            Resources::from([("listener".to_owned(), BTreeMap::from([("virtualInbound".to_owned(), listener)]))])
        };
        let path = json!({ "url_path": { "path": { "exact": "/x" } } });
        let rule = |all: Json| json!({ "permissions": all, "principals": [{ "any": true }] });
        let named = |port: u32| json!({ "p": rule(json!([{ "and_rules": { "rules": [path, { "destination_port": port }] } }])) });
        let class_of = |chain: Json, before: Json, after: Json| {
            let found = differences(&of(chain.clone(), before), &of(chain, after), &BTreeMap::new());
            class(&found.iter().map(|one| explain("cart", one, &[])).collect::<Vec<_>>())
        };
        let either = |port: u32| json!({ "p": rule(json!([path, { "destination_port": port }])) });
        assert_eq!(class_of(json!(8080), either(9000), named(8080)), Class::SameBut);
        assert_eq!(class_of(json!(8080), either(8080), named(8080)), Class::Differs);
        assert_eq!(class_of(json!(8080), json!({ "p": rule(json!([path])) }), named(8081)), Class::Differs);
        assert_eq!(class_of(Json::Null, either(9000), named(8080)), Class::SameBut);
        assert_eq!(class_of(Json::Null, either(9001), named(8080)), Class::Differs);
        let alone = |rules: Json| {
            let config =
                json!({ "@type": "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC", "rules": rules });
            let filters = json!([{ "name": "envoy.filters.http.rbac", "typed_config": config }]);
            let of = |filters: Json| {
                let listener = json!({
                    "address": { "socket_address": { "port_value": 8443 } },
                    "filter_chains": [{ "filters": [{ "http_filters": filters }] }],
                });
                Resources::from([("listener".to_owned(), BTreeMap::from([("0.0.0.0_8443".to_owned(), listener)]))])
            };
            let found = differences(&of(json!([])), &of(filters), &BTreeMap::new());
            class(&found.iter().map(|one| explain("gateway", one, &[])).collect::<Vec<_>>())
        };
        assert_eq!(alone(json!({ "action": "DENY", "policies": named(8080) })), Class::SameBut);
        assert_eq!(alone(json!({ "action": "DENY", "policies": named(8443) })), Class::Differs);
        // Without a rule that matches, an ALLOW filter refuses everything.
        assert_eq!(alone(json!({ "action": "ALLOW", "policies": named(8080) })), Class::Differs);
    }
}
