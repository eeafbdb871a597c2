//! Makes the texts of findings safe to show: no secret of a filter is repeated, and no name can control a terminal or a
//! CI runner.

use super::finding::Finding;
use crate::model::envoy_filter::EnvoyFilter;
use crate::model::redact::{self, Secrets};
use crate::source::escape;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

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
            secrets.join(filter.secrets().clone());
            secrets.forget([filter.name.as_str(), filter.namespace.as_str()]);
        }
    }
    let none = Secrets::default();
    // Findings repeat each other's texts, and filters for a whole mesh name all its workloads.
    let mut harmless: [HashSet<String>; 2] = Default::default();
    let mut harmless_lists: HashSet<*const Vec<String>> = HashSet::new();
    for finding in findings {
        let secrets = of_filters.get(&finding.filter).unwrap_or(&none);
        // Hardly repeated.
        replace(&mut finding.message, secrets, escape::one_line);
        let mut safe = |text: &mut String, has_lines: bool| {
            let harmless = &mut harmless[usize::from(has_lines)];
            if secrets.is_empty() && harmless.contains(text.as_str()) {
                return;
            }
            if !replace(text, secrets, if has_lines { escape::lines } else { escape::one_line }) && secrets.is_empty() {
                harmless.insert(text.clone());
            }
        };
        safe(&mut finding.primary.message, false);
        finding.related.iter_mut().for_each(|label| safe(&mut label.message, false));
        finding.objects.iter_mut().for_each(|name| safe(name, false));
        finding.notes.iter_mut().for_each(|note| safe(note, false));
        finding.help.iter_mut().for_each(|help| safe(help, finding.snippet));
        // The lists stay in memory until the end, so an address means the same list.
        let list = Arc::as_ptr(&finding.workloads);
        if finding.workloads.is_empty() || (secrets.is_empty() && harmless_lists.contains(&list)) {
            continue;
        }
        let mut all = finding.workloads.to_vec();
        all.iter_mut().for_each(|name| safe(name, false));
        if all != *finding.workloads {
            finding.workloads = Arc::new(all);
        } else if secrets.is_empty() {
            harmless_lists.insert(list);
        }
    }
}

/// Replaces what must not be shown, and returns whether there was anything.
fn replace(text: &mut String, secrets: &Secrets, escape: fn(&str) -> Cow<'_, str>) -> bool {
    let mut changed = false;
    if let Cow::Owned(escaped) = escape(text) {
        *text = escaped;
        changed = true;
    }
    if (!secrets.is_empty() || redact::may_hold(text))
        && let Cow::Owned(clean) = secrets.scrub(text)
    {
        *text = clean;
        changed = true;
    }
    changed
}
