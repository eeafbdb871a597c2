//! Names of sample workloads, which stand for the proxies that a filter may reach.

use crate::model::proxy::{GATEWAY_NAME_LABEL, Proxy};
use std::fmt::Write as _;

/// The namespace of sample workloads for filters in the root namespace.
pub(crate) const ANY_NAMESPACE: &str = "any-namespace";

/// The gateway of sample gateways and waypoints that no filter names.
pub(crate) const ANY_GATEWAY: &str = "any-gateway";

/// The display name of a sample workload: the properties that filters select by.
pub(crate) fn label(proxy: &Proxy) -> String {
    let mut label = format!("a {}", proxy.kind.as_str());
    if let Some(gateway) = proxy.gateway_name().filter(|name| *name != ANY_GATEWAY) {
        let _ = write!(label, " {gateway}");
    }
    let own = proxy.labels.iter().filter(|(key, _)| *key != GATEWAY_NAME_LABEL);
    let labels: Vec<String> = own.map(|(key, value)| format!("{key}={value}")).collect();
    if !labels.is_empty() {
        let _ = write!(label, " with {}", labels.join(", "));
    }
    if proxy.namespace == ANY_NAMESPACE {
        label.push_str(" in any namespace");
    } else {
        let _ = write!(label, " in {}", proxy.namespace);
    }
    label
}
