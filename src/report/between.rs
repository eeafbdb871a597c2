//! Differences between two meshes, for people and as JSON.

use super::scope::where_it_holds;
use super::status::what;
use super::style::count;
use crate::explain::view::API_VERSION;
use crate::mesh::{BetweenReport, FilterDifference, Scope, State};
use serde::Serialize;
use std::io::{self, Write};

/// The same as JSON: schemas/between.json.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Json<'b> {
    api_version: &'static str,
    kind: &'static str,
    /// The names of the two.
    between: [Side<'b>; 2],
    filters: Vec<Filter<'b>>,
    effects: Vec<Effect<'b>>,
}

#[derive(Serialize)]
struct Side<'b> {
    name: &'b str,
    scope: &'b Scope,
}

#[derive(Serialize)]
struct Filter<'b> {
    namespace: &'b str,
    name: &'b str,
    difference: &'static str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    fields: &'b [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<[usize; 2]>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Effect<'b> {
    namespace: &'b str,
    name: &'b str,
    patch: usize,
    workload_namespace: &'b str,
    workload: &'b str,
    first: String,
    second: String,
}

/// Maximum number of characters of Envoy's message.
const MOST: usize = 160;

fn words(state: &State) -> String {
    match state {
        State::NoWorkload => "no such workload".to_owned(),
        State::NotSelected => "not selected".to_owned(),
        State::NotRead => "not read".to_owned(),
        State::Fine => "nothing wrong".to_owned(),
        State::Wrong(wrong) => what(wrong, MOST),
    }
}

fn split(name: &str) -> (&str, &str) {
    name.split_once('/').unwrap_or(("", name))
}

/// Writes it as JSON; `names` are those of the two meshes.
pub(crate) fn json(out: &mut dyn Write, report: &BetweenReport, names: [&str; 2]) -> io::Result<()> {
    let filters = report.filters.iter().map(|(name, difference)| {
        let (namespace, name) = split(name);
        let (difference, fields, order) = match difference {
            FilterDifference::OnlyFirst => ("only-in-first", &[][..], None),
            FilterDifference::OnlySecond => ("only-in-second", &[][..], None),
            FilterDifference::Fields(fields, _) => ("fields", fields.as_slice(), None),
            FilterDifference::Order(a, b) => ("order", &[][..], Some([*a, *b])),
        };
        Filter { namespace, name, difference, fields, order }
    });
    let effects = report.effects.iter().map(|one| {
        let (namespace, name) = split(&one.filter);
        Effect {
            namespace,
            name,
            patch: one.patch,
            workload_namespace: &one.place.namespace,
            workload: &one.place.workload,
            first: words(&one.first),
            second: words(&one.second),
        }
    });
    let between =
        [Side { name: names[0], scope: &report.first.scope }, Side { name: names[1], scope: &report.second.scope }];
    let (filters, effects) = (filters.collect(), effects.collect());
    super::json(out, &Json { api_version: API_VERSION, kind: "Between", between, filters, effects })
}

/// Writes it for people.
pub fn text(out: &mut dyn Write, report: &BetweenReport, [first, second]: [&str; 2]) -> io::Result<()> {
    for (name, difference) in &report.filters {
        match difference {
            FilterDifference::OnlyFirst => writeln!(out, "{name}: only in {first}")?,
            FilterDifference::OnlySecond => writeln!(out, "{name}: only in {second}")?,
            FilterDifference::Fields(fields, more) => {
                let more = if *more > 0 { format!(" and {more} more") } else { String::new() };
                writeln!(out, "{name}: differs in {}{more}", fields.join(", "))?;
            }
            FilterDifference::Order(a, b) => {
                writeln!(out, "{name}: applied as number {a} in {first}, as number {b} in {second}")?;
            }
        }
    }
    for one in &report.effects {
        let place = format!("{}/{}", one.place.namespace, one.place.workload);
        writeln!(out, "{} patch {} on {place}", one.filter, one.patch)?;
        writeln!(out, "  {first}: {}", words(&one.first))?;
        writeln!(out, "  {second}: {}", words(&one.second))?;
    }
    let judged = report.first.rows.len().max(report.second.rows.len());
    match (report.filters.len(), report.effects.len()) {
        (0, 0) if judged == 0 && report.first.filters_known && report.second.filters_known => {
            writeln!(out, "no EnvoyFilters to compare{}", where_it_holds(&report.first.scope))
        }
        (0, 0) if report.is_complete() => {
            writeln!(
                out,
                "no difference between {first} and {second}: {}",
                count(judged, "EnvoyFilter", "EnvoyFilters")
            )
        }
        (0, 0) => writeln!(out, "no difference found in what could be read of {first} and {second}"),
        (filters, effects) => writeln!(
            out,
            "\n{} and {} between {first} and {second}",
            count(filters, "EnvoyFilter differs", "EnvoyFilters differ"),
            count(effects, "effect differs", "effects differ")
        ),
    }
}
