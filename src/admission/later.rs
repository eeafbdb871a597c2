//! Findings that an object applied later may resolve: at admission they warn and never deny.
//!
//! Objects arrive in any order: `kubectl apply` of a folder, Helm and GitOps may create a filter before the workload that it
//! selects, and denying it would be wrong. A finding denies only when the filter is wrong whatever is applied next. Existing
//! objects count in full: filters on the same proxies, and proxies that cannot load it.

use crate::lint::RuleInfo;
use crate::lint::config::Config;

/// Whether an object applied later may resolve the findings of a rule. Not when the configuration sets their severity: its author
/// knows the order in which objects are applied.
pub(crate) fn may_come(rule: &RuleInfo, config: &Config) -> bool {
    rule.later && !config.weighs(rule)
}
