//! EF359: a connection manager that requests routes by a name for which istiod has none.

use crate::declare_rule;
use crate::lint::value::{Object, PatchValue};
use crate::lint::walk::get;
use crate::lint::{Context, Finding, Findings, RuleInfo};
use crate::model::envoy_filter::{ApplyTo, PatchContext};
use crate::source::escape::one_line;

declare_rule! {
    /// A connection manager of a sidecar that requests routes from istiod by a name of your own.
    ///
    /// # What it finds
    /// With context SIDECAR_INBOUND or SIDECAR_OUTBOUND, `rds.route_config_name` with another name than a port
    /// (`8080`, `host:8080`), `http_proxy` or a Unix socket (`unix:…`), if the routes come from istiod (`ads`).
    ///
    /// # Why it matters
    /// istiod reads the port in the name. For other names it answers with a route configuration without virtual hosts,
    /// which no patch reaches: every request gets 404.
    ///
    /// # How to fix
    /// Write the routes into the connection manager with `route_config`, or keep istiod's name.
    ///
    /// # References
    /// istiod `httproute.go`, `extractListenerPort`, 1.22 to 1.31; computed by istiod 1.31.
    "EF359" "routes-never-served" Operation Error => check
}

const RDS: &str = "envoy.extensions.filters.network.http_connection_manager.v3.Rds";

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    let sidecar = |value: &&PatchValue<'_>| {
        let patch = value.view.patch;
        let kinds = [ApplyTo::Listener, ApplyTo::FilterChain, ApplyTo::NetworkFilter];
        let sides = [PatchContext::SidecarInbound, PatchContext::SidecarOutbound];
        kinds.contains(&patch.apply_to) && sides.contains(&patch.context)
    };
    for value in cx.values().iter().filter(sidecar) {
        out.extend(value.objects.iter().filter_map(|object| unserved(rule, value, object)));
    }
}

fn unserved(rule: &'static RuleInfo, value: &PatchValue<'_>, object: &Object<'_>) -> Option<Finding> {
    if object.full_name() != RDS {
        return None;
    }
    let written = &object.member("route_config_name")?.entry.value;
    let name = written.as_str().filter(|name| !name.is_empty() && !is_served(name))?;
    // Without a source, a MERGE keeps istiod's.
    if object.member("config_source").is_some_and(|source| get(&source.entry.value, "ads").is_none()) {
        return None;
    }
    Some(
        value
            .finding(rule, written.span, format!("istiod has no routes named `{}`", one_line(name)))
            .label("neither a port nor `host:port`")
            .note("istiod answers with an empty route configuration, which no patch reaches: requests get 404")
            .snippet("write the routes instead of `rds`:\nroute_config:\n  virtual_hosts: […]"),
    )
}

/// Whether istiod builds routes for a name, as in its `extractListenerPort`.
fn is_served(name: &str) -> bool {
    let port = name.split_once(':').map_or(name, |(_, port)| port);
    name == "http_proxy" || name.starts_with("unix:") || port.parse::<i64>().is_ok()
}
