//! Captures: what a run read from a cluster, in a folder or an archive; and `istioctl bug-report` archives.
//!
//! ```text
//! capture.json                          versions and origin
//! resources/<Kind>/<namespace>/<name>.yaml
//! dumps/<namespace>/<pod>.json
//! ```
//!
//! The layout of a bug report is that of Istio's `tools/bug-report` (`pkg/archive`, `pkg/content`; release 1.31): objects in
//! `cluster/k8s-resources`, `cluster/k8s-cluster-resources` and `cluster/crs`, dumps in
//! `proxies/<namespace>/<pod>/config_dump…`.

mod members;
mod pack;
mod read;

pub use pack::{Form, Pack};
pub use read::Capture;

/// Name of the description of a capture.
const DESCRIPTION: &str = "capture.json";

/// Whether a path is a capture or a bug report, rather than a dump or a folder of dumps.
pub(crate) fn is_capture(path: &std::path::Path) -> bool {
    Form::of(path).is_some_and(|form| form != Form::Folder) || path.join(DESCRIPTION).is_file()
}
