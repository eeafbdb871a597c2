//! New extension providers: their names (one that the mesh has under the same name is another service), and their services.

use crate::engine::matching;
use crate::migrate::base::step::Cx;
use crate::migrate::objects::index::joined;
use crate::source::ErrorMessage;
use crate::words::{MOST_NAMES, fnv};
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// What has the settings of a provider, as the subject of a sentence.
pub(super) const PROVIDER: &str = "a provider in `meshConfig.extensionProviders`";

/// Length of `-` and a number of two digits.
const NUMBERED: usize = 3;
/// Length of `-` and a hash.
const HASHED: usize = 17;
/// Maximum length of a provider's name (`validateProviderName` in `extauthz.go`, istiod 1.31, which also refuses everything except
/// lower-case letters, digits and hyphens; a policy with a refused provider denies every request).
const LONGEST: usize = 63;

/// The name of a filter's provider: that of the filter with its namespace, unless a provider of the mesh with other settings or
/// another filter has it.
pub(in crate::migrate) fn name(cx: &Cx<'_>, suffix: &str, settings: &Json) -> String {
    let (name, namespace) = (&cx.filter.name, &cx.filter.namespace);
    let own = joined(name, namespace);
    // `a-b` in `c` and `a` in `b-c` have the same name.
    let shared = cx.mesh.index.is_shared(&own);
    let room = LONGEST - suffix.len() - NUMBERED;
    let plain = if shared || own.len() > room {
        let kept: String = own.chars().take(room - HASHED).collect();
        format!("{}-{:016x}{suffix}", kept.trim_end_matches('-'), fnv(&format!("{namespace}/{name}")))
    } else {
        format!("{own}{suffix}")
    };
    let mut free = plain.clone();
    let mesh = cx.mesh.mesh_config();
    let providers = mesh.and_then(|mesh| mesh.get("extensionProviders")).and_then(Json::as_array);
    let taken: BTreeSet<&str> = providers
        .into_iter()
        .flatten()
        .filter(|known| !same(known, settings))
        .filter_map(|known| known["name"].as_str())
        .collect();
    let mut number = 1;
    while taken.contains(free.as_str()) {
        number += 1;
        free = format!("{plain}-{number}");
    }
    free
}

/// Whether a provider has these settings.
fn same(known: &Json, settings: &Json) -> bool {
    let mut known = known.clone();
    if let Some(map) = known.as_object_mut() {
        map.shift_remove("name");
    }
    known == *settings
}

/// Host and port of a service: from the name of a generated cluster (`outbound|PORT||HOST`), or from the endpoints of a cluster
/// that a filter adds under that name; else why a provider cannot name it, and what would help.
pub(super) fn service_of(cx: &Cx<'_>, cluster: &str) -> Result<(String, u32), ErrorMessage> {
    if !cluster.contains('|') {
        return cx.names.cluster(cx.index, cluster).cloned().ok_or_else(|| unknown(cx, cluster).into());
    }
    let key = matching::parse_subset_key(cluster);
    if key.direction != "outbound" || key.port == 0 {
        return Err(format!(
            "a provider names a Service and its port, and cluster {cluster} is not that of a Service (`outbound|PORT||HOST`): name that in the filter"
        )
        .into());
    }
    if !key.subset.is_empty() {
        return Err(format!(
            "a provider names a Service, not one of its subsets, and cluster {cluster} is that of subset {}: give its pods a Service of their own, and name that in the filter",
            key.subset
        )
        .into());
    }
    Ok((key.host.to_owned(), key.port))
}

/// Why nothing shows which service is behind a cluster that istiod does not name.
fn unknown(cx: &Cx<'_>, cluster: &str) -> String {
    if let Some(all) = cx.names.clusters.get(cluster) {
        let titles: Vec<&str> = all.keys().take(MOST_NAMES).map(|filter| cx.names.title(*filter)).collect();
        let more = match all.len() - titles.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        return format!(
            "the EnvoyFilters {}{more} add cluster {cluster} with different endpoints: give each its own name to show which of them is asked",
            titles.join(" and ")
        );
    }
    if let Some((title, reason)) = cx.names.unnamed.get(cluster) {
        return format!(
            "a provider names a host, and cluster {cluster}, which EnvoyFilter {title} adds, shows none: {reason}"
        );
    }
    let read = cx.names.titles().len();
    format!(
        "a provider names a Service, and nothing shows which one cluster {cluster} leads to: it is no cluster of istiod (`outbound|PORT||HOST`), and no EnvoyFilter of the input ({read} read) adds it. Add the EnvoyFilter that does, or name the Service's cluster in this one"
    )
}
