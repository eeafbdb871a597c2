//! Problems of EnvoyFilters themselves, whatever the proxies contain: findings that are certain without config dumps.

use super::moment::Moment;
use super::state::{Key, Topic, Value};
use crate::admission::judge::Rules;
use crate::lint::{self, Confidence, Input};
use crate::load::reference;
use crate::model::envoy_filter::EnvoyFilter;
use crate::report::watch::Trouble;
use crate::source::{FileId, Severity, field_path};
use std::collections::BTreeMap;

/// The subjects of [`find`].
pub(super) const TOPICS: &[Topic] = &[Topic::Finding, Topic::Selection, Topic::Judging];

/// All problems of the selected filters. Findings that depend on a configuration which no proxy showed are left to the proxies.
pub(super) fn find(moment: &Moment, rules: &Rules, wanted: impl Fn(&str) -> bool) -> BTreeMap<Key, Value> {
    let mut all = BTreeMap::new();
    let whole = &moment.whole;
    let key = |topic, filter: &str, detail: String| Key {
        topic,
        filter: filter.to_owned(),
        patch: None,
        place: None,
        detail,
    };
    let simple = |trouble, message: String| Value { trouble, message, short: None, rule: None };
    for ((namespace, name), excess) in &whole.excess {
        let message = format!("too large to judge: {excess}");
        all.insert(
            key(Topic::Judging, &format!("{namespace}/{name}"), String::new()),
            simple(Trouble::NotJudged, message),
        );
    }
    for refused in &whole.inventory.refused_filters {
        let name = format!("{}/{}", refused.namespace, refused.name);
        let message = "it cannot be read as istiod reads it".to_owned();
        all.insert(key(Topic::Judging, &name, String::new()), simple(Trouble::NotJudged, message));
    }
    let now = moment.now();
    for filter in whole.inventory.envoy_filters.iter().filter(|_| moment.pods_known) {
        if !moment.targets.values().any(|target| now.reaches(filter, target)) {
            let message = "it selects no proxy".to_owned();
            all.insert(
                key(Topic::Selection, &filter.full_name(), String::new()),
                simple(Trouble::SelectsNothing, message),
            );
        }
    }
    let of_file: BTreeMap<FileId, &EnvoyFilter> =
        whole.inventory.envoy_filters.iter().map(|filter| (filter.document.span.file, filter)).collect();
    for (number, plane) in whole.planes.iter().enumerate() {
        let input = Input {
            sources: &whole.sources,
            inventory: &moment.homes.judged_by(&whole.planes, number, &whole.inventory),
            problems: &whole.problems,
            dumps: &[],
            references: reference::configs(plane.release),
            release: plane.release,
            mesh: &plane.mesh,
        };
        let checked = lint::check(&input, rules.rules(), rules.config(), str::to_owned);
        for finding in checked.findings {
            let Some(filter) = of_file.get(&finding.primary.span.file) else { continue };
            if finding.confidence != Confidence::Certain || finding.severity < Severity::Warning {
                continue;
            }
            let field = field_path(&filter.document.route_to(finding.primary.span));
            let detail = format!("{} {field} {}", finding.rule.code, finding.message);
            let place = if field.is_empty() { String::new() } else { format!(" at {field}") };
            let value = Value {
                trouble: Trouble::Finding,
                message: format!("{}{place}: {}", finding.severity.as_str(), finding.message),
                short: None,
                rule: Some((finding.rule.code, finding.severity.as_str())),
            };
            let key = Key { patch: finding.patch, ..key(Topic::Finding, &filter.full_name(), detail) };
            all.insert(key, value);
        }
    }
    all.retain(|key, _| wanted(&key.filter));
    all
}
