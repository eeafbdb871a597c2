//! What is wrong with EnvoyFilters on workloads, as a table and as JSON.

use super::style::{count, quoted};
use crate::engine::Outcome;
use crate::explain::view::API_VERSION;
use crate::mesh::survey::{What, Wrong};
use crate::mesh::{Scope, SurveyReport};
use serde::Serialize;

/// Maximum number of characters of Envoy's message in a table without `--verbose`.
pub(crate) const MOST_WORDS: usize = 160;

/// The result of `status` as data.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Status<'s> {
    api_version: &'static str,
    kind: &'static str,
    /// Number of checked EnvoyFilters.
    filters: usize,
    /// What is wrong, by filter and workload.
    pub wrong: Vec<OnWorkload>,
    problems: Vec<&'s str>,
    scope: &'s Scope,
}

/// What is wrong with an EnvoyFilter on a workload, or with a workload for another reason: then the filter is empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OnWorkload {
    namespace: String,
    filter: String,
    workload_namespace: String,
    workload: String,
    reasons: Vec<String>,
}

impl Status<'_> {
    /// The result of a survey in words, with at most this many characters of Envoy's message.
    pub(crate) fn of(survey: &SurveyReport, most: usize) -> Status<'_> {
        let mut wrong = Vec::new();
        for row in &survey.rows {
            let Some(filter) = survey.loaded.inventory.envoy_filters.get(row.filter) else { continue };
            let mut add = |place: (&str, &str), reasons: Vec<String>| {
                wrong.push(OnWorkload {
                    namespace: filter.namespace.clone(),
                    filter: filter.name.clone(),
                    workload_namespace: place.0.to_owned(),
                    workload: place.1.to_owned(),
                    reasons,
                });
            };
            if row.selects == 0 && survey.pods_known && !survey.interrupted {
                add(("", "-"), vec!["it selects no proxy".to_owned()]);
            }
            for (place, reasons) in &row.wrong {
                add((&place.namespace, &place.workload), reasons.iter().map(|reason| words(reason, most)).collect());
            }
        }
        for (place, updates) in &survey.rejected {
            let rejected = |(kind, resource, details): &(&'static str, String, String)| {
                let (resource, details) = (resource.clone(), details.clone());
                what(&What::Rejected { kind, resource, details }, most)
            };
            wrong.push(OnWorkload {
                namespace: place.namespace.clone(),
                filter: String::new(),
                workload_namespace: place.namespace.clone(),
                workload: place.workload.clone(),
                reasons: updates.iter().map(rejected).collect(),
            });
        }
        let problems = survey.loaded.problems.iter().chain(&survey.problems);
        Status {
            api_version: API_VERSION,
            kind: "Status",
            filters: survey.rows.len(),
            wrong,
            problems: problems.map(|problem| problem.message.as_str()).collect(),
            scope: &survey.scope,
        }
    }
}

fn words(wrong: &Wrong, most: usize) -> String {
    format!("patch {}: {}", wrong.patch, what(&wrong.what, most))
}

/// What is wrong with a patch, in words, with at most this many characters of Envoy's message on one line.
pub(crate) fn what(what: &What, most: usize) -> String {
    match what {
        What::Rejected { kind, resource, details } => {
            format!("rejected: {kind} {resource}: {}", quoted(details, most))
        }
        What::NotInEffect => "not in effect: the proxy does not hold what it writes".to_owned(),
        What::PartlyInEffect => "partly in effect".to_owned(),
        What::Unknown { reason } => because("unknown", reason.as_deref()),
        What::Idle { outcome, reason } => {
            let verdict = match outcome {
                Outcome::NoMatch => "no match",
                Outcome::NoOp => "no effect",
                Outcome::Discarded => "discarded by istiod",
                Outcome::Aborted => "lost to a panic",
                Outcome::NotSelected => "not for this proxy",
                Outcome::Applied => "applied",
            };
            because(verdict, reason.as_deref())
        }
    }
}

fn because(verdict: &str, reason: Option<&str>) -> String {
    reason.map_or_else(|| verdict.to_owned(), |reason| format!("{verdict}: {reason}"))
}

/// The message when nothing is wrong.
pub(crate) fn nothing(status: &Status<'_>) -> String {
    let filters = count(status.filters, "EnvoyFilter", "EnvoyFilters");
    match (status.scope.is_empty(), status.scope.is_complete()) {
        (true, _) => "nothing could be judged".to_owned(),
        (false, true) if status.filters == 0 => {
            format!("no EnvoyFilters found{}", super::scope::where_it_holds(status.scope))
        }
        (false, true) => format!("nothing wrong with {filters}"),
        (false, false) if status.scope.proxies.read == 0 => {
            format!("no proxy was read: nothing is known about the effect of {filters}")
        }
        (false, false) => format!("nothing wrong found in what could be read of {filters}"),
    }
}

/// The headings of a table.
pub(crate) const HEADING: [&str; 4] = ["NAMESPACE", "FILTER", "WORKLOAD", "WHAT IS WRONG"];

impl OnWorkload {
    /// Its subject: namespace and name of the EnvoyFilter and of the workload.
    pub(crate) fn key(&self) -> [String; 4] {
        [self.namespace.clone(), self.filter.clone(), self.workload_namespace.clone(), self.workload.clone()]
    }

    /// A row of a table, optionally with another reason.
    pub(crate) fn row(&self, instead: Option<&str>) -> Vec<String> {
        let workload = match self.workload_namespace.as_str() {
            "" => self.workload.clone(),
            namespace if namespace == self.namespace => self.workload.clone(),
            namespace => format!("{namespace}/{}", self.workload),
        };
        let reasons = instead.map_or_else(|| self.reasons.join("; "), str::to_owned);
        let filter = if self.filter.is_empty() { "-" } else { &self.filter };
        vec![self.namespace.clone(), filter.to_owned(), workload, reasons]
    }

    /// Name of the EnvoyFilter; empty if none is the reason.
    pub(crate) fn name(&self) -> &str {
        &self.filter
    }
}
