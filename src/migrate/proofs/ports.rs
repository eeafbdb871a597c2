//! Rules that name the port of the filter chain that they are in.

use serde_json::Value as Json;

/// Marks a rule that names the port of its chain, among the names along its path.
pub(in crate::migrate) const OWN: &str = "its port";

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
}
