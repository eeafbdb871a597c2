//! Settings of proxies (`proxy.istio.io/config`): as the mesh's default or as an annotation.

use crate::migrate::base::catalog::Pattern;
use crate::migrate::base::step::{Cx, Move, Part};
use crate::migrate::base::value::set_at;
use crate::migrate::guards::whole::{MESH_WIDE, of_pattern};
use crate::migrate::objects::mesh::Proxies;
use crate::migrate::output::draft::Action;
use serde_json::{Value as Json, json};

/// Writes settings of proxies: as the mesh's default if it applies to the same proxies, otherwise as an annotation.
pub(in crate::migrate) fn write(cx: &Cx<'_>, part: &Part<'_>, found: &mut Move, proxy: Json) {
    let action = if cx.mesh.is_mesh_wide(cx.filter) && found.pattern_reads_mesh(&proxy) {
        Action::Mesh(json!({ "defaultConfig": proxy }))
    } else {
        found.notes.extend(repeated(cx, &proxy));
        Action::Proxy { config: proxy, gateways: part.reach.proxies == Proxies::Gateway }
    };
    found.actions.push(action);
    found.notes.push("proxies read these settings at start-up: restart the workloads".to_owned());
}

/// Writes a setting of the annotation `proxy.istio.io/config`: its path, and the minor release since which it exists.
pub(in crate::migrate) fn annotate(
    found: &mut Move,
    proxy: &mut Json,
    pattern: &'static Pattern,
    (path, since): (&str, u16),
    value: impl Into<Json>,
) {
    of_pattern(found, pattern);
    found.add_home("proxy.istio.io/config", path.replace('/', "."), since);
    set_at(proxy, path, value);
}

/// An annotation that sets part of a field hides all of it.
fn repeated(cx: &Cx<'_>, proxy: &Json) -> Option<String> {
    let mesh = cx.mesh.mesh_config()?;
    let hidden = proxy.as_object()?.keys().find(|key| mesh.pointer(&format!("/defaultConfig/{key}")).is_some())?;
    Some(format!(
        "the annotation hides all of `{hidden}` that `meshConfig.defaultConfig` sets, so it repeats what the filter leaves"
    ))
}

impl Move {
    /// Whether the mesh's default applies to the same proxies as the filter.
    fn pattern_reads_mesh(&self, proxy: &Json) -> bool {
        let only_gateways = proxy.as_object().is_some_and(|map| map.keys().all(|key| key == "gatewayTopology"));
        only_gateways || self.guards.iter().any(|guard| guard.reason == MESH_WIDE)
    }
}
