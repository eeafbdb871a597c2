//! `status`: one line for each filter and workload where something is wrong.

use super::input::{self, Proxies};
use super::survey::{Survey, survey};
use super::{Exit, Session, TableOrJson};
use crate::cluster::kinds;
use crate::explain::view::API_VERSION;
use crate::report::style::count;
use crate::report::{self, table};
use clap::Args;
use serde::Serialize;
use std::io;

#[derive(Debug, Args)]
pub(super) struct Status {
    /// Form of the output
    #[arg(short, long, default_value = "table")]
    output: TableOrJson,
}

/// The answer as data.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    api_version: &'static str,
    kind: &'static str,
    /// Filters looked at.
    filters: usize,
    wrong: Vec<Wrong>,
    problems: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Wrong {
    namespace: String,
    filter: String,
    workload_namespace: String,
    workload: String,
    reasons: Vec<String>,
}

impl Status {
    pub(super) fn run(&self, session: &mut Session<'_>) -> io::Result<Exit> {
        let Survey { work, rows, problems } = match survey(session, &Proxies::default(), &kinds::STATUS, false)? {
            Ok(survey) => survey,
            Err(exit) => return Ok(exit),
        };
        let filters = &work.loaded.inventory.envoy_filters;
        let pods_known = !work.loaded.problems.iter().any(|problem| problem.message.contains("list pods"));
        let mut wrong = Vec::new();
        for row in &rows {
            let Some(filter) = filters.get(row.filter) else { continue };
            let mut add = |place: (&str, &str), reasons: Vec<String>| {
                wrong.push(Wrong {
                    namespace: filter.namespace.clone(),
                    filter: filter.name.clone(),
                    workload_namespace: place.0.to_owned(),
                    workload: place.1.to_owned(),
                    reasons,
                });
            };
            if row.selects.is_empty() && pods_known {
                add(("", "-"), vec!["it selects no proxy".to_owned()]);
            }
            for ((namespace, workload), reasons) in &row.wrong {
                add((namespace, workload), reasons.iter().cloned().collect());
            }
        }
        let serious = input::tell(session, &work.loaded, &problems)?;
        work.note(session)?;
        match self.output {
            TableOrJson::Json => {
                let problems =
                    work.loaded.problems.iter().chain(&problems).map(|problem| problem.message.clone()).collect();
                let report = Report { api_version: API_VERSION, kind: "Status", filters: rows.len(), wrong, problems };
                report::json(session.out, &report)?;
                return Ok(exit(serious, report.wrong.is_empty()));
            }
            TableOrJson::Table if wrong.is_empty() => {
                writeln!(session.out, "nothing wrong with {}", count(rows.len(), "EnvoyFilter", "EnvoyFilters"))?;
            }
            TableOrJson::Table => {
                let cells: Vec<Vec<String>> = wrong
                    .iter()
                    .map(|one| {
                        let workload = match one.workload_namespace.as_str() {
                            "" => one.workload.clone(),
                            namespace if namespace == one.namespace => one.workload.clone(),
                            namespace => format!("{namespace}/{}", one.workload),
                        };
                        vec![one.namespace.clone(), one.filter.clone(), workload, one.reasons.join("; ")]
                    })
                    .collect();
                table::write(session.out, &["NAMESPACE", "FILTER", "WORKLOAD", "WHAT IS WRONG"], &cells)?;
            }
        }
        Ok(exit(serious, wrong.is_empty()))
    }
}

fn exit(serious: bool, nothing_wrong: bool) -> Exit {
    match (serious, nothing_wrong) {
        (true, _) => Exit::Partial,
        (false, true) => Exit::Ok,
        (false, false) => Exit::Findings,
    }
}
