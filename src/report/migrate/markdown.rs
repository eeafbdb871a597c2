//! A migration as Markdown, for a pull request.

use super::human::sentence;
use super::text::documents;
use super::{classes, full_name, native, open, outcome, proven, scope, unwritten};
use crate::migrate::Report;
use crate::migrate::roll_out::{meanwhile, steps};
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
    writeln!(out, "# Moving EnvoyFilters to native APIs of Istio {}.{}\n", report.to.major, report.to.minor)?;
    writeln!(out, "| Class | EnvoyFilters | Meaning |\n|---|---|---|")?;
    for (class, number) in classes(report) {
        writeln!(out, "| {} | {number} | {} |", class.name(), class.meaning())?;
    }
    writeln!(out, "\n| EnvoyFilter | Patch | Pattern | Native API | Class |\n|---|---|---|---|---|")?;
    for filter in &report.filters {
        for patch in &filter.patches {
            let title = patch.found.pattern.title.to_owned();
            let row = [full_name(filter), patch.index.to_string(), title, native(&patch.found)];
            let row: Vec<String> = row.iter().map(|text| cell(text)).collect();
            writeln!(out, "| {} | {} |", row.join(" | "), patch.class.name())?;
        }
    }
    for one in &report.rewrites {
        let changes: Vec<&str> = one.changes.iter().map(String::as_str).collect();
        writeln!(
            out,
            "\n{} rewritten to the newest types: {}; {}",
            cell(&one.filter),
            cell(&changes.join(", ")),
            cell(&one.effect.words())
        )?;
    }
    for filter in report.filters.iter().filter(|filter| !filter.patches.is_empty()) {
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
            for text in open(patch) {
                writeln!(out, "  - {}", cell(&text))?;
            }
            for note in &patch.found.notes {
                writeln!(out, "  - {}", cell(note))?;
            }
            if !patch.found.moves && !patch.found.pattern.follow.is_empty() {
                writeln!(out, "  - follow <{}>", patch.found.pattern.follow)?;
            }
        }
        for line in proven(report, filter) {
            writeln!(out, "- {}", cell(&line))?;
        }
        if let Some(outcome) = outcome(report, filter) {
            writeln!(out, "- {outcome}")?;
        }
        for effect in meanwhile(filter) {
            writeln!(out, "- while both exist: {}", cell(effect))?;
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
