//! What is known about a name of the Envoy API, for people and as JSON.

use super::style::{Role, Terminal, wrap};
use crate::envoy::api::view::{Entry, Life, Member, Reference};
use crate::envoy::api::{GUARD, KNOWN, istio_of};
use serde_json::json;
use std::io::{self, Write};

/// Maximum number of entries written in full.
const MAX_ENTRIES: usize = 3;

/// Maximum number of an entry's fields or values.
const MAX_FIELDS: usize = 60;

/// Writes entries.
pub(crate) fn text(
    out: &mut dyn Write,
    terminal: Terminal,
    verbose: bool,
    notes: &[String],
    entries: &[Entry],
) -> io::Result<()> {
    for note in notes {
        writeln!(out, "{}", terminal.paint(Role::Odd, note))?;
    }
    if entries.len() > MAX_ENTRIES && !verbose {
        writeln!(out, "{} things have that name; choose one:", entries.len())?;
        for entry in entries {
            writeln!(out, "  {:<9} {}", entry.kind, entry.name)?;
        }
        return Ok(());
    }
    for (index, entry) in entries.iter().enumerate() {
        if index > 0 || !notes.is_empty() {
            writeln!(out)?;
        }
        one(out, terminal, verbose, entry)?;
    }
    Ok(())
}

fn one(out: &mut dyn Write, terminal: Terminal, verbose: bool, entry: &Entry) -> io::Result<()> {
    writeln!(out, "{} {}", terminal.paint(Role::Dim, entry.kind), terminal.paint(Role::Strong, &entry.name))?;
    let mut rows: Vec<(&str, String)> = Vec::new();
    rows.extend(entry.type_name.iter().map(|text| ("type", text.clone())));
    rows.extend(entry.json_name.iter().map(|text| ("in JSON also", text.clone())));
    rows.extend(entry.constraints.iter().map(|text| ("constraint", text.clone())));
    rows.extend(life(&entry.life));
    if entry.kind != GUARD {
        rows.push((
            "istiod",
            entry.istiod.clone().unwrap_or_else(|| "no release from 1.18 to 1.31 knows it".to_owned()),
        ));
    }
    for build in &entry.builds {
        let range = match (&build.first, &build.last) {
            (Some(first), Some(last)) => format!("in the proxy of Istio {first} to {last}"),
            _ => format!("in no proxy of Istio, by the build files of {}", build.looked_at),
        };
        let status = if build.status.is_empty() { "status unknown" } else { &build.status };
        rows.push(("extension", format!("{} ({status}): {range}", build.extension)));
    }
    rows.extend(entry.notes.iter().map(|text| ("note", text.clone())));
    rows.extend(entry.documentation.iter().map(|text| ("documentation", text.clone())));
    for (word, text) in rows {
        let role = match word {
            "deprecated" | "disallowed" | "removed" => Role::Odd,
            _ => Role::Dim,
        };
        for (index, line) in wrap(&text, terminal.width.saturating_sub(17).max(30)).iter().enumerate() {
            let head = if index == 0 { terminal.paint(role, format!("{word:<13}")) } else { " ".repeat(13).into() };
            writeln!(out, "  {head}  {line}")?;
        }
    }
    let shown = if verbose { usize::MAX } else { MAX_FIELDS };
    fields(out, terminal, &entry.fields, shown)?;
    if !entry.values.is_empty() {
        let title = if entry.kind == "extension" { "configured with" } else { "values" };
        writeln!(out, "\n{}", terminal.paint(Role::Strong, title))?;
        for value in entry.values.iter().take(shown) {
            writeln!(out, "  {value}")?;
        }
    }
    Ok(())
}

fn fields(out: &mut dyn Write, terminal: Terminal, fields: &[Member], shown: usize) -> io::Result<()> {
    if fields.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{}", terminal.paint(Role::Strong, "fields"))?;
    let width = fields.iter().take(shown).map(|field| field.name.len()).max().unwrap_or_default().min(40);
    for field in fields.iter().take(shown) {
        let mut marks = Vec::new();
        if field.required {
            marks.push("required".to_owned());
        }
        if field.deprecated {
            marks.push("deprecated".to_owned());
        }
        marks.extend(field.oneof.iter().map(|oneof| format!("one of {oneof}")));
        let marks = if marks.is_empty() { String::new() } else { format!("  ({})", marks.join(", ")) };
        writeln!(out, "  {:<width$}  {}{}", field.name, field.type_name, terminal.paint(Role::Dim, marks))?;
    }
    if fields.len() > shown {
        writeln!(out, "  … and {} more; --verbose shows them", fields.len() - shown)?;
    }
    Ok(())
}

fn life(life: &Life) -> Vec<(&'static str, String)> {
    if life.unknown {
        return vec![("since", "unknown: the tables contain no message of it".to_owned())];
    }
    let both = |one: &Reference| format!("Envoy {} (Istio {})", one.envoy, one.istio);
    let oldest = format!("Envoy 1.{} (Istio 1.{})", KNOWN.0, istio_of(KNOWN.0));
    let mut rows = Vec::new();
    rows.push(match &life.added {
        Some(added) => ("since", both(added)),
        None if life.added_before_known => ("since", format!("{oldest} or earlier; older releases are not known")),
        None => ("since", format!("unknown: not in Envoy 1.{} to 1.{}", KNOWN.0, KNOWN.1)),
    });
    let instead = match (&life.instead, &life.no_replacement) {
        (Some(replacement), _) => format!("; use {replacement} instead"),
        (None, Some(why)) => format!("; nothing replaces it: {why}"),
        (None, None) => String::new(),
    };
    match (&life.deprecated, &life.deprecated_words) {
        (Some(since), _) => rows.push(("deprecated", format!("since {}{instead}", both(since)))),
        (None, Some(words)) if life.is_deprecated || life.removed.is_some() => {
            rows.push(("deprecated", format!("{words}{instead}")));
        }
        (None, _) if life.is_deprecated => rows.push(("deprecated", format!("since {oldest} or earlier{instead}"))),
        _ => {}
    }
    rows.extend(life.disallowed.as_ref().map(|since| ("disallowed", format!("by default since {}", both(since)))));
    rows.extend(life.removed.as_ref().map(|since| ("removed", format!("in {}", both(since)))));
    rows
}

/// Writes entries as JSON: schemas/api.json.
pub(crate) fn json(
    out: &mut dyn Write,
    asked: &str,
    notes: &[String],
    nearest: &[String],
    entries: &[Entry],
) -> io::Result<()> {
    super::json(
        out,
        &json!({
            "apiVersion": super::findings::API_VERSION,
            "kind": "ApiEntries",
            "asked": asked,
            "notes": notes,
            "nearest": nearest,
            "entries": entries,
        }),
    )
}
