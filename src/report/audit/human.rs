//! An audit for people at a terminal, and as a patch of the files.

use super::{
    advice, all_changes, also_broken, bases, class_name, gets, judged_nothing, places, steps, tally, verdict_sentence,
    verdict_words, worth_telling,
};
use crate::audit::view::{Audit, Filter, Finding, RollOut, Verdict};
use crate::lint::upgrade::tell::Class;
use crate::mesh::Scope;
use crate::report::scope::where_it_holds;
use crate::report::style::{Role, Terminal, count, wrap};
use crate::report::unified;
use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};

/// Maximum number of filters of a class shown in full without --verbose.
const MAX_FILTERS: usize = 40;

/// Maximum number of groups of workloads in the rollout without --verbose.
const MAX_GROUPS: usize = 12;

/// Maximum number of workloads in a line.
const MAX_WORKLOADS: usize = 4;

fn role(class: Option<Class>) -> Role {
    match class {
        Some(Class::Breaks) => Role::Bad,
        Some(Class::Changes) => Role::Odd,
        Some(Class::Deprecated | Class::Cleanup) => Role::Place,
        None => Role::Good,
    }
}

/// Writes an audit.
pub(crate) fn text(
    out: &mut dyn Write,
    terminal: Terminal,
    verbose: bool,
    audit: &Audit,
    scope: &Scope,
) -> io::Result<()> {
    let between = audit.path.get(1..audit.path.len().saturating_sub(1)).unwrap_or_default();
    let way = if between.is_empty() { String::new() } else { format!("  by way of {}", between.join(", ")) };
    writeln!(
        out,
        "{}{}\n",
        terminal.paint(Role::Strong, format!("Istio {} → {}", audit.from, audit.to)),
        terminal.paint(Role::Dim, way)
    )?;
    causes(out, terminal, verbose, audit)?;
    let taken: BTreeSet<&str> = audit.causes.iter().flat_map(|cause| &cause.loses).map(String::as_str).collect();
    let own = |one: &&Filter| verbose || !taken.contains(one.full_name().as_str()) || one.findings.len() > 1;
    for class in Class::ALL {
        let of_class = audit.filters.iter().filter(|one| one.verdict == Some(class));
        let of_class: Vec<&Filter> = of_class.filter(own).collect();
        if of_class.is_empty() {
            continue;
        }
        let shown = if verbose { of_class.len() } else { MAX_FILTERS };
        for one in of_class.iter().take(shown) {
            filter(out, terminal, verbose, audit, one)?;
        }
        if of_class.len() > shown {
            let more = of_class.len() - shown;
            writeln!(out, "… and {more} more filters of class {}; --verbose shows them\n", class.as_str())?;
        }
    }
    today(out, terminal, verbose, audit)?;
    let works = |one: &&Filter| one.verdict.is_none() && one.today.is_empty();
    let ready: Vec<String> = audit.filters.iter().filter(works).map(Filter::full_name).collect();
    if !ready.is_empty() {
        let names =
            if verbose || ready.len() <= 12 { ready.join(", ") } else { count(ready.len(), "filter", "filters") };
        for (index, line) in wrap(&names, terminal.width.saturating_sub(12)).iter().enumerate() {
            let head = if index == 0 { terminal.paint(Role::Good, "ready") } else { "     ".into() };
            writeln!(out, "{head}  {line}")?;
        }
        writeln!(out)?;
    }
    if !judged_nothing(audit) {
        roll_out(out, terminal, &audit.roll_out)?;
    }
    during(out, terminal, verbose, audit)?;
    let verdict = verdict_words(audit);
    let colour = match audit.verdict {
        Verdict::Ready => Role::Good,
        Verdict::ReadyAfterChanges => Role::Odd,
        Verdict::NotReady => Role::Bad,
    };
    let tally: Vec<String> =
        tally(audit).into_iter().map(|(class, text)| terminal.paint(role(class), text).into_owned()).collect();
    if audit.counts.filters == 0 {
        writeln!(out, "{}: {}", terminal.paint(colour, verdict), verdict_sentence(audit, scope))?;
    } else {
        let filters = count(audit.counts.filters, "filter", "filters");
        let also = also_broken(audit);
        let place = where_it_holds(scope);
        writeln!(out, "{}: of {filters}{place} {}{also}", terminal.paint(colour, verdict), tally.join(", "))?;
    }
    for line in wrap(&advice(audit, scope).replace('`', ""), terminal.width) {
        writeln!(out, "{line}")?;
    }
    let mut lines: Vec<String> = bases(audit).into_iter().collect();
    lines.extend(audit.unknown.iter().chain(&audit.problems).cloned());
    lines.extend(all_changes(audit));
    if audit.counts.suppressed > 0 {
        lines.push(format!("{} suppressed", count(audit.counts.suppressed, "finding is", "findings are")));
    }
    for line in &lines {
        for (index, part) in wrap(line, terminal.width.saturating_sub(2)).iter().enumerate() {
            writeln!(out, "{}{}", if index == 0 { "- " } else { "  " }, terminal.paint(Role::Dim, part))?;
        }
    }
    Ok(())
}

/// Each patch whose panic removes the effect of other filters, listed once.
fn causes(out: &mut dyn Write, terminal: Terminal, verbose: bool, audit: &Audit) -> io::Result<()> {
    for cause in &audit.causes {
        let all = cause.loses.len();
        let shown = if verbose { all } else { MAX_WORKLOADS };
        let mut names: Vec<String> = cause.loses.iter().take(shown).cloned().collect();
        if all > shown {
            names.push(format!("and {} more", all - shown));
        }
        writeln!(
            out,
            "{}  {} patch {}: istiod panics here, and {} effect: {}\n",
            terminal.paint(Role::Bad, format!("{:<10}", class_name(Some(Class::Breaks)))),
            terminal.paint(Role::Strong, &cause.filter),
            cause.patch,
            if all == 1 { "1 other filter loses its".to_owned() } else { format!("{all} other filters lose their") },
            names.join(", "),
        )?;
    }
    Ok(())
}

/// Codes and messages of a filter's findings.
type Messages<'a> = Vec<(&'a str, &'a str)>;

/// What does not work before the upgrade either.
fn today(out: &mut dyn Write, terminal: Terminal, verbose: bool, audit: &Audit) -> io::Result<()> {
    let broken: Vec<&Filter> = audit.filters.iter().filter(|one| !one.today.is_empty()).collect();
    if broken.is_empty() {
        return Ok(());
    }
    let title = format!("broken today already, with Istio {}:", audit.from);
    writeln!(out, "{}", terminal.paint(Role::Odd, title))?;
    // Filters with the same text, such as those that lose their effect to one panic, share a line.
    let mut groups: Vec<(Messages<'_>, Vec<&Filter>)> = Vec::new();
    let mut known: HashMap<Messages<'_>, usize> = HashMap::new();
    for filter in broken {
        let said: Messages<'_> = filter.today.iter().map(|one| (one.code, one.message.as_str())).collect();
        let at = *known.entry(said.clone()).or_insert(groups.len());
        match groups.get_mut(at) {
            Some((_, members)) => members.push(filter),
            None => groups.push((said, vec![filter])),
        }
    }
    let broken = groups;
    let shown = if verbose { broken.len() } else { MAX_FILTERS };
    for (said, members) in broken.iter().take(shown) {
        let all = members.len();
        let few = if verbose { all } else { MAX_WORKLOADS };
        let mut names: Vec<String> = members.iter().take(few).map(|filter| filter.full_name()).collect();
        if all > few {
            names.push(format!("and {} more", all - few));
        }
        let name = names.join(", ");
        for (index, (code, message)) in said.iter().enumerate().take(if verbose { usize::MAX } else { 2 }) {
            let name = if index == 0 { name.clone() } else { " ".repeat(name.chars().count()) };
            writeln!(out, "  {}  {}  {}", terminal.paint(Role::Strong, name), code, message)?;
        }
    }
    if broken.len() > shown {
        writeln!(out, "  … and {} more; --verbose shows them", broken.len() - shown)?;
    }
    writeln!(out)
}

fn filter(out: &mut dyn Write, terminal: Terminal, verbose: bool, audit: &Audit, filter: &Filter) -> io::Result<()> {
    let source = &filter.source;
    writeln!(
        out,
        "{}  {}  {}",
        terminal.paint(role(filter.verdict), format!("{:<10}", class_name(filter.verdict))),
        terminal.paint(Role::Strong, filter.full_name()),
        terminal.paint(Role::Dim, format!("{}:{}", source.file, source.line)),
    )?;
    for one in &filter.findings {
        finding(out, terminal, verbose, audit, one)?;
    }
    writeln!(out)
}

fn finding(out: &mut dyn Write, terminal: Terminal, verbose: bool, audit: &Audit, finding: &Finding) -> io::Result<()> {
    let width = terminal.width.saturating_sub(10).max(30);
    let mut message = finding.message.clone();
    let steps = steps(audit, finding);
    if !steps.is_empty() {
        message = format!("{message} ({steps})");
    }
    for (index, line) in wrap(&message, width).iter().enumerate() {
        if index == 0 {
            writeln!(out, "  {}  {line}", terminal.paint(role(Some(finding.class)), finding.code))?;
        } else {
            writeln!(out, "         {line}")?;
        }
    }
    let patch = finding.patch.map(|patch| format!("patch {patch}, ")).unwrap_or_default();
    let (line, column) = (finding.source.line, finding.source.column);
    let mut notes = vec![format!("{patch}line {line}:{column}, {}", finding.confidence)];
    notes.extend(finding.notes.iter().cloned());
    if !finding.workloads.is_empty() {
        let shown = if verbose { finding.workloads.len() } else { MAX_WORKLOADS };
        let mut names: Vec<String> = finding.workloads.iter().take(shown).cloned().collect();
        if finding.workloads.len() > shown {
            names.push(format!("and {} more", finding.workloads.len() - shown));
        }
        notes.push(format!("on {}", names.join(", ")));
    }
    for note in notes {
        for (index, line) in wrap(&note, width.saturating_sub(2)).iter().enumerate() {
            let mark = if index == 0 { "· " } else { "  " };
            writeln!(out, "         {}", terminal.paint(Role::Dim, format!("{mark}{line}")))?;
        }
    }
    if let Some(help) = &finding.help {
        for (index, line) in help.lines().enumerate() {
            let parts = if index == 0 { wrap(line, width.saturating_sub(2)) } else { vec![line.to_owned()] };
            for (part_index, part) in parts.iter().enumerate() {
                writeln!(out, "         {} {part}", if index + part_index == 0 { "→" } else { " " })?;
            }
        }
    }
    if let Some(fix) = &finding.fix {
        let how = if fix.safe { "-o diff" } else { "-o diff --unsafe-fixes" };
        writeln!(out, "         {} {} ({how})", terminal.paint(Role::Good, "fix"), fix.title)?;
    }
    Ok(())
}

fn roll_out(out: &mut dyn Write, terminal: Terminal, rows: &[RollOut]) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out, "{}", terminal.paint(Role::Strong, "During the rollout"))?;
    let head = format!(
        "  {:<18} {:<9} {:>9} {:>6} {:>9} {:>14}",
        "istiod", "proxies", "in effect", "lost", "changed", "newly refused"
    );
    writeln!(out, "{}", terminal.paint(Role::Dim, head))?;
    for row in rows {
        let istiod =
            if row.revision.is_empty() { row.istiod.clone() } else { format!("{} ({})", row.istiod, row.revision) };
        writeln!(
            out,
            "  {istiod:<18} {:<9} {:>9} {:>6} {:>9} {:>14}",
            row.proxies,
            row.effective,
            row.lost.len(),
            row.changed.len(),
            row.refused.len()
        )?;
    }
    writeln!(out)
}

/// The rollout by workload.
fn during(out: &mut dyn Write, terminal: Terminal, verbose: bool, audit: &Audit) -> io::Result<()> {
    let groups = worth_telling(audit);
    if groups.is_empty() {
        return Ok(());
    }
    writeln!(out, "{}", terminal.paint(Role::Strong, "During the rollout, by workload"))?;
    writeln!(out, "  {}", terminal.paint(Role::Dim, "filters in effect; − lost or refused, ~ another effect"))?;
    let heads: Vec<String> = audit.roll_out.iter().map(|row| format!("{}/{}", row.istiod, row.proxies)).collect();
    let columns = |cells: &[String]| cells.iter().fold(String::new(), |line, cell| format!("{line} {cell:>12}"));
    writeln!(out, "{}", terminal.paint(Role::Dim, format!("  {:<32}{}", "istiod/proxies", columns(&heads))))?;
    let shown = if verbose { groups.len() } else { MAX_GROUPS };
    for group in groups.iter().take(shown) {
        let Some(workloads) = audit.workloads.get(group.workloads) else { continue };
        let more = workloads.count.saturating_sub(1);
        let more = if more > 0 { format!(" +{more}") } else { String::new() };
        let cells: Vec<String> = group.gets.iter().map(gets).collect();
        writeln!(out, "  {:<32}{}", format!("{}{more}", workloads.label), columns(&cells))?;
        if !group.places.is_empty() {
            writeln!(out, "    {}", terminal.paint(Role::Dim, format!("now on {}", places(group))))?;
        }
        let gone: BTreeSet<&String> = group.gets.iter().flat_map(|one| one.lost.iter().chain(&one.refused)).collect();
        if !gone.is_empty() {
            let names: Vec<&str> = gone.iter().take(MAX_WORKLOADS).map(|name| name.as_str()).collect();
            let more = gone.len().saturating_sub(names.len());
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            writeln!(out, "    {}", terminal.paint(Role::Dim, format!("− {}{more}", names.join(", "))))?;
        }
    }
    if groups.len() > shown {
        writeln!(out, "  … and {} more groups of workloads; --verbose shows them", groups.len() - shown)?;
    }
    writeln!(out)
}

/// Writes the changes of fixes as a patch for `patch -p1` or `git apply`. The texts are those of whole files.
pub(crate) fn diff(out: &mut dyn Write, terminal: Terminal, files: &[(String, String, String)]) -> io::Result<()> {
    for (name, before, after) in files {
        let plain = name.strip_prefix("./").unwrap_or(name);
        let names = (format!("a/{plain}"), format!("b/{plain}"));
        unified::diff(out, terminal, (&names.0, &names.1), (before, after), usize::MAX)?;
    }
    Ok(())
}
