//! The linter: rules over what the engine computed, and the findings they give.
//!
//! From the bottom: [`rule`] and [`finding`] are data; [`facts`] and [`value`] say what rules need to know; [`native`] has
//! what other Istio APIs can express; [`check`] declares rules; [`custom`] reads rules that users write; [`settings`] are
//! configurations, suppressions and baselines; [`run`] goes from input to findings; [`upgrade`] compares two releases;
//! [`output`] is what reports share.

pub mod check;
#[cfg(feature = "custom-rules")]
pub mod custom;
#[cfg(not(feature = "custom-rules"))]
#[path = "custom/absent.rs"]
pub mod custom;
pub mod facts;
pub mod finding;
pub mod limits;
pub mod native;
pub mod output;
pub mod rule;
pub mod run;
pub mod settings;
mod shown;
pub mod upgrade;
pub mod value;

pub use check::{Check, Rule};
pub use facts::context::{Context, Live, ProxyRun};
pub use facts::view::{Knowledge, PatchView};
pub use facts::{anchor, context, crd, document, inert, live, names, no_match, order, ports, reach, seen, versions};
pub use finding::{Confidence, Edit, Finding, Findings, Fix, Label};
pub use native::moves;
pub use output::{fix, istioctl, summary};
pub use rule::RuleInfo;
pub use run::pipeline::{Checked, check, check_with, merged, only, only_with};
pub use run::requests::{Observer, RealEnvoy, Recorded};
pub use run::{Input, inspect, inspect_with, lint, tried};
pub use settings::{baseline, config, glob, selection, suppress};
pub use value::{constraint, extension_code, guards, lua, lua_use, walk};
