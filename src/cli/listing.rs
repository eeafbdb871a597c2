//! Output formats of the commands that list, as in kubectl.

use super::contexts::BETWEEN;
use super::session::{Exit, Session};
use crate::mesh::{Error, Scope};
use crate::report::template::{Columns, Path, Template, order};
use crate::report::{self, table};
use crate::source::{ErrorMessage, escape};
use clap::Args;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};
use std::io;

#[derive(Debug, Args)]
pub(super) struct Listing {
    /// Output format: table, wide, json, yaml, name, jsonpath=TEMPLATE or custom-columns=NAME:PATH,…
    #[arg(short, long, default_value = "table", value_name = "FORM", value_parser = form)]
    pub(super) output: Form,
    /// Do not print table headers
    #[arg(long)]
    pub(super) no_headers: bool,
    /// Sort by a field of each item, such as .priority or .metadata.name
    #[arg(long, value_name = "PATH", value_parser = Path::parse)]
    pub(super) sort_by: Option<Path>,
}

/// An output format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// For people.
    Table,
    /// For people, with more columns.
    Wide,
    /// For programs.
    Json,
    /// For programs.
    Yaml,
    /// Only the names.
    Name,
    /// What a template extracts from the JSON.
    JsonPath(Template),
    /// A table of what paths extract from each item.
    Columns(Columns),
}

fn form(text: &str) -> Result<Form, ErrorMessage> {
    match text.split_once('=') {
        Some(("jsonpath", template)) => Ok(Form::JsonPath(Template::parse(template)?)),
        Some(("custom-columns", columns)) => Ok(Form::Columns(Columns::parse(columns)?)),
        _ => Ok(match text {
            "table" => Form::Table,
            "wide" => Form::Wide,
            "json" => Form::Json,
            "yaml" => Form::Yaml,
            "name" => Form::Name,
            _ => return Err("one of table, wide, json, yaml, name, jsonpath=…, custom-columns=…".into()),
        }),
    }
}

impl Listing {
    /// Whether the output is for people.
    pub(super) fn is_table(&self) -> bool {
        matches!(self.output, Form::Table | Form::Wide)
    }

    /// Prints the basis of the output on standard error: for people always; where the output itself has no place for it, if
    /// something was not read.
    pub(super) fn scope(&self, session: &mut Session<'_>, scope: &Scope) -> io::Result<()> {
        let shown = match self.output {
            Form::Table | Form::Wide => true,
            Form::Json | Form::Yaml => false,
            Form::Name | Form::JsonPath(_) | Form::Columns(_) => !scope.is_complete(),
        };
        if shown { session.scope(scope) } else { Ok(()) }
    }

    /// Sorts items as requested. Fails when no item has the field.
    pub(super) fn sort<T: Serialize + Clone>(&self, items: &mut Vec<T>) -> Result<(), Error> {
        let Some(path) = &self.sort_by else { return Ok(()) };
        let mut values: Vec<Value> =
            items.iter().map(serde_json::to_value).collect::<Result<_, _>>().map_err(io::Error::other)?;
        values.iter_mut().for_each(add_metadata);
        let Some(order) = order(path, &values) else {
            let help = "-o json shows the fields of an item".to_owned();
            return Err(Error::Text { message: "--sort-by: no item has this field".to_owned(), help: Some(help) });
        };
        *items = order.into_iter().filter_map(|at| items.get(at).cloned()).collect();
        Ok(())
    }

    /// Writes output for programs, with `items` under this key of the list. `false`: the output is for people, and nothing was
    /// written.
    pub(super) fn write(&self, session: &mut Session<'_>, list: &impl Serialize, key: &str) -> io::Result<bool> {
        let value = || {
            let mut value = serde_json::to_value(list).map_err(io::Error::other)?;
            value.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten().for_each(add_metadata);
            io::Result::Ok(value)
        };
        match &self.output {
            Form::Table | Form::Wide | Form::Name => return Ok(false),
            Form::Json => report::json(session.out, list)?,
            // The documents of all contexts become one, which is YAML.
            Form::Yaml if session.global.merged => report::json(session.out, list)?,
            Form::Yaml => report::yaml::write(session.out, &serde_json::to_vec(list)?)?,
            Form::JsonPath(template) => template.write(session.out, &value()?)?,
            Form::Columns(columns) => {
                let value = value()?;
                let items = value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
                columns.write(session.out, items, !self.no_headers)?;
            }
        }
        Ok(true)
    }

    /// Writes a table, with headings unless it continues one with these widths or headings are off. Returns the widths.
    pub(super) fn table(
        &self,
        session: &mut Session<'_>,
        heading: &[&str],
        rows: &[Vec<String>],
        widths: Option<Vec<usize>>,
    ) -> io::Result<Vec<usize>> {
        if session.global.merged {
            let between = BETWEEN.to_string();
            for row in std::iter::once(heading.iter().map(|cell| (*cell).to_owned()).collect()).chain(rows.to_vec()) {
                let cells: Vec<String> = row.iter().map(|cell| escape::one_line(cell).into_owned()).collect();
                writeln!(session.out, "{}", cells.join(&between))?;
            }
            return Ok(Vec::new());
        }
        let widths = if let Some(widths) = widths.filter(|widths| !widths.is_empty()) {
            widths
        } else {
            let widths = table::widths(heading, rows);
            if !self.no_headers {
                table::line(session.out, &widths, heading.iter().copied())?;
            }
            widths
        };
        for row in rows {
            table::line(session.out, &widths, row.iter().map(String::as_str))?;
        }
        Ok(widths)
    }
}

/// Adds the metadata of an item's object, for paths written as for kubectl: `.metadata.name`.
fn add_metadata(item: &mut Value) {
    let Value::Object(item) = item else { return };
    let Some(name) = item.get("name").or_else(|| item.get("filter")).filter(|name| name.is_string()) else { return };
    let mut metadata = Map::from_iter([("name".to_owned(), name.clone())]);
    metadata.extend(item.get("namespace").map(|namespace| ("namespace".to_owned(), namespace.clone())));
    let created = item.get("created").and_then(Value::as_i64).and_then(|seconds| Timestamp::from_second(seconds).ok());
    metadata.extend(created.map(|created| ("creationTimestamp".to_owned(), created.to_string().into())));
    item.entry("metadata").or_insert(Value::Object(metadata));
}

/// Reports that watching failed, with the API server's message.
pub(super) fn refused(session: &mut Session<'_>, command: &str, reason: &str) -> Result<Exit, Error> {
    let help = format!("`kubectl envoyfilter rbac {command} --watch` prints the required role");
    session.usage(&format!("cannot watch EnvoyFilters: {reason}"), Some(&help))
}
