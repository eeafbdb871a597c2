//! A migration as Markdown, for a pull request.

use super::human::sentence;
use super::text::documents;
use super::{classes, full_name, proven, scope, unwritten};
use crate::migrate::Report;
use crate::migrate::roll_out::steps;
use crate::migrate::verdict::State;
use std::io::{self, Write};

/// Text in a table's cell or a line: on one line, without markup of its own.
fn cell(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '|' | '<' | '>' | '[' | ']' | '*' | '_' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Writes the report.
pub fn markdown(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    writeln!(out, "# EnvoyFilters to Istio {}.{}\n", report.to.major, report.to.minor)?;
    writeln!(out, "| class | EnvoyFilters | meaning |\n|---|---|---|")?;
    for (class, number) in classes(report) {
        writeln!(out, "| {} | {number} | {} |", class.name(), class.meaning())?;
    }
    writeln!(out, "\n| EnvoyFilter | patch | what | to | class |\n|---|---|---|---|---|")?;
    for filter in &report.filters {
        for patch in &filter.patches {
            let homes: Vec<String> =
                patch.found.homes.iter().map(|home| format!("{} {}", home.kind, home.field)).collect();
            let row =
                [full_name(filter), patch.index.to_string(), patch.found.pattern.title.to_owned(), homes.join(", ")];
            let row: Vec<String> = row.iter().map(|text| cell(text)).collect();
            writeln!(out, "| {} | {} |", row.join(" | "), patch.class.name())?;
        }
    }
    for one in &report.rewrites {
        let changes: Vec<&str> = one.changes.iter().map(String::as_str).collect();
        writeln!(
            out,
            "\n{} in the newest types: {}; {}",
            cell(&one.filter),
            cell(&changes.join(", ")),
            cell(&one.effect.words())
        )?;
    }
    for filter in report.filters.iter().filter(|filter| filter.patches.iter().any(|patch| patch.found.moves)) {
        writeln!(out, "\n## {}\n", cell(&full_name(filter)))?;
        for patch in &filter.patches {
            writeln!(out, "- configPatches\\[{}\\]: {}", patch.index, patch.class.name())?;
            if let Some(one) = &patch.ambient {
                writeln!(out, "  - ambient: {}: {}", one.place.words(), cell(&one.reason))?;
            }
            if let Some(why) = unwritten(patch) {
                writeln!(out, "  - {}", cell(&why))?;
            }
            for difference in &patch.found.differences {
                writeln!(out, "  - {}: {}", difference.kind.name(), cell(&difference.effect))?;
            }
            for guard in patch.found.guards.iter().filter(|guard| guard.state == State::Undecided) {
                writeln!(out, "  - not decided: {}", cell(&guard.reason))?;
            }
            for note in &patch.found.notes {
                writeln!(out, "  - {}", cell(note))?;
            }
        }
        for line in proven(report, filter) {
            writeln!(out, "- {}", cell(&line))?;
        }
    }
    let steps = steps(report);
    if !steps.is_empty() {
        writeln!(out, "\n## Rollout\n")?;
        for (number, step) in steps.iter().enumerate() {
            writeln!(out, "{}. {}", number + 1, cell(&sentence(step)))?;
        }
        for document in documents(report) {
            // The fence is longer than any run of backticks inside.
            let text = document.text()?;
            let fence = "`".repeat(longest(&text).max(2) + 1);
            writeln!(out, "\n{fence}yaml\n{text}{fence}")?;
        }
    }
    writeln!(out)?;
    for note in scope(report) {
        writeln!(out, "> {}\n", cell(&note))?;
    }
    Ok(())
}

fn longest(text: &str) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}
