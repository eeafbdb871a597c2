//! Built-in reference configurations: what istiod generates for a sidecar, a gateway and a waypoint, by release.
//!
//! Recorded from istio.io/istio's own configuration generator (releases 1.22.8, 1.24.6, 1.26.8, 1.28.10 and the 1.31 line), the
//! topologies of `testdata/reference`. Used where no config dump was given.

use super::dump::Dump;
use crate::model::release::Release;

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

/// The reference configurations nearest to a release: those of the newest recorded release that is not younger, or else
/// of the oldest.
pub fn dumps(release: Release) -> Vec<Dump> {
    let recorded = PACKED.iter().map(|(recorded, ..)| *recorded);
    let oldest = Release::OLDEST;
    let nearest = recorded.filter(|recorded| *recorded <= release).max().unwrap_or(oldest);
    let of_release = PACKED.iter().filter(|(recorded, ..)| *recorded == nearest);
    of_release
        .filter_map(|(release, name, bytes)| {
            Dump::from_reader(format!("reference {name} of Istio {}.{}", release.major, release.minor), *bytes).0
        })
        .collect()
}
