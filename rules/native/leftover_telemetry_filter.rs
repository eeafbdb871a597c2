//! EF704: a filter that an old Istio installed for its own telemetry.

use crate::declare_rule;
use crate::lint::{Context, Finding, Findings, RuleInfo};
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::release::Release;
use crate::source::escape::one_line;

declare_rule! {
    /// An EnvoyFilter that an old Istio installed for its own metrics and that the upgrade left behind.
    ///
    /// # What it finds
    /// EnvoyFilters named `stats-filter-1.N`, `tcp-stats-filter-1.N`, `metadata-exchange-1.N` or
    /// `tcp-metadata-exchange-1.N`, as Istio installed them up to 1.20.
    ///
    /// # Why it matters
    /// Since 1.21, istiod generates these filters itself and no longer prunes the old objects. Pinned to the versions
    /// of old proxies, they match nothing; if the pin was widened, requests are counted twice.
    ///
    /// # How to fix
    /// Delete the object once no proxy of its version runs. Put your own changes to it into a Telemetry object.
    ///
    /// # References
    /// Istio 1.21 release notes; istio/istio#48126, #50350, #51028.
    "EF704" "leftover-telemetry-filter" Native Warning => check
}

fn check(rule: &'static RuleInfo, cx: &Context<'_>, out: &mut Findings) {
    for filter in cx.filters {
        let Some(version) = generated_for(&filter.name) else { continue };
        out.push(
            Finding::new(
                rule,
                filter.name_span(),
                format!("{} is a leftover of Istio {version}'s own telemetry", filter.name),
            )
            .label("installed by Istio up to 1.20")
            .note(format!(
                "istiod {}.{} generates the metrics filters itself, for every proxy of this mesh",
                cx.release.major, cx.release.minor
            ))
            .snippet(format!(
                "when no proxy of Istio {version} is left:\nkubectl delete envoyfilter -n {} {}",
                one_line(&filter.namespace),
                one_line(&filter.name)
            ))
            .of(filter, None),
        );
    }
}

/// Whether a filter is one that an old Istio installed for itself.
pub(crate) fn of_istio(filter: &EnvoyFilter) -> bool {
    generated_for(&filter.name).is_some()
}

/// The release in the name of a filter that Istio installed for itself.
fn generated_for(name: &str) -> Option<&str> {
    let rest = name.strip_prefix("tcp-").unwrap_or(name);
    let version = rest.strip_prefix("stats-filter-").or_else(|| rest.strip_prefix("metadata-exchange-"))?;
    let end = version.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(version.len());
    let release: Release = version[..end].parse().ok()?;
    (release.major == 1 && release.minor <= 20).then_some(&version[..end])
}
