//! `get`: EnvoyFilters as a table, with what they select and what of them is in effect.

use super::input::{self, Proxies, Work};
use super::survey::{Row, Survey, survey};
use super::{Exit, Session};
use crate::cluster::kinds;
use crate::explain::view::API_VERSION;
use crate::model::envoy_filter::EnvoyFilter;
use crate::report::{self, table as tables};
use crate::source::Problem;
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::collections::BTreeSet;
use std::io;
use std::time::{SystemTime, UNIX_EPOCH};

#[derive(Debug, Args)]
pub(super) struct Get {
    /// Only these EnvoyFilters
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Form of the output
    #[arg(short, long, default_value = "table")]
    output: Output,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Output {
    /// For people
    Table,
    /// With labels and workloads
    Wide,
    /// For programs
    Json,
    /// For programs
    Yaml,
    /// envoyfilter/NAME
    Name,
}

/// The answer as data.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct List {
    api_version: &'static str,
    kind: &'static str,
    items: Vec<Item>,
    problems: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    namespace: String,
    name: String,
    priority: i32,
    /// Place in the order of application, from 1.
    order: usize,
    /// Pods it attaches to.
    selects: usize,
    /// Their workloads.
    workloads: Vec<String>,
    patches: usize,
    /// Patches in effect on a proxy; absent when no proxy was read. So the others.
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
    pub(super) fn run(&self, session: &mut Session<'_>) -> io::Result<Exit> {
        if self.output == Output::Name && self.names.is_empty() {
            return names(session);
        }
        let Survey { work, rows, problems } = match survey(session, &Proxies::default(), &kinds::GET, true)? {
            Ok(survey) => survey,
            Err(exit) => return Ok(exit),
        };
        let filters = &work.loaded.inventory.envoy_filters;
        let named = |filter: &EnvoyFilter| {
            let bare =
                |name: &String| name.rsplit_once("envoyfilter/").map_or(name.clone(), |(_, name)| name.to_owned());
            self.names.is_empty() || self.names.iter().map(bare).any(|it| it == filter.name || it == filter.full_name())
        };
        let rows = rows.iter().filter_map(|row| Some((row, filters.get(row.filter)?)));
        let items: Vec<Item> =
            rows.filter(|(_, filter)| named(filter)).map(|(row, filter)| item(row, filter)).collect();
        let serious = input::tell(session, &work.loaded, &problems)?;
        work.note(session)?;
        match self.output {
            Output::Table | Output::Wide if items.is_empty() => {
                let place = match (&work.asked, session.global.cluster.all_namespaces) {
                    (Some(_), false) => " in this namespace",
                    _ => "",
                };
                writeln!(session.err, "No EnvoyFilters found{place}.")?;
            }
            Output::Table => table(session, &items, false)?,
            Output::Wide => table(session, &items, true)?,
            Output::Name => {
                for item in &items {
                    writeln!(session.out, "envoyfilter/{}", item.name)?;
                }
            }
            Output::Json | Output::Yaml => {
                let said = |problem: &Problem| problem.message.clone();
                let problems = work.loaded.problems.iter().chain(&problems).map(said).collect();
                let list = List { api_version: API_VERSION, kind: "EnvoyFilterStatusList", items, problems };
                let mut json = Vec::new();
                report::json(&mut json, &list)?;
                match self.output {
                    Output::Yaml => report::yaml::write(session.out, &json)?,
                    _ => session.out.write_all(&json)?,
                }
            }
        }
        let missing: Vec<&String> = self
            .names
            .iter()
            .filter(|name| {
                let name = name.rsplit_once("envoyfilter/").map_or(name.as_str(), |(_, name)| name);
                !filters.iter().any(|filter| filter.name == name || filter.full_name() == name)
            })
            .collect();
        if let Some(name) = missing.first() {
            return session.usage(&format!("no EnvoyFilter is called {name}"), None);
        }
        Ok(if serious { Exit::Partial } else { Exit::Ok })
    }
}

fn table(session: &mut Session<'_>, items: &[Item], wide: bool) -> io::Result<()> {
    let mut heading = vec![
        "NAMESPACE",
        "NAME",
        "PRIORITY",
        "ORDER",
        "SELECTS",
        "PATCHES",
        "EFFECTIVE",
        "INEFFECTIVE",
        "REJECTED",
        "FINDINGS",
        "AGE",
    ];
    if wide {
        heading.extend(["SELECTOR", "WORKLOADS"]);
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
    let now = i64::try_from(now).unwrap_or(i64::MAX);
    let known = |number: Option<usize>| number.map_or("-".to_owned(), |number| number.to_string());
    let row = |item: &Item| {
        let mut cells = vec![
            item.namespace.clone(),
            item.name.clone(),
            item.priority.to_string(),
            item.order.to_string(),
            item.selects.to_string(),
            item.patches.to_string(),
            known(item.effective),
            known(item.ineffective),
            known(item.rejected),
            item.findings.to_string(),
            item.created.map_or("<unknown>".to_owned(), |created| tables::age(now - created)),
        ];
        if wide {
            cells.extend([item.selector.clone(), item.workloads.join(",")]);
        }
        cells
    };
    tables::write(session.out, &heading, &items.iter().map(row).collect::<Vec<_>>())
}

/// The names alone: no proxy is read and nothing is judged.
fn names(session: &mut Session<'_>) -> io::Result<Exit> {
    let work = match Work::open(session, &kinds::GET, None)? {
        Ok(work) => work,
        Err(exit) => return Ok(exit),
    };
    let serious = input::tell(session, &work.loaded, &[])?;
    work.note(session)?;
    let mut names: Vec<(String, &str)> = Vec::new();
    for filter in &work.loaded.inventory.envoy_filters {
        if work.asked.as_ref().is_none_or(|asked| asked.contains(&filter.full_name())) {
            names.push((filter.full_name(), &filter.name));
        }
    }
    names.sort();
    for (_, name) in names {
        writeln!(session.out, "envoyfilter/{name}")?;
    }
    Ok(if serious { Exit::Partial } else { Exit::Ok })
}

fn item(row: &Row, filter: &EnvoyFilter) -> Item {
    let workloads: BTreeSet<String> = row
        .selects
        .iter()
        .map(|target| format!("{}/{}/{}", target.namespace, target.workload_kind.to_lowercase(), target.workload))
        .collect();
    let labels = filter.selector.iter().flatten().map(|(key, value)| format!("{key}={value}"));
    let references = filter.target_refs.iter().map(|target| format!("{}/{}", target.kind.to_lowercase(), target.name));
    let patches = filter.patches.len();
    let rejected = row.rejected.len();
    let effective = row.effective.difference(&row.rejected).count();
    Item {
        namespace: filter.namespace.clone(),
        name: filter.name.clone(),
        priority: filter.priority,
        order: row.order,
        selects: row.selects.len(),
        workloads: workloads.into_iter().collect(),
        patches,
        effective: row.read.then_some(effective),
        ineffective: row.read.then_some(patches.saturating_sub(effective + rejected)),
        rejected: row.read.then_some(rejected),
        findings: row.findings,
        created: filter.created.map(|(seconds, _)| seconds),
        selector: labels.chain(references).collect::<Vec<_>>().join(","),
    }
}
