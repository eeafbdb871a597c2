//! `get`: EnvoyFilters as a table, with what they select and which patches are in effect.

use super::changes::{Changes, Next};
use super::listing::{Form, Listing, refused};
use super::session::{Exit, Session};
use super::status::requests;
use crate::cluster::kinds;
use crate::explain::view::API_VERSION;
use crate::mesh::survey::{Place, Row};
use crate::mesh::{self, Error, Scope, SurveyReport, SurveyRequest};
use crate::model::envoy_filter::EnvoyFilter;
use crate::report::table as tables;
use clap::Args;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::{SystemTime, UNIX_EPOCH};

#[derive(Debug, Args)]
pub(super) struct Get {
    /// Only these EnvoyFilters
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    listing: Listing,
    /// Watch for changes: EnvoyFilters, what they select, what is in effect
    #[arg(short, long)]
    watch: bool,
    /// With --watch, show whether an EnvoyFilter was added, modified or deleted
    #[arg(long, requires = "watch")]
    output_watch_events: bool,
}

/// The result as data.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct List<'l> {
    api_version: &'static str,
    kind: &'static str,
    items: &'l [Item],
    problems: &'l [String],
    scope: &'l Scope,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    /// What happened to it since the last output: `ADDED`, `MODIFIED` or `DELETED`; only when watching.
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<&'static str>,
    namespace: String,
    name: String,
    priority: i32,
    /// Place in the order of application, from 1.
    order: usize,
    /// Pods it attaches to; absent when pods could not be listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    selects: Option<usize>,
    /// Their workloads.
    workloads: Vec<String>,
    patches: usize,
    /// Proxies of these pods that were read.
    read: usize,
    /// Patches that should do something, counted once per running proxy that was read; absent when none was read. The same
    /// holds for the fields below.
    #[serde(skip_serializing_if = "Option::is_none")]
    judged: Option<usize>,
    /// Those in effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    effective: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ineffective: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rejected: Option<usize>,
    findings: usize,
    /// Seconds since 1970 of `metadata.creationTimestamp`.
    #[serde(skip_serializing_if = "Option::is_none")]
    created: Option<i64>,
    selector: String,
}

impl Get {
    /// Whether it keeps running.
    pub(super) fn watches(&self) -> bool {
        self.watch
    }

    pub(super) fn run(&self, session: &mut Session<'_>) -> Result<Exit, Error> {
        if self.watch {
            return self.follow(session);
        }
        if self.listing.output == Form::Name && self.names.is_empty() && self.listing.sort_by.is_none() {
            return self.names(session);
        }
        let survey = mesh::survey(&self.request(session), session.progress)?;
        let serious = session.report_problems(&survey.loaded, &survey.problems)?;
        session.notes(&requests(&survey))?;
        self.listing.scope(session, &survey.scope)?;
        let items = self.items(&survey)?;
        // The error below reports names that do not exist.
        if items.is_empty() && self.listing.is_table() {
            if self.names.is_empty() {
                none(session, &survey)?;
            }
        } else {
            self.write(session, &items, (&said(&survey), &survey.scope), None)?;
        }
        if let Some(name) = self.missing(&survey) {
            return session.usage(&format!("no EnvoyFilter is named {name}"), known(&survey, name).as_deref());
        }
        Ok(if serious { Exit::Partial } else { Exit::Ok })
    }

    /// Only the names: no proxy is read and nothing is judged.
    fn names(&self, session: &mut Session<'_>) -> Result<Exit, Error> {
        let request = SurveyRequest { proxies: false, findings: false, ..SurveyRequest::get(session.settings()) };
        let survey = mesh::survey(&request, session.progress)?;
        let serious = session.report_problems(&survey.loaded, &[])?;
        session.notes(&requests(&survey))?;
        self.listing.scope(session, &survey.scope)?;
        for row in &survey.rows {
            if let Some(filter) = survey.loaded.inventory.envoy_filters.get(row.filter) {
                writeln!(session.out, "envoyfilter/{}", filter.name)?;
            }
        }
        Ok(if serious { Exit::Partial } else { Exit::Ok })
    }

    /// Prints everything, then changes, until the user stops it.
    fn follow(&self, session: &mut Session<'_>) -> Result<Exit, Error> {
        if session.global.cluster.capture.is_some() {
            return session.usage("a capture does not change: --watch needs a cluster", None);
        }
        let mut changes = Changes::connect(session)?;
        let mut shown: Option<(BTreeMap<String, Item>, Vec<usize>)> = None;
        let mut reported: Vec<String> = Vec::new();
        loop {
            let survey = match mesh::survey(&self.request(session), session.progress) {
                Ok(survey) => survey,
                Err(error) if shown.is_none() => return Err(error),
                // The API server may be unavailable for a while.
                Err(error) => {
                    session.fail(&error)?;
                    match changes.next(session)? {
                        Next::Changed => continue,
                        Next::Ended => return Ok(Exit::Ok),
                        Next::Refused(reason) => return refused(session, "get", &reason),
                    }
                }
            };
            if survey.interrupted {
                return Ok(Exit::Ok);
            }
            let problems = said(&survey);
            if shown.is_none() || problems != reported {
                session.report_problems(&survey.loaded, &survey.problems)?;
                self.listing.scope(session, &survey.scope)?;
                reported.clone_from(&problems);
            }
            if let (None, Some(name)) = (&shown, self.missing(&survey)) {
                return session.usage(&format!("no EnvoyFilter is named {name}"), known(&survey, name).as_deref());
            }
            let items = self.items(&survey)?;
            let now: BTreeMap<String, Item> =
                items.into_iter().map(|item| (format!("{}/{}", item.namespace, item.name), item)).collect();
            let first = shown.is_none();
            let (before, widths) = shown.unwrap_or_default();
            let news = news(&before, &now);
            let widths = match news.as_slice() {
                [] => widths,
                news => self.write(session, news, (&problems, &survey.scope), (!first).then_some(widths))?,
            };
            if first && now.is_empty() {
                none(session, &survey)?;
            }
            shown = Some((now, widths));
            session.out.flush()?;
            let roots = survey.root_namespaces.iter().cloned().collect();
            // Free the memory while waiting.
            drop(survey);
            changes.begin(session, &kinds::GET, &roots);
            match changes.next(session)? {
                Next::Changed => {}
                Next::Ended => return Ok(Exit::Ok),
                Next::Refused(reason) => return refused(session, "get", &reason),
            }
        }
    }

    fn request(&self, session: &Session<'_>) -> SurveyRequest {
        let names = self.names.iter().map(|name| bare(name).to_owned()).collect();
        SurveyRequest { names, ..SurveyRequest::get(session.settings()) }
    }

    /// The named filters, or all.
    fn items(&self, survey: &SurveyReport) -> Result<Vec<Item>, Error> {
        let filters = &survey.loaded.inventory.envoy_filters;
        let rows = survey.rows.iter().filter_map(|row| Some((row, filters.get(row.filter)?)));
        let mut items = rows.map(|(row, filter)| item(row, filter, survey.pods_known)).collect();
        self.listing.sort(&mut items)?;
        Ok(items)
    }

    /// A name that no filter has.
    fn missing(&self, survey: &SurveyReport) -> Option<&String> {
        let filters = &survey.loaded.inventory.envoy_filters;
        self.names.iter().find(|name| !filters.iter().any(|filter| is(filter, name)))
    }

    /// Writes filters in the requested form. A table continues with the column widths of the previous one; returns the widths.
    fn write(
        &self,
        session: &mut Session<'_>,
        items: &[Item],
        (problems, scope): (&[String], &Scope),
        widths: Option<Vec<usize>>,
    ) -> io::Result<Vec<usize>> {
        match self.listing.output {
            Form::Table | Form::Wide => {
                let table = Table { wide: self.listing.output == Form::Wide, events: self.output_watch_events };
                let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
                let now = i64::try_from(now).unwrap_or(i64::MAX);
                let rows: Vec<Vec<String>> = items.iter().map(|item| table.row(item, now)).collect();
                return self.listing.table(session, &table.heading(), &rows, widths);
            }
            Form::Name => {
                for item in items {
                    writeln!(session.out, "envoyfilter/{}", item.name)?;
                }
            }
            _ => {
                let list = List { api_version: API_VERSION, kind: "EnvoyFilterStatusList", items, problems, scope };
                if self.listing.output == Form::Yaml && self.watch {
                    writeln!(session.out, "---")?;
                }
                self.listing.write(session, &list, "items")?;
            }
        }
        Ok(Vec::new())
    }
}

/// Whether a name refers to a filter: bare, with its kind or with its namespace.
fn is(filter: &EnvoyFilter, name: &str) -> bool {
    let name = bare(name);
    filter.name == name || filter.full_name() == name
}

/// A name without the kind in front of it.
fn bare(name: &str) -> &str {
    let kind = name.split_once('/').filter(|(kind, _)| super::kind_of(kind) == Some("filter"));
    kind.map_or(name, |(_, name)| name)
}

/// Suggestions for a name that does not exist.
fn known(survey: &SurveyReport, name: &str) -> Option<String> {
    let filters = &survey.loaded.inventory.envoy_filters;
    mesh::similar(name, &filters.iter().map(EnvoyFilter::full_name).collect::<Vec<_>>())
}

fn said(survey: &SurveyReport) -> Vec<String> {
    survey.loaded.problems.iter().chain(&survey.problems).map(|problem| problem.message.clone()).collect()
}

fn none(session: &mut Session<'_>, survey: &SurveyReport) -> io::Result<()> {
    let place = match survey.scope.namespaces.as_deref() {
        Some([one]) => format!(" in namespace {one}"),
        _ => String::new(),
    };
    let what = if survey.filters_known { "No EnvoyFilters found" } else { "EnvoyFilters could not be listed" };
    writeln!(session.err, "{what}{place}.")
}

/// The changed items, each with what happened to it.
fn news(before: &BTreeMap<String, Item>, now: &BTreeMap<String, Item>) -> Vec<Item> {
    let with = |item: &Item, event| Item { event: Some(event), ..item.clone() };
    let gone = before.iter().filter(|(name, _)| !now.contains_key(*name)).map(|(_, item)| with(item, "DELETED"));
    let others = now.iter().filter_map(|(name, item)| match before.get(name) {
        None => Some(with(item, "ADDED")),
        Some(old) => (old != item).then(|| with(item, "MODIFIED")),
    });
    gone.chain(others).collect()
}

/// The columns of a table.
struct Table {
    wide: bool,
    events: bool,
}

impl Table {
    fn heading(&self) -> Vec<&'static str> {
        let mut heading = Vec::new();
        heading.extend(self.events.then_some("EVENT"));
        heading.extend([
            "NAMESPACE",
            "NAME",
            "PRIORITY",
            "ORDER",
            "SELECTS",
            "PATCHES",
            "READ",
            "EFFECTIVE",
            "INEFFECTIVE",
            "REJECTED",
            "FINDINGS",
            "AGE",
        ]);
        if self.wide {
            heading.extend(["SELECTOR", "WORKLOADS"]);
        }
        heading
    }

    fn row(&self, item: &Item, now: i64) -> Vec<String> {
        let known = |number: Option<usize>| number.map_or("-".to_owned(), |number| number.to_string());
        let mut cells = Vec::new();
        cells.extend(self.events.then(|| item.event.unwrap_or_default().to_owned()));
        cells.extend([
            item.namespace.clone(),
            item.name.clone(),
            item.priority.to_string(),
            item.order.to_string(),
            known(item.selects),
            item.patches.to_string(),
            item.read.to_string(),
            match (item.effective, item.judged) {
                (Some(effective), Some(judged)) => format!("{effective}/{judged}"),
                _ => "-".to_owned(),
            },
            known(item.ineffective),
            known(item.rejected),
            item.findings.to_string(),
            item.created.map_or("<unknown>".to_owned(), |created| tables::age(now - created)),
        ]);
        if self.wide {
            cells.extend([item.selector.clone(), item.workloads.join(",")]);
        }
        cells
    }
}

fn item(row: &Row, filter: &EnvoyFilter, pods_known: bool) -> Item {
    let workloads: BTreeSet<String> = row.workloads.iter().map(Place::full_name).collect();
    let labels = filter.selector.iter().flatten().map(|(key, value)| format!("{key}={value}"));
    let references = filter.target_refs.iter().map(|target| format!("{}/{}", target.kind.to_lowercase(), target.name));
    let held = Some(row.held).filter(|held| held.proxies > 0);
    Item {
        event: None,
        namespace: filter.namespace.clone(),
        name: filter.name.clone(),
        priority: filter.priority,
        order: row.order,
        selects: (pods_known || row.selects > 0).then_some(row.selects),
        workloads: workloads.into_iter().collect(),
        read: row.read,
        patches: filter.patches.len(),
        judged: held.map(|held| held.judged),
        effective: held.map(|held| held.effective),
        ineffective: held.map(|held| held.ineffective),
        rejected: held.map(|held| held.rejected),
        findings: row.findings,
        created: filter.created.map(|(seconds, _)| seconds),
        selector: labels.chain(references).collect::<Vec<_>>().join(","),
    }
}
