//! `status`: one line for each EnvoyFilter and workload with a problem.

use super::changes::{Changes, Next};
use super::listing::{Form, Listing, refused};
use super::session::{Exit, Session};
use crate::cluster::kinds;
use crate::mesh::{self, Error, SurveyReport, SurveyRequest};
use crate::report::status::{HEADING, MOST_WORDS, OnWorkload, Status as Answer, nothing};
use clap::Args;
use std::collections::{BTreeMap, BTreeSet};

/// The problems as last shown, and the column widths of the table.
type Shown = (BTreeMap<[String; 4], OnWorkload>, Vec<usize>);

#[derive(Debug, Args)]
pub(super) struct Status {
    #[command(flatten)]
    listing: Listing,
    /// Keep watching and report what goes wrong and what recovers
    #[arg(short, long)]
    watch: bool,
}

impl Status {
    /// Whether it keeps running.
    pub(super) fn watches(&self) -> bool {
        self.watch
    }

    pub(super) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Error> {
        if self.watch {
            return self.follow(session);
        }
        let survey = mesh::survey(&SurveyRequest::status(session.settings()), session.progress)?;
        let serious = session.report_problems(&survey.loaded, &survey.problems)?;
        session.notes(&requests(&survey))?;
        self.listing.scope(session, &survey.scope)?;
        let status = self.answer(session, &survey)?;
        if !self.listing.write(session, &status, "wrong")? {
            self.people(session, &status)?;
        }
        Ok(match (serious, status.wrong.is_empty()) {
            (true, _) => Exit::Partial,
            (false, true) => Exit::Ok,
            (false, false) => Exit::Findings,
        })
    }

    fn answer<'s>(&self, session: &Session<'_>, survey: &'s SurveyReport) -> Result<Answer<'s>, Error> {
        let short = self.listing.output == Form::Table && !session.verbose();
        let mut status = Answer::of(survey, if short { MOST_WORDS } else { usize::MAX });
        self.listing.sort(&mut status.wrong)?;
        Ok(status)
    }

    fn people(&self, session: &mut Session<'_>, status: &Answer<'_>) -> Result<(), Error> {
        if self.listing.output == Form::Name {
            let names = status.wrong.iter().map(OnWorkload::name).filter(|name| !name.is_empty());
            let names: BTreeSet<&str> = names.collect();
            for name in names {
                writeln!(session.out, "envoyfilter/{name}")?;
            }
        } else if status.wrong.is_empty() {
            writeln!(session.out, "{}", nothing(status))?;
        } else {
            let rows: Vec<Vec<String>> = status.wrong.iter().map(|one| one.row(None)).collect();
            self.listing.table(session, &HEADING, &rows, None)?;
        }
        Ok(())
    }

    /// Prints everything, then what becomes wrong or right, until the user stops it.
    fn follow(&self, session: &mut Session<'_>) -> Result<Exit, Error> {
        if session.global.cluster.capture.is_some() {
            return session.usage("a capture does not change: --watch needs a cluster", None);
        }
        let mut changes = Changes::connect(session)?;
        let mut shown: Option<Shown> = None;
        let mut reported: Vec<String> = Vec::new();
        loop {
            match mesh::survey(&SurveyRequest::status(session.settings()), session.progress) {
                Ok(survey) if survey.interrupted => return Ok(Exit::Ok),
                Ok(survey) => {
                    let problems: Vec<String> =
                        survey.loaded.problems.iter().chain(&survey.problems).map(|it| it.message.clone()).collect();
                    if shown.is_none() || problems != reported {
                        session.report_problems(&survey.loaded, &survey.problems)?;
                        self.listing.scope(session, &survey.scope)?;
                        reported = problems;
                    }
                    let status = self.answer(session, &survey)?;
                    let now = status.wrong.iter().map(|one| (one.key(), one.clone())).collect();
                    let before = shown.take();
                    if before.as_ref().is_none_or(|(before, _)| *before != now) {
                        let widths = self.news(session, &status, before)?;
                        shown = Some((now, widths));
                    } else {
                        shown = before;
                    }
                    session.out.flush()?;
                    let roots = survey.root_namespaces.iter().cloned().collect();
                    // Free the memory while waiting.
                    drop(survey);
                    changes.begin(session, &kinds::STATUS, &roots);
                }
                Err(error) if shown.is_none() => return Err(error),
                // The API server may be unavailable for a while.
                Err(error) => drop(session.fail(&error)?),
            }
            match changes.next(session)? {
                Next::Changed => {}
                Next::Ended => return Ok(Exit::Ok),
                Next::Refused(reason) => return refused(session, "status", &reason),
            }
        }
    }

    /// Prints everything the first time, then, for people, only changes. Returns the column widths of the table.
    fn news(&self, session: &mut Session<'_>, status: &Answer<'_>, before: Option<Shown>) -> Result<Vec<usize>, Error> {
        if self.listing.output == Form::Yaml {
            writeln!(session.out, "---")?;
        }
        if self.listing.write(session, status, "wrong")? {
            return Ok(Vec::new());
        }
        let first = before.is_none();
        let (before, widths) = before.unwrap_or_default();
        let mut rows: Vec<Vec<String>> = Vec::new();
        for one in &status.wrong {
            if before.get(&one.key()) != Some(one) {
                rows.push(one.row(None));
            }
        }
        let still: BTreeSet<[String; 4]> = status.wrong.iter().map(OnWorkload::key).collect();
        let gone = before.iter().filter(|(key, _)| !still.contains(*key));
        rows.extend(gone.map(|(_, one)| one.row(Some("no longer wrong, or no longer read"))));
        if first && rows.is_empty() {
            writeln!(session.out, "{}", nothing(status))?;
            return Ok(widths);
        }
        Ok(self.listing.table(session, &HEADING, &rows, (!first).then_some(widths))?)
    }
}

/// The number of requests to a cluster, in words.
pub(super) fn requests(survey: &SurveyReport) -> Vec<String> {
    survey.requests.iter().map(|(number, context)| format!("{number} requests to {context}")).collect()
}
