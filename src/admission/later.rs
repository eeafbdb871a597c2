//! Findings that an object applied later takes away: at admission they warn, and never deny.
//!
//! Objects come in any order: `kubectl apply` of a folder, Helm and GitOps bring a filter before the workload that it selects.
//! Who denies such a filter denies what is right. So a finding denies only when the filter stays wrong whatever comes next.
//! What is there already is not awaited: a filter that meets others, or a proxy that cannot load it, is judged in full.

use crate::lint::Rule;
use crate::lint::config::Config;

/// Rules about what is missing in the cluster: a workload that the selector fits (EF201, EF202), a Gateway that `targetRefs`
/// names (EF204), a filter that asks for an extension configuration (EF317: the configuration has to come first, since a
/// filter without one keeps its listener from ever becoming ready, EF318).
const AWAITS: [&str; 4] = ["EF201", "EF202", "EF204", "EF317"];

/// Whether an object that is applied later may take the findings of a rule away. Not when the configuration says how bad they
/// are: who says that knows the order in which things come.
pub fn may_come(rule: &Rule, config: &Config) -> bool {
    AWAITS.contains(&rule.code) && !config.weighs(rule)
}
