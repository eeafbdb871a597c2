//! Makes the texts of findings safe to show: no secret of a filter is repeated, and no name can control a terminal or a
//! CI runner.

use super::finding::Finding;
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::redact::{self, Secrets};
use crate::source::escape;
use std::collections::{BTreeSet, HashMap, HashSet};

/// The only place where the texts of findings are made safe, for every output format.
pub(super) fn make_safe(findings: &mut [Finding], filters: &[EnvoyFilter]) {
    if findings.is_empty() {
        return;
    }
    let concerned: BTreeSet<&str> = findings.iter().map(|finding| finding.filter.as_str()).collect();
    let mut of_filters: HashMap<String, Secrets> = HashMap::new();
    for filter in filters {
        let name = filter.full_name();
        if concerned.contains(name.as_str()) {
            let secrets = of_filters.entry(name).or_default();
            secrets.add_document(&filter.document);
            secrets.forget([filter.name.as_str(), filter.namespace.as_str()]);
        }
    }
    let none = Secrets::default();
    // Findings about filters of a whole mesh name all its workloads, each of them the same.
    let mut harmless: HashSet<String> = HashSet::new();
    for finding in findings {
        let secrets = of_filters.get(&finding.filter).unwrap_or(&none);
        for text in [&mut finding.message, &mut finding.primary.message] {
            one_line(text, secrets);
        }
        finding.related.iter_mut().for_each(|label| one_line(&mut label.message, secrets));
        for name in finding.workloads.iter_mut().chain(&mut finding.objects) {
            if secrets.is_empty() && harmless.contains(name.as_str()) {
                continue;
            }
            let before = name.clone();
            one_line(name, secrets);
            if *name == before && secrets.is_empty() {
                harmless.insert(before);
            }
        }
        // Notes and help may contain YAML.
        for text in finding.notes.iter_mut().chain(&mut finding.help) {
            replace(text, secrets, escape::lines);
        }
    }
}

fn one_line(text: &mut String, secrets: &Secrets) {
    replace(text, secrets, escape::one_line);
}

fn replace(text: &mut String, secrets: &Secrets, escape: fn(&str) -> std::borrow::Cow<'_, str>) {
    if let std::borrow::Cow::Owned(escaped) = escape(text) {
        *text = escaped;
    }
    if (!secrets.is_empty() || redact::may_hold(text))
        && let std::borrow::Cow::Owned(clean) = secrets.scrub(text)
    {
        *text = clean;
    }
}
