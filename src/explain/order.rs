//! The order of filters, and what decided it.

use crate::engine::MeshSettings;
use crate::engine::compat::{Behaviour, Compat};
use crate::model::envoy_filter::EnvoyFilter;

/// What puts a filter behind another: the first of istiod's four keys in which they differ.
pub(super) fn reason(before: &EnvoyFilter, after: &EnvoyFilter, mesh: &MeshSettings, compat: Compat) -> &'static str {
    let in_root = |filter: &EnvoyFilter| filter.namespace == mesh.root_namespace;
    let apart = !compat.has(Behaviour::PriorityAcrossNamespaces) && in_root(before) != in_root(after);
    if before.priority != after.priority && !apart {
        "priority"
    } else if in_root(before) != in_root(after) {
        "root-namespace"
    } else if before.created != after.created {
        "creation-time"
    } else {
        "name"
    }
}

/// Seconds since 1970 (UTC) as RFC 3339.
pub(super) fn rfc3339((seconds, nanos): (i64, u32)) -> String {
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Civil date from days, after Howard Hinnant: eras of 400 years that start on 1 March 0000.
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    let fraction = if nanos == 0 { String::new() } else { format!(".{nanos:09}") };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_dates() {
        assert_eq!(rfc3339((0, 0)), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339((1_709_210_096, 5)), "2024-02-29T12:34:56.000000005Z");
        assert_eq!(rfc3339((-1, 0)), "1969-12-31T23:59:59Z");
    }
}
