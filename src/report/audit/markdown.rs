//! An audit in Markdown, for a change ticket.

use super::{
    advice, all_changes, bases, class_name, combination, gets, judged_nothing, places, steps, verdict_sentence,
    verdict_words, worth_telling,
};
use crate::audit::view::{Audit, Filter, Finding};
use crate::mesh::Scope;
use crate::report::markdown::{cell, code, fence, sentence};
use crate::report::{scope, unified};
use std::io::{self, Write};

/// Maximum number of filters written in full: trackers truncate long texts.
const MAX_FILTERS: usize = 60;

/// Maximum number of names in a cell.
const MAX_NAMES: usize = 8;

fn names(names: &[String]) -> String {
    if names.is_empty() {
        return "–".to_owned();
    }
    let mut shown: Vec<String> = names.iter().take(MAX_NAMES).map(|name| format!("`{}`", code(name))).collect();
    if names.len() > MAX_NAMES {
        shown.push(format!("and {} more", names.len() - MAX_NAMES));
    }
    shown.join(", ")
}

/// Writes an audit.
pub(crate) fn markdown(out: &mut dyn Write, audit: &Audit, of: &Scope) -> io::Result<()> {
    writeln!(out, "# EnvoyFilters: Istio {} → {}\n", audit.from, audit.to)?;
    writeln!(out, "**{}**: {}. {}\n", verdict_words(audit), sentence(&verdict_sentence(audit, of)), advice(audit, of))?;
    writeln!(out, "Scope: {}\n", cell(&scope::sentence(of)))?;
    if audit.path.len() > 2 {
        writeln!(out, "Steps: {}.\n", audit.path.join(" → "))?;
    }
    let found: Vec<&Filter> = audit.filters.iter().filter(|one| one.verdict.is_some()).collect();
    if !found.is_empty() {
        writeln!(out, "| verdict | filter | what happens | place |\n| --- | --- | --- | --- |")?;
        for filter in &found {
            let what: Vec<String> = filter.findings.iter().map(|one| sentence(&one.message)).collect();
            let place = format!("{}:{}", filter.source.file, filter.source.line);
            writeln!(
                out,
                "| {} | `{}` | {} | `{}` |",
                class_name(filter.verdict),
                code(&filter.full_name()),
                what.join("<br>"),
                code(&place)
            )?;
        }
        writeln!(out)?;
    }
    let broken: Vec<&Filter> = audit.filters.iter().filter(|one| !one.today.is_empty()).collect();
    if !broken.is_empty() {
        writeln!(out, "## Broken today already, with Istio {}\n", audit.from)?;
        writeln!(out, "| filter | rule | what is wrong | place |\n| --- | --- | --- | --- |")?;
        for filter in broken.iter().take(MAX_FILTERS) {
            let place = code(&format!("{}:{}", filter.source.file, filter.source.line));
            for one in &filter.today {
                let (name, message) = (code(&filter.full_name()), sentence(&one.message));
                writeln!(out, "| `{name}` | {} | {message} | `{place}` |", one.code)?;
            }
        }
        writeln!(out)?;
        if broken.len() > MAX_FILTERS {
            writeln!(out, "{} more are in the JSON form.\n", broken.len() - MAX_FILTERS)?;
        }
    }
    if !audit.roll_out.is_empty() && !judged_nothing(audit) {
        writeln!(out, "## During the rollout\n")?;
        writeln!(
            out,
            "| istiod | proxies | filters in effect | lost | changed | newly refused |\n| --- | --- | --- | --- | --- | --- |"
        )?;
        for row in &audit.roll_out {
            let istiod =
                if row.revision.is_empty() { row.istiod.clone() } else { format!("{} ({})", row.istiod, row.revision) };
            let (lost, changed, refused) = (names(&row.lost), names(&row.changed), names(&row.refused));
            let (proxies, effective) = (&row.proxies, row.effective);
            writeln!(out, "| {} | {proxies} | {effective} | {lost} | {changed} | {refused} |", cell(&istiod))?;
        }
        writeln!(out)?;
    }
    during(out, audit)?;
    for filter in found.iter().take(MAX_FILTERS) {
        writeln!(out, "## {} `{}`\n", class_name(filter.verdict), code(&filter.full_name()))?;
        for one in &filter.findings {
            finding(out, audit, one)?;
        }
        if let Some(rewritten) = &filter.shown {
            let name = &filter.source.file;
            let mut patch = Vec::new();
            let terminal = crate::report::style::Terminal::default();
            unified::diff(&mut patch, terminal, (name, name), (&filter.text, rewritten), unified::MAX_LINES)?;
            let patch = String::from_utf8_lossy(&patch);
            let fence = fence(&patch);
            writeln!(out, "{fence}diff\n{patch}{fence}\n")?;
        }
    }
    if found.len() > MAX_FILTERS {
        writeln!(out, "{} more filters are only in the table above.\n", found.len() - MAX_FILTERS)?;
    }
    let (bases, changes) = (bases(audit), all_changes(audit));
    for text in bases.iter().chain(&audit.unknown).chain(&audit.problems).chain(&changes) {
        writeln!(out, "- {}", sentence(text))?;
    }
    Ok(())
}

fn finding(out: &mut dyn Write, audit: &Audit, finding: &Finding) -> io::Result<()> {
    let steps = steps(audit, finding);
    let steps = if steps.is_empty() { String::new() } else { format!(" ({steps})") };
    let message = sentence(&finding.message);
    writeln!(out, "- **{}** {}: {message}{steps}", finding.code, finding.class.as_str())?;
    let mut lines: Vec<String> = finding.notes.iter().map(|note| sentence(note)).collect();
    if !finding.workloads.is_empty() {
        lines.push(format!("on {}", names(&finding.workloads)));
    }
    for line in lines {
        writeln!(out, "  - {line}")?;
    }
    if let Some(help) = &finding.help {
        let (first, rest) = help.split_once('\n').unwrap_or((help, ""));
        writeln!(out, "  - → {}", sentence(first))?;
        if !rest.is_empty() {
            let text = rest.lines().collect::<Vec<_>>().join("\n    ");
            let fence = fence(&text);
            writeln!(out, "\n    {fence}yaml\n    {text}\n    {fence}")?;
        }
    }
    writeln!(out)
}

/// The rollout by workload.
fn during(out: &mut dyn Write, audit: &Audit) -> io::Result<()> {
    let groups = worth_telling(audit);
    if groups.is_empty() {
        return Ok(());
    }
    writeln!(out, "### By workload\n\nFilters in effect; − lost or refused, ~ another effect than before.\n")?;
    let heads = audit.roll_out.iter().fold(String::new(), |line, row| format!("{line} {} |", combination(row)));
    writeln!(out, "| workloads | now on |{heads}\n| --- | --- |{}", " --- |".repeat(audit.roll_out.len()))?;
    for group in groups.iter().take(MAX_FILTERS) {
        let Some(workloads) = audit.workloads.get(group.workloads) else { continue };
        let more = workloads.count.saturating_sub(1);
        let more = if more > 0 { format!(" +{more}") } else { String::new() };
        let cells = group.gets.iter().fold(String::new(), |line, one| format!("{line} {} |", gets(one)));
        let label = format!("{}{more}", workloads.label);
        writeln!(out, "| {} | {} |{cells}", cell(&label), cell(&places(group)))?;
    }
    if groups.len() > MAX_FILTERS {
        writeln!(out, "\n{} more groups are in the JSON form.", groups.len() - MAX_FILTERS)?;
    }
    writeln!(out)
}
