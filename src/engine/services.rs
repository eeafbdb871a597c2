//! Outbound clusters that an annotation of a filter adds to a waypoint: their hosts, and the sources of their content.
//!
//! istiod `pilot/pkg/networking/core/cluster.go`, releases 1.26 to 1.31.

use super::compat::Behaviour;
use super::run::Slot;
use super::{Options, Plan, matching};
use crate::model::envoy_filter::{EnvoyFilter, ObjectMatch};
use crate::model::proxy::ProxyKind;
use crate::model::resource::{ProxyConfig, ResourceKind};
use crate::proto::json::{self, Style};
use crate::proto::schema::Schema;
use std::collections::{BTreeMap, BTreeSet};

/// Annotation that adds outbound clusters of services to a waypoint (istiod 1.26 and later): hosts or `namespace/host`,
/// separated by commas.
pub const REFERENCED_SERVICES: &str = "envoyfilter.istio.io/referenced-services";

/// The hosts that a filter's annotation names.
pub fn referenced_by(filter: &EnvoyFilter) -> impl Iterator<Item = &str> {
    let list = filter.annotations.get(REFERENCED_SERVICES).map(String::as_str).unwrap_or_default();
    list.split(',')
        .map(|reference| reference.split_once('/').map_or(reference, |(_, host)| host))
        .filter(|host| !host.is_empty())
}

fn is_of(name: &str, host: &str) -> bool {
    name.starts_with("outbound") && matching::parse_subset_key(name).host == host
}

/// Whether a match may select an outbound cluster of a host; its ports and subsets are unknown.
pub(super) fn perhaps_of(object: &ObjectMatch, host: &str) -> bool {
    let Some(want) = matching::cluster_match(object) else { return true };
    if !want.name.is_empty() {
        return is_of(&want.name, host);
    }
    want.service.is_empty() || want.service == host
}

/// The outbound clusters of these hosts in a configuration, as JSON with proto field names, by name.
pub fn clusters_of(config: &ProxyConfig<'_>, hosts: &BTreeSet<&str>) -> BTreeMap<String, String> {
    let wanted = |name: &str| hosts.iter().any(|host| is_of(name, host));
    config
        .generated(ResourceKind::Cluster)
        .filter(|(_, resource)| wanted(&resource.name))
        .map(|(index, resource)| {
            let mut slot = Slot {
                kind: ResourceKind::Cluster,
                source: Some(index),
                name: resource.name.clone(),
                text: resource.json,
                tree: None,
                packed: None,
                touched: false,
                removed: false,
            };
            let text = json::write(slot.open(config, Schema::newest()), Style::Compact);
            (resource.name.to_string(), text)
        })
        .collect()
}

/// Adds the outbound clusters that annotations of attached filters bring to a waypoint; returns the hosts without a known
/// cluster.
pub(super) fn add_referenced<'a>(
    plan: &Plan<'a>,
    config: &'a ProxyConfig<'a>,
    options: &'a Options,
    clusters: &mut Vec<Slot<'a>>,
) -> Vec<String> {
    let mut unknown = Vec::new();
    if plan.proxy.kind != ProxyKind::Waypoint || !plan.compat.has(Behaviour::ReferencedServices) {
        return unknown;
    }
    let hosts: BTreeSet<&str> = plan.order.iter().flat_map(|&filter| referenced_by(&plan.filters[filter])).collect();
    for host in hosts {
        if clusters.iter().any(|slot| is_of(&slot.name, host)) {
            continue;
        }
        let given = options.service_clusters.iter().filter(|(name, _)| is_of(name, host));
        let lent = config.lent.iter().filter(|(name, _)| is_of(name, host));
        let known: BTreeMap<&String, &String> = lent.chain(given).collect();
        if known.is_empty() {
            unknown.push(host.to_owned());
        }
        clusters.extend(known.into_iter().map(|(name, text)| Slot {
            kind: ResourceKind::Cluster,
            source: None,
            name: name.as_str().into(),
            text: text.into(),
            tree: json::parse(text).ok().map(Box::new),
            packed: None,
            touched: true,
            removed: false,
        }));
    }
    unknown
}
