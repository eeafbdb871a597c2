//! The configuration of a proxy in the format of Envoy's `/config_dump`, which the rest of this program reads.

use super::ads::{Configuration, Named};
use super::node::Node;
use serde_json::{Value, json};
use std::io::{self, Write};

/// Replaces the version of every resource: istiod's own is a time and a counter.
const VERSION: &str = "bottled";

/// Writes a dump. The same configuration gives the same bytes.
pub(crate) fn write(out: &mut dyn Write, node: &Node, configuration: &Configuration) -> io::Result<()> {
    let mut metadata: Vec<_> = node.metadata.iter().collect();
    metadata.sort_by_key(|(key, _)| key.as_str());
    let metadata: Value = metadata.into_iter().map(|(key, value)| (key.clone(), value.clone())).collect();
    let node = json!({
        "id": node.id(), "cluster": node.cluster(), "metadata": metadata, "user_agent_name": "envoy",
    });
    writeln!(out, "{{\n \"configs\": [")?;
    writeln!(
        out,
        "  {{\"@type\":\"type.googleapis.com/envoy.admin.v3.BootstrapConfigDump\",\"bootstrap\":{{\"node\":{node}}}}},"
    )?;
    section(out, "Clusters", "dynamic_active_clusters", &configuration.clusters, &|_, text| {
        format!(r#"{{"version_info":"{VERSION}","cluster":{text}}}"#)
    })?;
    writeln!(out, ",")?;
    section(out, "Listeners", "dynamic_listeners", &configuration.listeners, &|name, text| {
        let name = Value::from(name);
        format!(r#"{{"name":{name},"active_state":{{"version_info":"{VERSION}","listener":{text}}}}}"#)
    })?;
    writeln!(out, ",")?;
    section(out, "Routes", "dynamic_route_configs", &configuration.routes, &|_, text| {
        format!(r#"{{"version_info":"{VERSION}","route_config":{text}}}"#)
    })?;
    writeln!(out, ",")?;
    section(out, "Ecds", "ecds_filters", &configuration.extensions, &|_, text| {
        format!(r#"{{"version_info":"{VERSION}","ecds_filter":{text}}}"#)
    })?;
    if !configuration.endpoints.is_empty() {
        writeln!(out, ",")?;
        section(out, "Endpoints", "dynamic_endpoint_configs", &configuration.endpoints, &|_, text| {
            format!(r#"{{"version_info":"{VERSION}","endpoint_config":{text}}}"#)
        })?;
    }
    writeln!(out, "\n ]\n}}")
}

/// The dump as text.
pub fn text(node: &Node, configuration: &Configuration) -> String {
    let mut out = Vec::new();
    // Writing to memory does not fail.
    let _ = write(&mut out, node, configuration);
    String::from_utf8(out).unwrap_or_default()
}

fn section(
    out: &mut dyn Write,
    part: &str,
    key: &str,
    named: &Named,
    item: &dyn Fn(&str, &str) -> String,
) -> io::Result<()> {
    write!(out, "  {{\"@type\":\"type.googleapis.com/envoy.admin.v3.{part}ConfigDump\",\"{key}\":[")?;
    for (at, (name, text)) in named.iter().enumerate() {
        // Only this program uses the suffix #2 for a repeated name.
        let name = name
            .rsplit_once('#')
            .filter(|(first, _)| named.contains_key(*first))
            .map_or(name.as_str(), |(name, _)| name);
        write!(out, "{}\n   {}", if at == 0 { "" } else { "," }, item(name, text.as_ref()))?;
    }
    write!(out, "]}}")
}
