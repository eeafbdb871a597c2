//! The steps from `audit` to `warn` to `enforce`: what a namespace's next mode does to the filters stored now.

use super::judge::{Asked, Rules, judge};
use super::remark::Remark;
use super::review::{MODE_LABEL, Mode, Policy};
use super::snapshot::{Name, Snapshot};
use crate::budget::{Ended, Meter};
use serde_json::Value;
use std::collections::BTreeMap;

/// A stored filter, judged as if it were created now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Judgement {
    /// Its name.
    pub name: String,
    /// Whether mode `enforce` denies it.
    pub denied: bool,
    /// Codes of the rules that report something, each once.
    pub codes: Vec<&'static str>,
}

/// A namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rung {
    /// Its name.
    pub namespace: String,
    /// The mode that applies now.
    pub mode: Mode,
    /// Whether the mode comes from the namespace's label.
    pub labeled: bool,
    /// Its filters, by name.
    pub filters: Vec<Judgement>,
    /// Filters that could not be judged: their names.
    pub unjudged: Vec<String>,
}

impl Rung {
    /// How many of its filters mode `enforce` denies.
    pub(crate) fn denied(&self) -> usize {
        self.filters.iter().filter(|filter| filter.denied).count()
    }

    /// How many others have findings.
    pub(crate) fn warned(&self) -> usize {
        self.filters.iter().filter(|filter| !filter.denied && !filter.codes.is_empty()).count()
    }

    /// The next mode, if there is one.
    pub(crate) const fn next(&self) -> Option<Mode> {
        match self.mode {
            Mode::Off => Some(Mode::Audit),
            Mode::Audit => Some(Mode::Warn),
            Mode::Warn => Some(Mode::Enforce),
            Mode::Enforce => None,
        }
    }
}

/// Judges filters as the server would if they were created now. Namespaces are sorted by name.
pub(crate) fn ladder(
    snapshot: &Snapshot,
    rules: &Rules,
    policy: Policy,
    units: u64,
    filters: &[(Name, Value)],
) -> Vec<Rung> {
    let mut rungs: BTreeMap<&str, Rung> = BTreeMap::new();
    for ((namespace, name), object) in filters {
        let rung = rungs.entry(namespace).or_insert_with(|| {
            let label = snapshot.namespace(namespace).and_then(|it| it.labels.get(MODE_LABEL));
            let mode = label.and_then(|label| Mode::from_word(label));
            Rung {
                namespace: namespace.clone(),
                mode: mode.unwrap_or(policy.mode),
                labeled: mode.is_some(),
                filters: Vec::new(),
                unjudged: Vec::new(),
            }
        });
        let asked = Asked { namespace, name, old: None, new: Some(object) };
        match Meter::new(units).run(|| judge(snapshot, rules, &asked)) {
            Ok(judged) => {
                let counts = |remark: &Remark| remark.severity >= policy.deny_at && !remark.may_come;
                let mut codes: Vec<&'static str> = judged.remarks.iter().map(|remark| remark.code).collect();
                codes.sort_unstable();
                codes.dedup();
                let denied = judged.remarks.iter().any(counts);
                rung.filters.push(Judgement { name: name.clone(), denied, codes });
            }
            Err(Ended::Panicked(payload)) => std::panic::resume_unwind(payload),
            Err(Ended::Spent | Ended::Cancelled) => rung.unjudged.push(name.clone()),
        }
    }
    let mut rungs: Vec<Rung> = rungs.into_values().collect();
    for rung in &mut rungs {
        rung.filters.sort_by(|one, other| one.name.cmp(&other.name));
    }
    rungs
}

/// What a server has recorded: the number of reviews that mode `enforce` denies, by namespace. Reads the text of its metrics.
pub(crate) fn recorded(metrics: &str) -> BTreeMap<String, u64> {
    let mut recorded = BTreeMap::new();
    for line in metrics.lines() {
        let Some(rest) = line.strip_prefix("envoyfilter_admission_would_deny_total{") else { continue };
        let Some((labels, value)) = rest.rsplit_once("} ") else { continue };
        let namespace = labels.split(',').find_map(|label| label.strip_prefix("namespace=\"")?.strip_suffix('"'));
        if let (Some(namespace), Ok(value)) = (namespace, value.trim().parse::<u64>()) {
            *recorded.entry(namespace.to_owned()).or_default() += value;
        }
    }
    recorded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_reviews_are_summed_by_namespace() {
        let text = "# TYPE envoyfilter_admission_would_deny counter\n\
            envoyfilter_admission_would_deny_total{namespace=\"shop\",mode=\"audit\"} 3\n\
            envoyfilter_admission_would_deny_total{namespace=\"shop\",mode=\"warn\"} 2\n\
            envoyfilter_admission_would_deny_total{namespace=\"pay\",mode=\"audit\"} 1\n\
            envoyfilter_admission_panics_total 7\n";
        let want = [("pay".to_owned(), 1), ("shop".to_owned(), 5)];
        assert_eq!(recorded(text).into_iter().collect::<Vec<_>>(), want);
    }
}
