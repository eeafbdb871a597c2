//! What patches are for: the clusters of a host, and the namespace of the clients.

use crate::engine::matching;
use crate::migrate::base::step::{Cx, Part};
use crate::migrate::objects::mesh::Mesh;
use crate::model::envoy_filter::ObjectMatch;
use crate::source::ErrorMessage;

/// The clusters that a patch matches.
pub(in crate::migrate) struct Target {
    /// The host.
    pub host: String,
    /// The port; `None` for all.
    pub port: Option<u32>,
    /// The subset; `None` for all if not `by_name`.
    pub subset: Option<String>,
    /// Whether it is one cluster by its full name, which excludes clusters of subsets.
    pub by_name: bool,
}

/// The clusters of one host that a patch matches; `None` if it names none, or the clusters of inbound traffic.
pub(in crate::migrate) fn target(part: &Part<'_>) -> Option<Target> {
    let ObjectMatch::Cluster(cluster) = &part.built.object else { return None };
    if !cluster.name.is_empty() {
        let key = matching::parse_subset_key(&cluster.name);
        return (key.direction == "outbound" && key.port != 0 && !key.host.is_empty()).then(|| Target {
            host: key.host.to_owned(),
            port: Some(key.port),
            subset: (!key.subset.is_empty()).then(|| key.subset.to_owned()),
            by_name: true,
        });
    }
    (!cluster.service.is_empty()).then(|| Target {
        host: cluster.service.clone(),
        port: (cluster.port_number != 0).then_some(cluster.port_number),
        subset: (!cluster.subset.is_empty()).then(|| cluster.subset.clone()),
        by_name: false,
    })
}

/// The namespace whose clients a filter reaches.
pub(in crate::migrate) fn client_namespace<'a>(cx: &Cx<'a>) -> Result<&'a str, ErrorMessage> {
    if cx.filter.namespace != cx.mesh.root {
        return Ok(&cx.filter.namespace);
    }
    if !Mesh::is_narrow(cx.filter) {
        return Ok(&cx.filter.namespace);
    }
    match cx.mesh.namespaces(cx.filter) {
        Some(namespaces) if namespaces.len() == 1 => namespaces.into_iter().next().ok_or_else(|| "".into()),
        Some(_) => Err("the filter selects workloads in several namespaces: each needs its own object".into()),
        None => Err("the namespaces of the workloads that the filter selects are unknown".into()),
    }
}
