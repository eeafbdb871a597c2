//! The linter: rules that run on the engine's results, and their findings.
//!
//! From the bottom: [`rule`] and [`finding`] are data; [`facts`] and [`value`] compute what rules need; [`native`] has
//! what other Istio APIs can express; [`check`] declares rules; [`custom`] reads user-written rules; [`settings`] has
//! configurations, suppressions and baselines; [`run`] goes from input to findings; [`upgrade`] compares two releases;
//! [`output`] is shared by reports.

pub mod check;
#[cfg(feature = "custom-rules")]
pub mod custom;
#[cfg(not(feature = "custom-rules"))]
#[path = "custom/absent.rs"]
pub(crate) mod custom;
pub(crate) mod facts;
pub(crate) mod finding;
pub(crate) mod limits;
pub(crate) mod native;
pub(crate) mod output;
pub mod rule;
pub(crate) mod run;
pub(crate) mod settings;
mod shown;
pub mod upgrade;
pub(crate) mod value;

pub use check::{Check, Rule};
pub use facts::context::{Context, Live, ProxyRun};
pub(crate) use facts::view::{Knowledge, PatchView};
pub(crate) use facts::{
    anchor, built_in, callers, clusters, contents, culprit, document, ends, filter_keys, live, managers, metadata,
    names, no_match, order, per_run, ports, proxy_files, reach, results, route_match, seen, text_match, versions,
};
pub use facts::{context, crd};
pub use finding::{Confidence, Edit, Finding, Findings, Fix, Label};
pub(crate) use native::moves;
pub(crate) use output::summary;
pub use output::{fix, istioctl};
pub use rule::RuleInfo;
pub(crate) use run::fold::{Causes, Claim};
pub use run::pipeline::{Checked, check, check_with, merged, only, only_with};
pub(crate) use run::pipeline::{check_beside_istioctl, same, united};
pub use run::requests::{Observer, RealEnvoy, Recorded};
pub(crate) use run::tried;
pub use run::{Input, inspect, inspect_with, lint};
pub(crate) use settings::{baseline, selection};
pub use settings::{config, suppress};
pub(crate) use value::{constraint, extension_code, foreign, guards, header_options, lua_use, typed_config, walk};
