//! Settings of proxies (`proxy.istio.io/config`): as the mesh's default or as an annotation.

use crate::migrate::base::catalog::Pattern;
use crate::migrate::base::step::{Cx, Move, Part};
use crate::migrate::base::value::{merge, set_at};
use crate::migrate::base::verdict::{Concern, Kind, State};
use crate::migrate::guards::whole::{MESH_WIDE, of_pattern};
use crate::migrate::objects::mesh::Proxies;
use crate::migrate::output::change::settings_of;
use crate::migrate::output::draft::Action;
use crate::model::proxy_config::ANNOTATION;
use serde_json::{Value as Json, json};

/// Writes settings of proxies: as the mesh's default if it applies to the same proxies, otherwise as an annotation.
pub(in crate::migrate) fn write(cx: &Cx<'_>, part: &Part<'_>, found: &mut Move, proxy: Json) {
    let action = if cx.mesh.is_mesh_wide(cx.filter) && found.pattern_reads_mesh(&proxy) {
        if let Some(reason) = hidden(cx, &proxy) {
            found.difference(Kind::Behavior, reason.clone());
            found.guard(Concern::Existing, State::Broken, reason);
        }
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
    setting: (&str, u16),
    value: impl Into<Json>,
) {
    of_pattern(found, pattern);
    place(found, proxy, setting, value);
}

/// Writes a setting of a move that has its pattern and title.
pub(in crate::migrate) fn place(
    found: &mut Move,
    proxy: &mut Json,
    (path, since): (&str, u16),
    value: impl Into<Json>,
) {
    found.add_home("proxy.istio.io/config", path.replace('/', "."), since);
    set_at(proxy, path, value);
}

/// Why a default of the mesh does not reach a workload: its annotation has the field, with other values.
fn hidden(cx: &Cx<'_>, proxy: &Json) -> Option<String> {
    cx.mesh.workloads(cx.filter).find_map(|workload| {
        let own = settings_of(workload.annotations.get(ANNOTATION)?);
        let (key, _) = proxy.as_object()?.iter().find(|(key, value)| {
            own.get(key.as_str()).is_some_and(|own| {
                let mut both = own.clone();
                merge(&mut both, value);
                both != *own
            })
        })?;
        Some(format!(
            "the annotation `{ANNOTATION}` of {}/{} sets `{key}`, which hides all of that default of the mesh; the filter overrides both",
            workload.object.namespace, workload.object.name
        ))
    })
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
