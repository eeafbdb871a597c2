//! A migration as Markdown, for a pull request.

use super::human::sentence;
use super::text::documents;
use super::{classes, differences, full_name, native, open, outcome, proven, rest, scope, unwritten};
use crate::migrate::Report;
use crate::migrate::roll_out::{meanwhile, steps};
use crate::report::markdown::{cell, fence, sentence as line};
use std::io::{self, Write};

/// Writes the report.
pub fn markdown(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    writeln!(out, "# Moving EnvoyFilters to native APIs of Istio {}.{}\n", report.to.major, report.to.minor)?;
    if report.filters.is_empty() {
        return scope(report).iter().try_for_each(|note| writeln!(out, "{}", line(note)));
    }
    writeln!(out, "| Class | EnvoyFilters | Meaning |\n|---|---|---|")?;
    for (class, number) in classes(report) {
        writeln!(out, "| {} | {number} | {} |", class.name(), class.meaning())?;
    }
    for note in scope(report) {
        writeln!(out, "\n> {}", line(&note))?;
    }
    writeln!(out, "\n| EnvoyFilter | Patch | Pattern | Native API | Class |\n|---|---|---|---|---|")?;
    for filter in &report.filters {
        for patch in &filter.patches {
            let title = patch.found.title().into_owned();
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
            line(&changes.join(", ")),
            line(&one.words())
        )?;
    }
    for filter in report.filters.iter().filter(|filter| !filter.patches.is_empty()) {
        writeln!(out, "\n## {}\n", cell(&full_name(filter)))?;
        for patch in &filter.patches {
            writeln!(out, "- configPatches\\[{}\\]: {}", patch.index, patch.class.name())?;
            if let Some(one) = &patch.ambient {
                writeln!(out, "  - ambient: {}: {}", one.place.words(), line(&one.reason))?;
            }
            if let Some(why) = unwritten(patch) {
                writeln!(out, "  - {}", line(&why))?;
            }
            for difference in differences(patch) {
                writeln!(out, "  - {}: {}", difference.kind.name(), line(&difference.effect))?;
            }
            for text in open(patch) {
                writeln!(out, "  - {}", line(&text))?;
            }
            for note in &patch.found.notes {
                writeln!(out, "  - note: {}", line(note))?;
            }
            if let Some(rest) = rest(patch) {
                writeln!(out, "  - {rest}")?;
            }
            if !patch.found.moves && !patch.found.pattern.follow.is_empty() {
                writeln!(out, "  - follow <{}>", patch.found.pattern.follow)?;
            }
        }
        for text in proven(report, filter) {
            writeln!(out, "- {}", line(&text))?;
        }
        if let Some(outcome) = outcome(report, filter) {
            writeln!(out, "- {outcome}")?;
        }
        for effect in meanwhile(filter) {
            writeln!(out, "- while both exist: {}", line(effect))?;
        }
    }
    let steps = steps(report);
    if !steps.is_empty() {
        writeln!(out, "\n## Rollout\n")?;
        for (number, step) in steps.iter().enumerate() {
            writeln!(out, "{}. {}", number + 1, line(&sentence(step)))?;
        }
        for document in documents(report) {
            let text = document.text()?;
            let fence = fence(&text);
            writeln!(out, "\n{fence}yaml\n{text}{fence}")?;
        }
    }
    Ok(())
}
