//! Names of new extension providers: one that the mesh has under the same name is another service.

use crate::migrate::base::step::Cx;
use crate::migrate::objects::index::joined;
use crate::words::fnv;
use serde_json::Value as Json;
use std::collections::BTreeSet;

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
