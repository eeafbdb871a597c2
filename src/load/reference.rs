//! Built-in reference configurations: what istiod generates for a sidecar, a gateway and a waypoint, by release.
//!
//! Recorded from istio.io/istio's own configuration generator (releases 1.22.8, 1.24.6, 1.26.8, 1.28.10 and the 1.31 line),
//! with the topologies of `testdata/reference`. Used when no config dump is given.

use super::dump::{Dump, Identity, Layout};
use crate::budget;
use crate::model::release::Release;
use crate::model::resource::{Opened, ProxyConfig, Resource};
use std::sync::{Arc, OnceLock};

/// A reference configuration: release, name of the proxy, packed dump.
type Packed = (Release, &'static str, &'static [u8]);

macro_rules! packed {
    ($($minor:literal: $($name:literal),+;)+) => {
        &[$($((
            Release::minor($minor),
            $name,
            include_bytes!(concat!("reference/1.", stringify!($minor), "-", $name, ".json.zst")),
        )),+),+]
    };
}

const PACKED: &[Packed] = packed! {
    22: "cart", "ingress", "front";
    24: "cart", "ingress", "front", "waypoint";
    26: "cart", "ingress", "front", "waypoint";
    28: "cart", "ingress", "front", "waypoint";
    31: "cart", "ingress", "front", "waypoint";
};

/// The recorded release used for a release: the newest that is not younger, or else the oldest.
pub fn recorded(release: Release) -> Release {
    let recorded = PACKED.iter().map(|(recorded, ..)| *recorded);
    recorded.filter(|recorded| *recorded <= release).max().unwrap_or(Release::OLDEST)
}

/// The dumps of one recorded release and their configurations.
type Kept = (OnceLock<Vec<Dump>>, OnceLock<Vec<ProxyConfig<'static>>>);

/// The reference configurations for a release (see [`recorded`]). A kind of proxy that was not recorded there comes from the
/// next release. They are read once per process.
pub fn configs(release: Release) -> &'static [ProxyConfig<'static>] {
    static KEPT: [Kept; PACKED.len()] = [const { (OnceLock::new(), OnceLock::new()) }; PACKED.len()];
    let nearest = recorded(release);
    let place = PACKED.iter().position(|(recorded, ..)| *recorded == nearest).and_then(|place| KEPT.get(place));
    let Some((kept, configs)) = place else { return &[] };
    let kept = kept.get_or_init(|| budget::unmetered(|| dumps(nearest)));
    configs.get_or_init(|| budget::unmetered(|| kept.iter().filter_map(config).collect()))
}

fn dumps(nearest: Release) -> Vec<Dump> {
    let mut names: Vec<&str> = Vec::new();
    let mut dumps = Vec::new();
    for (recorded, name, bytes) in PACKED.iter().filter(|(recorded, ..)| *recorded >= nearest) {
        if names.contains(name) {
            continue;
        }
        names.push(name);
        let (major, minor) = (recorded.major, recorded.minor);
        dumps.extend(Dump::from_reader(format!("reference {name} of Istio {major}.{minor}"), *bytes, Layout::Kept).0);
    }
    dumps
}

fn config(dump: &'static Dump) -> Option<ProxyConfig<'static>> {
    let mut config = dump.config(&Identity::default()).ok()?;
    let opened = |resource: &Resource<'static>| Some(Arc::new(Opened::new(resource.json.read())));
    config.resources =
        config.resources.iter().map(|resource| Resource { opened: opened(resource), ..resource.clone() }).collect();
    Some(config)
}
