//! `status`: one line for each EnvoyFilter and workload where something is wrong.

use super::options::TableOrJson;
use super::session::{Exit, Session};
use crate::mesh::{self, Error, SurveyRequest};
use crate::report;
use clap::Args;

#[derive(Debug, Args)]
pub(super) struct Status {
    /// Form of the output
    #[arg(short, long, default_value = "table")]
    output: TableOrJson,
}

impl Status {
    pub(super) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Error> {
        let survey = mesh::survey(&SurveyRequest::status(session.settings()), session.progress)?;
        let serious = session.told(&survey.loaded, &survey.problems)?;
        session.notes(&requests(&survey))?;
        if self.output == TableOrJson::Table {
            session.scope(&survey.scope)?;
        }
        let people = self.output == TableOrJson::Table && !session.verbose();
        let status = report::status::Status::of(&survey, if people { report::status::MOST_WORDS } else { usize::MAX });
        match self.output {
            TableOrJson::Json => report::json(session.out, &status)?,
            TableOrJson::Table => report::status::table(session.out, &status)?,
        }
        Ok(match (serious, status.wrong.is_empty()) {
            (true, _) => Exit::Partial,
            (false, true) => Exit::Ok,
            (false, false) => Exit::Findings,
        })
    }
}

/// How much was asked of a cluster.
pub(super) fn requests(survey: &mesh::SurveyReport) -> Vec<String> {
    survey.requests.iter().map(|(number, context)| format!("{number} requests to {context}")).collect()
}
