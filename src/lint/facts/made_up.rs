//! What made-up workloads are called: those that stand for the proxies a filter may meet.

use crate::model::proxy::{GATEWAY_NAME_LABEL, Proxy};
use std::fmt::Write as _;

/// The namespace of made-up workloads that filters of the root namespace meet.
pub(crate) const ANY_NAMESPACE: &str = "any-namespace";

/// The gateway of made-up gateways and waypoints whose name no filter gives.
pub(crate) const ANY_GATEWAY: &str = "any-gateway";

/// What a made-up workload is called: what filters can tell it by.
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
